//! What the machine says of processes, and `PostgreSQL`'s own programs. Linux.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// `/proc` counts the time of processes in hundredths of a second, whatever the kernel's own tick is.
const TICKS: f64 = 100.0;

/// Seconds on processors so far.
#[derive(Clone, Copy)]
pub struct Processors {
    /// Of this process.
    pub own: f64,
    /// Of the server: its first process, those that it has seen end, and those that it has now.
    pub server: f64,
}

impl Processors {
    pub fn now() -> Self {
        let seconds = |process: &str, ended: bool| {
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            // The name, in parentheses, may have spaces; the state follows it as the third field.
            let fields: Vec<&str> =
                stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect()).unwrap_or_default();
            let last = if ended { 15 } else { 13 };
            (11..last).filter_map(|at| fields.get(at)?.parse::<f64>().ok()).sum::<f64>() / TICKS
        };
        let server = std::env::var("HEDDLE_BENCH_SERVER").map_or(0.0, |first| {
            let file = format!("/proc/{first}/task/{first}/children");
            let children = fs::read_to_string(file).unwrap_or_default();
            seconds(&first, true)
                + children.split_whitespace().map(|child| seconds(child, false)).sum::<f64>()
        });
        Self { own: seconds("self", false), server }
    }

    pub fn since(self, before: Self) -> Self {
        Self { own: self.own - before.own, server: self.server - before.server }
    }
}

/// This process's memory that is resident, in MiB.
pub fn resident_mib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a size");
    line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok()).expect("KiB") / 1024.0
}

/// How often a second a page can be appended to a file and be on disk.
pub fn syncs_per_second(folder: &Path) -> f64 {
    let path = folder.join("syncs");
    let mut file = OpenOptions::new().create(true).append(true).open(&path).expect("a file");
    let (start, mut count) = (Instant::now(), 0.0);
    while start.elapsed() < Duration::from_secs(1) {
        file.write_all(&[7; 4096]).and_then(|()| file.sync_data()).expect("a sync");
        count += 1.0;
    }
    let rate = count / start.elapsed().as_secs_f64();
    fs::remove_file(path).expect("the file is still there");
    rate
}

/// A small table for [`transactions_per_second`].
pub fn make_floor_table() {
    psql("postgres", "CREATE TABLE floor (id int PRIMARY KEY, n int NOT NULL)");
    psql("postgres", "INSERT INTO floor SELECT id, 0 FROM generate_series(1, 10000) AS id");
    psql("postgres", "VACUUM ANALYZE floor");
}

/// How many small durable changes of a row there are in a second, each a transaction, by so many clients.
pub fn transactions_per_second(clients: u32) -> f64 {
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine-floor.sql");
    let text = "\\set id random(1, 10000)\nUPDATE floor SET n = n + 1 WHERE id = :id;\n";
    fs::write(&script, text).expect("a file");
    let mut pgbench = Command::new("pgbench");
    // Prepared, as the engine's own statements are.
    pgbench.args(["--no-vacuum", "--protocol", "prepared", "--time", "3", "--file"]).arg(script);
    let text = answer(pgbench.args(["--client", &clients.to_string(), "postgres"]));
    text.lines()
        .find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok())
        .expect("a rate")
}

/// What psql prints for a statement.
pub fn psql(database: &str, statement: &str) -> String {
    let mut psql = Command::new("psql");
    psql.args(["--quiet", "--no-align", "--tuples-only", "--set", "ON_ERROR_STOP=1", "--dbname", database]);
    answer(psql.args(["--command", statement]))
}

/// What a program prints. Whoever started this has set which server it asks.
fn answer(command: &mut Command) -> String {
    let output = command.output().expect("a program of PostgreSQL's runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

//! `cargo xtask bench engine`: a durable private `PostgreSQL`, what it gives without an engine, and the engine's
//! benchmark beside it.

use std::fs;
use std::process::{Command, ExitCode};

use crate::postgres::{Flavour, Postgres};
use crate::run::{Steps, cargo, root};

/// One small durable change of a row, anywhere in a small table.
const FLOOR: &str = "\\set id random(1, 10000)\nUPDATE floor SET n = n + 1 WHERE id = :id;\n";
const TABLE: &str = "CREATE TABLE floor (id int PRIMARY KEY, n int NOT NULL); \
                     INSERT INTO floor SELECT id, 0 FROM generate_series(1, 10000) AS id; VACUUM ANALYZE floor;";
/// How many clients the floor is measured with.
const CLIENTS: [u32; 2] = [1, 8];

/// Passes its arguments on; only `--only sqlite` and `--quick` mean something here as well.
pub fn run(arguments: &[String]) -> Result<(), ExitCode> {
    let with_postgres = !arguments.windows(2).any(|pair| pair == ["--only", "sqlite"]);
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let mut steps = Steps::new(if with_postgres { 4 } else { 2 });
    let program = ["bench", "--quiet", "-p", "heddle-engine", "--bench", "engine"];
    steps.run("build the benchmark", cargo(&program).arg("--no-run"))?;
    let mut bench = cargo(&program);
    bench.arg("--").args(arguments);
    let mut running = None;
    if with_postgres {
        let postgres =
            steps.work("a private PostgreSQL, durable", || Postgres::start(Flavour::Benchmarks))?;
        let rates = steps.work("the floor: pgbench", || floor(&postgres, if quick { 2 } else { 8 }))?;
        postgres.introduce(&mut bench);
        bench.env("HEDDLE_BENCH_POSTGRES", postgres.address());
        bench.env("HEDDLE_BENCH_FLOOR", rates.map(|rate| format!("{rate:.0}")).join(","));
        if let Some(process) = postgres.process() {
            bench.env("HEDDLE_BENCH_SERVER", process.to_string());
        }
        running = Some(postgres);
    }
    steps.run("the engine", &mut bench)?;
    drop(running);
    Ok(())
}

/// Transactions per second, for each number of clients.
fn floor(postgres: &Postgres, seconds: u32) -> Result<[f64; CLIENTS.len()], String> {
    let folder = root().join("target/bench-engine");
    let script = folder.join("floor.sql");
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&script, FLOOR))
        .map_err(|error| format!("{}: {error}", script.display()))?;
    for statement in TABLE.split_inclusive(';') {
        answer(postgres.client("psql").args(["--quiet", "--command", statement]))?;
    }
    let mut rates = [0.0; CLIENTS.len()];
    for (clients, rate) in CLIENTS.iter().zip(&mut rates) {
        let mut pgbench = postgres.client("pgbench");
        // Prepared, as the engine's own statements are.
        pgbench.args(["--no-vacuum", "--protocol", "prepared", "--time", &seconds.to_string()]);
        pgbench.args(["--client", &clients.to_string(), "--file"]).arg(&script);
        let text = answer(&mut pgbench)?;
        let found =
            text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        *rate = found.ok_or_else(|| format!("pgbench gave no rate: {text}"))?;
        println!("pgbench, one small UPDATE a transaction, {clients} clients: {rate:.0} transactions/s");
    }
    Ok(rates)
}

/// What a program prints.
fn answer(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

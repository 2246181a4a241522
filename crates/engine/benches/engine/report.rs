//! What is measured on a store, and the rows of the table that come of it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::machine::{make_floor_table, psql, syncs_per_second, transactions_per_second};

/// How many rows of finished steps the large measurement has.
const HISTORY: usize = 3_000_000;
/// How many of them an instance has; a graph has 500 nodes at most.
const HISTORY_NODES: usize = 490;

/// How many clients the floor under many instances has.
const CLIENTS: u32 = 8;

/// Where the rows are.
pub enum Backend {
    /// In files in a folder.
    Sqlite { folder: PathBuf },
    /// In databases of a server, which is at this address.
    Postgres { address: String },
}

impl Backend {
    const fn name(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "SQLite",
            Self::Postgres { .. } => "PostgreSQL",
        }
    }

    /// Fresh tables under a name; their address.
    fn fresh(&self, name: &str) -> String {
        let address = match self {
            Self::Sqlite { folder } => format!("sqlite:{}", folder.join(name).display()),
            Self::Postgres { address } => {
                psql("postgres", &format!("CREATE DATABASE {name}"));
                let (server, _) = address.rsplit_once("dbname=").expect("a database in the address");
                format!("postgres:{server}dbname={name}")
            }
        };
        child("install", &address, [0; 3]);
        address
    }

    /// Takes them away again, so that no measurement pays for another's rows.
    fn remove(&self, name: &str) {
        match self {
            Self::Sqlite { folder } => {
                for file in ["", "-wal", "-shm"] {
                    // Those beside the file itself are there or not.
                    let _ = fs::remove_file(folder.join(format!("{name}{file}")));
                }
            }
            Self::Postgres { .. } => {
                psql("postgres", &format!("DROP DATABASE {name} WITH (FORCE)"));
            }
        }
    }

    /// Where the rows are to be, once before anything is measured.
    pub fn begin(&self) {
        match self {
            Self::Sqlite { folder } => fs::create_dir_all(folder).expect("a folder for the files"),
            Self::Postgres { .. } => make_floor_table(),
        }
    }

    /// What can be had without an engine now, by so many at a time: other programs may be at the same disk.
    fn floor(&self, clients: u32) -> Floor {
        match self {
            Self::Sqlite { folder } => Floor { what: "syncs", a_second: syncs_per_second(folder) },
            Self::Postgres { .. } => {
                Floor { what: "transactions", a_second: transactions_per_second(clients) }
            }
        }
    }

    /// Whatever is left.
    pub fn end(&self) {
        if let Self::Sqlite { folder } = self {
            fs::remove_dir_all(folder).expect("the folder is still there");
        }
    }
}

/// What the store's ground gives without an engine.
struct Floor {
    what: &'static str,
    a_second: f64,
}

/// A table in the making.
pub struct Report<'a> {
    pub backend: &'a Backend,
    /// A tenth of everything.
    pub quick: bool,
    /// With what takes many minutes.
    pub large: bool,
}

impl Report<'_> {
    /// Measures one thing; its rows.
    pub fn measure(&self, name: &str) {
        match name {
            "sustained" => {
                self.sustained(1);
                if matches!(self.backend, Backend::Postgres { .. }) {
                    self.sustained(4);
                }
            }
            "latency" => {
                for (steps, plural) in [(1, ""), (10, "s")] {
                    let what = format!("start → end of {steps} step{plural}, one at a time");
                    self.milliseconds(&what, "latency", [self.amount(300), 1, steps]);
                }
            }
            "events" => {
                for (engines, who) in [(1, "by the same node"), (2, "by another node")] {
                    let what = format!("event {who} → next step, one at a time");
                    self.milliseconds(&what, "events", [self.amount(300), engines, 1]);
                }
            }
            "timers" => self.timers(),
            "rest" => self.rest(),
            "claims" => self.claims(),
            other => panic!("no measurement {other:?}"),
        }
    }

    fn sustained(&self, engines: usize) {
        let name = "bench_sustained";
        let floor = self.backend.floor(CLIENTS);
        let address = self.backend.fresh(name);
        let figures = child("sustained", &address, [self.amount(10_000), engines, 10]);
        let steps = number(&figures, "steps");
        self.compare_rows(name, steps);
        self.backend.remove(name);
        let rate = steps / number(&figures, "seconds");
        let plural = if engines == 1 { "engine" } else { "engines" };
        self.rate(&format!("ten-step workflows, {engines} {plural}"), "steps", rate, &floor);
        let micros = |of| number(&figures, of) / steps * 1e6;
        let server = match self.backend {
            Backend::Sqlite { .. } => String::new(),
            Backend::Postgres { .. } => format!(" + {:.0} µs in the server", micros("server")),
        };
        self.row(
            &format!("… processor time a step, {engines} {plural}"),
            &format!("{:.0} µs{server}", micros("own")),
        );
    }

    /// What the server would do by itself some time after many rows are written, it does now.
    fn settle(&self, database: &str) {
        if let Backend::Postgres { .. } = self.backend {
            psql(database, "VACUUM ANALYZE");
            psql(database, "CHECKPOINT");
        }
    }

    /// What the engine says that it has done is what the rows say.
    fn compare_rows(&self, database: &str, steps: f64) {
        if let Backend::Postgres { .. } = self.backend {
            let statement = "SELECT count(*) FROM workflow_step_runs \
                             WHERE node_type = 'action' AND status = 'completed'";
            let counted: f64 = psql(database, statement).parse().expect("a number");
            assert!((counted - steps).abs() < 0.5, "{counted} rows, {steps} steps");
        }
    }

    fn timers(&self) {
        let amount = self.amount(10_000);
        let figures = self.alone("timers", [amount, 1, 1]);
        let of = |name| number(&figures, name);
        self.row(
            &format!("{amount} timers due within a second: how late the next steps are"),
            &format!("{:.0} ms p50, {:.0} ms p99, {:.0} ms the last", of("p50"), of("p99"), of("last")),
        );
    }

    fn rest(&self) {
        let name = "bench_rest";
        let address = self.backend.fresh(name);
        let amount = self.amount(100_000);
        let floor = self.backend.floor(CLIENTS);
        let filled = child("wait", &address, [amount, 1, 1]);
        let rate = amount as f64 / number(&filled, "seconds");
        self.settle(name);
        let figures = child("rest", &address, [amount, 1, 1]);
        self.backend.remove(name);
        self.rate("instances started into a wait", "starts", rate, &floor);
        let of = |name| number(&figures, name);
        let server = match self.backend {
            Backend::Sqlite { .. } => String::new(),
            Backend::Postgres { .. } => {
                format!(", {:.2} % in the server, {:.1} transactions/s", of("server") * 100.0, of("queries"))
            }
        };
        self.row(
            &format!("{amount} waiting instances at rest"),
            &format!("{:.2} % of a processor, {:.0} MiB{server}", of("own") * 100.0, of("mib")),
        );
    }

    /// One-step workflows, in empty tables and beside many finished rows.
    fn claims(&self) {
        let instances = self.amount(5_000);
        let rate = |figures: &Value| number(figures, "steps") / number(figures, "seconds");
        let floor = self.backend.floor(CLIENTS);
        let empty = rate(&self.alone("sustained", [instances, 1, 1]));
        self.rate("one-step workflows, empty tables", "steps", empty, &floor);
        if !self.large {
            return;
        }
        let name = "bench_claims";
        let address = self.backend.fresh(name);
        let rows = self.amount(HISTORY);
        child("history", &address, [rows, 1, HISTORY_NODES]);
        self.settle(name);
        let floor = self.backend.floor(CLIENTS);
        let full = rate(&child("sustained", &address, [instances, 1, 1]));
        self.backend.remove(name);
        self.rate(&format!("… beside {rows} finished steps, × {:.2}", full / empty), "steps", full, &floor);
    }

    /// A measurement that is alone with its tables.
    fn alone(&self, what: &str, numbers: [usize; 3]) -> Value {
        let name = format!("bench_{what}");
        let address = self.backend.fresh(&name);
        let figures = child(what, &address, numbers);
        self.backend.remove(&name);
        figures
    }

    fn amount(&self, whole: usize) -> usize {
        if self.quick { whole / 10 } else { whole }
    }

    fn rate(&self, what: &str, unit: &str, rate: f64, floor: &Floor) {
        let Floor { what: of, a_second } = floor;
        println!(
            "| {what} | {} | {rate:.0} {unit}/s | {a_second:.0} {of}/s | {:.2} |",
            self.backend.name(),
            rate / a_second
        );
    }

    /// A measurement of times, one after the other.
    fn milliseconds(&self, what: &str, measurement: &str, numbers: [usize; 3]) {
        let least = 1_000.0 / self.backend.floor(1).a_second;
        let figures = self.alone(measurement, numbers);
        let (p50, p99) = (number(&figures, "p50"), number(&figures, "p99"));
        println!(
            "| {what} | {} | {p50:.1} ms p50, {p99:.1} ms p99 | {least:.2} ms | {:.1} |",
            self.backend.name(),
            p50 / least
        );
    }

    fn row(&self, what: &str, figure: &str) {
        println!("| {what} | {} | {figure} | | |", self.backend.name());
    }
}

fn number(figures: &Value, name: &str) -> f64 {
    figures[name].as_f64().unwrap_or_else(|| panic!("no {name} in {figures}"))
}

/// Runs one measurement in a process of its own.
fn child(what: &str, address: &str, numbers: [usize; 3]) -> Value {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--measure", what, address])
        .args(numbers.map(|number| number.to_string()))
        .stderr(Stdio::inherit())
        .output()
        .expect("this program runs");
    assert!(output.status.success(), "{what} at {address} failed: {}", output.status);
    serde_json::from_slice(&output.stdout).expect("figures")
}

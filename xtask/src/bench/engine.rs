//! `cargo xtask bench engine`: the engine's benchmark, with a durable private `PostgreSQL` for it.

use std::process::ExitCode;

use crate::postgres::{Flavour, Postgres};
use crate::run::{Steps, cargo};

/// Passes its arguments on; only `--only sqlite` means something here as well.
pub fn run(arguments: &[String]) -> Result<(), ExitCode> {
    let with_postgres = !arguments.windows(2).any(|pair| pair == ["--only", "sqlite"]);
    let mut steps = Steps::new(if with_postgres { 3 } else { 2 });
    let program = ["bench", "--quiet", "-p", "heddle-engine", "--bench", "engine"];
    steps.run("build the benchmark", cargo(&program).arg("--no-run"))?;
    let mut bench = cargo(&program);
    bench.arg("--").args(arguments);
    let mut running = None;
    if with_postgres {
        let start = || Postgres::start(Flavour::Benchmarks);
        let postgres = steps.work("a private PostgreSQL, durable", start)?;
        postgres.introduce(&mut bench);
        bench.env("HEDDLE_BENCH_POSTGRES", postgres.address());
        // Whose processor time, with that of its children, is the server's.
        if let Some(process) = postgres.process() {
            bench.env("HEDDLE_BENCH_SERVER", process.to_string());
        }
        running = Some(postgres);
    }
    let measured = steps.run("the engine", &mut bench);
    drop(running);
    measured
}

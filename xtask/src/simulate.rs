//! `cargo xtask simulate`: the workflow engine through as many seeds of faults as are asked for.

use std::process::ExitCode;

use crate::run::{Steps, cargo};

/// How many seeds where nothing is said: what a change to the engine or its stores is worth.
const SEEDS: u32 = 100_000;

/// Runs them on all processors, from the first on. What fails says how to run its seed again.
pub fn run(arguments: &[String]) -> ExitCode {
    let seeds = match arguments {
        [] => Some(SEEDS),
        [seeds] => seeds.parse().ok(),
        _ => None,
    };
    let Some(seeds) = seeds else {
        eprintln!("usage: cargo xtask simulate [seeds]");
        return ExitCode::from(2);
    };
    let mut steps = Steps::new(1);
    let mut test = cargo(&["test", "--release", "--quiet", "-p", "heddle-engine", "--test", "simulation"]);
    match steps.run(&format!("simulate {seeds} seeds"), test.env("HEDDLE_SEEDS", seeds.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

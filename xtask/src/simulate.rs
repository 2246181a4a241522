//! `cargo xtask simulate`: the workflow engine through as many seeds of faults as are asked for.

use std::process::ExitCode;

use crate::run::{Steps, cargo};

/// How many seeds where nothing is said: what a change to the engine or its stores is worth.
pub const SEEDS: u32 = 100_000;

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
    steps(&mut Steps::new(1), seeds).err().unwrap_or(ExitCode::SUCCESS)
}

/// The same, as a step of others.
pub fn steps(steps: &mut Steps, seeds: u32) -> Result<(), ExitCode> {
    let mut test = cargo(&["test", "--release", "--quiet", "-p", "heddle-engine", "--test", "simulation"]);
    steps.run(&format!("simulate {seeds} seeds"), test.env("HEDDLE_SEEDS", seeds.to_string()))
}

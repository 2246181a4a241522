//! `cargo xtask bench`: figures for `docs/performance.md`.

mod engine;

use std::process::ExitCode;
use std::time::Instant;

use crate::run::{Steps, cargo, root};

/// One benchmark by name.
pub fn run(arguments: &[String]) -> ExitCode {
    let names: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match names.as_slice() {
        ["convert"] => {
            let mut steps = Steps::new(1);
            let mut bench = cargo(&["bench", "--quiet", "-p", "heddle-worker", "--bench", "convert"]);
            steps
                .run("a conversion beside a plain typed parse", &mut bench)
                .err()
                .unwrap_or(ExitCode::SUCCESS)
        }
        ["engine", ..] => engine::run(&arguments[1..]).err().unwrap_or(ExitCode::SUCCESS),
        ["build"] => build().err().unwrap_or(ExitCode::SUCCESS),
        _ => {
            eprintln!("usage: cargo xtask bench convert|engine|build");
            ExitCode::from(2)
        }
    }
}

/// A clean release build of the workspace in a folder of its own.
fn build() -> Result<(), ExitCode> {
    let folder = root().join("target/bench-build");
    let _ = std::fs::remove_dir_all(&folder);
    let mut steps = Steps::new(1);
    let start = Instant::now();
    let mut build = cargo(&["build", "--quiet", "--release", "-p", "heddle", "--target-dir"]);
    steps.run("a clean release build", build.arg(&folder))?;
    let seconds = start.elapsed().as_secs_f64();
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap_or_default();
    let crates = lock.lines().filter(|line| line.starts_with("name = ")).count();
    let program = folder.join("release").join(format!("heddle{}", std::env::consts::EXE_SUFFIX));
    let bytes = std::fs::metadata(&program).map_or(0, |file| file.len());
    println!(
        "clean release build: {seconds:.0} s; crates in Cargo.lock: {crates}; heddle: {:.1} MiB",
        bytes as f64 / 1_048_576.0
    );
    Ok(())
}

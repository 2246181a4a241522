//! `cargo xtask demo`: build, then run `heddle demo`.

use std::process::{Command, ExitCode};

use crate::run::{Steps, cargo, root};

/// Passes its arguments on.
pub fn run(arguments: &[String]) -> ExitCode {
    let mut steps = Steps::new(2);
    // Cargo shows how far it is.
    if let Err(code) = steps.run(
        "build Heddle (the first time takes a few minutes)",
        &mut cargo(&["build", "--release", "-p", "heddle"]),
    ) {
        return code;
    }
    let program = root().join("target/release").join(format!("heddle{}", std::env::consts::EXE_SUFFIX));
    match steps.run("run the demo", Command::new(program).arg("demo").args(arguments).current_dir(root())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

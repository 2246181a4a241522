//! `cargo xtask test`: everything that must hold before a change lands, with what it needs to run.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::postgres::{self, VARIABLE};
use crate::run::{Steps, cargo, root};
use crate::simulate;

/// The version of cargo-deny that `deny.toml` is written for.
const CARGO_DENY: &str = "0.20.2";

/// Runs all of it; `--quick` leaves out what only CI needs (most of the simulation, documentation, dependency policy).
pub fn run(arguments: &[String]) -> ExitCode {
    let quick = match arguments {
        [] => false,
        [flag] if flag == "--quick" => true,
        _ => {
            eprintln!("usage: cargo xtask test [--quick]");
            return ExitCode::from(2);
        }
    };
    match all(quick) {
        Ok(seconds) => {
            eprintln!("\nall fine, {seconds:.0} s");
            ExitCode::SUCCESS
        }
        Err(code) => code,
    }
}

fn all(quick: bool) -> Result<f64, ExitCode> {
    let mut steps = Steps::new(if quick { 5 } else { 10 });
    steps.run("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    let lint = ["clippy", "--quiet", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"];
    steps.run("lints", &mut cargo(&lint))?;
    steps.run(
        "generated samples are unchanged",
        &mut cargo(&["run", "--quiet", "-p", "xtask", "--", "samples", "--check"]),
    )?;
    // The committed OpenAPI document is compared by a test of the server's.
    let mut tests = cargo(&["test", "--workspace", "--no-fail-fast"]);
    let postgres = postgres::for_tests(&mut steps)?;
    if let Some(postgres) = &postgres {
        tests.env(VARIABLE, postgres.address());
    }
    steps.run("tests", &mut tests)?;
    drop(postgres);
    if !quick {
        simulate::steps(&mut steps, simulate::SEEDS)?;
        let mut doc = cargo(&["doc", "--quiet", "--workspace", "--no-deps"]);
        steps.run("documentation", doc.env("RUSTDOCFLAGS", "-D warnings"))?;
        let deny = deny_path();
        if deny.exists() {
            steps.run("cargo-deny is there", Command::new(&deny).arg("--version"))?;
        } else {
            let tools = root().join("target/tools");
            let version = format!("cargo-deny@{CARGO_DENY}");
            let mut install = cargo(&["install", "--quiet", "--locked", &version, "--root"]);
            install.arg(&tools).arg("--target-dir").arg(tools.join("build"));
            // It is run once and not for long: a quick build beats a quick program.
            install.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0").env("CARGO_PROFILE_RELEASE_LTO", "off");
            install
                .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
                .env("CARGO_PROFILE_RELEASE_DEBUG", "false");
            steps.run("install cargo-deny", &mut install)?;
        }
        // The policy is about every platform's crates, and most of them are not needed to build here.
        steps.run("fetch every dependency", &mut cargo(&["fetch", "--quiet", "--locked"]))?;
        let mut check = Command::new(&deny);
        check.args(["--offline", "check", "bans", "licenses", "sources"]).current_dir(root());
        steps.run("dependency policy", &mut check)?;
    }
    Ok(steps.seconds())
}

fn deny_path() -> PathBuf {
    root().join("target/tools/bin/cargo-deny")
}

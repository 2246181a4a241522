//! Scripts of the project: `cargo xtask <name>`.

mod samples;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("samples") => samples::run(&arguments[1..]),
        _ => {
            eprintln!("usage: cargo xtask samples [--check]");
            ExitCode::from(2)
        }
    }
}

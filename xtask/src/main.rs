//! Scripts of the project: `cargo xtask <name>`.

mod samples;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask samples [--check]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("samples") => samples::run(&arguments[1..]),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

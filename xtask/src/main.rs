//! Scripts of the project: `cargo xtask <name>`.

mod bench;
mod check;
mod demo;
mod postgres;
mod run;
mod samples;
mod simulate;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <name>

  demo [--once] [...]   build Heddle and run the demo on the samples
  test [--quick]        everything that must hold: format, lints, samples, tests, docs, dependencies
  postgres [-- ...]     a private PostgreSQL while a command runs, or until Ctrl-C; HEDDLE_TEST_POSTGRES says where
  simulate [seeds]      the workflow engine through 100000 seeds of faults, in release
  bench convert         time and memory of a conversion, beside a plain parse
  bench engine [...]    the workflow engine on SQLite and PostgreSQL, beside what the disk gives;
                        --quick, --large, --only sqlite|postgres, names of measurements
  bench build           time of a clean build, crates in the lock file, size of the program
  samples [--check]     write the sample libraries and screens anew";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("demo") => demo::run(&arguments[1..]),
        Some("test") => check::run(&arguments[1..]),
        Some("bench") => bench::run(&arguments[1..]),
        Some("postgres") => postgres::run(&arguments[1..]),
        Some("simulate") => simulate::run(&arguments[1..]),
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

//! The engine on each store, beside what the same disk and the same server give without it: `cargo xtask bench engine`.
//!
//! Each measurement is a process of its own on rows of its own, with its floor measured just before it. The floor of a
//! `SQLite` file is one append and one sync; the floor of `PostgreSQL` is pgbench with one small durable UPDATE a
//! transaction, by 1 client for times and by 8 for rates. Quote the ratios, which stand in one run.

mod machine;
mod measure;
mod report;

use std::path::PathBuf;

use report::{Backend, Report};

const NAMES: [&str; 6] = ["sustained", "latency", "events", "timers", "rest", "claims"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [flag, task @ ..] = arguments.as_slice()
        && flag == "--measure"
    {
        return measure::run(task);
    }
    let mut names = Vec::new();
    let (mut quick, mut large, mut only) = (false, false, None);
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        match argument {
            "--quick" => quick = true,
            "--large" => large = true,
            "--only" => only = rest.next(),
            name if NAMES.contains(&name) => names.push(name),
            other => panic!("{other:?} is none of --quick, --large, --only sqlite|postgres, {NAMES:?}"),
        }
    }
    if names.is_empty() {
        names = NAMES.to_vec();
    }
    let mut backends = Vec::new();
    if only.is_none_or(|only| only == "sqlite") {
        let name = format!("engine-{}", std::process::id());
        backends.push(Backend::Sqlite { folder: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name) });
    }
    if only.is_none_or(|only| only == "postgres") {
        match std::env::var("HEDDLE_BENCH_POSTGRES") {
            Ok(address) => backends.push(Backend::Postgres { address }),
            Err(_) => println!("no PostgreSQL: cargo xtask bench engine starts one"),
        }
    }
    println!("| what | store | figure | floor | figure ÷ floor |\n|---|---|---|---|---|");
    for backend in backends {
        backend.begin();
        let report = Report { backend: &backend, quick, large };
        for name in &names {
            report.measure(name);
        }
        backend.end();
    }
}

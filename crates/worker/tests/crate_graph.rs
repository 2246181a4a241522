//! Workers can't reach the rows.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::process::Command;

/// Crates that speak SQL, or hold the rows.
const FORBIDDEN: [&str; 12] = [
    "heddle-store",
    "rusqlite",
    "libsqlite3-sys",
    "sqlite",
    "sqlx",
    "sqlx-core",
    "postgres",
    "tokio-postgres",
    "diesel",
    "sea-orm",
    "mysql",
    "deadpool-postgres",
];

/// Every package that this one links or is built with, itself included; what only tests use is left out.
fn reachable(from: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--all-features",
            "--edges=no-dev",
            "--prefix=none",
            "--format={p}",
        ])
        .args(["--package", from, "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    tree.lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

// proves G12
#[test]
fn no_worker_crate_reaches_the_rows() {
    for package in [
        "heddle-worker",
        "heddle-exchange",
        "heddle-convert",
        "heddle-figma",
        "heddle-render",
        "heddle-generation",
    ] {
        let reached = reachable(package);
        let found: Vec<_> = FORBIDDEN.iter().filter(|name| reached.contains(**name)).collect();
        assert!(found.is_empty(), "{package} reaches {found:?}");
    }
    // The test sees what it is to see: the server does reach them.
    let server = reachable("heddle-server");
    assert!(server.contains("heddle-store") && server.contains("rusqlite"));
    assert!(reachable("heddle-worker").contains("heddle-exchange"));
}

//! Workers can't reach the rows.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

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

/// Package → what it links, by the resolved graph; what only tests use is left out.
fn links() -> (BTreeMap<String, String>, BTreeMap<String, BTreeSet<String>>) {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version=1",
            "--offline",
            "--locked",
            "--all-features",
            "--manifest-path",
        ])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let names =
        metadata["packages"].as_array().unwrap().iter().map(|one| (text(&one["id"]), text(&one["name"])));
    let links = metadata["resolve"]["nodes"].as_array().unwrap().iter().map(|node| {
        let linked = node["deps"].as_array().unwrap().iter().filter(|dependency| {
            dependency["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"] != "dev")
        });
        (text(&node["id"]), linked.map(|dependency| text(&dependency["pkg"])).collect())
    });
    (names.collect(), links.collect())
}

fn reachable(from: &str) -> BTreeSet<String> {
    let (names, links) = links();
    let start = names.iter().find(|(_, name)| *name == from).unwrap().0.clone();
    let mut seen = BTreeSet::from([start.clone()]);
    let mut stack = vec![start];
    while let Some(package) = stack.pop() {
        stack.extend(links[&package].iter().filter(|next| seen.insert((*next).clone())).cloned());
    }
    seen.iter().map(|id| names[id].clone()).collect()
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

//! Who can reach the rows at all.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// What speaks SQL, and what may speak to it.
const SQL: &[&str] =
    &["heddle-store", "heddle-server", "rusqlite", "libsqlite3-sys", "tokio-postgres", "sqlx"];

/// proves G12: no worker crate, nor any of what workers are made of, reaches the rows: Cargo's own graph says so,
/// with what is only there for tests left out.
#[test]
fn workers_can_not_reach_the_rows() {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let names: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| (package["id"].as_str().unwrap(), package["name"].as_str().unwrap()))
        .collect();
    let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for node in metadata["resolve"]["nodes"].as_array().unwrap() {
        let for_more_than_tests = |dependency: &&Value| {
            let kinds = dependency["dep_kinds"].as_array().unwrap();
            kinds.iter().any(|kind| kind["kind"] != "dev")
        };
        let dependencies = node["deps"].as_array().unwrap().iter().filter(for_more_than_tests);
        let named = dependencies.map(|dependency| names[dependency["pkg"].as_str().unwrap()]);
        graph.entry(names[node["id"].as_str().unwrap()]).or_default().extend(named);
    }
    assert!(reach(&graph, "heddle-store").contains("rusqlite"), "the graph is read as it should be");
    for worker in [
        "heddle-worker",
        "heddle-convert",
        "heddle-figma",
        "heddle-render",
        "heddle-exchange",
        "heddle-generation",
    ] {
        assert!(graph.contains_key(worker), "{worker} is gone; see which crates workers are made of now");
        let reached = reach(&graph, worker);
        let sql: Vec<_> = SQL.iter().filter(|name| reached.contains(*name)).collect();
        assert!(sql.is_empty(), "{worker} reaches {sql:?}");
    }
}

fn reach<'a>(graph: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(name) = next.pop() {
        if reached.insert(name) {
            next.extend(graph.get(name).into_iter().flatten());
        }
    }
    reached
}

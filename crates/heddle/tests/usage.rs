//! Exit codes, streams, pipes and secrets.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use common::{expect, heddle, json, run, sample};

#[test]
fn wrong_usage_is_exit_2_and_failure_exit_1() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    for args in [
        &["nonsense"][..],
        &["sweep"],
        &["sweep", "x.json", "--target", "nothing", "--project", "1"],
        &["sweep", "x.json", "--target", "kit", "--project", "one"],
        &["generations", "show", "not-an-id", "--server", "http://127.0.0.1:1"],
        &["generations", "list"],
        &["generations", "list", "--status", "done"],
        &["generations", "create", "--file-key", "f", "--node", "1:2", "--edge", "up"],
        &["kit", "summary"],
        &["workflows", "install", "--key-type", "int"],
        &["workflows", "install", "--database", "mysql"],
        &["workflows", "validate"],
        &["workflows", "show", "not-an-id", "--server", "http://127.0.0.1:1"],
        &["workflows", "pause"],
        &["workflows", "cancel", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "--all"],
        &["workflows", "start", "review", "--trigger", "no json"],
        &["workflows", "list", "--status", "done"],
        &["worker"],
        &["serve", "--listen", "nowhere"],
        &["serve", "--figma-files", "/nonexistent", "--listen", "127.0.0.1:0"],
        &["config", "show", "--config", "absent.toml"],
        &["completions", "tcsh"],
    ] {
        let output = run(data, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(out.is_empty() || args.contains(&"--figma-files"), "{args:?} has no data: {out}");
        assert!(!output.stderr.is_empty(), "{args:?} says why");
    }
    for args in [
        &["sweep", "absent.json", "--target", "kit", "--project", "1"][..],
        &["serve", "--listen", "203.0.113.1:1"],
    ] {
        let output = run(data, args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.is_empty());
    }
    std::fs::write(data.join("bad.json"), "{").unwrap();
    std::fs::write(
        data.join("empty.json"),
        "{\"document\":{\"id\":\"0:0\",\"type\":\"DOCUMENT\",\"children\":[]}}",
    )
    .unwrap();
    for (file, expected) in [("bad.json", "line 1"), ("empty.json", "0 components")] {
        let output = run(data, &["sweep", file, "--target", "kit", "--project", "1"]);
        assert_eq!(output.status.code(), Some(1));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn help_version_and_completions_are_data() {
    let dir = tempfile::tempdir().unwrap();
    let help = expect(dir.path(), &["--help"], 0);
    for command in ["serve", "worker", "sweep", "kit", "generations", "workflows", "config", "completions"] {
        assert!(help.contains(command), "{help}");
    }
    for absent in ["wf2des", "graphic-override", "doctor", "HEDDLE_TEST"] {
        assert!(!help.contains(absent), "{absent} is not built yet");
    }
    assert!(expect(dir.path(), &["--version"], 0).starts_with("heddle "));
    for shell in ["bash", "zsh", "fish"] {
        let script = expect(dir.path(), &["completions", shell], 0);
        for word in ["generations", "workflows", "overlay", "expected-version"] {
            assert!(script.contains(word), "{word} in {shell}");
        }
    }
    assert!(!dir.path().join("data").exists(), "looking leaves nothing behind");
}

#[test]
fn settings_are_shown_without_secrets() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("heddle.toml"),
        "token = \"hidden-in-the-file\"\nlisten = \"127.0.0.1:1234\"\n[collections]\ndesign = \"d\"\n",
    )
    .unwrap();
    let output = heddle(dir.path())
        .args(["config", "show", "--json"])
        .env("HEDDLE_WEBHOOK_SECRET", "whsec_hidden")
        .env("WIREFRAME_TABLE_NAME", "w")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("hidden"), "{text}");
    let shown: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let one = |key: &str| shown.iter().find(|one| one["key"] == key).unwrap();
    assert_eq!(
        (&one("webhook_secret")["value"], &one("webhook_secret")["from"]),
        (&"set".into(), &"HEDDLE_WEBHOOK_SECRET".into())
    );
    assert_eq!(
        (&one("listen")["value"], &one("listen")["from"]),
        (&"127.0.0.1:1234".into(), &"heddle.toml".into())
    );
    assert_eq!(one("collections.wireframe")["value"], "w");
    assert_eq!(one("collections.design")["value"], "d");
    let text = expect(dir.path(), &["config", "show"], 0);
    assert!(text.contains("listen = \"127.0.0.1:1234\"") && !text.contains("hidden"), "{text}");
}

/// `heddle … | head -1` ends well and says nothing.
#[test]
fn a_closed_pipe_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..5 {
        let mut child = heddle(dir.path())
            .args(["completions", "bash"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

#[test]
fn a_sweep_reports_to_people_and_scripts() {
    let dir = tempfile::tempdir().unwrap();
    let kit = sample("wireframe-kit.json");
    let sweep = ["sweep", kit.to_str().unwrap(), "--target", "kit", "--project", "7"];
    let first = json(dir.path(), &sweep);
    let entries = first["entries"].as_u64().unwrap();
    assert!(entries >= 25);
    assert_eq!(first["added"].as_array().unwrap().len() as u64, entries);
    assert_eq!((&first["target"], &first["file_key"]), (&"kit".into(), &"wireframe-kit".into()));
    let again = expect(dir.path(), &sweep, 0);
    assert!(again.contains("has not changed"), "{again}");
    let forced = expect(dir.path(), &[&sweep[..], &["--again"]].concat(), 0);
    assert!(forced.contains(&format!("{entries} unchanged")), "{forced}");
}

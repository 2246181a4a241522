//! Workflows by the program's own commands: installed, served, published, started, signalled, looked at.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{Running, expect, json, run, sample};
use serde_json::Value;

fn review() -> String {
    sample("workflows/review.json").to_str().unwrap().to_owned()
}

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn migrations(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// A data folder with the tables, and a server on it.
fn installed(data: &Path) -> Running {
    expect(data, &["workflows", "install", "--apply"], 0);
    Running::serve(data, &["--no-worker"])
}

/// proves W1, W2: a timestamped file, forward only, once; its keys are the flags' or the settings'; nothing is run unless
/// somebody says so.
#[test]
fn a_migration_is_published_once() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let output =
        run(data, &["workflows", "install", "--primary-key", "ulid", "--key-type", "uuid", "--dir", "sql"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("primary_key_type = \"ulid\""), "{}", stderr(&output));
    let files = migrations(&data.join("sql"));
    let name = files[0].file_name().unwrap().to_str().unwrap();
    let (stamp, rest) = name.split_once('_').unwrap();
    assert!(stamp.len() == 14 && stamp.bytes().all(|byte| byte.is_ascii_digit()), "{name}");
    assert_eq!(rest, "create_workflow_tables.sql");
    let text = std::fs::read_to_string(&files[0]).unwrap();
    assert!(text.contains("primary_key_type ulid") && text.contains("key_type uuid"), "{text}");
    assert_eq!(text.matches("CREATE TABLE").count(), 8);
    assert!(!data.join("data").exists(), "nothing is run");
    // Not twice; and not as something that it isn't.
    let again = run(data, &["workflows", "install", "--dir", "sql"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("is there already"), "{}", stderr(&again));
    let other = run(data, &["workflows", "install", "--dir", "sql", "--apply"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(stderr(&other).contains("other tables than these settings"), "{}", stderr(&other));
    assert_eq!(migrations(&data.join("sql")), files);
    let other = ["workflows", "install", "--database", "postgres", "--dir", "server"];
    expect(data, &other, 0);
    let text = std::fs::read_to_string(&migrations(&data.join("server"))[0]).unwrap();
    assert!(text.contains("for PostgreSQL") && text.contains("timestamptz"), "{text}");
    let applied = run(data, &[&other[..], &["--apply"]].concat());
    assert_eq!(applied.status.code(), Some(2), "it is run on no other database than the server's");

    let settings = "[workflows]\nprimary_key_type = \"ulid\"\nkey_type = \"uuid\"\n";
    std::fs::write(data.join("heddle.toml"), settings).unwrap();
    let applied = json(data, &["workflows", "install", "--dir", "sql", "--apply"]);
    assert_eq!((&applied["written"], &applied["primary_key_type"]), (&false.into(), &"ulid".into()));
    assert!(data.join("data/workflows.sqlite").is_file());
    assert_eq!(applied["applied"]["made"], true);
    let twice = json(data, &["workflows", "install", "--dir", "sql", "--apply"]);
    assert_eq!(twice["applied"]["made"], false, "whoever provisions may say it again");
    std::fs::write(data.join("heddle.toml"), "[workflows]\nprimary_key_type = \"uuid\"\n").unwrap();
    let other = run(data, &["workflows", "install", "--dir", "other", "--apply"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(stderr(&other).contains("has other workflow tables already"), "{}", stderr(&other));
}

/// proves W1: without tables the server says what is missing and which command to run, and everything else works.
#[test]
fn a_server_without_tables_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let server = Running::serve(data, &["--no-worker"]);
    let url = server.url.clone();
    let refused = run(data, &["workflows", "list", "--server", &url]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("heddle workflows install --apply"), "{}", stderr(&refused));
    let mut ready = ureq::get(format!("{url}/readyz")).call().unwrap();
    let ready: Value = serde_json::from_str(&ready.body_mut().read_to_string().unwrap()).unwrap();
    assert_eq!(ready["workflows"], "not_installed");
    assert_eq!(expect(data, &["generations", "list", "--server", &url], 0).trim(), "no runs");
    assert!(!data.join("data/workflows.sqlite").exists(), "nothing is made by itself");
    drop(server);
    // Tables of other keys than the settings' are no use either.
    expect(data, &["workflows", "install", "--primary-key", "uuid", "--apply"], 0);
    let server = Running::serve(data, &["--no-worker"]);
    let refused = run(data, &["workflows", "list", "--server", &server.url]);
    assert!(stderr(&refused).contains("set the key types"), "{}", stderr(&refused));
}

/// proves W12: findings as a compiler prints them, and as data.
#[test]
fn a_graph_is_checked_offline() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let sound = expect(data, &["workflows", "validate", &review()], 0);
    assert!(sound.contains("is sound"), "{sound}");
    let text = std::fs::read_to_string(review()).unwrap();
    let broken = text
        .replace("trigger.changes <= 3", "trigger.changes <=")
        .replace("\"type\": \"delay\"", "\"type\": \"action\"")
        .replace("\"duration\": ", "\"handler\": \"mail\", \"input\": ");
    std::fs::write(data.join("broken.json"), &broken).unwrap();
    let found = expect(data, &["workflows", "validate", "broken.json"], 1);
    let line = broken.lines().position(|line| line.contains("changes <=")).unwrap() + 1;
    for part in [
        "error[bad_expression]: ",
        &format!("  --> broken.json:{line}:"),
        "node is_small  /nodes/2/config/expression",
        "this server has none",
        "broken.json has 2 errors",
    ] {
        assert!(found.contains(part), "{part}\n{found}");
    }
    let output = run(data, &["workflows", "validate", "broken.json", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["sound"], &report["findings"][0]["line"]), (&false.into(), &line.into()));
    // What embeds the engine has handlers of its own.
    let embedded = expect(data, &["workflows", "validate", "broken.json", "--any-handler"], 1);
    assert!(embedded.contains("broken.json has 1 error"), "{embedded}");
    std::fs::write(data.join("cut.json"), "{\n \"nodes\": [").unwrap();
    let cut = expect(data, &["workflows", "validate", "cut.json"], 1);
    assert!(cut.contains("error[bad_document]") && cut.contains("cut.json:2:"), "{cut}");
    expect(data, &["workflows", "validate", "absent.json"], 1);
}

/// proves W19, W21, W23, W29, W31, W32: the whole way by commands, through a restart of the server.
#[test]
fn a_review_from_start_to_end() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let mut server = installed(data);
    let url = server.url.clone();
    let at = |args: &[&str]| -> Vec<String> {
        args.iter().chain(&["--server", url.as_str()]).map(|arg| (*arg).to_owned()).collect()
    };
    let text = |args: &[&str], code: i32| {
        let args = at(args);
        expect(data, &args.iter().map(String::as_str).collect::<Vec<_>>(), code)
    };
    let data_of = |args: &[&str]| {
        let args = at(args);
        json(data, &args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let published = text(&["workflows", "publish", &review(), "--name", "Review"], 0);
    assert!(published.contains("review is at version 1"), "{published}");
    assert!(text(&["workflows", "definitions"], 0).contains("review"));
    let started = data_of(&[
        "workflows",
        "start",
        "review",
        "--trigger",
        "{\"title\": \"Terms\", \"settle\": \"50ms\"}",
        "--subject-type",
        "Page",
        "--subject-id",
        "17",
        "--idempotency-key",
        "terms",
    ]);
    let id = started["id"].as_str().unwrap();
    assert_eq!((&started["status"], &started["current_node"]), (&"waiting".into(), &"review".into()));
    assert_eq!(started["starter"]["id"], "local");
    let again = data_of(&["workflows", "start", "review", "--idempotency-key", "terms"]);
    assert_eq!(again["id"], id);
    let list = text(&["workflows", "list", "--workflow", "review", "--status", "waiting,paused"], 0);
    assert!(list.contains(id) && list.contains("Page 17"), "{list}");
    let overlay = text(&["workflows", "overlay", "review"], 0);
    assert!(overlay.contains("review  waiting  1"), "{overlay}");

    let version = started["lock_version"].to_string();
    let paused = text(&["workflows", "pause", id, "--expected-version", &version], 0);
    assert!(paused.contains("was waiting at review, is paused at review"), "{paused}");
    let args = at(&["workflows", "cancel", id, "--expected-version", &version]);
    let stale = run(data, &args.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(stale.status.code(), Some(1));
    assert!(stderr(&stale).contains("Its version is 1"), "{}", stderr(&stale));
    let args = at(&["workflows", "pause", id]);
    let refused = run(data, &args.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(stderr(&refused).contains("heddle workflows resume"), "{}", stderr(&refused));
    // Kept until it is resumed, whatever becomes of the server.
    let kept = text(&["workflows", "signal", id, "review", "--payload", "{\"approved\": true}"], 0);
    assert!(kept.contains("paused at review, as before; the signal is kept"), "{kept}");
    server.signal("-TERM");
    assert_eq!(server.exit_code_within(Duration::from_secs(20)), Some(0));
    let server = Running::serve(data, &["--no-worker"]);
    let url = server.url.as_str();
    let resumed = expect(data, &["workflows", "resume", id, "--server", url], 0);
    assert!(resumed.contains("is waiting at settle") || resumed.contains("is completed"), "{resumed}");
    let shown = expect(data, &["workflows", "show", id, "--wait", "--timeout", "30", "--server", url], 0);
    for part in
        ["status   completed", "by user local", "signal review, kept", "\"published\":true", "→ event"]
    {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let shown = json(data, &["workflows", "show", id, "--server", url]);
    assert_eq!(shown["output"]["title"], "Terms");
    assert!(shown["timeline"].as_array().unwrap().len() >= 9);
    // What has ended stays so, and many at a time answer each.
    let refused = run(data, &["workflows", "cancel", id, "--server", url]);
    assert_eq!(refused.status.code(), Some(1));
    for _ in 0..3 {
        json(data, &["workflows", "start", "review", "--server", url]);
    }
    let emitted = expect(data, &["workflows", "emit", "nothing", "--server", url], 0);
    assert!(emitted.contains("0 instances took nothing"), "{emitted}");
    let skipped = expect(
        data,
        &[
            "workflows",
            "skip",
            "--status",
            "waiting",
            "--outcome",
            "event",
            "--output",
            "{\"approved\": false}",
            "--server",
            url,
        ],
        0,
    );
    assert!(skipped.contains("3 done, 0 refused"), "{skipped}");
    let cancelled = expect(data, &["workflows", "cancel", "--all", "--server", url], 1);
    assert!(cancelled.contains("0 done, 4 refused"), "{cancelled}");
}

/// proves W2: every type of key serves people and tenants whose names are no such keys.
#[test]
fn every_type_of_key_serves() {
    for key_type in ["uuid", "ulid"] {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path();
        let settings = format!(
            "[workflows]\nprimary_key_type = \"{key_type}\"\nowner_key_type = \"{key_type}\"\n\
             subject_key_type = \"{key_type}\"\nkey_type = \"{key_type}\"\n[workflows.tables]\nwaits = \"flow_waits\"\n"
        );
        std::fs::write(data.join("heddle.toml"), settings).unwrap();
        let server = installed(data);
        let url = server.url.as_str();
        expect(data, &["workflows", "publish", &review(), "--key", "other", "--server", url], 0);
        let started = json(data, &["workflows", "start", "other", "--server", url]);
        assert_eq!(started["starter"]["id"], "local");
        let id = started["id"].as_str().unwrap();
        assert!(expect(data, &["workflows", "list", "--server", url], 0).contains(id));
        let cancelled = expect(data, &["workflows", "cancel", id, "--server", url], 0);
        assert!(cancelled.contains("is cancelled"), "{cancelled}");
    }
}

/// proves W1, W17, W32: two servers on one database, each with a data folder of its own: what one starts the other signals.
#[test]
fn servers_share_a_postgres() {
    let postgres = std::env::var("HEDDLE_TEST_POSTGRES")
        .expect("HEDDLE_TEST_POSTGRES names a PostgreSQL server for tests: `cargo xtask test` starts one");
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let name = one.path().file_name().unwrap().to_str().unwrap();
    let schema: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let url = format!("{postgres} options='-c search_path=serve_{}'", schema.to_lowercase());
    let settings = format!("[workflows]\ndatabase_url = \"{url}\"\nprimary_key_type = \"uuid\"\n");
    for data in [one.path(), other.path()] {
        std::fs::write(data.join("heddle.toml"), &settings).unwrap();
    }
    let shown = expect(one.path(), &["config", "show"], 0);
    assert!(shown.contains("workflows.database_url") && !shown.contains("search_path"), "{shown}");
    let server = Running::serve(one.path(), &["--no-worker"]);
    let refused = run(one.path(), &["workflows", "list", "--server", &server.url]);
    assert!(stderr(&refused).contains("heddle workflows install --apply"), "{}", stderr(&refused));
    drop(server);
    let elsewhere = run(one.path(), &["workflows", "install", "--database", "sqlite", "--apply"]);
    assert_eq!(elsewhere.status.code(), Some(2), "it is run on no other database than the server's");
    let installed = json(one.path(), &["workflows", "install", "--apply"]);
    assert_eq!(
        (&installed["database"], &installed["primary_key_type"]),
        (&"postgres".into(), &"uuid".into())
    );
    assert_eq!(installed["applied"]["made"], true);
    let twice = json(other.path(), &["workflows", "install", "--apply"]);
    assert_eq!(twice["applied"]["made"], false);

    // Tables with other keys are tables all the same, whatever language the server says so in.
    let otherwise = ["workflows", "install", "--primary-key", "ulid", "--dir", "otherwise", "--apply"];
    let refused = run(other.path(), &otherwise);
    assert!(stderr(&refused).contains("has other workflow tables already"), "{}", stderr(&refused));

    let first = Running::serve(one.path(), &["--no-worker"]);
    let second = Running::serve(other.path(), &["--no-worker"]);
    expect(one.path(), &["workflows", "publish", &review(), "--server", &first.url], 0);
    let trigger = "{\"title\": \"Terms\", \"settle\": \"50ms\"}";
    let start = ["workflows", "start", "review", "--trigger", trigger, "--server", &first.url];
    let started = json(one.path(), &start);
    let id = started["id"].as_str().unwrap();
    let list = expect(other.path(), &["workflows", "list", "--server", &second.url], 0);
    assert!(list.contains(id), "{list}");
    let approved = "{\"approved\": true}";
    let signal = ["workflows", "signal", id, "review", "--payload", approved, "--server", &second.url];
    expect(other.path(), &signal, 0);
    let show = ["workflows", "show", id, "--wait", "--timeout", "30", "--server", &first.url];
    let shown = expect(one.path(), &show, 0);
    assert!(shown.contains("status   completed"), "{shown}");
}

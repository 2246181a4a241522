//! The commands that need no server, as a person calls them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn samples(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(name)
}

fn heddle(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_heddle"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("HEDDLE_CONFIG")
        .output()
        .expect("heddle runs")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn screens() -> String {
    samples("screens.json").to_string_lossy().into_owned()
}

#[test]
fn without_a_node_the_frames_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let listed = heddle(folder.path(), &["--json", "convert", &screens()]);
    assert_eq!(listed.status.code(), Some(0), "{}", err(&listed));
    let frames: Value = serde_json::from_str(&out(&listed)).expect("JSON on stdout alone");
    assert_eq!(frames.as_array().map(Vec::len), Some(5));
    assert_eq!((&frames[0]["name"], &frames[0]["width"]), (&json!("Explore"), &json!(390.0)));
    // Asked for files, a list is no answer.
    let refused = heddle(folder.path(), &["convert", &screens(), "--out", "x"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(!folder.path().join("x").exists());
}

#[test]
fn a_frame_becomes_files_and_the_same_files_again() {
    let folder = tempfile::tempdir().expect("a folder");
    for out in ["a", "b"] {
        let made =
            heddle(folder.path(), &["convert", &screens(), "--node", "47584-1", "--out", out, "--png"]);
        assert_eq!(made.status.code(), Some(0), "{}", err(&made));
    }
    let read = |path: &str| std::fs::read(folder.path().join(path)).expect("a file");
    for name in [
        "result.json",
        "wireframe.json",
        "parse.json",
        "source.svg",
        "preview.svg",
        "source.png",
        "preview.png",
    ] {
        assert!(read(&format!("a/{name}")) == read(&format!("b/{name}")), "{name} differs");
    }
    let result: Value = serde_json::from_slice(&read("a/result.json")).expect("JSON");
    assert_eq!(result["text"]["lost"], json!([]));
    let manifest: Value = serde_json::from_slice(&read("a/manifest.json")).expect("JSON");
    assert_eq!(manifest["artifacts"].as_object().map(serde_json::Map::len), Some(7));
    let wireframe: Value = serde_json::from_slice(&read("a/wireframe.json")).expect("JSON");
    assert!(wireframe["nodes"].as_array().expect("nodes").iter().all(|n| n["source_ids"][0].is_string()));
    assert!(read("a/preview.png").starts_with(b"\x89PNG"));
    // A later conversion without PNGs leaves none of this one's beside its own files.
    let later = heddle(folder.path(), &["convert", &screens(), "--node", "26282:1", "--out", "b"]);
    assert!(later.status.success() && !folder.path().join("b/preview.png").exists());
    // Nothing but the files is left behind.
    assert_eq!(std::fs::read_dir(folder.path().join("a")).expect("the folder").count(), 8);
}

#[test]
fn bad_input_is_told_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = std::fs::read(samples("screens.json")).expect("the screens");
    let mut trailing = good.clone();
    trailing.extend_from_slice(b"\nHTTP_STATUS:200");
    let empty_kit = json!({"document": {"id": "0:0", "type": "DOCUMENT", "children": []}}).to_string();
    let odd_frame = json!({"id": "1:1", "name": "../a/b, c=d 👁", "type": "FRAME",
        "absoluteBoundingBox": {"x": 0, "y": 0, "width": 1e300, "height": 0},
        "children": [{"id": "1:1", "name": "x", "type": "TEXT", "characters": "Hi", "absoluteBoundingBox": {"x": 0, "y": 0, "width": 9, "height": 9}}]});
    for (name, bytes) in [
        ("cut.json", &good[..good.len() / 2]),
        ("trailing.json", trailing.as_slice()),
        ("empty.json", b""),
        ("array.json", b"[1]"),
        ("no-components.json", empty_kit.as_bytes()),
        ("odd.json", odd_frame.to_string().as_bytes()),
        ("refused.json", br#"{"status":403,"err":"Invalid token"}"#),
    ] {
        std::fs::write(folder.path().join(name), bytes).expect("a file");
    }
    for (arguments, says) in [
        (vec!["convert", "cut.json", "--out", "o"], "ends too early"),
        (vec!["convert", "empty.json", "--out", "o"], "empty"),
        (vec!["convert", "array.json", "--out", "o"], "not a Figma document"),
        (vec!["convert", "refused.json", "--out", "o"], "Invalid token"),
        (vec!["convert", "missing.json", "--out", "o"], "could not read"),
        (vec!["convert", "trailing.json", "--node", "9:9", "--out", "o"], "no layer has the id"),
        (vec!["convert", "trailing.json", "--node", "0:0", "--out", "o"], "is a page"),
        (
            vec![
                "convert",
                "trailing.json",
                "--node",
                "47584:1",
                "--kit",
                "no-components.json",
                "--out",
                "o",
            ],
            "is no kit",
        ),
        (
            vec!["convert", "trailing.json", "--node", "47584:1", "--kit", "cut.json", "--out", "o"],
            "ends too early",
        ),
        (vec!["convert", "trailing.json", "--node", "", "--out", "o"], "no layer has the id"),
        (vec!["render", "cut.json", "-o", "o.svg"], "ends too early"),
        (vec!["snapshot", "cut.json", "-o", "o.json"], "ends too early"),
    ] {
        let failed = heddle(folder.path(), &arguments);
        assert_eq!(failed.status.code(), Some(1), "{arguments:?}: {}", err(&failed));
        assert!(err(&failed).contains(says), "{arguments:?}: {}", err(&failed));
        assert!(out(&failed).is_empty(), "{arguments:?}");
        assert!(!err(&failed).contains("panicked"), "{}", err(&failed));
        for left in ["o", "o.svg", "o.json"] {
            assert!(!folder.path().join(left).exists(), "{arguments:?} left {left}");
        }
    }
    // Trailing bytes and odd frames are worked around, and told.
    let mended = heddle(folder.path(), &["convert", "trailing.json", "--node", "47584:1"]);
    assert!(mended.status.success() && out(&mended).contains("trailing_bytes"), "{}", out(&mended));
    let odd = heddle(folder.path(), &["convert", "odd.json", "--out", "o", "--png"]);
    assert!(odd.status.success(), "{}", err(&odd));
    let result = std::fs::read_to_string(folder.path().join("o/result.json")).expect("a result");
    assert!(result.contains("bad_bounds") && result.contains("duplicate_id"), "{result}");
    assert!(result.contains("../a/b, c=d 👁"));
}

#[test]
fn names_can_not_steer_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let evil = json!({"document": {"id": "0:0", "type": "DOCUMENT", "children": [{"id": "0:1", "type": "CANVAS", "children": [
        {"id": "1:1", "name": "a\u{1b}]0;owned\u{7}\nb", "type": "FRAME", "absoluteBoundingBox": {"x": 0, "y": 0, "width": 9, "height": 9}},
        {"id": "1:\u{1b}[2J", "name": "b", "type": "FRAME"}]}]}});
    std::fs::write(folder.path().join("evil.json"), evil.to_string()).expect("a file");
    let listed = heddle(folder.path(), &["convert", "evil.json"]);
    assert_eq!(out(&listed).lines().count(), 3, "{}", out(&listed));
    let missing = heddle(folder.path(), &["convert", "evil.json", "--node", "\u{1b}[31m"]);
    assert!(![out(&listed), err(&listed), err(&missing)].concat().contains(['\u{1b}', '\u{7}']));
    assert_eq!(heddle(folder.path(), &["eval", "nowhere"]).status.code(), Some(1));
}

#[test]
fn gzip_and_stdin_are_read_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = Command::new(env!("CARGO_BIN_EXE_heddle"))
        .args(["--json", "render", "-", "--node", "47584:1", "-o", "screen.png", "--scale", "0.5"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("heddle runs");
    let bytes = std::fs::read(samples("screens.json")).expect("the screens");
    child.stdin.take().expect("stdin").write_all(&bytes).expect("a reader");
    let output = child.wait_with_output().expect("an end");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["width"], &report["height"]), (&json!(195.0), &json!(730.0)));
    let png = std::fs::read(folder.path().join("screen.png")).expect("the picture");
    assert_eq!((&png[..4], &png[16..20]), (b"\x89PNG".as_slice(), 195_u32.to_be_bytes().as_slice()));
}

#[test]
fn a_snapshot_converts_like_the_file_that_it_was_cut_from() {
    // proves D9
    let folder = tempfile::tempdir().expect("a folder");
    let cut =
        heddle(folder.path(), &["--json", "snapshot", &screens(), "--node", "26282:1", "-o", "frame.json"]);
    assert!(cut.status.success(), "{}", err(&cut));
    let whole = heddle(folder.path(), &["--json", "convert", &screens(), "--node", "26282:1"]);
    let alone = heddle(folder.path(), &["--json", "convert", "frame.json"]);
    let score = |output: &Output| serde_json::from_str::<Value>(&out(output)).expect("JSON")["score"].clone();
    assert_eq!(score(&whole), score(&alone));
    let again = heddle(folder.path(), &["--json", "snapshot", "frame.json", "-o", "again.json"]);
    assert!(again.status.success());
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("a file");
    assert!(read("frame.json") == read("again.json"));
}

#[test]
fn no_sample_is_in_a_lower_band_than_it_was() {
    // proves D10, D13
    let folder = tempfile::tempdir().expect("a folder");
    let ratchet = samples("ratchet.json").to_string_lossy().into_owned();
    let fine = heddle(folder.path(), &["eval", &screens(), "--all-frames", "--ratchet", &ratchet]);
    assert_eq!(fine.status.code(), Some(0), "{}{}", out(&fine), err(&fine));
    // The gate is real: a ratchet that asks for more fails.
    let higher = std::fs::read_to_string(&ratchet).expect("the ratchet").replace("\"C\"", "\"A\"");
    std::fs::write(folder.path().join("higher.json"), higher).expect("a file");
    let failed =
        heddle(folder.path(), &["--json", "eval", &screens(), "--all-frames", "--ratchet", "higher.json"]);
    assert_eq!(failed.status.code(), Some(1));
    let report: Value = serde_json::from_str(&out(&failed)).expect("JSON");
    assert!(report["dropped"].as_array().is_some_and(|d| !d.is_empty()));
    assert_eq!(report["strings_kept"], report["strings_seen"]);
}

#[test]
fn the_demo_goes_the_whole_way() {
    // proves D20: without a model and without a network, pictures and all.
    let folder = tempfile::tempdir().expect("a folder");
    let demo = heddle(folder.path(), &["--json", "--quiet", "demo", "--once", "--dir", "d"]);
    assert_eq!(demo.status.code(), Some(0), "{}", err(&demo));
    let report: Value = serde_json::from_str(&out(&demo)).expect("JSON");
    let runs = report["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 5);
    for run in runs {
        assert_eq!(run["status"], "completed", "{run}");
        assert_eq!(run["strings_kept"], run["strings_seen"]);
        let picture = run["wireframe_png"].as_str().expect("a picture");
        assert!(std::fs::read(picture).expect("the picture").starts_with(b"\x89PNG"));
    }
}

#[test]
fn every_real_file_is_converted_or_refused_with_a_reason() {
    // proves D10
    let Ok(corpus) = std::env::var("HEDDLE_CORPUS") else {
        println!("skipped: HEDDLE_CORPUS is not set");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let report = heddle(folder.path(), &["--json", "--quiet", "eval", &corpus]);
    assert_eq!(report.status.code(), Some(0), "{}", err(&report));
    let report: Value = serde_json::from_str(&out(&report)).expect("JSON");
    assert_eq!(report["strings_kept"], report["strings_seen"]);
    assert!(report["files_converted"].as_u64() >= Some(90), "{}", report["refused"]);
    assert!(
        report["refused"]
            .as_array()
            .expect("refusals")
            .iter()
            .all(|r| !r["error"].as_str().unwrap_or("").is_empty())
    );
}

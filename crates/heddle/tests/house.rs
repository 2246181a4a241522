//! A run through the whole house, by the program's own commands: one process, and two.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;
use std::time::Duration;

use common::{Running, expect, json, run, sample};
use serde_json::Value;

/// A project with the sample kit, and the sample screens as a folder of Figma files.
fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let files = dir.path().join("files");
    std::fs::create_dir(&files).unwrap();
    std::fs::copy(sample("screens.json"), files.join("screens.json")).unwrap();
    let kit = sample("wireframe-kit.json");
    expect(dir.path(), &["sweep", kit.to_str().unwrap(), "--target", "kit", "--project", "1"], 0);
    dir
}

/// Every frame on the pages of the samples.
fn frames() -> Vec<String> {
    let file: Value = serde_json::from_slice(&std::fs::read(sample("screens.json")).unwrap()).unwrap();
    let pages = file["document"]["children"].as_array().unwrap();
    let frames = pages.iter().flat_map(|page| page["children"].as_array().unwrap());
    frames.map(|frame| frame["id"].as_str().unwrap().to_owned()).collect()
}

fn create(data: &Path, url: &str, node: &str, more: &[&str]) -> (Option<i32>, Value) {
    let mut args =
        vec!["generations", "create", "--server", url, "--file-key", "screens", "--node", node, "--json"];
    args.extend(more);
    let output = run(data, &args);
    let run = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        panic!("{:?}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    });
    (output.status.code(), run)
}

fn check_completed(run: &Value) {
    assert_eq!(run["status"], "completed", "{run:#}");
    assert_eq!(run["phase"], Value::Null);
    assert_eq!(run["score_version"], "ds@1.0");
    let score = run["score"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&score));
    let id = run["id"].as_str().unwrap();
    assert_eq!(run["result_url"], format!("1/1/des2wf/{id}/result.json"));
}

/// The setup view says what a run would choose from, and what a swapped kit has left behind.
// proves D7
#[test]
fn the_registered_kit_is_summed_up() {
    let dir = project();
    let data = dir.path();
    let summary = json(data, &["kit", "summary", "--project", "1"]);
    let count = |field: &str| summary[field].as_u64().unwrap();
    let entries = count("entries");
    assert!(entries >= 25, "{summary:#}");
    assert_eq!(summary["project_id"], 1);
    assert_eq!((count("with_node_id"), count("with_publish_key")), (entries, entries));
    assert!(count("rows") > entries, "each variant is one to choose");
    for field in ["with_variant_axes", "with_text_slots"] {
        assert!((1..=entries).contains(&count(field)), "{field}: {summary:#}");
    }
    assert_eq!((count("unreachable"), count("stale"), count("unreadable")), (0, 0, 0));
    let text = expect(data, &["kit", "summary", "--project", "1"], 0);
    assert!(text.contains(&format!("entries                  {entries}")), "{text}");

    // A kit of one component takes its place: nothing is deleted, and nothing of the old one is chosen any more.
    std::fs::write(
        data.join("small.json"),
        serde_json::json!({ "document": { "id": "0:0", "type": "DOCUMENT", "children": [
            { "id": "0:1", "type": "CANVAS", "name": "Page", "children": [
                { "id": "1:1", "type": "COMPONENT", "name": "Box", "children": [] }] }] } })
        .to_string(),
    )
    .unwrap();
    expect(data, &["sweep", "small.json", "--target", "kit", "--project", "1", "--replace"], 0);
    let swapped = json(data, &["kit", "summary", "--project", "1"]);
    assert_eq!((&swapped["entries"], &swapped["with_publish_key"]), (&1.into(), &0.into()));
    assert_eq!(swapped["stale"], entries);
    // Another project has none, and is told how to get one.
    let none = expect(data, &["kit", "summary", "--project", "2"], 0);
    assert!(none.contains("heddle sweep KIT.json --target kit --project 2"), "{none}");
}

// proves G6
// proves G11
#[test]
fn one_process_does_it_all() {
    let dir = project();
    let data = dir.path();
    let files = data.join("files");
    let mut server = Running::serve(data, &["--figma-files", files.to_str().unwrap()]);
    let url = server.url.clone();
    let frames = frames();
    let (code, done) = create(data, &url, &frames[0], &["--wait", "--timeout", "120"]);
    assert_eq!(code, Some(0));
    check_completed(&done);
    let id = done["id"].as_str().unwrap();
    let artifacts = data.join("data/objects/1/1/des2wf").join(id);
    for name in ["result.json", "wireframe.json", "parse.json", "manifest.json", "inputs.json", "preview.svg"]
    {
        assert!(artifacts.join(name).is_file(), "{name}");
    }

    // A node that isn't there fails, and says so; a failure is exit 1.
    let (code, failed) = create(data, &url, "99999:1", &["--wait", "--timeout", "60"]);
    assert_eq!(code, Some(1));
    assert_eq!(failed["status"], "failed");
    assert!(failed["error_message"].as_str().unwrap().contains("99999:1"), "{failed:#}");

    // The same by an uploaded document, as gzip too.
    let screens = sample("screens.json");
    let (code, uploaded) = create(
        data,
        &url,
        &frames[0],
        &["--upload", screens.to_str().unwrap(), "--wait", "--timeout", "120"],
    );
    assert_eq!(code, Some(0));
    check_completed(&uploaded);
    assert_eq!(uploaded["score"], done["score"], "the same frame gives the same result");

    let list = json(data, &["generations", "list", "--server", &url, "--status", "completed"]);
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
    let text = expect(data, &["generations", "list", "--server", &url, "--limit", "2"], 0);
    assert!(text.contains("more: --cursor "), "{text}");
    let shown = expect(data, &["generations", "show", id, "--server", &url], 0);
    assert!(shown.contains("status   completed") && shown.contains(id), "{shown}");
    // Too late to cancel.
    expect(data, &["generations", "cancel", id, "--server", &url], 1);

    // A second server on the folder is refused; the first ends well when asked.
    let second = run(data, &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&second.stderr).contains("another process serves"));
    server.signal("-TERM");
    assert_eq!(server.exit_code_within(Duration::from_secs(20)), Some(0));
    expect(data, &["generations", "list", "--server", &url], 1);
}

// proves G14
#[test]
fn two_processes_share_the_work_and_a_killed_worker_is_replaced() {
    let dir = project();
    let data = dir.path();
    // A killed worker's messages come again soon.
    std::fs::write(data.join("heddle.toml"), "[worker]\nvisibility_seconds = 5\n").unwrap();
    let files = data.join("files");
    let files = files.to_str().unwrap();
    let mut server = Running::serve(data, &["--no-worker"]);
    let url = server.url.clone();
    let frames = frames();
    assert!(frames.len() >= 3);
    let ids: Vec<String> = frames
        .iter()
        .map(|node| {
            let (code, run) = create(data, &url, node, &[]);
            assert_eq!((code, &run["status"]), (Some(0), &Value::from("processing")));
            run["id"].as_str().unwrap().to_owned()
        })
        .collect();
    // G2: one live run for each node.
    let again = run(
        data,
        &["generations", "create", "--server", &url, "--file-key", "screens", "--node", &frames[0]],
    );
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains(&ids[0]));
    // Cancelled before anybody took it: its job is done for nothing, and changes nothing.
    let cancelled = json(data, &["generations", "cancel", &ids[0], "--server", &url]);
    assert_eq!(cancelled["status"], "cancelled");

    let mut first = Running::worker(data, &url, &["--figma-files", files]);
    std::thread::sleep(Duration::from_millis(700));
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let mut second = Running::worker(data, &url, &["--figma-files", files, "--concurrency", "1"]);
    for id in &ids[1..] {
        let done = json(data, &["generations", "show", id, "--server", &url, "--wait", "--timeout", "120"]);
        check_completed(&done);
        assert_eq!(done["attempt"], 1);
    }
    // The cancelled one's message is the last to go.
    for _ in 0..200 {
        if depth(&url) == 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(depth(&url), 0);
    let cancelled = json(data, &["generations", "show", &ids[0], "--server", &url]);
    assert_eq!((&cancelled["status"], &cancelled["score"]), (&Value::from("cancelled"), &Value::Null));
    second.signal("-INT");
    assert_eq!(second.exit_code_within(Duration::from_secs(20)), Some(0));
    server.signal("-INT");
    assert_eq!(server.exit_code_within(Duration::from_secs(20)), Some(0));
}

/// Each organization has its own projects; nobody asks for runs in another's, and none changes hands.
// proves G4
#[test]
fn projects_belong_to_organizations() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path();
    let settings = "default_organization_id = 1\n\
        [[projects]]\nid = 1\n[[projects]]\nid = 2\norganization_id = 7\n\
        [[callers]]\nuser = \"ann\"\ntoken = \"token-of-ann-at-one\"\n\
        [[callers]]\nuser = \"bo\"\ntoken = \"token-of-bo-at-seven\"\norganization_id = 7\n";
    std::fs::write(data.join("heddle.toml"), settings).unwrap();
    let mut server = Running::serve(data, &["--no-worker"]);
    let ask = |token: &str, project: i64| {
        let body = format!(
            r#"{{"edge":"des2wf","project_id":{project},"figma_file_key":"screens","wf_node_id":"1:1"}}"#
        );
        let request = ureq::post(format!("{}/v1/generations", server.url))
            .config()
            .http_status_as_error(false)
            .build()
            .header("authorization", &format!("Bearer {token}"))
            .header("content-type", "application/json");
        request.send(&body).unwrap().status().as_u16()
    };
    assert_eq!(ask("token-of-ann-at-one", 1), 201);
    assert_eq!(ask("token-of-bo-at-seven", 2), 201);
    assert_eq!(ask("token-of-ann-at-one", 2), 422);
    assert_eq!(ask("token-of-bo-at-seven", 1), 422);
    server.signal("-TERM");
    assert_eq!(server.exit_code_within(Duration::from_secs(30)), Some(0));

    // Another default on the same folder would give project 1 away: what is the matter is said, and what to do.
    let changed = settings.replace("default_organization_id = 1", "default_organization_id = 3");
    std::fs::write(data.join("heddle.toml"), changed).unwrap();
    let refused = run(data, &["serve", "--listen", "127.0.0.1:0", "--no-worker"]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{error}");
    for part in ["project 1 in", "another organization than 3", "organization_id in [[projects]]"] {
        assert!(error.contains(part), "{error}");
    }
    assert!(!error.contains("damaged") && refused.stdout.is_empty(), "{error}");
}

/// What can't be served is refused before anybody is told where it is, and before anything is made.
#[test]
fn open_pages_stay_on_this_machine() {
    let dir = tempfile::tempdir().unwrap();
    let refused = run(dir.path(), &["serve", "--listen", "0.0.0.0:0", "--open-pages"]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(error.contains("pages are open") && refused.stdout.is_empty(), "{error}");
    assert!(!dir.path().join("data").exists());
    let refused = run(dir.path(), &["serve", "--listen", "127.0.0.1:0", "--figma-files", "nowhere"]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(error.contains("nowhere is not there") && refused.stdout.is_empty(), "{error}");
}

fn depth(url: &str) -> u64 {
    let mut answer = ureq::get(format!("{url}/readyz")).call().unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["queue_depth"].as_u64().unwrap()
}

//! The worker as a program of its own.

#![cfg(all(unix, feature = "bin"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{FakeHttp, TENANT, job, send};
use heddle_exchange::registry::Target;
use heddle_exchange::{Collections, embedded};
use heddle_generation::message::{Job, Outcome, Report};
use heddle_generation::read_manifest;
use heddle_worker::conversion::Des2wf;
use heddle_worker::sweep::{SweepRequest, sweep};
use jiff::Timestamp;
use serde_json::Value;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn program(variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle-worker"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("HEDDLE_") || name.ends_with("_TABLE_NAME") {
            command.env_remove(name);
        }
    }
    command.envs(variables.iter().copied()).stdin(Stdio::null());
    command
}

/// Killed when the test is done with it, however that ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_variable_that_is_wrong_is_exit_2_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    let good = [("HEDDLE_DATA", data), ("HEDDLE_WEBHOOK_SECRET", SECRET)];
    for (wrong, expected) in [
        (("HEDDLE_DATA", "/nonexistent"), "heddle serve"),
        (("HEDDLE_WEBHOOK_SECRET", " "), "HEDDLE_WEBHOOK_SECRET"),
        (("HEDDLE_WEBHOOK_SECRET", "hidden"), "whsec_"),
        (("HEDDLE_WORKER_CONCURRENCY", "0"), "1 to 256"),
        (("WIREFRAME_TABLE_NAME", "design"), "same collection"),
    ] {
        let output = program(&[&good[..], &[wrong]].concat()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {error}");
        assert!(error.contains(expected) && !error.contains("hidden"), "{wrong:?}: {error}");
    }
    let absent = program(&[&good[..], &[("HEDDLE_FIGMA_FILES", "/nonexistent")]].concat()).output().unwrap();
    assert_eq!(absent.status.code(), Some(1));
}

/// proves G12: a program without an SQL driver does a run from message to signed report.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_goes_from_message_to_report() {
    let dir = tempfile::tempdir().unwrap();
    let files = dir.path().join("files");
    std::fs::create_dir(&files).unwrap();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let kit = SweepRequest {
        target: Target::Kit,
        tenant: TENANT,
        file_key: "kit".to_owned(),
        bytes: std::fs::read(samples.join("wireframe-kit.json")).unwrap(),
        alone: false,
        again: false,
    };
    let samples = std::fs::read(samples.join("screens.json")).unwrap();
    std::fs::write(files.join("file.json"), &samples).unwrap();
    let samples: Value = serde_json::from_slice(&samples).unwrap();
    let frame = samples["document"]["children"][0]["children"][0]["id"].as_str().unwrap().to_owned();
    let http = FakeHttp::start(vec![(200, r#"{"applied":true}"#)]).await;
    let exchange = embedded::open(dir.path()).unwrap();
    let converter = Arc::new(Des2wf::default());
    sweep(&exchange, &Collections::default(), converter, kit, Timestamp::UNIX_EPOCH).await.unwrap();
    let (data, files) = (dir.path().to_str().unwrap(), files.to_str().unwrap());
    let child = program(&[
        ("HEDDLE_DATA", data),
        ("HEDDLE_BACKEND", &http.url),
        ("HEDDLE_WEBHOOK_SECRET", SECRET),
        ("HEDDLE_FIGMA_FILES", files),
        ("HEDDLE_WORKER_CONCURRENCY", "1"),
    ])
    .stderr(Stdio::null())
    .spawn()
    .unwrap();
    let mut child = Running(child);
    send(&exchange, &Job { wf_node_id: frame, ..job("run", 1) }).await;
    let begun = Instant::now();
    while exchange.queue.depth().await.unwrap() > 0 && begun.elapsed() < Duration::from_secs(60) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let report: Report = serde_json::from_slice(&http.requests.lock().unwrap()[0].body).unwrap();
    assert_eq!(report.job_id, "run");
    let manifest = exchange.objects.get(&report.manifest_key).await.unwrap().unwrap();
    let effects = read_manifest(&manifest).unwrap().row_effects.wf2des;
    assert_eq!(effects.outcome, Outcome::Completed, "{effects:?}");
    let asked = Command::new("kill").args(["-TERM", &child.0.id().to_string()]).status().unwrap();
    assert!(asked.success());
    let ended = tokio::task::spawn_blocking(move || child.0.wait().unwrap()).await.unwrap();
    assert_eq!(ended.code(), Some(0));
}

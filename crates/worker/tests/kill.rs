//! The same as `recovery.rs`, with real processes on the embedded exchange: a worker process aborts at a breakpoint,
//! and another one takes over. The child processes are this same test program.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{House, job, send};
use heddle_exchange::embedded;
use heddle_worker::{Breakpoints, Ended};
use serde_json::json;

const FOLDER: &str = "HEDDLE_TEST_FOLDER";
const DIE_AT: &str = "HEDDLE_TEST_DIE_AT";

async fn house(folder: &Path) -> House {
    let mut house = House::on(embedded::open(folder).unwrap(), json!({ "do": "convert" })).await;
    house.settings.visibility = Duration::from_millis(700);
    house
}

/// Child: takes the job, and aborts, without unwinding or closing anything, at the breakpoint that it was told.
#[tokio::test]
async fn child_works_and_aborts() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let nth: usize = std::env::var(DIE_AT).unwrap().parse().unwrap();
    let passed = AtomicUsize::new(0);
    let breakpoints = Breakpoints::new(move |_| {
        if passed.fetch_add(1, Ordering::SeqCst) == nth {
            std::process::abort();
        }
        false
    });
    let house = house(Path::new(&folder)).await;
    let ended = house.worker().with_breakpoints(breakpoints).step(Duration::from_secs(5)).await.unwrap();
    assert!(matches!(ended, Some(Ended::Reported { .. })), "{ended:?}");
}

// proves D2
// proves G14
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_process_that_aborts_anywhere_is_replaced_by_another() {
    if std::env::var_os(FOLDER).is_some() {
        return;
    }
    let reference = tempfile::tempdir().unwrap();
    let undisturbed = house(reference.path()).await;
    send(&undisturbed.exchange, &job("run", 1)).await;
    undisturbed.worker().step(Duration::from_secs(5)).await.unwrap().unwrap();
    let as_it_should_be = undisturbed.left_behind("run").await;
    assert!(as_it_should_be.len() > 5);

    let mut aborted = 0;
    for nth in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let house = house(folder.path()).await;
        send(&house.exchange, &job("run", 1)).await;
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_works_and_aborts", "--test-threads=1"])
            .env(FOLDER, folder.path())
            .env(DIE_AT, nth.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        if status.success() {
            break;
        }
        aborted += 1;
        // The child's reports went to a backend that died with it, so that this side's is the first to apply any.
        let worker = house.worker();
        while house.exchange.queue.depth().await.unwrap() > 0 {
            worker.step(Duration::from_secs(2)).await.unwrap();
        }
        assert_eq!(house.left_behind("run").await, as_it_should_be, "after aborting at breakpoint {nth}");
        assert!(house.backend.applied.lock().unwrap().len() <= 1);
    }
    assert_eq!(aborted, 13, "one process for each breakpoint");
}

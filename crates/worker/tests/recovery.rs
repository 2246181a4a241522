//! A job that is killed at any line and delivered again ends the same.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{House, job, send};
use heddle_generation::message::Job;
use heddle_worker::{Breakpoint, Breakpoints, Ended};
use serde_json::{Value, json};

/// Dies once, at the `nth` breakpoint that is passed.
fn die_at(nth: usize, died_at: &Arc<std::sync::Mutex<Option<Breakpoint>>>) -> Breakpoints {
    let (passed, died_at) = (AtomicUsize::new(0), Arc::clone(died_at));
    Breakpoints::new(move |breakpoint| {
        let dies = passed.fetch_add(1, Ordering::SeqCst) == nth;
        if dies {
            *died_at.lock().unwrap() = Some(breakpoint);
        }
        dies
    })
}

async fn until_done(worker: &heddle_worker::Worker) -> Vec<Ended> {
    let mut ends = Vec::new();
    for _ in 0..20 {
        ends.extend(worker.step(Duration::from_secs(20)).await.unwrap());
        if worker.step(Duration::ZERO).await.unwrap().is_none() && !ends.is_empty() {
            break;
        }
    }
    ends
}

/// Kills the worker at every breakpoint that a job with this source passes, each in a house of its own.
async fn every_planned_failure(document: Value, expected: &[Breakpoint]) {
    let undisturbed = House::new(document.clone()).await;
    send(&undisturbed.exchange, &job("run", 1)).await;
    until_done(&undisturbed.worker()).await;
    let as_it_should_be = undisturbed.left_behind("run").await;
    assert!(!as_it_should_be.is_empty());

    let mut seen = Vec::new();
    for nth in 0.. {
        let house = House::new(document.clone()).await;
        let died_at = Arc::default();
        let worker = house.worker().with_breakpoints(die_at(nth, &died_at));
        send(&house.exchange, &job("run", 1)).await;
        let first = worker.step(Duration::from_secs(20)).await.unwrap();
        let Some(breakpoint) = *died_at.lock().unwrap() else {
            break;
        };
        seen.push(breakpoint);
        assert_eq!(first, Some(Ended::Died));
        if breakpoint == Breakpoint::Acknowledged {
            assert_eq!(house.exchange.queue.depth().await.unwrap(), 0);
        } else {
            let ends = until_done(&house.worker()).await;
            assert!(matches!(ends.last(), Some(Ended::Reported { .. })), "after {breakpoint:?}: {ends:?}");
        }
        assert_eq!(house.left_behind("run").await, as_it_should_be, "after dying at {breakpoint:?}");
        assert_eq!(house.exchange.queue.depth().await.unwrap(), 0, "after dying at {breakpoint:?}");
        house.backend.applied_once();
    }
    assert_eq!(seen, expected);
}

// proves D2
// proves G14
#[tokio::test(start_paused = true)]
async fn a_job_killed_anywhere_ends_the_same() {
    use Breakpoint as B;
    every_planned_failure(
        json!({ "do": "convert" }),
        &[
            B::Received,
            B::Read,
            B::Converted,
            B::SnapshotWritten,
            B::InputsWritten,
            B::ArtifactWritten,
            B::ArtifactWritten,
            B::ArtifactWritten,
            B::ResultCommitted,
            B::WireframeWritten,
            B::ManifestWritten,
            B::Reported,
            B::Acknowledged,
        ],
    )
    .await;
}

// proves D18
#[tokio::test(start_paused = true)]
async fn a_failing_job_killed_anywhere_fails_the_same() {
    use Breakpoint as B;
    every_planned_failure(
        json!({ "do": "refuse" }),
        &[B::Received, B::Read, B::ManifestWritten, B::Reported, B::Acknowledged],
    )
    .await;
}

/// The kit changes between a killed delivery and its repetition, when some artifacts are written already: the run
/// fails and says why, and no result mixes the two.
#[tokio::test(start_paused = true)]
async fn a_repetition_under_other_inputs_does_not_mix_results() {
    let house = House::new(json!({ "do": "convert" })).await;
    let died_at = Arc::default();
    send(&house.exchange, &job("run", 1)).await;
    // The first artifact, parse.json, is written.
    house.worker().with_breakpoints(die_at(5, &died_at)).step(Duration::from_secs(20)).await.unwrap();
    assert_eq!(*died_at.lock().unwrap(), Some(Breakpoint::ArtifactWritten));
    let swapped = json!({ "project_id": 7, "name": "Card", "component_node_id": "1:2" });
    house.exchange.documents.put("wireframe_component", "7_card", swapped).await.unwrap();
    until_done(&house.worker()).await;
    let effects = house.backend.applied_once().row_effects.wf2des;
    assert!(effects.error_message.unwrap().contains("changed while this run was being repeated"));

    // Killed before anything of it was written, the same run simply uses the new kit.
    let house = House::new(json!({ "do": "convert" })).await;
    send(&house.exchange, &job("run", 1)).await;
    house.worker().with_breakpoints(die_at(2, &died_at)).step(Duration::from_secs(20)).await.unwrap();
    let swapped = json!({ "project_id": 7, "name": "Card", "component_node_id": "1:2" });
    house.exchange.documents.put("wireframe_component", "7_card", swapped).await.unwrap();
    until_done(&house.worker()).await;
    assert!(house.backend.applied_once().row_effects.wf2des.error_message.is_none());
}

/// Heddle is upgraded between a killed delivery and its repetition: what the two versions make need not be the same,
/// so the run fails and no result mixes them.
#[tokio::test(start_paused = true)]
async fn a_repetition_after_an_upgrade_does_not_mix_results() {
    for (nth, mixes) in [(2, false), (5, true), (9, true)] {
        let house = House::new(json!({ "do": "convert" })).await;
        let died_at = Arc::default();
        send(&house.exchange, &job("run", 1)).await;
        house.worker().with_breakpoints(die_at(nth, &died_at)).step(Duration::from_secs(20)).await.unwrap();
        let before = house.left_behind("run").await;
        *house.converter.version.lock().unwrap() = 2;
        until_done(&house.worker()).await;
        let effects = house.backend.applied_once().row_effects.wf2des;
        let breakpoint = died_at.lock().unwrap().unwrap();
        assert_eq!(effects.error_message.is_some(), mixes, "{breakpoint:?}");
        if mixes {
            assert!(effects.error_message.unwrap().contains("Heddle itself changed while this run was"));
            let mut after = house.left_behind("run").await;
            after.remove("manifest");
            assert_eq!(after, before, "{breakpoint:?}: what was written stays as it was");
        }
    }
}

/// A run is cancelled while it is at work, another one of the same node is asked for and completes; then the first one
/// wakes up. The node's wireframe stays the second one's, at whichever line the first one had stalled.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancelled_run_that_wakes_up_leaves_the_next_runs_wireframe_alone() {
    // Ids are the callers' business: the second run's is the lesser one.
    let run = |job_id: &str, created_at: &str| Job {
        run_created_at: Some(created_at.parse().unwrap()),
        ..job(job_id, 1)
    };
    let first = run("z", "2026-01-02T03:04:05.999999Z");
    let second = run("a", "2026-01-02T03:04:06Z");
    for stall_at in [Breakpoint::Read, Breakpoint::Converted, Breakpoint::ResultCommitted] {
        let house = House::new(json!({ "do": "convert" })).await;
        let (stalled, go_on) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let breakpoints = {
            let (stalled, go_on) = (Arc::clone(&stalled), Arc::clone(&go_on));
            Breakpoints::new(move |breakpoint| {
                if breakpoint == stall_at {
                    stalled.store(1, Ordering::SeqCst);
                    while go_on.load(Ordering::SeqCst) == 0 {
                        std::thread::sleep(Duration::from_millis(2));
                    }
                }
                false
            })
        };
        send(&house.exchange, &first).await;
        let worker = house.worker().with_breakpoints(breakpoints);
        let late = tokio::spawn(async move { worker.step(Duration::from_secs(5)).await.unwrap() });
        while stalled.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        send(&house.exchange, &second).await;
        house.worker().step(Duration::from_secs(5)).await.unwrap();
        let wireframe = house.left_behind("a").await["wireframe"].clone();
        assert_eq!(wireframe["job_id"], "a");
        go_on.store(1, Ordering::SeqCst);
        assert!(matches!(late.await.unwrap(), Some(Ended::Reported { .. })), "{stall_at:?}");
        assert_eq!(house.left_behind("z").await["wireframe"], wireframe, "{stall_at:?}");

        // In the usual order the later one has the last word as well.
        let third = run("m", "2026-01-02T03:04:07Z");
        send(&house.exchange, &third).await;
        house.worker().step(Duration::from_secs(5)).await.unwrap();
        assert_eq!(house.left_behind("m").await["wireframe"]["job_id"], "m");
    }
}

/// Two attempts of one run are alive at once, the older one slow: whatever their order, the newer one's result stays
/// and only it is applied.
// proves D2
// proves G14
#[tokio::test(start_paused = true)]
async fn an_older_attempt_leaves_a_newer_ones_work_alone() {
    for nth in 0..11 {
        let house = House::new(json!({ "do": "convert" })).await;
        house.backend.rows.lock().unwrap().insert("run".to_owned(), 2);
        send(&house.exchange, &job("run", 1)).await;
        let died_at = Arc::default();
        house.worker().with_breakpoints(die_at(nth, &died_at)).step(Duration::from_secs(20)).await.unwrap();
        send(&house.exchange, &job("run", 2)).await;
        let ends = until_done(&house.worker()).await;
        // The older one's message comes again after the newer one is done.
        assert_eq!(ends.len(), 1, "{ends:?}");
        let after_newer = house.left_behind("run").await;
        let conversions = house.converter.calls.load(Ordering::SeqCst);
        let late = until_done(&house.worker()).await;
        let breakpoint = died_at.lock().unwrap().unwrap();
        assert_eq!(late, [Ended::Superseded], "after {breakpoint:?}");
        assert_eq!(house.left_behind("run").await, after_newer, "after {breakpoint:?}");
        assert_eq!(
            house.converter.calls.load(Ordering::SeqCst),
            conversions,
            "nothing is converted for nobody"
        );
        let applied = house.backend.applied_once();
        assert_eq!(applied.attempt, 2);
        assert_eq!(after_newer["des2wf_generation_result"]["attempt"], 2);
        assert_eq!(after_newer["wireframe"]["attempt"], 2);
        assert_eq!(house.exchange.queue.depth().await.unwrap(), 0);
    }
}

/// The older attempt is converting while the newer one does everything: it finds itself superseded at its first
/// fenced write, and leaves all as it is.
// proves D2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_attempt_that_wakes_up_late_is_superseded() {
    let house = House::new(json!({ "do": "convert", "sleep_ms": 700 })).await;
    house.backend.rows.lock().unwrap().insert("run".to_owned(), 2);
    send(&house.exchange, &job("run", 1)).await;
    let older = Arc::new(house.worker());
    let older = tokio::spawn(async move { older.step(Duration::from_secs(5)).await.unwrap() });
    while house.converter.calls.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    house.sources.0.lock().unwrap().insert("file".to_owned(), json!({ "do": "convert" }));
    send(&house.exchange, &job("run", 2)).await;
    let newer = house.worker().step(Duration::from_secs(5)).await.unwrap();
    assert!(matches!(newer, Some(Ended::Reported { applied: true, .. })), "{newer:?}");
    let after_newer = house.left_behind("run").await;
    assert_eq!(older.await.unwrap(), Some(Ended::Superseded));
    assert_eq!(house.left_behind("run").await, after_newer);
    assert_eq!(house.backend.applied_once().attempt, 2);
    assert_eq!(house.exchange.queue.depth().await.unwrap(), 0);
}

/// The older attempt has committed its result and stalls; the newer one does everything meanwhile. The wireframe, which
/// no attempt fences, stays the newer one's.
// proves D2
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_older_attempt_leaves_a_newer_wireframe_alone() {
    let house = House::new(json!({ "do": "convert" })).await;
    house.backend.rows.lock().unwrap().insert("run".to_owned(), 2);
    let (stalled, newer_done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let breakpoints = {
        let (stalled, newer_done) = (Arc::clone(&stalled), Arc::clone(&newer_done));
        Breakpoints::new(move |breakpoint| {
            if breakpoint == Breakpoint::ResultCommitted {
                stalled.store(1, Ordering::SeqCst);
                while newer_done.load(Ordering::SeqCst) == 0 {
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
            false
        })
    };
    send(&house.exchange, &job("run", 1)).await;
    let older = house.worker().with_breakpoints(breakpoints);
    let older = tokio::spawn(async move { older.step(Duration::from_secs(5)).await.unwrap() });
    while stalled.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    send(&house.exchange, &job("run", 2)).await;
    house.worker().step(Duration::from_secs(5)).await.unwrap();
    let after_newer = house.left_behind("run").await;
    newer_done.store(1, Ordering::SeqCst);
    assert_eq!(older.await.unwrap(), Some(Ended::Superseded));
    assert_eq!(house.left_behind("run").await, after_newer);
    assert_eq!(after_newer["wireframe"]["attempt"], 2);
}

//! What becomes of each kind of job.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{House, TENANT, job, send};
use heddle_exchange::keys::{ContentHash, sha256_hex};
use heddle_generation::message::{Outcome, Source};
use heddle_worker::{Ended, LocalSources, Settings, SourceError, Sources, Worker};
use serde_json::json;
use tokio::time::Instant;

const WAIT: Duration = Duration::from_secs(20);

async fn step(worker: &Worker) -> Ended {
    // A message that was given back may take minutes to come again.
    for _ in 0..60 {
        if let Some(ended) = worker.step(WAIT).await.unwrap() {
            return ended;
        }
    }
    panic!("no message came");
}

// proves D17
// proves D18
#[tokio::test(start_paused = true)]
async fn a_job_leaves_what_the_contract_says_where_it_says() {
    let house = House::new(json!({ "do": "convert" })).await;
    send(&house.exchange, &job("run", 1)).await;
    assert_eq!(step(&house.worker()).await, Ended::Reported { outcome: Outcome::Completed, applied: true });
    let manifest = house.backend.applied_once();
    let hash = sha256_hex(br#"{"do":"convert"}"#);
    let keys: Vec<_> =
        manifest.artifacts.iter().map(|(name, artifact)| (name.as_str(), artifact.key.as_str())).collect();
    assert_eq!(
        keys,
        [
            ("inputs", "1/7/des2wf/run/inputs.json"),
            ("parse", "1/7/des2wf/run/parse.json"),
            ("preview_svg", "1/7/des2wf/run/preview.svg"),
            ("result", "1/7/des2wf/run/result.json"),
            ("snapshot", &format!("1/7/des2wf/snapshots/file/12=3A34.{hash}.json")),
        ]
    );
    let effects = &manifest.row_effects.wf2des;
    assert_eq!(effects.result_url.as_deref(), Some("1/7/des2wf/run/result.json"));
    assert_eq!((effects.flag_count, effects.score), (Some(2), Some(0.875)));
    assert_eq!(effects.score_version.as_deref(), Some("ds@1.0"));
    let stages: Vec<_> = manifest.timings_ms.keys().map(String::as_str).collect();
    assert_eq!(
        stages,
        ["parse", "registries", "source", "waiting", "writing"],
        "leaves alone, so that they add up"
    );

    let result = house.exchange.documents.get("des2wf_generation_result", "run").await.unwrap().unwrap();
    assert_eq!((&result["_id"], &result["attempt"]), (&json!("run"), &json!(1)));
    assert_eq!((&result["organization_id"], &result["project_id"]), (&json!(1), &json!(7)));
    assert_eq!(result["kit"], json!(["Button"]));
    let wireframe = house.exchange.documents.get("wireframe", "7_file_12:34~des2wf").await.unwrap().unwrap();
    assert_eq!((&wireframe["based_on"], &wireframe["job_id"]), (&json!(1), &json!("run")));
}

// proves D18
#[tokio::test(start_paused = true)]
async fn a_permanent_failure_is_told_to_the_designer_once() {
    for (document, file_key, expected) in [
        (json!({ "do": "refuse" }), "file", "There is no node 12:34 in this file."),
        (json!({ "do": "panic" }), "file", "a defect in Heddle"),
        (json!({}), "absent", "There is no such file."),
    ] {
        let house = House::new(document).await;
        let mut job = job("run", 1);
        job.figma_file_key = file_key.to_owned();
        send(&house.exchange, &job).await;
        assert_eq!(step(&house.worker()).await, Ended::Reported { outcome: Outcome::Failed, applied: true });
        let manifest = house.backend.applied_once();
        let effects = &manifest.row_effects.wf2des;
        assert!(effects.error_message.as_deref().unwrap().contains(expected), "{effects:?}");
        assert_eq!(effects.result_url.as_deref(), Some("1/7/des2wf/run/manifest.json"));
        assert_eq!((effects.score, effects.flag_count), (None, None));
        assert!(manifest.artifacts.is_empty());
        assert!(house.exchange.documents.get("des2wf_generation_result", "run").await.unwrap().is_none());
        assert_eq!(house.exchange.queue.depth().await.unwrap(), 0);
    }
}

/// A wireframe that no document store takes is found out before anything is written.
#[tokio::test(start_paused = true)]
async fn a_result_too_large_to_keep_leaves_nothing_half_written() {
    let house = House::new(json!({ "do": "convert", "fill": 17 << 20 })).await;
    send(&house.exchange, &job("run", 1)).await;
    assert_eq!(step(&house.worker()).await, Ended::Reported { outcome: Outcome::Failed, applied: true });
    let message = house.backend.applied_once().row_effects.wf2des.error_message.unwrap();
    assert!(message.contains("too large") && message.contains("Convert a smaller frame"), "{message}");
    let left: Vec<_> = house.left_behind("run").await.into_keys().collect();
    assert_eq!(left, ["manifest"]);
    for name in ["inputs.json", "result.json", "preview.svg"] {
        let key = format!("1/7/des2wf/run/{name}");
        assert!(house.exchange.objects.get(&key).await.unwrap().is_none(), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_passing_failure_comes_again_later_and_later_then_fails() {
    let house = House::new(json!({ "do": "unavailable" })).await;
    send(&house.exchange, &job("run", 1)).await;
    let worker = house.worker();
    let mut pauses = Vec::new();
    for _ in 0..house.settings.max_deliveries {
        let begun = Instant::now();
        assert_eq!(step(&worker).await, Ended::GivenBack);
        pauses.push(begun.elapsed().as_secs());
    }
    assert_eq!(pauses, [0, 1, 2, 4, 8]);
    assert!(house.backend.applied.lock().unwrap().is_empty());
    assert_eq!(step(&worker).await, Ended::Reported { outcome: Outcome::Failed, applied: true });
    let message = house.backend.applied_once().row_effects.wf2des.error_message.unwrap();
    assert!(message.contains("could not be done in 5 tries"), "{message}");
    assert_eq!(house.converter.calls.load(Ordering::SeqCst), 5);

    // Had it become possible in between, it would have been done.
    let house = House::new(json!({ "do": "unavailable" })).await;
    send(&house.exchange, &job("run", 1)).await;
    assert_eq!(step(&house.worker()).await, Ended::GivenBack);
    house.sources.0.lock().unwrap().insert("file".to_owned(), json!({ "do": "convert" }));
    assert_eq!(step(&house.worker()).await, Ended::Reported { outcome: Outcome::Completed, applied: true });
}

/// The report is all that is missing: it is sent again, the conversion isn't done again, and no number of failures
/// turns a finished run into a failed one.
#[tokio::test(start_paused = true)]
async fn a_report_that_fails_is_brought_again_until_it_is_taken() {
    let house = House::new(json!({ "do": "convert" })).await;
    *house.backend.unreachable.lock().unwrap() = 8;
    send(&house.exchange, &job("run", 1)).await;
    let worker = house.worker();
    for _ in 0..8 {
        assert_eq!(step(&worker).await, Ended::GivenBack);
    }
    assert_eq!(step(&worker).await, Ended::Reported { outcome: Outcome::Completed, applied: true });
    assert_eq!(house.converter.calls.load(Ordering::SeqCst), 1);
    assert_eq!(house.exchange.queue.depth().await.unwrap(), 0);
}

// proves G14
#[tokio::test(start_paused = true)]
async fn a_message_delivered_twice_is_applied_once() {
    let house = House::new(json!({ "do": "convert" })).await;
    for _ in 0..3 {
        send(&house.exchange, &job("run", 1)).await;
    }
    let worker = house.worker();
    assert_eq!(step(&worker).await, Ended::Reported { outcome: Outcome::Completed, applied: true });
    assert_eq!(step(&worker).await, Ended::Reported { outcome: Outcome::Completed, applied: false });
    assert_eq!(step(&worker).await, Ended::Reported { outcome: Outcome::Completed, applied: false });
    house.backend.applied_once();
    assert_eq!(house.converter.calls.load(Ordering::SeqCst), 1);
}

// proves G14
#[tokio::test(start_paused = true)]
async fn an_unknown_schema_is_left_for_a_newer_worker_then_refused() {
    let house = House::new(json!({ "do": "convert" })).await;
    let mut later = serde_json::to_value(job("run", 1)).unwrap();
    later["schema"] = json!("heddle.generation.job/v2");
    send(&house.exchange, &later).await;
    let worker = house.worker();
    for _ in 1..house.settings.max_deliveries {
        assert_eq!(step(&worker).await, Ended::GivenBack);
    }
    assert_eq!(step(&worker).await, Ended::Reported { outcome: Outcome::Failed, applied: true });
    let message = house.backend.applied_once().row_effects.wf2des.error_message.unwrap();
    assert!(message.contains("workers need to be updated"), "{message}");
    assert_eq!(house.converter.calls.load(Ordering::SeqCst), 0);

    // Nobody can be told of this one.
    let house = House::new(json!({})).await;
    house.exchange.queue.send(b"\xff not JSON", Duration::ZERO).await.unwrap();
    let worker = house.worker();
    for _ in 1..house.settings.max_deliveries {
        assert_eq!(step(&worker).await, Ended::GivenBack);
    }
    assert_eq!(step(&worker).await, Ended::Dead);
    assert_eq!(house.exchange.queue.depth().await.unwrap(), 0);
    assert_eq!(house.backend.reports.load(Ordering::SeqCst), 0);
}

/// The message is taken from a worker while it converts: it stops, and writes nothing more.
#[tokio::test]
async fn a_worker_that_lost_its_message_writes_nothing_more() {
    let thief = Arc::new(common::Thief::default());
    let exchange = heddle_exchange::Exchange { queue: thief.clone(), ..heddle_exchange::memory::open() };
    let mut house = House::on(exchange, json!({ "do": "convert", "sleep_ms": 600 })).await;
    house.settings.visibility = Duration::from_millis(300);
    send(&house.exchange, &job("run", 1)).await;
    let worker = Arc::new(house.worker());
    let begun = std::time::Instant::now();
    let slow = tokio::spawn({
        let worker = Arc::clone(&worker);
        async move { worker.step(WAIT).await.unwrap() }
    });
    tokio::time::sleep(Duration::from_millis(150)).await;
    thief.steal();
    assert_eq!(slow.await.unwrap(), Some(Ended::Lost));
    assert!(
        begun.elapsed() < Duration::from_millis(550),
        "it stops at once, not when the conversion is done"
    );
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(house.left_behind("run").await.is_empty());
    let snapshot = TENANT.edge(heddle_generation::Edge::Des2wf).snapshot(
        "file",
        "12:34",
        &ContentHash::of(&serde_json::to_vec(&json!({ "do": "convert", "sleep_ms": 600 })).unwrap()),
    );
    assert!(house.exchange.objects.get(&snapshot).await.unwrap().is_none());
    assert_eq!(house.backend.reports.load(Ordering::SeqCst), 0);
}

/// Work that takes many times the visibility is done once.
#[tokio::test]
async fn long_work_keeps_its_message() {
    let mut house = House::new(json!({ "do": "convert", "sleep_ms": 900 })).await;
    house.settings.visibility = Duration::from_millis(300);
    send(&house.exchange, &job("run", 1)).await;
    let (first, second) = (house.worker(), house.worker());
    let other = async {
        let mut ends = Vec::new();
        for _ in 0..8 {
            ends.extend(second.step(Duration::from_millis(150)).await.unwrap());
        }
        ends
    };
    let (ended, others) = tokio::join!(first.step(WAIT), other);
    let ends: Vec<_> = ended.unwrap().into_iter().chain(others).collect();
    assert_eq!(ends, [Ended::Reported { outcome: Outcome::Completed, applied: true }]);
    assert_eq!(house.converter.calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_conversion_that_takes_too_long_fails() {
    let mut house = House::new(json!({ "do": "convert", "sleep_ms": 400 })).await;
    house.settings.conversion_timeout = Duration::from_millis(50);
    send(&house.exchange, &job("run", 1)).await;
    assert_eq!(step(&house.worker()).await, Ended::Reported { outcome: Outcome::Failed, applied: true });
    let message = house.backend.applied_once().row_effects.wf2des.error_message.unwrap();
    assert!(message.contains("took longer"), "{message}");
}

/// What nobody waits for any more is told so, and has its place until its thread is done: the processor is not given to
/// more than were asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_that_nobody_waits_for_keeps_its_place() {
    let mut house = House::new(json!({ "do": "convert", "sleep_ms": 200 })).await;
    house.settings =
        Settings { concurrency: 2, conversion_timeout: Duration::from_millis(20), ..house.settings };
    for n in 0..6 {
        send(&house.exchange, &job(&format!("run{n}"), 1)).await;
    }
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let working = tokio::spawn(Arc::new(house.worker()).run(async { drop(stopped.await) }));
    for _ in 0..400 {
        if house.converter.cancelled.load(Ordering::SeqCst) == 6 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(house.converter.cancelled.load(Ordering::SeqCst), 6);
    assert!(house.converter.most_at_once.load(Ordering::SeqCst) <= 2);
    stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(5), working).await.unwrap().unwrap();
    assert_eq!(house.backend.applied.lock().unwrap().len(), 6);
}

/// The loop: many jobs, bounded hands, bounded memory, and a clean stop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hands_are_bounded_and_stop_when_asked() {
    for (concurrency, memory_mib, most) in [(3, 1024, 3), (4, 40, 1)] {
        let mut house = House::new(json!({ "do": "convert", "sleep_ms": 20 })).await;
        house.settings = Settings { concurrency, memory_mib, ..house.settings };
        for n in 0..12 {
            send(&house.exchange, &job(&format!("run{n}"), 1)).await;
        }
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let working = tokio::spawn(Arc::new(house.worker()).run(async { drop(stopped.await) }));
        for _ in 0..200 {
            if house.backend.applied.lock().unwrap().len() == 12 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        assert_eq!(house.backend.applied.lock().unwrap().len(), 12);
        assert!(house.converter.most_at_once.load(Ordering::SeqCst) <= most);
        stop.send(()).unwrap();
        tokio::time::timeout(Duration::from_secs(5), working).await.unwrap().unwrap();
        // Nothing is taken any more.
        send(&house.exchange, &job("late", 1)).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(house.exchange.queue.receive(WAIT, Duration::ZERO).await.unwrap().is_some());
    }
}

fn unusable(result: Result<heddle_worker::SourceBytes, SourceError>) -> String {
    match result {
        Err(SourceError::Unusable { message }) => message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_folder_serves_files_and_nothing_outside_it() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("files");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(dir.path().join("secret.json"), b"{}").unwrap();
    std::fs::write(folder.join("plain.json"), b"{\"plain\":1}").unwrap();
    std::fs::write(folder.join("a=2Fb=2Ec.json"), b"{\"odd\":1}").unwrap();
    std::fs::write(folder.join("large.json"), vec![b' '; 2000]).unwrap();
    std::fs::create_dir(folder.join("folder.json")).unwrap();
    let packed: &[u8] = &[
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 42, 72, 76, 206, 78, 77, 81, 178, 50, 172, 5, 0, 31, 56,
        220, 101, 12, 0, 0, 0,
    ];
    std::fs::write(folder.join("packed.json.gz"), packed).unwrap();
    std::fs::write(folder.join("broken.json.gz"), &packed[..20]).unwrap();

    let objects = heddle_exchange::memory::open().objects;
    let sources = LocalSources { folder: Some(folder), objects: Arc::clone(&objects), max_bytes: 1000 };
    let read = async |file_key: &str| {
        let mut job = job("run", 1);
        job.figma_file_key = file_key.to_owned();
        sources.document(&job).await
    };
    assert_eq!(read("plain").await.unwrap().bytes, b"{\"plain\":1}");
    assert_eq!(read("a/b.c").await.unwrap().bytes, b"{\"odd\":1}");
    assert_eq!(read("packed").await.unwrap().bytes, b"{\"packed\":1}");
    assert!(unusable(read("broken").await).contains("gzip"));
    assert!(unusable(read("large").await).contains("larger than 1000 bytes"));
    for file_key in
        ["../secret", "..", ".", "", "/etc/hostname", "folder", "plain.json", "\0", &"x".repeat(5000)]
    {
        assert!(unusable(read(file_key).await).contains("is not among the files"), "{file_key:?}");
    }

    // Without a folder, only uploads are served.
    let none = LocalSources { folder: None, objects, max_bytes: 1000 };
    assert!(unusable(none.document(&job("run", 1)).await).contains("upload"));
}

#[tokio::test]
async fn an_upload_is_what_was_promised_and_the_tenants_own() {
    let objects = heddle_exchange::memory::open().objects;
    let sources = LocalSources { folder: None, objects: Arc::clone(&objects), max_bytes: 1000 };
    let hash = ContentHash::of(b"{\"up\":1}");
    let key = TENANT.upload(&hash).into_string();
    objects.put_once(&key, b"{\"up\":1}", "application/json").await.unwrap();
    let read = async |object_key: &str, sha256: &str| {
        let mut job = job("run", 1);
        job.source = Source::Upload { object_key: object_key.to_owned(), sha256: sha256.to_owned() };
        sources.document(&job).await
    };
    assert_eq!(read(&key, hash.as_str()).await.unwrap().bytes, b"{\"up\":1}");
    assert!(unusable(read(&key, &sha256_hex(b"other")).await).contains("not the one that was promised"));
    assert!(unusable(read("1/7/uploads/gone.json", hash.as_str()).await).contains("no longer there"));
    objects.put_once("1/8/uploads/theirs.json", b"{\"up\":1}", "application/json").await.unwrap();
    for foreign in ["1/8/uploads/theirs.json", "1/7/../8/uploads/theirs.json", "", "x"] {
        let message = unusable(read(foreign, hash.as_str()).await);
        assert!(
            message.contains("another project") || message.contains("not one of ours"),
            "{foreign}: {message}"
        );
    }
}

//! The embedded exchange under several processes, and under SIGKILL. The child processes are this same test
//! program, asked for one of the tests below that do nothing unless they are told where to work.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use heddle_exchange::keys::sha256_hex;
use heddle_exchange::{Exchange, Fenced, embedded};
use serde_json::json;

const FOLDER: &str = "HEDDLE_TEST_FOLDER";
const ROUND: &str = "HEDDLE_TEST_ROUND";
const LONG: Duration = Duration::from_secs(60);

fn child(test: &str, folder: &Path, round: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

fn told() -> Option<(Exchange, u32)> {
    let folder = std::env::var_os(FOLDER)?;
    let round = std::env::var(ROUND).unwrap().parse().unwrap();
    Some((embedded::open(folder).unwrap(), round))
}

/// Unbuffered, so that a word is out as soon as the thing is done.
fn say(word: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n@{word}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

fn words(child: &mut Child) -> Vec<String> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| line.strip_prefix('@').map(str::to_owned)).collect()
}

fn body(attempt: u32) -> Vec<u8> {
    format!("{attempt};").repeat(20_000 + attempt as usize).into_bytes()
}

/// Child: writes as fast as it can, saying each thing once it is done, until it is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_writes_until_killed() {
    let Some((exchange, round)) = told() else { return };
    say("ready");
    for n in 0..100_000_u32 {
        let attempt = round * 100_000 + n + 1;
        let message = format!("message {attempt}");
        exchange.queue.send(message.as_bytes(), Duration::ZERO).await.unwrap();
        say(&format!("sent {message}"));
        let document =
            json!({ "check": sha256_hex(&body(attempt)), "fill": String::from_utf8(body(attempt)).unwrap() });
        assert_eq!(
            exchange.documents.put_fenced("results", "job", attempt, document).await.unwrap(),
            Fenced::Written
        );
        say(&format!("document {attempt}"));
        let key = "1/7/des2wf/job/result.json";
        assert_eq!(
            exchange.objects.put_fenced(key, attempt, &body(attempt), "text/plain").await.unwrap(),
            Fenced::Written
        );
        say(&format!("object {attempt}"));
        if n % 2 == 1 {
            let delivery = exchange.queue.receive(LONG, Duration::ZERO).await.unwrap().unwrap();
            let text = String::from_utf8(delivery.body).unwrap();
            assert!(exchange.queue.acknowledge(&delivery.receipt).await.unwrap());
            say(&format!("done {text}"));
        }
    }
}

// proves D2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_holds_after_sigkill_amid_writes() {
    if std::env::var_os(FOLDER).is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (mut sent, mut done) = (BTreeSet::new(), BTreeSet::new());
    let (mut document, mut object) = (0, 0);
    for round in 0..12 {
        let mut child = child("child_writes_until_killed", folder.path(), round);
        let pid = child.id();
        let killer = std::thread::spawn(move || {
            // Uneven, so that the kills fall on every kind of moment.
            std::thread::sleep(Duration::from_millis(150 + u64::from(round) * 37));
            Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap();
        });
        for word in words(&mut child) {
            match word.split_once(' ') {
                Some(("sent", message)) => drop(sent.insert(message.to_owned())),
                Some(("done", message)) => drop(done.insert(message.to_owned())),
                Some(("document", attempt)) => document = attempt.parse().unwrap(),
                Some(("object", attempt)) => object = attempt.parse().unwrap(),
                _ => assert_eq!(word, "ready"),
            }
        }
        killer.join().unwrap();
        assert!(!child.wait().unwrap().success(), "the child ended before it was killed");

        let exchange = embedded::open(folder.path()).unwrap();
        // What was reported is there or newer, and whole.
        if document > 0 {
            let stored = exchange.documents.get("results", "job").await.unwrap().unwrap();
            let attempt = u32::try_from(stored["attempt"].as_u64().unwrap()).unwrap();
            assert!(attempt == document || attempt == document + 1 || attempt % 100_000 == 1);
            assert!(attempt >= document, "a reported document was lost");
            assert_eq!(stored["check"], sha256_hex(&body(attempt)));
            let older =
                exchange.documents.put_fenced("results", "job", 1.min(attempt), json!({})).await.unwrap();
            assert_ne!(older, Fenced::Written);
        }
        if object > 0 {
            let key = "1/7/des2wf/job/result.json";
            let stored = exchange.objects.get(key).await.unwrap().unwrap();
            let attempt: u32 =
                std::str::from_utf8(&stored).unwrap().split(';').next().unwrap().parse().unwrap();
            assert!(attempt >= object, "a reported object was lost");
            assert!(stored == body(attempt), "a torn object");
            if attempt > 1 {
                let older =
                    exchange.objects.put_fenced(key, attempt - 1, b"older", "text/plain").await.unwrap();
                assert!(matches!(older, Fenced::Superseded { .. }));
            }
        }
    }
    assert!(document > 0 && object > 0 && !done.is_empty(), "the children got nothing done");

    // Every message that was reported sent and not done is still there, whole, once; nothing done comes back.
    let exchange = embedded::open(folder.path()).unwrap();
    let depth = exchange.queue.depth().await.unwrap();
    let mut left = BTreeMap::new();
    // A child may have died holding a message: it stays hidden for a minute, at most one for each child.
    while let Some(delivery) = exchange.queue.receive(LONG, Duration::ZERO).await.unwrap() {
        let text = String::from_utf8(delivery.body).unwrap();
        assert!(text.starts_with("message "));
        *left.entry(text).or_insert(0) += 1;
    }
    let hidden = usize::try_from(depth).unwrap() - left.len();
    assert!(hidden <= 12, "{hidden} messages are hidden");
    assert!(left.values().all(|times| *times == 1));
    assert!(left.keys().all(|message| !done.contains(message)), "a message that was done came back");
    let missing = sent.difference(&done).filter(|message| !left.contains_key(*message)).count();
    // Of those missing, each is hidden, or was removed by a child that died before it could say so.
    assert!(missing <= 12, "{missing} messages are missing");
}

/// Child: drains the queue, saying what it holds and for how long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_drains() {
    let Some((exchange, _)) = told() else { return };
    say("ready");
    while let Some(delivery) = exchange.queue.receive(LONG, Duration::from_secs(1)).await.unwrap() {
        assert_eq!(delivery.receive_count, 1);
        say(&format!("got {}", String::from_utf8(delivery.body).unwrap()));
        assert!(exchange.queue.acknowledge(&delivery.receipt).await.unwrap());
    }
}

/// Three processes on one queue: each message goes to exactly one of them, also those sent while they wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_share_a_queue() {
    if std::env::var_os(FOLDER).is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let exchange = embedded::open(folder.path()).unwrap();
    for n in 0..60 {
        exchange.queue.send(format!("early {n}").as_bytes(), Duration::ZERO).await.unwrap();
    }
    let children: Vec<_> = (0..3)
        .map(|_| {
            let mut child = child("child_drains", folder.path(), 0);
            std::thread::spawn(move || (words(&mut child), child.wait().unwrap()))
        })
        .collect();
    for n in 0..60 {
        exchange.queue.send(format!("late {n}").as_bytes(), Duration::ZERO).await.unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut got = BTreeMap::new();
    for child in children {
        let (words, status) = child.join().unwrap();
        assert!(status.success());
        for word in words.iter().filter_map(|word| word.strip_prefix("got ")) {
            *got.entry(word.to_owned()).or_insert(0) += 1;
        }
    }
    assert_eq!(got.len(), 120);
    assert!(got.values().all(|times| *times == 1), "a message went to two processes");
    assert_eq!(exchange.queue.depth().await.unwrap(), 0);
}

/// Opening a folder twice in one process, or again after it was closed, is fine.
#[tokio::test]
async fn a_folder_opens_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    for n in 1..=20_u32 {
        let first = embedded::open(folder.path()).unwrap();
        let second = embedded::open(folder.path()).unwrap();
        first.documents.put_fenced("results", "job", n, json!({})).await.unwrap();
        drop(first);
        let stored = second.documents.get("results", "job").await.unwrap().unwrap();
        assert_eq!(stored["attempt"], n);
    }
    // A file in its place is an error, not a panic.
    let file = folder.path().join("file");
    std::fs::write(&file, b"").unwrap();
    assert!(embedded::open(&file).is_err());
}

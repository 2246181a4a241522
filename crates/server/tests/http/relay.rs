//! Row first, queue second, and nothing is stranded between the two.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use heddle_exchange::{Delivery, Exchange, ExchangeError, Queue, memory};
use heddle_generation::RunId;
use heddle_generation::message::Job;
use heddle_store::Store;

use crate::harness::{ANN, Call, Server, config, des2wf, seeded};

/// A queue that fails as often as it is told, and looks for the row of each message that comes.
struct Flaky {
    inner: Arc<dyn Queue>,
    store: Store,
    failures: AtomicU32,
    tries: AtomicU32,
    refuse: AtomicBool,
    pause_ms: AtomicU64,
    row_was_first: AtomicBool,
}

impl Flaky {
    fn new(store: &Store, failures: u32) -> (Arc<Self>, Exchange) {
        let mut exchange = memory::open();
        let flaky = Arc::new(Self {
            inner: exchange.queue.clone(),
            store: store.clone(),
            failures: AtomicU32::new(failures),
            tries: AtomicU32::new(0),
            refuse: AtomicBool::new(false),
            pause_ms: AtomicU64::new(0),
            row_was_first: AtomicBool::new(true),
        });
        exchange.queue = flaky.clone();
        (flaky, exchange)
    }
}

#[async_trait]
impl Queue for Flaky {
    async fn send(&self, body: &[u8], delay: Duration) -> Result<(), ExchangeError> {
        self.tries.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(self.pause_ms.load(Ordering::SeqCst))).await;
        let job: Job = serde_json::from_slice(body).unwrap();
        let row = self.store.jobs.by_job(RunId::parse(&job.job_id).unwrap()).await.unwrap();
        self.row_was_first.fetch_and(row.is_some(), Ordering::SeqCst);
        if self.refuse.load(Ordering::SeqCst) && job.wf_node_id == "1:1" {
            return Err(ExchangeError::Refused { reason: "on purpose".to_owned() });
        }
        let left = self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if left.is_ok() {
            return Err(ExchangeError::Backend { attempted: "send".to_owned(), source: "on purpose".into() });
        }
        self.inner.send(body, delay).await
    }

    async fn receive(&self, visibility: Duration, wait: Duration) -> Result<Option<Delivery>, ExchangeError> {
        self.inner.receive(visibility, wait).await
    }

    async fn extend(&self, receipt: &str, visibility: Duration) -> Result<bool, ExchangeError> {
        self.inner.extend(receipt, visibility).await
    }

    async fn acknowledge(&self, receipt: &str) -> Result<bool, ExchangeError> {
        self.inner.acknowledge(receipt).await
    }

    async fn depth(&self) -> Result<u64, ExchangeError> {
        self.inner.depth().await
    }
}

async fn drained(store: &Store) {
    for _ in 0..500 {
        if store.outbox.pending(None, 1).await.unwrap().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the outbox is not drained");
}

/// proves G5: the row is there before its message is on the queue, and a queue that fails many times gets it in
/// the end.
#[tokio::test]
async fn a_failing_queue_gets_the_message_in_the_end() {
    let store = seeded().await;
    let (flaky, exchange) = Flaky::new(&store, 5);
    let server = Server::with(config(), store, exchange).await;
    let id = server.created(&des2wf("1:2")).await;
    let jobs = server.jobs(1).await;
    assert_eq!(jobs[0].job_id, id);
    assert_eq!(flaky.tries.load(Ordering::SeqCst), 6);
    assert!(flaky.row_was_first.load(Ordering::SeqCst));
    drained(&server.store).await;
    assert_eq!(server.exchange.queue.depth().await.unwrap(), 0, "and gets it once");
    server.stop().await;
}

/// proves G5: a run whose process ended between row and queue is sent by the next process.
#[tokio::test]
async fn a_restart_strands_no_run() {
    let store = seeded().await;
    let (_, broken) = Flaky::new(&store, u32::MAX);
    let first = Server::with(config(), store.clone(), broken).await;
    let id = first.created(&des2wf("1:2")).await;
    // No shutdown: the process is gone with all that it did.
    first.task.abort();
    assert_eq!(store.outbox.pending(None, 10).await.unwrap().len(), 1);

    let second = Server::with(config(), store, memory::open()).await;
    let jobs = second.jobs(1).await;
    assert_eq!(jobs[0].job_id, id);
    drained(&second.store).await;
}

/// proves G5: the poll finds what nobody rang for: a row from another process.
#[tokio::test]
async fn the_poll_finds_what_nobody_rang_for() {
    let store = seeded().await;
    let (_, broken) = Flaky::new(&store, u32::MAX);
    let other = Server::with(config(), store.clone(), broken).await;
    let relaying = Server::with(config(), store, memory::open()).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let id = other.created(&des2wf("1:2")).await;
    assert_eq!(relaying.jobs(1).await[0].job_id, id);
}

/// proves G5: the ring is heard: a message does not wait for the poll.
#[tokio::test]
async fn a_new_run_rings() {
    let mut config = config();
    config.relay_poll = Duration::from_secs(3600);
    let server = Server::with(config, seeded().await, memory::open()).await;
    for node in 0..100 {
        server.created(&des2wf(&format!("1:{node}"))).await;
    }
    assert_eq!(server.jobs(100).await.len(), 100);
}

/// A message that the queue will never take holds up no other, and is tried once.
#[tokio::test]
async fn a_refused_message_holds_up_no_other() {
    let store = seeded().await;
    let (flaky, exchange) = Flaky::new(&store, 0);
    flaky.refuse.store(true, Ordering::SeqCst);
    let server = Server::with(config(), store, exchange).await;
    let dead = server.created(&des2wf("1:1")).await;
    let id = server.created(&des2wf("1:2")).await;
    assert_eq!(server.jobs(1).await[0].job_id, id);
    drained(&server.store).await;
    // Many polls later.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(flaky.tries.load(Ordering::SeqCst), 2, "one try for each message");
    let run = server.get(&format!("/v1/generations/{dead}")).await.json();
    assert_eq!(run["status"], "processing");
    let ready = server.send(Call::new("GET", "/readyz").token(ANN)).await.json();
    assert_eq!(ready["outbox_waits"], false);
    server.stop().await;
}

/// A relay that is asked to stop sees the message in its hand through, and takes no other: neither a long outbox nor
/// a slow queue keeps the server from ending.
#[tokio::test]
async fn a_relay_stops_between_two_messages() {
    let store = seeded().await;
    let (_, broken) = Flaky::new(&store, u32::MAX);
    let first = Server::with(config(), store.clone(), broken).await;
    for node in 0..40 {
        first.created(&des2wf(&format!("1:{node}"))).await;
    }
    first.stop().await;

    let (flaky, exchange) = Flaky::new(&store, 0);
    flaky.pause_ms.store(200, Ordering::SeqCst);
    let second = Server::with(config(), store.clone(), exchange).await;
    while flaky.tries.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // All forty would take eight seconds; `stop` waits for five.
    second.stop().await;
    let tries = flaky.tries.load(Ordering::SeqCst);
    assert!(tries < 10, "{tries}");
    let waiting = store.outbox.pending(None, 100).await.unwrap().len();
    assert_eq!(waiting, 40 - tries as usize, "what was in hand was seen through");
}

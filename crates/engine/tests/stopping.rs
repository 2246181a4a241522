//! What a node leaves behind when it stops, is dropped, or its callers go away: nothing that others have to wait for.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use heddle_engine::{Config, Engine, Flow, Registry, Request, SystemClock, SystemDraw};
use heddle_store::workflows::{WorkflowMemory, WorkflowStore};
use heddle_workflow::{SCHEMA_VERSION, StepStatus};
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};

/// Three steps, one after the other.
fn document() -> Value {
    let step = |id: &str| json!({"id": id, "type": "action", "config": {"handler": "step"}});
    json!({
        "schema_version": SCHEMA_VERSION,
        "nodes": [{"id": "start", "type": "trigger"}, step("a"), step("b"), step("c"), {"id": "end", "type": "end"}],
        "edges": [{"from": "start", "to": "a"}, {"from": "a", "to": "b"}, {"from": "b", "to": "c"}, {"from": "c", "to": "end"}],
    })
}

struct World {
    memory: Arc<WorkflowMemory>,
    engine: Arc<Engine>,
    /// How many steps have begun.
    begun: Arc<AtomicU32>,
    /// Lets one step end.
    go_on: Arc<Notify>,
}

impl World {
    async fn new(concurrency: usize) -> Self {
        let (memory, begun, go_on) =
            (Arc::new(WorkflowMemory::new()), Arc::default(), Arc::new(Notify::new()));
        let (count, gate) = (Arc::clone(&begun), Arc::clone(&go_on));
        let registry = Registry::new().action("step", move |_: Value, _| {
            let (count, gate): (Arc<AtomicU32>, Arc<Notify>) = (Arc::clone(&count), Arc::clone(&gate));
            async move {
                count.fetch_add(1, Ordering::SeqCst);
                gate.notified().await;
                Ok(Flow::Done(()))
            }
        });
        let store = WorkflowStore::of(Arc::clone(&memory));
        let config = Config { concurrency, ..Config::default() };
        let (clock, draw) = (Arc::new(SystemClock), Arc::new(SystemDraw));
        let engine = Arc::new(Engine::new(store, registry, clock, draw, config));
        engine.publish("test", &document()).await.unwrap();
        Self { memory, engine, begun, go_on }
    }

    async fn start(&self) {
        self.engine.start(Request::new("test", Value::Null)).await.unwrap();
    }

    async fn begun(&self, count: u32) {
        let begun = async {
            while self.begun.load(Ordering::SeqCst) < count {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), begun).await.expect("the steps begin");
    }

    /// How many steps somebody holds.
    fn held(&self) -> usize {
        let everything = self.memory.everything();
        let steps = everything.iter().flat_map(|rows| &rows.steps);
        steps.filter(|step| step.status == StepStatus::Running).count()
    }
}

/// proves W16: a node that is told to stop ends the step that it is at, and leaves the next one to others at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_node_leaves_the_rest_to_others() {
    let world = World::new(4).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let run = tokio::spawn(Arc::clone(&world.engine).run(async move { drop(stopped.await) }));
    world.start().await;
    world.begun(1).await;
    stop.send(()).unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    world.go_on.notify_one();
    tokio::time::timeout(Duration::from_secs(30), run).await.expect("it stops").unwrap();
    assert_eq!(world.begun.load(Ordering::SeqCst), 1);
    assert_eq!(world.held(), 0, "the next one waits for nobody's lease");
}

/// proves W16: a full node hears that it is to stop, and begins nothing new when room comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_node_hears_that_it_is_to_stop() {
    let world = World::new(1).await;
    let (stop, stopped) = oneshot::channel::<()>();
    for _ in 0..3 {
        world.start().await;
    }
    let run = tokio::spawn(Arc::clone(&world.engine).run(async move { drop(stopped.await) }));
    world.begun(1).await;
    stop.send(()).unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    world.go_on.notify_one();
    tokio::time::timeout(Duration::from_secs(30), run).await.expect("it stops").unwrap();
    assert_eq!((world.begun.load(Ordering::SeqCst), world.held()), (1, 0));
}

/// proves W16: who starts an instance may go away; the step that was taken with it is performed all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_goes_away_leaves_nothing_held() {
    let world = World::new(64).await;
    let run = tokio::spawn(Arc::clone(&world.engine).run(std::future::pending()));
    tokio::time::sleep(Duration::from_millis(20)).await;
    for wait in 0..40_u64 {
        let start = world.engine.start(Request::new("test", Value::Null));
        let _ = tokio::time::timeout(Duration::from_micros(wait * 5), start).await;
    }
    let mut last = (0, 0);
    // Whatever was started is at its first step, in somebody's hands who performs it.
    let settled = async {
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let now = (world.memory.everything().len(), world.begun.load(Ordering::SeqCst) as usize);
            if now.0 == now.1 && now == last {
                return now;
            }
            last = now;
        }
    };
    let (started, begun) =
        tokio::time::timeout(Duration::from_secs(20), settled).await.expect("each is performed");
    assert_eq!((started, world.held()), (begun, begun));
    run.abort();
}

//! Three engine nodes on one store, and everything that can go wrong at a store call, all of it decided by a seed:
//! who goes on next, crashes before and after a call, answers that get lost, leases that run out, clocks that differ.
//! Nobody is ever told of anything: every probe is lost. A failing seed says how to run it again.
//!
//! `cargo xtask simulate` tries 100,000 of them, `HEDDLE_SEEDS=1000 cargo test --release -p heddle-engine --test
//! simulation` as many as it says.
#![allow(clippy::unwrap_used, reason = "tests")]

mod audit;
mod clients;
mod faults;

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as Poller, Poll, Waker};

use heddle_engine::{
    Clock, Config, Context, Draw, Engine, Flow, Graphs, Registry, Resume, SeededDraw, StepError,
};
use heddle_store::workflows::{Work, WorkflowMemory, WorkflowStore};
use heddle_workflow::{InstanceId, Limits, SCHEMA_VERSION};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use audit::Audit;
use clients::Known;
use faults::{Faulty, Node};

const NODES: usize = 3;
const INSTANCES: usize = 3;
/// How many instances may start in how many seconds.
const RATE: usize = 2;
const RATE_SECONDS: i64 = 4;
/// How long faults happen, in steps of the simulation, and how long it may go on after that.
const STORM: usize = 1_500;
const CALM: usize = 20_000;

/// What all nodes share.
struct World {
    draw: SeededDraw,
    memory: Arc<WorkflowMemory>,
    now: Mutex<Timestamp>,
    storm: Mutex<bool>,
    /// Raised by every store call.
    calls: AtomicU64,
    /// How often each effect was run, by its idempotency key.
    effects: Mutex<BTreeMap<String, u32>>,
    /// One document for all seeds: who reads its row again needn't check it again.
    graphs: Arc<Graphs>,
    /// The instance of each start key, for whoever asked.
    started: Mutex<BTreeMap<usize, InstanceId>>,
    /// What those outside were told.
    known: Mutex<BTreeMap<InstanceId, Known>>,
}

impl World {
    fn chance(&self, thousandths: u64) -> bool {
        self.draw.next() % 1_000 < thousandths
    }

    fn up_to(&self, most: u64) -> u64 {
        self.draw.next() % (most + 1)
    }

    fn storms(&self) -> bool {
        *self.storm.lock().unwrap()
    }
}

/// A node's clock: the world's, and a little off.
struct Skewed {
    world: Arc<World>,
    off: SignedDuration,
}

impl Clock for Skewed {
    fn now(&self) -> Timestamp {
        *self.world.now.lock().unwrap() + self.off
    }

    fn sleep(&self, length: SignedDuration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let (world, until) = (Arc::clone(&self.world), *self.world.now.lock().unwrap() + length);
        Box::pin(std::future::poll_fn(move |_| {
            if *world.now.lock().unwrap() >= until { Poll::Ready(()) } else { Poll::Pending }
        }))
    }
}

/// Lets others go on.
async fn pass(times: u64) {
    for _ in 0..times {
        let mut passed = false;
        std::future::poll_fn(|_| {
            if std::mem::replace(&mut passed, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

fn document() -> Value {
    json!({
        "schema_version": SCHEMA_VERSION,
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "first", "type": "action", "config": {"handler": "work"}},
            {"id": "word", "type": "wait_event", "config": {"event": "word"}},
            {"id": "flaky", "type": "action", "config": {"handler": "flaky"},
             "retry": {"max_attempts": 3, "delay": "2s"}},
            {"id": "nap", "type": "delay", "config": {"duration": "5s"}},
            {"id": "ask", "type": "action", "config": {"handler": "ask"}},
            {"id": "count", "type": "set", "config": {"values": {"n": "{{ has(vars.n) ? vars.n + 1 : 1 }}"}}},
            {"id": "again", "type": "condition", "config": {"expression": "vars.n < 2"}},
            {"id": "end", "type": "end", "config": {"output": "{{ vars.n }}"}},
        ],
        "edges": [
            {"from": "start", "to": "first"}, {"from": "first", "to": "word"},
            {"from": "word", "outcome": "event", "to": "flaky"}, {"from": "flaky", "to": "nap"},
            {"from": "nap", "to": "ask"}, {"from": "ask", "to": "count"}, {"from": "count", "to": "again"},
            {"from": "again", "outcome": "true", "to": "flaky"}, {"from": "again", "outcome": "false", "to": "end"},
        ],
        "settings": {"start_rate": {"count": RATE, "per": format!("{RATE_SECONDS}s")}},
    })
}

fn registry(world: &Arc<World>) -> Registry {
    let effect = |world: Arc<World>| {
        move |call: &Context| {
            let key = format!("wf:{}:{}:{}", call.instance, call.step.node, call.step.visit);
            assert_eq!(call.idempotency_key, key, "no effect without its idempotency key");
            *world.effects.lock().unwrap().entry(key).or_default() += 1;
        }
    };
    let (work, flaky, ask) =
        (effect(Arc::clone(world)), effect(Arc::clone(world)), effect(Arc::clone(world)));
    let (worker, flakes) = (Arc::clone(world), Arc::clone(world));
    Registry::new()
        .action("work", move |_: Value, call| {
            let world = Arc::clone(&worker);
            work(&call);
            async move {
                pass(world.up_to(6)).await;
                Ok(Flow::Done(()))
            }
        })
        .action("flaky", move |_: Value, call| {
            let world = Arc::clone(&flakes);
            flaky(&call);
            async move {
                pass(world.up_to(3)).await;
                if world.storms() && call.step.attempt == 1 && world.chance(300) {
                    return Err(StepError::retryable("busy", "later"));
                }
                Ok(Flow::Done(()))
            }
        })
        .action("ask", move |_: Value, call| {
            ask(&call);
            async move {
                Ok::<_, StepError>(match call.resume {
                    None => Flow::Wait {
                        event: "answer".to_owned(),
                        timeout: Some(SignedDuration::from_secs(20)),
                    },
                    Some(Resume::Event(answer)) => Flow::Done(answer),
                    Some(Resume::Timeout) => Flow::Done(Value::Null),
                })
            }
        })
}

/// Every node draws from the world's one source.
struct Shared(Arc<World>);

impl Draw for Shared {
    fn draw(&self) -> u128 {
        self.0.draw.draw()
    }
}

fn engine(world: &Arc<World>, node: &Arc<Node>, off: SignedDuration) -> Engine {
    let store = WorkflowStore::of(Arc::new(Faulty::new(Arc::clone(world), Arc::clone(node))));
    let clock = Arc::new(Skewed { world: Arc::clone(world), off });
    let limits = Limits { lost_leases: 1_000, ..Limits::default() };
    let config = Config { lease: SignedDuration::from_secs(6), limits, wake_batch: 4, ..Config::default() };
    let draw = Arc::new(Shared(Arc::clone(world)));
    Engine::new(store, registry(world), clock, draw, config).with_graphs(Arc::clone(&world.graphs))
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// A node at work: for ever, or until it crashes.
fn node(world: &Arc<World>, node: &Arc<Node>, off: SignedDuration) -> Task {
    let (world, engine) = (Arc::clone(world), engine(world, node, off));
    Box::pin(async move {
        loop {
            // A failure of the store is nothing to stop for.
            let _ = engine.work_once(1 + world.up_to(2) as usize).await;
            let _ = engine.wake_once().await;
            pass(1).await;
        }
    })
}

fn simulate(seed: u64, graphs: &Arc<Graphs>) {
    let world = Arc::new(World {
        draw: SeededDraw::new(seed),
        memory: Arc::new(WorkflowMemory::new()),
        now: Mutex::new(Timestamp::from_second(1_800_000_000).unwrap()),
        storm: Mutex::new(false),
        calls: AtomicU64::new(0),
        effects: Mutex::default(),
        graphs: Arc::clone(graphs),
        started: Mutex::default(),
        known: Mutex::default(),
    });
    let off: Vec<SignedDuration> =
        (0..NODES).map(|_| SignedDuration::from_millis(world.up_to(3_000).cast_signed() - 1_500)).collect();
    let nodes: Vec<Arc<Node>> = (0..NODES).map(|_| Arc::new(Node::default())).collect();
    let mut poller = Poller::from_waker(Waker::noop());
    let publishing = engine(&world, &nodes[0], SignedDuration::ZERO);
    let document = document();
    let mut published = std::pin::pin!(publishing.publish("test", &document));
    while published.as_mut().poll(&mut poller).is_pending() {}
    *world.storm.lock().unwrap() = true;

    let mut tasks: Vec<Task> = nodes.iter().zip(&off).map(|(it, off)| node(&world, it, *off)).collect();
    tasks.push(clients::owner(&world));
    tasks.push(clients::meddler(&world));
    let (mut audit, mut looked) = (Audit::default(), 0);
    for step in 0..STORM + CALM {
        if step == STORM {
            *world.storm.lock().unwrap() = false;
        }
        match world.up_to(99) {
            0..88 => {
                let chosen = world.up_to(NODES as u64 + 1) as usize;
                assert!(tasks[chosen].as_mut().poll(&mut poller).is_pending(), "nobody ever stops");
                if let Some(crashed) = nodes.get(chosen).filter(|it| it.has_crashed()) {
                    // Whatever it had in mind is gone.
                    crashed.restart();
                    tasks[chosen] = node(&world, crashed, off[chosen]);
                }
            }
            88..99 => {
                let length = SignedDuration::from_millis(world.up_to(1_500).cast_signed());
                *world.now.lock().unwrap() += length;
            }
            _ => {
                let mut next = std::pin::pin!(world.memory.next_due());
                if let Poll::Ready(Ok(Some(due))) = next.as_mut().poll(&mut poller) {
                    let mut now = world.now.lock().unwrap();
                    *now = due.max(*now);
                }
            }
        }
        let calls = world.calls.load(Ordering::Relaxed);
        if std::mem::replace(&mut looked, calls) != calls && audit.look(&world.memory.everything()) {
            let (effects, known) = (world.effects.lock().unwrap(), world.known.lock().unwrap());
            audit.end(&effects, &known);
            return;
        }
    }
    panic!("not every instance has ended: {:#?}", audit.left());
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

/// proves W16, W17, W19, W21, W23, W29, W31, W33: through crashes, lost answers, lost leases and clocks that differ no
/// instance is lost, no outcome is taken twice, no step goes on without its effect, no accepted signal is forgotten,
/// every accepted command is on record, what was cancelled stays so, and no more start than may.
#[test]
fn nothing_is_lost_and_nothing_happens_twice() {
    let seeds = match (number("HEDDLE_SEED"), number("HEDDLE_SEEDS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, count) => 0..count.unwrap_or(150),
    };
    // Seeds have nothing to do with one another: as many at a time as there are processors.
    let (next, graphs) = (AtomicU64::new(seeds.start), Arc::new(Graphs::default()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if !seeds.contains(&seed) {
                        break;
                    }
                    let went_well =
                        std::panic::catch_unwind(AssertUnwindSafe(|| simulate(seed, &graphs))).is_ok();
                    if !went_well {
                        // The others needn't go on.
                        next.store(seeds.end, Ordering::Relaxed);
                    }
                    assert!(
                        went_well,
                        "again: HEDDLE_SEED={seed} cargo test -p heddle-engine --test simulation"
                    );
                }
            });
        }
    });
}

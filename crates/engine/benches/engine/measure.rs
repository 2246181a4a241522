//! One measurement: a process that prints its figures as JSON.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use heddle_engine::{Config, Context, Engine, Flow, Registry, Request, SystemClock, SystemDraw};
use heddle_store::workflows::{Schema, WorkflowPostgres, WorkflowSqlite, WorkflowStore};
use heddle_workflow::{Actor, InstanceId, SCHEMA_VERSION, Status};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;

use crate::machine::{Processors, psql, resident_mib};

/// How many start instances at a time, for each engine.
const STARTERS: usize = 64;
/// How many of the last instances are waited for by name; more can't be under way at once.
const LAST: usize = 512;
/// What takes longer is stuck.
const PATIENCE: Duration = Duration::from_secs(1_800);
/// How long the engine is watched at rest.
const REST: Duration = Duration::from_secs(10);

/// Makes the tables at an address.
async fn install(address: &str) {
    match address.split_once(':').expect("an address") {
        ("sqlite", path) => WorkflowSqlite::install(Path::new(path), &Schema::default()).expect("new tables"),
        ("postgres", url) => {
            WorkflowPostgres::install(url, &Schema::default()).await.expect("new tables");
        }
        (other, _) => panic!("no backend {other:?}"),
    }
}

/// The rows at an address, over connections of their own.
async fn open(address: &str) -> WorkflowStore {
    match address.split_once(':').expect("an address") {
        ("sqlite", path) => {
            let store = WorkflowSqlite::open(Path::new(path), Schema::default()).expect("the tables");
            WorkflowStore::of(Arc::new(store))
        }
        ("postgres", url) => {
            let store = WorkflowPostgres::connect(url, Schema::default()).await.expect("the tables");
            WorkflowStore::of(Arc::new(store))
        }
        (other, _) => panic!("no backend {other:?}"),
    }
}

/// `<what> <address> <amount> <engines> <steps>`.
pub fn run(task: &[String]) {
    let [what, address, numbers @ ..] = task else { panic!("{task:?}") };
    let numbers: Vec<usize> = numbers.iter().map(|number| number.parse().expect("a number")).collect();
    let [amount, engines, steps] = numbers[..] else { panic!("{numbers:?}") };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let figures = runtime.block_on(async {
        let figures = async {
            match what.as_str() {
                "install" => {
                    install(address).await;
                    Value::Null
                }
                "sustained" => sustained(address, amount, engines, steps).await,
                "latency" => latency(address, amount, steps).await,
                "events" => events(address, amount, engines).await,
                "timers" => timers(address, amount).await,
                "wait" => wait(address, amount).await,
                "rest" => rest(address).await,
                "history" => history(address, amount, steps).await,
                other => panic!("no measurement {other:?}"),
            }
        };
        tokio::time::timeout(PATIENCE, figures).await.expect("a measurement that ends")
    });
    println!("{figures}");
}

/// Engines at work on the same rows, each with a store of its own, as if each were alone in its process.
struct Fleet {
    engines: Vec<Arc<Engine>>,
    stop: broadcast::Sender<()>,
    running: Vec<JoinHandle<()>>,
}

/// Called instances, and when.
type Called = mpsc::UnboundedReceiver<(InstanceId, Instant, Timestamp)>;

impl Fleet {
    /// Handlers: `step` does nothing, `mark` says when it was called, with which instance.
    async fn start(address: &str, count: usize) -> (Self, Called) {
        let (mark, called) = mpsc::unbounded_channel();
        let (stop, _) = broadcast::channel(1);
        let mut fleet = Self { engines: Vec::new(), stop, running: Vec::new() };
        for _ in 0..count {
            let mark = mark.clone();
            let registry = Registry::new()
                .action("step", |n: Value, _| async move { Ok(Flow::Done(n)) })
                .action("mark", move |n: Value, call: Context| {
                    // Nobody listens any more once everything is measured.
                    let _ = mark.send((call.instance, Instant::now(), Timestamp::now()));
                    async move { Ok(Flow::Done(n)) }
                });
            let engine = Arc::new(engine(open(address).await, registry));
            let mut stopped = fleet.stop.subscribe();
            let stopped = async move { drop(stopped.recv().await) };
            fleet.running.push(tokio::spawn(Arc::clone(&engine).run(stopped)));
            fleet.engines.push(engine);
        }
        (fleet, called)
    }

    /// Publishes a document and starts so many instances of it, many at a time. Their ids.
    async fn start_instances(
        &self,
        document: &Value,
        count: usize,
        trigger: impl Fn(usize) -> Value + Clone + Send + 'static,
    ) -> Vec<InstanceId> {
        self.engines[0].publish("bench", document).await.expect("a sound document");
        let next = Arc::new(AtomicUsize::new(0));
        let starters: Vec<_> = (0..STARTERS * self.engines.len())
            .map(|starter| {
                let (next, trigger) = (Arc::clone(&next), trigger.clone());
                let engine = Arc::clone(&self.engines[starter % self.engines.len()]);
                tokio::spawn(async move {
                    let mut ids = Vec::new();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            return ids;
                        }
                        let request = Request::new("bench", trigger(number));
                        ids.push(engine.start(request).await.expect("a start"));
                    }
                })
            })
            .collect();
        let mut ids = Vec::with_capacity(count);
        for starter in starters {
            ids.extend(starter.await.expect("a starter"));
        }
        ids
    }

    async fn stop(self) {
        drop(self.stop);
        for engine in self.running {
            engine.await.expect("an engine");
        }
    }
}

fn engine(store: WorkflowStore, registry: Registry) -> Engine {
    Engine::new(store, registry, Arc::new(SystemClock), Arc::new(SystemDraw), Config::default())
}

/// Nodes one after the other, from the trigger to the end.
fn chain(nodes: impl IntoIterator<Item = Value>) -> Value {
    let mut all = vec![json!({"id": "start", "type": "trigger"})];
    all.extend(nodes);
    all.push(json!({"id": "end", "type": "end"}));
    let edges: Vec<Value> = all
        .windows(2)
        .map(|pair| match pair[0]["type"].as_str() {
            Some("wait_event") => json!({"from": pair[0]["id"], "to": pair[1]["id"], "outcome": "event"}),
            _ => json!({"from": pair[0]["id"], "to": pair[1]["id"]}),
        })
        .collect();
    json!({"schema_version": SCHEMA_VERSION, "nodes": all, "edges": edges})
}

fn action(id: &str, handler: &str) -> Value {
    json!({"id": id, "type": "action", "config": {"handler": handler, "input": "{{ trigger }}"}})
}

/// So many actions, the last of which says when it was called.
fn actions(steps: usize) -> Value {
    chain((1..=steps).map(|n| action(&format!("step_{n}"), if n == steps { "mark" } else { "step" })))
}

/// Waits for ever, and goes on to a handler when `go` comes.
fn waiting() -> Value {
    let wait = json!({"id": "wait", "type": "wait_event", "config": {"event": "go"}});
    chain([wait, action("next", "mark")])
}

/// Many instances at once: from the first start to the last end.
async fn sustained(address: &str, instances: usize, engines: usize, steps: usize) -> Value {
    let (fleet, mut called) = Fleet::start(address, engines).await;
    let document = actions(steps);
    let (start, before) = (Instant::now(), Processors::now());
    let starting = fleet.start_instances(&document, instances, |n| json!(n));
    let finishing = async {
        let mut finished = Vec::with_capacity(instances);
        while finished.len() < instances {
            finished.push(called.recv().await.expect("a call").0);
        }
        for id in finished.iter().rev().take(LAST) {
            fleet.engines[0].end(id).await.expect("an end");
        }
    };
    let (ids, ()) = tokio::join!(starting, finishing);
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), Processors::now().since(before));
    let mut completed = 0;
    for id in &ids {
        let state = fleet.engines[0].state(id).await.expect("a state");
        assert_eq!(state.life.status(), Status::Completed);
        completed += state.steps.keys().filter(|node| node.starts_with("step_")).count();
    }
    fleet.stop().await;
    json!({"seconds": seconds, "steps": completed, "own": cpu.own, "server": cpu.server})
}

/// One instance at a time, from the start to the end, as their caller sees it.
async fn latency(address: &str, instances: usize, steps: usize) -> Value {
    let (fleet, _called) = Fleet::start(address, 1).await;
    let engine = &fleet.engines[0];
    engine.publish("bench", &actions(steps)).await.expect("a sound document");
    let mut took = Vec::with_capacity(instances);
    for n in 0..instances {
        let start = Instant::now();
        let id = engine.start(Request::new("bench", json!(n))).await.expect("a start");
        engine.end(&id).await.expect("an end");
        took.push(start.elapsed().as_secs_f64() * 1_000.0);
    }
    fleet.stop().await;
    spread(took)
}

/// One instance at a time, from an event to its next step. With two engines, it is the other one that hears of it.
async fn events(address: &str, instances: usize, engines: usize) -> Value {
    let (fleet, mut called) = Fleet::start(address, 1).await;
    let engine = &fleet.engines[0];
    engine.publish("bench", &waiting()).await.expect("a sound document");
    let other = self::engine(open(address).await, Registry::new());
    let teller = if engines > 1 { &other } else { engine };
    let mut took = Vec::with_capacity(instances);
    for n in 0..instances {
        let id = engine.start(Request::new("bench", json!(n))).await.expect("a start");
        while engine.state(&id).await.expect("a state").life.status() != Status::Waiting {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let start = Instant::now();
        assert_eq!(teller.emit(None, "go", &Value::Null, &Actor::System).await.expect("an event"), 1);
        let (_, then, _) = called.recv().await.expect("a call");
        took.push(then.duration_since(start).as_secs_f64() * 1_000.0);
        engine.end(&id).await.expect("an end");
    }
    fleet.stop().await;
    spread(took)
}

/// Timers that are all due within one second: how late their next steps are.
async fn timers(address: &str, instances: usize) -> Value {
    let (fleet, mut called) = Fleet::start(address, 1).await;
    let delay = json!({"id": "delay", "type": "delay", "config": {"until": "{{ trigger }}"}});
    // Long enough to have started them all by then.
    let first = Timestamp::now() + Duration::from_secs(5 + instances as u64 / 400);
    let due = move |n: usize| first + Duration::from_micros((n * 1_000_000 / instances) as u64);
    let document = chain([delay, action("next", "mark")]);
    let ids = fleet.start_instances(&document, instances, move |n| json!(due(n).to_string())).await;
    assert!(Timestamp::now() < first, "the timers were due before they were all set");
    let mut order: Vec<(InstanceId, Timestamp)> = Vec::with_capacity(instances);
    while order.len() < instances {
        let (id, _, at) = called.recv().await.expect("a call");
        order.push((id, at));
    }
    let last = order.last().expect("a call").1;
    let mut late = Vec::with_capacity(instances);
    for (id, at) in order {
        let state = fleet.engines[0].state(&id).await.expect("a state");
        let due: Timestamp = state.trigger.as_str().and_then(|text| text.parse().ok()).expect("a time");
        late.push(at.duration_since(due).as_secs_f64() * 1_000.0);
    }
    assert_eq!(ids.len(), instances);
    fleet.stop().await;
    let mut figures = spread(late);
    figures["last"] = json!(last.duration_since(due(instances - 1)).as_secs_f64() * 1_000.0);
    figures
}

/// Leaves so many instances waiting.
async fn wait(address: &str, instances: usize) -> Value {
    let (fleet, _called) = Fleet::start(address, 1).await;
    let start = Instant::now();
    let ids = fleet.start_instances(&waiting(), instances, |n| json!(n)).await;
    let seconds = start.elapsed().as_secs_f64();
    let last = fleet.engines[0].state(&ids[instances - 1]).await.expect("a state");
    assert_eq!(last.life.status(), Status::Waiting);
    fleet.stop().await;
    json!({"seconds": seconds})
}

/// An engine that has nothing to do.
async fn rest(address: &str) -> Value {
    let (fleet, _called) = Fleet::start(address, 1).await;
    // What is done once, it has done by then.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let database = address.rsplit_once("dbname=").map(|(_, database)| database);
    let queries = || -> f64 {
        database.map_or(0.0, |database| {
            let statement = format!("SELECT xact_commit FROM pg_stat_database WHERE datname = '{database}'");
            psql("postgres", &statement).parse().expect("a number")
        })
    };
    let queries_before = queries();
    let (start, before) = (Instant::now(), Processors::now());
    tokio::time::sleep(REST).await;
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), Processors::now().since(before));
    let queries = (queries() - queries_before) / seconds;
    let mib = resident_mib();
    fleet.stop().await;
    json!({"own": cpu.own / seconds, "server": cpu.server / seconds, "mib": mib, "queries": queries})
}

/// Finished steps, so many at least, by instances of so many nodes that touch nothing outside.
async fn history(address: &str, rows: usize, steps: usize) -> Value {
    let (fleet, _called) = Fleet::start(address, 1).await;
    let set = |n| json!({"id": format!("set_{n}"), "type": "set", "config": {"values": {"n": n}}});
    let start = Instant::now();
    fleet.start_instances(&chain((0..steps).map(set)), rows.div_ceil(steps), |n| json!(n)).await;
    let seconds = start.elapsed().as_secs_f64();
    fleet.stop().await;
    json!({"seconds": seconds})
}

fn spread(mut figures: Vec<f64>) -> Value {
    figures.sort_by(f64::total_cmp);
    let at = |share: f64| figures[((figures.len() - 1) as f64 * share).round() as usize];
    json!({"p50": at(0.5), "p99": at(0.99), "max": at(1.0)})
}

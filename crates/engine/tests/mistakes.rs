//! What other engines got wrong, each as a test of its own. Those of the rules are in `heddle-workflow`'s tests; where
//! an engine meets them through its store, they are here.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::Flaky;
use heddle_engine::{
    Clock, Config, Context, Engine, EngineError, Flow, Registry, Request, Resume, SeededDraw, StepError,
    VirtualClock,
};
use heddle_workflow::{Actor, Command, InstanceId, Life, SCHEMA_VERSION, Status, StepStatus, WaitStatus};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// An engine on a store that fails as told, on a clock that is moved by hand.
struct World {
    flaky: Arc<Flaky>,
    clock: VirtualClock,
    engine: Arc<Engine>,
}

impl World {
    fn new(registry: Registry) -> Self {
        Self::with(registry, Config { wake_batch: 100, ..Config::default() })
    }

    fn with(registry: Registry, config: Config) -> Self {
        let flaky = Arc::new(Flaky::default());
        let clock = VirtualClock::new(Timestamp::from_second(1_800_000_000).unwrap());
        let engine = Arc::new(node(&flaky, &clock, registry, config));
        Self { flaky, clock, engine }
    }

    /// Turns of one node wait for each other; those of two don't.
    fn another_node(&self) -> Engine {
        let config = Config { concurrency: 3, ..Config::default() };
        node(&self.flaky, &self.clock, Registry::new(), config)
    }

    async fn start(&self, document: &Value) -> InstanceId {
        self.engine.publish("test", document).await.unwrap();
        self.engine.start(Request::new("test", Value::Null)).await.unwrap()
    }

    async fn life(&self, id: &InstanceId) -> Life {
        self.engine.state(id).await.unwrap().life
    }

    fn later(&self, length: SignedDuration) {
        self.clock.set(self.clock.now() + length);
    }

    /// Lets time pass in small steps, in each of which everybody does what they can.
    async fn pass(&self, length: SignedDuration) {
        let until = self.clock.now() + length;
        while self.clock.now() < until {
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            self.later(SignedDuration::from_millis(50));
        }
    }

    fn attempts(&self, id: &InstanceId) -> Vec<(String, StepStatus)> {
        let rows = self.flaky.rows(id);
        let steps = rows.steps.iter().filter(|step| step.node_type == "action");
        steps.map(|step| (format!("{}:{}", step.key.node, step.key.attempt), step.status)).collect()
    }
}

fn node(flaky: &Arc<Flaky>, clock: &VirtualClock, registry: Registry, config: Config) -> Engine {
    let draw = Arc::new(SeededDraw::new(config.concurrency as u64));
    Engine::new(flaky.store(), registry, Arc::new(clock.clone()), draw, config)
}

/// One node after the other, the last one's output being the end's.
fn chain(nodes: Vec<Value>) -> Value {
    let mut all = vec![json!({"id": "start", "type": "trigger"})];
    let mut edges = Vec::new();
    let mut last = ("start".to_owned(), "default");
    for node in nodes {
        let id = node["id"].as_str().unwrap().to_owned();
        edges.push(json!({"from": last.0, "outcome": last.1, "to": id}));
        last = (id, if node["type"] == "wait_event" { "event" } else { "default" });
        all.push(node);
    }
    all.push(json!({"id": "end", "type": "end", "config": {"output": format!("{{{{ steps.{}.output }}}}", last.0)}}));
    edges.push(json!({"from": last.0, "outcome": last.1, "to": "end"}));
    json!({"schema_version": SCHEMA_VERSION, "nodes": all, "edges": edges})
}

fn action(id: &str) -> Value {
    json!({"id": id, "type": "action", "config": {"handler": "work"}})
}

fn output(life: &Life) -> &Value {
    match life {
        Life::Completed { output, .. } => output,
        other => panic!("{other:?}"),
    }
}

/// A handler that counts its calls.
fn counting(calls: &Arc<AtomicU32>) -> Registry {
    let calls = Arc::clone(calls);
    Registry::new().action("work", move |_: Value, _| {
        let call = calls.fetch_add(1, Ordering::SeqCst) + 1;
        async move { Ok(Flow::Done(call)) }
    })
}

/// A handler whose first calls each wait until they are told to go on; calls after them don't.
fn stalling(calls: usize) -> (Registry, Vec<Arc<Notify>>) {
    let go: Vec<Arc<Notify>> = (0..calls).map(|_| Arc::default()).collect();
    let (waits, calls) = (go.clone(), Arc::new(AtomicU32::new(0)));
    let registry = Registry::new().action("work", move |_: Value, _| {
        let call = calls.fetch_add(1, Ordering::SeqCst) + 1;
        let go = waits.get(call as usize - 1).cloned();
        async move {
            if let Some(go) = go {
                go.notified().await;
            }
            Ok(Flow::Done(call))
        }
    });
    (registry, go)
}

/// A step that is in hand.
struct Working(JoinHandle<Result<usize, EngineError>>);

impl Working {
    async fn on(engine: &Arc<Engine>) -> Self {
        let engine = Arc::clone(engine);
        let working = tokio::spawn(async move { engine.work_once(1).await });
        tokio::task::yield_now().await;
        Self(working)
    }

    /// Comes back when it is out of hand, however that went.
    async fn end(self) {
        tokio::time::timeout(Duration::from_secs(10), self.0).await.expect("it ends").unwrap().unwrap();
    }
}

/// proves W19. Wrong elsewhere: a signal and the wait that it is for commit without a row in common, and each misses
/// the other, so that the run sleeps for ever. Here the signal comes between a plan that parks and its commit.
#[tokio::test]
async fn a_signal_between_the_plan_to_wait_and_its_commit_is_not_lost() {
    let world = World::new(counting(&Arc::default()));
    let wait = json!({"id": "word", "type": "wait_event", "config": {"event": "word"}});
    let id = world.start(&chain(vec![action("a"), wait])).await;
    let (engine, to) = (world.another_node(), id.clone());
    world.flaky.interrupt(async move {
        engine.signal(&to, "word", json!("now"), Actor::System).await.unwrap();
    });
    world.engine.work_once(1).await.unwrap();
    assert_eq!(output(&world.life(&id).await), &json!("now"));
}

/// proves W16. Wrong elsewhere: a worker that lost its claim and took the step again under its old name passes for
/// the holder with what it did before. Here the same node has both claims, and only the second one's word counts.
#[tokio::test]
async fn a_claim_that_was_taken_again_by_the_same_node_is_another_claim() {
    let (registry, go) = stalling(2);
    let world = World::new(registry);
    let id = world.start(&chain(vec![action("a")])).await;
    let first = Working::on(&world.engine).await;
    world.flaky.deaf.store(true, Ordering::SeqCst);
    world.pass(SignedDuration::from_secs(31)).await;
    assert_eq!(world.engine.wake_once().await.unwrap(), 1);
    let second = Working::on(&world.engine).await;
    let held = world.flaky.rows(&id);
    assert_eq!(
        world.attempts(&id),
        [("a:1".to_owned(), StepStatus::Lost), ("a:2".to_owned(), StepStatus::Running)]
    );
    go[0].notify_one();
    first.end().await;
    assert_eq!(world.flaky.rows(&id), held, "the first claim's word changes nothing");
    go[1].notify_one();
    second.end().await;
    assert_eq!(output(&world.life(&id).await), &json!(2));
}

/// proves W16. The same, but the first claim's heartbeat gets through again: it says that nothing is held any longer,
/// and the call is dropped.
#[tokio::test]
async fn a_heartbeat_knows_its_own_claim_alone() {
    let (registry, _go) = stalling(1);
    let world = World::new(registry);
    let id = world.start(&chain(vec![action("a")])).await;
    let first = Working::on(&world.engine).await;
    world.flaky.deaf.store(true, Ordering::SeqCst);
    world.pass(SignedDuration::from_secs(31)).await;
    world.engine.wake_once().await.unwrap();
    world.flaky.deaf.store(false, Ordering::SeqCst);
    world.pass(SignedDuration::from_secs(11)).await;
    first.end().await;
    assert_eq!(world.life(&id).await.status(), Status::Running, "and the step is there for whoever comes");
    world.engine.work_once(1).await.unwrap();
    assert_eq!(output(&world.life(&id).await), &json!(2));
}

/// proves W17. Wrong elsewhere: recovery is a list made once at the start, and whoever misses it is stranded. Here the
/// database is away for a minute in the midst of everything, and everything comes home by itself.
#[tokio::test]
async fn a_database_that_was_away_strands_nothing() {
    let calls = Arc::new(AtomicU32::new(0));
    let world = World::with(counting(&calls), Config { concurrency: 4, ..Config::default() });
    let nap = json!({"id": "nap", "type": "delay", "config": {"duration": "2s"}});
    let document = chain(vec![action("a"), nap, action("b"), action("c")]);
    world.engine.publish("test", &document).await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..30 {
        ids.push(world.engine.start(Request::new("test", Value::Null)).await.unwrap());
    }
    let running = tokio::spawn(Arc::clone(&world.engine).run(std::future::pending()));
    for away in [1_000, 60_000] {
        world.pass(SignedDuration::from_millis(300)).await;
        world.flaky.down.store(true, Ordering::SeqCst);
        world.pass(SignedDuration::from_millis(away)).await;
        world.flaky.down.store(false, Ordering::SeqCst);
    }
    world.pass(SignedDuration::from_secs(60)).await;
    for id in &ids {
        assert_eq!(world.life(id).await.status(), Status::Completed, "{:?}", world.attempts(id));
    }
    running.abort();
}

/// proves W18. Wrong elsewhere: what the database says while a step's end is written becomes the step's failure. Here
/// a step that went well is written again until it is written, and is done once.
#[tokio::test]
async fn a_database_error_is_no_failure_of_the_step() {
    let calls = Arc::new(AtomicU32::new(0));
    let world = World::new(counting(&calls));
    let id = world.start(&chain(vec![action("a")])).await;
    world.flaky.failing.store(3, Ordering::SeqCst);
    let (worked, ()) = tokio::join!(world.engine.work_once(1), world.pass(SignedDuration::from_secs(1)));
    worked.unwrap();
    assert_eq!(world.attempts(&id), [("a:1".to_owned(), StepStatus::Completed)]);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    // Where it can't be written at all, its lease is lost, which is none of its node's attempts.
    let id = world.engine.start(Request::new("test", Value::Null)).await.unwrap();
    world.flaky.failing.store(100, Ordering::SeqCst);
    let (worked, ()) = tokio::join!(world.engine.work_once(1), world.pass(SignedDuration::from_secs(40)));
    assert!(worked.is_ok(), "it gives up");
    world.flaky.failing.store(0, Ordering::SeqCst);
    world.later(SignedDuration::from_secs(30));
    world.engine.wake_once().await.unwrap();
    world.engine.work_once(1).await.unwrap();
    let attempts = [("a:1".to_owned(), StepStatus::Lost), ("a:2".to_owned(), StepStatus::Completed)];
    assert_eq!(world.attempts(&id), attempts, "the node allows one attempt");
}

/// proves W17. Wrong elsewhere: a step's end is written and only the answer is lost, and what follows waits for a sweep,
/// in the hands of somebody who doesn't know. Here whoever asks again learns that it is theirs.
#[tokio::test]
async fn a_lost_answer_costs_a_moment() {
    let calls = Arc::new(AtomicU32::new(0));
    let world = World::new(counting(&calls));
    let id = world.start(&chain(vec![action("a"), action("b"), action("c")])).await;
    world.flaky.losing.store(1, Ordering::SeqCst);
    let (worked, ()) = tokio::join!(world.engine.work_once(1), world.pass(SignedDuration::from_secs(1)));
    worked.unwrap();
    assert_eq!(output(&world.life(&id).await), &json!(3));
    let attempts = ["a:1", "b:1", "c:1"].map(|step| (step.to_owned(), StepStatus::Completed));
    assert_eq!(world.attempts(&id), attempts);
    // The last step has nobody after it.
    let id = world.engine.start(Request::new("test", Value::Null)).await.unwrap();
    world.flaky.losing.store(3, Ordering::SeqCst);
    let (worked, ()) = tokio::join!(world.engine.work_once(1), world.pass(SignedDuration::from_secs(1)));
    worked.unwrap();
    assert_eq!(output(&world.life(&id).await), &json!(6));
}

/// proves W16. Wrong elsewhere: after a crash a lock of minutes keeps everybody out. Here a dead node's step is taken
/// again after a lease of seconds, and a step that takes longer than that is kept alive.
#[tokio::test]
async fn a_crash_costs_seconds() {
    let (registry, _go) = stalling(1);
    let world = World::new(registry);
    let lease = Config::default().lease;
    assert!(lease <= SignedDuration::from_secs(30));
    let id = world.start(&chain(vec![action("a")])).await;
    let dead = Working::on(&world.engine).await;
    // As long as its node lives it is prolonged, however long it takes.
    for _ in 0..20 {
        world.pass(SignedDuration::from_secs(10)).await;
        assert_eq!(world.engine.wake_once().await.unwrap(), 0);
    }
    dead.0.abort();
    let died = world.clock.now();
    while world.engine.wake_once().await.unwrap() == 0 {
        world.later(SignedDuration::from_millis(250));
    }
    assert!(world.clock.now().duration_since(died) <= lease);
    world.engine.work_once(1).await.unwrap();
    assert_eq!(output(&world.life(&id).await), &json!(2));
}

fn napping() -> Value {
    let nap = json!({"id": "nap", "type": "delay", "config": {"duration": "1m"}});
    chain(vec![nap, action("a")])
}

/// proves W17. Wrong elsewhere: what is due is looked for without a bound, and nothing else goes on until all of it is
/// done. Here a thousand timers come due at once; they are seen to by the batch, and new work is done between.
#[tokio::test]
async fn a_thousand_timers_let_others_go_on() {
    let world = World::new(counting(&Arc::default()));
    world.engine.publish("test", &napping()).await.unwrap();
    for _ in 0..1_000 {
        world.engine.start(Request::new("test", Value::Null)).await.unwrap();
    }
    world.later(SignedDuration::from_mins(1));
    world.engine.publish("other", &chain(vec![action("a")])).await.unwrap();
    let new = world.engine.start(Request::new("other", Value::Null)).await.unwrap();
    assert_eq!(world.engine.wake_once().await.unwrap(), 100, "a batch");
    for _ in 0..7 {
        world.engine.work_once(16).await.unwrap();
    }
    assert_eq!(world.life(&new).await.status(), Status::Completed);
    let waiting = |world: &World| {
        let all = world.flaky.memory.everything();
        all.iter().filter(|rows| rows.instance.status == Status::Waiting).count()
    };
    assert_eq!(waiting(&world), 900);
    for left in (0..9).rev() {
        assert_eq!(world.engine.wake_once().await.unwrap(), 100);
        assert_eq!(waiting(&world), left * 100);
    }
    assert_eq!(world.engine.wake_once().await.unwrap(), 0);
}

/// proves W17. The same of a node at work: a thousand waits that look at their conditions every second, for ever, and
/// what is new is done within a second.
#[tokio::test]
async fn a_running_node_takes_turns() {
    let world = World::new(counting(&Arc::default()));
    let wait = json!({"id": "never", "type": "wait_event",
        "config": {"event": "never", "condition": "trigger == 1", "check_every": "1s"}});
    let mut document = chain(vec![wait]);
    let over = json!({"from": "never", "outcome": "condition", "to": "end"});
    document["edges"].as_array_mut().unwrap().push(over);
    world.engine.publish("test", &document).await.unwrap();
    let mut last = None;
    for _ in 0..1_000 {
        last = Some(world.engine.start(Request::new("test", Value::Null)).await.unwrap());
    }
    world.engine.publish("other", &chain(vec![action("a"), action("b")])).await.unwrap();
    let running = tokio::spawn(Arc::clone(&world.engine).run(std::future::pending()));
    world.pass(SignedDuration::from_secs(5)).await;
    for _ in 0..5 {
        let new = world.engine.start(Request::new("other", Value::Null)).await.unwrap();
        world.pass(SignedDuration::from_secs(1)).await;
        assert_eq!(world.life(&new).await.status(), Status::Completed);
    }
    let looked = world.flaky.rows(&last.unwrap()).instance.lock_version;
    assert!((4..=11).contains(&looked), "the last of the waits was looked at {looked} times");
    running.abort();
}

/// proves W8, W17. Wrong elsewhere: a timer that can't be seen to is handed out again and again, before those behind
/// it have had their turn. Here what is handed out is marked first, and comes again after a while.
#[tokio::test]
async fn a_timer_that_goes_wrong_is_not_in_the_way() {
    let world = World::new(counting(&Arc::default()));
    world.engine.publish("test", &napping()).await.unwrap();
    for _ in 0..150 {
        world.engine.start(Request::new("test", Value::Null)).await.unwrap();
    }
    world.later(SignedDuration::from_mins(1));
    world.flaky.failing.store(usize::MAX, Ordering::SeqCst);
    assert!(matches!(world.engine.wake_once().await, Err(EngineError::Store(_))));
    world.flaky.failing.store(0, Ordering::SeqCst);
    assert_eq!(world.engine.wake_once().await.unwrap(), 50, "the others");
    assert_eq!(world.engine.wake_once().await.unwrap(), 0, "not yet again");
    world.later(SignedDuration::from_secs(5));
    assert_eq!(world.engine.wake_once().await.unwrap(), 100);
    // Each fires once.
    let fired = world.flaky.memory.everything();
    assert!(fired.iter().all(|rows| rows.waits.len() == 1 && rows.waits[0].status == WaitStatus::Fired));
}

/// proves W7, W19. Wrong elsewhere: the retry of a call that was resumed has lost what resumed it, or a stray resume
/// ends it with `{}`. Here its event stays with it through failures and lost leases, and what comes after is kept.
#[tokio::test]
async fn a_resumed_call_keeps_its_event() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let registry = Registry::new().action("work", move |_: Value, call: Context| {
        kept.lock().unwrap().push(call.resume.clone());
        async move {
            match call.resume {
                None => Ok(Flow::Wait { event: "answer".to_owned(), timeout: None }),
                Some(Resume::Event(answer)) if call.step.attempt == 3 => Ok(Flow::Done(answer)),
                Some(_) => Err(StepError::retryable("busy", "later")),
            }
        }
    });
    let world = World::new(registry);
    let mut retried = action("a");
    retried["retry"] = json!({"max_attempts": 3, "delay": "1s"});
    let id = world.start(&chain(vec![retried])).await;
    world.engine.work_once(1).await.unwrap();
    world.engine.signal(&id, "answer", json!({"n": 7}), Actor::System).await.unwrap();
    world.engine.signal(&id, "answer", json!({}), Actor::System).await.unwrap();
    for _ in 0..3 {
        world.engine.work_once(1).await.unwrap();
        world.later(SignedDuration::from_secs(5));
    }
    assert_eq!(output(&world.life(&id).await), &json!({"n": 7}));
    let event = Some(Resume::Event(json!({"n": 7})));
    assert_eq!(*seen.lock().unwrap(), [None, event.clone(), event.clone(), event]);
}

/// proves W23. Wrong elsewhere: a pause and the end of the held step race, and the run is neither paused nor running.
/// Here the pause comes between the end's plan and its commit: the end is planned again, and the run stays paused.
#[tokio::test]
async fn a_pause_that_races_with_a_step_stays() {
    let world = World::new(counting(&Arc::default()));
    let id = world.start(&chain(vec![action("a"), action("b")])).await;
    let (engine, to) = (world.another_node(), id.clone());
    world.flaky.interrupt(async move {
        engine.command(&to, Command::Pause, Actor::System, None).await.unwrap();
    });
    world.engine.work_once(1).await.unwrap();
    assert_eq!(world.life(&id).await.status(), Status::Paused);
    let attempts = [("a:1".to_owned(), StepStatus::Completed), ("b:1".to_owned(), StepStatus::Paused)];
    assert_eq!(world.attempts(&id), attempts);
    assert_eq!(world.engine.work_once(1).await.unwrap(), 0);
    world.later(SignedDuration::from_mins(10));
    assert_eq!(world.engine.wake_once().await.unwrap(), 0);
    world.engine.command(&id, Command::Resume, Actor::System, None).await.unwrap();
    world.engine.work_once(1).await.unwrap();
    assert_eq!(world.life(&id).await.status(), Status::Completed);
}

/// proves W23. Wrong elsewhere: a run that was called off while its last step ran ends as a success. Here the cancel
/// comes while the handler runs, and between the end's plan and its commit.
#[tokio::test]
async fn a_cancelled_run_is_never_a_success() {
    let world = World::new(counting(&Arc::default()));
    let id = world.start(&chain(vec![action("a")])).await;
    let (engine, to) = (world.another_node(), id.clone());
    world.flaky.interrupt(async move {
        engine.command(&to, Command::Cancel, Actor::System, None).await.unwrap();
    });
    world.engine.work_once(1).await.unwrap();
    assert_eq!(world.life(&id).await.status(), Status::Cancelled);
    assert_eq!(world.attempts(&id), [("a:1".to_owned(), StepStatus::Cancelled)]);

    let (registry, go) = stalling(1);
    let world = World::new(registry);
    let id = world.start(&chain(vec![action("a")])).await;
    let working = Working::on(&world.engine).await;
    world.engine.command(&id, Command::Cancel, Actor::System, None).await.unwrap();
    go[0].notify_one();
    working.end().await;
    assert_eq!(world.life(&id).await.status(), Status::Cancelled);
}

/// proves W17, W23. Wrong elsewhere: who finds the row changed or locked lets go, and the run is parked until the next
/// sweep. Here it is decided again at once, on what the rows are now, and gives up by a code of its own.
#[tokio::test]
async fn a_missed_row_is_tried_again_at_once() {
    let world = World::new(counting(&Arc::default()));
    let id = world.start(&chain(vec![action("a")])).await;
    let now = world.clock.now();
    world.flaky.conflicting.store(7, Ordering::SeqCst);
    world.engine.command(&id, Command::Pause, Actor::System, None).await.unwrap();
    world.flaky.conflicting.store(7, Ordering::SeqCst);
    world.engine.command(&id, Command::Resume, Actor::System, None).await.unwrap();
    world.flaky.conflicting.store(7, Ordering::SeqCst);
    world.engine.work_once(1).await.unwrap();
    assert_eq!(world.life(&id).await.status(), Status::Completed);
    assert_eq!(world.clock.now(), now, "no time has passed");
    let id = world.engine.start(Request::new("test", Value::Null)).await.unwrap();
    world.flaky.conflicting.store(1_000, Ordering::SeqCst);
    let pause = world.engine.command(&id, Command::Pause, Actor::System, None);
    let (busy, ()) = tokio::join!(pause, world.pass(SignedDuration::from_secs(3)));
    assert_eq!(busy.unwrap_err().code(), "busy");
}

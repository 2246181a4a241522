//! Who may do what, and as whom steps act (W22).
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use common::Flaky;
use heddle_engine::{
    Act, Config, Context, Engine, EngineError, Flow, NobodyKnows, Permission, Publication, Registry, Request,
    SeededDraw, StepError, Verdict, VirtualClock,
};
use heddle_store::workflows::Morph;
use heddle_workflow::{Actor, ActorMode, Command, Failure, InstanceId, Life, SCHEMA_VERSION, Status};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// A host that lets everybody do everything but what it was told, and remembers what it was asked.
#[derive(Default)]
struct Host {
    denied: Mutex<Vec<String>>,
    unknown: Mutex<bool>,
    asked: Mutex<Vec<String>>,
}

impl Host {
    fn deny(&self, what: &str) {
        *self.denied.lock().unwrap() = vec![what.to_owned()];
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

#[async_trait]
impl Permission for Host {
    async fn may(&self, actor: &Actor, act: Act<'_>) -> Result<Verdict, NobodyKnows> {
        let who = match actor {
            Actor::System => "system".to_owned(),
            Actor::Named { kind, id } => format!("{kind}:{id}"),
        };
        let asked = match act {
            Act::Publish { definition, .. } => format!("{who} publish {definition}"),
            Act::Start { definition, .. } => format!("{who} start {definition}"),
            Act::Command { name, .. } => format!("{who} {name}"),
            Act::Step { handler, .. } => format!("{who} run {handler}"),
            Act::Emit { owner, event } => {
                let owner =
                    owner.map_or_else(|| "nobody".to_owned(), |owner| format!("{}:{}", owner.kind, owner.id));
                format!("{who} emit {event} of {owner}")
            }
        };
        self.asked.lock().unwrap().push(asked.clone());
        if *self.unknown.lock().unwrap() {
            return Err("the host's database is locked".into());
        }
        let denied = self.denied.lock().unwrap().contains(&asked);
        Ok(if denied { Verdict::Denied { reason: "not today".to_owned() } } else { Verdict::Allowed })
    }
}

struct World {
    flaky: Arc<Flaky>,
    clock: VirtualClock,
    host: Arc<Host>,
    engine: Engine,
}

fn morph(kind: &str, id: &str) -> Morph {
    Morph { kind: kind.to_owned(), id: id.to_owned() }
}

fn user(id: &str) -> Actor {
    Actor::Named { kind: "user".to_owned(), id: id.to_owned() }
}

impl World {
    fn new(registry: Registry, permission: bool) -> Self {
        let flaky = Arc::new(Flaky::default());
        let clock = VirtualClock::new(Timestamp::from_second(1_800_000_000).unwrap());
        let draw = Arc::new(SeededDraw::new(1));
        let engine = Engine::new(flaky.store(), registry, Arc::new(clock.clone()), draw, Config::default());
        let host = Arc::new(Host::default());
        let engine = if permission { engine.with_permission(host.clone()) } else { engine };
        Self { flaky, clock, host, engine }
    }

    async fn publish(&self, document: Value) {
        let publication = Publication {
            owner: Some(morph("team", "3")),
            publisher: Some(morph("user", "2")),
            ..Publication::new("test", &document)
        };
        self.engine.publish_as(publication).await.unwrap();
    }

    async fn start(&self) -> Result<InstanceId, EngineError> {
        let owner = Some(morph("team", "3"));
        let starter = Some(morph("user", "1"));
        self.engine.start(Request { owner, starter, ..Request::new("test", Value::Null) }).await
    }

    async fn run(&self) {
        while self.engine.work_once(1).await.unwrap() > 0 {}
    }

    async fn status(&self, id: &InstanceId) -> Status {
        self.engine.state(id).await.unwrap().life.status()
    }
}

/// Two steps; the first one's failure has an edge where asked for.
fn document(mode: ActorMode, error_edge: bool) -> Value {
    let mut edges = vec![
        json!({"from": "start", "to": "a"}),
        json!({"from": "a", "to": "b"}),
        json!({"from": "b", "to": "end"}),
    ];
    if error_edge {
        edges.push(json!({"from": "a", "outcome": "error", "to": "b"}));
    }
    json!({
        "schema_version": SCHEMA_VERSION,
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "a", "type": "action", "config": {"handler": "pay"}, "retry": {"max_attempts": 3}},
            {"id": "b", "type": "action", "config": {"handler": "tell"}},
            {"id": "end", "type": "end", "config": {"output": "{{ [steps.a, steps.b] }}"}},
        ],
        "edges": edges,
        "settings": {"actor_mode": mode.name()},
    })
}

/// Handlers that say as whom they act.
fn registry() -> Registry {
    let act = |_: Value, call: Context| async move {
        Ok::<_, StepError>(Flow::Done(call.actor().await?.to_json()))
    };
    Registry::new().action("pay", act).action("tell", act)
}

/// proves W22: publish, start, every command and emit ask first, as whoever gives them; what is denied is not done.
#[tokio::test]
async fn whoever_may_not_is_told_so_and_nothing_happens() {
    let world = World::new(registry(), true);
    let document = document(ActorMode::System, true);
    world.host.deny("user:2 publish test");
    let publication =
        Publication { publisher: Some(morph("user", "2")), ..Publication::new("test", &document) };
    let refused = world.engine.publish_as(publication.clone()).await.unwrap_err();
    assert_eq!((refused.code(), refused.to_string().as_str()), ("forbidden", "it is forbidden: not today"));
    world.host.deny("");
    assert_eq!(world.engine.publish_as(publication).await.unwrap().0.number, 1, "the first");
    world.publish(document).await;
    world.host.deny("user:1 start test");
    assert_eq!(world.start().await.unwrap_err().code(), "forbidden");
    assert!(world.flaky.memory.everything().is_empty());
    world.host.deny("");
    let id = world.start().await.unwrap();
    let before = world.flaky.rows(&id);
    let signal = Command::Signal { key: "k".to_owned(), payload: Value::Null };
    let skip = Command::Skip { outcome: heddle_workflow::Outcome::ordinary(), output: Value::Null };
    for command in [Command::Pause, Command::Resume, Command::Cancel, Command::Retry, skip, signal] {
        world.host.deny(&format!("user:9 {}", command.name()));
        let refused = world.engine.command(&id, command.clone(), user("9"), None).await.unwrap_err();
        assert!(matches!(refused, EngineError::Forbidden { .. }), "{command:?}");
    }
    world.host.deny("user:9 signal");
    assert_eq!(world.engine.signal(&id, "k", Value::Null, user("9")).await.unwrap_err().code(), "forbidden");
    let team = morph("team", "3");
    for (owner, name) in [(None, "nobody"), (Some(&team), "team:3")] {
        world.host.deny(&format!("user:9 emit k of {name}"));
        let refused = world.engine.emit(owner, "k", &Value::Null, &user("9")).await.unwrap_err();
        assert_eq!(refused.code(), "forbidden", "{name}");
    }
    assert_eq!(world.flaky.rows(&id), before);
    world.engine.command(&id, Command::Pause, user("9"), None).await.unwrap();
    *world.host.unknown.lock().unwrap() = true;
    let unknown = world.engine.command(&id, Command::Resume, user("9"), None).await.unwrap_err();
    assert_eq!(unknown.code(), "permission");
}

/// proves W22: a step acts as whom its version's mode says, for its handler and before the host, which is asked once
/// for each call.
#[tokio::test]
async fn steps_act_as_whom_the_mode_says() {
    for (mode, kind, id) in [
        (ActorMode::System, "", ""),
        (ActorMode::Starter, "user", "1"),
        (ActorMode::Publisher, "user", "2"),
        (ActorMode::Owner, "team", "3"),
    ] {
        let world = World::new(registry(), true);
        world.publish(document(mode, true)).await;
        let instance = world.start().await.unwrap();
        world.host.asked();
        world.run().await;
        let actor = if kind.is_empty() {
            Actor::System
        } else {
            Actor::Named { kind: kind.to_owned(), id: id.to_owned() }
        };
        let who = if kind.is_empty() { "system".to_owned() } else { format!("{kind}:{id}") };
        assert_eq!(world.host.asked(), [format!("{who} run pay"), format!("{who} run tell")]);
        let Life::Completed { output, .. } = world.engine.state(&instance).await.unwrap().life else {
            panic!()
        };
        assert_eq!((&output[0]["output"], &output[1]["output"]), (&actor.to_json(), &actor.to_json()));
        assert_eq!(world.flaky.asked.load(Ordering::SeqCst), 1, "read once for both steps");
    }
    // Where nobody has that part, it is the system's.
    let world = World::new(registry(), true);
    world.engine.publish("test", &document(ActorMode::Starter, true)).await.unwrap();
    world.engine.start(Request::new("test", Value::Null)).await.unwrap();
    world.host.asked();
    world.run().await;
    assert_eq!(world.host.asked(), ["system run pay", "system run tell"]);
}

/// proves W22: a denied step has failed for good, by a code of its own, without a call of its handler; its error edge
/// leads on, and without one the instance fails.
#[tokio::test]
async fn a_denied_step_has_failed_for_good() {
    for error_edge in [true, false] {
        let world = World::new(registry(), true);
        world.publish(document(ActorMode::Starter, error_edge)).await;
        let id = world.start().await.unwrap();
        world.host.deny("user:1 run pay");
        world.run().await;
        let step = &world.flaky.rows(&id).steps[1];
        let failure = step.failure.clone().unwrap();
        let Failure { code, message, retryable } = failure;
        assert_eq!((code.as_str(), message.as_str(), retryable), ("forbidden", "not today", false));
        assert_eq!(step.key.attempt, 1, "it isn't tried again");
        match world.engine.state(&id).await.unwrap().life {
            Life::Completed { output, .. } => {
                assert!(error_edge);
                assert_eq!(output[0]["error"]["code"], "forbidden");
                assert_eq!(output[1]["output"], json!({"type": "user", "id": "1"}), "the other step may run");
            }
            Life::Failed { failure, .. } => {
                assert!(!error_edge);
                assert_eq!(failure.code.as_str(), "forbidden");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// proves W22: where the host can't say, a step is put off and loses nothing by it.
#[tokio::test]
async fn a_step_waits_for_the_hosts_word() {
    let world = World::new(registry(), true);
    world.publish(document(ActorMode::System, false)).await;
    let id = world.start().await.unwrap();
    *world.host.unknown.lock().unwrap() = true;
    assert_eq!(world.engine.work_once(1).await.unwrap(), 1);
    assert_eq!(world.engine.work_once(1).await.unwrap(), 0, "not at once");
    assert_eq!(world.status(&id).await, Status::Running);
    *world.host.unknown.lock().unwrap() = false;
    let later = Timestamp::from_second(1_800_000_000).unwrap() + SignedDuration::from_secs(5);
    world.clock.set(later);
    world.run().await;
    assert_eq!(world.status(&id).await, Status::Completed);
    assert_eq!(world.flaky.rows(&id).steps[1].key.attempt, 1);
}

/// proves W22: without a host's word everything is allowed, and nobody looks up as whom steps act.
#[tokio::test]
async fn without_a_host_it_costs_nothing() {
    let registry = Registry::new()
        .action("pay", |_: Value, _| async { Ok(Flow::Done(())) })
        .action("tell", |_: Value, _| async { Ok(Flow::Done(())) });
    let world = World::new(registry, false);
    world.publish(document(ActorMode::Owner, false)).await;
    let id = world.start().await.unwrap();
    world.run().await;
    assert_eq!(world.status(&id).await, Status::Completed);
    assert_eq!(world.flaky.asked.load(Ordering::SeqCst), 0);
}

//! What a program that embeds the engine can count on, in memory.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use heddle_engine::{
    Clock, Config, Context, Engine, EngineError, Flow, Harness, Publication, Registry, Request, Resume,
    StepError, SystemClock, SystemDraw,
};
use heddle_store::workflows::{
    Morph, Schema, WorkflowMemory, WorkflowPostgres, WorkflowSqlite, WorkflowStore,
};
use heddle_workflow::{Actor, Command, Life, SCHEMA_VERSION, Status};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// Actions of these handlers, one after the other.
fn chain(handlers: &[&str]) -> Value {
    let mut nodes = vec![json!({"id": "start", "type": "trigger"})];
    let mut edges = Vec::new();
    let mut last = "start".to_owned();
    for (place, handler) in handlers.iter().enumerate() {
        let id = format!("{handler}_{place}");
        nodes.push(
            json!({"id": id, "type": "action", "config": {"handler": handler, "input": "{{ trigger }}"},
            "retry": {"max_attempts": 3, "delay": "10s"}, "timeout": "5m"}),
        );
        edges.push(json!({"from": last, "to": id}));
        last = id;
    }
    nodes.push(
        json!({"id": "end", "type": "end", "config": {"output": format!("{{{{ steps.{last}.output }}}}")}}),
    );
    edges.push(json!({"from": last, "to": "end"}));
    json!({"schema_version": SCHEMA_VERSION, "nodes": nodes, "edges": edges})
}

fn output(life: &Life) -> &Value {
    match life {
        Life::Completed { output, .. } => output,
        other => panic!("{other:?}"),
    }
}

/// proves W32: typed handlers, from input to output, and their errors.
#[tokio::test]
async fn typed_handlers_run_in_order() {
    let registry = Registry::new()
        .action("double", |n: u64, _| async move { Ok(Flow::Done(n * 2)) })
        .action("fail", |_: Value, _| async move {
            "x".parse::<u64>()?;
            Ok(Flow::Done(()))
        })
        .action("panic", |n: u64, _| async move {
            assert!(n > 100, "too small");
            Ok(Flow::Done(n))
        });
    let harness = Harness::new(registry);
    let id = harness.start(&chain(&["double"]), json!(21)).await.unwrap();
    assert_eq!(output(&harness.finish(&id).await.unwrap().life), &json!(42));
    for (handler, trigger, code) in
        [("double", json!("x"), "bad_input"), ("fail", json!(1), "handler"), ("panic", json!(1), "panic")]
    {
        let id = harness.start(&chain(&[handler]), trigger).await.unwrap();
        let Life::Failed { failure, .. } = harness.finish(&id).await.unwrap().life else {
            panic!("{handler}")
        };
        assert_eq!(failure.code.as_str(), code);
    }
}

/// proves W18: attempts come when they are due, under one key, and the third is the last.
#[tokio::test]
async fn attempts_are_made_when_they_are_due() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&calls);
    let registry = Registry::new().action("flaky", move |_: Value, call: Context| {
        let seen = Arc::clone(&seen);
        async move {
            seen.lock().unwrap().push((call.idempotency_key, call.step.attempt));
            if call.step.attempt < 3 {
                Err(StepError::retryable("busy", "later"))
            } else {
                Ok(Flow::Done("ok"))
            }
        }
    });
    let harness = Harness::new(registry);
    let started = harness.now();
    let id = harness.start(&chain(&["flaky"]), Value::Null).await.unwrap();
    assert_eq!(output(&harness.finish(&id).await.unwrap().life), &json!("ok"));
    let calls = calls.lock().unwrap();
    let key = format!("wf:{id}:flaky_0:1");
    assert_eq!(*calls, [(key.clone(), 1), (key.clone(), 2), (key, 3)]);
    let took = harness.now().duration_since(started);
    assert!((27..=30).contains(&took.as_secs()), "{took}");
}

/// proves W19, W7: a handler that waits is called again, once, with what came.
#[tokio::test]
async fn a_handler_can_wait() {
    let registry = Registry::new().action("ask", |_: Value, call: Context| async move {
        Ok(match call.resume {
            None => Flow::Wait { event: "answer".to_owned(), timeout: Some(SignedDuration::from_hours(720)) },
            Some(Resume::Event(answer)) => Flow::Done(answer),
            Some(Resume::Timeout) => Flow::Done(json!("nobody")),
        })
    });
    let harness = Harness::new(registry);
    let id = harness.start(&chain(&["ask"]), Value::Null).await.unwrap();
    harness.settle().await.unwrap();
    assert_eq!(harness.engine().state(&id).await.unwrap().life.status(), Status::Waiting);
    assert_eq!(harness.engine().emit(None, "answer", &json!(7), &Actor::System).await.unwrap(), 1);
    assert_eq!(harness.engine().emit(None, "answer", &json!(8), &Actor::System).await.unwrap(), 0);
    assert_eq!(output(&harness.finish(&id).await.unwrap().life), &json!(7));
    let id = harness.start(&chain(&["ask"]), Value::Null).await.unwrap();
    harness.advance(SignedDuration::from_hours(719)).await.unwrap();
    assert_eq!(harness.engine().state(&id).await.unwrap().life.status(), Status::Waiting);
    harness.advance(SignedDuration::from_hours(1)).await.unwrap();
    assert_eq!(output(&harness.engine().state(&id).await.unwrap().life), &json!("nobody"));
}

/// proves W21: an effect runs once per instance, whatever becomes of the step around it.
#[tokio::test]
async fn once_is_once() {
    static EFFECTS: AtomicU32 = AtomicU32::new(0);
    let registry = Registry::new().action("pay", |_: Value, call: Context| async move {
        let number = call.once("payment", || async { Ok(EFFECTS.fetch_add(1, Ordering::SeqCst)) }).await?;
        if call.step.attempt == 1 {
            Err(StepError::retryable("busy", "later"))
        } else {
            Ok(Flow::Done(number))
        }
    });
    let harness = Harness::new(registry);
    for expected in 0..2 {
        let id = harness.start(&chain(&["pay", "pay"]), Value::Null).await.unwrap();
        assert_eq!(output(&harness.finish(&id).await.unwrap().life), &json!(expected));
    }
    assert_eq!(EFFECTS.load(Ordering::SeqCst), 2);
}

/// proves W21: one key, one instance, until its time has passed.
#[tokio::test]
async fn a_start_key_gives_the_first_instance() {
    let harness = Harness::new(Registry::new().action("a", |_: Value, _| async { Ok(Flow::Done(())) }));
    harness.engine().publish("test", &chain(&["a"])).await.unwrap();
    let request =
        |key: &str| Request { idempotency_key: Some(key.to_owned()), ..Request::new("test", Value::Null) };
    let first = harness.engine().start(request("k")).await.unwrap();
    assert_eq!(harness.engine().start(request("k")).await.unwrap(), first);
    assert_ne!(harness.engine().start(request("other")).await.unwrap(), first);
    harness.advance(SignedDuration::from_hours(25)).await.unwrap();
    assert_ne!(harness.engine().start(request("k")).await.unwrap(), first);
}

/// proves W21: a start key counts for its own definition, whatever both are made of.
#[tokio::test]
async fn start_keys_of_two_definitions_are_apart() {
    let harness = Harness::new(Registry::new().action("a", |_: Value, _| async { Ok(Flow::Done(())) }));
    let mut ids = Vec::new();
    for (definition, key) in [("a", "b/c"), ("a/b", "c")] {
        harness.engine().publish(definition, &chain(&["a"])).await.unwrap();
        let request =
            Request { idempotency_key: Some(key.to_owned()), ..Request::new(definition, Value::Null) };
        ids.push(harness.engine().start(request).await.unwrap());
    }
    assert_ne!(ids[0], ids[1]);
}

/// proves W5, W12: what can't run isn't published, and the same graph is no new version.
#[tokio::test]
async fn publishing_checks() {
    let harness = Harness::new(Registry::new().action("a", |_: Value, _| async { Ok(Flow::Done(())) }));
    let error = harness.engine().publish("test", &chain(&["b"])).await.unwrap_err();
    assert!(error.to_string().contains("there is no handler"), "{error}");
    assert!(matches!(error, EngineError::Invalid(findings) if findings[0].code.name() == "unknown_handler"));
    let (first, _) = harness.engine().publish("test", &chain(&["a"])).await.unwrap();
    let (again, _) = harness.engine().publish("test", &chain(&["a"])).await.unwrap();
    let (second, _) = harness.engine().publish("test", &chain(&["a", "a"])).await.unwrap();
    assert_eq!((first.number, again.number, second.number), (1, 1, 2));
    let missing = harness.engine().start(Request::new("nothing", Value::Null)).await.unwrap_err();
    assert!(matches!(missing, EngineError::NoDefinition(_)));
}

/// proves W15, W22: an owner's event reaches the owner's instances and nobody else's, and who publishes and who starts
/// is in the rows.
#[tokio::test]
async fn owners_are_apart() {
    let wait = json!({"schema_version": SCHEMA_VERSION,
        "nodes": [{"id": "start", "type": "trigger"}, {"id": "end", "type": "end"},
            {"id": "wait", "type": "wait_event", "config": {"event": "go", "timeout": "1h"}}],
        "edges": [{"from": "start", "to": "wait"}, {"from": "wait", "outcome": "event", "to": "end"},
            {"from": "wait", "outcome": "timeout", "to": "end"}]});
    let harness = Harness::new(Registry::new());
    let engine = harness.engine();
    let morph = |kind: &str, id: &str| Some(Morph { kind: kind.to_owned(), id: id.to_owned() });
    let mut ids = Vec::new();
    for owner in [morph("team", "1"), morph("team", "2"), None] {
        let publication = Publication {
            owner: owner.clone(),
            name: "Waits".to_owned(),
            publisher: morph("user", "7"),
            expected_checksum: Some(String::new()),
            ..Publication::new("test", &wait)
        };
        let (version, _) = engine.publish_as(publication.clone()).await.unwrap();
        let again = engine.publish_as(publication).await.unwrap_err();
        assert!(matches!(again, EngineError::Publish(_)), "there is one by now");
        let row = engine.reading().numbered(&version.definition, 1).await.unwrap().unwrap();
        assert_eq!(row.publisher, morph("user", "7"));
        let request = Request { owner, starter: morph("user", "8"), ..Request::new("test", Value::Null) };
        ids.push(engine.start(request).await.unwrap());
    }
    assert_eq!(engine.emit(morph("team", "2").as_ref(), "go", &json!(1), &Actor::System).await.unwrap(), 1);
    let mut statuses = Vec::new();
    for id in &ids {
        let row = engine.reading().instance(id).await.unwrap().unwrap();
        assert_eq!(row.starter, morph("user", "8"));
        statuses.push(row.status);
    }
    assert_eq!(statuses, [Status::Waiting, Status::Completed, Status::Waiting]);
    assert_eq!(engine.emit(None, "go", &json!(1), &Actor::System).await.unwrap(), 1);
    assert_eq!(engine.ended(&ids[2]).await.unwrap().status, Status::Completed);
}

/// proves W17, W23: two nodes on one store, real time, many instances; every one ends, and commands reach them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_work_side_by_side() {
    let store = WorkflowStore::of(Arc::new(WorkflowMemory::new()));
    side_by_side([store.clone(), store]).await;
}

/// proves W16, W17: the same in a file, with two stores on it as two processes would have.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_work_side_by_side_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workflows.sqlite");
    WorkflowSqlite::install(&path, &Schema::default()).unwrap();
    let open = || WorkflowStore::of(Arc::new(WorkflowSqlite::open(&path, Schema::default()).unwrap()));
    side_by_side([open(), open()]).await;
}

/// proves W19, W23: a hundred signals to one instance at one time, by two nodes: each is taken or kept, none is refused
/// because others were faster.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signals_to_one_instance_stand_in_line() {
    let store = WorkflowStore::of(Arc::new(WorkflowMemory::new()));
    let node = || {
        let (clock, draw) = (Arc::new(SystemClock), Arc::new(SystemDraw));
        Arc::new(Engine::new(store.clone(), Registry::new(), clock, draw, Config::default()))
    };
    let nodes = [node(), node()];
    let mut document = chain(&[]);
    let wait = json!({"id": "wait", "type": "wait_event", "config": {"event": "never"}});
    document["nodes"].as_array_mut().unwrap().push(wait);
    document["nodes"][1]["config"] = json!({});
    document["edges"] = json!([
        {"from": "start", "to": "wait"}, {"from": "wait", "outcome": "event", "to": "end"}]);
    nodes[0].publish("test", &document).await.unwrap();
    let id = nodes[0].start(Request::new("test", Value::Null)).await.unwrap();
    let signals: Vec<_> = (0..100)
        .map(|n| {
            let (node, id) = (Arc::clone(&nodes[n % 2]), id.clone());
            tokio::spawn(async move { node.signal(&id, "other", json!(n), Actor::System).await.map(drop) })
        })
        .collect();
    for signal in signals {
        signal.await.unwrap().unwrap();
    }
    assert_eq!(nodes[0].state(&id).await.unwrap().signals.len(), 100);
}

/// proves W16, W17: the same in `PostgreSQL`, with two stores on it as two processes would have.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_work_side_by_side_on_postgres() {
    let url = common::fresh_database();
    WorkflowPostgres::install(&url, &Schema::default()).await.unwrap();
    let open = async || {
        WorkflowStore::of(Arc::new(WorkflowPostgres::connect(&url, Schema::default()).await.unwrap()))
    };
    side_by_side([open().await, open().await]).await;
}

/// proves W17: what one process does, another one learns by a probe: neither looks by itself within an hour.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn probes_reach_other_processes_on_postgres() {
    let url = common::fresh_database();
    WorkflowPostgres::install(&url, &Schema::default()).await.unwrap();
    let hour = SignedDuration::from_hours(1);
    let config = Config { poll: hour, wake: hour, ..Config::default() };
    let node = async || {
        let store = WorkflowPostgres::connect(&url, Schema::default()).await.unwrap();
        let registry = Registry::new().action("a", |n: u64, _| async move { Ok(Flow::Done(n)) });
        let (clock, draw) = (Arc::new(SystemClock), Arc::new(SystemDraw));
        Arc::new(Engine::new(WorkflowStore::of(Arc::new(store)), registry, clock, draw, config.clone()))
    };
    let (starter, worker) = (node().await, node().await);
    starter.publish("test", &chain(&["a"])).await.unwrap();
    // The worker's first look finds this one. Then it comes to rest, and nothing but a probe makes it look again.
    let first = starter.start(Request::new("test", json!(0))).await.unwrap();
    let working = tokio::spawn(Arc::clone(&worker).run(std::future::pending()));
    tokio::time::timeout(Duration::from_secs(60), worker.end(&first)).await.expect("a first look").unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut told = 0;
    let rounds = async {
        // A probe may be lost, and a late one of before may come; three are no accident.
        for n in 1.. {
            let id = starter.start(Request::new("test", json!(n))).await.unwrap();
            if let Ok(state) = tokio::time::timeout(Duration::from_secs(1), starter.end(&id)).await {
                assert_eq!(output(&state.unwrap().life), &json!(n));
                told += 1;
            }
            if told == 3 {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), rounds).await.expect("probes arrive");
    working.abort();
}

async fn side_by_side(stores: [WorkflowStore; 2]) {
    let calls = Arc::new(AtomicU32::new(0));
    let node = |store: WorkflowStore| {
        let calls = Arc::clone(&calls);
        let registry = Registry::new().action("step", move |n: u32, _| {
            calls.fetch_add(1, Ordering::SeqCst);
            async move { Ok(Flow::Done(n)) }
        });
        let (clock, draw) = (Arc::new(SystemClock), Arc::new(SystemDraw));
        Arc::new(Engine::new(store, registry, clock, draw, Config::default()))
    };
    let nodes = stores.map(node);
    let (stop, _) = tokio::sync::broadcast::channel::<()>(1);
    let running: Vec<_> = nodes
        .iter()
        .map(|node| {
            let mut stopped = stop.subscribe();
            tokio::spawn(Arc::clone(node).run(async move { drop(stopped.recv().await) }))
        })
        .collect();
    nodes[0].publish("test", &chain(&["step"; 5])).await.unwrap();
    let mut ids = Vec::new();
    for n in 0..100 {
        ids.push(nodes[n % 2].start(Request::new("test", json!(n))).await.unwrap());
    }
    for (n, id) in ids.iter().enumerate() {
        assert_eq!(output(&nodes[1].end(id).await.unwrap().life), &json!(n));
    }
    assert_eq!(calls.load(Ordering::SeqCst), 500);
    let refused = nodes[0].command(&ids[0], Command::Pause, Actor::System, None).await.unwrap_err();
    assert!(matches!(refused, EngineError::Refused(refusal) if refusal.code() == "ended"));
    drop(stop);
    for run in running {
        run.await.unwrap();
    }
    assert!(SystemClock.now() > jiff::Timestamp::UNIX_EPOCH);
}

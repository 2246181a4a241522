//! What there may be only so much of, and what can't be kept (W29, W30).
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use heddle_engine::{
    Config, Context, Engine, EngineError, Flow, Harness, Publication, Registry, Request, SeededDraw,
    StepError, VirtualClock,
};
use heddle_store::workflows::{Morph, WorkflowMemory, WorkflowStore};
use heddle_workflow::{Actor, Command, Limits, Refusal, SCHEMA_VERSION, Status, Subject, Waits};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

fn document(settings: &Value) -> Value {
    json!({
        "schema_version": SCHEMA_VERSION,
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "work", "type": "action", "config": {"handler": "work"}},
            {"id": "end", "type": "end"},
        ],
        "edges": [{"from": "start", "to": "work"}, {"from": "work", "to": "end"}],
        "settings": settings,
    })
}

fn registry() -> Registry {
    Registry::new().action("work", |_: Value, _| async { Ok(Flow::Done(())) })
}

fn named(key: &str) -> Request {
    Request { idempotency_key: Some(key.to_owned()), ..Request::new("test", Value::Null) }
}

/// proves W21, W29, W30: no more start in a while than the graph says; whoever is refused is told when to come again,
/// and is let in then. A start key that has been seen is not another start, and one that was refused isn't used up.
#[tokio::test]
async fn the_start_rate_is_kept() {
    let harness = Harness::new(registry());
    let rated = document(&json!({"start_rate": {"count": 2, "per": "1m"}}));
    harness.engine().publish("test", &rated).await.unwrap();
    let begun = harness.now();
    let first = harness.engine().start(named("a")).await.unwrap();
    harness.advance(SignedDuration::from_secs(20)).await.unwrap();
    harness.engine().start(named("b")).await.unwrap();
    let refused = harness.engine().start(named("c")).await.unwrap_err();
    assert_eq!(refused.code(), "start_rate");
    let EngineError::Refused(Refusal::StartRate { again_at }) = refused else { panic!("{refused:?}") };
    assert_eq!(again_at, begun + SignedDuration::from_mins(1));
    assert_eq!(harness.engine().start(named("a")).await.unwrap(), first);
    harness.advance(SignedDuration::from_millis(39_999)).await.unwrap();
    assert_eq!(harness.engine().start(named("c")).await.unwrap_err().code(), "start_rate");
    harness.advance(SignedDuration::from_millis(1)).await.unwrap();
    let third = harness.engine().start(named("c")).await.unwrap();
    assert_eq!(harness.engine().start(named("c")).await.unwrap(), third);
    assert_eq!(harness.engine().start(named("d")).await.unwrap_err().code(), "start_rate");
    // Another version's rate holds for all of the definition's.
    harness
        .engine()
        .publish("test", &document(&json!({"start_rate": {"count": 3, "per": "1m"}})))
        .await
        .unwrap();
    harness.engine().start(named("d")).await.unwrap();
    assert_eq!(harness.engine().start(named("e")).await.unwrap_err().code(), "start_rate");
}

/// proves W30: an instance that would open one wait too many has failed, by a code of its own; before that its
/// commands are refused, but that it can be called off.
#[tokio::test]
async fn waits_are_bounded() {
    let registry = Registry::new().action("work", |_: Value, call: Context| async move {
        // Whatever comes, it waits again.
        let _ = call.resume;
        Ok::<_, StepError>(Flow::<()>::Wait {
            event: "never".to_owned(),
            timeout: Some(SignedDuration::from_secs(1)),
        })
    });
    let store = WorkflowStore::of(Arc::new(WorkflowMemory::new()));
    let clock = VirtualClock::new(Timestamp::from_second(1_800_000_000).unwrap());
    let limits = Limits { waits: 5, ..Limits::default() };
    let config = Config { limits, ..Config::default() };
    let engine =
        Engine::new(store.clone(), registry, Arc::new(clock.clone()), Arc::new(SeededDraw::new(1)), config);
    engine.publish("test", &document(&json!({}))).await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(engine.start(Request::new("test", Value::Null)).await.unwrap());
    }
    let wait = async |times: i64| {
        for _ in 0..times {
            engine.work_once(2).await.unwrap();
            clock.set(store.work.next_due().await.unwrap().unwrap());
            engine.wake_once().await.unwrap();
        }
    };
    wait(5).await;
    let refused = engine.command(&ids[0], Command::Pause, Actor::System, None).await.unwrap_err();
    assert_eq!(refused.code(), "too_many_waits");
    engine.command(&ids[0], Command::Cancel, Actor::System, None).await.unwrap();
    engine.work_once(2).await.unwrap();
    let state = engine.state(&ids[1]).await.unwrap();
    assert_eq!(state.life.status(), Status::Failed);
    let rows = store.turns.load(&ids[1]).await.unwrap().unwrap().rows;
    assert_eq!(rows.instance.failure.unwrap().code.as_str(), "too_many_waits");
    assert_eq!(rows.waits.len(), 5);
}

/// proves W22, W31: who did what is on record, in order, with who started it in its row.
#[tokio::test]
async fn commands_are_on_record() {
    let harness = Harness::new(registry());
    let engine = harness.engine();
    engine.publish("test", &document(&json!({}))).await.unwrap();
    let starter = Some(Morph { kind: "user".to_owned(), id: "0".to_owned() });
    let request = Request { starter: starter.clone(), ..Request::new("test", Value::Null) };
    let id = engine.start(request).await.unwrap();
    assert_eq!(engine.reading().instance(&id).await.unwrap().unwrap().starter, starter);
    let by = |id: &str| Actor::Named { kind: "user".to_owned(), id: id.to_owned() };
    engine.command(&id, Command::Pause, by("1"), None).await.unwrap();
    engine.command(&id, Command::Pause, by("2"), None).await.unwrap_err();
    engine.signal(&id, "later", json!("secret"), by("3")).await.unwrap();
    engine.command(&id, Command::Resume, Actor::System, None).await.unwrap();
    let state = engine.state(&id).await.unwrap();
    assert_eq!(state.waits, 4, "three commands, and the signal that is kept");
    harness.finish(&id).await.unwrap();
    let rows = harness.store().turns.load(&id).await.unwrap().unwrap().rows;
    let given: Vec<_> = rows
        .waits
        .iter()
        .filter_map(|wait| match &wait.what {
            Waits::Command { name, payload } => {
                Some((name.as_str(), Actor::from_json(&payload["by"]).unwrap()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(given, [("pause", by("1")), ("signal", by("3")), ("resume", Actor::System)]);
    assert!(
        rows.waits.windows(2).all(|pair| pair[0].fired_at <= pair[1].fired_at || pair[1].fired_at.is_none())
    );
}

/// proves W4, W10: keys, names and records that rows can't keep are refused at the door, whatever the store would say.
#[tokio::test]
async fn what_cannot_be_kept_is_refused_at_the_door() {
    let harness = Harness::new(registry());
    let engine = harness.engine();
    let sound = Publication::new("test", &document(&json!({})));
    engine.publish_as(sound.clone()).await.unwrap();
    let morph = |kind: &str, id: &str| Some(Morph { kind: kind.to_owned(), id: id.to_owned() });
    for publication in [
        Publication { key: "a\0".to_owned(), ..sound.clone() },
        Publication { key: String::new(), ..sound.clone() },
        Publication { key: "k".repeat(101), ..sound.clone() },
        Publication { name: "two\nlines".to_owned(), ..sound.clone() },
        Publication { name: "n".repeat(201), ..sound.clone() },
        Publication { owner: morph("te\0am", "1"), ..sound.clone() },
        Publication { owner: morph("team:1", "2"), ..sound.clone() },
        Publication { publisher: morph("user", "\0"), ..sound.clone() },
    ] {
        assert_eq!(engine.publish_as(publication).await.unwrap_err().code(), "bad_text");
    }
    let sound = Request::new("test", json!({"a\0": "\0"}));
    for request in [
        Request { key: "te\0st".to_owned(), ..sound.clone() },
        Request { owner: morph("team", "1\0"), ..sound.clone() },
        Request { starter: morph("user\0", "1"), ..sound.clone() },
        Request { idempotency_key: Some("k\0".to_owned()), ..sound.clone() },
        Request { idempotency_key: Some("k".repeat(256)), ..sound.clone() },
        Request { subject: Subject { id: Some("\0".to_owned()), ..Subject::default() }, ..sound.clone() },
    ] {
        assert_eq!(engine.start(request).await.unwrap_err().code(), "bad_text");
    }
    let id = engine.start(sound).await.unwrap();
    let kept = engine.state(&id).await.unwrap().trigger;
    assert_eq!(*kept, json!({"a\0": "\0"}), "values keep what they have");
    let by = Actor::Named { kind: "user".to_owned(), id: "1\n".to_owned() };
    assert_eq!(engine.command(&id, Command::Pause, by, None).await.unwrap_err().code(), "bad_text");
    assert_eq!(engine.emit(None, "k\0", &Value::Null, &Actor::System).await.unwrap_err().code(), "bad_key");
    let by = Actor::Named { kind: "user".to_owned(), id: "1\n".to_owned() };
    assert_eq!(engine.emit(None, "k", &Value::Null, &by).await.unwrap_err().code(), "bad_text");
    for owner in [morph("team", "1\0"), morph("team:1", "2")] {
        let refused = engine.emit(owner.as_ref(), "k", &Value::Null, &Actor::System).await.unwrap_err();
        assert_eq!(refused.code(), "bad_text");
    }
    let large = json!("x".repeat(300_000));
    assert_eq!(engine.emit(None, "k", &large, &Actor::System).await.unwrap_err().code(), "payload_too_large");
}

/// proves W21, W30: what an effect gives is kept as far as a payload may go; more fails the step, and only once.
#[tokio::test]
async fn what_an_effect_gives_is_bounded() {
    let registry = Registry::new().action("work", |_: Value, call: Context| async move {
        let text: String = call.once("large", || async { Ok("x".repeat(300_000)) }).await?;
        Ok(Flow::Done(text.len()))
    });
    let harness = Harness::new(registry);
    let id = harness.start(&document(&json!({})), Value::Null).await.unwrap();
    harness.finish(&id).await.unwrap();
    let rows = harness.store().turns.load(&id).await.unwrap().unwrap().rows;
    assert_eq!(rows.instance.failure.unwrap().code.as_str(), "result_too_large");
}

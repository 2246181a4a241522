//! Who did what, and how much of it there may be.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{ID, World, act, at, failed, graph, suspended};
use heddle_workflow::{
    Actor, Code, Command, Event, Failure, Graph, InstanceId, Limits, Outcome, Refusal, Start, Status,
    Subject, WaitStatus, Waits, start,
};
use serde_json::{Value, json};

fn skip(outcome: &str) -> Command {
    Command::Skip { outcome: Outcome::new(outcome).unwrap(), output: json!({"long": "x"}) }
}

/// Work, a wait for `reply`, and round again as long as there is more.
fn rounds(settings: Value) -> Graph {
    graph(
        json!([
            {"id": "start", "type": "trigger"}, act("work"),
            {"id": "wait", "type": "wait_event", "config": {"event": "reply", "timeout": "1d"}},
            {"id": "nap", "type": "delay", "config": {"duration": "1s"}},
            {"id": "end", "type": "end"},
        ]),
        &[
            ("start", "default", "work"),
            ("work", "default", "wait"),
            ("work", "nap", "nap"),
            ("work", "error", "end"),
            ("wait", "event", "work"),
            ("wait", "timeout", "end"),
            ("nap", "default", "work"),
            ("nap", "error", "end"),
        ],
        settings,
    )
}

/// proves W22, W31: every accepted command is a row of the same turn that says what, who and when, and hangs on the
/// step that it met; what was refused leaves none.
#[test]
fn every_command_says_who_gave_it() {
    let mut world = World::new(without_error_edge(), Value::Null);
    let mut times = Vec::new();
    let mut give =
        |world: &mut World, command: Command| times.push(world.later(5).command(command).unwrap().at);
    give(&mut world, Command::Pause);
    world.command(Command::Pause).unwrap_err();
    give(&mut world, Command::Resume);
    give(&mut world, Command::Signal { key: "later".to_owned(), payload: json!("a secret") });
    world.run(failed("busy", false));
    assert_eq!(world.stands().0, "failed");
    give(&mut world, Command::Retry);
    give(&mut world, skip("default"));
    let engine = Event::Command { command: Command::Cancel, by: Actor::System, expected: None };
    let expected = [
        ("pause", "work", json!({"by": {"type": "user", "id": "7"}})),
        ("resume", "work", json!({"by": {"type": "user", "id": "7"}})),
        ("signal", "work", json!({"by": {"type": "user", "id": "7"}, "key": "later"})),
        ("retry", "work", json!({"by": {"type": "user", "id": "7"}})),
        ("skip", "work", json!({"by": {"type": "user", "id": "7"}, "outcome": "default"})),
        ("cancel", "wait", json!({"by": null})),
    ];
    times.push(world.turn(engine).unwrap().at);
    let given: Vec<_> =
        world.commands().into_iter().map(|(name, step, payload)| (name, step, payload.clone())).collect();
    assert_eq!(given, expected);
    let records = world.rows.waits.iter().filter(|wait| matches!(wait.what, Waits::Command { .. }));
    let fired: Vec<_> = records.map(|record| (record.status, record.fired_at)).collect();
    let born: Vec<_> = times.into_iter().map(|at| (WaitStatus::Fired, Some(at))).collect();
    assert_eq!(fired, born, "what ends an instance leaves them as they are");
    for payload in expected.iter().map(|(_, _, payload)| payload) {
        assert!(Actor::from_json(&payload["by"]).is_some());
    }
    let named = Actor::Named { kind: "user".to_owned(), id: "7".to_owned() };
    assert_eq!(Actor::from_json(&named.to_json()), Some(named));
    assert_eq!(Actor::from_json(&json!({"type": "user"})), None);
}

fn without_error_edge() -> Graph {
    graph(
        json!([
            {"id": "start", "type": "trigger"}, act("work"),
            {"id": "wait", "type": "wait_event", "config": {"event": "reply", "timeout": "1d"}},
            {"id": "end", "type": "end"},
        ]),
        &[
            ("start", "default", "work"),
            ("work", "default", "wait"),
            ("wait", "event", "end"),
            ("wait", "timeout", "end"),
        ],
        json!({}),
    )
}

/// proves W30: what would open one wait too many fails the instance for good, whatever edges its node has.
#[test]
fn waits_are_bounded() {
    let limits = || Limits { waits: 3, ..Limits::default() };
    // By a node's wait.
    let mut world = World::limited(rounds(json!({})), limits(), Value::Null);
    for _ in 0..3 {
        world.run(common::by("nap"));
        world.later(2).turn(Event::WaitDue).unwrap();
    }
    world.run(common::by("nap"));
    assert_eq!((world.stands(), world.failure()), (("failed", None), Some("too_many_waits")));
    assert_eq!(world.steps().last().unwrap(), &("nap:4:1".to_owned(), "failed", None));
    assert_eq!(world.command(Command::Retry), Err(Refusal::TooManyWaits { most: 3 }));
    // By a handler's.
    let mut world = World::limited(rounds(json!({})), limits(), Value::Null);
    for _ in 0..3 {
        world.run(suspended("reply", Some(1)));
        world.later(2).turn(Event::WaitDue).unwrap();
    }
    world.run(suspended("reply", Some(1)));
    assert_eq!((world.stands(), world.failure()), (("failed", None), Some("too_many_waits")));
    assert_eq!(world.steps().last().unwrap(), &("work:1:1".to_owned(), "failed", None));
}

/// proves W23, W30: commands beyond the most are refused by a code of their own, but that the instance can always be
/// called off, and that what the state forbids is forbidden for that.
#[test]
fn commands_are_bounded_but_for_cancel() {
    let limits = Limits { waits: 4, ..Limits::default() };
    let mut world = World::limited(rounds(json!({"timeout": "1h"})), limits, Value::Null);
    let too_many = Err(Refusal::TooManyWaits { most: 4 });
    world.command(Command::Pause).unwrap();
    world.command(Command::Resume).unwrap();
    assert_eq!(world.signal("early", Value::Null), too_many, "it would take two rows, and there is one");
    world.command(Command::Pause).unwrap();
    assert_eq!(world.command(Command::Resume), too_many);
    assert_eq!(world.command(skip("default")), too_many);
    assert_eq!(world.command(Command::Pause), Err(Refusal::Paused));
    world.command(Command::Cancel).unwrap();
    assert_eq!(world.command(Command::Resume), Err(Refusal::Ended { status: Status::Cancelled }));
    // A retry of what has a time limit needs a row for that too.
    let limits = Limits { waits: 2, ..Limits::default() };
    let mut world = World::limited(
        graph(
            json!([{"id": "start", "type": "trigger"}, act("work"), {"id": "end", "type": "end"}]),
            &[("start", "default", "work"), ("work", "default", "end")],
            json!({"timeout": "1h"}),
        ),
        limits,
        Value::Null,
    );
    world.run(failed("busy", false));
    assert_eq!(world.command(Command::Retry), Err(Refusal::TooManyWaits { most: 2 }));
    assert_eq!(world.command(skip("default")), Err(Refusal::TooManyWaits { most: 2 }));
}

/// proves W7, W8: what rows keep as text has no control characters in it, U+0000 least of all; values keep theirs.
#[test]
fn texts_that_rows_cannot_keep_are_refused() {
    let mut world = World::new(rounds(json!({})), Value::Null);
    for key in ["", "a\0b", "a\nb", "\u{85}", &"k".repeat(192)] {
        assert_eq!(world.signal(key, Value::Null), Err(Refusal::BadKey), "{key:?}");
        let published = Event::Published { key: key.to_owned(), payload: Value::Null };
        assert_eq!(world.turn(published), Err(Refusal::BadKey), "{key:?}");
    }
    world.signal("later", json!({"a\0": "\0"})).unwrap();
    let Waits::Signal { payload, .. } = &world.rows.waits[1].what else { panic!() };
    assert_eq!(payload.to_string(), r#"{"a\u0000":"\u0000"}"#, "JSON has no such character in it");
    for (kind, id) in [("us\0er", "7"), ("user", "\u{1}"), ("", "7"), ("user", ""), ("user", &"7".repeat(65))]
    {
        let by = Actor::Named { kind: kind.to_owned(), id: id.to_owned() };
        let refused = world.turn(Event::Command { command: Command::Pause, by: by.clone(), expected: None });
        assert_eq!(refused.unwrap_err().code(), "bad_text", "{kind:?} {id:?}");
        let request = |by: Actor, subject: Subject| Start {
            id: InstanceId::parse(ID).unwrap(),
            trigger: Value::Null,
            subject,
            depth: 0,
            by,
        };
        let begin =
            |request| start(&rounds(json!({})), &Limits::default(), request, at(0)).unwrap_err().code();
        assert_eq!(begin(request(by, Subject::default())), "bad_text");
        let subject = Subject { key: None, kind: Some(kind.to_owned()), id: Some(id.to_owned()) };
        assert_eq!(begin(request(Actor::System, subject)), "bad_text");
    }
    // A handler's event, and one that a template gives.
    world.run(suspended("a\0", None));
    assert_eq!(world.state().steps["work"]["error"]["code"], "bad_key");
    let given = graph(
        json!([{"id": "start", "type": "trigger"},
               {"id": "wait", "type": "wait_event", "config": {"event": "{{ trigger }}", "timeout": "1d"}},
               {"id": "end", "type": "end"}]),
        &[("start", "default", "wait"), ("wait", "event", "end"), ("wait", "timeout", "end")],
        json!({}),
    );
    assert_eq!(World::new(given, json!("a\0")).failure(), Some("bad_key"));
    let failure = Failure::new(Code::new("broken").unwrap(), "a\0b\nc", false);
    assert_eq!(failure.message, "a\u{fffd}b\nc");
    // An end's message comes from a template.
    let ends = graph(
        json!([{"id": "start", "type": "trigger"},
               {"id": "end", "type": "end", "config": {"status": "failed", "message": "{{ trigger }}"}}]),
        &[("start", "default", "end")],
        json!({}),
    );
    let world = World::new(ends, json!("no\0"));
    assert_eq!(world.rows.instance.failure.as_ref().unwrap().message, "no\u{fffd}");
    world.rows.steps.iter().for_each(|step| assert!(!format!("{:?}", step.failure).contains("\\0")));
}

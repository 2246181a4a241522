//! Waits, signals, and what operators may do.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests")]

mod common;

use common::{World, act, at, failed, graph, ok};
use heddle_workflow::{
    Actor, Command, Event, Graph, Life, Limits, Outcome, Refusal, Status, WaitStatus, Write,
};
use serde_json::{Value, json};

fn outcome(name: &str) -> Outcome {
    Outcome::new(name).unwrap()
}

fn delayed(config: Value) -> Graph {
    graph(
        json!([{"id": "start", "type": "trigger"}, {"id": "pause", "type": "delay", "config": config},
               {"id": "end", "type": "end"}]),
        &[("start", "default", "pause"), ("pause", "default", "end"), ("pause", "error", "end")],
        json!({}),
    )
}

/// Work, then a wait for `reply` with everything, then an end for each outcome.
fn waiting(config: &Value) -> Graph {
    let mut nodes = vec![
        json!({"id": "start", "type": "trigger"}),
        act("work"),
        json!({"id": "wait", "type": "wait_event", "config": config}),
    ];
    let mut edges = vec![("start", "default", "work"), ("work", "default", "wait")];
    for (field, outcome) in [("event", "event"), ("condition", "condition"), ("timeout", "timeout")] {
        if config.get(field).is_some() {
            nodes
                .push(json!({"id": outcome, "type": "end", "config": {"output": "{{ steps.wait.output }}"}}));
            edges.push(("wait", outcome, outcome));
        }
    }
    graph(Value::Array(nodes), &edges, json!({}))
}

fn full() -> Graph {
    waiting(
        &json!({"event": "reply.{{ subject.id }}", "match": "event.ok", "timeout": "1d", "check_every": "1m",
        "condition": "now > timestamp('2027-01-15T10:00:00Z')"}),
    )
}

/// proves W13: a delay waits for its time, and one that has passed is none.
#[test]
fn delays() {
    for (config, seconds) in [
        (json!({"duration": "30 days"}), 2_592_000),
        (json!({"duration": "{{ trigger.pause }}"}), 90),
        (json!({"until": at(77).to_string()}), 77),
        (json!({"until": "{{ timestamp(trigger.at) + duration('1m') }}"}), 160),
    ] {
        let mut world = World::new(delayed(config), json!({"pause": "90s", "at": at(100).to_string()}));
        assert_eq!(world.stands(), ("waiting", Some("pause")));
        assert_eq!(world.later(seconds - 1).turn(Event::WaitDue), Err(Refusal::NotDue));
        world.later(1).turn(Event::WaitDue).unwrap();
        assert_eq!(world.stands(), ("completed", None));
        assert!(matches!(world.turn(Event::WaitDue), Err(Refusal::Ended { .. })), "once");
    }
    let world = World::new(delayed(json!({"until": "2020-01-01T00:00:00Z"})), Value::Null);
    assert_eq!(world.stands(), ("completed", None));
    let world = World::new(delayed(json!({"duration": "{{ trigger }}"})), json!("soon"));
    assert_eq!(world.state().steps["pause"]["error"]["code"], "bad_value");
}

/// proves W19: of event, condition and timeout exactly one wins, whichever comes first, and the others come to
/// nothing.
#[test]
fn a_wait_has_one_winner() {
    let parked = || {
        let mut world = World::new(full(), Value::Null);
        world.run(ok(Value::Null));
        assert_eq!(world.stands(), ("waiting", Some("wait")));
        world
    };
    let event = |ok: bool| Event::Published { key: "reply.s1".to_owned(), payload: json!({"ok": ok}) };

    let mut world = parked();
    assert_eq!(world.turn(event(false)), Err(Refusal::NotWaiting), "it doesn't match");
    let other = Event::Published { key: "reply.s2".to_owned(), payload: json!({"ok": true}) };
    assert_eq!(world.turn(other), Err(Refusal::NotWaiting), "another key");
    let strange = Event::Published { key: "reply.s1".to_owned(), payload: json!([1]) };
    assert_eq!(world.turn(strange), Err(Refusal::NotWaiting), "a match without a value is none");
    world.turn(event(true)).unwrap();
    assert_eq!(world.life(), Life::Completed { output: json!({"ok": true}), at: at(0) });
    for late in [event(true), Event::WaitDue] {
        assert_eq!(world.later(90_000).turn(late), Err(Refusal::Ended { status: Status::Completed }));
    }

    // The condition is looked at every minute, and the timeout comes after a day, or the other way round.
    let mut world = parked();
    world.later(60).turn(Event::WaitDue).unwrap();
    assert_eq!(world.stands(), ("waiting", Some("wait")));
    assert_eq!(world.turn(Event::WaitDue), Err(Refusal::NotDue), "looked at once");
    while world.stands().0 == "waiting" {
        world.later(60).turn(Event::WaitDue).unwrap();
    }
    assert_eq!(world.steps()[2], ("wait:1:1".to_owned(), "completed", Some("condition")));

    let mut world = World::new(waiting(&json!({"event": "reply", "timeout": "1h"})), Value::Null);
    world.run(ok(Value::Null));
    world.later(3_600).turn(Event::WaitDue).unwrap();
    assert_eq!(world.steps()[2], ("wait:1:1".to_owned(), "completed", Some("timeout")));
}

/// proves W19: a signal sent before its wait opens is not lost; the oldest that fits is taken, and the others stay.
/// Wrong elsewhere: one that is sent just before its wait finds nobody waiting, and is gone.
#[test]
fn a_signal_before_its_wait_is_kept() {
    let mut world = World::new(full(), Value::Null);
    for (key, good) in [("reply.s1", false), ("other", true), ("reply.s1", true)] {
        world.signal(key, json!({"ok": good})).unwrap();
    }
    assert_eq!(world.state().signals.len(), 3);
    world.run(ok(Value::Null));
    assert_eq!(world.life(), Life::Completed { output: json!({"ok": true}), at: at(0) });
    let statuses: Vec<_> =
        world.waits().into_iter().filter(|wait| wait.0 == "signal").map(|it| it.1).collect();
    assert_eq!(statuses, [WaitStatus::Cancelled, WaitStatus::Cancelled, WaitStatus::Fired]);
}

/// proves W30: not without end.
#[test]
fn kept_signals_are_bounded() {
    let limits = Limits { kept_signals: 3, ..Limits::default() };
    let mut world = World::limited(full(), limits, Value::Null);
    for _ in 0..3 {
        world.signal("x", Value::Null).unwrap();
    }
    assert_eq!(world.signal("x", Value::Null), Err(Refusal::TooManySignals { most: 3 }));
}

/// proves W19, W23: while an instance is paused nothing fires, and on its resume it catches up with what came.
#[test]
fn a_paused_wait_catches_up() {
    let mut world = World::new(full(), Value::Null);
    world.run(ok(Value::Null));
    world.command(Command::Pause).unwrap();
    assert_eq!(world.stands(), ("paused", Some("wait")));
    let event = Event::Published { key: "reply.s1".to_owned(), payload: json!({"ok": true}) };
    assert_eq!(world.turn(event), Err(Refusal::NotWaiting));
    assert_eq!(world.later(90_000).turn(Event::WaitDue), Err(Refusal::Paused));
    world.signal("reply.s1", json!({"ok": true})).unwrap();
    assert_eq!(world.stands(), ("paused", Some("wait")));
    world.command(Command::Resume).unwrap();
    assert_eq!(world.steps()[2], ("wait:1:1".to_owned(), "completed", Some("event")));
}

/// proves W23: a paused instance's held step goes on to its end, and the next one waits for the resume. Wrong
/// elsewhere: the end of the step, or its lost lease, un-pauses the instance, into a limbo that nobody takes it from.
#[test]
fn a_pause_lets_the_held_step_end() {
    let graph = graph(
        json!([{"id": "start", "type": "trigger"}, act("a"), act("b"),
               {"id": "nap", "type": "delay", "config": {"duration": "1m"}}, {"id": "end", "type": "end"}]),
        &[
            ("start", "default", "a"),
            ("a", "default", "b"),
            ("b", "default", "nap"),
            ("nap", "default", "end"),
        ],
        json!({}),
    );
    let mut world = World::new(graph, Value::Null);
    let token = world.claim().unwrap();
    world.command(Command::Pause).unwrap();
    assert_eq!(world.command(Command::Pause), Err(Refusal::Paused));
    world.finish(&token, ok(Value::Null)).unwrap();
    assert_eq!(world.stands(), ("paused", Some("b")));
    assert_eq!(world.claim(), None, "nobody can take it");
    world.command(Command::Resume).unwrap();
    assert_eq!(world.command(Command::Resume), Err(Refusal::NotPaused { status: Status::Running }));
    let token = world.claim().unwrap();
    world.command(Command::Pause).unwrap();
    world.later(60).turn(Event::LeaseExpired).unwrap();
    assert_eq!(world.stands(), ("paused", Some("b")));
    assert_eq!(world.claim(), None, "a lost lease un-pauses nothing");
    assert_eq!(world.finish(&token, ok(Value::Null)), Err(Refusal::LeaseLost));
    world.command(Command::Resume).unwrap();
    let token = world.claim().unwrap();
    world.command(Command::Pause).unwrap();
    world.finish(&token, ok(Value::Null)).unwrap();
    assert_eq!(world.stands(), ("paused", Some("nap")));
    world.later(600).command(Command::Resume).unwrap();
    world.turn(Event::WaitDue).unwrap();
    assert_eq!(world.stands(), ("completed", None));
}

/// proves W23: what is called off stays so, whatever its holder says. Wrong elsewhere: the late end of a step makes a
/// success of it.
#[test]
fn a_cancelled_instance_stays_cancelled() {
    for step in ["queued", "held", "waiting", "paused"] {
        let mut world = World::new(full(), Value::Null);
        let token = (step != "queued").then(|| world.claim().unwrap());
        if step == "waiting" {
            world.finish(token.as_ref().unwrap(), ok(Value::Null)).unwrap();
        }
        if step == "paused" {
            world.command(Command::Pause).unwrap();
        }
        world.command(Command::Cancel).unwrap();
        assert_eq!(world.life(), Life::Cancelled { at: at(0) }, "{step}");
        if let Some(token) = token {
            assert_eq!(world.finish(&token, ok(Value::Null)), Err(Refusal::LeaseLost), "{step}");
        }
        let ended = Refusal::Ended { status: Status::Cancelled };
        for command in [
            Command::Cancel,
            Command::Pause,
            Command::Resume,
            Command::Skip { outcome: outcome("default"), output: Value::Null },
            Command::Signal { key: "reply.s1".to_owned(), payload: Value::Null },
        ] {
            assert_eq!(world.command(command), Err(ended.clone()), "{step}");
        }
        let nothing = Refusal::NothingToRetry { status: Status::Cancelled };
        assert_eq!(world.command(Command::Retry), Err(nothing), "{step}");
    }
}

/// proves W23, W22: a retry takes the failed step up again under the same key; every command says who.
#[test]
fn a_failed_instance_can_be_taken_up_again() {
    let mut world = World::new(full(), Value::Null);
    assert_eq!(world.command(Command::Retry), Err(Refusal::NothingToRetry { status: Status::Running }));
    world.run(failed("no_money", false));
    let plan = world.command(Command::Retry).unwrap();
    assert_eq!(plan.by, Actor::Named { kind: "user".to_owned(), id: "7".to_owned() });
    assert_eq!(world.stands(), ("running", Some("work")));
    world.run(failed("no_money", false));
    world.command(Command::Skip { outcome: outcome("default"), output: json!({"by": "hand"}) }).unwrap();
    assert_eq!(world.stands(), ("waiting", Some("wait")));
    assert_eq!(
        world.steps()[1..4],
        [
            ("work:1:1".to_owned(), "failed", None),
            ("work:1:2".to_owned(), "failed", None),
            ("work:1:3".to_owned(), "skipped", Some("default")),
        ]
    );
    assert_eq!(world.state().steps["work"]["output"], json!({"by": "hand"}));
    assert_eq!(world.rows.instance.steps_count, 3);
}

/// proves W23: a step is skipped by an outcome of its node, from whatever it is at; its holder is out.
#[test]
fn a_step_can_be_skipped() {
    for step in ["queued", "held", "paused"] {
        let mut world = World::new(full(), Value::Null);
        let token = (step != "queued").then(|| world.claim().unwrap());
        if step == "paused" {
            world.command(Command::Pause).unwrap();
        }
        let skip = |name: &str| Command::Skip { outcome: outcome(name), output: Value::Null };
        assert_eq!(world.command(skip("nope")), Err(Refusal::NoSuchOutcome(outcome("nope"))));
        world.command(skip("default")).unwrap();
        assert_eq!(world.stands().1, Some("wait"), "{step}");
        if let Some(token) = token {
            assert_eq!(world.finish(&token, ok(Value::Null)), Err(Refusal::LeaseLost));
        }
        world.command(skip("timeout")).unwrap();
        assert_eq!(world.stands(), ("completed", None), "{step}");
    }
}

/// proves W23: a command holds for the version that its giver saw.
#[test]
fn commands_are_guarded_by_the_version() {
    let mut world = World::new(full(), Value::Null);
    let mut pause = |expected: u32| {
        world.turn(Event::Command { command: Command::Pause, by: Actor::System, expected: Some(expected) })
    };
    assert_eq!(pause(1), Err(Refusal::Changed { present: 0 }));
    assert_eq!(pause(0).unwrap().state.lock_version, 1);
    assert_eq!(pause(0), Err(Refusal::Changed { present: 1 }));
}

/// A pause between two attempts can be cut short.
#[test]
fn a_retry_cuts_the_pause_short() {
    let mut action = act("work");
    action["retry"] = json!({"max_attempts": 2, "delay": "1h"});
    let graph = graph(
        json!([{"id": "start", "type": "trigger"}, action, {"id": "end", "type": "end"}]),
        &[("start", "default", "work"), ("work", "default", "end")],
        json!({}),
    );
    let mut world = World::new(graph, Value::Null);
    world.run(failed("busy", true));
    assert_eq!(world.claim(), None);
    let plan = world.command(Command::Retry).unwrap();
    assert!(plan.leaves_work());
    assert!(matches!(plan.writes[..], [Write::RecordCommand { .. }, Write::Step { .. }]));
    world.run(ok(Value::Null));
    assert_eq!(world.stands(), ("completed", None));
}

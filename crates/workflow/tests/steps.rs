//! Steps: claims, ends, retries, timeouts, edges.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{World, act, at, by, failed, graph, ok, suspended};
use heddle_workflow::{
    Activity, Actor, Event, Life, Limits, Refusal, Start, Subject, Token, WaitStatus, start,
};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// A trigger, an action with these extras, and an end for each of its outcomes.
fn single(extras: &Value, outcomes: &[&str], settings: Value) -> heddle_workflow::Graph {
    let mut action = act("work");
    for (name, value) in extras.as_object().unwrap() {
        action[name] = value.clone();
    }
    let mut nodes = vec![json!({"id": "start", "type": "trigger"}), action];
    let mut edges = vec![("start".to_owned(), "default", "work".to_owned())];
    for outcome in outcomes {
        nodes.push(json!({"id": format!("end_{outcome}"), "type": "end",
            "config": {"output": "{{ steps.work }}"}}));
        edges.push(("work".to_owned(), outcome, format!("end_{outcome}")));
    }
    let edges: Vec<(&str, &str, &str)> =
        edges.iter().map(|(from, outcome, to)| (from.as_str(), *outcome, to.as_str())).collect();
    graph(Value::Array(nodes), &edges, settings)
}

fn retrying(attempts: u16) -> Value {
    json!({"retry": {"max_attempts": attempts, "backoff": "exponential", "delay": "10s", "jitter": 0.0}})
}

/// proves W12, W13: nodes without outside effects are walked in the turn that comes to them, each with its own row.
#[test]
fn a_turn_walks_on_to_the_next_step_that_needs_somebody() {
    let graph = graph(
        json!([
            {"id": "start", "type": "trigger"},
            {"id": "note", "type": "set", "config": {"values": {
                "double": "{{ trigger.amount * 2 }}", "text": "{{ vars.double }} for {{ subject.id }}"}}},
            {"id": "large", "type": "condition", "config": {"expression": "vars.double > 10"}},
            {"id": "kind", "type": "switch", "config": {"cases": [
                {"outcome": "a", "when": "vars.text == 'x'"}, {"outcome": "b", "when": "vars.text == '12 for s1'"},
                {"outcome": "c", "when": "true"}]}},
            {"id": "work", "type": "action", "config": {"handler": "work", "input": {"n": "{{ vars.double }}"}}},
            {"id": "end", "type": "end", "config": {"output": {"id": "{{ steps.work.output.id }}"}}},
        ]),
        &[
            ("start", "default", "note"),
            ("note", "default", "large"),
            ("large", "true", "kind"),
            ("large", "false", "end"),
            ("kind", "a", "end"),
            ("kind", "b", "work"),
            ("kind", "c", "end"),
            ("kind", "default", "end"),
            ("work", "default", "end"),
        ],
        json!({}),
    );
    let mut world = World::new(graph, json!({"amount": 6}));
    assert_eq!(world.stands(), ("running", Some("work")));
    assert_eq!(world.rows.instance.steps_count, 5);
    assert_eq!(world.rows.steps[4].input.as_deref(), Some(&json!({"n": 12})));
    world.run(ok(json!({"id": 9})));
    let end = Life::Completed { output: json!({"id": 9}), at: at(0) };
    assert_eq!(world.life(), end);
    assert_eq!(
        world.steps(),
        [
            ("start:1:1".to_owned(), "completed", Some("default")),
            ("note:1:1".to_owned(), "completed", Some("default")),
            ("large:1:1".to_owned(), "completed", Some("true")),
            ("kind:1:1".to_owned(), "completed", Some("b")),
            ("work:1:1".to_owned(), "completed", Some("default")),
            ("end:1:1".to_owned(), "completed", None),
        ]
    );
}

/// proves W16: only the token of the present claim can end a step, only while its lease holds, and only once. Wrong
/// elsewhere: a holder is known by its worker's name, and passes for the one that has taken the step again.
#[test]
fn a_step_is_ended_by_its_holder_alone() {
    let mut world = World::new(single(&json!({}), &["default"], json!({})), Value::Null);
    let stranger = Token::new("stranger");
    assert_eq!(world.finish(&stranger, ok(Value::Null)), Err(Refusal::LeaseLost), "nobody holds it");
    let token = world.claim().unwrap();
    assert_eq!(world.claim(), None, "a held step is nobody else's");
    assert_eq!(world.finish(&stranger, ok(Value::Null)), Err(Refusal::LeaseLost));
    assert_eq!(world.turn(Event::LeaseExpired), Err(Refusal::NotDue));
    world.later(60);
    assert_eq!(world.finish(&token, ok(Value::Null)), Err(Refusal::LeaseLost), "its lease has run out");
    world.turn(Event::LeaseExpired).unwrap();
    let second = world.claim().unwrap();
    assert_eq!(world.finish(&token, ok(Value::Null)), Err(Refusal::LeaseLost), "another one holds it");
    world.finish(&second, ok(json!(2))).unwrap();
    assert_eq!(world.finish(&second, ok(json!(3))), Err(Refusal::LeaseLost), "it has ended");
    assert_eq!(
        world.steps()[1..3],
        [("work:1:1".to_owned(), "lost", None), ("work:1:2".to_owned(), "completed", Some("default"))]
    );
}

/// proves W18: a lost lease is none of a node's attempts, but what kills every holder ends.
#[test]
fn lost_leases_are_counted_apart_and_bounded() {
    let mut world = World::new(single(&json!({}), &["default", "error"], json!({})), Value::Null);
    for _ in 0..9 {
        world.claim().unwrap();
        world.later(60).turn(Event::LeaseExpired).unwrap();
        assert_eq!(world.stands(), ("running", Some("work")));
    }
    world.claim().unwrap();
    world.later(60).turn(Event::LeaseExpired).unwrap();
    assert_eq!(world.stands(), ("completed", None));
    assert_eq!(world.state().steps["work"]["error"]["code"], "lease_lost");
}

/// proves W18: attempts, pauses, and the error edge when they are used up.
#[test]
fn retries_pause_and_end_at_the_error_edge() {
    let mut world = World::new(single(&retrying(3), &["default", "error"], json!({})), Value::Null);
    for pause in [10, 20] {
        world.run(failed("busy", true));
        assert_eq!(world.claim(), None, "not before its time");
        world.later(pause - 1);
        assert_eq!(world.claim(), None, "not before its time");
        world.later(1);
    }
    world.run(failed("busy", true));
    assert_eq!(world.stands(), ("completed", None));
    assert_eq!(
        world.steps()[1..4],
        [
            ("work:1:1".to_owned(), "failed", None),
            ("work:1:2".to_owned(), "failed", None),
            ("work:1:3".to_owned(), "failed", Some("error")),
        ]
    );
    assert_eq!(world.rows.instance.steps_count, 3, "an attempt is not a step");
}

/// proves W18: a failure that won't pass isn't tried again; without an edge for it the instance fails with its code.
#[test]
fn without_an_error_edge_the_instance_fails() {
    let mut world = World::new(single(&retrying(3), &["default"], json!({})), Value::Null);
    world.run(failed("no_money", false));
    assert_eq!((world.stands(), world.failure()), (("failed", None), Some("no_money")));
    assert_eq!(world.rows.instance.failed_node.as_ref().map(ToString::to_string).as_deref(), Some("work"));
    assert!(world.rows.instance.ended_at.is_some());
}

/// proves W18: a timeout takes its own edge, else the error edge.
#[test]
fn timeouts_have_their_edge() {
    for (outcomes, expected) in
        [(&["default", "error", "timeout"][..], "timeout"), (&["default", "error"], "error")]
    {
        let graph = single(&json!({"timeout": "30s"}), outcomes, json!({}));
        let mut world = World::new(graph, Value::Null);
        let token = world.claim().unwrap();
        world.finish(&token, failed("timeout", true)).unwrap();
        assert_eq!(world.steps()[1], ("work:1:1".to_owned(), "failed", Some(expected)));
        assert_eq!(world.finish(&token, ok(Value::Null)), Err(Refusal::LeaseLost), "too late is too late");
    }
}

/// proves W18: the whole instance is bounded too, whatever it stands at, paused or not.
#[test]
fn an_instance_has_its_time() {
    for paused in [false, true] {
        let mut world = World::new(single(&json!({}), &["default"], json!({"timeout": "2m"})), Value::Null);
        assert_eq!(world.waits(), [("deadline", WaitStatus::Pending)]);
        let token = world.claim().unwrap();
        if paused {
            world.command(heddle_workflow::Command::Pause).unwrap();
        }
        assert_eq!(world.later(119).turn(Event::DeadlineDue), Err(Refusal::NotDue));
        world.later(1).turn(Event::DeadlineDue).unwrap();
        assert_eq!((world.stands(), world.failure()), (("failed", None), Some("instance_timeout")));
        assert_eq!(world.waits(), [("deadline", WaitStatus::Cancelled)]);
        assert_eq!(world.steps()[1], ("work:1:1".to_owned(), "cancelled", None));
        assert_eq!(world.finish(&token, ok(Value::Null)), Err(Refusal::LeaseLost));
        world.command(heddle_workflow::Command::Retry).unwrap();
        assert_eq!(
            world.state().deadline,
            Some(at(240)),
            "whoever takes it up again gives it its time again"
        );
    }
}

/// proves W12, W30: loops go round as often as they may, each time as a new visit.
#[test]
fn loops_are_bounded_by_steps() {
    let graph = graph(
        json!([
            {"id": "start", "type": "trigger"},
            {"id": "count", "type": "set", "config": {"values": {"n": "{{ has(vars.n) ? vars.n + 1 : 1 }}"}}},
            {"id": "again", "type": "condition", "config": {"expression": "vars.n < trigger.times"}},
            {"id": "end", "type": "end", "config": {"output": "{{ vars.n }}"}},
        ]),
        &[
            ("start", "default", "count"),
            ("count", "default", "again"),
            ("again", "true", "count"),
            ("again", "false", "end"),
        ],
        json!({"limits": {"max_steps": 20}}),
    );
    let world = World::new(graph.clone(), json!({"times": 9}));
    assert_eq!(world.life(), Life::Completed { output: json!(9), at: at(0) });
    assert_eq!(world.rows.instance.steps_count, 20);
    let mut world = World::new(graph, json!({"times": 10}));
    assert_eq!((world.stands(), world.failure()), (("failed", None), Some("max_steps")));
    assert_eq!(world.command(heddle_workflow::Command::Retry), Err(Refusal::NoStep));
}

/// proves W12: an expression without a value is the node's failure, with an edge like any other.
#[test]
fn a_broken_expression_is_a_failure() {
    let build = |extra: &[(&str, &str, &str)]| {
        let mut edges =
            vec![("start", "default", "check"), ("check", "true", "end"), ("check", "false", "end")];
        edges.extend(extra);
        graph(
            json!([
                {"id": "start", "type": "trigger"},
                {"id": "check", "type": "condition", "config": {"expression": "trigger.a.b == 1"}},
                {"id": "end", "type": "end", "config": {"output": "{{ steps.check.error.code }}"}},
            ]),
            &edges,
            json!({}),
        )
    };
    let world = World::new(build(&[]), json!({}));
    assert_eq!((world.stands(), world.failure()), (("failed", None), Some("expression")));
    let world = World::new(build(&[("check", "error", "end")]), json!({}));
    assert_eq!(world.life(), Life::Completed { output: json!("expression"), at: at(0) });
}

/// An outcome that leads nowhere ends the instance, and its step is not done again.
#[test]
fn an_outcome_without_an_edge_is_a_failure() {
    let mut world = World::new(single(&json!({}), &["default", "error"], json!({})), Value::Null);
    world.run(by("surprise"));
    assert_eq!((world.stands(), world.failure()), (("failed", None), Some("no_edge")));
    assert_eq!(world.command(heddle_workflow::Command::Retry), Err(Refusal::NoStep));
}

/// proves W30: payloads, inputs, outputs and nesting are bounded, each by a typed failure.
#[test]
fn sizes_are_bounded() {
    let limits = Limits { payload_bytes: 100, input_bytes: 50, ..Limits::default() };
    let request = |trigger: Value, depth: u8| Start {
        id: heddle_workflow::InstanceId::parse(common::ID).unwrap(),
        trigger,
        subject: Subject::default(),
        depth,
        by: Actor::System,
    };
    let graph = single(&json!({}), &["default", "error"], json!({}));
    let large = json!("x".repeat(99));
    assert_eq!(
        start(&graph, &limits, request(large.clone(), 0), at(0)),
        Err(Refusal::PayloadTooLarge { bytes: 101, most: 100 })
    );
    assert_eq!(start(&graph, &limits, request(Value::Null, 9), at(0)), Err(Refusal::TooDeep { most: 8 }));
    let mut world = World::limited(graph, limits.clone(), Value::Null);
    assert!(matches!(world.signal("key", large.clone()), Err(Refusal::PayloadTooLarge { .. })));
    assert_eq!(world.signal(&"k".repeat(192), Value::Null), Err(Refusal::BadKey));
    world.run(ok(large));
    assert_eq!(world.state().steps["work"]["error"]["code"], "output_too_large");
    let nested = |depth| (0..depth).fold(Value::Null, |inner, _| json!([inner]));
    let graph = single(&json!({}), &["default", "error"], json!({}));
    let limits_of = || Limits { payload_bytes: 1_000, ..limits.clone() };
    let too_nested = start(&graph, &limits_of(), request(nested(65), 0), at(0));
    assert_eq!(too_nested, Err(Refusal::PayloadTooNested { most: 64 }));
    let mut world = World::limited(graph, limits_of(), nested(64));
    world.run(ok(nested(65)));
    assert_eq!(world.state().steps["work"]["error"]["code"], "output_too_large");
    let input = single(
        &json!({"config": {"handler": "work", "input": "{{ trigger }}"}}),
        &["default", "error"],
        json!({}),
    );
    let world = World::limited(input, limits, json!("x".repeat(60)));
    assert_eq!(world.state().steps["work"]["error"]["code"], "input_too_large");
}

/// proves W7: the signal that resumed a handler stays with the visit until it ends, through failure and lost leases.
/// Wrong elsewhere: the retry of a call that was resumed waits anew for a signal that has come already.
#[test]
fn a_retry_of_a_failed_resume_carries_its_signal() {
    let mut world = World::new(single(&retrying(3), &["default"], json!({})), Value::Null);
    world.run(suspended("reply", Some(60)));
    assert_eq!(world.stands(), ("waiting", Some("work")));
    assert_eq!(world.signal("other", json!(1)).map(|_| ()), Ok(()));
    assert_eq!(world.stands(), ("waiting", Some("work")), "another event is kept and resumes nothing");
    world.signal("reply", json!({"ok": true})).unwrap();
    let resume = json!({"kind": "event", "key": "reply", "payload": {"ok": true}});
    for attempt in 1..=3 {
        let Life::Running(step) = world.life() else { panic!() };
        assert_eq!((step.attempt.attempt, step.attempt.resume.as_deref()), (attempt, Some(&resume)));
        world.later(60);
        world.claim().unwrap();
        if attempt == 1 {
            world.later(60).turn(Event::LeaseExpired).unwrap();
        } else {
            let token = match world.life() {
                Life::Running(heddle_workflow::Step { activity: Activity::Held(lease), .. }) => lease.token,
                other => panic!("{other:?}"),
            };
            world.finish(&token, failed("busy", true)).unwrap();
        }
    }
    world.later(60);
    world.run(ok(json!("done")));
    assert_eq!(world.stands(), ("completed", None));
}

/// proves W19: a suspended handler is called again when its patience ends, and told so. Wrong elsewhere: a stray resume
/// ends what waits, or is about to, with `{}`.
#[test]
fn a_suspended_handler_is_told_of_its_timeout() {
    let mut world = World::new(single(&json!({}), &["default"], json!({})), Value::Null);
    world.run(suspended("reply", Some(60)));
    assert_eq!(world.later(59).turn(Event::WaitDue), Err(Refusal::NotDue));
    world.later(1).turn(Event::WaitDue).unwrap();
    let Life::Running(step) = world.life() else { panic!() };
    assert_eq!(step.attempt.resume.as_deref(), Some(&json!({"kind": "timeout"})));
    assert_eq!(world.turn(Event::WaitDue), Err(Refusal::NotWaiting), "once");
    // A stray event now resumes nothing: the step is queued, and the event is kept.
    world.signal("reply", json!({})).unwrap();
    assert_eq!(world.state().signals.len(), 1);
}

/// A plan's next step can be taken in the same commit, and a pause can't.
#[test]
fn the_next_step_can_be_claimed_with_the_end_of_the_last() {
    let graph = graph(
        json!([{"id": "start", "type": "trigger"}, act("a"), act("b"), {"id": "end", "type": "end"}]),
        &[("start", "default", "a"), ("a", "default", "b"), ("b", "default", "end")],
        json!({}),
    );
    let mut world = World::new(graph, Value::Null);
    let mut plan = world.run(ok(Value::Null));
    let token = Token::new("next");
    let taken = plan.claim(&token, world.now + SignedDuration::from_secs(30)).unwrap();
    assert_eq!((taken.visit, taken.attempt), (1, 1));
    assert_eq!(plan.claim(&Token::new("again"), world.now + SignedDuration::from_secs(30)), None);
    let Life::Running(step) = &plan.state.life else { panic!() };
    assert!(matches!(&step.activity, Activity::Held(lease) if lease.token == token));
    let mut plan = world.command(heddle_workflow::Command::Pause).unwrap();
    assert_eq!(plan.claim(&token, world.now + SignedDuration::from_secs(30)), None);
}

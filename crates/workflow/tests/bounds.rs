//! What one turn may take: memory, work and rows, whatever a graph asks for. Nothing is timed; bytes and units count.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{World, at, graph, suspended};
use heddle_workflow::{
    Actor, Command, Graph, InstanceId, Life, Limits, Opening, Plan, Refusal, Start, StepChange, Subject,
    Write, start,
};
use serde_json::{Map, Value, json};

/// A `set` and a condition that leads back to it until it holds. Whatever fails goes to `failed`, if it goes anywhere.
fn looped(values: &Value, until: &str) -> Graph {
    graph(
        json!([
            {"id": "start", "type": "trigger"},
            {"id": "set", "type": "set", "config": {"values": values}},
            {"id": "until", "type": "condition", "config": {"expression": until}},
            {"id": "failed", "type": "end", "config": {"output": "{{ steps.set.error.code }}"}},
            {"id": "end", "type": "end"},
        ]),
        &[
            ("start", "default", "set"),
            ("set", "default", "until"),
            ("set", "error", "failed"),
            ("until", "true", "end"),
            ("until", "false", "set"),
            ("until", "error", "failed"),
        ],
        json!({"limits": {"max_steps": 10_000}}),
    )
}

/// So many variables of one template.
fn many(count: usize, template: &str) -> Value {
    Value::Object((0..count).map(|place| (format!("v{place:04}"), json!(template))).collect::<Map<_, _>>())
}

fn plan(graph: &Graph, limits: &Limits, trigger: Value) -> Plan {
    let request = Start {
        id: InstanceId::parse(common::ID).unwrap(),
        trigger,
        subject: Subject::default(),
        depth: 0,
        by: Actor::System,
    };
    start(graph, limits, request, at(0)).unwrap()
}

/// How many bytes the outputs of a plan's steps have.
fn written(plan: &Plan) -> usize {
    let outputs = plan.writes.iter().filter_map(|write| match write {
        Write::Step { change: StepChange::Open { opening: Opening::Ended(ended), .. }, .. } => {
            ended.output.as_ref()
        }
        _ => None,
    });
    outputs.map(|output| output.to_string().len()).sum()
}

/// proves W30: variables that double each other are over as soon as they are too large. Wrong elsewhere: their size is
/// looked at when all of them are there, and forty of them need more memory than there is.
#[test]
fn variables_that_double_each_other_are_bounded() {
    let mut values = Map::from_iter([("a00".to_owned(), json!("0123456789abcdef"))]);
    for place in 1..60 {
        let before = format!("{{{{ vars.a{:02} }}}}", place - 1);
        values.insert(format!("a{place:02}"), json!(format!("{before}{before}")));
    }
    let world = World::new(looped(&Value::Object(values), "true"), Value::Null);
    assert_eq!(world.life(), Life::Completed { output: json!("vars_too_large"), at: at(0) });
    assert!(world.state().vars.is_empty(), "none of them is set");
}

/// What there is of the variables is what their JSON has, to the byte; one that is set anew makes room.
#[test]
fn variables_have_as_much_room_as_is_said() {
    let exact = json!({"a": "xxxx", "b\"": [1, null]}).to_string().len();
    let values = json!({"a": "{{ 'x' + 'xxx' }}", "b\"": [1, null]});
    for (payload_bytes, output) in [(exact, Value::Null), (exact - 1, json!("vars_too_large"))] {
        let limits = Limits { payload_bytes, ..Limits::default() };
        let world = World::limited(looped(&values, "true"), limits, Value::Null);
        assert_eq!(world.life(), Life::Completed { output, at: at(0) });
    }
    let limits = Limits { payload_bytes: exact, ..Limits::default() };
    let again = looped(&values, "has(steps.until)");
    assert_eq!(World::limited(again, limits, Value::Null).life().status().name(), "completed");
}

/// proves W14, W30: all expressions of a turn have one budget, and beyond it the instance fails, whatever edges there
/// are. Wrong elsewhere: each of them is cheap enough, and ten million of them run for minutes within one turn.
#[test]
fn the_expressions_of_a_turn_are_bounded_together() {
    let costly = many(1_000, "{{ trigger.l.all(x, trigger.l.all(y, true)) }}");
    let numbers: Vec<u32> = (0..100).collect();
    let world = World::new(looped(&costly, "false"), json!({"l": numbers}));
    assert_eq!((world.stands(), world.failure()), (("failed", None), Some("too_much_at_once")));
    assert_eq!(world.steps().len(), 2, "within the first set already");
    assert!(world.state().vars.is_empty());
    // Nor can it be put into a condition whose failure leads on, or into an operator that looks at its other side.
    let costly = "trigger.l.all(x, trigger.l.all(y, true)) && false || false";
    let world = World::new(looped(&json!({"v": 1}), costly), json!({"l": numbers}));
    assert_eq!((world.stands(), world.failure()), (("failed", None), Some("too_much_at_once")));
    let limits = Limits { turn_units: 1_000_000_000, ..Limits::default() };
    let world = World::limited(looped(&json!({"v": 1}), costly), limits, json!({"l": numbers}));
    assert_eq!(world.failure(), Some("too_much_at_once"), "the nodes of a turn are bounded as well");
}

/// Nothing is converted that isn't looked at: what a graph costs depends on what it says, not on what it is given.
#[test]
fn large_data_beside_the_point_costs_nothing() {
    for template in ["{{ has(trigger.q) }}", "{{ has(trigger.l) }}", "{{ trigger.m.n }}"] {
        let trigger = json!({"l": vec![0; 100_000], "m": {"n": 1, "o": vec![0; 10_000]}});
        let world = World::new(looped(&many(1_500, template), "true"), trigger);
        assert_eq!(world.life(), Life::Completed { output: Value::Null, at: at(0) }, "{template}");
    }
    // What is looked at is paid for.
    let world =
        World::new(looped(&many(1_500, "{{ size(trigger.l) }}"), "true"), json!({"l": vec![0; 10_000]}));
    assert_eq!(world.failure(), Some("too_much_at_once"));
}

/// proves W30: a turn writes no more than its limit says. Wrong elsewhere: every value is small enough, and ten
/// thousand of them are gigabytes in one commit.
#[test]
fn the_bytes_of_a_turn_are_bounded() {
    let limits = Limits::default();
    let plan = plan(
        &looped(&json!({"v": "{{ trigger.s }}"}), "size(trigger.s) == 0"),
        &limits,
        json!({"s": "y".repeat(250_000)}),
    );
    let Life::Failed { failure, .. } = &plan.state.life else { panic!("{:?}", plan.state.life) };
    assert_eq!(failure.code.as_str(), "too_much_at_once");
    let bytes = written(&plan);
    assert!((limits.turn_bytes - 300_000..=limits.turn_bytes).contains(&bytes), "{bytes}");
}

/// proves W30: a turn enters no more nodes than its limit says. A retry goes on from there.
#[test]
fn the_nodes_of_a_turn_are_bounded() {
    let counted = json!({"n": "{{ has(vars.n) ? vars.n + 1 : 1 }}"});
    let mut world = World::new(looped(&counted, "vars.n == 700"), Value::Null);
    assert_eq!((world.stands(), world.failure()), (("failed", None), Some("too_much_at_once")));
    assert_eq!(world.state().steps_count, 1_001, "the last one is where it failed");
    world.command(Command::Retry).unwrap();
    assert_eq!((world.stands(), world.failure()), (("completed", None), None));
    assert_eq!(world.state().vars["n"], 700);
}

fn waiting() -> Graph {
    graph(
        json!([
            {"id": "start", "type": "trigger"},
            {"id": "work", "type": "action", "config": {"handler": "work"}},
            {"id": "wait", "type": "wait_event", "config": {"event": "go", "timeout": "1h",
                "match": "event.l.all(x, event.l.all(y, true)) && event.last"}},
            {"id": "end", "type": "end"},
        ]),
        &[
            ("start", "default", "work"),
            ("work", "default", "wait"),
            ("wait", "event", "end"),
            ("wait", "timeout", "end"),
        ],
        json!({"timeout": "1d"}),
    )
}

/// A wait that would have to look at more signals than a turn can pay for doesn't go on without them.
#[test]
fn matches_are_bounded_together() {
    let numbers: Vec<u32> = (0..100).collect();
    let signals = |world: &mut World| {
        for place in 0..20 {
            world.signal("go", json!({"l": numbers, "last": place == 19})).unwrap();
        }
    };
    let mut world = World::new(waiting(), Value::Null);
    signals(&mut world);
    world.run(common::ok(Value::Null));
    assert_eq!((world.stands(), world.failure()), (("failed", None), Some("too_much_at_once")));
    // The same where it waits already, and looks at them as it is resumed.
    let mut world = World::new(waiting(), Value::Null);
    world.run(common::ok(Value::Null));
    world.command(Command::Pause).unwrap();
    signals(&mut world);
    world.command(Command::Resume).unwrap();
    assert_eq!((world.stands(), world.failure()), (("failed", None), Some("too_much_at_once")));
    // And a turn can pay for a few.
    let limits = Limits { turn_units: 10_000_000, ..Limits::default() };
    let mut world = World::limited(waiting(), limits, Value::Null);
    signals(&mut world);
    world.run(common::ok(Value::Null));
    assert_eq!(world.stands(), ("completed", None));
}

/// proves W30: kept signals are loaded with every turn, and there is a limit to their bytes as there is to their number.
#[test]
fn the_bytes_of_kept_signals_are_bounded() {
    let mut world = World::new(waiting(), Value::Null);
    let payload = json!("p".repeat(250_000));
    for _ in 0..4 {
        world.signal("other", payload.clone()).unwrap();
    }
    let refused = world.signal("other", payload.clone()).unwrap_err();
    assert_eq!(refused, Refusal::SignalsTooLarge { bytes: 5 * 250_002, most: 1024 * 1024 });
    assert_eq!(refused.code(), "too_many_signals");
    world.signal("other", Value::Null).unwrap();
    // One that is waited for is not kept.
    world.run(suspended("now", None));
    world.signal("now", payload).unwrap();
    assert_eq!(world.state().signals.len(), 5);
}

//! Random lives: whatever comes, in whatever order, what has to hold holds (`World` looks after every turn).
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{World, act, by, failed, graph, ok, suspended};
use heddle_workflow::{Command, Event, Graph, Limits, Outcome, Refusal, Token};
use proptest::prelude::*;
use serde_json::{Value, json};

fn everything() -> Graph {
    let mut work = act("work");
    work["retry"] = json!({"max_attempts": 3, "delay": "5s"});
    work["timeout"] = json!("40s");
    graph(
        json!([
            {"id": "start", "type": "trigger"},
            {"id": "count", "type": "set", "config": {"values": {"n": "{{ has(vars.n) ? vars.n + 1 : 1 }}"}}},
            work,
            {"id": "choose", "type": "switch", "config": {"cases": [
                {"outcome": "nap", "when": "vars.n % 3 == 0"}, {"outcome": "wait", "when": "vars.n % 3 == 1"}]}},
            {"id": "nap", "type": "delay", "config": {"duration": "20s"}},
            {"id": "wait", "type": "wait_event", "config": {"event": "reply", "match": "event == vars.n",
                "condition": "vars.n == 7", "check_every": "15s", "timeout": "50s"}},
            act("tidy"),
            {"id": "more", "type": "condition", "config": {"expression": "vars.n < 8"}},
            {"id": "end", "type": "end", "config": {"output": "{{ vars.n }}"}},
        ]),
        &[
            ("start", "default", "count"),
            ("count", "default", "work"),
            ("work", "default", "choose"),
            ("work", "timeout", "tidy"),
            ("choose", "nap", "nap"),
            ("choose", "wait", "wait"),
            ("choose", "default", "more"),
            ("nap", "default", "more"),
            ("wait", "event", "more"),
            ("wait", "condition", "end"),
            ("wait", "timeout", "tidy"),
            ("tidy", "default", "more"),
            ("tidy", "error", "end"),
            ("more", "true", "count"),
            ("more", "false", "end"),
        ],
        json!({"timeout": "10m", "limits": {"max_steps": 40}}),
    )
}

#[derive(Debug, Clone)]
enum Happens {
    Later(i64),
    Claim,
    /// The holder of the claim so many claims ago speaks.
    Finish(usize, u8),
    LeaseExpired,
    WaitDue,
    Deadline,
    Published(u8),
    Signal(u8),
    Command(u8, bool),
}

fn happenings() -> impl Strategy<Value = Vec<Happens>> {
    let one = prop_oneof![
        3 => (-3..40_i64).prop_map(Happens::Later),
        8 => Just(Happens::Claim),
        8 => (prop_oneof![8 => Just(0_usize), 1 => 1..3_usize], any::<u8>()).prop_map(|(ago, end)| Happens::Finish(ago, end)),
        1 => Just(Happens::LeaseExpired),
        3 => Just(Happens::WaitDue),
        1 => Just(Happens::Deadline),
        1 => (0..9_u8).prop_map(Happens::Published),
        2 => (0..9_u8).prop_map(Happens::Signal),
        2 => (any::<u8>(), any::<bool>()).prop_map(|(which, fits)| Happens::Command(which, fits)),
    ];
    prop::collection::vec(one, 0..80)
}

fn end(which: u8) -> heddle_workflow::StepEnd {
    match which % 16 {
        0 => failed("busy", true),
        1 => failed("timeout", true),
        2 => failed("broken", false),
        3 => suspended("reply", Some(30)),
        4 => suspended("reply", None),
        5 => by("surprise"),
        _ => ok(json!({"n": which})),
    }
}

fn command(which: u8) -> Command {
    match which % 12 {
        0..=2 => Command::Pause,
        3..=6 => Command::Resume,
        7 => Command::Cancel,
        8..=10 => Command::Retry,
        _ => Command::Skip { outcome: Outcome::new("default").unwrap(), output: Value::Null },
    }
}

/// Lets it happen; whether anything came of it.
fn happen(world: &mut World, tokens: &mut Vec<Token>, happens: &Happens) -> bool {
    let before = world.rows.clone();
    let result = match happens {
        Happens::Later(seconds) => {
            world.later(*seconds);
            return false;
        }
        Happens::Claim => {
            tokens.extend(world.claim());
            return false;
        }
        Happens::Finish(ago, which) => match tokens.iter().rev().nth(*ago).cloned() {
            Some(token) => world.finish(&token, end(*which)),
            None => return false,
        },
        Happens::LeaseExpired => world.turn(Event::LeaseExpired),
        Happens::WaitDue => world.turn(Event::WaitDue),
        Happens::Deadline => world.turn(Event::DeadlineDue),
        Happens::Published(n) => world.turn(Event::Published { key: "reply".to_owned(), payload: json!(n) }),
        Happens::Signal(n) => world.signal("reply", json!(n)),
        Happens::Command(which, fits) => {
            let present = world.rows.instance.lock_version;
            let expected = Some(if *fits { present } else { present + 1 });
            let by = heddle_workflow::Actor::System;
            let result = world.turn(Event::Command { command: command(*which), by, expected });
            assert_eq!(matches!(result, Err(Refusal::Changed { .. })), !fits);
            result
        }
    };
    if result.is_err() {
        assert_eq!(world.rows, before, "a refusal changes nothing");
    }
    result.is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// proves W7, W12, W16, W18, W19, W23: after every turn of every life, steps, visits, outcomes, waits and claims are as
    /// they have to be, ended rows never change, and the rows alone stand for the same state.
    #[test]
    fn what_has_to_hold_holds(happenings in happenings()) {
        let limits = Limits { kept_signals: 4, lost_leases: 3, waits: 12, ..Limits::default() };
        let mut world = World::limited(everything(), limits, Value::Null);
        let mut tokens = Vec::new();
        for happens in &happenings {
            happen(&mut world, &mut tokens, happens);
        }
    }

    /// proves W17: from wherever it was left, an instance that nobody stops comes to an end by claims, time and
    /// recovery alone.
    #[test]
    fn every_life_ends(happenings in happenings()) {
        let mut world = World::new(everything(), Value::Null);
        let mut tokens = Vec::new();
        for happens in &happenings {
            happen(&mut world, &mut tokens, happens);
        }
        if world.stands().0 == "paused" {
            world.command(Command::Resume).unwrap();
        }
        for _ in 0..200 {
            if world.rows.instance.status.is_ended() {
                break;
            }
            let token = world.claim();
            let went_on = match token {
                Some(token) => world.finish(&token, ok(Value::Null)).is_ok(),
                None => [Event::LeaseExpired, Event::WaitDue, Event::DeadlineDue]
                    .into_iter()
                    .any(|event| world.turn(event).is_ok()),
            };
            if !went_on {
                world.later(20);
            }
        }
        prop_assert!(world.rows.instance.status.is_ended(), "{:?}", world.stands());
    }
}

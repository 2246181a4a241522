//! The same calls to two stores.

use std::fmt::Debug;

use heddle_store::workflows::{ClaimRef, Committed, Due, Turn, WorkflowStore};
use heddle_workflow::{
    Actor, Chance, Code, Command, Event, Failure, InstanceId, Limits, Outcome, Rows, SignalId, StartRate,
    StepEnd, decide, restore,
};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::json;

use crate::suite::{at, commit, current, graph, id, load, starting, token, version};

#[derive(Debug, Clone)]
pub enum Call {
    /// With a key or without, under a rate or not.
    Start(Option<u8>, bool),
    Claim,
    /// The claim so many ago: how its step ended.
    Finish(usize, u8),
    Heartbeat(usize),
    Release(usize),
    Wake,
    Emit(u8),
    Signal(u32, u8),
    Command(u32, u8),
    Later(u32),
}

pub fn calls() -> impl Strategy<Value = Vec<Call>> {
    let ago = || prop_oneof![6 => Just(0_usize), 1 => 1..4_usize];
    let one = prop_oneof![
        3 => (prop::option::of(0..3_u8), any::<bool>()).prop_map(|(key, rated)| Call::Start(key, rated)),
        8 => Just(Call::Claim),
        8 => (ago(), any::<u8>()).prop_map(|(ago, end)| Call::Finish(ago, end)),
        1 => ago().prop_map(Call::Heartbeat),
        1 => ago().prop_map(Call::Release),
        4 => Just(Call::Wake),
        2 => (0..4_u8).prop_map(Call::Emit),
        2 => (0..6_u32, 0..4_u8).prop_map(|(instance, n)| Call::Signal(instance, n)),
        3 => (0..6_u32, any::<u8>()).prop_map(|(instance, which)| Call::Command(instance, which)),
        4 => (1..30_000_u32).prop_map(Call::Later),
    ];
    prop::collection::vec(one, 0..60)
}

/// One store, and what its caller remembers.
struct Side<'a> {
    store: &'a WorkflowStore,
    started: u32,
    tokens: u32,
    claims: Vec<ClaimRef>,
    now: Timestamp,
}

/// Gives the same calls to all of them, and compares each with the first.
pub async fn agree(stores: &[WorkflowStore], calls: &[Call]) {
    let side = |store| Side { store, started: 0, tokens: 0, claims: Vec::new(), now: at(0) };
    let mut sides: Vec<Side<'_>> = stores.iter().map(side).collect();
    for side in &sides {
        side.store.publishing.publish(&version("flow"), at(0)).await.unwrap();
    }
    for call in calls {
        let mut first = None;
        for side in &mut sides {
            let answer = side.call(call).await;
            let mut rows = Vec::new();
            for number in 1..=side.started {
                rows.push(side.rows(number).await);
            }
            let all = (answer, rows, side.store.work.next_due().await.unwrap());
            match &first {
                None => first = Some(all),
                Some(first) => assert_eq!(*first, all, "after {call:?}"),
            }
        }
    }
}

impl Side<'_> {
    /// An instance's rows, with the names of its waits by their order, which is all that two stores share.
    async fn rows(&self, number: u32) -> Option<Rows> {
        let mut rows = self.store.turns.load(&id(number)).await.unwrap()?.rows;
        for (place, wait) in rows.waits.iter_mut().enumerate() {
            wait.id = SignalId::new(place.to_string());
        }
        Some(rows)
    }

    async fn call(&mut self, call: &Call) -> String {
        self.now += SignedDuration::from_millis(1);
        let (now, until) = (self.now, self.now + SignedDuration::from_secs(20));
        match call {
            Call::Later(milliseconds) => {
                self.now += SignedDuration::from_millis(i64::from(*milliseconds));
                String::new()
            }
            Call::Start(key, rated) => {
                self.started += 1;
                let version = current(self.store, "flow").await.unwrap();
                let names = ["a", "b", "c"];
                let key = key.map(|key| (names[usize::from(key)], until));
                let mut turn = starting(&version, &id(self.started), key, now);
                if let Some(new) = turn.new.as_mut().filter(|_| *rated) {
                    new.rate = Some(StartRate { count: 3, per: SignedDuration::from_secs(40) });
                }
                shown(&commit(self.store, turn).await)
            }
            Call::Claim => {
                self.tokens += 1;
                let claimed = self.store.work.claim(&[token(self.tokens)], until, now).await.unwrap();
                self.claims.extend(claimed.iter().map(|claimed| claimed.claim.clone()));
                let shared: Vec<_> = claimed
                    .iter()
                    .map(|it| (&it.claim, &it.idempotency_key, &it.input, &it.resume))
                    .collect();
                shown(&shared)
            }
            Call::Finish(ago, which) => match self.claim(*ago) {
                None => String::new(),
                Some(claim) => {
                    let event = Event::StepEnded { token: claim.token, end: end(*which), chance: Chance(9) };
                    self.turn(&claim.instance, &event).await
                }
            },
            Call::Heartbeat(ago) => match self.claim(*ago) {
                None => String::new(),
                Some(claim) => shown(&self.store.work.heartbeat(&claim, until).await.unwrap()),
            },
            Call::Release(ago) => match self.claim(*ago) {
                None => String::new(),
                Some(claim) => shown(&self.store.work.release(&claim, now).await.unwrap()),
            },
            Call::Wake => {
                let due = self.store.work.due(now, SignedDuration::from_secs(5), 3).await.unwrap();
                let mut done = shown(&due);
                for due in due {
                    let (id, event) = match due {
                        Due::Lease(id) => (id, Event::LeaseExpired),
                        Due::Wait(id) => (id, Event::WaitDue),
                        Due::Deadline(id) => (id, Event::DeadlineDue),
                    };
                    done += &self.turn(&id, &event).await;
                }
                done
            }
            Call::Emit(n) => {
                let waiting = self.store.turns.waiting_for(None, "reply", None, 10).await.unwrap();
                let mut done = shown(&waiting);
                for id in waiting {
                    let event = Event::Published { key: "reply".to_owned(), payload: json!({"n": n}) };
                    done += &self.turn(&id, &event).await;
                }
                done
            }
            Call::Signal(number, n) => {
                let command = Command::Signal { key: "reply".to_owned(), payload: json!({"n": n}) };
                self.command(*number, command).await
            }
            Call::Command(number, which) => {
                let command = match which % 10 {
                    0..=2 => Command::Pause,
                    3..=6 => Command::Resume,
                    7 => Command::Cancel,
                    8 => Command::Retry,
                    _ => Command::Skip { outcome: Outcome::new("default").unwrap(), output: json!(1) },
                };
                self.command(*number, command).await
            }
        }
    }

    fn claim(&self, ago: usize) -> Option<ClaimRef> {
        self.claims.iter().rev().nth(ago).cloned()
    }

    async fn command(&mut self, number: u32, command: Command) -> String {
        let by = match number % 3 {
            0 => Actor::System,
            _ => Actor::Named { kind: "user".to_owned(), id: number.to_string() },
        };
        let event = Event::Command { command, by, expected: None };
        self.turn(&id(number), &event).await
    }

    async fn turn(&mut self, instance: &InstanceId, event: &Event) -> String {
        // No two turns at one time: which of two steps of one time is the longest due is for each store to say.
        self.now += SignedDuration::from_millis(1);
        if self.store.turns.load(instance).await.unwrap().is_none() {
            return "absent".to_owned();
        }
        let state = restore(&graph(), &load(self.store, instance).await.rows).unwrap();
        let limits = Limits { waits: 20, ..Limits::default() };
        match decide(&graph(), &limits, &state, event, self.now) {
            Err(refusal) => refusal.to_string(),
            Ok(plan) => {
                let after = plan.state.clone();
                assert_eq!(commit(self.store, Turn { new: None, plan }).await, Committed::Done);
                let mut read = restore(&graph(), &load(self.store, instance).await.rows).unwrap();
                // A signal that was only just kept has its name from the store.
                read.signals.truncate(after.signals.len());
                assert_eq!(read, after, "the rows stand for the state that was decided");
                String::new()
            }
        }
    }
}

fn end(which: u8) -> StepEnd {
    let failed = |code: &str, retryable| StepEnd::Failed {
        failure: Failure::new(Code::new(code).unwrap(), "it broke", retryable),
        timed_out: false,
    };
    match which % 12 {
        0 | 1 => failed("busy", true),
        2 => failed("broken", false),
        3 => StepEnd::Suspended { event: "reply".to_owned(), timeout: Some(SignedDuration::from_secs(7)) },
        _ => StepEnd::Completed {
            outcome: Outcome::new("default").unwrap(),
            output: json!({"x": f64::from(which) / 7.0}),
        },
    }
}

fn shown(value: &impl Debug) -> String {
    format!("{value:?}")
}

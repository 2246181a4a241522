//! The one function that says what an event does to an instance.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{RoundMode, SignedDuration, Timestamp, TimestampRound, Unit};
use serde_json::{Map, Value as Json};

use super::command::command;
use super::turn::{Turn, fits as kept};
use super::{
    Actor, Command, Failure, InstanceId, Life, Limits, Plan, Refusal, State, Subject, Token, waiting,
};
use crate::{Chance, Graph, MAX_JSON_DEPTH, Outcome, is_event_key, json_bytes, nests_deeper_than};

/// A request to start an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Its id.
    pub id: InstanceId,
    /// What starts it.
    pub trigger: Json,
    /// What it is about.
    pub subject: Subject,
    /// How deep it is nested.
    pub depth: u8,
    /// Who starts it.
    pub by: Actor,
}

/// What happens to an instance.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A holder's word that its step has ended (W16).
    StepEnded {
        /// The claim it speaks for.
        token: Token,
        /// How the step ended.
        end: StepEnd,
        /// For the pause before another attempt.
        chance: Chance,
    },
    /// A holder has been silent for too long.
    LeaseExpired,
    /// The time has come to look at the wait.
    WaitDue,
    /// The instance is out of time, whether or not somebody has stopped it.
    DeadlineDue,
    /// An event that instances may wait for. One that this instance doesn't wait for is none of its business.
    Published {
        /// Its key.
        key: String,
        /// What it carries.
        payload: Json,
    },
    /// Somebody's command.
    Command {
        /// What they want.
        command: Command,
        /// Who.
        by: Actor,
        /// The version they saw; `None`: whatever it is.
        expected: Option<u32>,
    },
}

/// How a handler's call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum StepEnd {
    /// Well.
    Completed {
        /// Its outcome.
        outcome: Outcome,
        /// What came of it.
        output: Json,
    },
    /// In failure.
    Failed {
        /// Why.
        failure: Failure,
        /// Because it took too long.
        timed_out: bool,
    },
    /// It wants to be called again when an event has come, or its patience ends.
    Suspended {
        /// The event's key.
        event: String,
        /// How long it waits at most.
        timeout: Option<SignedDuration>,
    },
}

/// Makes an instance and walks it to its first step that needs somebody.
pub fn start(graph: &Graph, limits: &Limits, request: Start, now: Timestamp) -> Result<Plan, Refusal> {
    if request.depth > limits.depth {
        return Err(Refusal::TooDeep { most: limits.depth });
    }
    request.by.check()?;
    request.subject.check()?;
    check_payload(limits, &request.trigger)?;
    let now = stored(now);
    let deadline = graph.settings().timeout.and_then(|timeout| now.checked_add(timeout).ok());
    let state = State {
        id: request.id,
        // Replaced before anybody sees it: the walk begins at the trigger and stops somewhere.
        life: Life::Cancelled { at: now },
        lock_version: 0,
        updated_at: now,
        steps_count: 0,
        depth: request.depth,
        deadline,
        trigger: Arc::new(request.trigger),
        subject: Arc::new(request.subject.to_json()),
        vars: Arc::new(Map::new()),
        steps: Arc::new(Map::new()),
        visits: BTreeMap::new(),
        signals: Vec::new(),
        waits: 0,
    };
    let mut turn = Turn::new(graph, limits, state, Chance::default(), now);
    turn.walk(Some(graph.start()));
    Ok(turn.finish(request.by, true))
}

/// What `event` does to an instance at `now`. Says `Err` where the present state forbids it; nothing changes then.
pub fn decide(
    graph: &Graph,
    limits: &Limits,
    state: &State,
    event: &Event,
    now: Timestamp,
) -> Result<Plan, Refusal> {
    let now = stored(now);
    if let Event::Command { command: wanted, by, expected } = event {
        if expected.is_some_and(|expected| expected != state.lock_version) {
            return Err(Refusal::Changed { present: state.lock_version });
        }
        let mut turn = Turn::new(graph, limits, state.clone(), Chance::default(), now);
        command(&mut turn, wanted, by)?;
        return Ok(turn.finish(by.clone(), false));
    }
    // Word from a holder is judged by its token alone: after the end nobody holds anything.
    if let (Event::StepEnded { .. }, None) = (event, state.life.step()) {
        return Err(Refusal::LeaseLost);
    }
    if state.life.step().is_none() {
        return Err(Refusal::Ended { status: state.life.status() });
    }
    let chance = match event {
        Event::StepEnded { chance, .. } => *chance,
        _ => Chance::default(),
    };
    let mut turn = Turn::new(graph, limits, state.clone(), chance, now);
    match event {
        Event::StepEnded { token, end, .. } => step_ended(&mut turn, token, end)?,
        Event::LeaseExpired => match turn.held() {
            Some((_, lease)) if lease.until <= now => turn.lease_lost(),
            Some(_) => return Err(Refusal::NotDue),
            None => return Err(Refusal::LeaseLost),
        },
        Event::WaitDue => waiting::due(&mut turn)?,
        Event::DeadlineDue => deadline_due(&mut turn)?,
        Event::Published { key, payload } => {
            is_key(key)?;
            check_payload(limits, payload)?;
            if !waiting::delivered(&mut turn, key, &Arc::new(payload.clone())) {
                return Err(Refusal::NotWaiting);
            }
        }
        Event::Command { .. } => {}
    }
    Ok(turn.finish(Actor::System, false))
}

fn step_ended(turn: &mut Turn<'_>, token: &Token, end: &StepEnd) -> Result<(), Refusal> {
    let limits = turn.limits;
    match turn.held() {
        Some((_, lease)) if lease.token == *token && turn.now < lease.until => {}
        _ => return Err(Refusal::LeaseLost),
    }
    match end {
        StepEnd::Completed { outcome, output } => {
            match kept(output, limits.payload_bytes, "output_too_large") {
                Ok(()) => turn.step_completed(outcome, output.clone()),
                Err(failure) => turn.step_failed(failure, false),
            }
        }
        StepEnd::Failed { failure, timed_out } => turn.step_failed(failure.clone(), *timed_out),
        StepEnd::Suspended { event, timeout } => match is_key(event) {
            Ok(()) => waiting::suspend(turn, event, *timeout),
            Err(refusal) => turn.step_failed(Failure::fatal("bad_key", &refusal.to_string()), false),
        },
    }
    Ok(())
}

fn deadline_due(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    if turn.state.deadline.is_none_or(|deadline| deadline > turn.now) {
        return Err(Refusal::NotDue);
    }
    waiting::abandon(turn);
    turn.cancel_step();
    let node = turn.node();
    let attempt = turn.attempt().cloned();
    turn.fail(node, attempt, Failure::fatal("instance_timeout", "the instance is out of time"));
    Ok(())
}

/// A time as the rows keep it: in whole microseconds, rounded down.
pub fn stored(at: Timestamp) -> Timestamp {
    let floor = TimestampRound::new().smallest(Unit::Microsecond).mode(RoundMode::Floor);
    // Rounding down to a microsecond leaves the range of a timestamp nowhere.
    at.round(floor).unwrap_or(at)
}

pub(super) fn is_key(key: &str) -> Result<(), Refusal> {
    if is_event_key(key) { Ok(()) } else { Err(Refusal::BadKey) }
}

/// Refuses a payload that is too large or nested too deeply.
pub fn check_payload(limits: &Limits, payload: &Json) -> Result<(), Refusal> {
    if nests_deeper_than(payload, MAX_JSON_DEPTH) {
        return Err(Refusal::PayloadTooNested { most: MAX_JSON_DEPTH });
    }
    let (bytes, most) = (json_bytes(payload), limits.payload_bytes);
    if bytes <= most { Ok(()) } else { Err(Refusal::PayloadTooLarge { bytes, most }) }
}

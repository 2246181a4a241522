//! Waits: of each, exactly one of event, condition and timeout wins (W19).

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value as Json, json};

use super::decide::stored;
use super::turn::{EXPRESSION, TOO_MANY_WAITS, Turn, failed, failure_of};
use super::{
    Activity, Attempt, Failure, Opening, Refusal, Step, StepMove, Wait, WaitEnd, WaitKind, WaitRow, Write,
    decide,
};
use crate::{
    CONDITION, DEFAULT, Delay, EVENT, Length, NodeIndex, NodeKind, Outcome, TIMEOUT, Template, WaitEvent,
    parse_length,
};

const BAD_VALUE: &str = "bad_value";

/// Enters a `delay` node.
pub(super) fn delay(turn: &mut Turn<'_>, attempt: Attempt, delay: &Delay) -> Option<NodeIndex> {
    let due_at = match delay {
        Delay::For(length) => after(turn, length),
        Delay::Until(template) => time(turn, template),
    };
    match due_at {
        Ok(due_at) if due_at <= turn.now => turn.ended_at_once(&attempt, DEFAULT, None),
        Ok(due_at) => {
            let wait = Wait { kind: WaitKind::Delay, due_at: Some(due_at), timeout_at: None };
            park(turn, attempt, wait, None);
            None
        }
        Err(failure) => turn.failed_at_once(&attempt, failure),
    }
}

/// Enters a `wait_event` node.
pub(super) fn wait(turn: &mut Turn<'_>, attempt: Attempt, node: &WaitEvent) -> Option<NodeIndex> {
    let key = match node.event.as_ref().map(|template| text(turn, template)).transpose() {
        Ok(key) => key,
        Err(failure) => return turn.failed_at_once(&attempt, failure),
    };
    if let Some(key) = &key
        && let Err(refusal) = decide::is_key(key)
    {
        return turn.failed_at_once(&attempt, Failure::fatal("bad_key", &refusal.to_string()));
    }
    // What is held back by a pause looks at its signals when it is resumed.
    if !turn.is_paused() {
        if let Some(key) = &key
            && let Some(payload) = kept(turn, key, Some(node))
        {
            return turn.ended_at_once(&attempt, EVENT, Some(payload.as_ref().clone()));
        }
        // None of them fitted, or the turn can't look at any more of them.
        if turn.too_much().is_some() {
            return turn.stopped(&attempt);
        }
        match holds(turn, node) {
            Ok(true) => return turn.ended_at_once(&attempt, CONDITION, None),
            Ok(false) => {}
            Err(failure) => return turn.failed_at_once(&attempt, failure),
        }
    }
    let timeout_at = match node.timeout.as_ref().map(|length| after(turn, length)).transpose() {
        Ok(timeout_at) => timeout_at,
        Err(failure) => return turn.failed_at_once(&attempt, failure),
    };
    let due_at = next_look(turn, node, timeout_at);
    let wait = Wait { kind: WaitKind::Event { key }, due_at, timeout_at };
    park(turn, attempt, wait, Some(node));
    None
}

/// A handler wants to be called again.
pub(super) fn suspend(turn: &mut Turn<'_>, key: &str, timeout: Option<SignedDuration>) {
    let Some(attempt) = turn.attempt().cloned() else { return };
    if !turn.is_paused()
        && let Some(payload) = kept(turn, key, None)
    {
        resume(turn, attempt, event_resume(key, &payload));
        return;
    }
    if !turn.has_room() {
        let failure = too_many_waits(turn);
        turn.move_step(StepMove::Ended(failed(None, failure.clone())));
        turn.fail(attempt.node, Some(attempt), failure);
        return;
    }
    let timeout_at = timeout.and_then(|timeout| turn.now.checked_add(timeout).ok());
    let wait = Wait { kind: WaitKind::Handler { key: key.to_owned() }, due_at: timeout_at, timeout_at };
    turn.move_step(if turn.is_paused() { StepMove::Paused } else { StepMove::Waiting });
    open_wait(turn, &attempt, &wait, None);
    turn.stand_at(attempt, Activity::Waiting(wait));
}

/// The time has come to look at the wait.
pub(super) fn due(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    let (attempt, wait) = waiting(turn).ok_or(Refusal::NotWaiting)?;
    if turn.is_paused() {
        return Err(Refusal::Paused);
    }
    if wait.due_at.is_none_or(|due_at| due_at > turn.now) {
        return Err(Refusal::NotDue);
    }
    let graph = turn.graph;
    match (&wait.kind, &graph.node(attempt.node).kind) {
        (WaitKind::Delay, _) => fire(turn, DEFAULT, None),
        (WaitKind::Handler { .. }, _) => {
            close(turn, &attempt, WaitEnd::Fired { payload: None });
            resume(turn, attempt, json!({"kind": TIMEOUT}));
        }
        (WaitKind::Event { .. }, NodeKind::WaitEvent(node)) => match holds(turn, node) {
            Ok(true) => fire(turn, CONDITION, None),
            Ok(false) if wait.timeout_at.is_some_and(|timeout_at| timeout_at <= turn.now) => {
                fire(turn, node.timeout_outcome.as_str(), None);
            }
            Ok(false) => {
                let due_at = next_look(turn, node, wait.timeout_at);
                if let Some(due_at) = due_at {
                    let key = turn.key(&attempt);
                    turn.write(Write::LookAgain { key, due_at });
                }
                turn.stand_at(attempt, Activity::Waiting(Wait { due_at, ..wait }));
            }
            Err(failure) => {
                close(turn, &attempt, WaitEnd::Cancelled);
                turn.step_failed(failure, false);
            }
        },
        (WaitKind::Event { .. }, _) => return Err(Refusal::NotWaiting),
    }
    Ok(())
}

/// Hands an event to the wait; whether it was the one it waits for. What is paused takes nothing.
pub(super) fn delivered(turn: &mut Turn<'_>, key: &str, payload: &Arc<Json>) -> bool {
    let Some((attempt, wait)) = waiting(turn).filter(|_| !turn.is_paused()) else { return false };
    if wait.kind.event_key() != Some(key) {
        return false;
    }
    let graph = turn.graph;
    match (&wait.kind, &graph.node(attempt.node).kind) {
        (WaitKind::Handler { .. }, _) => {
            close(turn, &attempt, WaitEnd::Fired { payload: Some(Arc::clone(payload)) });
            resume(turn, attempt, event_resume(key, payload));
            true
        }
        (_, NodeKind::WaitEvent(node)) if matches(turn, node, payload) => {
            fire(turn, EVENT, Some(payload));
            true
        }
        _ => false,
    }
}

/// Looks through the kept signals for one that the wait has been waiting for, and delivers it.
pub(super) fn catch_up(turn: &mut Turn<'_>) {
    let Some((attempt, wait)) = waiting(turn) else { return };
    let Some(key) = wait.kind.event_key() else { return };
    let graph = turn.graph;
    let node = match &graph.node(attempt.node).kind {
        NodeKind::WaitEvent(node) => Some(node.as_ref()),
        _ => None,
    };
    if let Some(payload) = kept(turn, key, node) {
        delivered(turn, key, &payload);
    }
}

/// Ends the wait of the step that the instance stands at, if it has one.
pub(super) fn abandon(turn: &mut Turn<'_>) {
    if let Some((attempt, _)) = waiting(turn) {
        close(turn, &attempt, WaitEnd::Cancelled);
    }
}

/// The step and its wait, where it waits.
pub(super) fn waiting(turn: &Turn<'_>) -> Option<(Attempt, Wait)> {
    match turn.state.life.step() {
        Some(Step { attempt, activity: Activity::Waiting(wait) }) => Some((attempt.clone(), wait.clone())),
        _ => None,
    }
}

fn park(turn: &mut Turn<'_>, attempt: Attempt, wait: Wait, node: Option<&WaitEvent>) {
    if !turn.has_room() {
        let failure = too_many_waits(turn);
        turn.open(&attempt, Opening::Ended(failed(None, failure.clone())));
        turn.fail(attempt.node, Some(attempt), failure);
        return;
    }
    turn.open(&attempt, Opening::Waiting { paused: turn.is_paused() });
    open_wait(turn, &attempt, &wait, node);
    turn.stand_at(attempt, Activity::Waiting(wait));
}

/// No edge leads on from it: whatever came next would want to wait as well.
fn too_many_waits(turn: &Turn<'_>) -> Failure {
    let most = turn.limits.waits;
    let message = format!("the instance has {most} waits, signals and commands, which are the most");
    Failure::fatal(TOO_MANY_WAITS, &message)
}

fn open_wait(turn: &mut Turn<'_>, attempt: &Attempt, wait: &Wait, node: Option<&WaitEvent>) {
    let row = WaitRow {
        kind: wait.kind.clone(),
        due_at: wait.due_at,
        timeout_at: wait.timeout_at,
        matches: node.and_then(|node| node.matches.as_ref()).map(|it| it.source().to_owned()),
        condition: node.and_then(|node| node.condition.as_ref()).map(|it| it.source().to_owned()),
        outcome: node.filter(|node| node.timeout.is_some()).map(|node| node.timeout_outcome.clone()),
        paused: turn.is_paused(),
    };
    let key = turn.key(attempt);
    turn.write(Write::OpenWait { key, row });
}

fn close(turn: &mut Turn<'_>, attempt: &Attempt, how: WaitEnd) {
    let key = turn.key(attempt);
    turn.write(Write::CloseWait { key, how });
}

/// The wait is over, by this outcome.
fn fire(turn: &mut Turn<'_>, outcome: &str, payload: Option<&Arc<Json>>) {
    let Some((attempt, _)) = waiting(turn) else { return };
    close(turn, &attempt, WaitEnd::Fired { payload: payload.cloned() });
    let outcome = Outcome::new(outcome).unwrap_or_else(|_| Outcome::ordinary());
    turn.step_completed(&outcome, payload.map_or(Json::Null, |payload| payload.as_ref().clone()));
}

/// Calls the handler again, with what it waited for.
fn resume(turn: &mut Turn<'_>, attempt: Attempt, with: Json) {
    let with = Arc::new(with);
    turn.move_step(StepMove::Queued { from: turn.now, resume: Some(Arc::clone(&with)) });
    let from = turn.now;
    turn.stand_at(Attempt { resume: Some(with), ..attempt }, Activity::Queued { from });
}

fn event_resume(key: &str, payload: &Arc<Json>) -> Json {
    json!({"kind": EVENT, "key": key, "payload": payload.as_ref()})
}

/// Takes the oldest kept signal that fits.
fn kept(turn: &mut Turn<'_>, key: &str, node: Option<&WaitEvent>) -> Option<Arc<Json>> {
    let place = turn.state.signals.iter().position(|signal| {
        signal.key == key && node.is_none_or(|node| matches(turn, node, &signal.payload))
    })?;
    let signal = turn.state.signals.remove(place);
    turn.write(Write::UseSignal { id: signal.id });
    Some(signal.payload)
}

/// Whether an event is the one that a node waits for. A payload on which the match has no value is another one.
fn matches(turn: &Turn<'_>, node: &WaitEvent, payload: &Json) -> bool {
    node.matches.as_ref().is_none_or(|expression| expression.is_true(&turn.scope(payload)).unwrap_or(false))
}

/// Whether a node's condition holds.
fn holds(turn: &Turn<'_>, node: &WaitEvent) -> Result<bool, Failure> {
    let Some(condition) = &node.condition else { return Ok(false) };
    condition.is_true(&turn.scope(&Json::Null)).map_err(|error| failure_of(&error, EXPRESSION))
}

/// When to look at a wait next.
fn next_look(turn: &Turn<'_>, node: &WaitEvent, timeout_at: Option<Timestamp>) -> Option<Timestamp> {
    let look = node.condition.as_ref().and_then(|_| turn.now.checked_add(node.check_every).ok());
    match (look, timeout_at) {
        (Some(look), Some(timeout_at)) => Some(look.min(timeout_at)),
        (look, timeout_at) => look.or(timeout_at),
    }
}

fn after(turn: &Turn<'_>, length: &Length) -> Result<Timestamp, Failure> {
    let length = match length {
        Length::Fixed(length) => *length,
        Length::Given(template) => {
            parse_length(&text(turn, template)?).map_err(|error| bad_value(&error.to_string()))?
        }
    };
    turn.now.checked_add(length).map_err(|error| bad_value(&error.to_string()))
}

fn time(turn: &Turn<'_>, template: &Template) -> Result<Timestamp, Failure> {
    let time = text(turn, template)?.parse().map_err(|error: jiff::Error| bad_value(&error.to_string()))?;
    Ok(stored(time))
}

fn text(turn: &Turn<'_>, template: &Template) -> Result<String, Failure> {
    match turn.rendered(template) {
        Ok(Json::String(text)) => Ok(text),
        Ok(other) => Err(bad_value(&format!("{other} is no text"))),
        Err(error) => Err(failure_of(&error, BAD_VALUE)),
    }
}

fn bad_value(message: &str) -> Failure {
    Failure::fatal(BAD_VALUE, message)
}

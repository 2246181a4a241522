//! What operators may do (W23). Each is refused where the state forbids it.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::turn::Turn;
use super::{
    Activity, Actor, Attempt, EndStatus, Life, Opening, Refusal, Step, StepEnded, StepMove, Write, decide,
    waiting,
};
use crate::{Outcome, json_bytes};

/// An operator's command.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Stop. What is held goes on to its end.
    Pause,
    /// Go on.
    Resume,
    /// Call it off for good.
    Cancel,
    /// Try the failed step again, or the one that pauses before its next attempt at once.
    Retry,
    /// Go on without the step, by an outcome of its node.
    Skip {
        /// Which.
        outcome: Outcome,
        /// What is to be its output.
        output: Json,
    },
    /// An event for this instance alone. It is kept until something waits for it.
    Signal {
        /// Its key.
        key: String,
        /// What it carries.
        payload: Json,
    },
}

impl Command {
    /// Its name: a stable code.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Cancel => "cancel",
            Self::Retry => "retry",
            Self::Skip { .. } => "skip",
            Self::Signal { .. } => "signal",
        }
    }

    /// What its row says of it: who, and enough to know what was meant.
    fn record(&self, by: &Actor) -> Json {
        let by = by.to_json();
        match self {
            Self::Skip { outcome, .. } => json!({"by": by, "outcome": outcome.as_str()}),
            Self::Signal { key, .. } => json!({"by": by, "key": key}),
            _ => json!({"by": by}),
        }
    }
}

pub(super) fn command(turn: &mut Turn<'_>, command: &Command, by: &Actor) -> Result<(), Refusal> {
    by.check()?;
    let had_room = turn.has_room();
    // It hangs on the step that it met, whatever it makes of that.
    let key = turn.last_key();
    turn.write(Write::RecordCommand { key, name: command.name(), payload: Arc::new(command.record(by)) });
    perform(turn, command)?;
    // Said last: where the state forbids it, that is the better answer.
    if had_room || matches!(command, Command::Cancel) { Ok(()) } else { Err(too_many(turn)) }
}

fn too_many(turn: &Turn<'_>) -> Refusal {
    Refusal::TooManyWaits { most: turn.limits.waits }
}

fn perform(turn: &mut Turn<'_>, command: &Command) -> Result<(), Refusal> {
    match command {
        Command::Pause => pause(turn),
        Command::Resume => resume(turn),
        Command::Cancel => {
            live(turn)?;
            waiting::abandon(turn);
            turn.cancel_step();
            turn.close_waits();
            turn.state.life = Life::Cancelled { at: turn.now };
            Ok(())
        }
        Command::Retry => retry(turn),
        Command::Skip { outcome, output } => skip(turn, outcome, output),
        Command::Signal { key, payload } => signal(turn, key, payload),
    }
}

fn ended(turn: &Turn<'_>) -> Refusal {
    Refusal::Ended { status: turn.state.life.status() }
}

fn live(turn: &Turn<'_>) -> Result<Step, Refusal> {
    turn.state.life.step().cloned().ok_or_else(|| ended(turn))
}

fn pause(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    let step = live(turn)?;
    if turn.is_paused() {
        return Err(Refusal::Paused);
    }
    match step.activity {
        Activity::Held(_) => {}
        Activity::Queued { .. } => turn.move_step(StepMove::Paused),
        Activity::Waiting(_) => {
            turn.move_step(StepMove::Paused);
            let key = turn.key(&step.attempt);
            turn.write(Write::PauseWait { key, paused: true });
        }
    }
    turn.state.life = Life::Paused(step);
    Ok(())
}

fn resume(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    let step = live(turn)?;
    if !turn.is_paused() {
        return Err(Refusal::NotPaused { status: turn.state.life.status() });
    }
    match &step.activity {
        Activity::Held(_) => {}
        Activity::Queued { from } => turn.move_step(StepMove::Queued { from: *from, resume: None }),
        Activity::Waiting(_) => {
            turn.move_step(StepMove::Waiting);
            let key = turn.key(&step.attempt);
            turn.write(Write::PauseWait { key, paused: false });
        }
    }
    turn.state.life = Life::Running(step);
    waiting::catch_up(turn);
    Ok(())
}

fn retry(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    match &turn.state.life {
        Life::Failed { step, .. } => {
            let step = step.clone().ok_or(Refusal::NoStep)?;
            rearm(turn)?;
            let next = turn.perform(Attempt { attempt: step.attempt.saturating_add(1), ..step });
            turn.walk(next);
            Ok(())
        }
        Life::Running(Step { attempt, activity: Activity::Queued { from } }) if *from > turn.now => {
            let (attempt, from) = (attempt.clone(), turn.now);
            turn.move_step(StepMove::Queued { from, resume: None });
            turn.stand_at(attempt, Activity::Queued { from });
            Ok(())
        }
        life => Err(Refusal::NothingToRetry { status: life.status() }),
    }
}

fn skip(turn: &mut Turn<'_>, outcome: &Outcome, output: &Json) -> Result<(), Refusal> {
    let attempt = match &turn.state.life {
        Life::Running(step) | Life::Paused(step) => step.attempt.clone(),
        Life::Failed { step, .. } => step.clone().ok_or(Refusal::NoStep)?,
        Life::Completed { .. } | Life::Cancelled { .. } => return Err(ended(turn)),
    };
    decide::check_payload(turn.limits, output)?;
    let next = turn.graph.node(attempt.node).edge(outcome.as_str());
    let next = next.ok_or_else(|| Refusal::NoSuchOutcome(outcome.clone()))?;
    let skipped = StepEnded {
        status: EndStatus::Skipped,
        outcome: Some(outcome.clone()),
        output: Some(output.clone()),
        failure: None,
    };
    if turn.state.life.step().is_some() {
        waiting::abandon(turn);
        turn.move_step(StepMove::Ended(skipped));
    } else {
        // The failed attempt stays as it ended; the decision is a row of its own.
        rearm(turn)?;
        let attempt = Attempt { attempt: attempt.attempt.saturating_add(1), ..attempt };
        turn.open(&attempt, Opening::Ended(skipped));
    }
    turn.walk(Some(next));
    Ok(())
}

/// Gives an instance that is taken up again its time anew.
fn rearm(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    let timeout = turn.graph.settings().timeout;
    turn.state.deadline = timeout.and_then(|timeout| turn.now.checked_add(timeout).ok());
    if let Some(due_at) = turn.state.deadline {
        if !turn.has_room() {
            return Err(too_many(turn));
        }
        turn.open_deadline(due_at);
    }
    Ok(())
}

fn signal(turn: &mut Turn<'_>, key: &str, payload: &Json) -> Result<(), Refusal> {
    let step = live(turn)?;
    decide::is_key(key)?;
    decide::check_payload(turn.limits, payload)?;
    let payload = Arc::new(payload.clone());
    if waiting::delivered(turn, key, &payload) {
        return Ok(());
    }
    let most = turn.limits.kept_signals;
    if turn.state.signals.len() >= most {
        return Err(Refusal::TooManySignals { most });
    }
    let kept = turn.state.signals.iter().map(|signal| json_bytes(&signal.payload)).sum::<usize>();
    let (bytes, most) = (kept + json_bytes(&payload), turn.limits.kept_signal_bytes);
    if bytes > most {
        return Err(Refusal::SignalsTooLarge { bytes, most });
    }
    if !turn.has_room() {
        return Err(too_many(turn));
    }
    let at = turn.key(&step.attempt);
    turn.write(Write::KeepSignal { key: at, event_key: key.to_owned(), payload });
    Ok(())
}

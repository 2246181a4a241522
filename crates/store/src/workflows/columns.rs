//! A plan's writes as columns: what the adapters that speak SQL share between the rules and their statements.

use std::sync::Arc;

use heddle_workflow::{
    EndStatus, Failure, InstanceRow, NodeId, Outcome, SignalId, StepChange, StepEnded, StepKey, StepMove,
    StepRow, StepSeen, StepStatus, WaitEnd, WaitRow, Write,
};
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::{KeyType, KeyTypes, Morph, Turn};
use crate::StoreError;
use crate::row::time_text;

/// A write to one row, or to a few.
pub(super) enum Change<'a> {
    /// A step run that is still as its turn saw it becomes another.
    Move(MoveStep<'a>),
    /// A new step run.
    Open(Box<StepRow>),
    /// A new row of `workflow_waits`.
    AddWait(AddWait<'a>),
    /// The open wait of a step changes.
    ChangeWait(ChangeWait<'a>),
    /// A kept signal has found its wait.
    UseSignal(&'a SignalId),
    /// Whatever is still open of the instance's waits is cancelled.
    CloseWaits,
}

/// The columns of [`Change::Move`]. What is `None` of `scheduled_for` and `resume` stays as it is.
pub(super) struct MoveStep<'a> {
    pub(super) key: &'a StepKey,
    pub(super) seen: StepStatus,
    pub(super) token: Option<&'a str>,
    pub(super) status: StepStatus,
    pub(super) scheduled_for: Option<Timestamp>,
    pub(super) resume: Option<String>,
    pub(super) outcome: Option<&'a str>,
    pub(super) output: Option<String>,
    pub(super) failure: Option<&'a Failure>,
    pub(super) finished_at: Option<Timestamp>,
}

/// The columns of [`Change::AddWait`].
pub(super) struct AddWait<'a> {
    pub(super) key: &'a StepKey,
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    pub(super) due_at: Option<Timestamp>,
    pub(super) event_key: Option<&'a str>,
    pub(super) matches: Option<String>,
    pub(super) condition: Option<String>,
    pub(super) payload: Option<String>,
    pub(super) outcome: Option<&'a str>,
    pub(super) fired_at: Option<Timestamp>,
}

/// The columns of [`Change::ChangeWait`]. What is `None` of the first three stays as it is.
pub(super) struct ChangeWait<'a> {
    pub(super) key: &'a StepKey,
    pub(super) status: Option<&'static str>,
    pub(super) due_at: Option<Timestamp>,
    pub(super) payload: Option<String>,
    pub(super) fired_at: Option<Timestamp>,
}

impl<'a> Change<'a> {
    /// The columns of a write in a turn at `now`.
    pub(super) fn of(write: &'a Write, now: Timestamp) -> Self {
        let change = |key, status, due_at| {
            Self::ChangeWait(ChangeWait { key, status, due_at, payload: None, fired_at: None })
        };
        match write {
            Write::Step { key, change: StepChange::Move { from, to } } => {
                Self::Move(MoveStep::of(key, from, to, now))
            }
            Write::Step { key, change } => match StepRow::opened(key, change, now) {
                Some(row) => Self::Open(Box::new(row)),
                None => unreachable!("a change of a step opens it or moves it"),
            },
            Write::OpenWait { key, row } => Self::AddWait(AddWait::open(key, row)),
            Write::LookAgain { key, due_at } => change(key, None, Some(*due_at)),
            Write::PauseWait { key, paused } => {
                change(key, Some(if *paused { "paused" } else { "pending" }), None)
            }
            Write::CloseWait { key, how: WaitEnd::Cancelled } => change(key, Some("cancelled"), None),
            Write::CloseWait { key, how: WaitEnd::Fired { payload } } => Self::ChangeWait(ChangeWait {
                key,
                status: Some("fired"),
                due_at: None,
                payload: text(payload.as_deref()),
                fired_at: Some(now),
            }),
            Write::OpenDeadline { key, due_at } => {
                Self::AddWait(AddWait::new(key, "deadline", "pending", Some(*due_at)))
            }
            Write::KeepSignal { key, event_key, payload } => Self::AddWait(AddWait {
                event_key: Some(event_key),
                payload: text(Some(payload)),
                ..AddWait::new(key, "signal", "kept", None)
            }),
            Write::RecordCommand { key, name, payload } => Self::AddWait(AddWait {
                event_key: Some(name),
                payload: text(Some(payload)),
                fired_at: Some(now),
                ..AddWait::new(key, "command", "fired", None)
            }),
            Write::UseSignal { id } => Self::UseSignal(id),
            Write::CloseWaits => Self::CloseWaits,
        }
    }
}

impl<'a> MoveStep<'a> {
    fn of(key: &'a StepKey, from: &'a StepSeen, to: &'a StepMove, now: Timestamp) -> Self {
        const NOTHING: &StepEnded =
            &StepEnded { status: EndStatus::Cancelled, outcome: None, output: None, failure: None };
        let (seen, token) = match from {
            StepSeen::Queued => (StepStatus::Queued, None),
            StepSeen::Held(token) => (StepStatus::Running, Some(token.as_str())),
            StepSeen::Waiting => (StepStatus::Waiting, None),
            StepSeen::Paused => (StepStatus::Paused, None),
        };
        let (status, scheduled_for, resume, ended) = match to {
            StepMove::Queued { from, resume } => {
                (StepStatus::Queued, Some(*from), text(resume.as_deref()), NOTHING)
            }
            StepMove::Waiting => (StepStatus::Waiting, None, None, NOTHING),
            StepMove::Paused => (StepStatus::Paused, None, None, NOTHING),
            StepMove::Ended(ended) => (ended.status.into(), None, None, ended),
        };
        Self {
            key,
            seen,
            token,
            status,
            scheduled_for,
            resume,
            outcome: ended.outcome.as_ref().map(Outcome::as_str),
            output: text(ended.output.as_ref()),
            failure: ended.failure.as_ref(),
            finished_at: status.is_ended().then_some(now),
        }
    }
}

impl<'a> AddWait<'a> {
    const fn new(
        key: &'a StepKey,
        kind: &'static str,
        status: &'static str,
        due_at: Option<Timestamp>,
    ) -> Self {
        Self {
            key,
            kind,
            status,
            due_at,
            event_key: None,
            matches: None,
            condition: None,
            payload: None,
            outcome: None,
            fired_at: None,
        }
    }

    fn open(key: &'a StepKey, row: &'a WaitRow) -> Self {
        let condition = (row.condition.is_some() || row.timeout_at.is_some()).then(|| {
            json!({"expression": row.condition, "timeout_at": row.timeout_at.map(time_text)}).to_string()
        });
        Self {
            event_key: row.kind.event_key(),
            matches: row.matches.as_ref().map(|source| json!(source).to_string()),
            condition,
            outcome: row.outcome.as_ref().map(Outcome::as_str),
            ..Self::new(key, row.kind.name(), if row.paused { "paused" } else { "pending" }, row.due_at)
        }
    }
}

/// The columns of an instance's row that say how it failed: code, message, node.
pub(super) fn failure(row: &InstanceRow) -> (Option<&str>, Option<&str>, Option<&str>) {
    let failure = row.failure.as_ref();
    (
        failure.map(|failure| failure.code.as_str()),
        failure.map(|failure| failure.message.as_str()),
        row.failed_node.as_ref().map(NodeId::as_str),
    )
}

/// The subject's columns: key, type, id.
pub(super) fn subject(row: &InstanceRow) -> [Option<&str>; 3] {
    ["key", "type", "id"].map(|part| row.subject.get(part).and_then(Json::as_str))
}

/// The two halves of a morph pair, type and id.
pub(super) fn halves(morph: Option<&Morph>) -> (Option<&str>, Option<&str>) {
    (morph.map(|morph| morph.kind.as_str()), morph.map(|morph| morph.id.as_str()))
}

/// JSON as its column holds it.
pub(super) fn text(json: Option<&Json>) -> Option<String> {
    json.map(ToString::to_string)
}

/// The same, of what is shared.
pub(super) fn shared_text(json: Option<&Arc<Json>>) -> Option<String> {
    text(json.map(Arc::as_ref))
}

/// Refuses keys that the installation's columns can't hold.
pub(super) fn check_keys(turn: &Turn, keys: KeyTypes) -> Result<(), StoreError> {
    const TABLE: &str = "workflow_instances";
    let Some(new) = &turn.new else { return Ok(()) };
    check_morph(TABLE, "owner_id", keys.owner, new.owner.as_ref())?;
    check_morph(TABLE, "starter_id", keys.morph, new.starter.as_ref())?;
    let [_, _, id] = subject(&turn.plan.row);
    id.map_or(Ok(()), |id| check_key(TABLE, "subject_id", keys.subject, id))
}

/// Refuses a morph pair whose key the column can't hold.
pub(super) fn check_morph(
    table: &'static str,
    column: &'static str,
    key_type: KeyType,
    morph: Option<&Morph>,
) -> Result<(), StoreError> {
    morph.map_or(Ok(()), |morph| check_key(table, column, key_type, &morph.id))
}

fn check_key(
    table: &'static str,
    column: &'static str,
    key_type: KeyType,
    key: &str,
) -> Result<(), StoreError> {
    if key_type.takes(key) {
        return Ok(());
    }
    // A message holds no more of it than a key could.
    let id = key.chars().take(64).collect();
    let reason = format!("is no {key_type}, which keys are here");
    Err(StoreError::BadRow { table, column, id, reason })
}

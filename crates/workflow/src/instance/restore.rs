//! From rows back to a state. Rows are believed only as far as they fit the graph and each other.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::turn::{MAX_STEPS_TAKEN, NO_EDGE};
use super::{
    Activity, Attempt, Lease, Life, Rows, Signal, State, Status, Step, StepRow, StepStatus, Wait, WaitRecord,
    WaitStatus, Waits,
};
use crate::{Graph, NodeId, NodeIndex, Outcome};

/// A row that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a row of {table} is damaged: {reason}")]
pub struct RestoreError {
    /// Its table.
    pub table: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

/// The state that an instance's rows stand for.
pub fn restore(graph: &Graph, rows: &Rows) -> Result<State, RestoreError> {
    let mut visits = BTreeMap::new();
    let mut views = Map::new();
    let mut vars = Map::new();
    for row in &rows.steps {
        let node = find(graph, &row.key.node)?;
        let visit: &mut u32 = visits.entry(node).or_default();
        *visit = row.key.visit.max(*visit);
        if matches!(row.status, StepStatus::Completed | StepStatus::Failed | StepStatus::Skipped) {
            views.insert(row.key.node.to_string(), view(row));
        }
        if let (StepStatus::Completed, "set", Some(Json::Object(set))) =
            (row.status, row.node_type.as_str(), &row.output)
        {
            vars.extend(set.clone());
        }
    }
    let deadline = rows
        .waits
        .iter()
        .filter(|wait| wait.status == WaitStatus::Pending)
        .find_map(|wait| if let Waits::Deadline { due_at } = wait.what { Some(due_at) } else { None });
    Ok(State {
        id: rows.instance.id.clone(),
        life: life(graph, rows)?,
        lock_version: rows.instance.lock_version,
        updated_at: rows.instance.updated_at,
        steps_count: rows.instance.steps_count,
        depth: rows.instance.depth,
        deadline,
        trigger: Arc::clone(&rows.instance.trigger),
        subject: Arc::clone(&rows.instance.subject),
        vars: Arc::new(vars),
        steps: Arc::new(views),
        visits,
        signals: rows.waits.iter().filter_map(signal).collect(),
        waits: rows.waits.len() as u32,
    })
}

fn find(graph: &Graph, node: &NodeId) -> Result<NodeIndex, RestoreError> {
    graph
        .find(node.as_str())
        .ok_or_else(|| damaged("workflow_step_runs", format!("its version has no node {node}")))
}

fn damaged(table: &'static str, reason: impl Into<String>) -> RestoreError {
    RestoreError { table, reason: reason.into() }
}

fn view(row: &StepRow) -> Json {
    let error = row
        .failure
        .as_ref()
        .map(|failure| json!({"code": failure.code.as_str(), "message": failure.message}));
    json!({"output": row.output, "outcome": row.outcome.as_ref().map(Outcome::as_str), "error": error})
}

fn signal(wait: &WaitRecord) -> Option<Signal> {
    match &wait.what {
        Waits::Signal { event_key, payload } if wait.status == WaitStatus::Kept => {
            Some(Signal { id: wait.id.clone(), key: event_key.clone(), payload: Arc::clone(payload) })
        }
        _ => None,
    }
}

fn life(graph: &Graph, rows: &Rows) -> Result<Life, RestoreError> {
    let row = &rows.instance;
    let instance = |reason: &str| damaged("workflow_instances", format!("{} {reason}", row.id));
    let ended_at = || row.ended_at.ok_or_else(|| instance("has ended and doesn't say when"));
    Ok(match row.status {
        Status::Running | Status::Waiting => Life::Running(step(graph, rows)?),
        Status::Paused => Life::Paused(step(graph, rows)?),
        Status::Completed => {
            let output = rows.steps.last().and_then(|step| step.output.clone()).unwrap_or_default();
            Life::Completed { output, at: ended_at()? }
        }
        Status::Cancelled => Life::Cancelled { at: ended_at()? },
        Status::Failed => {
            let failure = row.failure.clone().ok_or_else(|| instance("has failed and doesn't say why"))?;
            let node =
                row.failed_node.as_ref().ok_or_else(|| instance("has failed and doesn't say where"))?;
            let index = find(graph, node)?;
            let step = rows.steps.last().filter(|step| step.key.node == *node);
            // These two failed at no attempt that could be made again.
            let step = step.filter(|_| ![MAX_STEPS_TAKEN, NO_EDGE].contains(&failure.code.as_str()));
            let step = step.map(|step| Attempt::of(step, index, &rows.steps));
            Life::Failed { failure, node: index, step, at: ended_at()? }
        }
    })
}

/// The step that a live instance stands at: the only one that has not ended.
fn step(graph: &Graph, rows: &Rows) -> Result<Step, RestoreError> {
    let mut open = rows.steps.iter().filter(|step| !step.status.is_ended());
    let (Some(row), None) = (open.next(), open.next()) else {
        return Err(damaged(
            "workflow_step_runs",
            format!("{} stands at no step, or at two", rows.instance.id),
        ));
    };
    let missing =
        |what: &str| damaged("workflow_step_runs", format!("{} has no {what}", row.idempotency_key));
    let wait = rows
        .waits
        .iter()
        .find(|wait| wait.step == row.key && wait.wait_kind().is_some() && wait.status.is_open());
    let activity = match (row.status, wait.map(|wait| &wait.what)) {
        (StepStatus::Running, _) => {
            let (token, until) = row.claim.clone().ok_or_else(|| missing("claim"))?;
            Activity::Held(Lease { token, until, since: row.started_at.ok_or_else(|| missing("start"))? })
        }
        (_, Some(Waits::Step { row: wait, .. })) => {
            let (kind, due_at, timeout_at) = (wait.kind.clone(), wait.due_at, wait.timeout_at);
            Activity::Waiting(Wait { kind, due_at, timeout_at })
        }
        (StepStatus::Queued | StepStatus::Paused, _) => {
            Activity::Queued { from: row.scheduled_for.ok_or_else(|| missing("time"))? }
        }
        _ => return Err(missing("wait")),
    };
    let index = find(graph, &row.key.node)?;
    Ok(Step { attempt: Attempt::of(row, index, &rows.steps), activity })
}

//! An instance's rows as every store keeps them, and what a plan does to them. A store in memory keeps these very
//! rows; one that speaks SQL does the same to its own, and is tested against this.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value as Json;

use super::{
    Attempt, EndStatus, Failure, InstanceId, Lease, Life, Opening, Plan, SignalId, State, Status, StepChange,
    StepEnded, StepKey, StepMove, StepSeen, Token, WaitEnd, WaitKind, WaitRow, Write,
};
use crate::{Graph, NodeId, Outcome};

/// The part of `workflow_instances` that turns change (W6).
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceRow {
    /// `ulid`.
    pub id: InstanceId,
    /// `status`.
    pub status: Status,
    /// `current_node_id`.
    pub current_node: Option<NodeId>,
    /// `steps_count`.
    pub steps_count: u32,
    /// `depth`.
    pub depth: u8,
    /// `failure_code` and `failure_message`.
    pub failure: Option<Failure>,
    /// `failed_node_id`.
    pub failed_node: Option<NodeId>,
    /// `ended_at`.
    pub ended_at: Option<Timestamp>,
    /// `lock_version`.
    pub lock_version: u32,
    /// `updated_at`.
    pub updated_at: Timestamp,
    /// `trigger_payload`; never changes.
    pub trigger: Arc<Json>,
    /// The subject's columns, as expressions see them; never change.
    pub subject: Arc<Json>,
}

impl InstanceRow {
    pub(super) fn of(graph: &Graph, state: &State) -> Self {
        let (failure, failed_node, ended_at) = match &state.life {
            Life::Failed { failure, node, at, .. } => {
                (Some(failure.clone()), Some(graph.node(*node).id.clone()), Some(*at))
            }
            Life::Completed { at, .. } | Life::Cancelled { at } => (None, None, Some(*at)),
            Life::Running(_) | Life::Paused(_) => (None, None, None),
        };
        Self {
            id: state.id.clone(),
            status: state.life.status(),
            current_node: state.life.step().map(|step| graph.node(step.attempt.node).id.clone()),
            steps_count: state.steps_count,
            depth: state.depth,
            failure,
            failed_node,
            ended_at,
            lock_version: state.lock_version,
            updated_at: state.updated_at,
            trigger: Arc::clone(&state.trigger),
            subject: Arc::clone(&state.subject),
        }
    }
}

/// A row of `workflow_step_runs` (W7).
#[derive(Debug, Clone, PartialEq)]
pub struct StepRow {
    /// `node_id`, `visit`, `attempt`.
    pub key: StepKey,
    /// `node_type`.
    pub node_type: String,
    /// `status`.
    pub status: StepStatus,
    /// `idempotency_key`.
    pub idempotency_key: String,
    /// `input`.
    pub input: Option<Arc<Json>>,
    /// `output`.
    pub output: Option<Json>,
    /// `resume_signal`.
    pub resume: Option<Arc<Json>>,
    /// `outcome`.
    pub outcome: Option<Outcome>,
    /// `error_code`, `error_message`, `error_retryable`.
    pub failure: Option<Failure>,
    /// `claim_token` and `lease_until`.
    pub claim: Option<(Token, Timestamp)>,
    /// `scheduled_for`.
    pub scheduled_for: Option<Timestamp>,
    /// `started_at`: when it was last taken, or entered.
    pub started_at: Option<Timestamp>,
    /// `finished_at`.
    pub finished_at: Option<Timestamp>,
}

/// The column `status` of a step run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepStatus {
    /// To be taken.
    Queued,
    /// Taken.
    Running,
    /// It waits.
    Waiting,
    /// Held back until the instance is resumed.
    Paused,
    /// Ended well.
    Completed,
    /// Ended in failure.
    Failed,
    /// Its lease ran out.
    Lost,
    /// Somebody went on without it.
    Skipped,
    /// The instance ended around it.
    Cancelled,
}

impl StepStatus {
    /// Every status.
    pub const ALL: [Self; 9] = [
        Self::Queued,
        Self::Running,
        Self::Waiting,
        Self::Paused,
        Self::Completed,
        Self::Failed,
        Self::Lost,
        Self::Skipped,
        Self::Cancelled,
    ];

    /// Its name in the row.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Completed => EndStatus::Completed.name(),
            Self::Failed => EndStatus::Failed.name(),
            Self::Lost => EndStatus::Lost.name(),
            Self::Skipped => EndStatus::Skipped.name(),
            Self::Cancelled => EndStatus::Cancelled.name(),
        }
    }

    /// The status of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Whether it is over, for good.
    pub const fn is_ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Running | Self::Waiting | Self::Paused)
    }
}

impl From<EndStatus> for StepStatus {
    fn from(status: EndStatus) -> Self {
        match status {
            EndStatus::Completed => Self::Completed,
            EndStatus::Failed => Self::Failed,
            EndStatus::Lost => Self::Lost,
            EndStatus::Skipped => Self::Skipped,
            EndStatus::Cancelled => Self::Cancelled,
        }
    }
}

/// A row of `workflow_waits` (W8).
#[derive(Debug, Clone, PartialEq)]
pub struct WaitRecord {
    /// Its row's key, as the store names it.
    pub id: SignalId,
    /// The step it hangs on.
    pub step: StepKey,
    /// `status`.
    pub status: WaitStatus,
    /// `fired_at`.
    pub fired_at: Option<Timestamp>,
    /// What it is.
    pub what: Waits,
}

/// What a row of `workflow_waits` is there for.
#[derive(Debug, Clone, PartialEq)]
pub enum Waits {
    /// A step's wait, with the payload that it got.
    Step {
        /// As it was opened, but that `due_at` moves and the status says whether it is held back.
        row: WaitRow,
        /// `payload`.
        payload: Option<Arc<Json>>,
    },
    /// The instance's time limit.
    Deadline {
        /// `due_at`.
        due_at: Timestamp,
    },
    /// A signal that came before its wait.
    Signal {
        /// `event_key`.
        event_key: String,
        /// `payload`.
        payload: Arc<Json>,
    },
    /// A command that was accepted (W31). Nothing ever comes of it: it is born `fired`, at the time of its turn.
    Command {
        /// Which: `event_key`.
        name: String,
        /// `payload`: who gave it, `by`, which is null for the engine, and what else there is to say of it.
        payload: Arc<Json>,
    },
}

impl Waits {
    /// The column `kind`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Step { row, .. } => row.kind.name(),
            Self::Deadline { .. } => "deadline",
            Self::Signal { .. } => "signal",
            Self::Command { .. } => "command",
        }
    }

    /// The column `due_at`.
    pub const fn due_at(&self) -> Option<Timestamp> {
        match self {
            Self::Step { row, .. } => row.due_at,
            Self::Deadline { due_at } => Some(*due_at),
            Self::Signal { .. } | Self::Command { .. } => None,
        }
    }
}

/// The column `status` of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitStatus {
    /// It may fire.
    Pending,
    /// Held back until the instance is resumed.
    Paused,
    /// A signal that nothing has waited for yet.
    Kept,
    /// It has fired; a signal has found its wait.
    Fired,
    /// Nobody waits any longer.
    Cancelled,
}

impl WaitStatus {
    /// Every status.
    pub const ALL: [Self; 5] = [Self::Pending, Self::Paused, Self::Kept, Self::Fired, Self::Cancelled];

    /// Its name in the row.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Paused => "paused",
            Self::Kept => "kept",
            Self::Fired => "fired",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Whether something may still come of it.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Paused | Self::Kept)
    }
}

/// All rows of one instance, steps and waits in the order in which they were made.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// The instance.
    pub instance: InstanceRow,
    /// Its step runs.
    pub steps: Vec<StepRow>,
    /// Its waits, deadline, signals and commands.
    pub waits: Vec<WaitRecord>,
}

/// The rows are not what the plan was made on: it has to be made again on what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the rows have changed since the plan was made")]
pub struct Conflict;

impl Rows {
    /// The rows of a new instance. `name` names each new row of a wait.
    pub fn created(plan: &Plan, mut name: impl FnMut() -> SignalId) -> Result<Self, Conflict> {
        let mut rows = Self { instance: plan.row.clone(), steps: Vec::new(), waits: Vec::new() };
        rows.write(plan, &mut name)?;
        Ok(rows)
    }

    /// Performs a plan, all of it or nothing.
    pub fn apply(&mut self, plan: &Plan, mut name: impl FnMut() -> SignalId) -> Result<(), Conflict> {
        *self = self.after(plan, &mut name)?;
        Ok(())
    }

    /// What they are after a plan.
    pub fn after(&self, plan: &Plan, mut name: impl FnMut() -> SignalId) -> Result<Self, Conflict> {
        if Some(self.instance.lock_version) != plan.guard() {
            return Err(Conflict);
        }
        let (steps, waits) = (self.steps.clone(), self.waits.clone());
        let mut after = Self { instance: plan.row.clone(), steps, waits };
        after.write(plan, &mut name)?;
        Ok(after)
    }

    fn write(&mut self, plan: &Plan, name: &mut impl FnMut() -> SignalId) -> Result<(), Conflict> {
        plan.writes.iter().try_for_each(|write| self.write_one(write, plan.at, name))
    }

    fn write_one(
        &mut self,
        write: &Write,
        now: Timestamp,
        name: &mut impl FnMut() -> SignalId,
    ) -> Result<(), Conflict> {
        let mut add = |step: &StepKey, status: WaitStatus, what: Waits| WaitRecord {
            id: name(),
            step: step.clone(),
            status,
            fired_at: None,
            what,
        };
        match write {
            Write::Step { key, change } => return self.write_step(key, change, now),
            Write::OpenWait { key, row } => {
                let status = if row.paused { WaitStatus::Paused } else { WaitStatus::Pending };
                // From here on the status says it.
                let row = WaitRow { paused: false, ..row.clone() };
                let wait = add(key, status, Waits::Step { row, payload: None });
                self.waits.push(wait);
            }
            Write::LookAgain { key, due_at: again } => {
                if let Waits::Step { row, .. } = &mut self.open_wait(key)?.what {
                    row.due_at = Some(*again);
                }
            }
            Write::PauseWait { key, paused } => {
                let wait = self.open_wait(key)?;
                wait.status = if *paused { WaitStatus::Paused } else { WaitStatus::Pending };
            }
            Write::CloseWait { key, how } => {
                let wait = self.open_wait(key)?;
                match (how, &mut wait.what) {
                    (WaitEnd::Fired { payload: got }, Waits::Step { payload, .. }) => {
                        wait.status = WaitStatus::Fired;
                        wait.fired_at = Some(now);
                        payload.clone_from(got);
                    }
                    _ => wait.status = WaitStatus::Cancelled,
                }
            }
            Write::OpenDeadline { key, due_at } => {
                let wait = add(key, WaitStatus::Pending, Waits::Deadline { due_at: *due_at });
                self.waits.push(wait);
            }
            Write::KeepSignal { key, event_key, payload } => {
                let what = Waits::Signal { event_key: event_key.clone(), payload: Arc::clone(payload) };
                let wait = add(key, WaitStatus::Kept, what);
                self.waits.push(wait);
            }
            Write::RecordCommand { key, name, payload } => {
                let what = Waits::Command { name: (*name).to_owned(), payload: Arc::clone(payload) };
                let given = WaitRecord { fired_at: Some(now), ..add(key, WaitStatus::Fired, what) };
                self.waits.push(given);
            }
            Write::UseSignal { id } => {
                let is_it = |wait: &&mut WaitRecord| wait.id == *id && wait.status == WaitStatus::Kept;
                let wait = self.waits.iter_mut().find(is_it).ok_or(Conflict)?;
                wait.status = WaitStatus::Fired;
                wait.fired_at = Some(now);
            }
            Write::CloseWaits => {
                for wait in self.waits.iter_mut().filter(|wait| wait.status.is_open()) {
                    wait.status = WaitStatus::Cancelled;
                }
            }
        }
        Ok(())
    }

    /// The open wait of a step; there is never more than one.
    fn open_wait(&mut self, key: &StepKey) -> Result<&mut WaitRecord, Conflict> {
        let is_it = |wait: &&mut WaitRecord| {
            wait.step == *key && matches!(wait.what, Waits::Step { .. }) && wait.status.is_open()
        };
        self.waits.iter_mut().find(is_it).ok_or(Conflict)
    }

    fn write_step(&mut self, key: &StepKey, change: &StepChange, now: Timestamp) -> Result<(), Conflict> {
        let place = self.steps.iter().position(|step| step.key == *key);
        if place.is_none()
            && let Some(row) = StepRow::opened(key, change, now)
        {
            self.steps.push(row);
            return Ok(());
        }
        match (change, place) {
            (StepChange::Move { from, to }, Some(place)) => {
                let row = &mut self.steps[place];
                if !row.is(from) {
                    return Err(Conflict);
                }
                row.shift(to, now);
                Ok(())
            }
            _ => Err(Conflict),
        }
    }
}

impl StepRow {
    /// A new row, where the change opens one.
    pub fn opened(key: &StepKey, change: &StepChange, now: Timestamp) -> Option<Self> {
        let StepChange::Open { node_type, idempotency_key, input, resume, opening } = change else {
            return None;
        };
        let mut row = Self {
            key: key.clone(),
            node_type: node_type.clone(),
            status: StepStatus::Queued,
            idempotency_key: idempotency_key.clone(),
            input: input.clone(),
            output: None,
            resume: resume.clone(),
            outcome: None,
            failure: None,
            claim: None,
            scheduled_for: None,
            started_at: None,
            finished_at: None,
        };
        row.open(opening, now);
        Some(row)
    }

    fn is(&self, seen: &StepSeen) -> bool {
        match seen {
            StepSeen::Queued => self.status == StepStatus::Queued,
            StepSeen::Waiting => self.status == StepStatus::Waiting,
            StepSeen::Paused => self.status == StepStatus::Paused,
            StepSeen::Held(token) => {
                self.status == StepStatus::Running
                    && self.claim.as_ref().is_some_and(|claim| claim.0 == *token)
            }
        }
    }

    fn open(&mut self, opening: &Opening, now: Timestamp) {
        match opening {
            Opening::Queued { from, paused } => {
                self.status = if *paused { StepStatus::Paused } else { StepStatus::Queued };
                self.scheduled_for = Some(*from);
            }
            Opening::Held(lease) => self.hold(lease),
            Opening::Waiting { paused } => {
                self.status = if *paused { StepStatus::Paused } else { StepStatus::Waiting };
                self.started_at = Some(now);
            }
            Opening::Ended(ended) => {
                self.started_at = Some(now);
                self.end(ended, now);
            }
        }
    }

    fn shift(&mut self, to: &StepMove, now: Timestamp) {
        self.claim = None;
        match to {
            StepMove::Queued { from, resume } => {
                self.status = StepStatus::Queued;
                self.scheduled_for = Some(*from);
                if resume.is_some() {
                    self.resume.clone_from(resume);
                }
            }
            StepMove::Waiting => self.status = StepStatus::Waiting,
            StepMove::Paused => self.status = StepStatus::Paused,
            StepMove::Ended(ended) => self.end(ended, now),
        }
    }

    /// Somebody takes it.
    pub fn hold(&mut self, lease: &Lease) {
        self.status = StepStatus::Running;
        self.claim = Some((lease.token.clone(), lease.until));
        self.scheduled_for = self.scheduled_for.or(Some(lease.since));
        self.started_at = Some(lease.since);
    }

    fn end(&mut self, ended: &StepEnded, now: Timestamp) {
        self.status = ended.status.into();
        self.outcome.clone_from(&ended.outcome);
        self.output.clone_from(&ended.output);
        self.failure.clone_from(&ended.failure);
        self.finished_at = Some(now);
    }
}

impl WaitRecord {
    /// The event's key that it may fire by.
    pub fn event_key(&self) -> Option<&str> {
        match &self.what {
            Waits::Step { row, .. } => row.kind.event_key(),
            Waits::Signal { event_key, .. } => Some(event_key),
            Waits::Deadline { .. } | Waits::Command { .. } => None,
        }
    }

    pub(super) const fn wait_kind(&self) -> Option<&WaitKind> {
        match &self.what {
            Waits::Step { row, .. } => Some(&row.kind),
            _ => None,
        }
    }
}

impl Attempt {
    pub(super) fn of(row: &StepRow, node: crate::NodeIndex, steps: &[StepRow]) -> Self {
        let lost = steps.iter().filter(|other| {
            other.key.node == row.key.node
                && other.key.visit == row.key.visit
                && other.status == StepStatus::Lost
        });
        Self {
            node,
            visit: row.key.visit,
            attempt: row.key.attempt,
            lost: lost.count() as u16,
            input: row.input.clone(),
            resume: row.resume.clone(),
        }
    }
}

//! What a turn comes to: the state after it, and the rows that change with it.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value as Json;

use super::{
    Activity, Actor, Attempt, Failure, InstanceId, InstanceRow, Lease, Life, SignalId, State, Token, WaitKind,
};
use crate::{NodeId, Outcome, json_bytes};

/// A turn, complete. A store performs all of it in one transaction, or nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The instance after it, but for a signal that it keeps: that one is there when the rows are read again, under
    /// the key that the store gives it.
    pub state: State,
    /// Its row.
    pub row: InstanceRow,
    /// The other rows, in the order in which to write them.
    pub writes: Vec<Write>,
    /// Who did it.
    pub by: Actor,
    /// When, as the rows have it: later than every turn before.
    pub at: Timestamp,
}

impl Plan {
    /// The version that the instance's row must have for this plan to hold; `None` for a new one.
    pub const fn guard(&self) -> Option<u32> {
        self.state.lock_version.checked_sub(1)
    }

    /// Whether it leaves a step that anybody may take at once.
    pub fn leaves_work(&self) -> bool {
        matches!(&self.state.life, Life::Running(step)
            if matches!(step.activity, Activity::Queued { from } if from <= self.at))
    }

    /// Gives the step that the plan leaves to somebody in the same commit, and says which it is. `None`, and no change,
    /// where it leaves none.
    pub fn claim(&mut self, token: &Token, until: Timestamp) -> Option<Attempt> {
        if !self.leaves_work() {
            return None;
        }
        let Life::Running(step) = &mut self.state.life else { return None };
        let lease = Lease { token: token.clone(), until, since: self.at };
        // What is left was opened by this plan's last step write; a plan that only moved an old row is left alone.
        let opened = self.writes.iter_mut().rev().find_map(|write| match write {
            Write::Step { key, change: StepChange::Open { opening, .. } }
                if key.visit == step.attempt.visit && key.attempt == step.attempt.attempt =>
            {
                Some(opening)
            }
            _ => None,
        });
        match opened {
            Some(opening @ Opening::Queued { paused: false, .. }) => {
                *opening = Opening::Held(lease.clone());
                step.activity = Activity::Held(lease);
                Some(step.attempt.clone())
            }
            _ => None,
        }
    }
}

/// A row's change.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// A step run's.
    Step {
        /// Which one.
        key: StepKey,
        /// What becomes of it.
        change: StepChange,
    },
    /// The wait of the step that the instance stands at.
    OpenWait {
        /// The step.
        key: StepKey,
        /// The wait.
        row: WaitRow,
    },
    /// That wait again: when to look at it next.
    LookAgain {
        /// The step.
        key: StepKey,
        /// When.
        due_at: Timestamp,
    },
    /// That wait again: held back, or not any longer.
    PauseWait {
        /// The step.
        key: StepKey,
        /// Which.
        paused: bool,
    },
    /// The end of that wait.
    CloseWait {
        /// The step.
        key: StepKey,
        /// How.
        how: WaitEnd,
    },
    /// The instance's time limit begins; it hangs on the trigger's step.
    OpenDeadline {
        /// The trigger's step.
        key: StepKey,
        /// When time is up.
        due_at: Timestamp,
    },
    /// A signal that came before its wait; it hangs on the step that the instance stood at.
    KeepSignal {
        /// The step.
        key: StepKey,
        /// The event's key.
        event_key: String,
        /// What it carries.
        payload: Arc<Json>,
    },
    /// A kept signal has found its wait.
    UseSignal {
        /// Its row.
        id: SignalId,
    },
    /// Somebody has given a command, which was accepted; it hangs on the step that the instance stood at.
    RecordCommand {
        /// The step.
        key: StepKey,
        /// The command's name.
        name: &'static str,
        /// Who gave it, `by`, and what else there is to say of it.
        payload: Arc<Json>,
    },
    /// The instance is over: whatever is still open of its waits, deadline and signals is cancelled.
    CloseWaits,
}

impl Write {
    /// Whether it makes a new row of `workflow_waits`.
    pub const fn opens_wait(&self) -> bool {
        matches!(
            self,
            Self::OpenWait { .. }
                | Self::OpenDeadline { .. }
                | Self::KeepSignal { .. }
                | Self::RecordCommand { .. }
        )
    }

    /// How many bytes of values it writes; the rest of a row is small.
    pub(super) fn bytes(&self) -> usize {
        let shared = |json: &Option<Arc<Json>>| json.as_deref().map_or(0, json_bytes);
        let ended = |ended: &StepEnded| {
            ended.output.as_ref().map_or(0, json_bytes)
                + ended.failure.as_ref().map_or(0, |failure| failure.message.len())
        };
        match self {
            Self::Step { change: StepChange::Open { input, resume, opening, .. }, .. } => {
                let end = if let Opening::Ended(end) = opening { ended(end) } else { 0 };
                shared(input) + shared(resume) + end
            }
            Self::Step { change: StepChange::Move { to, .. }, .. } => match to {
                StepMove::Queued { resume, .. } => shared(resume),
                StepMove::Ended(end) => ended(end),
                StepMove::Waiting | StepMove::Paused => 0,
            },
            Self::CloseWait { how: WaitEnd::Fired { payload }, .. } => shared(payload),
            Self::KeepSignal { payload, .. } | Self::RecordCommand { payload, .. } => json_bytes(payload),
            Self::OpenWait { .. }
            | Self::LookAgain { .. }
            | Self::PauseWait { .. }
            | Self::CloseWait { how: WaitEnd::Cancelled, .. }
            | Self::OpenDeadline { .. }
            | Self::UseSignal { .. }
            | Self::CloseWaits => 0,
        }
    }
}

/// A step run's row within its instance: `wstep_attempt_unique`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepKey {
    /// The node.
    pub node: NodeId,
    /// The visit, from 1.
    pub visit: u32,
    /// The attempt, from 1.
    pub attempt: u16,
}

impl StepKey {
    /// `wf:{ulid}:{node}:{visit}`: the same for every attempt of a visit, and for no other.
    pub fn idempotency_key(&self, instance: &InstanceId) -> String {
        format!("wf:{instance}:{}:{}", self.node, self.visit)
    }
}

/// What becomes of a step run's row.
#[derive(Debug, Clone, PartialEq)]
pub enum StepChange {
    /// It is new.
    Open {
        /// The column `node_type`.
        node_type: String,
        /// `wf:{ulid}:{node}:{visit}`, the same for every attempt of a visit.
        idempotency_key: String,
        /// What the handler is given.
        input: Option<Arc<Json>>,
        /// The signal or timeout that last resumed this visit.
        resume: Option<Arc<Json>>,
        /// What it is like at first.
        opening: Opening,
    },
    /// It changes. Only a row that is still as the plan saw it may.
    Move {
        /// As the plan saw it.
        from: StepSeen,
        /// What it becomes.
        to: StepMove,
    },
}

/// What a new step run is like.
#[derive(Debug, Clone, PartialEq)]
pub enum Opening {
    /// To be taken.
    Queued {
        /// From when on.
        from: Timestamp,
        /// Not before the instance is resumed.
        paused: bool,
    },
    /// Taken.
    Held(Lease),
    /// It waits.
    Waiting {
        /// Not before the instance is resumed.
        paused: bool,
    },
    /// It is over already: nodes without outside effects end in the turn that enters them.
    Ended(StepEnded),
}

/// What a step run's row was like when the plan was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepSeen {
    /// To be taken.
    Queued,
    /// Held under this token.
    Held(Token),
    /// Waiting.
    Waiting,
    /// Held back.
    Paused,
}

/// What a step run's row becomes.
#[derive(Debug, Clone, PartialEq)]
pub enum StepMove {
    /// To be taken, again or sooner.
    Queued {
        /// From when on.
        from: Timestamp,
        /// What resumed it, if it was resumed.
        resume: Option<Arc<Json>>,
    },
    /// It waits.
    Waiting,
    /// It is held back.
    Paused,
    /// It is over.
    Ended(StepEnded),
}

/// The end of a step run.
#[derive(Debug, Clone, PartialEq)]
pub struct StepEnded {
    /// How.
    pub status: EndStatus,
    /// By which outcome the instance goes on.
    pub outcome: Option<Outcome>,
    /// What came of it.
    pub output: Option<Json>,
    /// Why it failed.
    pub failure: Option<Failure>,
}

/// How a step run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndStatus {
    /// Well.
    Completed,
    /// In failure.
    Failed,
    /// Its lease ran out; nobody knows what came of it.
    Lost,
    /// Somebody went on without it.
    Skipped,
    /// The instance ended around it.
    Cancelled,
}

impl EndStatus {
    /// The column `status` of a step run.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Lost => "lost",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A new wait's row.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitRow {
    /// What kind.
    pub kind: WaitKind,
    /// When to look at it.
    pub due_at: Option<Timestamp>,
    /// When its patience ends.
    pub timeout_at: Option<Timestamp>,
    /// The match's source.
    pub matches: Option<String>,
    /// The condition's source.
    pub condition: Option<String>,
    /// The outcome of a timeout.
    pub outcome: Option<Outcome>,
    /// Not before the instance is resumed.
    pub paused: bool,
}

/// How a wait ends.
#[derive(Debug, Clone, PartialEq)]
pub enum WaitEnd {
    /// It fired.
    Fired {
        /// What its event carried.
        payload: Option<Arc<Json>>,
    },
    /// Nobody waits any longer.
    Cancelled,
}

//! The one transition function. [`decide`] says what a command does to a run; the store does it, in one
//! transaction guarded by the status, phase and attempt that were decided on.

use jiff::Timestamp;

use crate::run::stored;
use crate::{AutoConfirm, Edge, Phase, Run, RunEnd, State, Status, UserSub};

/// What somebody wants of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// A worker's word that an attempt has ended (G6). The only way to completion.
    Report {
        /// The attempt it speaks for.
        attempt: u32,
        /// How that attempt ended.
        end: RunEnd,
    },
    /// Call the run off (G8).
    Cancel,
    /// Remove the run from sight; one that is alive is cancelled by it (G13).
    Delete,
}

/// What a command comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// The row changes.
    Apply(Change),
    /// A word that no longer matters. Nothing changes, and that is no error: delivery is at least once.
    Ignore(Ignored),
}

/// A change of a row, complete: what isn't named here stays.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The state it moves to, or stays in.
    pub state: State,
    /// Whether the row leaves sight with it (`deleted_at` = `at`, `deleted_by` = `by`).
    pub deleted: bool,
    /// `updated_at`.
    pub at: Timestamp,
    /// `updated_by`.
    pub by: UserSub,
}

impl Change {
    /// The run as the change leaves it.
    pub fn applied_to(&self, run: &Run) -> Run {
        Run { state: self.state.clone(), updated_at: self.at, updated_by: self.by.clone(), ..run.clone() }
    }
}

/// Why a worker's word changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Ignored {
    /// It speaks for an attempt that a newer one has replaced.
    #[error("attempt {present} has replaced the one that this report speaks for")]
    Superseded {
        /// The row's attempt.
        present: u32,
    },
    /// A worker's word has already ended the run.
    #[error("the run was already reported {status}")]
    Repeat {
        /// As what.
        status: Status,
    },
    /// People ended the run before this word came.
    #[error("the run was {status} before this report came")]
    Late {
        /// How.
        status: Status,
    },
}

impl Ignored {
    /// A stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Superseded { .. } => "superseded",
            Self::Repeat { .. } => "repeat",
            Self::Late { .. } => "late",
        }
    }
}

/// Why a command is not obeyed: the present state forbids it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A cancel of a run that has ended.
    #[error("the run is {status}; only a processing run can be cancelled")]
    Ended {
        /// How.
        status: Status,
    },
    /// A cancel of a wf2des run that a worker is at.
    #[error(
        "the run is processing ({phase}); a wf2des run can be cancelled only while it awaits confirmation"
    )]
    NotAtCheckpoint {
        /// Its phase.
        phase: Phase,
    },
    /// A report for an attempt that was never sent out.
    #[error("the run is at attempt {present}, and this report speaks for a later one")]
    AttemptAhead {
        /// The row's attempt.
        present: u32,
    },
    /// A report that a wf2des run is complete before anybody confirmed its parse.
    #[error("the run is processing ({phase}); it can't be completed before its parse is confirmed")]
    NotConfirmed {
        /// Its phase.
        phase: Phase,
    },
}

impl Refusal {
    /// A stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Ended { .. } => "run_ended",
            Self::NotAtCheckpoint { .. } => "not_at_checkpoint",
            Self::AttemptAhead { .. } => "attempt_ahead",
            Self::NotConfirmed { .. } => "not_confirmed",
        }
    }
}

/// Whether a run still listens to reports of `attempt`: `Some` with the reason where it doesn't. [`decide`] asks
/// the same, so that a caller may ask before it reads the manifest for nothing.
pub fn deaf_to(run: &Run, attempt: u32) -> Result<Option<Ignored>, Refusal> {
    if attempt > run.attempt {
        return Err(Refusal::AttemptAhead { present: run.attempt });
    }
    if attempt < run.attempt {
        return Ok(Some(Ignored::Superseded { present: run.attempt }));
    }
    Ok(match run.state.status() {
        Status::Processing => None,
        status @ (Status::Completed | Status::Failed) => Some(Ignored::Repeat { status }),
        status @ (Status::Rejected | Status::Cancelled) => Some(Ignored::Late { status }),
    })
}

/// What `command`, given by `by` at `now`, does to `run`.
pub fn decide(run: &Run, command: &Command, by: &UserSub, now: Timestamp) -> Result<Decision, Refusal> {
    let (state, deleted) = match command {
        Command::Report { attempt, end } => {
            if let Some(why) = deaf_to(run, *attempt)? {
                return Ok(Decision::Ignore(why));
            }
            (reported(run, end)?, false)
        }
        Command::Cancel => (cancelled(run)?, false),
        Command::Delete => match run.state {
            State::Processing { .. } => (State::Cancelled, true),
            _ => (run.state.clone(), true),
        },
    };
    // A clock that was set back must not make a row older than it was.
    let at = stored(now).max(run.updated_at);
    Ok(Decision::Apply(Change { state, deleted, at, by: by.clone() }))
}

/// The state that the end of a live run's present attempt leads to.
fn reported(run: &Run, end: &RunEnd) -> Result<State, Refusal> {
    match end {
        RunEnd::Completed { result_url, flag_count, score } => {
            let one_shot = run.edge == Edge::Des2wf || run.auto_confirm == AutoConfirm::Auto;
            match run.state.phase() {
                Some(phase @ (Phase::Parse | Phase::AwaitingConfirm)) if !one_shot => {
                    Err(Refusal::NotConfirmed { phase })
                }
                _ => Ok(State::Completed {
                    result_url: result_url.clone(),
                    flag_count: *flag_count,
                    score: score.clone(),
                    materialized_at: None,
                    feedback: None,
                }),
            }
        }
        RunEnd::Failed { error_message, result_url } => {
            Ok(State::Failed { error_message: error_message.clone(), result_url: result_url.clone() })
        }
    }
}

/// The state that a cancel leads to (G8).
fn cancelled(run: &Run) -> Result<State, Refusal> {
    match (&run.state, run.edge) {
        (State::Processing { .. }, Edge::Des2wf)
        | (State::Processing { phase: Phase::AwaitingConfirm }, Edge::Wf2des) => Ok(State::Cancelled),
        (State::Processing { phase }, Edge::Wf2des) => Err(Refusal::NotAtCheckpoint { phase: *phase }),
        (ended, _) => Err(Refusal::Ended { status: ended.status() }),
    }
}

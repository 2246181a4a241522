//! Why an event is not let in. Nothing changes then.

use jiff::Timestamp;

use super::Status;
use super::turn::TOO_MANY_WAITS;
use crate::{Outcome, TextError};

/// Why the present state forbids an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The caller had another version in mind.
    #[error("the instance has changed: its version is {present}")]
    Changed {
        /// Its version.
        present: u32,
    },
    /// The instance is over.
    #[error("the instance is {status}")]
    Ended {
        /// How.
        status: Status,
    },
    /// A pause of what is paused, or work for it.
    #[error("the instance is paused")]
    Paused,
    /// A resume of what isn't paused.
    #[error("the instance is {status}; only a paused one can be resumed")]
    NotPaused {
        /// What it is.
        status: Status,
    },
    /// A retry where nothing failed.
    #[error("the instance is {status}; there is nothing to retry")]
    NothingToRetry {
        /// What it is.
        status: Status,
    },
    /// A retry or skip of an instance that failed before it entered a node.
    #[error("the instance failed at no step that could be taken up again")]
    NoStep,
    /// An outcome that the node has no edge for.
    #[error("the node has no edge for the outcome {0}")]
    NoSuchOutcome(Outcome),
    /// Word from somebody who no longer holds the step.
    #[error("the step is no longer held under this token")]
    LeaseLost,
    /// A lease that still holds, or a time that hasn't come.
    #[error("it is not due yet")]
    NotDue,
    /// An event that nothing waits for, and that isn't addressed to this instance.
    #[error("the instance doesn't wait for this event")]
    NotWaiting,
    /// A payload that is too large.
    #[error("the payload has {bytes} bytes; {most} are the most")]
    PayloadTooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// A payload that is nested too deeply.
    #[error("the payload is nested deeper than {most} levels")]
    PayloadTooNested {
        /// The limit.
        most: usize,
    },
    /// An event's key that is empty, too long, or has a control character in it.
    #[error("an event's key has 1 to 191 characters, and no control characters")]
    BadKey,
    /// A subject or actor that can't be kept.
    #[error(transparent)]
    BadText(#[from] TextError),
    /// Too many signals wait for their wait.
    #[error("{most} signals are waiting for their wait already")]
    TooManySignals {
        /// The limit.
        most: usize,
    },
    /// The signals that wait for their wait are too large together.
    #[error("signals of {bytes} bytes would be waiting for their wait; {most} are the most")]
    SignalsTooLarge {
        /// How large they would be.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// The instance has as many waits, signals and commands as one may have.
    #[error(
        "the instance has {most} waits, signals and commands, which are the most; it can only be cancelled"
    )]
    TooManyWaits {
        /// The limit.
        most: u32,
    },
    /// As many instances of the definition as may start in a while have started (W29).
    #[error("the definition's start rate is used up until {again_at}")]
    StartRate {
        /// From when on another one may start.
        again_at: Timestamp,
    },
    /// Instances nested too deeply.
    #[error("instances are nested {most} deep at most")]
    TooDeep {
        /// The limit.
        most: u8,
    },
}

impl Refusal {
    /// A stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Changed { .. } => "changed",
            Self::Ended { .. } => "ended",
            Self::Paused => "paused",
            Self::NotPaused { .. } => "not_paused",
            Self::NothingToRetry { .. } => "nothing_to_retry",
            Self::NoStep => "no_step",
            Self::NoSuchOutcome(_) => "no_such_outcome",
            Self::LeaseLost => "lease_lost",
            Self::NotDue => "not_due",
            Self::NotWaiting => "not_waiting",
            Self::PayloadTooLarge { .. } => "payload_too_large",
            Self::PayloadTooNested { .. } => "payload_too_nested",
            Self::BadKey => "bad_key",
            Self::BadText(_) => TextError::CODE,
            Self::TooManySignals { .. } | Self::SignalsTooLarge { .. } => "too_many_signals",
            Self::TooManyWaits { .. } => TOO_MANY_WAITS,
            Self::StartRate { .. } => "start_rate",
            Self::TooDeep { .. } => "too_deep",
        }
    }
}

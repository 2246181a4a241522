//! An instance: one walk through a graph, and what is known of it between two turns.
//!
//! [`start`] makes one and [`decide`] moves it; both give a [`Plan`], which a store performs in one transaction. The
//! same functions serve live work, recovery and simulation. An instance has one token: it stands at one step, or it
//! has ended.

mod command;
mod decide;
mod id;
mod plan;
mod refusal;
mod restore;
mod rows;
mod turn;
mod waiting;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value as Json};

use crate::{Code, MAX_ID_CHARS, MAX_KEY_CHARS, MAX_TYPE_CHARS, NodeIndex, TextError, check_text};

pub use command::Command;
pub use decide::{Event, Start, StepEnd, check_payload, decide, start, stored};
pub use id::*;
pub use plan::*;
pub use refusal::Refusal;
pub use restore::{RestoreError, restore};
pub use rows::*;

/// What holds for every instance of an installation (W30).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Largest payload, output and set of variables, in bytes of JSON.
    pub payload_bytes: usize,
    /// Largest evaluated config, in bytes of JSON: `steps_input.max_bytes`.
    pub input_bytes: usize,
    /// What the expressions of one turn may cost together, in units: a unit is one visit of a node of an expression's
    /// tree, or sixteen bytes of what is made. A turn is what an instance does in one commit.
    pub turn_units: u64,
    /// Most nodes that one turn enters.
    pub turn_steps: u32,
    /// Most bytes of inputs, outputs and payloads that one turn writes.
    pub turn_bytes: usize,
    /// Most signals that wait for their wait, per instance.
    pub kept_signals: usize,
    /// Most bytes of JSON that these have together.
    pub kept_signal_bytes: usize,
    /// Most rows of waits, signals and commands, per instance, whatever became of them. What would open one more
    /// wait fails the instance; a command beyond them is refused, unless it is to cancel.
    pub waits: u32,
    /// Most leases that may be lost in one visit of a node before it counts as failed: what kills one worker after
    /// another has to end.
    pub lost_leases: u16,
    /// Deepest nesting of instances.
    pub depth: u8,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            payload_bytes: 256 * 1024,
            input_bytes: 64 * 1024,
            turn_units: 1_000_000,
            turn_steps: 1_000,
            turn_bytes: 4 * 1024 * 1024,
            kept_signals: 100,
            kept_signal_bytes: 1024 * 1024,
            waits: 10_000,
            lost_leases: 10,
            depth: 8,
        }
    }
}

/// What is known of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Its public id.
    pub id: InstanceId,
    /// Where it stands.
    pub life: Life,
    /// Raised by every turn.
    pub lock_version: u32,
    /// When its last turn was. Every turn is at least a microsecond after the one before, whatever the clocks say: the
    /// rows of an instance are in order by time.
    pub updated_at: Timestamp,
    /// How many steps it has taken; another attempt is not another step.
    pub steps_count: u32,
    /// How deep it is nested.
    pub depth: u8,
    /// When it is out of time.
    pub deadline: Option<Timestamp>,
    /// What started it.
    pub trigger: Arc<Json>,
    /// What it is about.
    pub subject: Arc<Json>,
    /// What `set` nodes have set.
    pub vars: Arc<Map<String, Json>>,
    /// Each node's last run, as expressions see it: `output`, `outcome`, `error`.
    pub steps: Arc<Map<String, Json>>,
    /// How often each node was entered.
    pub visits: BTreeMap<NodeIndex, u32>,
    /// Signals that came before their wait, oldest first.
    pub signals: Vec<Signal>,
    /// How many rows it has of waits, signals and commands.
    pub waits: u32,
}

/// What an instance is about: `subject_key` and the morph pair. Expressions see `key`, `type` and `id`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// The subject's kind in the host's registry.
    pub key: Option<String>,
    /// The record's type.
    pub kind: Option<String>,
    /// The record's key.
    pub id: Option<String>,
}

impl Subject {
    /// Refuses one that rows can't keep.
    pub fn check(&self) -> Result<(), TextError> {
        let sound = |what, part: &Option<String>, most| {
            part.as_deref().map_or(Ok(()), |part| check_text(what, part, most))
        };
        sound("a subject's key", &self.key, MAX_KEY_CHARS)?;
        sound("a subject's type", &self.kind, MAX_TYPE_CHARS)?;
        sound("a subject's id", &self.id, MAX_ID_CHARS)
    }

    /// As expressions see it.
    pub fn to_json(&self) -> Json {
        serde_json::json!({"key": self.key, "type": self.kind, "id": self.id})
    }
}

/// Where an instance stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Life {
    /// It goes on by itself.
    Running(Step),
    /// Somebody stopped it. A step that is held goes on to its end, and the next one waits for the resume.
    Paused(Step),
    /// It came to an end.
    Completed {
        /// What came of it.
        output: Json,
        /// When.
        at: Timestamp,
    },
    /// It failed.
    Failed {
        /// Why.
        failure: Failure,
        /// The node that failed.
        node: NodeIndex,
        /// Its last attempt, which a retry follows; none where the node was never entered.
        step: Option<Attempt>,
        /// When.
        at: Timestamp,
    },
    /// Somebody called it off.
    Cancelled {
        /// When.
        at: Timestamp,
    },
}

impl Life {
    /// The column `status`.
    pub const fn status(&self) -> Status {
        match self {
            Self::Running(Step { activity: Activity::Waiting(_), .. }) => Status::Waiting,
            Self::Running(_) => Status::Running,
            Self::Paused(_) => Status::Paused,
            Self::Completed { .. } => Status::Completed,
            Self::Failed { .. } => Status::Failed,
            Self::Cancelled { .. } => Status::Cancelled,
        }
    }

    /// The step it stands at, while it is alive.
    pub const fn step(&self) -> Option<&Step> {
        match self {
            Self::Running(step) | Self::Paused(step) => Some(step),
            _ => None,
        }
    }
}

/// One attempt of one visit of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The node.
    pub node: NodeIndex,
    /// Which visit, from 1.
    pub visit: u32,
    /// Which attempt of it, from 1.
    pub attempt: u16,
    /// How many attempts of this visit ended with their lease.
    pub lost: u16,
    /// What the handler is given; none where it could not be worked out.
    pub input: Option<Arc<Json>>,
    /// The signal or timeout that last resumed this visit's handler.
    pub resume: Option<Arc<Json>>,
}

/// The step that an instance stands at.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Which attempt it is.
    pub attempt: Attempt,
    /// What happens with it.
    pub activity: Activity,
}

/// What happens with a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Activity {
    /// Whoever comes may take it.
    Queued {
        /// From when on.
        from: Timestamp,
    },
    /// Somebody has it.
    Held(Lease),
    /// It waits.
    Waiting(Wait),
}

/// Somebody's claim on a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Fresh for every claim; only who shows it may write.
    pub token: Token,
    /// Until when it holds.
    pub until: Timestamp,
    /// Since when.
    pub since: Timestamp,
}

/// What a step waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// What kind of wait it is.
    pub kind: WaitKind,
    /// When to look at it again.
    pub due_at: Option<Timestamp>,
    /// When its patience ends.
    pub timeout_at: Option<Timestamp>,
}

/// The kinds of waits: the column `kind`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitKind {
    /// A `delay` node.
    Delay,
    /// A `wait_event` node.
    Event {
        /// The event's key, if it waits for one.
        key: Option<String>,
    },
    /// A handler that asked to be called again.
    Handler {
        /// The event's key.
        key: String,
    },
}

impl WaitKind {
    /// The column `kind`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Delay => "delay",
            Self::Event { .. } => "event",
            Self::Handler { .. } => "handler",
        }
    }

    /// The column `event_key`.
    pub fn event_key(&self) -> Option<&str> {
        match self {
            Self::Delay => None,
            Self::Event { key } => key.as_deref(),
            Self::Handler { key } => Some(key),
        }
    }
}

/// A signal that came before its wait.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    /// Its row.
    pub id: SignalId,
    /// The event's key.
    pub key: String,
    /// What it carries.
    pub payload: Arc<Json>,
}

/// Why something failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// A stable code.
    pub code: Code,
    /// In words, for operators.
    pub message: String,
    /// Whether the same could go well another time.
    pub retryable: bool,
}

impl Failure {
    /// Longest message that is kept, in characters.
    pub const MAX_MESSAGE_CHARS: usize = 4_000;

    /// A failure; of a longer message the beginning is kept. U+0000, which not every database keeps in a text, is
    /// replaced.
    pub fn new(code: Code, message: &str, retryable: bool) -> Self {
        let kept = message.chars().take(Self::MAX_MESSAGE_CHARS);
        let message =
            kept.map(|char| if char == '\0' { char::REPLACEMENT_CHARACTER } else { char }).collect();
        Self { code, message, retryable }
    }

    pub(crate) fn fatal(code: &'static str, message: &str) -> Self {
        Self::new(Code::of(code), message, false)
    }
}

/// The column `status` of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// At a step that is queued or held.
    Running,
    /// At a step that waits.
    Waiting,
    /// Stopped by somebody.
    Paused,
    /// Ended well.
    Completed,
    /// Ended in failure.
    Failed,
    /// Called off.
    Cancelled,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 6] =
        [Self::Running, Self::Waiting, Self::Paused, Self::Completed, Self::Failed, Self::Cancelled];

    /// Its name in the row.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Whether it is over. A failed instance can be taken up again by a retry.
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

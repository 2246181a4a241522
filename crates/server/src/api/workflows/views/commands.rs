//! What people do to instances.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{InstanceFilterBody, InstanceStatusName};
use crate::extract::Unknown;

/// What every command takes.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct CommandBody {
    /// The `lock_version` that you saw: the command is refused where the instance has changed since.
    pub(crate) expected_version: Option<u32>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) unknown: Unknown,
}

/// A signal.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct SignalBody {
    /// The event's key.
    #[schema(max_length = 191)]
    pub(crate) key: String,
    /// What it carries: any JSON, `event` in expressions.
    #[serde(default)]
    pub(crate) payload: Value,
    /// The `lock_version` that you saw: the signal is refused where the instance has changed since.
    pub(crate) expected_version: Option<u32>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) unknown: Unknown,
}

/// Going on without a step.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct SkipBody {
    /// By which outcome of the node; `default`, where nobody says.
    pub(crate) outcome: Option<String>,
    /// What is to be the step's output: any JSON.
    #[serde(default)]
    pub(crate) output: Value,
    /// The `lock_version` that you saw: the command is refused where the instance has changed since.
    pub(crate) expected_version: Option<u32>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) unknown: Unknown,
}

/// What may be done to many instances at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BatchCommand {
    Pause,
    Resume,
    Cancel,
    Retry,
    Skip,
    Signal,
}

/// A command for every instance that a filter finds, a page at a time.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct BatchBody {
    /// What to do.
    pub(crate) command: BatchCommand,
    /// To which instances. An empty one means all of them, but see `key`.
    pub(crate) filter: InstanceFilterBody,
    /// To how many at most, 1 to 100; 100 where it is left out.
    #[schema(minimum = 1, maximum = 100)]
    pub(crate) limit: Option<u16>,
    /// The `next_cursor` of the answer before.
    pub(crate) cursor: Option<String>,
    /// By which outcome to skip; `default`, where nobody says.
    pub(crate) outcome: Option<String>,
    /// What is to be the output of skipped steps.
    #[serde(default)]
    pub(crate) output: Value,
    /// The key of a signal.
    #[schema(max_length = 191)]
    pub(crate) key: Option<String>,
    /// What a signal carries.
    #[serde(default)]
    pub(crate) payload: Value,
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) unknown: Unknown,
}

/// What came of a batch.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchResult {
    /// How many did it.
    pub(crate) done: usize,
    /// How many were refused.
    pub(crate) refused: usize,
    /// Each instance's own answer.
    pub(crate) results: Vec<BatchEntry>,
    /// There may be more: send the same again with it as `cursor`.
    pub(crate) next_cursor: Option<String>,
}

/// What came of it for one instance.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchEntry {
    /// The instance.
    pub(crate) id: String,
    /// Whether it is done.
    pub(crate) done: bool,
    /// Where it stands now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<InstanceStatusName>)]
    pub(crate) status: Option<&'static str>,
    /// Why it was refused, stable and short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<&'static str>,
    /// The same for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
}

/// An event for whatever waits for it.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct EventBody {
    /// Its key.
    #[schema(max_length = 191)]
    pub(crate) key: String,
    /// What it carries: any JSON, `event` in expressions.
    #[serde(default)]
    pub(crate) payload: Value,
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) unknown: Unknown,
}

/// What came of an event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Emitted {
    /// How many instances took it.
    pub(crate) taken: usize,
}

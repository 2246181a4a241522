//! Instances and their lives.

use heddle_generation::OrganizationId;
use heddle_store::workflows::{Happening, InstanceSummary, TimelineEntry};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{RecordView, TriggerView, text};
use crate::extract::Unknown;
use crate::people::People;

/// Where an instance stands.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "names the values for the API's description")]
pub(crate) enum InstanceStatusName {
    Running,
    Waiting,
    Paused,
    Completed,
    Failed,
    Cancelled,
}

/// A request to start an instance.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct StartInstance {
    /// The workflow's key; its current version is run.
    #[schema(max_length = 100)]
    pub(crate) key: String,
    /// What the instance is given: any JSON, `trigger` in its expressions; an empty object, where nobody says.
    #[serde(default = "nothing")]
    pub(crate) trigger: Value,
    /// What it is about.
    pub(crate) subject: Option<SubjectBody>,
    /// A key under which there is one instance, however often it is asked for; the header `Idempotency-Key` says it as
    /// well.
    #[schema(max_length = 255)]
    pub(crate) idempotency_key: Option<String>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) unknown: Unknown,
}

fn nothing() -> Value {
    Value::Object(serde_json::Map::new())
}

/// What an instance is about.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct SubjectBody {
    /// The kind of record, in your registry of subjects.
    #[schema(max_length = 100)]
    pub(crate) key: Option<String>,
    /// The record's type.
    #[serde(rename = "type")]
    #[schema(max_length = 100)]
    pub(crate) kind: Option<String>,
    /// The record's key, of the type that the installation has for them.
    #[schema(max_length = 64)]
    pub(crate) id: Option<String>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) unknown: Unknown,
}

/// Which instances.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct InstanceFilterBody {
    /// Of this workflow; where it is left out, of your organization's first 1,000 by their keys.
    #[schema(max_length = 100)]
    pub(crate) key: Option<String>,
    /// In one of these statuses; any, where there are none.
    #[serde(default)]
    #[schema(value_type = Vec<InstanceStatusName>)]
    pub(crate) status: Vec<String>,
    /// About a record of this type; goes with `subject_id`.
    #[schema(max_length = 100)]
    pub(crate) subject_type: Option<String>,
    /// About the record with this key.
    #[schema(max_length = 64)]
    pub(crate) subject_id: Option<String>,
    /// Started then or later.
    #[schema(format = DateTime)]
    pub(crate) started_from: Option<String>,
    /// Started before.
    #[schema(format = DateTime)]
    pub(crate) started_before: Option<String>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) unknown: Unknown,
}

/// An instance: one walk through a workflow.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Instance {
    /// Its id.
    id: String,
    /// The tenant.
    organization_id: i64,
    /// Its workflow's key.
    key: String,
    /// The number of the version that it runs, from its start to its end.
    version: u32,
    /// Where it stands.
    #[schema(value_type = InstanceStatusName)]
    status: &'static str,
    /// The node that it stands at.
    current_node: Option<String>,
    /// How many steps it has taken.
    steps_count: u32,
    /// How deep it is nested.
    depth: u8,
    /// What started it.
    trigger: TriggerView,
    /// Who started it.
    starter: Option<RecordView>,
    /// What it is about.
    subject: Option<SubjectView>,
    /// Why it failed.
    failure: Option<FailureView>,
    /// When it was started.
    #[schema(format = DateTime)]
    started_at: String,
    /// When it ended.
    #[schema(format = DateTime)]
    ended_at: Option<String>,
    /// When it last changed.
    #[schema(format = DateTime)]
    updated_at: String,
    /// Raised by every change; what commands take as `expected_version`.
    lock_version: u32,
}

/// What an instance is about.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SubjectView {
    key: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
}

/// Why something failed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FailureView {
    /// A stable code.
    code: String,
    /// The same for people.
    message: String,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    /// Whether the same could go well another time.
    #[serde(skip_serializing_if = "Option::is_none")]
    retryable: Option<bool>,
}

impl Instance {
    pub(crate) fn of(instance: InstanceSummary, organization: OrganizationId, people: &People) -> Self {
        let subject = instance.subject;
        let is_about = subject.key.is_some() || subject.kind.is_some() || subject.id.is_some();
        let node = instance.failed_node.map(|node| node.to_string());
        Self {
            id: instance.id.to_string(),
            organization_id: organization.0,
            key: instance.definition,
            version: instance.version_number,
            status: instance.status.name(),
            current_node: instance.current_node.map(|node| node.to_string()),
            steps_count: instance.steps_count,
            depth: instance.depth,
            trigger: TriggerView { kind: instance.trigger.0, key: instance.trigger.1 },
            starter: instance.starter.map(|starter| RecordView::of(starter, people)),
            subject: is_about.then_some(SubjectView { key: subject.key, kind: subject.kind, id: subject.id }),
            failure: instance.failure.map(|failure| FailureView {
                code: failure.code.to_string(),
                message: failure.message,
                node,
                retryable: None,
            }),
            started_at: instance.started_at.to_string(),
            ended_at: text(instance.ended_at),
            updated_at: instance.updated_at.to_string(),
            lock_version: instance.lock_version,
        }
    }
}

/// An instance, with what it was given and what came of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InstanceDetail {
    #[serde(flatten)]
    pub(crate) instance: Instance,
    /// What it was given.
    pub(crate) payload: Value,
    /// What came of it, once it is completed.
    pub(crate) output: Option<Value>,
}

/// One page of instances, newest first. It may be short, or empty, and still have a next one: only so many instances are
/// looked at for a page.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InstancePage {
    /// The instances.
    pub(crate) items: Vec<Instance>,
    /// Give it as `cursor` for the next page; null on the last one.
    pub(crate) next_cursor: Option<String>,
}

/// What has happened to an instance, in order.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Timeline {
    /// The entries.
    pub(crate) items: Vec<TimelineView>,
    /// Give it as `cursor` for the next page; null on the last one.
    pub(crate) next_cursor: Option<String>,
}

/// One thing that has happened, as it is now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TimelineView {
    /// `step`: an attempt at a step. `command`: what somebody did. Else a wait: `delay`, `event`, `handler`; the instance's
    /// time limit: `deadline`; or a signal that came before its wait: `signal`.
    kind: &'static str,
    /// When it began.
    #[schema(format = DateTime)]
    at: String,
    /// The node that it is about.
    node: String,
    /// The node's visit, from 1.
    visit: u32,
    /// The attempt within the visit, from 1.
    attempt: u16,
    /// What has become of it.
    status: &'static str,
    /// The node's type, of a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    node_type: Option<String>,
    /// What was done, of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// Who did it, of a command; left out where it was the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<RecordView>,
    /// By which outcome the instance went on, of a step or a skip.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
    /// Why it failed, of a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<FailureView>,
    /// The event that it is about, of a wait or signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_key: Option<String>,
    /// When a wait is looked at again, or is over; when a step may be taken.
    #[schema(format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    due_at: Option<String>,
    /// When a step was last taken, or entered.
    #[schema(format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<String>,
    /// When a step ended, a wait fired, or a signal found its wait.
    #[schema(format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
}

impl TimelineView {
    pub(crate) fn of(entry: TimelineEntry, people: &People) -> Self {
        let view = Self {
            kind: "step",
            at: entry.at.to_string(),
            node: entry.step.node.to_string(),
            visit: entry.step.visit,
            attempt: entry.step.attempt,
            status: "",
            node_type: None,
            command: None,
            by: None,
            outcome: None,
            error: None,
            event_key: None,
            due_at: None,
            started_at: None,
            ended_at: None,
        };
        match entry.what {
            Happening::Step {
                node_type,
                status,
                outcome,
                failure,
                scheduled_for,
                started_at,
                finished_at,
            } => Self {
                status: status.name(),
                node_type: Some(node_type),
                outcome: outcome.map(|outcome| outcome.to_string()),
                error: failure.map(|failure| FailureView {
                    code: failure.code.to_string(),
                    message: failure.message,
                    node: None,
                    retryable: Some(failure.retryable),
                }),
                due_at: text(scheduled_for),
                started_at: text(started_at),
                ended_at: text(finished_at),
                ..view
            },
            Happening::Wait { kind, event_key, due_at, status, fired_at } => Self {
                kind: kind.name(),
                status: status.name(),
                event_key,
                due_at: text(due_at),
                ended_at: text(fired_at),
                ..view
            },
            Happening::Command { name, by, event_key, outcome } => Self {
                kind: "command",
                status: "done",
                command: Some(name),
                event_key,
                outcome,
                by: by.map(|by| RecordView::of(by, people)),
                ..view
            },
        }
    }
}

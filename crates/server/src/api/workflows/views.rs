//! What goes over the wire about workflows: the one place where they become JSON.

use heddle_generation::OrganizationId;
use heddle_store::workflows::{
    DefinitionSummary, Happening, InstanceSummary, Morph, OverlayCount, TimelineEntry, VersionSummary,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::extract::Unknown;
use crate::people::People;
use crate::problem::FindingBody;

/// A graph to be looked at.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ValidateWorkflow {
    /// The graph.
    #[schema(value_type = Object)]
    pub(crate) document: Value,
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) unknown: Unknown,
}

/// What there is to say of a graph.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Validation {
    /// Whether it could be published: nothing of it is an error.
    pub(crate) sound: bool,
    /// The fingerprint of its canonical form, where it has one.
    pub(crate) checksum: Option<String>,
    /// All of it.
    pub(crate) findings: Vec<FindingBody>,
}

/// A graph to be published.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct PublishWorkflow {
    /// The graph.
    #[schema(value_type = Object)]
    pub(crate) document: Value,
    /// What the workflow is called: said when it is first published, and its key where nobody says.
    #[schema(max_length = 200)]
    pub(crate) name: Option<String>,
    /// The checksum that the current version must have, empty for none, so that nobody overwrites another's work.
    pub(crate) expected_checksum: Option<String>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) unknown: Unknown,
}

/// A published version.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PublishedWorkflow {
    /// The workflow's key.
    pub(crate) key: String,
    /// The version's number. The same graph as the current version's is no new version.
    pub(crate) version: u32,
    /// The fingerprint of the graph's canonical form.
    pub(crate) checksum: String,
    /// Warnings.
    pub(crate) findings: Vec<FindingBody>,
}

/// A workflow.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Workflow {
    /// Its key.
    key: String,
    /// Its name.
    name: String,
    /// `published`.
    status: &'static str,
    /// The number of the version that new instances run.
    version: Option<u32>,
    /// That version's checksum.
    checksum: Option<String>,
    /// When it last changed.
    #[schema(format = DateTime)]
    updated_at: String,
}

impl From<DefinitionSummary> for Workflow {
    fn from(definition: DefinitionSummary) -> Self {
        let (version, checksum) = definition.current.map(|it| (it.number, it.checksum)).unzip();
        Self {
            key: definition.key,
            name: definition.name,
            status: definition.status.name(),
            version,
            checksum,
            updated_at: definition.updated_at.to_string(),
        }
    }
}

/// A workflow with the graph that new instances run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkflowDetail {
    #[serde(flatten)]
    pub(crate) workflow: Workflow,
    /// The graph.
    #[schema(value_type = Object)]
    pub(crate) document: Option<Value>,
}

/// One page of workflows, by their keys.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkflowPage {
    /// The workflows.
    pub(crate) items: Vec<Workflow>,
    /// Give it as `cursor` for the next page; null on the last one.
    pub(crate) next_cursor: Option<String>,
}

/// A version of a workflow.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkflowVersion {
    /// Its number, from 1.
    number: u32,
    /// `published`, or `superseded` by a later one.
    status: &'static str,
    /// The fingerprint of its graph's canonical form.
    checksum: String,
    /// As whom its instances' steps act.
    actor_mode: &'static str,
    /// What starts it.
    trigger: TriggerView,
    /// When it was published.
    #[schema(format = DateTime)]
    published_at: Option<String>,
    /// Who published it.
    publisher: Option<RecordView>,
}

impl WorkflowVersion {
    pub(crate) fn of(version: VersionSummary, people: &People) -> Self {
        Self {
            number: version.number,
            status: version.status.name(),
            checksum: version.checksum,
            actor_mode: version.actor_mode.name(),
            trigger: TriggerView { kind: Some(version.trigger.0), key: version.trigger.1 },
            published_at: text(version.published_at),
            publisher: version.publisher.map(|publisher| RecordView::of(publisher, people)),
        }
    }
}

/// A version of a workflow, with its graph.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkflowVersionDetail {
    #[serde(flatten)]
    pub(crate) version: WorkflowVersion,
    /// The graph.
    #[schema(value_type = Object)]
    pub(crate) document: Value,
}

/// One page of versions, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkflowVersionPage {
    /// The versions.
    pub(crate) items: Vec<WorkflowVersion>,
    /// Give it as `cursor` for the next page; null on the last one.
    pub(crate) next_cursor: Option<String>,
}

/// Where the live instances of a version stand.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Overlay {
    /// How many there are.
    live: u64,
    /// How many at which node, in which status.
    counts: Vec<OverlayEntry>,
}

/// Live instances at one node, in one status.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OverlayEntry {
    /// The node.
    node: String,
    /// The status.
    #[schema(value_type = InstanceStatusName)]
    status: &'static str,
    /// How many.
    count: u64,
}

impl From<Vec<OverlayCount>> for Overlay {
    fn from(counts: Vec<OverlayCount>) -> Self {
        let entry = |it: &OverlayCount| OverlayEntry {
            node: it.node.to_string(),
            status: it.status.name(),
            count: it.count,
        };
        Self { live: counts.iter().map(|it| it.count).sum(), counts: counts.iter().map(entry).collect() }
    }
}

/// A record of somebody's: its type and its key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordView {
    /// Its type.
    #[serde(rename = "type")]
    kind: String,
    /// Its key.
    id: String,
}

impl RecordView {
    fn of(morph: Morph, people: &People) -> Self {
        let Morph { kind, id } = people.shown(morph);
        Self { kind, id }
    }
}

/// What starts instances.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TriggerView {
    /// `manual` or `event`.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// The event's key.
    key: Option<String>,
}

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
    #[schema(max_length = 191)]
    pub(crate) kind: Option<String>,
    /// The record's key, of the type that the installation has for them.
    pub(crate) id: Option<String>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) unknown: Unknown,
}

/// Which instances.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct InstanceFilterBody {
    /// Of this workflow.
    pub(crate) key: Option<String>,
    /// In one of these statuses; any, where there are none.
    #[serde(default)]
    #[schema(value_type = Vec<InstanceStatusName>)]
    pub(crate) status: Vec<String>,
    /// About a record of this type; goes with `subject_id`.
    pub(crate) subject_type: Option<String>,
    /// About the record with this key.
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
    /// `step`: an attempt at a step. Else a wait: `delay`, `event`, `handler`; the instance's time limit: `deadline`; or
    /// a signal that came before its wait: `signal`.
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
    /// By which outcome the instance went on, of a step.
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

impl From<TimelineEntry> for TimelineView {
    fn from(entry: TimelineEntry) -> Self {
        let view = Self {
            kind: "step",
            at: entry.at.to_string(),
            node: entry.step.node.to_string(),
            visit: entry.step.visit,
            attempt: entry.step.attempt,
            status: "",
            node_type: None,
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
        }
    }
}

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
    /// To which instances. An empty one means all of them.
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

fn text(at: Option<Timestamp>) -> Option<String> {
    at.map(|at| at.to_string())
}

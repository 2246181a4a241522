//! Graphs and what is published of them.

use heddle_store::workflows::{DefinitionSummary, OverlayCount, VersionSummary};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{InstanceStatusName, RecordView, TriggerView, text};
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

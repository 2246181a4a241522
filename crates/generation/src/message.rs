//! What server and worker say to each other: the [`Job`] on the queue, the [`Manifest`] beside the artifacts,
//! the [`Report`] to the `ai-status` webhook.
//!
//! Every message carries the version of its schema. A reader refuses a version that it does not know and never
//! guesses. Delivery is at least once and out of order (G14), so each message names the run and its attempt.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Edge, keys};

/// Schema of [`Job`].
pub const JOB_SCHEMA: &str = "heddle.generation.job/v1";
/// Schema of [`Manifest`].
pub const MANIFEST_SCHEMA: &str = "heddle.generation.manifest/v1";
/// Schema of [`Report`].
pub const REPORT_SCHEMA: &str = "heddle.generation.report/v1";

/// The step of a run that a worker is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobPhase {
    /// Read the source. On des2wf, and on an auto-confirmed wf2des, the same job goes on to the end.
    Parse,
    /// Assemble what was confirmed (wf2des only).
    Assemble,
}

/// Where the worker finds the Figma document of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// The worker's own source of Figma files (a folder, or Figma itself), by the job's file key and node id.
    Figma,
    /// A document that the caller uploaded: an object of the exchange.
    Upload {
        /// Its object key.
        object_key: String,
        /// SHA-256 of its bytes, in hex.
        sha256: String,
    },
}

/// One piece of work on the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// [`JOB_SCHEMA`].
    pub schema: String,
    /// The row's id.
    pub job_id: String,
    /// The fencing counter that this job was sent under, from 1.
    pub attempt: u32,
    /// The edge.
    pub edge: Edge,
    /// The step asked for.
    pub phase: JobPhase,
    /// Tenant.
    pub organization_id: i64,
    /// Tenant's project.
    pub project_id: i64,
    /// The Figma file.
    pub figma_file_key: String,
    /// The input node.
    pub wf_node_id: String,
    /// Screen id; on des2wf the source node id.
    pub screen_id: String,
    /// Optional prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Optional placement node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement_target: Option<String>,
    /// Whether parse and assembly are one call.
    pub auto_confirm: bool,
    /// Where the document is.
    pub source: Source,
    /// When the run was created. A later run of the same node and edge has a later time, whatever the clocks did, so
    /// that what all runs of a node share is written in their order. `None`: of a server that did not say so yet,
    /// and older than every run that does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_created_at: Option<Timestamp>,
}

impl Job {
    /// Its place among all that write what the runs of its node share: by the run's creation, then, where that is not
    /// known, by its id, then by the attempt. To be compared byte by byte.
    pub fn write_order(&self) -> String {
        let created = self.run_created_at.map_or(0, |at| at.as_microsecond().max(0));
        format!("{created:020}/{}/{:010}", keys::component(&self.job_id), self.attempt)
    }
}

/// One artifact in the [`Manifest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Object key.
    pub key: String,
    /// SHA-256 of the bytes, in hex.
    pub sha256: String,
    /// Length in bytes.
    pub bytes: u64,
    /// Media type.
    pub media_type: String,
}

/// How a run's attempt ended, as the worker sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Done; the result is in the artifacts.
    Completed,
    /// Could not be done; `error_message` says why.
    Failed,
}

/// What the row `wf2des` may take from a manifest: a whitelist (D18). A field beyond it is refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowEffects {
    /// How it ended.
    pub outcome: Outcome,
    /// Object key of the terminal result or failure artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_url: Option<String>,
    /// What the client may read of a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// Copy of `confidence.flag_count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flag_count: Option<u32>,
    /// Copy of the score, 0..=1 with four decimals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Version of the score's formula; present exactly where `score` is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_version: Option<String>,
}

/// The effects of a run by table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effects {
    /// Effects on the row.
    pub wf2des: RowEffects,
}

/// The index of a run's artifacts (D18).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`MANIFEST_SCHEMA`].
    pub schema: String,
    /// The row's id.
    pub job_id: String,
    /// The attempt that wrote it.
    pub attempt: u32,
    /// The edge.
    pub edge: Edge,
    /// Artifacts by name (`parse`, `result`, `wireframe`, `snapshot`, `source_svg`, `preview_png` …).
    pub artifacts: BTreeMap<String, Artifact>,
    /// What the rows may take.
    pub row_effects: Effects,
    /// Milliseconds by stage of the work.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub timings_ms: BTreeMap<String, f64>,
    /// When the worker wrote it.
    pub written_at: Timestamp,
}

/// The body of `POST /internal/ai-status`: a pointer to a manifest, never the effects themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// [`REPORT_SCHEMA`].
    pub schema: String,
    /// The row's id.
    pub job_id: String,
    /// The attempt it speaks for.
    pub attempt: u32,
    /// The edge.
    pub edge: Edge,
    /// Object key of the manifest.
    pub manifest_key: String,
    /// SHA-256 of the manifest's bytes, in hex.
    pub manifest_sha256: String,
}

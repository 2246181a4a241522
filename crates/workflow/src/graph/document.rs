//! The document as it is written: loose parts, each read by itself so that one bad part doesn't hide the others.

use serde::Deserialize;
use serde_json::Value as Json;

/// What a graph document calls its schema.
pub const SCHEMA_VERSION: &str = "roundly.workflows.graph/v1";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) schema_version: String,
    pub(super) nodes: Vec<Json>,
    #[serde(default)]
    pub(super) edges: Vec<Json>,
    #[serde(default)]
    pub(super) settings: Option<Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Node {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) type_name: String,
    #[serde(default)]
    pub(super) config: Option<Json>,
    #[serde(default)]
    pub(super) retry: Option<Json>,
    #[serde(default)]
    pub(super) timeout: Option<String>,
    /// Read with escalations themselves (W20).
    #[serde(default)]
    #[expect(dead_code, reason = "a place that is kept, and that nothing acts on yet")]
    pub(super) escalations: Option<Vec<Json>>,
    /// For editors.
    #[serde(default)]
    #[expect(dead_code, reason = "for editors alone")]
    pub(super) position: Option<Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edge {
    pub(super) from: String,
    #[serde(default = "default_outcome")]
    pub(super) outcome: String,
    pub(super) to: String,
}

fn default_outcome() -> String {
    crate::DEFAULT.to_owned()
}

//! The documents that a run leaves, made whole before the first of them is written.

use heddle_exchange::ORDER_FIELD;
use heddle_exchange::keys::{ContentHash, des2wf_wireframe_id, wf2des_wireframe_id};
use heddle_generation::Edge;
use heddle_generation::message::Job;
use serde_json::{Value, json};

use crate::failure::Trouble;

/// The result document, whole.
pub(crate) fn result(job: &Job, source_hash: &ContentHash, mut document: Value) -> Value {
    scope(&mut document, job);
    document["_id"] = Value::from(job.job_id.as_str());
    document["attempt"] = Value::from(job.attempt);
    document["source_hash"] = Value::from(source_hash.as_str());
    document
}

/// The wireframe document, whole.
pub(crate) fn wireframe(job: &Job, mut document: Value) -> Value {
    scope(&mut document, job);
    document["_id"] = Value::from(wireframe_id(job));
    document["job_id"] = Value::from(job.job_id.as_str());
    document["attempt"] = Value::from(job.attempt);
    document[ORDER_FIELD] = Value::from(job.write_order());
    document
}

/// `_id` of the wireframe of a job's node (D4).
pub(crate) fn wireframe_id(job: &Job) -> String {
    match job.edge {
        Edge::Des2wf => des2wf_wireframe_id(job.project_id, &job.figma_file_key, &job.wf_node_id),
        Edge::Wf2des => wf2des_wireframe_id(job.project_id, &job.figma_file_key, &job.wf_node_id),
    }
}

/// Fails where something takes more bytes than can be kept.
pub(crate) fn fits(bytes: usize, most: usize) -> Result<(), Trouble> {
    const MIB: usize = 1024 * 1024;
    if bytes <= most {
        return Ok(());
    }
    Err(Trouble::permanent(format!(
        "This frame is too large: what is made of it takes {} MiB in one piece, and {} MiB is the most that can be \
         kept. Convert a smaller frame.",
        bytes.div_ceil(MIB),
        most / MIB
    )))
}

/// Gives a document its tenant and its place in Figma.
fn scope(document: &mut Value, job: &Job) {
    if !document.is_object() {
        *document = json!({});
    }
    document["organization_id"] = Value::from(job.organization_id);
    document["project_id"] = Value::from(job.project_id);
    document["figma_file_key"] = Value::from(job.figma_file_key.as_str());
    document["node_id"] = Value::from(job.wf_node_id.as_str());
}

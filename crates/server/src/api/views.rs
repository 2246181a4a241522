//! What goes over the wire about runs: the one place where the run becomes JSON.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use heddle_generation::{AutoConfirm, FeedbackStatus, Phase, Run, RunId, Score};
use heddle_store::{Cursor, Page};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::extract::Unknown;

/// A request to generate.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct CreateGeneration {
    /// Which way: `des2wf`, a wireframe of a design, or `wf2des`, a design of a wireframe.
    #[schema(value_type = EdgeName)]
    pub(crate) edge: String,
    /// The project.
    pub(crate) project_id: i64,
    /// The Figma file: `figma.com/design/<key>/…`.
    #[schema(max_length = 128, example = "hK3jdYt0bQ")]
    pub(crate) figma_file_key: String,
    /// The input node: on des2wf the design's frame, on wf2des the wireframe's. As `12:345`, or `12-345` as in a link.
    #[schema(max_length = 255, example = "12:345")]
    pub(crate) wf_node_id: String,
    /// The screen's id. Needed on wf2des; on des2wf it is the input node's id: leave it out.
    #[schema(max_length = 255)]
    pub(crate) screen_id: Option<String>,
    /// What to mind, in words. Ranks below a memo's intent.
    #[schema(max_length = 4000)]
    pub(crate) prompt: Option<String>,
    /// The node at which to place the result.
    #[schema(max_length = 255)]
    pub(crate) placement_target: Option<String>,
    /// Whether parse and assembly are one call, without a stop for confirmation.
    #[serde(default)]
    pub(crate) auto_confirm: bool,
    /// Where the document is. Left out: the worker's own source of Figma files.
    pub(crate) source: Option<SourceBody>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) unknown: Unknown,
}

/// Where a run's document is.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct SourceBody {
    /// A document that was uploaded to the same project.
    pub(crate) upload: UploadRef,
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) unknown: Unknown,
}

/// An uploaded document, as the upload's answer names it.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct UploadRef {
    /// Its key.
    pub(crate) object_key: String,
    /// The SHA-256 of its bytes, in lower-case hex.
    #[schema(min_length = 64, max_length = 64)]
    pub(crate) sha256: String,
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) unknown: Unknown,
}

/// Which way a run goes.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "names the values for the API's description")]
pub(crate) enum EdgeName {
    Wf2des,
    Des2wf,
}

/// Where a run stands.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "names the values for the API's description")]
pub(crate) enum StatusName {
    Processing,
    Completed,
    Failed,
    Rejected,
    Cancelled,
}

/// What a processing run is at.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "names the values for the API's description")]
pub(crate) enum PhaseName {
    Parse,
    AwaitingConfirm,
    Assemble,
}

/// A run. Everything here comes from its row (no artifact is read for it).
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Generation {
    /// The run's id, and every message's `job_id`.
    id: String,
    /// The tenant.
    organization_id: i64,
    /// The project.
    project_id: i64,
    /// The Figma file.
    figma_file_key: String,
    /// The input node.
    wf_node_id: String,
    /// The screen's id.
    screen_id: String,
    /// What to mind.
    prompt: Option<String>,
    /// The node at which to place the result.
    placement_target: Option<String>,
    /// Whether parse and assembly are one call.
    auto_confirm: bool,
    /// Where the request came from: `api` or `plugin`.
    trigger_surface: &'static str,
    /// Which way it goes.
    #[schema(value_type = EdgeName)]
    edge: &'static str,
    /// Where it stands.
    #[schema(value_type = StatusName)]
    status: &'static str,
    /// What it is at, while it is processing.
    #[schema(value_type = Option<PhaseName>)]
    phase: Option<&'static str>,
    /// The fencing counter, from 1.
    #[schema(minimum = 1)]
    attempt: u32,
    /// Why it failed.
    error_message: Option<String>,
    /// Object key of the result or of the failure's artifact.
    result_url: Option<String>,
    /// How many flags the result has.
    flag_count: Option<u32>,
    /// The score, 0 to 1 with four decimals.
    #[schema(minimum = 0, maximum = 1)]
    score: Option<f64>,
    /// The formula's version. Scores of two versions are not to be compared.
    score_version: Option<String>,
    /// When the result was placed in Figma.
    #[schema(format = DateTime)]
    materialized_at: Option<String>,
    /// What the designer made of it: `fixed` or `adopted`.
    feedback_status: Option<&'static str>,
    /// When it was asked for.
    #[schema(format = DateTime)]
    created_at: String,
    /// When it last changed.
    #[schema(format = DateTime)]
    updated_at: String,
    /// Who asked for it.
    created_by: String,
    /// Who last changed it.
    updated_by: String,
}

impl From<&Run> for Generation {
    fn from(run: &Run) -> Self {
        let score = run.state.score();
        Self {
            id: run.id.to_string(),
            organization_id: run.organization_id.0,
            project_id: run.project_id.0,
            figma_file_key: run.figma_file_key.clone(),
            wf_node_id: run.wf_node_id.clone(),
            screen_id: run.screen_id.clone(),
            prompt: run.prompt.clone(),
            placement_target: run.placement_target.clone(),
            auto_confirm: run.auto_confirm == AutoConfirm::Auto,
            trigger_surface: run.trigger_surface.name(),
            edge: run.edge.name(),
            status: run.state.status().name(),
            phase: run.state.phase().map(Phase::name),
            attempt: run.attempt,
            error_message: run.state.error_message().map(str::to_owned),
            result_url: run.state.result_url().map(str::to_owned),
            flag_count: run.state.flag_count(),
            score: score.map(|score| score.value().get()),
            score_version: score.map(Score::version).map(str::to_owned),
            materialized_at: run.state.materialized_at().map(|at| at.to_string()),
            feedback_status: run.state.feedback().map(FeedbackStatus::name),
            created_at: run.created_at.to_string(),
            updated_at: run.updated_at.to_string(),
            created_by: run.created_by.to_string(),
            updated_by: run.updated_by.to_string(),
        }
    }
}

/// One page of runs, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GenerationPage {
    /// The runs.
    items: Vec<Generation>,
    /// Give it as `cursor` for the next page; null on the last one.
    next_cursor: Option<String>,
}

impl From<Page> for GenerationPage {
    fn from(page: Page) -> Self {
        Self {
            items: page.runs.iter().map(Generation::from).collect(),
            next_cursor: page.next.map(cursor_text),
        }
    }
}

/// A cursor as callers hold it. What is inside is nobody's business but ours.
pub(crate) fn cursor_text(cursor: Cursor) -> String {
    URL_SAFE_NO_PAD.encode(format!("{} {}", cursor.created_at, cursor.id))
}

/// Reads what [`cursor_text`] wrote.
pub(crate) fn read_cursor(text: &str) -> Option<Cursor> {
    let decoded = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    let (created_at, id) = decoded.split_once(' ')?;
    Some(Cursor { created_at: created_at.parse().ok()?, id: RunId::parse(id)? })
}

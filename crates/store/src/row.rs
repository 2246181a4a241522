//! A row of `wf2des` as a database gives it, and the run that it must be. Every adapter with SQL reads through
//! here, so a damaged row is found the same way and named by table, column and id.

use heddle_generation::{
    AutoConfirm, Edge, FeedbackStatus, OrganizationId, Phase, ProjectId, Run, RunId, Score, ScoreValue,
    State, Status, TriggerSurface, UserSub,
};
use jiff::Timestamp;

use crate::StoreError;

const TABLE: &str = "wf2des";

/// The columns, unchecked.
pub(crate) struct RawRun {
    pub(crate) id: String,
    pub(crate) organization_id: i64,
    pub(crate) project_id: i64,
    pub(crate) figma_file_key: String,
    pub(crate) wf_node_id: String,
    pub(crate) screen_id: String,
    pub(crate) prompt: Option<String>,
    pub(crate) placement_target: Option<String>,
    pub(crate) auto_confirm: String,
    pub(crate) trigger_surface: String,
    pub(crate) status: String,
    pub(crate) phase: Option<String>,
    pub(crate) attempt: i64,
    pub(crate) error_message: Option<String>,
    pub(crate) result_url: Option<String>,
    pub(crate) flag_count: Option<i64>,
    pub(crate) score: Option<f64>,
    pub(crate) score_version: Option<String>,
    pub(crate) materialized_at: Option<String>,
    pub(crate) feedback_status: Option<String>,
    pub(crate) edge: String,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    pub(crate) created_by: String,
    pub(crate) updated_by: String,
}

impl RawRun {
    /// The run, or what is wrong with the row.
    pub(crate) fn check(self) -> Result<Run, StoreError> {
        let id = self.id.clone();
        let bad = |column, reason: &str| StoreError::BadRow {
            table: TABLE,
            column,
            id: id.clone(),
            reason: reason.to_owned(),
        };
        let state = self.state(&bad)?;
        let code = "is no code that this program knows";
        Ok(Run {
            id: RunId::parse(&self.id).ok_or_else(|| bad("id", "is no UUID"))?,
            organization_id: OrganizationId(self.organization_id),
            project_id: ProjectId(self.project_id),
            figma_file_key: self.figma_file_key,
            wf_node_id: self.wf_node_id,
            screen_id: self.screen_id,
            prompt: self.prompt,
            placement_target: self.placement_target,
            auto_confirm: AutoConfirm::from_code(&self.auto_confirm)
                .ok_or_else(|| bad("auto_confirm", code))?,
            trigger_surface: TriggerSurface::from_code(&self.trigger_surface)
                .ok_or_else(|| bad("trigger_surface", code))?,
            edge: Edge::from_code(&self.edge).ok_or_else(|| bad("edge", code))?,
            attempt: u32::try_from(self.attempt).map_err(|_| bad("attempt", "is out of range"))?,
            state,
            created_at: time("created_at", &self.created_at, &bad)?,
            updated_at: time("updated_at", &self.updated_at, &bad)?,
            created_by: UserSub::new(self.created_by),
            updated_by: UserSub::new(self.updated_by),
        })
    }

    fn state(&self, bad: &impl Fn(&'static str, &str) -> StoreError) -> Result<State, StoreError> {
        let code = "is no code that this program knows";
        let status = Status::from_code(&self.status).ok_or_else(|| bad("status", code))?;
        let phase = match self.phase.as_deref() {
            Some(phase) => Some(Phase::from_code(phase).ok_or_else(|| bad("phase", code))?),
            None => None,
        };
        if phase.is_some() != (status == Status::Processing) {
            return Err(bad("phase", "is there exactly while the status is '0'"));
        }
        Ok(match (status, phase) {
            (Status::Processing, Some(phase)) => State::Processing { phase },
            (Status::Completed, _) => State::Completed {
                result_url: self.result_url.clone().ok_or_else(|| bad("result_url", "is missing"))?,
                flag_count: match self.flag_count {
                    Some(count) => {
                        Some(u32::try_from(count).map_err(|_| bad("flag_count", "is out of range"))?)
                    }
                    None => None,
                },
                score: self.score(bad)?,
                materialized_at: match &self.materialized_at {
                    Some(at) => Some(time("materialized_at", at, bad)?),
                    None => None,
                },
                feedback: match self.feedback_status.as_deref() {
                    Some(feedback) => Some(
                        FeedbackStatus::from_code(feedback).ok_or_else(|| bad("feedback_status", code))?,
                    ),
                    None => None,
                },
            },
            (Status::Failed, _) => State::Failed {
                error_message: self
                    .error_message
                    .clone()
                    .ok_or_else(|| bad("error_message", "is missing"))?,
                result_url: self.result_url.clone(),
            },
            (Status::Rejected, _) => State::Rejected,
            (Status::Cancelled | Status::Processing, _) => State::Cancelled,
        })
    }

    fn score(&self, bad: &impl Fn(&'static str, &str) -> StoreError) -> Result<Option<Score>, StoreError> {
        let (value, version) = match (self.score, &self.score_version) {
            (None, None) => return Ok(None),
            (Some(value), Some(version)) => (value, version),
            _ => return Err(bad("score_version", "goes with score")),
        };
        let value = ScoreValue::new(value).ok_or_else(|| bad("score", "is out of range"))?;
        let score = Score::new(value, version.clone());
        score.map(Some).ok_or_else(|| bad("score_version", "is no version"))
    }
}

fn time(
    column: &'static str,
    text: &str,
    bad: &impl Fn(&'static str, &str) -> StoreError,
) -> Result<Timestamp, StoreError> {
    text.parse().map_err(|_| bad(column, "is no time"))
}

/// A time as a column holds it: of one width, so that order as text is order in time.
pub(crate) fn time_text(at: Timestamp) -> String {
    format!("{at:.6}")
}

//! The row of a run, validated (G1).

use jiff::{Timestamp, Unit};

use crate::keys::{JobKeys, Tenant};
use crate::{
    AutoConfirm, Edge, FeedbackStatus, OrganizationId, Phase, ProjectId, RunId, Status, TriggerSurface,
    UserSub,
};

/// A run's row. What only some states have is inside [`State`]; the rest holds in all of them.
///
/// There is no deleted run: a soft-deleted row is invisible (G13), so nobody ever holds one of these.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Id.
    pub id: RunId,
    /// Tenant.
    pub organization_id: OrganizationId,
    /// Tenant's project.
    pub project_id: ProjectId,
    /// The Figma file.
    pub figma_file_key: String,
    /// The input node: a wireframe's frame on wf2des, a design's frame on des2wf.
    pub wf_node_id: String,
    /// Screen id; on des2wf the input node's id.
    pub screen_id: String,
    /// What the requester asked for in words.
    pub prompt: Option<String>,
    /// The node at which to place the result.
    pub placement_target: Option<String>,
    /// Whether parse and assembly are one call.
    pub auto_confirm: AutoConfirm,
    /// Where the request came from.
    pub trigger_surface: TriggerSurface,
    /// The edge.
    pub edge: Edge,
    /// The fencing counter, from 1; only a re-queue raises it.
    pub attempt: u32,
    /// Where the run stands in its life.
    pub state: State,
    /// When it was asked for, in whole microseconds.
    pub created_at: Timestamp,
    /// When it last changed, in whole microseconds; never before `created_at`.
    pub updated_at: Timestamp,
    /// Who asked for it.
    pub created_by: UserSub,
    /// Who last changed it.
    pub updated_by: UserSub,
}

/// Where a run stands, with what it has there and nowhere else.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Alive.
    Processing {
        /// What it is at.
        phase: Phase,
    },
    /// Done.
    Completed {
        /// Object key of the result.
        result_url: String,
        /// Copy of the result's `confidence.flag_count`.
        flag_count: Option<u32>,
        /// Copy of the run's score, where the worker reports one.
        score: Option<Score>,
        /// When the result was placed in Figma.
        materialized_at: Option<Timestamp>,
        /// What the designer made of it.
        feedback: Option<FeedbackStatus>,
    },
    /// Could not be done.
    Failed {
        /// What the client may read of it.
        error_message: String,
        /// Object key of the failure's artifact, where there is one.
        result_url: Option<String>,
    },
    /// The designer refused the parse.
    Rejected,
    /// Called off.
    Cancelled,
}

impl State {
    /// The column `status`.
    pub const fn status(&self) -> Status {
        match self {
            Self::Processing { .. } => Status::Processing,
            Self::Completed { .. } => Status::Completed,
            Self::Failed { .. } => Status::Failed,
            Self::Rejected => Status::Rejected,
            Self::Cancelled => Status::Cancelled,
        }
    }

    /// The column `phase`: `None` once terminal.
    pub const fn phase(&self) -> Option<Phase> {
        match self {
            Self::Processing { phase } => Some(*phase),
            _ => None,
        }
    }

    /// The column `result_url`.
    pub fn result_url(&self) -> Option<&str> {
        match self {
            Self::Completed { result_url, .. } => Some(result_url),
            Self::Failed { result_url, .. } => result_url.as_deref(),
            _ => None,
        }
    }

    /// The column `error_message`.
    pub fn error_message(&self) -> Option<&str> {
        match self {
            Self::Failed { error_message, .. } => Some(error_message),
            _ => None,
        }
    }

    /// The column `flag_count`.
    pub const fn flag_count(&self) -> Option<u32> {
        match self {
            Self::Completed { flag_count, .. } => *flag_count,
            _ => None,
        }
    }

    /// The columns `score` and `score_version`.
    pub const fn score(&self) -> Option<&Score> {
        match self {
            Self::Completed { score, .. } => score.as_ref(),
            _ => None,
        }
    }

    /// The column `materialized_at`.
    pub const fn materialized_at(&self) -> Option<Timestamp> {
        match self {
            Self::Completed { materialized_at, .. } => *materialized_at,
            _ => None,
        }
    }

    /// The column `feedback_status`.
    pub const fn feedback(&self) -> Option<FeedbackStatus> {
        match self {
            Self::Completed { feedback, .. } => *feedback,
            _ => None,
        }
    }
}

impl Run {
    /// Whose it is, as keys and messages have it.
    pub const fn tenant(&self) -> Tenant {
        Tenant { organization_id: self.organization_id.0, project_id: self.project_id.0 }
    }

    /// The keys of its own artifacts (D17).
    pub fn keys(&self) -> JobKeys {
        self.tenant().edge(self.edge).job(&self.id.to_string())
    }

    /// Whether an object key is one that this run's manifest may name (D17).
    pub fn may_name_object(&self, key: &str) -> bool {
        self.tenant().edge(self.edge).may_name(&self.id.to_string(), key)
    }
}

/// A score and the version of the formula that gave it. Scores of two versions are never compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Score {
    value: ScoreValue,
    version: String,
}

impl Score {
    /// Longest version, in characters.
    pub const MAX_VERSION_CHARS: usize = 32;

    /// A score, or `None` where the version is not 1 to 32 visible ASCII characters.
    pub fn new(value: ScoreValue, version: impl Into<String>) -> Option<Self> {
        let version = version.into();
        let sound = (1..=Self::MAX_VERSION_CHARS).contains(&version.len())
            && version.bytes().all(|byte| byte.is_ascii_graphic());
        sound.then_some(Self { value, version })
    }

    /// The number.
    pub const fn value(&self) -> ScoreValue {
        self.value
    }

    /// The formula's version, `ds@1.0` on des2wf.
    pub fn version(&self) -> &str {
        &self.version
    }
}

/// A number of 0 to 1 with four decimals: `numeric(5,4)`, kept exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScoreValue(u16);

impl ScoreValue {
    const SCALE: f64 = 10_000.0;

    /// The nearest such number, or `None` outside 0 to 1.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then(|| Self((value * Self::SCALE).round() as u16))
    }

    /// As a float; two equal scores give two equal floats.
    pub fn get(self) -> f64 {
        f64::from(self.0) / Self::SCALE
    }
}

/// A time as the rows keep it: in whole microseconds, rounded down.
pub(crate) fn stored(at: Timestamp) -> Timestamp {
    // Rounding down to a microsecond leaves the range of a timestamp nowhere.
    at.round(jiff::TimestampRound::new().smallest(Unit::Microsecond).mode(jiff::RoundMode::Floor))
        .unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_exact_to_four_decimals() {
        assert_eq!(ScoreValue::new(0.1 + 0.2), ScoreValue::new(0.3));
        assert_eq!(ScoreValue::new(0.874_249), Some(ScoreValue(8742)));
        assert_eq!(ScoreValue::new(1.0).map(|score| score.get().to_string()), Some("1".to_owned()));
        for bad in [-0.0001, 1.0001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(ScoreValue::new(bad), None, "{bad}");
        }
        for step in 0..=10_000_u16 {
            assert_eq!(ScoreValue::new(f64::from(step) / 10_000.0), Some(ScoreValue(step)));
        }
    }

    #[test]
    fn a_score_version_fits_its_column() {
        let value = ScoreValue::new(0.5).unwrap();
        assert!(Score::new(value, "ds@1.0").is_some());
        for bad in ["", "ds 1", "ds@1.0\n", &"x".repeat(33), "版"] {
            assert!(Score::new(value, bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn times_are_kept_in_microseconds() {
        let at: Timestamp = "2026-01-02T03:04:05.123456789Z".parse().unwrap();
        assert_eq!(stored(at).to_string(), "2026-01-02T03:04:05.123456Z");
        let before_the_epoch: Timestamp = "1969-12-31T23:59:59.9999999Z".parse().unwrap();
        assert_eq!(stored(before_the_epoch).to_string(), "1969-12-31T23:59:59.999999Z");
    }
}

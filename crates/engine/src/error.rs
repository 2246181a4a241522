//! Why the engine could not do what was asked.

use heddle_store::StoreError;
use heddle_store::workflows::PublishError;
use heddle_workflow::{CanonicalError, Finding, InstanceId, Refusal, RestoreError, Severity, TextError};

use crate::NobodyKnows;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The graph has errors.
    #[error("the graph can't be published: {}", said(.0))]
    Invalid(Vec<Finding>),
    /// The document has no canonical form.
    #[error("the document has no checksum")]
    Checksum(#[source] CanonicalError),
    /// It was not published.
    #[error("could not publish the version")]
    Publish(#[source] PublishError),
    /// There is no such definition, or nothing of it is published.
    #[error("there is no published definition {0:?}")]
    NoDefinition(String),
    /// There is no such instance.
    #[error("there is no instance {0}")]
    NoInstance(InstanceId),
    /// A key, name or record that can't be kept.
    #[error(transparent)]
    BadText(#[from] TextError),
    /// Whoever wants it may not do it (W22).
    #[error("it is forbidden: {reason}")]
    Forbidden {
        /// Why, in the host's words.
        reason: String,
    },
    /// Nobody knows whether they may do it.
    #[error("could not ask whether it is permitted")]
    Permission(#[source] NobodyKnows),
    /// The present state forbids it.
    #[error(transparent)]
    Refused(Refusal),
    /// Others were faster every time.
    #[error("the instance {0} changes faster than this can be done")]
    Busy(InstanceId),
    /// Rows that are not what they should be.
    #[error("the instance {id} can't be read")]
    Damaged {
        /// Whose.
        id: InstanceId,
        /// Why.
        #[source]
        source: RestoreError,
    },
    /// A version that this program can't read.
    #[error("the version {0:?} is missing or no graph")]
    BadVersion(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The first error of a graph, and how many more findings there are.
fn said(findings: &[Finding]) -> String {
    let first = findings.iter().find(|finding| finding.severity == Severity::Error).or(findings.first());
    let first = first.map(ToString::to_string).unwrap_or_default();
    match findings.len() {
        0 | 1 => first,
        2 => format!("{first}; 1 more finding"),
        count => format!("{first}; {} more findings", count - 1),
    }
}

impl EngineError {
    /// A stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "invalid_graph",
            Self::Checksum(_) => "no_checksum",
            Self::Publish(PublishError::Changed { .. }) => "changed",
            Self::NoDefinition(_) => "no_definition",
            Self::NoInstance(_) => "no_instance",
            Self::BadText(_) => TextError::CODE,
            Self::Forbidden { .. } => "forbidden",
            Self::Permission(_) => "permission",
            Self::Refused(refusal) => refusal.code(),
            Self::Busy(_) => "busy",
            Self::Damaged { .. } => "damaged",
            Self::BadVersion(_) => "bad_version",
            Self::Publish(PublishError::Store(_)) | Self::Store(_) => "store",
        }
    }
}

impl EngineError {
    /// Whether it is about one instance alone, so that others need not suffer for it.
    pub(crate) const fn is_of_one_instance(&self) -> bool {
        matches!(
            self,
            Self::Damaged { .. }
                | Self::BadVersion(_)
                | Self::Busy(_)
                | Self::NoInstance(_)
                | Self::Store(StoreError::BadRow { .. })
        )
    }
}

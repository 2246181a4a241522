//! Why a job did not go on, sorted by what follows from it.

use heddle_exchange::ExchangeError;

use crate::SourceError;
use crate::pipeline::ConversionError;

type Cause = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug)]
pub(crate) enum Trouble {
    /// It will never be done: the run fails with this message, which is fit for designers.
    Permanent {
        message: String,
        /// What it came from, for the log.
        cause: Option<Cause>,
    },
    /// It may be done later: the message comes again.
    Passing { attempted: &'static str, cause: Cause },
    /// A newer attempt is at work: nothing more is to be done for this one.
    Superseded { by: u32 },
    /// Someone else holds the message now: nothing more may be written.
    Lost,
    /// A test ended the job here.
    Died,
}

impl Trouble {
    pub fn permanent(message: impl Into<String>) -> Self {
        Self::Permanent { message: message.into(), cause: None }
    }

    /// What a failed call of the exchange means for the job.
    pub fn from_exchange<E: Into<ExchangeError>>(attempted: &'static str) -> impl Fn(E) -> Self {
        move |error| match error.into() {
            error @ ExchangeError::Backend { .. } => Self::Passing { attempted, cause: error.into() },
            error @ (ExchangeError::Refused { .. } | ExchangeError::Damaged { .. }) => Self::Permanent {
                message: format!("Heddle could not {attempted}: {error}."),
                cause: Some(error.into()),
            },
        }
    }
}

impl From<SourceError> for Trouble {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Unusable { message } => Self::permanent(message),
            SourceError::Unavailable { .. } => {
                Self::Passing { attempted: "read the source", cause: error.into() }
            }
        }
    }
}

impl From<ConversionError> for Trouble {
    fn from(error: ConversionError) -> Self {
        match error {
            ConversionError::Refused { message, source, .. } => Self::Permanent { message, cause: source },
            ConversionError::Unavailable { .. } => {
                Self::Passing { attempted: "convert", cause: error.into() }
            }
        }
    }
}

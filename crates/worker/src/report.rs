//! The report to the backend's webhook, signed as [`heddle_generation::signature`] says.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use heddle_generation::message::Report;
use heddle_generation::signature::{ID, SIGNATURE, TIMESTAMP, WebhookSecret};
use jiff::Timestamp;
use serde::Deserialize;

/// Longest answer that is read, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;
/// How long one call may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// What the backend made of a report.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Answer {
    /// Whether the row changed. `false` is as good: a repeat, a superseded attempt, a late word (G6).
    pub applied: bool,
    /// Why not.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Why a report got no answer.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The backend can't be reached, is overloaded, or doesn't believe our signature: worth another try.
    #[error("the backend did not take the report")]
    Unreachable {
        /// The last failure.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The backend will never take this report: it knows no such run, or finds the manifest wanting.
    #[error("the backend refused the report with status {status}: {body}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The beginning of its answer.
        body: String,
    },
}

/// Where reports go.
#[async_trait]
pub trait Reporter: Send + Sync {
    /// Delivers a report and returns the backend's answer.
    async fn report(&self, report: &Report) -> Result<Answer, ReportError>;
}

/// Reports over HTTP to `{backend}/internal/ai-status`.
#[derive(Clone)]
pub struct HttpReporter {
    agent: ureq::Agent,
    url: String,
    secret: WebhookSecret,
    pauses: Arc<[Duration]>,
}

impl HttpReporter {
    /// To the backend at this base URL. A report is tried five times within about four seconds; after that the
    /// job's message comes again later and brings the report with it.
    pub fn new(backend: &str, secret: WebhookSecret) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(CALL_TIMEOUT))
            .http_status_as_error(false)
            .max_redirects(0)
            // The backend is an inner service: a signed report has no business at a proxy that the environment names.
            .proxy(None)
            .user_agent(concat!("heddle-worker/", env!("CARGO_PKG_VERSION")))
            .build();
        Self {
            agent: config.into(),
            url: format!("{}/internal/ai-status", backend.trim_end_matches('/')),
            secret,
            pauses: [200, 500, 1000, 2000].map(Duration::from_millis).into(),
        }
    }

    /// The same with other pauses between tries.
    #[must_use]
    pub fn with_pauses(self, pauses: impl IntoIterator<Item = Duration>) -> Self {
        Self { pauses: pauses.into_iter().collect(), ..self }
    }

    /// One call. The signature is of now, so that a late try isn't taken for a replay.
    fn call(&self, id: &str, body: &[u8]) -> Result<Answer, ReportError> {
        let unreachable =
            |source: Box<dyn std::error::Error + Send + Sync>| ReportError::Unreachable { source };
        let timestamp = Timestamp::now().as_second();
        let mut response = self
            .agent
            .post(&self.url)
            .header("content-type", "application/json")
            .header(ID, id)
            .header(TIMESTAMP, timestamp.to_string())
            .header(SIGNATURE, self.secret.sign(id, timestamp, body))
            .send(body)
            .map_err(|error| unreachable(error.into()))?;
        let status = response.status().as_u16();
        let text = response
            .body_mut()
            .with_config()
            .limit(MAX_ANSWER_BYTES)
            .read_to_string()
            .map_err(|error| unreachable(error.into()))?;
        let beginning = || text.chars().take(500).collect::<String>();
        match status {
            200..=299 => serde_json::from_str(&text)
                .map_err(|error| unreachable(format!("unreadable answer ({error}): {}", beginning()).into())),
            // Our own fault or the network's; a person will mend it, and the report is still true then.
            401 | 403 | 407 | 408 | 421 | 425 | 429 | 300..=399 | 500.. => {
                Err(unreachable(format!("status {status}: {}", beginning()).into()))
            }
            _ => Err(ReportError::Refused { status, body: beginning() }),
        }
    }
}

#[async_trait]
impl Reporter for HttpReporter {
    async fn report(&self, report: &Report) -> Result<Answer, ReportError> {
        // Stable over tries and redeliveries, so that the backend can tell a repeat; without a dot, which separates
        // the parts of what is signed.
        let id = format!("run_{}_{}", report.job_id.replace('.', "_"), report.attempt);
        let body: Arc<[u8]> = serde_json::to_vec(report)
            .map_err(|error| ReportError::Unreachable { source: error.into() })?
            .into();
        let mut tries = 0;
        loop {
            let (this, id, body) = (self.clone(), id.clone(), Arc::clone(&body));
            let called = tokio::task::spawn_blocking(move || this.call(&id, &body)).await;
            let source = match called {
                Ok(Err(ReportError::Unreachable { source })) => source,
                Ok(settled) => return settled,
                Err(panicked) => panicked.into(),
            };
            let Some(pause) = self.pauses.get(tries) else { return Err(ReportError::Unreachable { source }) };
            tracing::warn!(
                error = &*source as &dyn std::error::Error,
                job_id = report.job_id,
                "report failed; trying again"
            );
            tokio::time::sleep(*pause).await;
            tries += 1;
        }
    }
}

//! The report to the backend's webhook, signed by the Standard Webhooks scheme
//! (<https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use heddle_generation::message::Report;
use hmac::digest::array::Array;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use serde::Deserialize;
use sha2::Sha256;

/// Longest answer that is read, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;
/// How long one call may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// The secret that this worker and the backend share.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(Vec<u8>);

impl std::fmt::Debug for SigningSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SigningSecret(…)")
    }
}

impl SigningSecret {
    /// Reads `whsec_` and base64 of 24 to 64 bytes, as the scheme writes secrets. `None`: it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let key = STANDARD.decode(text.trim().strip_prefix("whsec_")?).ok()?;
        (24..=64).contains(&key.len()).then_some(Self(key))
    }

    /// The value of `webhook-signature` for a message.
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        // HMAC takes keys of every length; one that it didn't take would sign what nobody verifies.
        let mut code =
            Hmac::<Sha256>::new_from_slice(&self.0).unwrap_or_else(|_| Hmac::new(&Array::default()));
        code.update(format!("{id}.{timestamp}.").as_bytes());
        code.update(body);
        format!("v1,{}", STANDARD.encode(code.finalize().into_bytes()))
    }
}

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
    secret: SigningSecret,
    pauses: Arc<[Duration]>,
}

impl HttpReporter {
    /// To the backend at this base URL. A report is tried five times within about four seconds; after that the
    /// job's message comes again later and brings the report with it.
    pub fn new(backend: &str, secret: SigningSecret) -> Self {
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
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp.to_string())
            .header("webhook-signature", self.secret.sign(id, timestamp, body))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemes_own_example_is_signed_as_it_says() {
        let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature =
            secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(format!("{secret:?}"), "SigningSecret(…)");
        for bad in ["", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_c2hvcnQ=", "whsec_!"] {
            assert!(SigningSecret::parse(bad).is_none());
        }
    }
}

//! The signature of a webhook, by the Standard Webhooks scheme (<https://www.standardwebhooks.com>): HMAC-SHA256 of
//! `id.timestamp.body`, in the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`.

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::Sha256;

use crate::config::ConfigError;

/// How far a webhook's time may be from ours, in seconds, either way.
pub const TOLERANCE_SECONDS: i64 = 5 * 60;
/// Most signatures that are looked at in one header.
const MAX_SIGNATURES: usize = 8;

/// A shared secret, ready to sign.
#[derive(Clone)]
pub struct WebhookSecret(Hmac<Sha256>);

impl std::fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

impl WebhookSecret {
    /// Reads `whsec_` and base64 of 24 to 64 bytes, as the scheme writes secrets.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let encoded = text.trim().strip_prefix("whsec_").ok_or(ConfigError::WebhookSecret)?;
        let key = STANDARD.decode(encoded).map_err(|_| ConfigError::WebhookSecret)?;
        if !(24..=64).contains(&key.len()) {
            return Err(ConfigError::WebhookSecret);
        }
        Hmac::new_from_slice(&key).map(Self).map_err(|_| ConfigError::WebhookSecret)
    }

    /// The value of `webhook-signature` for a message: `v1,` and base64.
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let code = self.code(id, timestamp, body).finalize().into_bytes();
        format!("v1,{}", STANDARD.encode(code))
    }

    fn code(&self, id: &str, timestamp: i64, body: &[u8]) -> Hmac<Sha256> {
        let mut code = self.0.clone();
        code.update(format!("{id}.{timestamp}.").as_bytes());
        code.update(body);
        code
    }
}

/// Why a webhook is not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SignatureError {
    #[error("the header {0} is missing or is not readable")]
    Header(&'static str),
    #[error("the webhook's time is more than {TOLERANCE_SECONDS} seconds from ours")]
    OutOfTime,
    #[error("no v1 signature is that of this body, id and time under a known secret")]
    Mismatch,
}

impl SignatureError {
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Header(_) => "webhook_header_missing",
            Self::OutOfTime => "webhook_out_of_time",
            Self::Mismatch => "webhook_signature_mismatch",
        }
    }
}

/// Checks that somebody who knows one of `secrets` sent this body, and lately.
pub(crate) fn verify(
    secrets: &[WebhookSecret],
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> Result<(), SignatureError> {
    let id = header(headers, "webhook-id")?;
    let timestamp = header(headers, "webhook-timestamp")?;
    let signatures = header(headers, "webhook-signature")?;
    let timestamp: i64 = timestamp.parse().map_err(|_| SignatureError::Header("webhook-timestamp"))?;
    if now.as_second().abs_diff(timestamp) > TOLERANCE_SECONDS.unsigned_abs() {
        return Err(SignatureError::OutOfTime);
    }
    let given = signatures
        .split(' ')
        .take(MAX_SIGNATURES)
        .filter_map(|signature| STANDARD.decode(signature.strip_prefix("v1,")?).ok());
    for given in given {
        // `verify_slice` takes the same time wherever the difference is.
        if secrets.iter().any(|secret| secret.code(id, timestamp, body).verify_slice(&given).is_ok()) {
            return Ok(());
        }
    }
    Err(SignatureError::Mismatch)
}

fn header<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<&'a str, SignatureError> {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.filter(|value| !value.is_empty() && value.len() <= 1024).ok_or(SignatureError::Header(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scheme's own example.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const AT: i64 = 1_614_265_330;
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    fn secret() -> WebhookSecret {
        WebhookSecret::parse(SECRET).unwrap()
    }

    fn headers(id: &str, timestamp: &str, signature: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in
            [("webhook-id", id), ("webhook-timestamp", timestamp), ("webhook-signature", signature)]
        {
            headers.insert(name, value.parse().unwrap());
        }
        headers
    }

    fn checked(headers: &HeaderMap, body: &[u8], seconds_late: i64) -> Result<(), SignatureError> {
        verify(&[secret()], headers, body, Timestamp::from_second(AT + seconds_late).unwrap())
    }

    /// proves G6: the webhook's word is believed only under a known secret, for its own id, time and body.
    #[test]
    fn the_schemes_example_verifies_and_no_other() {
        assert_eq!(secret().sign(ID, AT, BODY), SIGNATURE);
        let at = AT.to_string();
        let good = headers(ID, &at, SIGNATURE);
        assert_eq!(checked(&good, BODY, 0), Ok(()));
        assert_eq!(checked(&headers(ID, &at, &format!("v1a,xx v1,AAAA {SIGNATURE}")), BODY, 0), Ok(()));

        assert_eq!(checked(&good, b"{}", 0), Err(SignatureError::Mismatch));
        assert_eq!(checked(&headers("msg_other", &at, SIGNATURE), BODY, 0), Err(SignatureError::Mismatch));
        let later = (AT + 1).to_string();
        assert_eq!(checked(&headers(ID, &later, SIGNATURE), BODY, 0), Err(SignatureError::Mismatch));
        for signature in ["v1,", "v1,AAAA", "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "x"] {
            let refused = checked(&headers(ID, &at, signature), BODY, 0);
            assert_eq!(refused, Err(SignatureError::Mismatch), "{signature}");
        }
        let other = WebhookSecret::parse("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD").unwrap();
        let now = Timestamp::from_second(AT).unwrap();
        assert_eq!(verify(std::slice::from_ref(&other), &good, BODY, now), Err(SignatureError::Mismatch));
        assert_eq!(verify(&[other, secret()], &good, BODY, now), Ok(()));
        assert_eq!(verify(&[], &good, BODY, now), Err(SignatureError::Mismatch));
    }

    #[test]
    fn a_webhook_out_of_time_is_refused_either_way() {
        let good = headers(ID, &AT.to_string(), SIGNATURE);
        for seconds in [-TOLERANCE_SECONDS, TOLERANCE_SECONDS] {
            assert_eq!(checked(&good, BODY, seconds), Ok(()));
        }
        for seconds in [-TOLERANCE_SECONDS - 1, TOLERANCE_SECONDS + 1] {
            assert_eq!(checked(&good, BODY, seconds), Err(SignatureError::OutOfTime));
        }
        for bad in ["", "soon", "1e9", "99999999999999999999"] {
            let refused = checked(&headers(ID, bad, SIGNATURE), BODY, 0);
            assert_eq!(refused, Err(SignatureError::Header("webhook-timestamp")), "{bad}");
        }
        assert_eq!(checked(&HeaderMap::new(), BODY, 0), Err(SignatureError::Header("webhook-id")));
    }

    #[test]
    fn secrets_are_read_strictly_and_never_shown() {
        for bad in ["", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_c2hvcnQ=", "whsec_%%%"] {
            assert_eq!(WebhookSecret::parse(bad).err(), Some(ConfigError::WebhookSecret), "{bad}");
        }
        assert_eq!(format!("{:?}", secret()), "WebhookSecret(…)");
    }
}

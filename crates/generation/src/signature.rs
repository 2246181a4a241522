//! The signature of a report, by the Standard Webhooks scheme (<https://www.standardwebhooks.com>): HMAC-SHA256 of
//! `id.timestamp.body`, in the headers [`ID`], [`TIMESTAMP`] and [`SIGNATURE`]. Workers sign, the server verifies.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::Sha256;

/// The header of the message's id.
pub const ID: &str = "webhook-id";
/// The header of the time of signing, in seconds since 1970.
pub const TIMESTAMP: &str = "webhook-timestamp";
/// The header of the signatures, separated by blanks.
pub const SIGNATURE: &str = "webhook-signature";

/// How far a message's time may be from ours, in seconds, either way.
pub const TOLERANCE_SECONDS: i64 = 5 * 60;
/// Most signatures that are looked at in one header.
const MAX_SIGNATURES: usize = 8;

/// A secret that worker and server share, ready to sign.
#[derive(Clone)]
pub struct WebhookSecret(Hmac<Sha256>);

impl std::fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

/// A text that is no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the webhook secret is unusable: it is whsec_ and 24 to 64 bytes in base64")]
pub struct SecretError;

impl WebhookSecret {
    /// Reads `whsec_` and base64 of 24 to 64 bytes, as the scheme writes secrets.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let encoded = text.trim().strip_prefix("whsec_").ok_or(SecretError)?;
        let key = STANDARD.decode(encoded).map_err(|_| SecretError)?;
        if !(24..=64).contains(&key.len()) {
            return Err(SecretError);
        }
        Hmac::new_from_slice(&key).map(Self).map_err(|_| SecretError)
    }

    /// The value of [`SIGNATURE`] for a message: `v1,` and base64.
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

/// A message as it came: its three headers' values and its body.
#[derive(Debug, Clone, Copy)]
pub struct Signed<'a> {
    /// [`ID`].
    pub id: &'a str,
    /// [`TIMESTAMP`].
    pub timestamp: &'a str,
    /// [`SIGNATURE`].
    pub signatures: &'a str,
    /// The body's bytes.
    pub body: &'a [u8],
}

/// Why a message is not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// A header that is missing, or is not what it should be.
    #[error("the header {0} is missing or is not readable")]
    Header(&'static str),
    /// A message of another time: perhaps one that was recorded and sent again.
    #[error("the webhook's time is more than {TOLERANCE_SECONDS} seconds from ours")]
    OutOfTime,
    /// Somebody else's signature, or one of something else.
    #[error("no v1 signature is that of this body, id and time under a known secret")]
    Mismatch,
}

impl SignatureError {
    /// A stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Header(_) => "webhook_header_missing",
            Self::OutOfTime => "webhook_out_of_time",
            Self::Mismatch => "webhook_signature_mismatch",
        }
    }
}

/// Checks that somebody who knows one of `secrets` sent this, and lately.
pub fn verify(secrets: &[WebhookSecret], signed: Signed<'_>, now: Timestamp) -> Result<(), SignatureError> {
    let Signed { id, timestamp, signatures, body } = signed;
    let timestamp: i64 = timestamp.parse().map_err(|_| SignatureError::Header(TIMESTAMP))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The scheme's own example.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const MESSAGE: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const AT: i64 = 1_614_265_330;
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNED: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    fn secret() -> WebhookSecret {
        WebhookSecret::parse(SECRET).unwrap()
    }

    fn checked(
        secrets: &[WebhookSecret],
        signed: (&str, &str, &str, &[u8]),
        seconds_late: i64,
    ) -> Result<(), SignatureError> {
        let (id, timestamp, signatures, body) = signed;
        let now = Timestamp::from_second(AT + seconds_late).unwrap();
        verify(secrets, Signed { id, timestamp, signatures, body }, now)
    }

    /// proves G6: a worker's word is believed only under a known secret, for its own id, time and body.
    #[test]
    fn the_schemes_example_verifies_and_no_other() {
        assert_eq!(secret().sign(MESSAGE, AT, BODY), SIGNED);
        let (own, at, later) = ([secret()], AT.to_string(), (AT + 1).to_string());
        let good = (MESSAGE, at.as_str(), SIGNED, BODY);
        assert_eq!(checked(&own, good, 0), Ok(()));
        let among_others = format!("v1a,xx v1,AAAA {SIGNED}");
        assert_eq!(checked(&own, (MESSAGE, &at, &among_others, BODY), 0), Ok(()));

        for (id, timestamp, signatures, body) in [
            (MESSAGE, &at, SIGNED, &b"{}"[..]),
            ("msg_other", &at, SIGNED, BODY),
            (MESSAGE, &later, SIGNED, BODY),
            (MESSAGE, &at, "v1,", BODY),
            (MESSAGE, &at, "v1,AAAA", BODY),
            (MESSAGE, &at, "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", BODY),
            (MESSAGE, &at, "x", BODY),
        ] {
            let refused = checked(&own, (id, timestamp, signatures, body), 0);
            assert_eq!(refused, Err(SignatureError::Mismatch), "{id} {timestamp} {signatures}");
        }
        let other = WebhookSecret::parse("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD").unwrap();
        assert_eq!(checked(std::slice::from_ref(&other), good, 0), Err(SignatureError::Mismatch));
        assert_eq!(checked(&[other, secret()], good, 0), Ok(()));
        assert_eq!(checked(&[], good, 0), Err(SignatureError::Mismatch));
    }

    #[test]
    fn a_message_out_of_time_is_refused_either_way() {
        let (own, at) = ([secret()], AT.to_string());
        for seconds in [-TOLERANCE_SECONDS, TOLERANCE_SECONDS] {
            assert_eq!(checked(&own, (MESSAGE, &at, SIGNED, BODY), seconds), Ok(()));
        }
        for seconds in [-TOLERANCE_SECONDS - 1, TOLERANCE_SECONDS + 1] {
            let refused = checked(&own, (MESSAGE, &at, SIGNED, BODY), seconds);
            assert_eq!(refused, Err(SignatureError::OutOfTime));
        }
        for bad in ["", "soon", "1e9", "99999999999999999999"] {
            let refused = checked(&own, (MESSAGE, bad, SIGNED, BODY), 0);
            assert_eq!(refused, Err(SignatureError::Header(TIMESTAMP)), "{bad}");
        }
    }

    #[test]
    fn secrets_are_read_strictly_and_never_shown() {
        for bad in ["", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_c2hvcnQ=", "whsec_%%%"] {
            assert!(WebhookSecret::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(format!("{:?}", secret()), "WebhookSecret(…)");
    }
}

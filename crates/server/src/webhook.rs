//! A signed webhook's headers, on their way to [`heddle_generation::signature`].

use axum::http::HeaderMap;
use heddle_generation::signature::{ID, SIGNATURE, SignatureError, Signed, TIMESTAMP, WebhookSecret, verify};
use jiff::Timestamp;

/// Checks that somebody who knows one of `secrets` sent this body, and lately.
pub(crate) fn check(
    secrets: &[WebhookSecret],
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> Result<(), SignatureError> {
    let signed = Signed {
        id: header(headers, ID)?,
        timestamp: header(headers, TIMESTAMP)?,
        signatures: header(headers, SIGNATURE)?,
        body,
    };
    verify(secrets, signed, now)
}

fn header<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<&'a str, SignatureError> {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.filter(|value| !value.is_empty() && value.len() <= 1024).ok_or(SignatureError::Header(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_is_missing_or_unreadable_is_named() {
        let now = Timestamp::UNIX_EPOCH;
        let mut headers = HeaderMap::new();
        assert_eq!(check(&[], &headers, b"", now), Err(SignatureError::Header(ID)));
        headers.insert(ID, "m".parse().unwrap());
        headers.insert(TIMESTAMP, "0".parse().unwrap());
        for bad in ["", &"x".repeat(1025)] {
            headers.insert(SIGNATURE, bad.parse().unwrap());
            assert_eq!(check(&[], &headers, b"", now), Err(SignatureError::Header(SIGNATURE)));
        }
        headers.insert(SIGNATURE, "v1,x".parse().unwrap());
        assert_eq!(check(&[], &headers, b"", now), Err(SignatureError::Mismatch));
    }
}

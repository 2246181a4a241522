//! Lengths of time as documents write them: `90s`, `2h 30m`, `3 days`, `PT15M`. A day is 24 hours here; months and
//! years have no fixed length and are refused.

use jiff::{SignedDuration, Span, SpanRelativeTo};

/// Longest length of time, in days: ten years.
pub const MAX_DAYS: i64 = 3_660;

/// Why a text is no length of time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LengthError {
    /// It isn't written as one.
    #[error("{0:?} is no length of time; write it like 90s, 2h 30m or 3 days")]
    Syntax(String),
    /// It is none, negative or endless.
    #[error("a length of time is more than nothing and at most {MAX_DAYS} days")]
    Range,
}

/// Reads a length of time.
pub fn parse_length(text: &str) -> Result<SignedDuration, LengthError> {
    let syntax = || LengthError::Syntax(text.chars().take(64).collect());
    let span: Span = text.parse().map_err(|_| syntax())?;
    let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| syntax())?;
    let most = SignedDuration::from_hours(MAX_DAYS * 24);
    // Whole milliseconds: finer than that no wait is.
    let length =
        SignedDuration::from_millis(i64::try_from(length.as_millis()).map_err(|_| LengthError::Range)?);
    if length.is_positive() && length <= most { Ok(length) } else { Err(LengthError::Range) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        for (text, seconds) in [
            ("90s", 90),
            ("2h 30m", 9_000),
            ("3 days", 259_200),
            ("PT15M", 900),
            ("P30D", 2_592_000),
            ("1 week", 604_800),
            ("3600s", 3_600),
        ] {
            assert_eq!(parse_length(text), Ok(SignedDuration::from_secs(seconds)), "{text}");
        }
        assert_eq!(parse_length("1.5s"), Ok(SignedDuration::from_millis(1_500)));
        for bad in ["", "3", "1 month", "P1Y", "soon"] {
            assert!(matches!(parse_length(bad), Err(LengthError::Syntax(_))), "{bad}");
        }
        for bad in ["0s", "-1s", "4000 days", "10us"] {
            assert_eq!(parse_length(bad), Err(LengthError::Range), "{bad}");
        }
    }
}

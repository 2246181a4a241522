//! Numbers as they are written down.

/// To four decimals.
pub(crate) fn round(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

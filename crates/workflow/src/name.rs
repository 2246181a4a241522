//! Names as types, so that one is never taken for another.

use std::fmt;

/// Why a text is no such name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no {what}: 1 to {most} of the characters A-Z, a-z, 0-9, '_', '-' and '.' are")]
pub struct NameError {
    text: String,
    what: &'static str,
    most: usize,
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $what:literal, $most:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(String);

        impl $type {
            /// Longest, in characters.
            pub const MAX_CHARS: usize = $most;

            /// The name, if it is one.
            pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
                let text = text.into();
                let sound = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
                if (1..=Self::MAX_CHARS).contains(&text.len()) && text.bytes().all(sound) {
                    Ok(Self(text))
                } else {
                    // A message holds no more of it than a name could.
                    let text = text.chars().take(Self::MAX_CHARS).collect();
                    Err(NameError { text, what: $what, most: $most })
                }
            }

            /// As text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl PartialEq<str> for $type {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl std::borrow::Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name!(
    /// A node's id, unique in its graph.
    NodeId, "node id", 64
);
name!(
    /// How a step ended, as the edges are labelled.
    Outcome, "outcome", 32
);
name!(
    /// Why a step or an instance failed: one of this crate's, or a handler's own.
    Code, "error code", 64
);

impl Outcome {
    /// The outcome of whatever has only one.
    pub fn ordinary() -> Self {
        Self(DEFAULT.to_owned())
    }

    pub(crate) fn of(text: &'static str) -> Self {
        Self(text.to_owned())
    }
}

impl Code {
    pub(crate) fn of(text: &'static str) -> Self {
        Self(text.to_owned())
    }
}

/// The outcome of whatever has only one.
pub const DEFAULT: &str = "default";
/// The outcome of a step that failed for good.
pub const ERROR: &str = "error";
/// The outcome of a step or wait that took too long.
pub const TIMEOUT: &str = "timeout";
/// The outcome of a wait whose event came.
pub const EVENT: &str = "event";
/// The outcome of a wait whose condition came true.
pub const CONDITION: &str = "condition";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_their_columns() {
        assert!(NodeId::new("a-b_c.9").is_ok());
        assert!(NodeId::new("x".repeat(64)).is_ok() && NodeId::new("x".repeat(65)).is_err());
        assert!(Outcome::new("x".repeat(32)).is_ok() && Outcome::new("x".repeat(33)).is_err());
        for bad in ["", "a b", "a:b", "ä", "a/b"] {
            assert!(NodeId::new(bad).is_err(), "{bad:?}");
        }
    }
}

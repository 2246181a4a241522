//! What is wrong with a field of something that came from outside.

/// One located error: which field, what is wrong by a stable code, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct FieldError {
    /// The field, as a dotted path from the document's root.
    pub field: String,
    /// What is wrong: `required`, `too_long`, `bad_character` …; stable.
    pub code: &'static str,
    /// The same in a sentence that says what would be right.
    pub message: String,
}

impl FieldError {
    /// An error at `field`.
    pub fn new(field: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self { field: field.into(), code, message: message.into() }
    }
}

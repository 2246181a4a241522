//! Texts that rows keep as texts. `PostgreSQL` keeps no U+0000 in one, and no other control character belongs into a
//! key or a name; values keep whatever they have, since JSON escapes it.

/// Longest key of a definition, and of a subject's kind, in characters (W4).
pub const MAX_KEY_CHARS: usize = 100;
/// Longest name of a definition, in characters (W4).
pub const MAX_NAME_CHARS: usize = 200;
/// Longest idempotency key of a start, in characters. Rows keep its digest alone (W10).
pub const MAX_IDEMPOTENCY_CHARS: usize = 255;
/// Longest type of a host's record, in characters.
pub const MAX_TYPE_CHARS: usize = 100;
/// Longest key of a host's record, in characters. With its type it makes an owner's scope of 191 at most (W4).
pub const MAX_ID_CHARS: usize = 64;
/// Longest event key, in characters (W8).
pub const MAX_EVENT_KEY_CHARS: usize = 191;

/// A text that can't be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} has 1 to {most} characters, and no control characters")]
pub struct TextError {
    /// What it was to be.
    pub what: &'static str,
    /// The most characters.
    pub most: usize,
}

impl TextError {
    /// A stable code.
    pub const CODE: &'static str = "bad_text";
}

/// Refuses a text that is empty, too long, or has a control character in it.
pub fn check_text(what: &'static str, text: &str, most: usize) -> Result<(), TextError> {
    let sound = (1..=most).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if sound { Ok(()) } else { Err(TextError { what, most }) }
}

/// Refuses a host's record whose type or key can't be kept.
pub fn check_record(kind: &str, id: &str) -> Result<(), TextError> {
    check_text("a record's type", kind, MAX_TYPE_CHARS)?;
    // An owner's scope is both with a colon between them, and no two owners have one scope.
    if kind.contains(':') {
        return Err(TextError { what: "a record's type, which has no colon,", most: MAX_TYPE_CHARS });
    }
    check_text("a record's key", id, MAX_ID_CHARS)
}

/// Whether a text can be an event's key.
pub fn is_event_key(key: &str) -> bool {
    check_text("an event's key", key, MAX_EVENT_KEY_CHARS).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_sound_or_refused() {
        assert_eq!(check_text("it", "ä \u{1f600}", 3), Ok(()));
        for bad in ["", "abcd", "a\0", "a\nb", "\u{7f}", "\u{85}"] {
            assert_eq!(check_text("it", bad, 3), Err(TextError { what: "it", most: 3 }), "{bad:?}");
        }
        assert_eq!(check_record("App\\User", "a:b"), Ok(()));
        assert!(check_record("app:user", "b").is_err(), "its scope could be another one's");
    }
}

//! Ids and tokens. All of them are drawn by the caller.

use std::fmt;

use serde_json::{Value as Json, json};

use crate::{TextError, check_record};

/// Crockford's alphabet: no I, L, O or U.
const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// 128 bits as a ULID's text: 26 characters of base 32, in the order of the numbers.
pub fn ulid_text(bits: u128) -> String {
    (0..26).rev().map(|place| char::from(CROCKFORD[(bits >> (place * 5) & 31) as usize])).collect()
}

/// An instance's public id: a ULID, 26 characters of Crockford's alphabet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(String);

impl InstanceId {
    /// Reads an id; `None` where the text is none.
    pub fn parse(text: &str) -> Option<Self> {
        let sound = text.len() == 26
            && text.as_bytes()[0] <= b'7'
            && text.bytes().all(|byte| CROCKFORD.contains(&byte));
        sound.then(|| Self(text.to_owned()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A claim's token, 26 characters; never used for two claims.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(String);

impl Token {
    /// The token with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A kept signal's row, as its store names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignalId(String);

impl SignalId {
    /// The row with this key.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Who did something (W22, W31).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// The engine itself.
    System,
    /// A record of the host's: the two halves of a morph pair.
    Named {
        /// Its type.
        kind: String,
        /// Its key.
        id: String,
    },
}

impl Actor {
    /// As rows keep it in JSON: `{"type", "id"}`, or null for the engine.
    pub fn to_json(&self) -> Json {
        match self {
            Self::System => Json::Null,
            Self::Named { kind, id } => json!({"type": kind, "id": id}),
        }
    }

    /// From what rows keep; `None` where that is no actor.
    pub fn from_json(json: &Json) -> Option<Self> {
        if json.is_null() {
            return Some(Self::System);
        }
        let part = |name: &str| json.get(name).and_then(Json::as_str).map(str::to_owned);
        Some(Self::Named { kind: part("type")?, id: part("id")? })
    }

    /// Refuses one that rows can't keep.
    pub fn check(&self) -> Result<(), TextError> {
        match self {
            Self::System => Ok(()),
            Self::Named { kind, id } => check_record(kind, id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_id_is_a_ulid() {
        assert!(InstanceId::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV").is_some());
        for bad in
            ["", "01ARZ3NDEKTSV4RRFFQ69G5FA", "81ARZ3NDEKTSV4RRFFQ69G5FAV", "01arz3ndektsv4rrffq69g5fav"]
        {
            assert_eq!(InstanceId::parse(bad), None, "{bad}");
        }
        assert_eq!(InstanceId::parse("01ARZ3NDEKTSV4RRFFQ69G5FAI"), None);
        let texts = [0, 1, 31, 32, u128::MAX - 1, u128::MAX].map(ulid_text);
        assert!(texts.iter().all(|text| InstanceId::parse(text).is_some()) && texts.is_sorted(), "{texts:?}");
        assert_eq!(texts[5], "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    }
}

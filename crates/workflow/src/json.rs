//! JSON as a graph document has to be read: every double exact, no name twice. `serde_json` may be off by one unit in
//! the last place of a long number, and keeps the last of two equal names; either would change a checksum (W26).

use std::fmt;

use serde::Deserialize;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 120;

/// Why a text was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    Syntax(String),
    /// A name twice in one object.
    #[error("the name {0:?} is there twice in one object")]
    Duplicate(String),
    /// A number that no double comes near.
    #[error("the number {0} is out of range")]
    Number(String),
    /// Nested too deeply.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

/// Reads a JSON text. Whatever it accepts, [`canonical_json`](crate::canonical_json) writes so that it is read as the
/// same again, but for integers that a double can't hold, which that refuses.
pub fn read_json(text: &str) -> Result<Value, ReadError> {
    let raw: &RawValue = serde_json::from_str(text).map_err(syntax)?;
    read(raw, 0)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn syntax(error: serde_json::Error) -> ReadError {
    ReadError::Syntax(error.to_string())
}

fn read(raw: &RawValue, depth: usize) -> Result<Value, ReadError> {
    if depth > MAX_DEPTH {
        return Err(ReadError::TooDeep);
    }
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'{') => {
            let Properties(properties) = serde_json::from_str(text).map_err(syntax)?;
            let mut object = Map::new();
            for (name, raw) in properties {
                let value = read(raw, depth + 1)?;
                if object.contains_key(&name) {
                    return Err(ReadError::Duplicate(name));
                }
                object.insert(name, value);
            }
            Ok(Value::Object(object))
        }
        Some(b'[') => {
            let Items(items) = serde_json::from_str(text).map_err(syntax)?;
            Ok(Value::Array(items.into_iter().map(|item| read(item, depth + 1)).collect::<Result<_, _>>()?))
        }
        Some(b'-' | b'0'..=b'9') => number(text),
        _ => serde_json::from_str(text).map_err(syntax),
    }
}

fn number(text: &str) -> Result<Value, ReadError> {
    if let Ok(integer) = text.parse::<i64>() {
        return Ok(Value::from(integer));
    }
    if let Ok(integer) = text.parse::<u64>() {
        return Ok(Value::from(integer));
    }
    let double = text.parse::<f64>().ok().and_then(Number::from_f64);
    double.map(Value::Number).ok_or_else(|| ReadError::Number(text.to_owned()))
}

struct Properties<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Properties<'de> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;

        impl<'de> Visitor<'de> for Each {
            type Value = Properties<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut properties = Vec::new();
                while let Some(entry) = entries.next_entry()? {
                    properties.push(entry);
                }
                Ok(Properties(properties))
            }
        }

        deserializer.deserialize_map(Each)
    }
}

struct Items<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;

        impl<'de> Visitor<'de> for Each {
            type Value = Items<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = entries.next_element()? {
                    items.push(item);
                }
                Ok(Items(items))
            }
        }

        deserializer.deserialize_seq(Each)
    }
}

/// Deepest nesting of a value that rows keep. Stores read more than this.
pub(crate) const MAX_JSON_DEPTH: usize = 64;

/// Whether a value is nested deeper than `most` levels.
pub(crate) fn nests_deeper_than(json: &Value, most: usize) -> bool {
    let Some(most) = most.checked_sub(1) else { return matches!(json, Value::Array(_) | Value::Object(_)) };
    match json {
        Value::Array(items) => items.iter().any(|item| nests_deeper_than(item, most)),
        Value::Object(properties) => properties.values().any(|item| nests_deeper_than(item, most)),
        _ => false,
    }
}

/// How long a value's JSON is.
pub(crate) fn json_bytes(json: &Value) -> usize {
    /// Counts and throws away.
    struct Count(usize);

    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut count = Count(0);
    // Neither the writer nor a JSON value can fail.
    let _ = serde_json::to_writer(&mut count, json);
    count.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::canonical_json;

    #[test]
    fn it_reads_json() {
        let text = r#" {"a": [1, -2, 2.5, 1e3, "x\n", true, null, []], "b": {"c": {}}} "#;
        let expected = json!({"a": [1, -2, 2.5, 1000.0, "x\n", true, null, []], "b": {"c": {}}});
        assert_eq!(read_json(text), Ok(expected));
        assert!(matches!(read_json("{\"a\": 1,}"), Err(ReadError::Syntax(_))));
        assert_eq!(read_json(r#"[{"a": 1, "\u0061": 2}]"#), Err(ReadError::Duplicate("a".to_owned())));
        assert_eq!(read_json("1e999"), Err(ReadError::Number("1e999".to_owned())));
        assert_eq!(read_json(&("[".repeat(122) + &"]".repeat(122))), Err(ReadError::TooDeep));
    }

    proptest! {
        /// proves W26: every double is read as what was written, so that reading and writing never drift.
        #[test]
        fn doubles_survive(bits: u64) {
            let double = f64::from_bits(bits);
            prop_assume!(double.is_finite());
            let written = canonical_json(&Value::from(double)).unwrap();
            prop_assert_eq!(read_json(&written).unwrap().as_f64(), Some(if double == 0.0 { 0.0 } else { double }));
        }
    }
}

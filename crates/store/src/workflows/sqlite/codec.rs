//! Keys and times, as `SQLite`'s columns hold them.

use jiff::Timestamp;
use rusqlite::types::Value;

use crate::StoreError;
use crate::row::time_text;
use crate::workflows::raw::Place;
use crate::workflows::{Key, KeyType, Morph};

/// A key as its column holds it.
pub(super) fn key_value(
    table: &'static str,
    column: &'static str,
    key_type: KeyType,
    key: &str,
) -> Result<Value, StoreError> {
    match key_type {
        KeyType::Bigint => key.parse().map(Value::Integer).map_err(|_| {
            Place { table, id: key.to_owned() }.bad(column, "is no integer, which keys are here")
        }),
        KeyType::Uuid | KeyType::Ulid => Ok(Value::Text(key.to_owned())),
    }
}

pub(super) fn new_key(key_type: KeyType, key: Option<Key>) -> Result<Value, StoreError> {
    key.map_or(Ok(Value::Null), |key| key_value("a new row", "id", key_type, &key.0))
}

pub(super) fn key_text(value: Value) -> Option<String> {
    match value {
        Value::Integer(integer) => Some(integer.to_string()),
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// A row's key, which every row has.
pub(super) fn row_key(value: Value) -> String {
    key_text(value).unwrap_or_default()
}

/// The two halves of a morph pair.
pub(super) fn morph(
    table: &'static str,
    column: &'static str,
    key_type: KeyType,
    morph: Option<&Morph>,
) -> Result<(Option<String>, Value), StoreError> {
    match morph {
        None => Ok((None, Value::Null)),
        Some(Morph { kind, id }) => Ok((Some(kind.clone()), key_value(table, column, key_type, id)?)),
    }
}

pub(super) fn time(at: Option<Timestamp>) -> Option<String> {
    at.map(time_text)
}

//! What columns hold, checked on the way in and out.

use std::sync::Arc;

use heddle_workflow::{Code, NodeId, Outcome, read_json};
use jiff::Timestamp;
use rusqlite::types::Value;
use serde_json::Value as Json;

use crate::StoreError;
use crate::row::time_text;
use crate::workflows::{Key, KeyType, Morph};

/// The place of a value that is not what it should be.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) table: &'static str,
    pub(super) id: String,
}

impl Place {
    pub(super) fn bad(&self, column: &'static str, reason: impl Into<String>) -> StoreError {
        StoreError::BadRow { table: self.table, column, id: self.id.clone(), reason: reason.into() }
    }

    pub(super) fn time(
        &self,
        column: &'static str,
        text: Option<String>,
    ) -> Result<Option<Timestamp>, StoreError> {
        text.map(|text| text.parse().map_err(|_| self.bad(column, "is no time"))).transpose()
    }

    pub(super) fn needed<T>(&self, column: &'static str, value: Option<T>) -> Result<T, StoreError> {
        value.ok_or_else(|| self.bad(column, "is missing"))
    }

    pub(super) fn json(
        &self,
        column: &'static str,
        text: Option<String>,
    ) -> Result<Option<Json>, StoreError> {
        text.map(|text| read_json(&text).map_err(|error| self.bad(column, error.to_string()))).transpose()
    }

    pub(super) fn shared(
        &self,
        column: &'static str,
        text: Option<String>,
    ) -> Result<Option<Arc<Json>>, StoreError> {
        Ok(self.json(column, text)?.map(Arc::new))
    }

    pub(super) fn node(&self, column: &'static str, text: String) -> Result<NodeId, StoreError> {
        NodeId::new(text).map_err(|error| self.bad(column, error.to_string()))
    }

    pub(super) fn outcome(&self, text: Option<String>) -> Result<Option<Outcome>, StoreError> {
        text.map(|text| Outcome::new(text).map_err(|error| self.bad("outcome", error.to_string())))
            .transpose()
    }

    pub(super) fn code(&self, column: &'static str, text: String) -> Result<Code, StoreError> {
        Code::new(text).map_err(|error| self.bad(column, error.to_string()))
    }
}

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

pub(super) fn json(json: Option<&Json>) -> Option<String> {
    json.map(ToString::to_string)
}

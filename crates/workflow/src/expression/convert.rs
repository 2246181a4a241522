//! JSON to CEL's values and back.

use std::collections::HashMap;
use std::sync::Arc;

use cel::Value;
use cel::objects::{Key, Map};
use jiff::Timestamp;
use serde_json::{Number, Value as Json};

use super::ExpressionError;

pub(super) fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => Value::Int(integer),
            (None, Some(integer)) => Value::UInt(integer),
            (None, None) => Value::Float(number.as_f64().unwrap_or_default()),
        },
        Json::String(string) => Value::String(Arc::new(string.clone())),
        Json::Array(items) => Value::List(Arc::new(items.iter().map(from_json).collect())),
        Json::Object(properties) => map(properties.iter()),
    }
}

pub(super) fn map<'a>(properties: impl Iterator<Item = (&'a String, &'a Json)>) -> Value {
    let entries: HashMap<Key, Value> =
        properties.map(|(name, json)| (Key::String(Arc::new(name.clone())), from_json(json))).collect();
    Value::Map(Map { map: Arc::new(entries) })
}

pub(super) fn from_time(at: Timestamp) -> Result<Value, ExpressionError> {
    let nanoseconds = at.subsec_nanosecond();
    // Before the epoch the parts of a timestamp are negative; the other side counts up from a whole second.
    let (second, nanoseconds) = match u32::try_from(nanoseconds) {
        Ok(nanoseconds) => (at.as_second(), nanoseconds),
        Err(_) => (at.as_second() - 1, (nanoseconds + 1_000_000_000) as u32),
    };
    chrono::DateTime::from_timestamp(second, nanoseconds)
        .map(|time| Value::Timestamp(time.fixed_offset()))
        .ok_or_else(|| ExpressionError::Evaluation("the time is out of range".to_owned()))
}

pub(super) fn to_json(value: &Value) -> Result<Json, ExpressionError> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Int(integer) => Json::from(*integer),
        Value::UInt(integer) => Json::from(*integer),
        Value::Float(double) => Json::Number(
            Number::from_f64(*double)
                .ok_or(ExpressionError::WrongResult { found: "no finite number", needed: "a JSON value" })?,
        ),
        Value::String(string) => Json::String(string.as_ref().clone()),
        Value::List(items) => Json::Array(items.iter().map(to_json).collect::<Result<_, _>>()?),
        Value::Map(map) => Json::Object(
            map.map
                .iter()
                .map(|(key, value)| Ok((key.to_string(), to_json(value)?)))
                .collect::<Result<_, ExpressionError>>()?,
        ),
        Value::Timestamp(time) => {
            Json::String(time.to_utc().to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true))
        }
        Value::Duration(duration) => Json::String(seconds(*duration)),
        other => {
            return Err(ExpressionError::WrongResult { found: name(other), needed: "a JSON value" });
        }
    })
}

/// A duration as protocol buffers write it in JSON: seconds, with as much of a fraction as there is.
fn seconds(duration: chrono::Duration) -> String {
    let (whole, fraction) = (duration.num_seconds(), duration.subsec_nanos());
    let sign = if whole < 0 || fraction < 0 { "-" } else { "" };
    let whole = whole.unsigned_abs();
    if fraction == 0 {
        return format!("{sign}{whole}s");
    }
    let fraction = format!("{:09}", fraction.unsigned_abs());
    format!("{sign}{whole}.{}s", fraction.trim_end_matches('0'))
}

/// What a value is, in words.
pub(super) fn name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Int(_) | Value::UInt(_) | Value::Float(_) => "a number",
        Value::String(_) => "text",
        Value::Bytes(_) => "bytes",
        Value::List(_) => "a list",
        Value::Map(_) => "a map",
        Value::Timestamp(_) => "a time",
        Value::Duration(_) => "a duration",
        _ => "a value without a JSON form",
    }
}

//! JSON to CEL's values and back.

use std::collections::HashMap;

use cel::Value;
use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelTimestamp, CelUInt,
};
use cel::common::value::Val;
use cel::objects::Key;
use jiff::Timestamp;
use serde_json::{Number, Value as Json};

use super::bound::Meter;
use super::{ExpressionError, Part, Room, TurnBudget, shortened};

/// A text that is only pointed at costs less than one that is made; what comes of it later pays in full.
const BORROWED_BYTES_PER_UNIT: usize = 64;

/// A part of a JSON value as CEL sees it, for so many units of the turn's. Texts stay where they are.
pub(super) fn from_json<'v>(
    json: &'v Json,
    part: &Part,
    meter: &Meter,
) -> Result<Box<dyn Val + 'v>, ExpressionError> {
    meter.turn.take(1)?;
    Ok(match json {
        Json::Null => Box::new(CelNull),
        Json::Bool(truth) => Box::new(CelBool::from(*truth)),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => Box::new(CelInt::from(integer)),
            (None, Some(integer)) => Box::new(CelUInt::from(integer)),
            (None, None) => Box::new(CelDouble::from(number.as_f64().unwrap_or_default())),
        },
        Json::String(string) => {
            meter.turn.take((string.len() / BORROWED_BYTES_PER_UNIT) as u64)?;
            Box::new(CelString::from(string.as_str()))
        }
        // A list has no fields: whoever looks for one finds out without its items.
        Json::Array(_) if *part != Part::Whole => Box::new(CelList::from(Vec::new())),
        Json::Array(items) => {
            let items: Result<Vec<_>, _> =
                items.iter().map(|item| from_json(item, &Part::Whole, meter)).collect();
            Box::new(CelList::from(items?))
        }
        Json::Object(properties) => map(properties, part, meter)?,
    })
}

pub(super) fn map<'v>(
    properties: &'v serde_json::Map<String, Json>,
    part: &Part,
    meter: &Meter,
) -> Result<Box<dyn Val + 'v>, ExpressionError> {
    let mut entries: HashMap<CelMapKey<'v>, Box<dyn Val + 'v>> = HashMap::new();
    let mut add = |(name, json): (&'v String, &'v Json), part: &Part| {
        meter.turn.take(1 + (name.len() / BORROWED_BYTES_PER_UNIT) as u64)?;
        entries.insert(CelMapKey::from(name.as_str()), from_json(json, part, meter)?);
        Ok::<_, ExpressionError>(())
    };
    match part {
        Part::Whole => properties.iter().try_for_each(|entry| add(entry, part))?,
        Part::Fields(fields) => fields
            .iter()
            .filter_map(|(name, part)| Some((properties.get_key_value(name)?, part)))
            .try_for_each(|(entry, part)| add(entry, part))?,
    }
    Ok(Box::new(CelMap::from(entries)))
}

pub(super) fn from_time(at: Timestamp) -> Result<Box<dyn Val>, ExpressionError> {
    let nanoseconds = at.subsec_nanosecond();
    // Before the epoch the parts of a timestamp are negative; the other side counts up from a whole second.
    let (second, nanoseconds) = match u32::try_from(nanoseconds) {
        Ok(nanoseconds) => (at.as_second(), nanoseconds),
        Err(_) => (at.as_second() - 1, (nanoseconds + 1_000_000_000) as u32),
    };
    chrono::DateTime::from_timestamp(second, nanoseconds)
        .map(|time| -> Box<dyn Val> { Box::new(CelTimestamp::from(time.fixed_offset())) })
        .ok_or_else(|| ExpressionError::Evaluation("the time is out of range".to_owned()))
}

/// A value as JSON, as long as there is room for it and the turn can pay.
pub(super) fn to_json(
    value: &(dyn Val + '_),
    room: &mut Room,
    budget: &TurnBudget,
) -> Result<Json, ExpressionError> {
    if let Some(text) = value.downcast_ref::<CelString>() {
        let text = text.inner();
        room.take(text.len() + 2)?;
        budget.take_bytes(text.len())?;
        return Ok(Json::String(text.to_owned()));
    }
    room.take(1)?;
    budget.take(1)?;
    if let Some(list) = value.downcast_ref::<CelList>() {
        let items = list.inner().iter().map(|item| to_json(item.as_ref(), room, budget));
        return Ok(Json::Array(items.collect::<Result<_, _>>()?));
    }
    if let Some(map) = value.downcast_ref::<CelMap>() {
        // In order: how far there is room doesn't depend on the seed of a hash.
        let mut entries: Vec<_> = map.inner().iter().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        let mut properties = serde_json::Map::new();
        for (key, value) in entries {
            let name = Key::from(key.clone()).to_string();
            room.take(name.len() + 3)?;
            budget.take_bytes(name.len())?;
            properties.insert(name, to_json(value.as_ref(), room, budget)?);
        }
        return Ok(Json::Object(properties));
    }
    let scalar = Value::try_from(value).map_err(|error| ExpressionError::Evaluation(shortened(&error)))?;
    Ok(match &scalar {
        Value::Null => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Int(integer) => Json::from(*integer),
        Value::UInt(integer) => Json::from(*integer),
        Value::Float(double) => Json::Number(
            Number::from_f64(*double)
                .ok_or(ExpressionError::WrongResult { found: "no finite number", needed: "a JSON value" })?,
        ),
        Value::String(string) => Json::String(string.as_ref().clone()),
        Value::Timestamp(time) => {
            Json::String(time.to_utc().to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true))
        }
        Value::Duration(duration) => Json::String(seconds(*duration)),
        _ => return Err(ExpressionError::WrongResult { found: name(value), needed: "a JSON value" }),
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
pub(super) fn name(value: &(dyn Val + '_)) -> &'static str {
    use cel::common::types::Kind;
    match value.get_type().kind() {
        Kind::NullType => "null",
        Kind::Boolean => "true or false",
        Kind::Int | Kind::UInt | Kind::Double => "a number",
        Kind::String | Kind::Type => "text",
        Kind::Bytes => "bytes",
        Kind::List => "a list",
        Kind::Map => "a map",
        Kind::Timestamp => "a time",
        Kind::Duration => "a duration",
        _ => "a value without a JSON form",
    }
}

//! The bounds that every adapter keeps, and the checks that keep them. They are what SQS, `DocumentDB` and S3
//! allow, so that what works on one machine's embedded stores works on those too.

use std::time::Duration;

use serde_json::Value;

use crate::{ExchangeError, ORDER_FIELD};

/// Longest message, in bytes (SQS).
pub const MAX_MESSAGE_BYTES: usize = 256 * 1024;
/// Longest time that a delivery is hidden (SQS).
pub const MAX_VISIBILITY: Duration = Duration::from_secs(12 * 60 * 60);
/// Longest delay of a message (SQS).
pub const MAX_DELAY: Duration = Duration::from_secs(15 * 60);
/// Longest time that a `receive` waits (SQS).
pub const MAX_WAIT: Duration = Duration::from_secs(20);
/// Most messages in an embedded queue.
pub const MAX_QUEUE_MESSAGES: u64 = 1_000_000;

/// Longest document, in bytes of JSON (`MongoDB`).
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// Deepest nesting of a document: objects and arrays around a value (`MongoDB`).
pub const MAX_DOCUMENT_DEPTH: usize = 100;
/// Longest document id, in bytes.
pub const MAX_DOCUMENT_ID_BYTES: usize = 400;
/// Longest place in an order of writers, in bytes.
pub const MAX_ORDER_BYTES: usize = 200;
/// Longest collection name, in bytes.
pub const MAX_COLLECTION_BYTES: usize = 100;
/// Most documents in one page of [`find`](crate::Documents::find).
pub const MAX_PAGE: usize = 1000;
/// A page of [`find`](crate::Documents::find) ends early once it holds this many bytes of JSON.
pub const MAX_PAGE_BYTES: usize = 32 * 1024 * 1024;

/// Longest object, in bytes.
pub const MAX_OBJECT_BYTES: usize = 512 * 1024 * 1024;

/// Refuses with a reason.
pub(crate) fn refused<T>(reason: impl Into<String>) -> Result<T, ExchangeError> {
    Err(ExchangeError::Refused { reason: reason.into() })
}

/// Checks a message's length.
pub fn check_message(body: &[u8]) -> Result<(), ExchangeError> {
    if body.len() > MAX_MESSAGE_BYTES {
        return refused(format!("a message of {} bytes; at most {MAX_MESSAGE_BYTES} fit", body.len()));
    }
    Ok(())
}

/// Checks a duration against its bound; `name` is what it is called in the refusal.
pub fn check_duration(name: &str, duration: Duration, most: Duration) -> Result<(), ExchangeError> {
    if duration > most {
        return refused(format!("a {name} of {duration:?}; at most {most:?} is kept"));
    }
    Ok(())
}

/// Checks a collection's name: 1 to [`MAX_COLLECTION_BYTES`] of `A-Z a-z 0-9 _ - .`, beginning with a letter or `_`.
pub fn check_collection(name: &str) -> Result<(), ExchangeError> {
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if !first || name.len() > MAX_COLLECTION_BYTES || !name.bytes().all(legal) {
        return refused(format!(
            "the collection name {name:?}; it takes 1 to {MAX_COLLECTION_BYTES} of A-Z a-z 0-9 _ - . and begins \
             with a letter or _"
        ));
    }
    Ok(())
}

/// Checks a document's id: 1 to [`MAX_DOCUMENT_ID_BYTES`] bytes without control characters.
pub fn check_document_id(id: &str) -> Result<(), ExchangeError> {
    if id.is_empty() || id.len() > MAX_DOCUMENT_ID_BYTES || id.chars().any(char::is_control) {
        return refused(format!(
            "the document id {:?} ({} bytes); it takes 1 to {MAX_DOCUMENT_ID_BYTES} bytes without control characters",
            id.chars().take(80).collect::<String>(),
            id.len()
        ));
    }
    Ok(())
}

/// Checks an object's key: see [`keys::check_object_key`](crate::keys::check_object_key).
pub fn check_object_key(key: &str) -> Result<(), ExchangeError> {
    Ok(crate::keys::check_object_key(key)?)
}

/// Checks an object's length.
pub fn check_object(bytes: &[u8]) -> Result<(), ExchangeError> {
    if bytes.len() > MAX_OBJECT_BYTES {
        return refused(format!("an object of {} bytes; at most {MAX_OBJECT_BYTES} fit", bytes.len()));
    }
    Ok(())
}

/// Checks a fencing counter, which starts at 1.
pub fn check_attempt(attempt: u32) -> Result<(), ExchangeError> {
    if attempt == 0 {
        return refused("attempt 0; attempts count from 1");
    }
    Ok(())
}

/// Checks a place in an order of writers: 1 to [`MAX_ORDER_BYTES`] bytes without control characters.
pub fn check_order(order: &str) -> Result<(), ExchangeError> {
    if order.is_empty() || order.len() > MAX_ORDER_BYTES || order.chars().any(char::is_control) {
        return refused(format!(
            "a place of {} bytes in an order of writers; it takes 1 to {MAX_ORDER_BYTES} bytes without control characters",
            order.len()
        ));
    }
    Ok(())
}

/// Checks a document's shape, and returns its length in bytes of JSON, to be compared with [`MAX_DOCUMENT_BYTES`]
/// before anything is written.
pub fn measure_document(document: &Value) -> Result<usize, ExchangeError> {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    if !document.is_object() {
        return refused("a document that is no JSON object");
    }
    if !shallower_than(document, MAX_DOCUMENT_DEPTH) {
        return refused(format!(
            "a document nested deeper than {MAX_DOCUMENT_DEPTH}; keep trees as flat lists"
        ));
    }
    let mut counter = Counter(0);
    serde_json::to_writer(&mut counter, document).map_err(|error| ExchangeError::Refused {
        reason: format!("a document that is no JSON ({error})"),
    })?;
    Ok(counter.0)
}

/// Checks the filter of a [`find`](crate::Documents::find): scalars only, so that every backend compares alike.
pub fn check_filter(equals: &[(&str, Value)], limit: usize) -> Result<(), ExchangeError> {
    if limit == 0 || limit > MAX_PAGE {
        return refused(format!("a page of {limit} documents; it takes 1 to {MAX_PAGE}"));
    }
    for (field, value) in equals {
        if field.is_empty() || field.contains(['.', '$', '\0']) {
            return refused(format!("the filter field {field:?}; only top-level fields are compared"));
        }
        if !(value.is_string() || value.is_number() || value.is_boolean()) {
            return refused(format!(
                "the filter on {field:?}; only strings, numbers and booleans are compared"
            ));
        }
    }
    Ok(())
}

/// Whether a document passes a filter. Numbers are compared by value, as `MongoDB` does: `1` equals `1.0`.
pub(crate) fn passes(document: &Value, equals: &[(impl AsRef<str>, Value)]) -> bool {
    equals.iter().all(|(field, wanted)| match (document.get(field.as_ref()), wanted) {
        (Some(Value::Number(found)), Value::Number(wanted)) => {
            found == wanted || (found.as_f64().is_some() && found.as_f64() == wanted.as_f64())
        }
        (Some(found), wanted) => found == wanted,
        (None, _) => false,
    })
}

/// A document made ready to be stored, with the attempt that its own field `attempt` states (0: none).
pub(crate) struct Prepared {
    pub(crate) attempt: u32,
    pub(crate) bytes: Vec<u8>,
    pub(crate) document: Value,
}

/// Under what a document is written.
#[derive(Clone, Copy)]
pub(crate) enum Guard<'a> {
    None,
    Attempt(u32),
    Order(&'a str),
}

/// Checks a document and gives it its `_id` and, where it is fenced or ordered, its `attempt` or place.
pub(crate) fn prepare_document(
    collection: &str,
    id: &str,
    guard: Guard<'_>,
    mut document: Value,
) -> Result<Prepared, ExchangeError> {
    check_collection(collection)?;
    check_document_id(id)?;
    let stated = match guard {
        Guard::None => None,
        Guard::Attempt(attempt) => {
            check_attempt(attempt)?;
            Some(("attempt", Value::from(attempt)))
        }
        Guard::Order(order) => {
            check_order(order)?;
            Some((ORDER_FIELD, Value::from(order)))
        }
    };
    if !shallower_than(&document, MAX_DOCUMENT_DEPTH) {
        return refused(format!(
            "the document {id} of {collection}: nested deeper than {MAX_DOCUMENT_DEPTH}; keep trees as flat lists"
        ));
    }
    let Value::Object(fields) = &mut document else {
        return refused(format!("the document {id} of {collection}: not a JSON object"));
    };
    match fields.get("_id") {
        None => {
            fields.insert("_id".to_owned(), Value::from(id));
        }
        Some(stated) if stated.as_str() == Some(id) => {}
        Some(stated) => return refused(format!("the document {id} of {collection}: its _id is {stated}")),
    }
    if let Some((field, value)) = stated {
        match fields.get(field) {
            None => {
                fields.insert(field.to_owned(), value);
            }
            Some(stated) if *stated == value => {}
            Some(stated) => {
                return refused(format!(
                    "the document {id} of {collection}: its {field} is {stated}, not {value}"
                ));
            }
        }
    }
    let stated =
        fields.get("attempt").and_then(Value::as_u64).and_then(|attempt| u32::try_from(attempt).ok());
    let bytes = serde_json::to_vec(&document).map_err(|error| ExchangeError::Refused {
        reason: format!("the document {id} of {collection}: not serialisable ({error})"),
    })?;
    if bytes.len() > MAX_DOCUMENT_BYTES {
        return refused(format!(
            "the document {id} of {collection}: {} bytes; at most {MAX_DOCUMENT_BYTES} fit",
            bytes.len()
        ));
    }
    Ok(Prepared { attempt: stated.unwrap_or(0), bytes, document })
}

/// Whether no value lies inside more than `most` objects and arrays. Goes no deeper than that.
fn shallower_than(value: &Value, most: usize) -> bool {
    match value {
        Value::Array(items) => most > 0 && items.iter().all(|item| shallower_than(item, most - 1)),
        Value::Object(fields) => most > 0 && fields.values().all(|item| shallower_than(item, most - 1)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_documents_are_refused_before_anything_recurses() {
        let mut value = Value::Null;
        for _ in 0..100 {
            value = serde_json::json!({ "inner": value });
        }
        prepare_document("things", "deepest", Guard::None, value.clone()).unwrap();
        let deeper = serde_json::json!({ "inner": value });
        assert!(measure_document(&value).is_ok() && measure_document(&deeper).is_err());
        assert!(matches!(
            prepare_document("things", "too deep", Guard::None, deeper),
            Err(ExchangeError::Refused { .. })
        ));
    }

    #[test]
    fn a_document_is_measured_as_it_is_written() {
        let document = serde_json::json!({ "text": "日本 \"quoted\" \u{0}", "list": [1, 2.5, null] });
        assert_eq!(measure_document(&document).unwrap(), document.to_string().len());
        assert!(measure_document(&serde_json::json!([])).is_err());
    }

    #[test]
    fn numbers_are_compared_by_value() {
        let document = serde_json::json!({ "project_id": 7, "name": "a" });
        assert!(passes(&document, &[("project_id", Value::from(7.0))]));
        assert!(passes(&document, &[("project_id", Value::from(7)), ("name", Value::from("a"))]));
        assert!(!passes(&document, &[("project_id", Value::from("7"))]));
        assert!(!passes(&document, &[("absent", Value::from(7))]));
    }
}

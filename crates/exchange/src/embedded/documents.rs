//! The documents: collection, 0, id → the attempt that the document states (4 bytes, big-endian), then its JSON.

use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::{Stores, blocking};
use crate::limits::Guard;
use crate::{Documents, ExchangeError, Fenced, ORDER_FIELD, Ordered, limits};

pub(super) struct EmbeddedDocuments(pub(super) Arc<Stores>);

/// Within LMDB's 511 bytes by the limits on both parts.
fn key(collection: &str, id: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(collection.len() + 1 + id.len());
    key.extend_from_slice(collection.as_bytes());
    key.push(0);
    key.extend_from_slice(id.as_bytes());
    key
}

fn split(key: &[u8], stored: &[u8]) -> Result<(u32, Value), ExchangeError> {
    let damaged = |reason: String| ExchangeError::Damaged {
        what: format!("the document {}", String::from_utf8_lossy(key).replace('\0', "/")),
        reason,
    };
    let (attempt, json) =
        stored.split_first_chunk().ok_or_else(|| damaged("shorter than its header".to_owned()))?;
    let document = serde_json::from_slice(json).map_err(|error| damaged(error.to_string()))?;
    Ok((u32::from_be_bytes(*attempt), document))
}

/// What the text of a document must contain to have this field and value at its top, as we write documents. `None`
/// where equal values may be written differently.
fn mark(field: &str, value: &Value) -> Option<String> {
    let is_one_text = match value {
        Value::String(_) | Value::Bool(_) => true,
        // `7` and `7.0` are equal, and both begin with 7; beyond, a float is written with an exponent.
        Value::Number(number) => number.as_i64().is_some_and(|number| number.abs() < 1_000_000_000_000_000),
        _ => false,
    };
    is_one_text.then(|| format!("{}:{value}", Value::from(field)))
}

impl Stores {
    /// Writes a document where `judge` says `written` of what is there before: in one transaction.
    fn put_document<J: PartialEq>(
        &self,
        key: &[u8],
        prepared: &limits::Prepared,
        written: &J,
        judge: impl FnOnce(Option<&[u8]>) -> Result<J, ExchangeError>,
    ) -> Result<J, ExchangeError> {
        self.write("write a document", |writing| {
            let judged = judge(self.documents.get(writing, key)?)?;
            if judged == *written {
                let mut value = Vec::with_capacity(4 + prepared.bytes.len());
                value.extend_from_slice(&prepared.attempt.to_be_bytes());
                value.extend_from_slice(&prepared.bytes);
                self.documents.put(writing, key, &value)?;
            }
            Ok(judged)
        })
    }

    fn find_documents(
        &self,
        collection: &str,
        equals: &[(String, Value)],
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Value>, ExchangeError> {
        let from = key(collection, after.unwrap_or_default());
        let mut past = collection.as_bytes().to_vec();
        past.push(1);
        let range = (Bound::Excluded(from.as_slice()), Bound::Excluded(past.as_slice()));
        let marks: Vec<_> = equals.iter().filter_map(|(field, value)| mark(field, value)).collect();
        self.read("find documents", |reading| {
            let mut page = Vec::new();
            let mut bytes = 0;
            for entry in self.documents.range(reading, &range)? {
                let (key, stored) = entry?;
                // Reading past a document is much cheaper than reading it.
                if let Ok(text) = std::str::from_utf8(stored.get(4..).unwrap_or_default())
                    && !marks.iter().all(|mark| text.contains(mark.as_str()))
                {
                    continue;
                }
                let (_, document) = split(key, stored)?;
                if limits::passes(&document, equals) {
                    page.push(document);
                    bytes += stored.len();
                    if page.len() == limit || bytes >= limits::MAX_PAGE_BYTES {
                        break;
                    }
                }
            }
            Ok(page)
        })
    }
}

#[async_trait]
impl Documents for EmbeddedDocuments {
    async fn get(&self, collection: &str, id: &str) -> Result<Option<Value>, ExchangeError> {
        limits::check_collection(collection)?;
        limits::check_document_id(id)?;
        let (stores, key) = (Arc::clone(&self.0), key(collection, id));
        blocking(move || {
            stores.read("read a document", |reading| match stores.documents.get(reading, &key)? {
                Some(stored) => Ok(Some(split(&key, stored)?.1)),
                None => Ok(None),
            })
        })
        .await
    }

    async fn put(&self, collection: &str, id: &str, document: Value) -> Result<(), ExchangeError> {
        let (stores, collection, id) = (Arc::clone(&self.0), collection.to_owned(), id.to_owned());
        blocking(move || {
            let prepared = limits::prepare_document(&collection, &id, Guard::None, document)?;
            stores.put_document(&key(&collection, &id), &prepared, &(), |_| Ok(()))
        })
        .await
    }

    async fn put_fenced(
        &self,
        collection: &str,
        id: &str,
        attempt: u32,
        document: Value,
    ) -> Result<Fenced, ExchangeError> {
        let (stores, collection, id) = (Arc::clone(&self.0), collection.to_owned(), id.to_owned());
        blocking(move || {
            let prepared = limits::prepare_document(&collection, &id, Guard::Attempt(attempt), document)?;
            stores.put_document(&key(&collection, &id), &prepared, &Fenced::Written, |stored| {
                let stored = stored.and_then(<[u8]>::first_chunk);
                Ok(Fenced::judge(stored.map(|attempt| u32::from_be_bytes(*attempt)), attempt))
            })
        })
        .await
    }

    async fn put_ordered(
        &self,
        collection: &str,
        id: &str,
        order: &str,
        document: Value,
    ) -> Result<Ordered, ExchangeError> {
        let (stores, collection, id) = (Arc::clone(&self.0), collection.to_owned(), id.to_owned());
        let order = order.to_owned();
        blocking(move || {
            let prepared = limits::prepare_document(&collection, &id, Guard::Order(&order), document)?;
            let key = key(&collection, &id);
            stores.put_document(&key, &prepared, &Ordered::Written, |stored| {
                let stored = stored.map(|stored| split(&key, stored)).transpose()?;
                let place = stored.as_ref().and_then(|(_, document)| document[ORDER_FIELD].as_str());
                Ok(Ordered::judge(place, &order))
            })
        })
        .await
    }

    async fn remove(&self, collection: &str, id: &str) -> Result<bool, ExchangeError> {
        limits::check_collection(collection)?;
        limits::check_document_id(id)?;
        let (stores, key) = (Arc::clone(&self.0), key(collection, id));
        blocking(move || {
            stores.write("remove a document", |writing| Ok(stores.documents.delete(writing, &key)?))
        })
        .await
    }

    async fn find(
        &self,
        collection: &str,
        equals: &[(&str, Value)],
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Value>, ExchangeError> {
        limits::check_collection(collection)?;
        limits::check_filter(equals, limit)?;
        let (stores, collection) = (Arc::clone(&self.0), collection.to_owned());
        let equals: Vec<_> =
            equals.iter().map(|(field, value)| ((*field).to_owned(), value.clone())).collect();
        let after = after.map(str::to_owned);
        blocking(move || stores.find_documents(&collection, &equals, after.as_deref(), limit)).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mark_never_passes_over_a_document_that_matches() {
        for (wanted, stored) in [
            (json!(7), json!(7)),
            (json!(7), json!(7.0)),
            (json!(-7), json!(-7.0)),
            (json!(0), json!(0)),
            (json!(123_456_789_012_345_i64), json!(123_456_789_012_345.0)),
            (json!(true), json!(true)),
            (json!("a\"b\\c\n日本"), json!("a\"b\\c\n日本")),
        ] {
            let document = json!({ "a": [1, { "b": 2 }], "fi\"eld": stored, "z": 1 });
            assert!(limits::passes(&document, &[("fi\"eld", wanted.clone())]));
            let mark = mark("fi\"eld", &wanted).unwrap();
            assert!(document.to_string().contains(&mark), "{mark} in {document}");
        }
        assert_eq!(mark("f", &json!(7.0)), None);
        assert_eq!(mark("f", &json!(10_000_000_000_000_000_i64)), None);
    }
}

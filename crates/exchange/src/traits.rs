//! The three traits. They promise only what SQS, `DocumentDB` and S3 can keep; [`crate::limits`] has the bounds.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

/// Why an exchange could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The backend failed; the same call may go through later.
    #[error("could not {attempted}")]
    Backend {
        /// What was attempted, as a verb phrase.
        attempted: String,
        /// The backend's own error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A key, name or size that is outside the limits; the same call will never go through.
    #[error("refused: {reason}")]
    Refused {
        /// What is wrong with it, and what would be right.
        reason: String,
    },
    /// A stored document or object that can't be read as what it should be.
    #[error("{what} is damaged: {reason}")]
    Damaged {
        /// Which one.
        what: String,
        /// In which way.
        reason: String,
    },
}

impl From<crate::keys::KeyError> for ExchangeError {
    fn from(error: crate::keys::KeyError) -> Self {
        Self::Refused { reason: error.0 }
    }
}

/// A message that a consumer holds for a while.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The message's bytes, as sent.
    pub body: Vec<u8>,
    /// The proof of holding it: valid until its visibility timeout ends or the message is delivered again.
    pub receipt: String,
    /// How often it has been delivered, this time included, from 1.
    pub receive_count: u32,
}

/// A queue with at-least-once delivery and a visibility timeout, as SQS has it. Order is not promised.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Adds a message, visible after `delay`.
    async fn send(&self, body: &[u8], delay: Duration) -> Result<(), ExchangeError>;
    /// Takes one visible message and hides it for `visibility`; waits up to `wait` for one.
    async fn receive(&self, visibility: Duration, wait: Duration) -> Result<Option<Delivery>, ExchangeError>;
    /// Hides a held message for `visibility` from now. `false`: the receipt no longer holds it.
    async fn extend(&self, receipt: &str, visibility: Duration) -> Result<bool, ExchangeError>;
    /// Removes a held message for good. `false`: the receipt no longer holds it.
    async fn acknowledge(&self, receipt: &str) -> Result<bool, ExchangeError>;
    /// How many messages wait or are held.
    async fn depth(&self) -> Result<u64, ExchangeError>;
}

/// What a fenced write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fenced {
    /// It was written.
    Written,
    /// The same attempt had already written it: nothing changed.
    Unchanged,
    /// A newer attempt had written it: nothing changed (D2).
    Superseded {
        /// That attempt.
        by: u32,
    },
}

impl Fenced {
    /// What a write by `attempt` does where `stored` has written before (`None` or 0: no attempt has). The one place
    /// where D2 is decided.
    pub fn judge(stored: Option<u32>, attempt: u32) -> Self {
        match stored.unwrap_or(0) {
            stored if stored > attempt => Self::Superseded { by: stored },
            stored if stored == attempt => Self::Unchanged,
            _ => Self::Written,
        }
    }
}

/// What an ordered write did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ordered {
    /// It was written.
    Written,
    /// The same writer had already written it: nothing changed.
    Unchanged,
    /// A later writer had written it: nothing changed.
    Overtaken {
        /// That one's place in the order.
        by: String,
    },
}

impl Ordered {
    /// What a write at `order` does where one at `stored` is there (`None`: one without a place). The one place where
    /// that is decided.
    pub(crate) fn judge(stored: Option<&str>, order: &str) -> Self {
        match stored.map(|stored| (stored.as_bytes().cmp(order.as_bytes()), stored)) {
            None | Some((std::cmp::Ordering::Less, _)) => Self::Written,
            Some((std::cmp::Ordering::Equal, _)) => Self::Unchanged,
            Some((std::cmp::Ordering::Greater, by)) => Self::Overtaken { by: by.to_owned() },
        }
    }
}

/// The field of a document that holds its writer's place in an order: see [`Documents::put_ordered`].
pub const ORDER_FIELD: &str = "write_order";

/// Documents by collection and id, as a `MongoDB`-like store holds them. Every document is a JSON object whose
/// `_id` is its id.
#[async_trait]
pub trait Documents: Send + Sync {
    /// The document, or `None`.
    async fn get(&self, collection: &str, id: &str) -> Result<Option<Value>, ExchangeError>;
    /// Writes a document that no attempt fences (registries, shared documents).
    async fn put(&self, collection: &str, id: &str, document: Value) -> Result<(), ExchangeError>;
    /// Writes `document` under the `(_id, attempt)` compare-and-set (D2), its `attempt` field included.
    async fn put_fenced(
        &self,
        collection: &str,
        id: &str,
        attempt: u32,
        document: Value,
    ) -> Result<Fenced, ExchangeError>;
    /// Writes a document that several writers share, so that an earlier one never overwrites a later one's. `order`
    /// is the writer's place, and becomes the field [`ORDER_FIELD`]; places are compared byte by byte, and a document
    /// without one comes before all. One conditional write: on `DocumentDB` a `replaceOne` with upsert under
    /// `{ _id, write_order: { $not: { $gte: order } } }`, where a duplicate key means that it was overtaken.
    async fn put_ordered(
        &self,
        collection: &str,
        id: &str,
        order: &str,
        document: Value,
    ) -> Result<Ordered, ExchangeError>;
    /// Removes a document. `false`: there was none.
    async fn remove(&self, collection: &str, id: &str) -> Result<bool, ExchangeError>;
    /// Up to `limit` documents in which each of `equals` (top-level field, scalar) holds, by `_id` ascending,
    /// after the id `after`. A page may be shorter than `limit`; only an empty one is the end ([`find_all`]).
    async fn find(
        &self,
        collection: &str,
        equals: &[(&str, Value)],
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Value>, ExchangeError>;
}

/// Every document in which each of `equals` holds, page by page, by `_id` ascending. Refused beyond `most`.
pub async fn find_all(
    documents: &dyn Documents,
    collection: &str,
    equals: &[(&str, Value)],
    most: usize,
) -> Result<Vec<Value>, ExchangeError> {
    let mut found: Vec<Value> = Vec::new();
    loop {
        let after = found.last().and_then(|last| last["_id"].as_str());
        let page = documents.find(collection, equals, after, 200).await?;
        if page.is_empty() {
            return Ok(found);
        }
        found.extend(page);
        if found.len() > most {
            return Err(ExchangeError::Refused {
                reason: format!("more than {most} documents of {collection} match; at most {most} are read"),
            });
        }
    }
}

/// Objects by key, as S3 holds them. Keys come from [`crate::keys`], which lets no outside id escape its prefix.
#[async_trait]
pub trait Objects: Send + Sync {
    /// The object's bytes, or `None`.
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, ExchangeError>;
    /// Writes a content-addressed object: one that is there already is left as it is.
    async fn put_once(&self, key: &str, bytes: &[u8], media_type: &str) -> Result<(), ExchangeError>;
    /// Writes a job's object so that an older attempt never overwrites a newer one's.
    async fn put_fenced(
        &self,
        key: &str,
        attempt: u32,
        bytes: &[u8],
        media_type: &str,
    ) -> Result<Fenced, ExchangeError>;
}

/// The three together, cheap to clone.
#[derive(Clone)]
pub struct Exchange {
    /// Jobs for workers.
    pub queue: Arc<dyn Queue>,
    /// Results and registries.
    pub documents: Arc<dyn Documents>,
    /// Artifacts.
    pub objects: Arc<dyn Objects>,
}

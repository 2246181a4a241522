//! An exchange in memory, for tests and simulation. Its clock is Tokio's, so that a paused runtime makes it virtual.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::limits::{self, Guard, Prepared};
use crate::{Delivery, Documents, Exchange, ExchangeError, Fenced, ORDER_FIELD, Objects, Ordered, Queue};

/// A new, empty exchange.
pub fn open() -> Exchange {
    Exchange {
        queue: Arc::new(MemoryQueue::default()),
        documents: Arc::new(MemoryDocuments::default()),
        objects: Arc::new(MemoryObjects::default()),
    }
}

/// Nothing here can be left half-changed by a panic, so a poisoned lock is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Message {
    body: Vec<u8>,
    visible_at: Instant,
    receive_count: u32,
    receipt: Option<String>,
}

#[derive(Default)]
struct MemoryQueue {
    messages: Mutex<Vec<Message>>,
    sent: Notify,
}

impl MemoryQueue {
    /// The message that may be taken now, or when the next one may be.
    fn take(&self, visibility: Duration) -> Result<Delivery, Option<Instant>> {
        let now = Instant::now();
        let mut messages = lock(&self.messages);
        let next = messages.iter_mut().min_by_key(|message| message.visible_at).ok_or(None)?;
        if next.visible_at > now {
            return Err(Some(next.visible_at));
        }
        let receipt = uuid::Uuid::new_v4().to_string();
        next.visible_at = now + visibility;
        next.receive_count += 1;
        next.receipt = Some(receipt.clone());
        Ok(Delivery { body: next.body.clone(), receipt, receive_count: next.receive_count })
    }

    fn held<T>(&self, receipt: &str, act: impl FnOnce(&mut Vec<Message>, usize) -> T) -> Option<T> {
        let now = Instant::now();
        let mut messages = lock(&self.messages);
        let held = messages
            .iter()
            .position(|message| message.receipt.as_deref() == Some(receipt) && message.visible_at > now)?;
        Some(act(&mut messages, held))
    }
}

#[async_trait]
impl Queue for MemoryQueue {
    async fn send(&self, body: &[u8], delay: Duration) -> Result<(), ExchangeError> {
        limits::check_message(body)?;
        limits::check_duration("delay", delay, limits::MAX_DELAY)?;
        let message = Message {
            body: body.to_vec(),
            visible_at: Instant::now() + delay,
            receive_count: 0,
            receipt: None,
        };
        lock(&self.messages).push(message);
        self.sent.notify_one();
        Ok(())
    }

    async fn receive(&self, visibility: Duration, wait: Duration) -> Result<Option<Delivery>, ExchangeError> {
        limits::check_duration("visibility", visibility, limits::MAX_VISIBILITY)?;
        limits::check_duration("wait", wait, limits::MAX_WAIT)?;
        let deadline = Instant::now() + wait;
        loop {
            let sent = self.sent.notified();
            let next = match self.take(visibility) {
                Ok(delivery) => return Ok(Some(delivery)),
                Err(next) => next.map_or(deadline, |next| next.min(deadline)),
            };
            if Instant::now() >= deadline {
                return Ok(None);
            }
            let _ = tokio::time::timeout_at(next, sent).await;
        }
    }

    async fn extend(&self, receipt: &str, visibility: Duration) -> Result<bool, ExchangeError> {
        limits::check_duration("visibility", visibility, limits::MAX_VISIBILITY)?;
        let until = Instant::now() + visibility;
        Ok(self.held(receipt, |messages, held| messages[held].visible_at = until).is_some())
    }

    async fn acknowledge(&self, receipt: &str) -> Result<bool, ExchangeError> {
        Ok(self.held(receipt, |messages, held| drop(messages.remove(held))).is_some())
    }

    async fn depth(&self) -> Result<u64, ExchangeError> {
        Ok(lock(&self.messages).len() as u64)
    }
}

#[derive(Default)]
struct MemoryDocuments {
    collections: Mutex<BTreeMap<(String, String), Prepared>>,
}

#[async_trait]
impl Documents for MemoryDocuments {
    async fn get(&self, collection: &str, id: &str) -> Result<Option<Value>, ExchangeError> {
        limits::check_collection(collection)?;
        limits::check_document_id(id)?;
        let key = (collection.to_owned(), id.to_owned());
        Ok(lock(&self.collections).get(&key).map(|stored| stored.document.clone()))
    }

    async fn put(&self, collection: &str, id: &str, document: Value) -> Result<(), ExchangeError> {
        let prepared = limits::prepare_document(collection, id, Guard::None, document)?;
        lock(&self.collections).insert((collection.to_owned(), id.to_owned()), prepared);
        Ok(())
    }

    async fn put_fenced(
        &self,
        collection: &str,
        id: &str,
        attempt: u32,
        document: Value,
    ) -> Result<Fenced, ExchangeError> {
        let prepared = limits::prepare_document(collection, id, Guard::Attempt(attempt), document)?;
        let key = (collection.to_owned(), id.to_owned());
        let mut collections = lock(&self.collections);
        let fenced = Fenced::judge(collections.get(&key).map(|stored| stored.attempt), attempt);
        if fenced == Fenced::Written {
            collections.insert(key, prepared);
        }
        Ok(fenced)
    }

    async fn put_ordered(
        &self,
        collection: &str,
        id: &str,
        order: &str,
        document: Value,
    ) -> Result<Ordered, ExchangeError> {
        let prepared = limits::prepare_document(collection, id, Guard::Order(order), document)?;
        let key = (collection.to_owned(), id.to_owned());
        let mut collections = lock(&self.collections);
        let stored = collections.get(&key).and_then(|stored| stored.document[ORDER_FIELD].as_str());
        let ordered = Ordered::judge(stored, order);
        if ordered == Ordered::Written {
            collections.insert(key, prepared);
        }
        Ok(ordered)
    }

    async fn remove(&self, collection: &str, id: &str) -> Result<bool, ExchangeError> {
        limits::check_collection(collection)?;
        limits::check_document_id(id)?;
        Ok(lock(&self.collections).remove(&(collection.to_owned(), id.to_owned())).is_some())
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
        let mut page = Vec::new();
        let mut bytes = 0;
        for ((found, id), stored) in lock(&self.collections).range((collection.to_owned(), String::new())..) {
            if found != collection || page.len() == limit || bytes >= limits::MAX_PAGE_BYTES {
                break;
            }
            if after.is_none_or(|after| id.as_str() > after) && limits::passes(&stored.document, equals) {
                bytes += stored.bytes.len();
                page.push(stored.document.clone());
            }
        }
        Ok(page)
    }
}

struct Object {
    bytes: Vec<u8>,
    /// `None`: content-addressed.
    attempt: Option<u32>,
}

#[derive(Default)]
struct MemoryObjects {
    objects: Mutex<HashMap<String, Object>>,
}

#[async_trait]
impl Objects for MemoryObjects {
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, ExchangeError> {
        limits::check_object_key(key)?;
        Ok(lock(&self.objects).get(key).map(|object| object.bytes.clone()))
    }

    async fn put_once(&self, key: &str, bytes: &[u8], _media_type: &str) -> Result<(), ExchangeError> {
        limits::check_object_key(key)?;
        limits::check_object(bytes)?;
        lock(&self.objects)
            .entry(key.to_owned())
            .or_insert_with(|| Object { bytes: bytes.to_vec(), attempt: None });
        Ok(())
    }

    async fn put_fenced(
        &self,
        key: &str,
        attempt: u32,
        bytes: &[u8],
        _media_type: &str,
    ) -> Result<Fenced, ExchangeError> {
        limits::check_object_key(key)?;
        limits::check_object(bytes)?;
        limits::check_attempt(attempt)?;
        let mut objects = lock(&self.objects);
        let stored = objects.get(key);
        if stored.is_some_and(|object| object.attempt.is_none()) {
            return limits::refused(format!("the object {key} is content-addressed and never changes"));
        }
        let fenced = Fenced::judge(stored.and_then(|object| object.attempt), attempt);
        if fenced == Fenced::Written {
            objects.insert(key.to_owned(), Object { bytes: bytes.to_vec(), attempt: Some(attempt) });
        }
        Ok(fenced)
    }
}

//! What several tests need: a store in memory that fails as told, and a place in `PostgreSQL`.
#![allow(dead_code, clippy::unwrap_used, reason = "each test binary uses its own part")]

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use heddle_store::StoreError;
use heddle_store::workflows::{
    Actors, ClaimRef, Claimed, Committed, DefinitionSummary, Due, Effects, InstanceCursor, InstanceFilter,
    InstanceSummary, Key, Loaded, Morph, NewVersion, OverlayCount, Page, Payloads, Probe, Probes,
    PublishError, Publishing, Reading, TimelineCursor, TimelineEntry, Turn, Turns, Version, VersionSummary,
    Watch, Work, WorkflowMemory, WorkflowStore,
};
use heddle_workflow::{InstanceId, Rows, Token};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;

type Interruption = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Default)]
pub struct Flaky {
    pub memory: WorkflowMemory,
    /// Nothing goes through.
    pub down: AtomicBool,
    /// No claim is prolonged.
    pub deaf: AtomicBool,
    /// So many commits fail, and write nothing.
    pub failing: AtomicUsize,
    /// So many commits are done, and nobody is told.
    pub losing: AtomicUsize,
    /// So many commits find that others were faster.
    pub conflicting: AtomicUsize,
    /// How often somebody asked as whom steps act.
    pub asked: AtomicUsize,
    /// What happens between a plan and its commit.
    pub between: Mutex<Option<Interruption>>,
}

impl Flaky {
    pub fn store(self: &Arc<Self>) -> WorkflowStore {
        WorkflowStore::of(Arc::clone(self))
    }

    pub fn rows(&self, id: &InstanceId) -> Arc<Rows> {
        self.memory.everything().into_iter().find(|rows| rows.instance.id == *id).unwrap()
    }

    pub fn interrupt(&self, with: impl Future<Output = ()> + Send + 'static) {
        *self.between.lock().unwrap() = Some(Box::pin(with));
    }

    fn up(&self) -> Result<(), StoreError> {
        if self.down.load(Ordering::SeqCst) { Err(locked()) } else { Ok(()) }
    }

    fn takes(count: &AtomicUsize) -> bool {
        count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| count.checked_sub(1)).is_ok()
    }
}

fn locked() -> StoreError {
    StoreError::Backend { attempted: "do it", source: "database is locked".into() }
}

#[async_trait]
impl Publishing for Flaky {
    async fn publish(&self, version: &NewVersion, now: Timestamp) -> Result<Version, PublishError> {
        self.up()?;
        self.memory.publish(version, now).await
    }

    async fn current_key(&self, owner_scope: &str, key: &str) -> Result<Option<(Key, Key)>, StoreError> {
        self.up()?;
        self.memory.current_key(owner_scope, key).await
    }

    async fn version(&self, version: &Key) -> Result<Option<Version>, StoreError> {
        self.up()?;
        self.memory.version(version).await
    }
}

#[async_trait]
impl Turns for Flaky {
    async fn load_all(
        &self,
        ids: &[InstanceId],
    ) -> Result<Vec<Result<Option<Loaded>, StoreError>>, StoreError> {
        self.up()?;
        self.memory.load_all(ids).await
    }

    async fn commit(&self, turns: Vec<Turn>) -> Result<Vec<Result<Committed, StoreError>>, StoreError> {
        self.up()?;
        let between = self.between.lock().unwrap().take();
        if let Some(between) = between {
            between.await;
        }
        if Self::takes(&self.failing) {
            return Err(locked());
        }
        if Self::takes(&self.conflicting) {
            return Ok(turns.iter().map(|_| Ok(Committed::Conflict)).collect());
        }
        let answer = self.memory.commit(turns).await;
        if Self::takes(&self.losing) { Err(locked()) } else { answer }
    }

    async fn waiting_for(
        &self,
        owner: Option<&Morph>,
        event_key: &str,
        after: Option<&InstanceId>,
        limit: u16,
    ) -> Result<Vec<InstanceId>, StoreError> {
        self.up()?;
        self.memory.waiting_for(owner, event_key, after, limit).await
    }
}

#[async_trait]
impl Work for Flaky {
    async fn claim(
        &self,
        tokens: &[Token],
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<Claimed>, StoreError> {
        self.up()?;
        self.memory.claim(tokens, until, now).await
    }

    async fn heartbeat(&self, claim: &ClaimRef, until: Timestamp) -> Result<bool, StoreError> {
        self.up()?;
        if self.deaf.load(Ordering::SeqCst) {
            return Err(locked());
        }
        self.memory.heartbeat(claim, until).await
    }

    async fn release(&self, claim: &ClaimRef, from: Timestamp) -> Result<bool, StoreError> {
        self.up()?;
        self.memory.release(claim, from).await
    }

    async fn due(
        &self,
        now: Timestamp,
        again_after: SignedDuration,
        limit: u16,
    ) -> Result<Vec<Due>, StoreError> {
        self.up()?;
        self.memory.due(now, again_after, limit).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.up()?;
        self.memory.next_due().await
    }
}

#[async_trait]
impl Effects for Flaky {
    async fn actors(&self, instance: &InstanceId) -> Result<Option<Actors>, StoreError> {
        self.up()?;
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.memory.actors(instance).await
    }

    async fn effect(&self, instance: &InstanceId, digest: &str) -> Result<Option<Json>, StoreError> {
        self.up()?;
        self.memory.effect(instance, digest).await
    }

    async fn keep_effect(
        &self,
        instance: &InstanceId,
        digest: &str,
        result: &Json,
        now: Timestamp,
    ) -> Result<Json, StoreError> {
        self.up()?;
        self.memory.keep_effect(instance, digest, result, now).await
    }
}

#[async_trait]
impl Probes for Flaky {
    fn push(&self, probe: Probe) {
        self.memory.push(probe);
    }

    async fn work(&self) {
        self.memory.work().await;
    }

    fn watch(&self, id: &InstanceId) -> Watch {
        self.memory.watch(id)
    }
}

/// The connection string of a schema that nobody else has, which `WorkflowPostgres::install` makes.
pub fn fresh_database() -> String {
    let server = std::env::var("HEDDLE_TEST_POSTGRES")
        .expect("HEDDLE_TEST_POSTGRES names a PostgreSQL server for tests: `cargo xtask test` starts one");
    format!("{server} options='-c search_path=test_{}'", uuid::Uuid::new_v4().simple())
}

/// Looking changes nothing, but it can go wrong all the same.
#[async_trait]
impl Reading for Flaky {
    async fn definitions(
        &self,
        owner_scope: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<Page<DefinitionSummary, String>, StoreError> {
        self.up()?;
        self.memory.definitions(owner_scope, after, limit).await
    }

    async fn definition(
        &self,
        owner_scope: &str,
        key: &str,
    ) -> Result<Option<DefinitionSummary>, StoreError> {
        self.up()?;
        self.memory.definition(owner_scope, key).await
    }

    async fn versions(
        &self,
        definition: &Key,
        before: Option<u32>,
        limit: u16,
    ) -> Result<Page<VersionSummary, u32>, StoreError> {
        self.up()?;
        self.memory.versions(definition, before, limit).await
    }

    async fn instances(
        &self,
        filter: &InstanceFilter,
        after: Option<&InstanceCursor>,
        limit: u16,
    ) -> Result<Page<InstanceSummary, InstanceCursor>, StoreError> {
        self.up()?;
        self.memory.instances(filter, after, limit).await
    }

    async fn instance(&self, id: &InstanceId) -> Result<Option<InstanceSummary>, StoreError> {
        self.up()?;
        self.memory.instance(id).await
    }

    async fn payloads(&self, id: &InstanceId) -> Result<Option<Payloads>, StoreError> {
        self.up()?;
        self.memory.payloads(id).await
    }

    async fn overlay(&self, version: &Key) -> Result<Vec<OverlayCount>, StoreError> {
        self.up()?;
        self.memory.overlay(version).await
    }

    async fn timeline(
        &self,
        id: &InstanceId,
        after: Option<&TimelineCursor>,
        limit: u16,
    ) -> Result<Page<TimelineEntry, TimelineCursor>, StoreError> {
        self.up()?;
        self.memory.timeline(id, after, limit).await
    }
}

//! The store as a node sees it: others go on before and after each call, and calls can go wrong.

use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use heddle_store::StoreError;
use heddle_store::workflows::{
    Actors, ClaimRef, Claimed, Committed, DefinitionSummary, Due, Effects, InstanceCursor, InstanceFilter,
    InstanceSummary, Key, Loaded, Morph, NewVersion, OverlayCount, Page, Payloads, Probe, Probes,
    PublishError, Publishing, Reading, TimelineCursor, TimelineEntry, Turn, Turns, Version, VersionSummary,
    Watch, Work,
};
use heddle_workflow::{InstanceId, Token};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;

use crate::{World, pass};

/// A node's process.
#[derive(Default)]
pub struct Node {
    crashed: AtomicBool,
    /// Its calls may fail, but it stays.
    steady: bool,
}

impl Node {
    pub fn steady() -> Self {
        Self { steady: true, ..Self::default() }
    }

    pub fn has_crashed(&self) -> bool {
        self.crashed.load(Ordering::Relaxed)
    }

    pub fn restart(&self) {
        self.crashed.store(false, Ordering::Relaxed);
    }
}

pub struct Faulty {
    world: Arc<World>,
    node: Arc<Node>,
}

impl Faulty {
    pub const fn new(world: Arc<World>, node: Arc<Node>) -> Self {
        Self { world, node }
    }

    /// A call with everything that may befall it.
    async fn call<T>(&self, call: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        pass(self.world.up_to(2)).await;
        let fate = if self.world.storms() { self.world.up_to(999) } else { 999 };
        match fate {
            0..8 if !self.node.steady => self.crash().await,
            0..24 => return Err(StoreError::Closed),
            _ => {}
        }
        let answer = call.await;
        self.world.calls.fetch_add(1, Ordering::Relaxed);
        match fate {
            24..32 if !self.node.steady => self.crash().await,
            24..48 => return Err(StoreError::Closed),
            _ => {}
        }
        pass(self.world.up_to(1)).await;
        answer
    }

    async fn crash(&self) {
        self.node.crashed.store(true, Ordering::Relaxed);
        pending::<()>().await;
    }
}

#[async_trait]
impl Publishing for Faulty {
    async fn publish(&self, version: &NewVersion, now: Timestamp) -> Result<Version, PublishError> {
        self.world.memory.publish(version, now).await
    }

    async fn current_key(&self, owner_scope: &str, key: &str) -> Result<Option<(Key, Key)>, StoreError> {
        self.call(self.world.memory.current_key(owner_scope, key)).await
    }

    async fn version(&self, version: &Key) -> Result<Option<Version>, StoreError> {
        self.call(self.world.memory.version(version)).await
    }
}

#[async_trait]
impl Turns for Faulty {
    async fn load_all(
        &self,
        ids: &[InstanceId],
    ) -> Result<Vec<Result<Option<Loaded>, StoreError>>, StoreError> {
        self.call(self.world.memory.load_all(ids)).await
    }

    async fn commit(&self, turns: Vec<Turn>) -> Result<Vec<Result<Committed, StoreError>>, StoreError> {
        self.call(self.world.memory.commit(turns)).await
    }

    async fn waiting_for(
        &self,
        owner: Option<&Morph>,
        event_key: &str,
        after: Option<&InstanceId>,
        limit: u16,
    ) -> Result<Vec<InstanceId>, StoreError> {
        self.call(self.world.memory.waiting_for(owner, event_key, after, limit)).await
    }
}

#[async_trait]
impl Work for Faulty {
    async fn claim(
        &self,
        tokens: &[Token],
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<Claimed>, StoreError> {
        self.call(self.world.memory.claim(tokens, until, now)).await
    }

    async fn heartbeat(&self, claim: &ClaimRef, until: Timestamp) -> Result<bool, StoreError> {
        self.call(self.world.memory.heartbeat(claim, until)).await
    }

    async fn release(&self, claim: &ClaimRef, from: Timestamp) -> Result<bool, StoreError> {
        self.call(self.world.memory.release(claim, from)).await
    }

    async fn due(
        &self,
        now: Timestamp,
        again_after: SignedDuration,
        limit: u16,
    ) -> Result<Vec<Due>, StoreError> {
        self.call(self.world.memory.due(now, again_after, limit)).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.call(self.world.memory.next_due()).await
    }
}

#[async_trait]
impl Effects for Faulty {
    async fn actors(&self, instance: &InstanceId) -> Result<Option<Actors>, StoreError> {
        self.call(self.world.memory.actors(instance)).await
    }

    async fn effect(&self, instance: &InstanceId, digest: &str) -> Result<Option<Json>, StoreError> {
        self.call(self.world.memory.effect(instance, digest)).await
    }

    async fn keep_effect(
        &self,
        instance: &InstanceId,
        digest: &str,
        result: &Json,
        now: Timestamp,
    ) -> Result<Json, StoreError> {
        self.call(self.world.memory.keep_effect(instance, digest, result, now)).await
    }
}

/// Looking changes nothing, but it can go wrong all the same.
#[async_trait]
impl Reading for Faulty {
    async fn definitions(
        &self,
        owner_scope: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<Page<DefinitionSummary, String>, StoreError> {
        self.call(self.world.memory.definitions(owner_scope, after, limit)).await
    }

    async fn definition(
        &self,
        owner_scope: &str,
        key: &str,
    ) -> Result<Option<DefinitionSummary>, StoreError> {
        self.call(self.world.memory.definition(owner_scope, key)).await
    }

    async fn versions(
        &self,
        definition: &Key,
        before: Option<u32>,
        limit: u16,
    ) -> Result<Page<VersionSummary, u32>, StoreError> {
        self.call(self.world.memory.versions(definition, before, limit)).await
    }

    async fn instances(
        &self,
        filter: &InstanceFilter,
        after: Option<&InstanceCursor>,
        limit: u16,
    ) -> Result<Page<InstanceSummary, InstanceCursor>, StoreError> {
        self.call(self.world.memory.instances(filter, after, limit)).await
    }

    async fn instance(&self, id: &InstanceId) -> Result<Option<InstanceSummary>, StoreError> {
        self.call(self.world.memory.instance(id)).await
    }

    async fn payloads(&self, id: &InstanceId) -> Result<Option<Payloads>, StoreError> {
        self.call(self.world.memory.payloads(id)).await
    }

    async fn overlay(&self, version: &Key) -> Result<Vec<OverlayCount>, StoreError> {
        self.call(self.world.memory.overlay(version)).await
    }

    async fn timeline(
        &self,
        id: &InstanceId,
        after: Option<&TimelineCursor>,
        limit: u16,
    ) -> Result<Page<TimelineEntry, TimelineCursor>, StoreError> {
        self.call(self.world.memory.timeline(id, after, limit)).await
    }
}

/// Nobody is ever told of anything.
#[async_trait]
impl Probes for Faulty {
    fn push(&self, _probe: Probe) {}

    async fn work(&self) {
        pending::<()>().await;
    }

    fn watch(&self, id: &InstanceId) -> Watch {
        self.world.memory.watch(id)
    }
}

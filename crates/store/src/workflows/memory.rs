//! The workflow rows in memory: for tests and simulation. It keeps every promise of the traits but to last.

mod reading;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use heddle_workflow::{
    InstanceId, Lease, Plan, Rows, SignalId, StartRate, StepRow, StepStatus, Token, WaitRecord, WaitStatus,
    Waits,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;

use super::probes::LocalProbes;
use super::{
    Actors, ClaimRef, Claimed, Committed, Due, Effects, Key, Loaded, Morph, NewInstance, NewVersion, Probe,
    Probes, PublishError, Publishing, Turn, Turns, Version, Watch, Work, owner_scope,
};
use crate::StoreError;

/// The adapter. Every call is one step under one lock.
#[derive(Default)]
pub struct WorkflowMemory {
    tables: Mutex<Tables>,
    probes: LocalProbes,
}

#[derive(Default)]
struct Tables {
    /// By owner's scope and key.
    definitions: BTreeMap<(String, String), Definition>,
    versions: BTreeMap<Key, Published>,
    instances: BTreeMap<InstanceId, Instance>,
    /// Start keys that have been seen, and until when they count.
    starts: BTreeMap<String, (InstanceId, Timestamp)>,
    effects: BTreeMap<(InstanceId, String), Json>,
    /// The last key that was given to a row.
    last_key: u64,
}

struct Definition {
    id: Key,
    name: String,
    current: Key,
    updated_at: Timestamp,
}

struct Published {
    version: Version,
    trigger: (String, Option<String>),
    publisher: Option<Morph>,
    at: Timestamp,
}

struct Instance {
    new: NewInstance,
    created_at: Timestamp,
    rows: Arc<Rows>,
    /// When each of its steps and of its waits was made.
    made: (Vec<Timestamp>, Vec<Timestamp>),
    /// When its leases and waits were last handed out, each as it was then.
    handed_out: BTreeMap<Overdue, Timestamp>,
}

impl WorkflowMemory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every instance's rows, for tests that look at all of them.
    pub fn everything(&self) -> Vec<Arc<Rows>> {
        self.tables().instances.values().map(|instance| Arc::clone(&instance.rows)).collect()
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Instance {
    /// Notes when the rows were made that a turn has added.
    fn note(&mut self, at: Timestamp) {
        self.made.0.resize(self.rows.steps.len(), at);
        self.made.1.resize(self.rows.waits.len(), at);
    }
}

impl Tables {
    /// The version that new instances of a definition run.
    fn current(&self, owner_scope: &str, key: &str) -> Option<&Version> {
        let definition = self.definitions.get(&(owner_scope.to_owned(), key.to_owned()))?;
        self.versions.get(&definition.current).map(|published| &published.version)
    }

    fn next_key(&mut self) -> Key {
        self.last_key += 1;
        Key(self.last_key.to_string())
    }

    fn commit(&mut self, turn: Turn) -> Committed {
        let mut last_key = self.last_key;
        let name = || {
            last_key += 1;
            SignalId::new(last_key.to_string())
        };
        let committed = match turn.new {
            Some(new) => self.start(new, &turn.plan, name),
            None => self.turn(&turn.plan, name),
        };
        self.last_key = last_key;
        committed
    }

    fn start(&mut self, new: NewInstance, plan: &Plan, name: impl FnMut() -> SignalId) -> Committed {
        let first = new.idempotency.as_ref().and_then(|(digest, _)| self.starts.get(digest));
        if let Some((first, _)) = first.filter(|(_, until)| *until > plan.at) {
            return Committed::Existing(first.clone());
        }
        if let Some(again_at) = new.rate.and_then(|rate| self.again_at(&new.definition, rate, plan.at)) {
            return Committed::Limited { again_at };
        }
        let id = plan.state.id.clone();
        let rows = Rows::created(plan, name);
        let (Ok(rows), false) = (rows, self.instances.contains_key(&id)) else { return Committed::Conflict };
        if let Some((digest, until)) = &new.idempotency {
            self.starts.insert(digest.clone(), (id.clone(), *until));
        }
        let (rows, created_at) = (Arc::new(rows), plan.at);
        let mut instance =
            Instance { new, created_at, rows, made: Default::default(), handed_out: BTreeMap::new() };
        instance.note(plan.at);
        self.instances.insert(id, instance);
        Committed::Done
    }

    fn turn(&mut self, plan: &Plan, name: impl FnMut() -> SignalId) -> Committed {
        let Some(instance) = self.instances.get_mut(&plan.state.id) else { return Committed::Conflict };
        match instance.rows.after(plan, name) {
            Ok(rows) => {
                instance.rows = Arc::new(rows);
                instance.note(plan.at);
                Committed::Done
            }
            Err(_) => Committed::Conflict,
        }
    }

    /// When another instance of a definition may start; `None`: now.
    fn again_at(&self, definition: &Key, rate: StartRate, now: Timestamp) -> Option<Timestamp> {
        let since = rate.since(now);
        let made = self.instances.values().filter(|instance| instance.new.definition == *definition);
        let mut counted: Vec<_> =
            made.map(|instance| instance.created_at).filter(|created_at| *created_at > since).collect();
        counted.sort_unstable();
        let last = usize::try_from(rate.count).ok()?.checked_sub(1)?;
        counted.iter().rev().nth(last).map(|created_at| rate.again_at(*created_at))
    }

    fn held(&mut self, claim: &ClaimRef) -> Option<&mut StepRow> {
        let instance = self.instances.get_mut(&claim.instance)?;
        let place = instance.rows.steps.iter().position(|step| {
            step.key == claim.step && step.claim.as_ref().is_some_and(|(token, _)| *token == claim.token)
        })?;
        Arc::make_mut(&mut instance.rows).steps.get_mut(place)
    }
}

#[async_trait]
impl Publishing for WorkflowMemory {
    async fn publish(&self, version: &NewVersion, now: Timestamp) -> Result<Version, PublishError> {
        let mut tables = self.tables();
        let scope = owner_scope(version.owner.as_ref());
        let current = tables.current(&scope, &version.key).cloned();
        let present = current.as_ref().map_or("", |current| current.checksum.as_str());
        if version.expected_checksum.as_deref().is_some_and(|expected| expected != present) {
            return Err(PublishError::Changed { present: present.to_owned() });
        }
        if let Some(current) = current.as_ref().filter(|current| current.checksum == version.checksum) {
            return Ok(current.clone());
        }
        let id = match &current {
            Some(current) => current.definition.clone(),
            None => tables.next_key(),
        };
        let published = Version {
            id: tables.next_key(),
            definition: id.clone(),
            number: current.map_or(0, |current| current.number) + 1,
            document: Arc::new(version.document.clone()),
            checksum: version.checksum.clone(),
            actor_mode: version.actor_mode,
        };
        let row = Published {
            version: published.clone(),
            trigger: version.trigger.clone(),
            publisher: version.publisher.clone(),
            at: now,
        };
        tables.versions.insert(published.id.clone(), row);
        let definition =
            Definition { id, name: version.name.clone(), current: published.id.clone(), updated_at: now };
        let definition = match tables.definitions.remove(&(scope.clone(), version.key.clone())) {
            // It is named once.
            Some(before) => Definition { name: before.name, ..definition },
            None => definition,
        };
        tables.definitions.insert((scope, version.key.clone()), definition);
        Ok(published)
    }

    async fn current_key(&self, owner_scope: &str, key: &str) -> Result<Option<(Key, Key)>, StoreError> {
        let tables = self.tables();
        let current = tables.current(owner_scope, key);
        Ok(current.map(|version| (version.id.clone(), version.definition.clone())))
    }

    async fn version(&self, version: &Key) -> Result<Option<Version>, StoreError> {
        Ok(self.tables().versions.get(version).map(|published| published.version.clone()))
    }
}

#[async_trait]
impl Turns for WorkflowMemory {
    async fn load_all(
        &self,
        ids: &[InstanceId],
    ) -> Result<Vec<Result<Option<Loaded>, StoreError>>, StoreError> {
        let tables = self.tables();
        let loaded = |instance: &Instance| Loaded {
            version: instance.new.version.clone(),
            rows: instance.rows.as_ref().clone(),
        };
        Ok(ids.iter().map(|id| Ok(tables.instances.get(id).map(loaded))).collect())
    }

    async fn commit(&self, turns: Vec<Turn>) -> Result<Vec<Result<Committed, StoreError>>, StoreError> {
        let mut tables = self.tables();
        Ok(turns.into_iter().map(|turn| Ok(tables.commit(turn))).collect())
    }

    async fn waiting_for(
        &self,
        owner: Option<&Morph>,
        event_key: &str,
        after: Option<&InstanceId>,
        limit: u16,
    ) -> Result<Vec<InstanceId>, StoreError> {
        let tables = self.tables();
        let is_it =
            |wait: &WaitRecord| wait.status == WaitStatus::Pending && wait.event_key() == Some(event_key);
        let waits = |instance: &Instance| {
            instance.new.owner.as_ref() == owner && instance.rows.waits.iter().any(is_it)
        };
        let waiting = tables
            .instances
            .iter()
            .filter(|(id, instance)| after.is_none_or(|after| *id > after) && waits(instance));
        Ok(waiting.map(|(id, _)| id.clone()).take(usize::from(limit)).collect())
    }
}

#[async_trait]
impl Work for WorkflowMemory {
    async fn claim(
        &self,
        tokens: &[Token],
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<Claimed>, StoreError> {
        let mut tables = self.tables();
        let mut queued: Vec<(Timestamp, InstanceId, usize)> = Vec::new();
        for (id, instance) in &tables.instances {
            for (place, step) in instance.rows.steps.iter().enumerate() {
                let from = step.scheduled_for.filter(|from| *from <= now);
                queued.extend(
                    from.filter(|_| step.status == StepStatus::Queued).map(|from| (from, id.clone(), place)),
                );
            }
        }
        queued.sort();
        let mut claimed = Vec::new();
        for ((_, id, place), token) in queued.into_iter().zip(tokens) {
            let Some(instance) = tables.instances.get_mut(&id) else { continue };
            let step = &mut Arc::make_mut(&mut instance.rows).steps[place];
            step.hold(&Lease { token: token.clone(), until, since: now });
            claimed.push(Claimed {
                claim: ClaimRef { instance: id, step: step.key.clone(), token: token.clone() },
                version: instance.new.version.clone(),
                idempotency_key: step.idempotency_key.clone(),
                input: step.input.clone(),
                resume: step.resume.clone(),
            });
        }
        Ok(claimed)
    }

    async fn heartbeat(&self, claim: &ClaimRef, until: Timestamp) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let held = tables.held(claim).and_then(|step| step.claim.as_mut());
        Ok(held.map(|(_, lease)| *lease = until).is_some())
    }

    async fn release(&self, claim: &ClaimRef, from: Timestamp) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let Some(step) = tables.held(claim) else { return Ok(false) };
        step.claim = None;
        step.status = StepStatus::Queued;
        step.scheduled_for = Some(from);
        Ok(true)
    }

    async fn due(
        &self,
        now: Timestamp,
        again_after: SignedDuration,
        limit: u16,
    ) -> Result<Vec<Due>, StoreError> {
        let mut tables = self.tables();
        let mut found: [Vec<Overdue>; 3] = Default::default();
        for (id, instance) in &tables.instances {
            for (kind, overdue) in overdue(id, &instance.rows, now) {
                let seen = instance.handed_out.get(&overdue);
                if seen.is_none_or(|seen| now.duration_since(*seen) >= again_after) {
                    found[kind].push(overdue);
                }
            }
        }
        let mut all = Vec::new();
        for mut kind in found {
            kind.sort();
            all.extend(kind.into_iter().take(usize::from(limit)));
        }
        for overdue in &all {
            let (Due::Lease(id) | Due::Wait(id) | Due::Deadline(id)) = &overdue.due;
            if let Some(instance) = tables.instances.get_mut(id) {
                instance.handed_out.insert(overdue.clone(), now);
            }
        }
        Ok(all.into_iter().map(|overdue| overdue.due).collect())
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        let tables = self.tables();
        let rows = tables.instances.values().map(|instance| &instance.rows);
        let times = rows.flat_map(|rows| {
            let steps = rows.steps.iter().filter_map(|step| match step.status {
                StepStatus::Queued => step.scheduled_for,
                StepStatus::Running => step.claim.as_ref().map(|(_, until)| *until),
                _ => None,
            });
            steps.chain(rows.waits.iter().filter_map(pending_due))
        });
        Ok(times.min())
    }
}

fn pending_due(wait: &WaitRecord) -> Option<Timestamp> {
    wait.what.due_at().filter(|_| wait.status == WaitStatus::Pending)
}

/// A row that is overdue: since when, as what, and which. What it is handed out as changes with any of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Overdue {
    at: Timestamp,
    due: Due,
    row: String,
}

/// What of an instance is overdue, by kind.
fn overdue(id: &InstanceId, rows: &Rows, now: Timestamp) -> Vec<(usize, Overdue)> {
    let leases = rows.steps.iter().filter(|step| step.status == StepStatus::Running);
    let leases = leases.filter_map(|step| {
        let (token, until) = step.claim.as_ref()?;
        Some((0, Overdue { at: *until, due: Due::Lease(id.clone()), row: token.as_str().to_owned() }))
    });
    let waits = rows.waits.iter().filter_map(|wait| {
        let (at, row) = (pending_due(wait)?, wait.id.as_str().to_owned());
        Some(match wait.what {
            Waits::Deadline { .. } => (2, Overdue { at, due: Due::Deadline(id.clone()), row }),
            _ => (1, Overdue { at, due: Due::Wait(id.clone()), row }),
        })
    });
    leases.chain(waits).filter(|(_, overdue)| overdue.at <= now).collect()
}

#[async_trait]
impl Effects for WorkflowMemory {
    async fn actors(&self, instance: &InstanceId) -> Result<Option<Actors>, StoreError> {
        let tables = self.tables();
        let Some(Instance { new, .. }) = tables.instances.get(instance) else { return Ok(None) };
        Ok(Some(Actors {
            mode: new.actor_mode,
            starter: new.starter.clone(),
            owner: new.owner.clone(),
            publisher: tables.versions.get(&new.version).and_then(|published| published.publisher.clone()),
        }))
    }

    async fn effect(&self, instance: &InstanceId, digest: &str) -> Result<Option<Json>, StoreError> {
        Ok(self.tables().effects.get(&(instance.clone(), digest.to_owned())).cloned())
    }

    async fn keep_effect(
        &self,
        instance: &InstanceId,
        digest: &str,
        result: &Json,
        _now: Timestamp,
    ) -> Result<Json, StoreError> {
        let mut tables = self.tables();
        let place = (instance.clone(), digest.to_owned());
        Ok(tables.effects.entry(place).or_insert_with(|| result.clone()).clone())
    }
}

#[async_trait]
impl Probes for WorkflowMemory {
    fn push(&self, probe: Probe) {
        self.probes.push(probe);
    }

    async fn work(&self) {
        self.probes.work().await;
    }

    fn watch(&self, id: &InstanceId) -> Watch {
        self.probes.watch(id)
    }
}

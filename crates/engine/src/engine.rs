//! The engine, and what its callers ask of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use heddle_store::workflows::{
    Committed, InstanceSummary, Key, Loaded, Morph, NewInstance, Reading, Turn, WorkflowStore, owner_scope,
};
use heddle_workflow::{
    Actor, Catalog, Command, Event, Graph, InstanceId, Limits, Plan, Refusal, Start, State, Subject, check,
    decide, restore, start, stored,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;
use tokio::sync::{Notify, broadcast, mpsc};

use crate::commit::Waiting;
use crate::draw::instance_id;
use crate::handler::digest;
use crate::{Clock, Draw, EngineError, Registry};

/// How often a turn is decided again when others were faster.
const TRIES: usize = 16;
/// How many graphs are kept ready.
const MAX_GRAPHS: usize = 256;
/// How many ends are remembered for those who wait for one.
const ENDS: usize = 1_024;
/// How many instances an event is handed to at a time.
const EVENT_BATCH: u16 = 100;

/// What an engine does how often.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// How long a claim holds without a heartbeat. After a crash nothing of a step happens for this long.
    pub lease: SignedDuration,
    /// How often it looks for work that no probe told it of.
    pub poll: SignedDuration,
    /// How often it looks for what is due.
    pub wake: SignedDuration,
    /// How many steps it runs at a time.
    pub concurrency: usize,
    /// How many things of a kind it wakes at a time.
    pub wake_batch: u16,
    /// How long a start's idempotency key counts: `idempotency.ttl`.
    pub idempotency_ttl: SignedDuration,
    /// What holds for every instance.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            lease: SignedDuration::from_secs(30),
            poll: SignedDuration::from_millis(250),
            wake: SignedDuration::from_millis(250),
            concurrency: 64,
            wake_batch: 100,
            idempotency_ttl: SignedDuration::from_hours(24),
            limits: Limits::default(),
        }
    }
}

/// A request to start an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The definition's key.
    pub key: String,
    /// Whose definition it is.
    pub owner: Option<Morph>,
    /// What the instance is given.
    pub trigger: Json,
    /// What it is about.
    pub subject: Subject,
    /// A key under which there is one instance, however often it is asked for (W21).
    pub idempotency_key: Option<String>,
    /// Who starts it.
    pub starter: Option<Morph>,
}

impl Request {
    /// A request for the application's own definition, with nothing but a trigger.
    pub fn new(key: &str, trigger: Json) -> Self {
        Self {
            key: key.to_owned(),
            owner: None,
            trigger,
            subject: Subject::default(),
            idempotency_key: None,
            starter: None,
        }
    }
}

/// What came of a request to start an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The instance.
    pub id: InstanceId,
    /// Whether it is this request's own, and not an earlier one's with the same idempotency key.
    pub is_new: bool,
}

/// One engine node. Any number of them may work on one store, in one process or in many.
pub struct Engine {
    pub(crate) store: WorkflowStore,
    pub(crate) registry: Registry,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) draw: Arc<dyn Draw>,
    pub(crate) config: Config,
    /// Probes: somebody may take a step, or an instance has ended. Hints only (W17).
    pub(crate) probe: Arc<Notify>,
    pub(crate) ended: broadcast::Sender<InstanceId>,
    pub(crate) committer: OnceLock<mpsc::Sender<Waiting>>,
    graphs: Mutex<BTreeMap<Key, Arc<Graph>>>,
}

impl Engine {
    /// An engine node on a store.
    pub fn new(
        store: WorkflowStore,
        registry: Registry,
        clock: Arc<dyn Clock>,
        draw: Arc<dyn Draw>,
        config: Config,
    ) -> Self {
        Self {
            store,
            registry,
            clock,
            draw,
            config,
            probe: Arc::new(Notify::new()),
            ended: broadcast::Sender::new(ENDS),
            committer: OnceLock::new(),
            graphs: Mutex::new(BTreeMap::new()),
        }
    }

    /// Now, as the rows keep times.
    pub(crate) fn now(&self) -> Timestamp {
        stored(self.clock.now())
    }

    /// What people look at.
    pub fn reading(&self) -> &dyn Reading {
        self.store.reading.as_ref()
    }

    /// A version's document.
    pub async fn document(&self, version: &Key) -> Result<Arc<Json>, EngineError> {
        let row = self.store.publishing.version(version).await?;
        row.map(|row| row.document).ok_or_else(|| EngineError::BadVersion(version.0.clone()))
    }

    /// Starts an instance of a definition's current version. With an idempotency key that has been seen, gives the
    /// first instance's id.
    pub async fn start(&self, request: Request) -> Result<InstanceId, EngineError> {
        self.begin(request).await.map(|started| started.id)
    }

    /// The same, and says whether it was the first.
    pub async fn begin(&self, request: Request) -> Result<Started, EngineError> {
        let scope = owner_scope(request.owner.as_ref());
        let current = self.store.publishing.current(&scope, &request.key).await?;
        let version = current.ok_or_else(|| EngineError::NoDefinition(request.key.clone()))?;
        let graph = self.graph(&version.id).await?;
        let now = self.now();
        let bad = || EngineError::BadVersion(version.id.0.clone());
        let id = instance_id(self.draw.as_ref(), now).ok_or_else(bad)?;
        let by =
            request.starter.clone().map_or(Actor::System, |Morph { kind, id }| Actor::Named { kind, id });
        let asked =
            Start { id: id.clone(), trigger: request.trigger, subject: request.subject, depth: 0, by };
        let plan = start(&graph, &self.config.limits, asked, now).map_err(EngineError::Refused)?;
        let idempotency = request.idempotency_key.map(|key| {
            let until = now.checked_add(self.config.idempotency_ttl).unwrap_or(Timestamp::MAX);
            (digest(&format!("{scope}/{}/{key}", request.key)), until)
        });
        let new = NewInstance {
            version: version.id.clone(),
            definition: version.definition.clone(),
            owner: request.owner,
            trigger: (graph.trigger().name().to_owned(), graph.trigger().key().map(str::to_owned)),
            actor_mode: graph.settings().actor_mode,
            starter: request.starter,
            idempotency,
        };
        match self.commit(Turn { new: Some(new), plan }).await? {
            Committed::Done => Ok(Started { id, is_new: true }),
            Committed::Existing(first) => Ok(Started { id: first, is_new: false }),
            Committed::Conflict => Err(EngineError::Busy(id)),
        }
    }

    /// Gives an operator's command to an instance. `expected`: the version that they saw.
    pub async fn command(
        &self,
        id: &InstanceId,
        command: Command,
        by: Actor,
        expected: Option<u32>,
    ) -> Result<State, EngineError> {
        self.turn(id, &Event::Command { command, by, expected }).await.map(|plan| plan.state)
    }

    /// Sends an instance a signal, which is kept until something waits for it.
    pub async fn signal(&self, id: &InstanceId, key: &str, payload: Json) -> Result<State, EngineError> {
        let command = Command::Signal { key: key.to_owned(), payload };
        self.command(id, command, Actor::System, None).await
    }

    /// Publishes an owner's event to every instance of the same owner that waits for it; how many took it. Nobody
    /// else's instances hear of it.
    pub async fn emit(&self, owner: Option<&Morph>, key: &str, payload: &Json) -> Result<usize, EngineError> {
        let mut taken = 0;
        let mut after = None;
        loop {
            let waiting = self.store.turns.waiting_for(owner, key, after.as_ref(), EVENT_BATCH).await?;
            for id in &waiting {
                let event = Event::Published { key: key.to_owned(), payload: payload.clone() };
                match self.turn(id, &event).await {
                    Ok(_) => taken += 1,
                    // Somebody else was first, or it was another one's event after all.
                    Err(EngineError::Refused(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            if waiting.len() < usize::from(EVENT_BATCH) {
                return Ok(taken);
            }
            after = waiting.last().cloned();
        }
    }

    /// An instance's state.
    pub async fn state(&self, id: &InstanceId) -> Result<State, EngineError> {
        self.load(id).await.map(|(_, state)| state)
    }

    /// Waits until an instance is over, and gives its state.
    pub async fn end(&self, id: &InstanceId) -> Result<State, EngineError> {
        self.ended(id).await?;
        self.state(id).await
    }

    /// Waits until an instance is over, and gives its summary.
    pub async fn ended(&self, id: &InstanceId) -> Result<InstanceSummary, EngineError> {
        let mut ended = self.ended.subscribe();
        loop {
            let summary = self.store.reading.instance(id).await?;
            let summary = summary.ok_or_else(|| EngineError::NoInstance(id.clone()))?;
            if summary.status.is_ended() {
                return Ok(summary);
            }
            // Another node may have ended it, of which nobody tells this one.
            let mut patience = self.clock.sleep(self.config.poll);
            loop {
                tokio::select! {
                    told = ended.recv() => match told {
                        Ok(other) if other != *id => {}
                        // It is this one, or too many have ended to say which.
                        _ => break,
                    },
                    () = &mut patience => break,
                }
            }
        }
    }

    /// The graph of a version, read and checked once.
    pub(crate) async fn graph(&self, version: &Key) -> Result<Arc<Graph>, EngineError> {
        let known = self.graphs.lock().unwrap_or_else(PoisonError::into_inner).get(version).cloned();
        if let Some(graph) = known {
            return Ok(graph);
        }
        let bad = || EngineError::BadVersion(version.0.clone());
        let row = self.store.publishing.version(version).await?.ok_or_else(bad)?;
        // What was published was sound; which handlers there are now is for each step to find out.
        let graph = Arc::new(check(&row.document, &Catalog::open()).graph.ok_or_else(bad)?);
        let mut graphs = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        if graphs.len() >= MAX_GRAPHS {
            graphs.clear();
        }
        graphs.insert(version.clone(), Arc::clone(&graph));
        Ok(graph)
    }

    pub(crate) async fn load(&self, id: &InstanceId) -> Result<(Arc<Graph>, State), EngineError> {
        let loaded = self.store.turns.load(id).await?;
        let Loaded { version, rows } = loaded.ok_or_else(|| EngineError::NoInstance(id.clone()))?;
        let graph = self.graph(&version).await?;
        let state = restore(&graph, &rows);
        let state = state.map_err(|source| EngineError::Damaged { id: id.clone(), source })?;
        Ok((graph, state))
    }

    /// Lets an event in: loads, decides and commits, again while others are faster.
    pub(crate) async fn turn(&self, id: &InstanceId, event: &Event) -> Result<Plan, EngineError> {
        self.turn_then(id, event, None, |_, _| ()).await.map(|(plan, ())| plan)
    }

    /// The same, with a last word on each plan before it is committed. `known`: the state that this node left the
    /// instance in; a plan on it is made without reading, and if it is old the guards say so.
    pub(crate) async fn turn_then<T>(
        &self,
        id: &InstanceId,
        event: &Event,
        mut known: Option<(Arc<Graph>, State)>,
        mut last_word: impl FnMut(&Graph, &mut Plan) -> T,
    ) -> Result<(Plan, T), EngineError> {
        for _ in 0..TRIES {
            let is_known = known.is_some();
            let (graph, state) = match known.take() {
                Some(known) => known,
                None => self.load(id).await?,
            };
            let mut plan = match decide(&graph, &self.config.limits, &state, event, self.now()) {
                Ok(plan) => plan,
                // The rows may know of a longer lease, for one.
                Err(_) if is_known => continue,
                Err(refusal) => return Err(EngineError::Refused(refusal)),
            };
            let word = last_word(&graph, &mut plan);
            if self.commit(Turn { new: None, plan: plan.clone() }).await? == Committed::Done {
                return Ok((plan, word));
            }
        }
        Err(EngineError::Busy(id.clone()))
    }

    /// Tells of what a plan has done, to whom it may concern.
    pub(crate) fn tell(&self, plan: &Plan) {
        if plan.leaves_work() {
            self.probe.notify_one();
        }
        if plan.state.life.status().is_ended() {
            // Whether anybody listens is none of its business.
            let _ = self.ended.send(plan.state.id.clone());
        }
    }
}

/// Whether a refusal means that somebody else has seen to it.
pub(crate) const fn is_seen_to(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::Ended { .. } | Refusal::LeaseLost | Refusal::NotDue | Refusal::NotWaiting | Refusal::Paused
    )
}

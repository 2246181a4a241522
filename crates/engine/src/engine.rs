//! The engine, and what its callers ask of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use heddle_store::StoreError;
use heddle_store::workflows::{
    Committed, InstanceSummary, Key, Loaded, Morph, NewInstance, Probe, Reading, Turn, WorkflowStore,
    owner_scope,
};
use heddle_workflow::{
    Actor, Command, Event, Graph, InstanceId, Limits, MAX_IDEMPOTENCY_CHARS, Refusal, Start, State, Subject,
    Token, check_payload, check_record, check_text, decide, is_event_key, restore, start, stored,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;

use crate::draw::instance_id;
use crate::handler::digest;
use crate::lines::Lines;
use crate::publish::check_definition;
use crate::run::{Hand, Running};
use crate::work::{Following, Hands, Known};
use crate::{Act, Clock, Draw, EngineError, Graphs, Permission, Registry};

/// How often a turn is decided again when others were faster.
const TRIES: usize = 32;
/// From which try on it gives way to them for a moment, and for how long at most.
const PATIENT_TRY: usize = 8;
const MOMENT: SignedDuration = SignedDuration::from_millis(20);
/// How many instances an event is handed to at a time.
const EVENT_BATCH: u16 = 100;

/// What an engine does how often. [`Config::default`] is what is said in brackets.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// How long a claim holds without a heartbeat. After a crash nothing of a step happens for this long
    /// (30 s).
    pub lease: SignedDuration,
    /// How often it looks for work that no probe told it of (250 ms).
    pub poll: SignedDuration,
    /// How often it looks for what is due (250 ms).
    pub wake: SignedDuration,
    /// How many steps it runs at a time (256).
    pub concurrency: usize,
    /// How many things of a kind it wakes at a time (200).
    pub wake_batch: u16,
    /// How long a start's idempotency key counts: `idempotency.ttl` (a day).
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
            concurrency: 256,
            wake_batch: 200,
            idempotency_ttl: SignedDuration::from_hours(24),
            limits: Limits::default(),
        }
    }
}

/// A request to start an instance. Made with [`new`](Self::new); the other fields are set by name.
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
    /// A key under which there is one instance, however often it is asked for (W21), as long as
    /// [`Config::idempotency_ttl`] says. Counts for one definition of one owner.
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
    /// What it has while it works.
    pub(crate) running: Mutex<Option<Arc<Running>>>,
    lines: Lines,
    /// `None`: everything is permitted.
    pub(crate) permission: Option<Arc<dyn Permission>>,
    pub(crate) graphs: Mutex<BTreeMap<Key, Arc<Graph>>>,
    pub(crate) checked: Arc<Graphs>,
}

impl Engine {
    /// An engine node on a store. It does nothing by itself: see [`run`](Self::run).
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
            running: Mutex::default(),
            lines: Lines::default(),
            permission: None,
            graphs: Mutex::new(BTreeMap::new()),
            checked: Arc::default(),
        }
    }

    /// With a host's word on who may do what (W22).
    #[must_use]
    pub fn with_permission(mut self, permission: Arc<dyn Permission>) -> Self {
        self.permission = Some(permission);
        self
    }

    /// Sharing what other nodes of this process have checked.
    #[must_use]
    pub fn with_graphs(mut self, graphs: Arc<Graphs>) -> Self {
        self.checked = graphs;
        self
    }

    /// Now by its clock, as the rows keep times.
    pub fn now(&self) -> Timestamp {
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
    /// first instance's id, and does nothing with the trigger. Returns as soon as that is committed; the steps are for
    /// whatever node works on the store.
    pub async fn start(&self, request: Request) -> Result<InstanceId, EngineError> {
        self.begin(request).await.map(|started| started.id)
    }

    /// The same, and says whether it was the first.
    pub async fn begin(&self, request: Request) -> Result<Started, EngineError> {
        check_definition(&request.key)?;
        request.owner.as_ref().map_or(Ok(()), |owner| check_record(&owner.kind, &owner.id))?;
        if let Some(key) = &request.idempotency_key {
            check_text("an idempotency key", key, MAX_IDEMPOTENCY_CHARS)?;
        }
        let by = request.starter.clone().map_or(Actor::System, Actor::from);
        by.check()?;
        self.permit(&by, Act::Start { owner: request.owner.as_ref(), definition: &request.key }).await?;
        let scope = owner_scope(request.owner.as_ref());
        let current = self.store.publishing.current_key(&scope, &request.key).await?;
        let (version, definition) = current.ok_or_else(|| EngineError::NoDefinition(request.key.clone()))?;
        let graph = self.graph(&version).await?;
        let now = self.now();
        let bad = || EngineError::BadVersion(version.0.clone());
        let id = instance_id(self.draw.as_ref(), now).ok_or_else(bad)?;
        let asked =
            Start { id: id.clone(), trigger: request.trigger, subject: request.subject, depth: 0, by };
        let mut plan = start(&graph, &self.config.limits, asked, now).map_err(EngineError::Refused)?;
        let idempotency = request.idempotency_key.map(|key| {
            let until = now.checked_add(self.config.idempotency_ttl).unwrap_or(Timestamp::MAX);
            // None of the parts has a control character in it, so no two starts are known by one text.
            (digest(&[&scope, request.key.as_str(), &key].join("\0")), until)
        });
        let new = NewInstance {
            version: version.clone(),
            definition,
            owner: request.owner,
            trigger: (graph.trigger().name().to_owned(), graph.trigger().key().map(str::to_owned)),
            actor_mode: graph.settings().actor_mode,
            starter: request.starter,
            idempotency,
            rate: graph.settings().start_rate,
        };
        let next = self.hand().and_then(|hand| Some((hand, self.take_next(&version, &graph, &mut plan)?)));
        match self.commit(Turn { new: Some(new), plan }, next).await? {
            Committed::Done => Ok(Started { id, is_new: true }),
            Committed::Existing(first) => Ok(Started { id: first, is_new: false }),
            Committed::Limited { again_at } => Err(EngineError::Refused(Refusal::StartRate { again_at })),
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
        by.check()?;
        self.permit(&by, Act::Command { instance: id, name: command.name() }).await?;
        self.turn(id, &Event::Command { command, by, expected }).await
    }

    /// Sends an instance a signal, which is kept until something waits for it. Sent twice, it is two signals. An
    /// instance that has ended refuses it.
    pub async fn signal(
        &self,
        id: &InstanceId,
        key: &str,
        payload: Json,
        by: Actor,
    ) -> Result<State, EngineError> {
        let command = Command::Signal { key: key.to_owned(), payload };
        self.command(id, command, by, None).await
    }

    /// Publishes an owner's event to every instance of the same owner that waits for it; how many took it. Nobody
    /// else's instances hear of it.
    pub async fn emit(
        &self,
        owner: Option<&Morph>,
        key: &str,
        payload: &Json,
        by: &Actor,
    ) -> Result<usize, EngineError> {
        if !is_event_key(key) {
            return Err(EngineError::Refused(Refusal::BadKey));
        }
        owner.map_or(Ok(()), |owner| check_record(&owner.kind, &owner.id))?;
        by.check()?;
        check_payload(&self.config.limits, payload).map_err(EngineError::Refused)?;
        self.permit(by, Act::Emit { owner, event: key }).await?;
        let mut taken = 0;
        let mut after = None;
        loop {
            let waiting = self.store.turns.waiting_for(owner, key, after.as_ref(), EVENT_BATCH).await?;
            let event = Event::Published { key: key.to_owned(), payload: payload.clone() };
            // At the same time, so that their turns share commits.
            let turns = join_all(waiting.iter().map(|id| self.turn(id, &event))).await;
            for (id, result) in waiting.iter().zip(turns) {
                match result {
                    Ok(_) => taken += 1,
                    // Somebody else was first, or it was another one's event after all.
                    Err(EngineError::Refused(_)) => {}
                    Err(error) if error.is_of_one_instance() => {
                        tracing::error!(instance = %id, error = &error as &dyn std::error::Error, "could not tell it");
                    }
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

    /// Waits until an instance is over, and gives its state. As long as that takes: some node has to be at work on the
    /// store, and a limit is the caller's (`tokio::time::timeout`).
    pub async fn end(&self, id: &InstanceId) -> Result<State, EngineError> {
        self.ended(id).await?;
        self.state(id).await
    }

    /// Waits until an instance is over, and gives its summary.
    pub async fn ended(&self, id: &InstanceId) -> Result<InstanceSummary, EngineError> {
        let watch = self.store.probes.watch(id);
        loop {
            let summary = self.store.reading.instance(id).await?;
            let summary = summary.ok_or_else(|| EngineError::NoInstance(id.clone()))?;
            if summary.status.is_ended() {
                return Ok(summary);
            }
            // A probe may be lost, and not every store carries them between processes.
            tokio::select! {
                () = watch.told() => {}
                () = self.clock.sleep(self.config.poll) => {}
            }
        }
    }

    pub(crate) async fn load(&self, id: &InstanceId) -> Result<(Arc<Graph>, State), EngineError> {
        self.load_with_version(id).await.map(|(_, graph, state)| (graph, state))
    }

    async fn load_with_version(&self, id: &InstanceId) -> Result<(Key, Arc<Graph>, State), EngineError> {
        let loaded = match self.running() {
            Some(running) => running.loads.ask(id.clone()).await?,
            None => self.store.turns.load(id).await?,
        };
        let Loaded { version, rows } = loaded.ok_or_else(|| EngineError::NoInstance(id.clone()))?;
        let graph = self.graph(&version).await?;
        let state = restore(&graph, &rows);
        let state = state.map_err(|source| EngineError::Damaged { id: id.clone(), source })?;
        Ok((version, graph, state))
    }

    /// Lets an event in. The step that follows is taken in the same commit, where this node has room for it.
    pub(crate) async fn turn(&self, id: &InstanceId, event: &Event) -> Result<State, EngineError> {
        self.turn_by(id, event, None, Hands::Any, &mut Vec::new()).await.map(|(state, _)| state)
    }

    /// Loads, decides and commits, again while others are faster. `known`: the state that this node left the instance in;
    /// a plan on it is made without reading, and if it is old the guards say so. `tokens`: under which the step that
    /// follows may have been taken, whatever the answer.
    pub(crate) async fn turn_by(
        &self,
        id: &InstanceId,
        event: &Event,
        mut known: Option<Known>,
        hands: Hands,
        tokens: &mut Vec<Token>,
    ) -> Result<(State, Option<Following>), EngineError> {
        let _front = self.lines.front(id).await;
        for tried in 0..TRIES {
            if tried >= PATIENT_TRY {
                let part = self.draw.draw() % MOMENT.as_micros().unsigned_abs();
                self.clock.sleep(SignedDuration::from_micros(part as i64)).await;
            }
            let is_known = known.is_some();
            let (version, graph, state) = match known.take() {
                Some(known) => known,
                None => self.load_with_version(id).await?,
            };
            let mut plan = match decide(&graph, &self.config.limits, &state, event, self.now()) {
                Ok(plan) => plan,
                // The rows may know of a longer lease, for one.
                Err(_) if is_known => continue,
                Err(refusal) => return Err(EngineError::Refused(refusal)),
            };
            let hand = if hands == Hands::Any { self.hand() } else { None };
            let next = if hands == Hands::Own || hand.is_some() {
                self.take_next(&version, &graph, &mut plan)
            } else {
                None
            };
            tokens.extend(next.as_ref().map(|(claimed, _)| claimed.claim.token.clone()));
            let (own, other) = match hand {
                Some(hand) => (None, next.map(|next| (hand, next))),
                None => (next, None),
            };
            let after = plan.state.clone();
            if self.commit(Turn { new: None, plan }, other).await? == Committed::Done {
                return Ok((after, own));
            }
        }
        Err(EngineError::Busy(id.clone()))
    }

    /// Commits a turn. `next`: the step that it takes, and room for it; it is performed once the turn is done, whether or
    /// not the caller still waits for that.
    async fn commit(&self, turn: Turn, next: Option<(Hand, Following)>) -> Result<Committed, EngineError> {
        let (leaves_work, ended) = (turn.plan.leaves_work(), turn.plan.state.life.status().is_ended());
        let id = turn.plan.state.id.clone();
        let committed = match self.running() {
            Some(running) => running.commits.ask((turn, next)).await?,
            None => self.store.turns.commit(vec![turn]).await?.pop().unwrap_or(Err(StoreError::Closed))?,
        };
        if committed == Committed::Done {
            self.tell(id, leaves_work, ended);
        }
        Ok(committed)
    }

    /// Tells of what a turn has done, to whom it may concern.
    fn tell(&self, id: InstanceId, leaves_work: bool, ended: bool) {
        if leaves_work {
            self.store.probes.push(Probe::Work);
        }
        if ended {
            self.store.probes.push(Probe::Ended(id));
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

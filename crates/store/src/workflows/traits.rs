//! Who may ask what of the workflow rows.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_workflow::{Actor, ActorMode, InstanceId, Plan, Rows, StartRate, StepKey, Token};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;

use super::{
    DefinitionSummary, InstanceCursor, InstanceFilter, InstanceSummary, OverlayCount, Page, Payloads,
    TimelineCursor, TimelineEntry, VersionSummary, Watch,
};
use crate::StoreError;

/// A row's primary key, of whichever type the installation has (W2), as text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub String);

/// Definitions and their versions.
#[async_trait]
pub trait Publishing: Send + Sync {
    /// Publishes a version, and makes its definition where there is none. The same graph as the current version's is
    /// no new version. What is published never changes (W5).
    async fn publish(&self, version: &NewVersion, now: Timestamp) -> Result<Version, PublishError>;

    /// The keys of the version that new instances of a definition run, and of the definition, without reading the
    /// document.
    async fn current_key(&self, owner_scope: &str, key: &str) -> Result<Option<(Key, Key)>, StoreError>;

    /// A version, by its key.
    async fn version(&self, version: &Key) -> Result<Option<Version>, StoreError>;
}

/// Instances, for whoever moves them.
#[async_trait]
pub trait Turns: Send + Sync {
    /// Everything about an instance, as of one moment.
    async fn load(&self, id: &InstanceId) -> Result<Option<Loaded>, StoreError> {
        let mut loaded = self.load_all(std::slice::from_ref(id)).await?;
        loaded.pop().unwrap_or(Ok(None))
    }

    /// Everything about some instances, as of one moment, in the order of the ids. A damaged one spoils no other.
    async fn load_all(
        &self,
        ids: &[InstanceId],
    ) -> Result<Vec<Result<Option<Loaded>, StoreError>>, StoreError>;

    /// Performs turns in one commit. Each is done or not by itself: the answers are in the order of the turns, and one
    /// that can't be written spoils no other. An error of the whole means that nobody knows about any of them.
    async fn commit(&self, turns: Vec<Turn>) -> Result<Vec<Result<Committed, StoreError>>, StoreError>;

    /// Up to `limit` of an owner's instances that wait for an event, in the order of their ids, from after `after` on.
    /// An owner's events are nobody else's; `None`: the whole application's own.
    async fn waiting_for(
        &self,
        owner: Option<&Morph>,
        event_key: &str,
        after: Option<&InstanceId>,
        limit: u16,
    ) -> Result<Vec<InstanceId>, StoreError>;
}

/// What there is to do. The database is the truth, and probes are hints: these find everything again (W17).
#[async_trait]
pub trait Work: Send + Sync {
    /// Takes up to as many queued steps as there are tokens, the longest due first, each under a token of its own,
    /// until `until` (W16).
    async fn claim(
        &self,
        tokens: &[Token],
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<Claimed>, StoreError>;

    /// Prolongs a claim. `false`: it is lost, and whoever thought to hold it holds nothing.
    async fn heartbeat(&self, claim: &ClaimRef, until: Timestamp) -> Result<bool, StoreError>;

    /// Gives a step back untouched, to be taken from `from` on. `false`: the claim is lost.
    async fn release(&self, claim: &ClaimRef, from: Timestamp) -> Result<bool, StoreError>;

    /// Up to `limit` of each kind of what is overdue, the longest due first. What is handed out isn't handed out
    /// again before `again_after` has passed, so that nothing that goes wrong every time stands in the way of the
    /// others.
    async fn due(
        &self,
        now: Timestamp,
        again_after: SignedDuration,
        limit: u16,
    ) -> Result<Vec<Due>, StoreError>;

    /// When there will be something to do again, as far as the rows say; for clocks that can be moved.
    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError>;
}

/// What handlers ask for: as whom they act, and effects that happen once per instance (W21, W22).
#[async_trait]
pub trait Effects: Send + Sync {
    /// As whom an instance's steps may act; none of it ever changes. `None`: there is no such instance.
    async fn actors(&self, instance: &InstanceId) -> Result<Option<Actors>, StoreError>;

    /// What came of an effect, if it is known. `digest` stands for its key and its instance.
    async fn effect(&self, instance: &InstanceId, digest: &str) -> Result<Option<Json>, StoreError>;

    /// Keeps what came of an effect; what it gives is what is kept, which is an earlier one's where there is one.
    async fn keep_effect(
        &self,
        instance: &InstanceId,
        digest: &str,
        result: &Json,
        now: Timestamp,
    ) -> Result<Json, StoreError>;
}

/// What people look at. Pages have up to `limit` items. An owner is never left out by mistake: where one is asked for,
/// nothing of another's is given.
#[async_trait]
pub trait Reading: Send + Sync {
    /// An owner's definitions in the order of their keys, from after the key `after` on.
    async fn definitions(
        &self,
        owner_scope: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<Page<DefinitionSummary, String>, StoreError>;

    /// One of them, by its key.
    async fn definition(&self, owner_scope: &str, key: &str)
    -> Result<Option<DefinitionSummary>, StoreError>;

    /// A definition's versions, newest first, those with numbers less than `before`.
    async fn versions(
        &self,
        definition: &Key,
        before: Option<u32>,
        limit: u16,
    ) -> Result<Page<VersionSummary, u32>, StoreError>;

    /// One of them, by its number.
    async fn numbered(&self, definition: &Key, number: u32) -> Result<Option<VersionSummary>, StoreError> {
        let page = self.versions(definition, Some(number.saturating_add(1)), 1).await?;
        Ok(page.items.into_iter().find(|version| version.number == number))
    }

    /// Instances, newest first, along `winst_rate_idx` of the definition or, where the filter names none, of the owner's
    /// first [`MOST_MERGED`](super::MOST_MERGED) by their keys: instances of any other are listed by naming it. No more
    /// than [`MOST_LOOKED_AT`](super::MOST_LOOKED_AT) are looked at: a page may be short and still have a next one.
    async fn instances(
        &self,
        filter: &InstanceFilter,
        after: Option<&InstanceCursor>,
        limit: u16,
    ) -> Result<Page<InstanceSummary, InstanceCursor>, StoreError>;

    /// One instance, whoever it belongs to: the caller looks at its owner.
    async fn instance(&self, id: &InstanceId) -> Result<Option<InstanceSummary>, StoreError>;

    /// What one instance carries.
    async fn payloads(&self, id: &InstanceId) -> Result<Option<Payloads>, StoreError>;

    /// Where the live instances of a version stand, in the order of nodes and statuses: one query over
    /// `winst_overlay_idx` (W29).
    async fn overlay(&self, version: &Key) -> Result<Vec<OverlayCount>, StoreError>;

    /// What has happened to an instance, in order, from after `after` on (W31). Of an instance that is not there
    /// nothing has.
    async fn timeline(
        &self,
        id: &InstanceId,
        after: Option<&TimelineCursor>,
        limit: u16,
    ) -> Result<Page<TimelineEntry, TimelineCursor>, StoreError>;
}

/// Hints that there is something to see. One may be lost, come twice or late, and costs time only: the rows are the
/// truth (W17).
#[async_trait]
pub trait Probes: Send + Sync {
    /// Tells the others, whichever process they are in, as far as the adapter reaches.
    fn push(&self, probe: Probe);

    /// Comes back when there may be a step to take. Of several who wait in one process, one is told.
    async fn work(&self);

    /// Waits, from now on, for the end of an instance.
    fn watch(&self, id: &InstanceId) -> Watch;
}

/// A hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// There is a step to take.
    Work,
    /// An instance is over.
    Ended(InstanceId),
}

/// The rows by caller, cheap to clone.
#[derive(Clone)]
pub struct WorkflowStore {
    /// For whoever keeps definitions.
    pub publishing: Arc<dyn Publishing>,
    /// For whoever moves instances.
    pub turns: Arc<dyn Turns>,
    /// For whoever looks for something to do.
    pub work: Arc<dyn Work>,
    /// For handlers.
    pub effects: Arc<dyn Effects>,
    /// For whoever waits for others.
    pub probes: Arc<dyn Probes>,
    /// For people.
    pub reading: Arc<dyn Reading>,
}

impl WorkflowStore {
    /// All of them from one adapter.
    pub fn of<T: Publishing + Turns + Work + Effects + Probes + Reading + 'static>(adapter: Arc<T>) -> Self {
        Self {
            publishing: adapter.clone(),
            turns: adapter.clone(),
            work: adapter.clone(),
            effects: adapter.clone(),
            probes: adapter.clone(),
            reading: adapter,
        }
    }
}

/// A host's own record: the two halves of a morph pair.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Morph {
    /// Its type.
    pub kind: String,
    /// Its key.
    pub id: String,
}

impl From<Morph> for Actor {
    fn from(Morph { kind, id }: Morph) -> Self {
        Self::Named { kind, id }
    }
}

/// As whom an instance's steps may act, from its row and its version's (W22).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actors {
    /// Which of them it is.
    pub mode: ActorMode,
    /// Who started it.
    pub starter: Option<Morph>,
    /// Whose it is.
    pub owner: Option<Morph>,
    /// Who published its version.
    pub publisher: Option<Morph>,
}

impl Actors {
    /// As whom they act. Where nobody has that part, it is the system's.
    pub fn actor(self) -> Actor {
        let named = match self.mode {
            ActorMode::System => None,
            ActorMode::Starter => self.starter,
            ActorMode::Owner => self.owner,
            ActorMode::Publisher => self.publisher,
        };
        named.map_or(Actor::System, Actor::from)
    }
}

/// The owner's scope: `<type>:<key>`, or `*` for the whole application (W4).
pub fn owner_scope(owner: Option<&Morph>) -> String {
    owner.map_or_else(|| "*".to_owned(), |owner| format!("{}:{}", owner.kind, owner.id))
}

/// A version to be published. Its graph has been checked.
#[derive(Debug, Clone, PartialEq)]
pub struct NewVersion {
    /// Whose definition it is; `None`: the whole application's.
    pub owner: Option<Morph>,
    /// The definition's key.
    pub key: String,
    /// Its name.
    pub name: String,
    /// The whole document.
    pub document: Json,
    /// `trigger_type` and `trigger_key`.
    pub trigger: (String, Option<String>),
    /// `actor_mode`.
    pub actor_mode: ActorMode,
    /// The document's checksum.
    pub checksum: String,
    /// Who publishes it.
    pub publisher: Option<Morph>,
    /// The checksum that the current version must have; `None`: whatever it is.
    pub expected_checksum: Option<String>,
}

/// A published version.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// Its key.
    pub id: Key,
    /// Its definition's key.
    pub definition: Key,
    /// Its number within the definition, from 1.
    pub number: u32,
    /// The document.
    pub document: Arc<Json>,
    /// The document's checksum.
    pub checksum: String,
    /// `actor_mode`.
    pub actor_mode: ActorMode,
}

/// Why a version was not published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// Somebody else has published in between.
    #[error("the current version's checksum is {present}, not the expected one")]
    Changed {
        /// The current version's, empty where there is none.
        present: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An instance's rows and the version that it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The version.
    pub version: Key,
    /// The rows.
    pub rows: Rows,
}

/// A turn to be performed.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// What a new instance's row has besides; `None`: the instance is there.
    pub new: Option<NewInstance>,
    /// What to write.
    pub plan: Plan,
}

/// What a new instance's row has besides what turns change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewInstance {
    /// Its version.
    pub version: Key,
    /// Its version's definition.
    pub definition: Key,
    /// Whose it is.
    pub owner: Option<Morph>,
    /// `trigger_type` and `trigger_key`.
    pub trigger: (String, Option<String>),
    /// As whom its steps act.
    pub actor_mode: ActorMode,
    /// Who started it.
    pub starter: Option<Morph>,
    /// The digest of its idempotency key, and until when that counts.
    pub idempotency: Option<(String, Timestamp)>,
    /// How many of its definition may start in a while. A start whose idempotency key has been seen isn't counted,
    /// and isn't refused for it either.
    pub rate: Option<StartRate>,
}

/// What came of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Committed {
    /// It is done.
    Done,
    /// The rows were not what it was decided on; nothing of it is done.
    Conflict,
    /// A start whose idempotency key has been seen: this is the first instance.
    Existing(InstanceId),
    /// A start of which there were too many; nothing of it is done. Whoever counts and inserts does both in one, with
    /// nobody in between, whichever process they are in.
    Limited {
        /// When another one may start.
        again_at: Timestamp,
    },
}

/// A claim on a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClaimRef {
    /// The step's instance.
    pub instance: InstanceId,
    /// The step.
    pub step: StepKey,
    /// The claim's token.
    pub token: Token,
}

/// A step that was taken, with all that its handler is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// The claim.
    pub claim: ClaimRef,
    /// Its instance's version.
    pub version: Key,
    /// `wf:{ulid}:{node}:{visit}`.
    pub idempotency_key: String,
    /// The evaluated config.
    pub input: Option<Arc<Json>>,
    /// What resumed it, if it was resumed.
    pub resume: Option<Arc<Json>>,
}

/// Something that is overdue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// A claim's lease.
    Lease(InstanceId),
    /// A step's wait.
    Wait(InstanceId),
    /// An instance's time.
    Deadline(InstanceId),
}

//! What people see of the rows: summaries, counts, timelines. None of it moves an instance, and every answer is
//! bounded.

use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use heddle_workflow::{
    ActorMode, Failure, InstanceId, NodeId, Outcome, Status, StepKey, StepStatus, Subject, WaitStatus,
};
use jiff::Timestamp;
use serde_json::Value as Json;

use super::{Key, Morph, owner_scope};

/// How many instances one call looks at before it gives what it has found, and where to go on.
pub const MOST_LOOKED_AT: usize = 10_000;

/// How many of an owner's definitions one list of instances is merged of: those with the first keys. Instances of any
/// other one are listed by its key.
pub const MOST_MERGED: u16 = 1_000;

/// How many instances of a definition an adapter with SQL reads at a time.
pub(super) const CHUNK: u16 = 100;

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T, C> {
    /// What is on it.
    pub items: Vec<T>,
    /// Where the next page begins; `None` on the last one. A page with few items, or none, may have a next one.
    pub next: Option<C>,
}

impl<T, C> Page<T, C> {
    /// A page of `limit` from as many items and one more, if there were that many.
    pub(super) fn cut(mut items: Vec<T>, limit: u16, cursor: impl FnOnce(&T) -> C) -> Self {
        let limit = usize::from(limit);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(cursor);
        Self { items, next }
    }
}

/// The column `status` of a definition and of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishStatus {
    /// In force.
    Published,
    /// A version before the current one.
    Superseded,
}

impl PublishStatus {
    /// Every status.
    pub const ALL: [Self; 2] = [Self::Published, Self::Superseded];

    /// Its name in the row.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Superseded => "superseded",
        }
    }

    /// The status of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// A definition, without its graph.
#[derive(Debug, Clone, PartialEq)]
pub struct DefinitionSummary {
    /// Its row.
    pub id: Key,
    /// Its key, by which its owner knows it.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Whether it is in force.
    pub status: PublishStatus,
    /// The version that new instances run.
    pub current: Option<CurrentVersion>,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// The version that new instances run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentVersion {
    /// Its row.
    pub id: Key,
    /// Its number.
    pub number: u32,
    /// Its document's checksum.
    pub checksum: String,
}

/// A version, without its graph.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionSummary {
    /// Its row.
    pub id: Key,
    /// Its number within the definition, from 1.
    pub number: u32,
    /// Whether it is the current one.
    pub status: PublishStatus,
    /// Its document's checksum.
    pub checksum: String,
    /// As whom its instances' steps act.
    pub actor_mode: ActorMode,
    /// `trigger_type` and `trigger_key`.
    pub trigger: (String, Option<String>),
    /// When it was published.
    pub published_at: Option<Timestamp>,
    /// Who published it.
    pub publisher: Option<Morph>,
}

/// Which instances to list. The owner is no option: nobody sees another's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceFilter {
    /// Whose; `None`: the whole application's own.
    pub owner: Option<Morph>,
    /// Of the definition with this key; `None`: of the owner's first [`MOST_MERGED`] definitions by their keys.
    pub definition: Option<String>,
    /// In one of these; empty: in any.
    pub statuses: BTreeSet<Status>,
    /// About this record.
    pub subject: Option<Morph>,
    /// Started then or later.
    pub started_from: Option<Timestamp>,
    /// Started before.
    pub started_before: Option<Timestamp>,
}

impl InstanceFilter {
    /// All of an owner's instances, or as many definitions' as one list has.
    pub const fn of(owner: Option<Morph>) -> Self {
        Self {
            owner,
            definition: None,
            statuses: BTreeSet::new(),
            subject: None,
            started_from: None,
            started_before: None,
        }
    }

    /// Whether an instance of the right definition and time is wanted.
    pub(super) fn wants(&self, instance: &InstanceSummary) -> bool {
        let subject = &instance.subject;
        let about = |wanted: &Morph| {
            subject.kind.as_ref() == Some(&wanted.kind) && subject.id.as_ref() == Some(&wanted.id)
        };
        instance.owner == self.owner
            && (self.statuses.is_empty() || self.statuses.contains(&instance.status))
            && self.subject.as_ref().is_none_or(about)
    }
}

/// A place in a list of instances, which is by the time of their start and then by id, newest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InstanceCursor {
    /// When the last one was started.
    pub started_at: Timestamp,
    /// Its id.
    pub id: InstanceId,
}

/// An instance, without what it carries.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceSummary {
    /// Its public id.
    pub id: InstanceId,
    /// Whose it is.
    pub owner: Option<Morph>,
    /// Its definition's key.
    pub definition: String,
    /// Its version's row.
    pub version: Key,
    /// Its version's number.
    pub version_number: u32,
    /// Where it stands.
    pub status: Status,
    /// The node that it stands at.
    pub current_node: Option<NodeId>,
    /// How many steps it has taken.
    pub steps_count: u32,
    /// How deep it is nested.
    pub depth: u8,
    /// `trigger_type` and `trigger_key`.
    pub trigger: (Option<String>, Option<String>),
    /// Who started it.
    pub starter: Option<Morph>,
    /// What it is about.
    pub subject: Subject,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// Where it failed.
    pub failed_node: Option<NodeId>,
    /// When it was started.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// When its last turn was.
    pub updated_at: Timestamp,
    /// Raised by every turn.
    pub lock_version: u32,
}

impl InstanceSummary {
    /// Its owner's scope.
    pub fn owner_scope(&self) -> String {
        owner_scope(self.owner.as_ref())
    }

    /// Its place in a list.
    pub fn cursor(&self) -> InstanceCursor {
        InstanceCursor { started_at: self.started_at, id: self.id.clone() }
    }
}

/// Merges the instances of an owner's definitions, of each newest first, into one list.
pub(super) struct Merge {
    walks: Vec<VecDeque<InstanceSummary>>,
    /// The newest one that each walk has ahead of it.
    heads: BinaryHeap<(InstanceCursor, usize)>,
}

impl Merge {
    /// With the first few of each walk.
    pub(super) fn new(walks: impl IntoIterator<Item = Vec<InstanceSummary>>) -> Self {
        let mut merge = Self { walks: Vec::new(), heads: BinaryHeap::new() };
        for (place, first) in walks.into_iter().enumerate() {
            merge.walks.push(VecDeque::new());
            merge.add(place, first);
        }
        merge
    }

    /// The newest of all, and whose walk it comes from.
    pub(super) fn pop(&mut self) -> Option<(InstanceSummary, usize)> {
        let (_, place) = self.heads.pop()?;
        let newest = self.walks[place].pop_front()?;
        self.offer(place);
        Some((newest, place))
    }

    /// Whether a walk has to be read on.
    pub(super) fn is_dry(&self, place: usize) -> bool {
        self.walks[place].is_empty()
    }

    /// More of a walk that was dry.
    pub(super) fn add(&mut self, place: usize, more: Vec<InstanceSummary>) {
        self.walks[place].extend(more);
        self.offer(place);
    }

    fn offer(&mut self, place: usize) {
        self.heads.extend(self.walks[place].front().map(|next| (next.cursor(), place)));
    }

    /// Whether there is no more.
    pub(super) fn is_over(&self) -> bool {
        self.heads.is_empty()
    }
}

/// A page of instances in the making.
pub(super) struct Sieve<'a> {
    filter: &'a InstanceFilter,
    limit: usize,
    items: Vec<InstanceSummary>,
    looked_at: usize,
}

impl<'a> Sieve<'a> {
    pub(super) fn new(filter: &'a InstanceFilter, limit: u16) -> Self {
        Self { filter, limit: usize::from(limit), items: Vec::new(), looked_at: 0 }
    }

    /// Looks at an instance; whether the page is as full as it may be.
    pub(super) fn look(&mut self, instance: InstanceSummary) -> bool {
        self.looked_at += 1;
        if self.filter.wants(&instance) {
            self.items.push(instance);
        }
        self.items.len() >= self.limit || self.looked_at >= MOST_LOOKED_AT
    }

    pub(super) fn page(self, next: Option<InstanceCursor>) -> Page<InstanceSummary, InstanceCursor> {
        Page { items: self.items, next }
    }
}

/// What an instance was given, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Payloads {
    /// What started it.
    pub trigger: Json,
    /// What came of it, once it is completed.
    pub output: Option<Json>,
}

/// How many live instances stand at one node in one status (W29).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OverlayCount {
    /// The node.
    pub node: NodeId,
    /// The status.
    pub status: Status,
    /// How many.
    pub count: u64,
}

/// A place in a timeline, which is in the order of the rows' making.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineCursor {
    /// When the last entry began.
    pub at: Timestamp,
    /// Whether it was a step; of what began in one turn, steps come first.
    pub is_step: bool,
    /// Its row.
    pub row: Key,
}

/// Something in an instance's life: a row, as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineEntry {
    /// Its row.
    pub row: Key,
    /// When it began.
    pub at: Timestamp,
    /// The step that it is, or that it hangs on.
    pub step: StepKey,
    /// What it is.
    pub what: Happening,
}

impl TimelineEntry {
    pub(super) fn cursor(&self) -> TimelineCursor {
        let is_step = matches!(self.what, Happening::Step { .. });
        TimelineCursor { at: self.at, is_step, row: self.row.clone() }
    }

    /// The order of a timeline but for the rows of one kind and one turn, which their tables have in order.
    pub(super) fn rank(&self) -> (Timestamp, bool) {
        (self.at, !matches!(self.what, Happening::Step { .. }))
    }
}

/// What a timeline's entry is.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    /// An attempt at a step.
    Step {
        /// `node_type`.
        node_type: String,
        /// What has become of it.
        status: StepStatus,
        /// By which outcome the instance went on.
        outcome: Option<Outcome>,
        /// Why it failed.
        failure: Option<Failure>,
        /// From when on it may be, or might have been, taken.
        scheduled_for: Option<Timestamp>,
        /// When it was last taken, or entered.
        started_at: Option<Timestamp>,
        /// When it ended.
        finished_at: Option<Timestamp>,
    },
    /// A wait, the instance's time limit, or a signal that came before its wait.
    Wait {
        /// Which.
        kind: WaitName,
        /// The event's key.
        event_key: Option<String>,
        /// When it is looked at again, or is over.
        due_at: Option<Timestamp>,
        /// What has become of it.
        status: WaitStatus,
        /// When it fired; when a kept signal found its wait.
        fired_at: Option<Timestamp>,
    },
    /// A command that was let in (W31).
    Command {
        /// Which: `pause`, `signal` …
        name: String,
        /// Who gave it; `None`: the engine itself.
        by: Option<Morph>,
        /// The key of a signal.
        event_key: Option<String>,
        /// The outcome of a skip.
        outcome: Option<String>,
    },
}

/// The column `kind` of `workflow_waits`, for those who only look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitName {
    /// A `delay` node's.
    Delay,
    /// A `wait_event` node's.
    Event,
    /// A handler's that asked to be called again.
    Handler,
    /// The instance's time limit.
    Deadline,
    /// A signal that came before its wait.
    Signal,
}

impl WaitName {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Delay, Self::Event, Self::Handler, Self::Deadline, Self::Signal];

    /// Its name in the row.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delay => "delay",
            Self::Event => "event",
            Self::Handler => "handler",
            Self::Deadline => "deadline",
            Self::Signal => "signal",
        }
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

//! Graphs: read once into a checked form, in which every edge is a place and every expression is parsed (W12).
//!
//! [`check`] is the only way to a [`Graph`]. It says all that is wrong at once, each as a [`Finding`].

mod check;
mod config;
mod document;
mod finding;
mod shape;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;

use crate::{Code, Expression, NodeId, Outcome, Template};

pub use check::{Catalog, Checked, HandlerSpec, check};
pub use document::SCHEMA_VERSION;
pub use finding::{Finding, FindingCode, MAX_FINDINGS, Severity};

/// Largest document, in bytes of JSON.
pub const MAX_DOCUMENT_BYTES: usize = 1024 * 1024;
/// Most nodes of a graph.
pub const MAX_NODES: usize = 500;
/// Most edges of a graph.
pub const MAX_EDGES: usize = 2_000;
/// Most steps that a graph may allow an instance, and what it allows where it says nothing.
pub const MAX_STEPS: u32 = 10_000;
/// What a graph allows an instance where it says nothing.
pub const DEFAULT_STEPS: u32 = 1_000;

/// A node's place in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(u16);

/// A checked graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    nodes: Vec<Node>,
    places: BTreeMap<NodeId, NodeIndex>,
    start: NodeIndex,
    trigger: Trigger,
    settings: Settings,
}

impl Graph {
    /// The node at a place of this graph.
    pub fn node(&self, index: NodeIndex) -> &Node {
        &self.nodes[usize::from(index.0)]
    }

    /// The place of a node.
    pub fn find(&self, id: &str) -> Option<NodeIndex> {
        self.places.get(id).copied()
    }

    /// Every node, in the document's order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Where instances begin: the trigger.
    pub const fn start(&self) -> NodeIndex {
        self.start
    }

    /// What starts instances.
    pub const fn trigger(&self) -> &Trigger {
        &self.trigger
    }

    /// What holds for the whole instance.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }
}

/// A checked node.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// Its type as the document names it, which the column `node_type` keeps.
    pub node_type: String,
    /// What it does.
    pub kind: NodeKind,
    /// What happens when it fails.
    pub retry: Retry,
    /// How long one attempt may take.
    pub timeout: Option<SignedDuration>,
    edges: BTreeMap<Outcome, NodeIndex>,
}

impl Node {
    /// Where an outcome leads.
    pub fn edge(&self, outcome: &str) -> Option<NodeIndex> {
        self.edges.get(outcome).copied()
    }

    /// Every edge.
    pub fn edges(&self) -> impl Iterator<Item = (&Outcome, NodeIndex)> {
        self.edges.iter().map(|(outcome, to)| (outcome, *to))
    }
}

/// What a node does.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// Begins.
    Trigger,
    /// Calls a registered handler.
    Action {
        /// Its name.
        handler: String,
        /// What it is given.
        input: Template,
    },
    /// Goes on by `true` or `false`.
    Condition {
        /// What decides.
        expression: Expression,
    },
    /// Goes on by the first case that holds, or else by `default`.
    Switch {
        /// The cases, in order.
        cases: Vec<(Outcome, Expression)>,
    },
    /// Sets variables, one after the other.
    Set {
        /// Their names and values.
        values: Vec<(String, Template)>,
    },
    /// Waits for a time.
    Delay(Delay),
    /// Waits for an event, a condition or the end of its patience.
    WaitEvent(Box<WaitEvent>),
    /// Ends the instance.
    End(Ending),
}

/// Until when a delay waits.
#[derive(Debug, Clone, PartialEq)]
pub enum Delay {
    /// For a length of time.
    For(Length),
    /// Until a time; one that has passed is no wait at all.
    Until(Template),
}

/// A length of time, known or to be worked out.
#[derive(Debug, Clone, PartialEq)]
pub enum Length {
    /// Known.
    Fixed(SignedDuration),
    /// To be worked out.
    Given(Template),
}

/// What a `wait_event` node waits for. Whichever comes first is the outcome: `event`, `condition`, or the outcome
/// of its timeout.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitEvent {
    /// The event's key.
    pub event: Option<Template>,
    /// What an event's payload has to be like, over `event`.
    pub matches: Option<Expression>,
    /// What may come true without an event.
    pub condition: Option<Expression>,
    /// How often the condition is looked at.
    pub check_every: SignedDuration,
    /// How long it waits at most.
    pub timeout: Option<Length>,
    /// What becomes of it then.
    pub timeout_outcome: Outcome,
}

/// How an `end` node ends its instance.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// Well.
    Completed {
        /// What comes of it.
        output: Template,
    },
    /// In failure.
    Failed {
        /// Why.
        code: Code,
        /// Why, in words.
        message: Template,
    },
}

/// What starts instances: the columns `trigger_type` and `trigger_key`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// Somebody's command.
    Manual,
    /// An event.
    Event {
        /// Its key.
        key: String,
    },
}

impl Trigger {
    /// The column `trigger_type`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Event { .. } => "event",
        }
    }

    /// The column `trigger_key`.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Manual => None,
            Self::Event { key } => Some(key),
        }
    }
}

/// As whom an instance's steps act (W22).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ActorMode {
    /// The system.
    #[default]
    System,
    /// Who started it.
    Starter,
    /// Who published the version.
    Publisher,
    /// Who owns it.
    Owner,
}

impl ActorMode {
    /// Every mode.
    pub const ALL: [Self; 4] = [Self::System, Self::Starter, Self::Publisher, Self::Owner];

    /// The column `actor_mode`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Starter => "starter",
            Self::Publisher => "publisher",
            Self::Owner => "owner",
        }
    }

    /// The mode of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// What holds for a whole instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How long an instance may take.
    pub timeout: Option<SignedDuration>,
    /// How many steps it may take.
    pub max_steps: u32,
    /// As whom its steps act.
    pub actor_mode: ActorMode,
    /// How many of its definition may start in a while.
    pub start_rate: Option<StartRate>,
}

/// How many instances of a definition may start in a while (W29): in no stretch of that length are there more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartRate {
    /// How many.
    pub count: u32,
    /// In how long.
    pub per: SignedDuration,
}

impl StartRate {
    /// Of the definition's instances those count that were made after this.
    pub fn since(&self, now: Timestamp) -> Timestamp {
        now.checked_sub(self.per).unwrap_or(Timestamp::MIN)
    }

    /// When another one may start, where `created_at` is the time of the last but `count - 1` that counts: until that
    /// one counts no longer.
    pub fn again_at(&self, created_at: Timestamp) -> Timestamp {
        created_at.checked_add(self.per).unwrap_or(Timestamp::MAX)
    }
}

/// What happens when an attempt fails in a way that may pass (W18).
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    /// How many attempts there are, the first included.
    pub max_attempts: u16,
    /// How the pauses between them grow.
    pub backoff: Backoff,
    /// The first pause.
    pub delay: SignedDuration,
    /// The longest pause.
    pub max_delay: SignedDuration,
    /// Which part of a pause is left to chance, in thousandths: a pause is drawn evenly from what is left of it
    /// without that part to the whole.
    pub jitter_thousandths: u16,
}

/// How pauses grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backoff {
    /// They don't.
    Fixed,
    /// By the first one each time.
    Linear,
    /// Twofold each time.
    #[default]
    Exponential,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            max_attempts: 1,
            backoff: Backoff::default(),
            delay: SignedDuration::from_secs(1),
            max_delay: SignedDuration::from_mins(5),
            jitter_thousandths: 100,
        }
    }
}

/// A number from 0 to 1 that the caller draws, in 2³² parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Chance(pub u32);

impl Retry {
    /// The pause after `failures` failed attempts, at least one.
    pub fn pause(&self, failures: u16, chance: Chance) -> SignedDuration {
        let failures = u32::from(failures.max(1));
        let factor = match self.backoff {
            Backoff::Fixed => 1,
            Backoff::Linear => i32::try_from(failures).unwrap_or(i32::MAX),
            Backoff::Exponential => 1_i32.checked_shl(failures - 1).filter(|it| *it > 0).unwrap_or(i32::MAX),
        };
        let whole = self.delay.checked_mul(factor).unwrap_or(self.max_delay).min(self.max_delay);
        // Whole milliseconds: that is what every database keeps.
        let whole = whole.as_millis().max(0);
        let chancy = whole * i128::from(self.jitter_thousandths) / 1_000;
        let taken = chancy * i128::from(chance.0) / i128::from(u32::MAX);
        SignedDuration::from_millis(i64::try_from(whole - taken).unwrap_or(i64::MAX))
    }
}

/// A JSON pointer (RFC 6901) of these parts.
pub(crate) fn pointer(parts: &[&str]) -> String {
    parts.iter().fold(String::new(), |mut pointer, part| {
        pointer.push('/');
        pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));
        pointer
    })
}

/// The trigger node's config and the settings of a document, for the columns `trigger` and `settings`.
pub fn columns(document: &Json) -> (Json, Json) {
    let nodes = document.get("nodes").and_then(Json::as_array);
    let is_trigger = |node: &&Json| node.get("type").and_then(Json::as_str) == Some("trigger");
    let trigger = nodes.and_then(|nodes| nodes.iter().find(is_trigger)).and_then(|node| node.get("config"));
    let or_empty =
        |part: Option<&Json>| part.cloned().unwrap_or_else(|| Json::Object(serde_json::Map::new()));
    (or_empty(trigger), or_empty(document.get("settings")))
}

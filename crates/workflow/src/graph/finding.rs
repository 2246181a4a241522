//! What is wrong with a graph.

use std::fmt;

use crate::NodeId;

/// Most findings that are said of one graph; that there are more is one more.
pub const MAX_FINDINGS: usize = 200;

/// Something to be said of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub code: FindingCode,
    /// Whether it can be published all the same.
    pub severity: Severity,
    /// The node it is about.
    pub node: Option<NodeId>,
    /// Where in the document, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// In words.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({}) at {}", self.severity, self.message, self.code, self.pointer)
    }
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Forbids publishing.
    Error,
    /// Worth a look.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal;)+) => {
        /// What a finding is. The names are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FindingCode {
            $($(#[$doc])* $variant,)+
        }

        impl FindingCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its stable name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

codes! {
    /// The document is not shaped like one.
    BadDocument = "bad_document";
    /// It is of another schema.
    UnknownSchema = "unknown_schema";
    /// It is larger than graphs may be.
    TooLarge = "too_large";
    /// An id that is none.
    BadId = "bad_id";
    /// Two nodes have one id.
    DuplicateId = "duplicate_id";
    /// A node of a type that is not there.
    UnknownType = "unknown_type";
    /// A node's config, retry or timeout, or the settings, are not what they should be.
    BadConfig = "bad_config";
    /// A start rate that is none.
    BadStartRate = "bad_start_rate";
    /// An action whose handler is not registered.
    UnknownHandler = "unknown_handler";
    /// An expression or template that can't work.
    BadExpression = "bad_expression";
    /// An edge from or to a node that is not there.
    UnknownNode = "unknown_node";
    /// An edge for an outcome that its node never has.
    UnknownOutcome = "unknown_outcome";
    /// Two edges for one outcome.
    DuplicateEdge = "duplicate_edge";
    /// An edge into the trigger.
    EdgeIntoTrigger = "edge_into_trigger";
    /// An outcome that leads nowhere.
    MissingOutcome = "missing_outcome";
    /// No trigger.
    NoTrigger = "no_trigger";
    /// More than one trigger.
    SeveralTriggers = "several_triggers";
    /// No end.
    NoEnd = "no_end";
    /// A node that no instance ever comes to.
    Unreachable = "unreachable";
    /// A node from which no instance ever comes to an end.
    NoWayOut = "no_way_out";
    /// A loop that neither waits nor says how often it may go round.
    BusyLoop = "busy_loop";
    /// A wait that may last for ever.
    UnboundedWait = "unbounded_wait";
    /// A trigger of a kind that nothing starts instances by yet.
    IdleTrigger = "idle_trigger";
    /// There is more to be said than is said.
    MoreFindings = "more_findings";
}

impl fmt::Display for FindingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

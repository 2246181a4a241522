//! The enums of the row and their codes: numeric strings (G1), with a name for everything that people read.

use serde::{Deserialize, Serialize};

/// Gives an enum its code in the row and its name everywhere else, both ways.
macro_rules! coded {
    ($type:ident { $($variant:ident = $code:literal, $name:literal;)+ }) => {
        impl $type {
            /// Every value, by ascending code.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The code stored in the row.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code),+ }
            }

            /// The value of a code, or `None` where the code is not one of this enum's.
            pub fn from_code(code: &str) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }

            /// The name used in URLs, object keys, messages and answers.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The value of a name, or `None` where the name is not one of this enum's.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

/// Which way a run goes. Dispatch is on this value alone, never on which optional fields are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// Wireframe to design. `'0'` in the row.
    Wf2des,
    /// Design to wireframe. `'1'` in the row.
    Des2wf,
}

coded!(Edge {
    Wf2des = "0", "wf2des";
    Des2wf = "1", "des2wf";
});

/// The column `status`, without what a state carries: see [`State`](crate::State).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Alive: the run holds the fence of its node (G2).
    Processing,
    /// Done.
    Completed,
    /// Could not be done.
    Failed,
    /// The designer refused the parse.
    Rejected,
    /// Called off.
    Cancelled,
}

coded!(Status {
    Processing = "0", "processing";
    Completed = "1", "completed";
    Failed = "2", "failed";
    Rejected = "3", "rejected";
    Cancelled = "4", "cancelled";
});

/// The column `phase`: what a processing run is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// A worker reads the source. A one-shot run stays here to its end.
    Parse,
    /// The parse is shown and waits for a designer's word (wf2des only).
    AwaitingConfirm,
    /// A worker assembles what was confirmed (wf2des only).
    Assemble,
}

coded!(Phase {
    Parse = "0", "parse";
    AwaitingConfirm = "1", "awaiting_confirm";
    Assemble = "2", "assemble";
});

/// The column `auto_confirm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AutoConfirm {
    /// Parse, then wait for confirmation.
    Normal,
    /// Parse and assemble in one call.
    Auto,
}

coded!(AutoConfirm {
    Normal = "0", "normal";
    Auto = "1", "auto";
});

/// The column `trigger_surface`: where the request came from, as the caller's credentials say (G10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TriggerSurface {
    /// The HTTP API.
    Api,
    /// The Figma plugin.
    Plugin,
}

coded!(TriggerSurface {
    Api = "0", "api";
    Plugin = "1", "plugin";
});

/// The column `feedback_status`: bookkeeping only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FeedbackStatus {
    /// The result was corrected by hand.
    Fixed,
    /// The result was taken as it was.
    Adopted,
}

coded!(FeedbackStatus {
    Fixed = "0", "fixed";
    Adopted = "1", "adopted";
});

#[cfg(test)]
mod tests {
    use super::*;

    /// proves G1: the enums are stored as the numeric strings of the contract, and come back from them.
    #[test]
    fn codes_are_the_contracts() {
        fn codes<T: Copy + PartialEq + std::fmt::Debug>(
            all: &[T],
            code: fn(T) -> &'static str,
            back: fn(&str) -> Option<T>,
        ) -> String {
            for value in all {
                assert_eq!(back(code(*value)), Some(*value));
            }
            assert_eq!(back("9"), None);
            assert_eq!(back(""), None);
            all.iter().map(|value| format!("{}{value:?}", code(*value))).collect::<Vec<_>>().join(" ")
        }
        assert_eq!(codes(Edge::ALL, Edge::code, Edge::from_code), "0Wf2des 1Des2wf");
        assert_eq!(
            codes(Status::ALL, Status::code, Status::from_code),
            "0Processing 1Completed 2Failed 3Rejected 4Cancelled"
        );
        assert_eq!(codes(Phase::ALL, Phase::code, Phase::from_code), "0Parse 1AwaitingConfirm 2Assemble");
        assert_eq!(codes(AutoConfirm::ALL, AutoConfirm::code, AutoConfirm::from_code), "0Normal 1Auto");
        assert_eq!(
            codes(TriggerSurface::ALL, TriggerSurface::code, TriggerSurface::from_code),
            "0Api 1Plugin"
        );
        assert_eq!(
            codes(FeedbackStatus::ALL, FeedbackStatus::code, FeedbackStatus::from_code),
            "0Fixed 1Adopted"
        );
        for edge in Edge::ALL {
            assert_eq!(Edge::from_name(edge.name()), Some(*edge));
            assert_eq!(serde_json::to_value(edge).unwrap(), edge.name());
        }
    }
}

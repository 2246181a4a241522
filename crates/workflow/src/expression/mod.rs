//! Conditions and templates (W14): CEL through the crate `cel`, free of side effects and bounded.
//!
//! What bounds an expression: its source by [`MAX_SOURCE_BYTES`], its nesting by [`MAX_DEPTH`], and its evaluation by
//! [`BUDGET`] units. The crate `cel` has no such budget of its own, so the parsed tree is rewritten once: whatever
//! iterates, allocates or compares is wrapped in a call that charges for it before it goes on (`bound`). A unit is
//! one visit of a tree's node or sixteen bytes; time is bounded through it and never looked at, so that an
//! evaluation has the same result on every machine. All expressions of a turn share a [`TurnBudget`], which also pays
//! for what is handed to them (only the fields that they name) and for what is made of their results.
//!
//! Types: there is no checker in `cel`, so `check` finds what is certain without one (unknown names and functions,
//! wrong numbers of arguments, operators between literals or results that never fit) and the rest shows at run time.
//! `matches` is absent: it compiles a pattern at every call, which nothing here could bound.

mod bound;
mod check;
mod convert;
mod template;

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, LazyLock};

use cel::common::ast::IdedExpr;
use cel::common::types::CelBool;
use cel::common::value::Val;
use cel::parser::Parser;
use cel::{Context, Env};
use jiff::Timestamp;
use serde_json::{Map, Value as Json};

use bound::Meter;
pub use bound::TurnBudget;
pub use check::Kind;
pub(crate) use template::short_pointer;
pub use template::{Piece, Template, TemplateError};

/// Longest source of one expression, in bytes.
pub const MAX_SOURCE_BYTES: usize = 2_048;
/// Deepest nesting of one expression, in nodes of its tree.
pub const MAX_DEPTH: usize = 40;
/// What one evaluation may cost, in units.
pub const BUDGET: u64 = 200_000;
/// What an evaluation costs before it has looked at anything, in units.
const BASE: u64 = 50;

static STANDARD: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// Why an expression can't be used, or had no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// Longer than [`MAX_SOURCE_BYTES`].
    #[error("the expression has {bytes} bytes; {MAX_SOURCE_BYTES} are the most")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Nested deeper than [`MAX_DEPTH`].
    #[error("the expression is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// Not CEL.
    #[error("not a CEL expression: {0}")]
    Syntax(String),
    /// It names what is not there, or puts together what never fits.
    #[error("{0}")]
    Type(String),
    /// It cost more than [`BUDGET`].
    #[error("the expression takes more than {BUDGET} steps on this data")]
    Budget,
    /// It and the others of its turn cost more than a turn may.
    #[error("the expressions of one turn take more steps than a turn may")]
    TurnBudget,
    /// It gives more than there is room for.
    #[error("it has more than {most} bytes of JSON, which are the most")]
    TooLarge {
        /// The limit.
        most: usize,
    },
    /// It failed on the data at hand.
    #[error("the expression has no value: {0}")]
    Evaluation(String),
    /// Its value is not what the place needs.
    #[error("the expression gives {found}; this place needs {needed}")]
    WrongResult {
        /// What it gave.
        found: &'static str,
        /// What was needed.
        needed: &'static str,
    },
}

/// What an expression may look at.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// `trigger`: the payload that started the instance.
    pub trigger: &'a Json,
    /// `subject`: what the instance is about.
    pub subject: &'a Json,
    /// `vars`: what `set` nodes have set.
    pub vars: &'a Map<String, Json>,
    /// `steps.<node>`: `output`, `outcome` and `error` of each node's last run.
    pub steps: &'a Map<String, Json>,
    /// `event`: the payload at hand, where a match is decided; null anywhere else.
    pub event: &'a Json,
    /// `now`.
    pub now: Timestamp,
    /// What the expressions of the turn may still cost.
    pub budget: &'a TurnBudget,
}

/// Which parts of a scope an expression looks at, so that only these are handed to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Uses {
    /// The variables, and what of each.
    pub roots: BTreeMap<String, Part>,
}

/// What is looked at of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// All of it, or who knows what.
    Whole,
    /// These fields, and nothing else.
    Fields(BTreeMap<String, Part>),
}

impl Part {
    /// Not more than what kind of a value it is.
    pub const fn nothing() -> Self {
        Self::Fields(BTreeMap::new())
    }

    /// Adds what a path leads to.
    fn add(&mut self, path: &[&str], end: Self) {
        let Self::Fields(fields) = self else { return };
        match path {
            [] if end == Self::Whole => *self = end,
            [] => {}
            [first, rest @ ..] => {
                fields.entry((*first).to_owned()).or_insert_with(Self::nothing).add(rest, end);
            }
        }
    }
}

/// How much more may be made, in bytes of JSON. What is taken of it is never more than what the JSON will have.
#[derive(Debug, Clone)]
struct Room {
    left: usize,
    most: usize,
}

impl Room {
    const fn new(most: usize) -> Self {
        Self { left: most, most }
    }

    fn take(&mut self, bytes: usize) -> Result<(), ExpressionError> {
        self.left = self.left.checked_sub(bytes).ok_or(ExpressionError::TooLarge { most: self.most })?;
        Ok(())
    }
}

/// The variables of a [`Scope`].
pub const ROOTS: [&str; 6] = ["trigger", "subject", "vars", "steps", "event", "now"];

/// A checked expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    source: String,
    root: IdedExpr,
    kind: Kind,
    uses: Uses,
    /// What it costs whatever it looks at.
    base: u64,
}

impl Expression {
    /// Parses and checks `source`.
    pub fn parse(source: &str) -> Result<Self, ExpressionError> {
        if source.len() > MAX_SOURCE_BYTES {
            return Err(ExpressionError::TooLong { bytes: source.len() });
        }
        if nests_deeper_than(source, MAX_DEPTH) {
            return Err(ExpressionError::TooDeep);
        }
        let mut root = Parser::new()
            .max_recursion_depth(MAX_DEPTH as u16)
            .error_recovery_limit(4)
            .parse(source)
            .map_err(|errors| ExpressionError::Syntax(first_line(&errors.to_string())))?;
        if bound::depth(&root) > MAX_DEPTH {
            return Err(ExpressionError::TooDeep);
        }
        let (kind, uses) = check::check(&root).map_err(ExpressionError::Type)?;
        let base = BASE + bound::nodes(&root).unsigned_abs();
        bound::instrument(&mut root);
        Ok(Self { source: source.to_owned(), root, kind, uses, base })
    }

    /// As it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What it gives, as far as that is certain.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// What it looks at.
    pub const fn uses(&self) -> &Uses {
        &self.uses
    }

    /// Its value, of at most so many bytes of JSON.
    pub fn evaluate(&self, scope: &Scope<'_>, most: usize) -> Result<Json, ExpressionError> {
        self.evaluate_into(scope, &mut Room::new(most))
    }

    fn evaluate_into(&self, scope: &Scope<'_>, room: &mut Room) -> Result<Json, ExpressionError> {
        self.run(scope, |value| convert::to_json(value, room, scope.budget))
    }

    /// Its value, which has to be a truth value.
    pub fn is_true(&self, scope: &Scope<'_>) -> Result<bool, ExpressionError> {
        self.run(scope, |value| match value.downcast_ref::<CelBool>() {
            Some(truth) => Ok(*truth.inner()),
            None => {
                Err(ExpressionError::WrongResult { found: convert::name(value), needed: "true or false" })
            }
        })
    }

    fn run<T>(
        &self,
        scope: &Scope<'_>,
        take: impl FnOnce(&dyn Val) -> Result<T, ExpressionError>,
    ) -> Result<T, ExpressionError> {
        let budget = scope.budget;
        budget.take(self.base)?;
        let meter = Meter::new(BUDGET, budget.clone());
        let mut context = Context::with_env(Arc::clone(&STANDARD));
        meter.install(&mut context)?;
        let before = budget.left();
        for (name, part) in &self.uses.roots {
            context.add_variable_as_val(name.as_str(), root_value(name, part, scope, &meter)?);
        }
        let handed = before - budget.left();
        let value = cel::Value::resolve_val(&self.root, &context);
        if let Some(spent) = meter.spent() {
            return Err(spent);
        }
        match value {
            Ok(value) => take(value.as_ref()),
            Err(error) => {
                // An error may have copied all that it was about.
                budget.take(handed)?;
                Err(ExpressionError::Evaluation(shortened(&error)))
            }
        }
    }
}

fn root_value<'v>(
    name: &str,
    part: &Part,
    scope: &Scope<'v>,
    meter: &Meter,
) -> Result<Box<dyn Val + 'v>, ExpressionError> {
    match name {
        "trigger" => convert::from_json(scope.trigger, part, meter),
        "subject" => convert::from_json(scope.subject, part, meter),
        "event" => convert::from_json(scope.event, part, meter),
        "vars" => convert::map(scope.vars, part, meter),
        "steps" => convert::map(scope.steps, part, meter),
        _ => convert::from_time(scope.now),
    }
}

/// Whether brackets, unary operators or chains nest or run on so long that a parser by recursive descent would
/// eat its stack. Looks at characters alone, so what is inside strings counts too: an expression has room for that.
fn nests_deeper_than(source: &str, most: usize) -> bool {
    let (mut open, mut deepest) = (0_usize, 0_usize);
    for byte in source.bytes() {
        match byte {
            b'(' | b'[' | b'{' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest > most
}

fn first_line(text: &str) -> String {
    shortened(&text.lines().next().unwrap_or_default())
}

/// At most two hundred characters of a message: `cel` quotes whole values in its own.
fn shortened(message: &dyn fmt::Display) -> String {
    const MOST: usize = 200;

    /// Takes no more than it needs to know that there is more.
    struct Beginning(String);

    impl fmt::Write for Beginning {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let most = 4 * (MOST + 1);
            let room = most.saturating_sub(self.0.len());
            let end = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
            self.0.push_str(&text[..end.unwrap_or_default()]);
            if self.0.len() + 4 > most { Err(fmt::Error) } else { Ok(()) }
        }
    }

    let mut beginning = Beginning(String::new());
    // What doesn't fit is what is left out.
    let _ = write!(beginning, "{message}");
    let text = beginning.0;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests;

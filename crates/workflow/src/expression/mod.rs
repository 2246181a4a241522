//! Conditions and templates (W14): CEL through the crate `cel`, free of side effects and bounded.
//!
//! What bounds an expression: its source by [`MAX_SOURCE_BYTES`], its nesting by [`MAX_DEPTH`], and its evaluation by
//! [`BUDGET`] units. The crate `cel` has no such budget of its own, so the parsed tree is rewritten once: whatever
//! iterates, allocates or compares is wrapped in a call that charges for it before it goes on (`bound`). A unit is
//! one visit of a tree's node or sixteen bytes; time is bounded through it and never looked at, so that an
//! evaluation has the same result on every machine.
//!
//! Types: there is no checker in `cel`, so `check` finds what is certain without one (unknown names and functions,
//! wrong numbers of arguments, operators between literals or results that never fit) and the rest shows at run time.
//! `matches` is absent: it compiles a pattern at every call, which nothing here could bound.

mod bound;
mod check;
mod convert;
mod template;

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use cel::common::ast::IdedExpr;
use cel::parser::Parser;
use cel::{Context, Env};
use jiff::Timestamp;
use serde_json::{Map, Value as Json};

use bound::Meter;
pub use check::Kind;
pub use template::{Template, TemplateError};

/// Longest source of one expression, in bytes.
pub const MAX_SOURCE_BYTES: usize = 2_048;
/// Deepest nesting of one expression, in nodes of its tree.
pub const MAX_DEPTH: usize = 40;
/// What one evaluation may cost, in units.
pub const BUDGET: u64 = 200_000;

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
}

/// Which parts of a scope an expression looks at, so that only these are handed to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Uses {
    /// The variables.
    pub roots: BTreeSet<String>,
    /// The nodes under `steps`, where each is named; `None` where any could be meant.
    pub steps: Option<BTreeSet<String>>,
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
        bound::instrument(&mut root);
        Ok(Self { source: source.to_owned(), root, kind, uses })
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

    /// Its value.
    pub fn evaluate(&self, scope: &Scope<'_>) -> Result<Json, ExpressionError> {
        let value = self.run(scope)?;
        convert::to_json(&value)
    }

    /// Its value, which has to be a truth value.
    pub fn is_true(&self, scope: &Scope<'_>) -> Result<bool, ExpressionError> {
        match self.run(scope)? {
            cel::Value::Bool(truth) => Ok(truth),
            other => {
                Err(ExpressionError::WrongResult { found: convert::name(&other), needed: "true or false" })
            }
        }
    }

    fn run(&self, scope: &Scope<'_>) -> Result<cel::Value, ExpressionError> {
        let meter = Meter::new(BUDGET);
        let mut context = Context::with_env(Arc::clone(&STANDARD));
        meter.install(&mut context)?;
        for name in &self.uses.roots {
            context.add_variable_from_value(name.as_str(), self.root_value(name, scope)?);
        }
        cel::Value::resolve(&self.root, &context).map_err(|error| {
            if meter.is_spent() {
                ExpressionError::Budget
            } else {
                ExpressionError::Evaluation(shortened(&error.to_string()))
            }
        })
    }

    fn root_value(&self, name: &str, scope: &Scope<'_>) -> Result<cel::Value, ExpressionError> {
        Ok(match (name, &self.uses.steps) {
            ("trigger", _) => convert::from_json(scope.trigger),
            ("subject", _) => convert::from_json(scope.subject),
            ("event", _) => convert::from_json(scope.event),
            ("vars", _) => convert::map(scope.vars.iter()),
            ("steps", None) => convert::map(scope.steps.iter()),
            ("steps", Some(named)) => {
                convert::map(scope.steps.iter().filter(|(node, _)| named.contains(*node)))
            }
            _ => convert::from_time(scope.now)?,
        })
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
    shortened(text.lines().next().unwrap_or_default())
}

/// At most two hundred characters of a message: `cel` quotes whole values in its own.
fn shortened(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;

//! How an evaluation is held to its budget: the tree is rewritten so that what could grow pays first.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cel::common::ast::operators::{
    ADD, CONDITIONAL, EQUALS, GREATER, GREATER_EQUALS, IN, LESS, LESS_EQUALS, LOGICAL_AND, LOGICAL_NOT,
    LOGICAL_OR, NOT_EQUALS, NOT_STRICTLY_FALSE,
};
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue};
use cel::objects::{Key, Map};
use cel::{Context, ExecutionError, Value};

use super::ExpressionError;

/// Charges for a value by its size and gives it back. No source can name it: `@` starts no identifier.
const CHARGE: &str = "@charge";
/// Charges for an iteration over a value, whose second argument is the cost of one round; gives the list that is
/// iterated. A map gives its keys in order: the order of CEL's own maps differs from run to run.
const RANGE: &str = "@range";
const BYTES_PER_UNIT: usize = 16;

/// What the expressions of one turn may still cost together, in units.
#[derive(Debug, Clone)]
pub struct TurnBudget(Arc<AtomicU64>);

impl TurnBudget {
    /// One of so many units.
    pub fn new(units: u64) -> Self {
        Self(Arc::new(AtomicU64::new(units)))
    }

    /// Whether nothing is left of it: what would have been worked out next was not.
    pub fn is_spent(&self) -> bool {
        self.left() == 0
    }

    /// How many units are left.
    pub fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes `units`, or what is left of them and fails. Once spent it stays so.
    pub fn take(&self, units: u64) -> Result<(), ExpressionError> {
        let left = self.left().saturating_sub(units);
        self.0.store(left, Ordering::Relaxed);
        if left == 0 { Err(ExpressionError::TurnBudget) } else { Ok(()) }
    }

    /// Takes what it costs to make a text of so many bytes.
    pub(crate) fn take_bytes(&self, bytes: usize) -> Result<(), ExpressionError> {
        self.take(byte_units(bytes))
    }
}

/// What is left of one evaluation's budget, and of its turn's.
#[derive(Clone)]
pub(super) struct Meter {
    own: Arc<AtomicU64>,
    pub(super) turn: TurnBudget,
}

impl Meter {
    pub(super) fn new(budget: u64, turn: TurnBudget) -> Self {
        Self { own: Arc::new(AtomicU64::new(budget)), turn }
    }

    /// The error of what can't be paid for any longer.
    pub(super) fn spent(&self) -> Option<ExpressionError> {
        if self.turn.is_spent() {
            Some(ExpressionError::TurnBudget)
        } else if self.own.load(Ordering::Relaxed) == 0 {
            Some(ExpressionError::Budget)
        } else {
            None
        }
    }

    /// Gives `context` the two functions that the rewritten tree calls.
    pub(super) fn install(&self, context: &mut Context<'_, '_>) -> Result<(), ExpressionError> {
        let failed = |error: cel::DeclarationError| ExpressionError::Evaluation(error.to_string());
        let meter = self.clone();
        context.add_function(CHARGE, move |value: Value| meter.charged(value)).map_err(failed)?;
        let meter = self.clone();
        context
            .add_function(RANGE, move |range: Value, round: i64| meter.range(range, round.unsigned_abs()))
            .map_err(failed)
    }

    /// Takes `units`, or what is left of them and fails. Once spent it stays so: an operator that would rather
    /// look at its other side (`||`) finds that this side fails as well.
    fn take(&self, units: u64) -> Result<(), ExecutionError> {
        let spent = || ExecutionError::function_error("budget", "spent");
        let before = self.own.load(Ordering::Relaxed);
        let left = before.saturating_sub(units);
        self.own.store(left, Ordering::Relaxed);
        // An evaluation that fails has cost its turn all that it had, in whatever order it came to a map's entries.
        self.turn.take(units.min(before)).map_err(|_| spent())?;
        if left == 0 { Err(spent()) } else { Ok(()) }
    }

    fn charged(&self, value: Value) -> Result<Value, ExecutionError> {
        self.charge(&value)?;
        Ok(value)
    }

    fn charge(&self, value: &Value) -> Result<(), ExecutionError> {
        match value {
            Value::String(string) => self.take(text_units(string)),
            Value::Bytes(bytes) => self.take(byte_units(bytes.len())),
            Value::List(items) => {
                self.take(1)?;
                items.iter().try_for_each(|item| self.charge(item))
            }
            Value::Map(map) => {
                self.take(1)?;
                map.map.iter().try_for_each(|(key, item)| {
                    if let Key::String(name) = key {
                        self.take(text_units(name))?;
                    }
                    self.charge(item)
                })
            }
            _ => self.take(1),
        }
    }

    fn range(&self, range: Value, round: u64) -> Result<Value, ExecutionError> {
        let range = match range {
            Value::Map(Map { map }) => {
                let mut keys: Vec<Key> = map.keys().cloned().collect();
                keys.sort();
                Value::List(Arc::new(keys.into_iter().map(from_key).collect()))
            }
            other => other,
        };
        if let Value::List(items) = &range {
            self.take((items.len() as u64).saturating_mul(round).saturating_add(1))?;
            self.charge(&range)?;
        }
        Ok(range)
    }
}

fn text_units(text: &str) -> u64 {
    byte_units(text.len())
}

const fn byte_units(bytes: usize) -> u64 {
    1 + (bytes / BYTES_PER_UNIT) as u64
}

fn from_key(key: Key) -> Value {
    match key {
        Key::Int(integer) => Value::Int(integer),
        Key::Uint(integer) => Value::UInt(integer),
        Key::Bool(truth) => Value::Bool(truth),
        Key::String(string) => Value::String(string),
    }
}

/// How deep a tree is.
pub(super) fn depth(expression: &IdedExpr) -> usize {
    1 + children(expression).into_iter().map(depth).max().unwrap_or_default()
}

/// How many nodes a tree has.
pub(super) fn nodes(expression: &IdedExpr) -> i64 {
    1 + children(expression).into_iter().map(nodes).sum::<i64>()
}

/// What a node is made of.
pub(super) fn children(expression: &IdedExpr) -> Vec<&IdedExpr> {
    match &expression.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => Vec::new(),
        Expr::Call(call) => call.target.iter().map(AsRef::as_ref).chain(&call.args).collect(),
        Expr::Comprehension(inner) => {
            vec![&inner.iter_range, &inner.accu_init, &inner.loop_cond, &inner.loop_step, &inner.result]
        }
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => entries(map.entries.iter().map(|entry| &entry.expr)),
        Expr::Struct(made) => entries(made.entries.iter().map(|entry| &entry.expr)),
        Expr::Select(select) => vec![&select.operand],
    }
}

fn entries<'a>(entries: impl Iterator<Item = &'a EntryExpr>) -> Vec<&'a IdedExpr> {
    entries
        .flat_map(|entry| match entry {
            EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
            EntryExpr::StructField(field) => vec![&field.value],
        })
        .collect()
}

/// Rewrites a tree so that it pays for what it does.
pub(super) fn instrument(expression: &mut IdedExpr) {
    match &mut expression.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => {}
        Expr::Select(select) => instrument(&mut select.operand),
        Expr::Call(call) => {
            call.target.iter_mut().for_each(|target| instrument(target));
            call.args.iter_mut().for_each(instrument);
            match call.func_name.as_str() {
                // These look at whole values, and give a truth value.
                EQUALS | NOT_EQUALS | IN | LESS | LESS_EQUALS | GREATER | GREATER_EQUALS => {
                    call.args.iter_mut().filter(|arg| may_be_large(arg)).for_each(charge);
                }
                CONDITIONAL | LOGICAL_AND | LOGICAL_OR | LOGICAL_NOT | NOT_STRICTLY_FALSE => {}
                name if name == ADD || name.starts_with(|first: char| first.is_ascii_alphabetic()) => {
                    call.target.iter_mut().filter(|target| may_be_large(target)).for_each(|it| charge(it));
                    call.args.iter_mut().filter(|arg| may_be_large(arg)).for_each(charge);
                    charge(expression);
                }
                _ => {}
            }
        }
        Expr::List(list) => {
            list.elements.iter_mut().for_each(instrument);
            charge(expression);
        }
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    instrument(&mut entry.key);
                    instrument(&mut entry.value);
                }
            }
            charge(expression);
        }
        Expr::Comprehension(inner) => comprehension(inner),
    }
}

fn comprehension(inner: &mut ComprehensionExpr) {
    let round = nodes(&inner.loop_cond) + nodes(&inner.loop_step);
    instrument(&mut inner.iter_range);
    step(&mut inner.loop_step, &inner.accu_var);
    let range = std::mem::take(&mut inner.iter_range);
    let id = range.id;
    let cost = IdedExpr { id, expr: Expr::Literal(LiteralValue::Int(round.into())) };
    inner.iter_range = call(id, RANGE, vec![range, cost]);
}

/// A round of a comprehension. Its outermost shape is left alone: the evaluator knows it, and appends in place
/// where it would otherwise copy all there is at every round. What is appended pays.
fn step(expression: &mut IdedExpr, accumulator: &str) {
    let Expr::Call(call) = &mut expression.expr else {
        return instrument(expression);
    };
    let folds = call
        .args
        .first()
        .is_some_and(|first| matches!(&first.expr, Expr::Ident(name) if name == accumulator));
    match (call.func_name.as_str(), call.args.as_mut_slice()) {
        (CONDITIONAL, [condition, yes, no]) => {
            instrument(condition);
            step(yes, accumulator);
            step(no, accumulator);
        }
        (ADD, [_, IdedExpr { expr: Expr::List(list), .. }]) if folds => {
            for element in &mut list.elements {
                instrument(element);
                charge(element);
            }
        }
        (ADD | LOGICAL_AND | LOGICAL_OR, [_, operand]) if folds => instrument(operand),
        _ => instrument(expression),
    }
}

/// Whether a value could be more than a few bytes.
fn may_be_large(expression: &IdedExpr) -> bool {
    match &expression.expr {
        Expr::Literal(LiteralValue::String(_) | LiteralValue::Bytes(_))
        | Expr::Ident(_)
        | Expr::Select(_) => true,
        Expr::Literal(_) => false,
        Expr::Call(call) => call.func_name != CHARGE,
        _ => true,
    }
}

/// Wraps a node in place.
fn charge(expression: &mut IdedExpr) {
    let inner = std::mem::take(expression);
    *expression = call(inner.id, CHARGE, vec![inner]);
}

fn call(id: u64, function: &str, args: Vec<IdedExpr>) -> IdedExpr {
    IdedExpr { id, expr: Expr::Call(CallExpr { func_name: function.to_owned(), target: None, args }) }
}

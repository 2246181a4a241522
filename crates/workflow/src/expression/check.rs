//! What can be said of an expression before it runs: names, functions, and types where they are certain.

use std::collections::BTreeMap;
use std::fmt;

use cel::common::ast::operators::{
    ADD, CONDITIONAL, DIVIDE, EQUALS, GREATER, GREATER_EQUALS, IN, INDEX, LESS, LESS_EQUALS, LOGICAL_AND,
    LOGICAL_NOT, LOGICAL_OR, MODULO, MULTIPLY, NEGATE, NOT_EQUALS, NOT_STRICTLY_FALSE, SUBSTRACT,
};
use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue};

use super::{Part, ROOTS, Uses};

/// What an expression gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only the data can say.
    Any,
    /// True or false.
    Bool,
    /// A signed integer.
    Int,
    /// An unsigned integer.
    Uint,
    /// A double.
    Double,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// A list.
    List,
    /// A map.
    Map,
    /// Null.
    Null,
    /// A point in time.
    Time,
    /// A length of time.
    Duration,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "any value",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::Text => "string",
            Self::Bytes => "bytes",
            Self::List => "list",
            Self::Map => "map",
            Self::Null => "null",
            Self::Time => "timestamp",
            Self::Duration => "duration",
        })
    }
}

impl Kind {
    /// Whether a value of this kind could be used as one of `wanted`.
    pub fn may_be(self, wanted: Self) -> bool {
        self == wanted || self == Self::Any || wanted == Self::Any
    }
}

/// A function of CEL's standard library: name, whether it is called on a value, arguments at least and at most, and
/// what it gives.
const FUNCTIONS: &[(&str, bool, usize, usize, Kind)] = &[
    ("size", false, 1, 1, Kind::Int),
    ("size", true, 0, 0, Kind::Int),
    ("string", false, 1, 1, Kind::Text),
    ("int", false, 1, 1, Kind::Int),
    ("uint", false, 1, 1, Kind::Uint),
    ("double", false, 1, 1, Kind::Double),
    ("bool", false, 1, 1, Kind::Bool),
    ("bytes", false, 1, 1, Kind::Bytes),
    ("duration", false, 1, 1, Kind::Duration),
    ("timestamp", false, 1, 1, Kind::Time),
    ("dyn", false, 1, 1, Kind::Any),
    ("type", false, 1, 1, Kind::Any),
    ("contains", true, 1, 1, Kind::Bool),
    ("startsWith", true, 1, 1, Kind::Bool),
    ("endsWith", true, 1, 1, Kind::Bool),
    ("getFullYear", true, 0, 1, Kind::Int),
    ("getMonth", true, 0, 1, Kind::Int),
    ("getDate", true, 0, 1, Kind::Int),
    ("getDayOfMonth", true, 0, 1, Kind::Int),
    ("getDayOfWeek", true, 0, 1, Kind::Int),
    ("getDayOfYear", true, 0, 1, Kind::Int),
    ("getHours", true, 0, 1, Kind::Int),
    ("getMinutes", true, 0, 1, Kind::Int),
    ("getSeconds", true, 0, 1, Kind::Int),
    ("getMilliseconds", true, 0, 1, Kind::Int),
];
/// Names of types, which are values too (`type(x) == int`).
const TYPES: &[&str] = &["bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type"];

/// The kind of an expression and what it looks at, or what is wrong with it.
pub(super) fn check(root: &IdedExpr) -> Result<(Kind, Uses), String> {
    let mut checker = Checker { local: Vec::new(), roots: BTreeMap::new() };
    let kind = checker.kind(root)?;
    Ok((kind, Uses { roots: checker.roots }))
}

struct Checker {
    local: Vec<String>,
    roots: BTreeMap<String, Part>,
}

impl Checker {
    fn kind(&mut self, expression: &IdedExpr) -> Result<Kind, String> {
        match &expression.expr {
            Expr::Unspecified => Err("an empty expression".to_owned()),
            Expr::Literal(literal) => Ok(of_literal(literal)),
            Expr::Ident(name) => self.ident(name),
            Expr::Select(select) => {
                if let Some((root, path)) = self.path(expression) {
                    // Of what is only asked for, what is inside doesn't matter.
                    let end = if select.test { Part::nothing() } else { Part::Whole };
                    self.roots.entry(root.to_owned()).or_insert_with(Part::nothing).add(&path, end);
                } else {
                    self.select(&select.operand, &select.field)?;
                }
                Ok(if select.test { Kind::Bool } else { Kind::Any })
            }
            Expr::List(list) => {
                list.elements.iter().try_for_each(|element| self.kind(element).map(drop))?;
                Ok(Kind::List)
            }
            Expr::Map(map) => {
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        self.kind(&entry.key)?;
                        self.kind(&entry.value)?;
                    }
                }
                Ok(Kind::Map)
            }
            Expr::Struct(made) => Err(format!("there is no type {:?} to make", made.type_name)),
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(inner) => {
                let range = self.kind(&inner.iter_range)?;
                if !(range.may_be(Kind::List) || range.may_be(Kind::Map)) {
                    return Err(format!("{range} can't be iterated over"));
                }
                let result = self.kind(&inner.accu_init)?;
                let outer = self.local.len();
                self.local.push(inner.iter_var.clone());
                self.local.push(inner.accu_var.clone());
                for part in [&inner.loop_cond, &inner.loop_step, &inner.result] {
                    self.kind(part)?;
                }
                self.local.truncate(outer);
                // `exists_one` counts and then compares.
                Ok(if result == Kind::Int { Kind::Bool } else { result })
            }
        }
    }

    fn ident(&mut self, name: &str) -> Result<Kind, String> {
        if self.local.iter().any(|local| local == name) || TYPES.contains(&name) {
            return Ok(Kind::Any);
        }
        if !ROOTS.contains(&name) {
            return Err(format!("there is no variable {name:?}; there are {}", ROOTS.join(", ")));
        }
        self.roots.insert(name.to_owned(), Part::Whole);
        Ok(match name {
            "now" => Kind::Time,
            "vars" | "steps" => Kind::Map,
            _ => Kind::Any,
        })
    }

    /// The variable and the fields that a chain of selections leads along, where it is nothing else.
    fn path<'e>(&self, expression: &'e IdedExpr) -> Option<(&'e str, Vec<&'e str>)> {
        let mut fields = Vec::new();
        let mut at = expression;
        while let Expr::Select(select) = &at.expr {
            if select.test && !fields.is_empty() {
                return None;
            }
            fields.push(select.field.as_str());
            at = &select.operand;
        }
        fields.reverse();
        match &at.expr {
            Expr::Ident(name)
                if name != "now" && ROOTS.contains(&name.as_str()) && !self.local.contains(name) =>
            {
                Some((name, fields))
            }
            _ => None,
        }
    }

    fn select(&mut self, operand: &IdedExpr, field: &str) -> Result<(), String> {
        let kind = self.kind(operand)?;
        if kind.may_be(Kind::Map) { Ok(()) } else { Err(format!("{kind} has no field {field:?}")) }
    }

    fn call(&mut self, call: &CallExpr) -> Result<Kind, String> {
        let target = call.target.as_deref().map(|target| self.kind(target)).transpose()?;
        let args = call.args.iter().map(|arg| self.kind(arg)).collect::<Result<Vec<_>, _>>()?;
        let name = call.func_name.as_str();
        if target.is_none()
            && let Some(result) = operator(name, &args)
        {
            return result;
        }
        let mut known = FUNCTIONS.iter().filter(|function| function.0 == name).peekable();
        if known.peek().is_none() {
            return Err(format!("there is no function {name:?}"));
        }
        known
            .find(|(_, member, least, most, _)| {
                *member == target.is_some() && (*least..=*most).contains(&args.len())
            })
            .map(|function| function.4)
            .ok_or_else(|| format!("the function {name:?} is not called like that"))
    }
}

fn of_literal(literal: &LiteralValue) -> Kind {
    match literal {
        LiteralValue::Boolean(_) => Kind::Bool,
        LiteralValue::Bytes(_) => Kind::Bytes,
        LiteralValue::Double(_) => Kind::Double,
        LiteralValue::Int(_) => Kind::Int,
        LiteralValue::Null => Kind::Null,
        LiteralValue::String(_) => Kind::Text,
        LiteralValue::UInt(_) => Kind::Uint,
    }
}

/// What an operator gives; `None` where the name is no operator's.
fn operator(name: &str, args: &[Kind]) -> Option<Result<Kind, String>> {
    let never = |sign: &str| {
        let kinds: Vec<String> = args.iter().map(ToString::to_string).collect();
        Err(format!("{sign} never fits {}", kinds.join(" and ")))
    };
    let all = |wanted: Kind| args.iter().all(|kind| kind.may_be(wanted));
    Some(match (name, args) {
        (CONDITIONAL, [condition, yes, no]) => {
            if !condition.may_be(Kind::Bool) {
                return Some(never("? :"));
            }
            Ok(if yes == no { *yes } else { Kind::Any })
        }
        (LOGICAL_AND | LOGICAL_OR | LOGICAL_NOT | NOT_STRICTLY_FALSE, _) => {
            if all(Kind::Bool) {
                Ok(Kind::Bool)
            } else {
                never("a logical operator")
            }
        }
        (EQUALS | NOT_EQUALS, _) => Ok(Kind::Bool),
        (LESS | LESS_EQUALS | GREATER | GREATER_EQUALS, [left, right]) => {
            let numbers = [*left, *right].iter().all(|kind| is_number(*kind));
            let ordered = |kind: Kind| !matches!(kind, Kind::List | Kind::Map | Kind::Null);
            if (left.may_be(*right) || numbers) && ordered(*left) && ordered(*right) {
                Ok(Kind::Bool)
            } else {
                never("an order")
            }
        }
        (IN, [_, right]) => {
            if right.may_be(Kind::List) || right.may_be(Kind::Map) {
                Ok(Kind::Bool)
            } else {
                never("in")
            }
        }
        (INDEX, [left, _]) => {
            if left.may_be(Kind::List) || left.may_be(Kind::Map) {
                Ok(Kind::Any)
            } else {
                never("[ ]")
            }
        }
        (NEGATE, [only]) => {
            if matches!(only, Kind::Int | Kind::Double | Kind::Any) {
                Ok(*only)
            } else {
                never("-")
            }
        }
        (ADD | SUBSTRACT, [left, right]) => plus_or_minus(name == ADD, *left, *right)
            .map_or_else(|| never(if name == ADD { "+" } else { "-" }), Ok),
        (MULTIPLY | DIVIDE | MODULO, [left, right]) => {
            let fits = |kind: Kind| is_number(kind) || kind == Kind::Any;
            if fits(*left) && fits(*right) && left.may_be(*right) {
                Ok(if *left == Kind::Any { *right } else { *left })
            } else {
                never("arithmetic")
            }
        }
        _ => return None,
    })
}

fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Int | Kind::Uint | Kind::Double)
}

fn plus_or_minus(plus: bool, left: Kind, right: Kind) -> Option<Kind> {
    match (left, right) {
        (Kind::Any, _) | (_, Kind::Any) => Some(Kind::Any),
        (Kind::Time, Kind::Duration) => Some(Kind::Time),
        (Kind::Duration, Kind::Time) if plus => Some(Kind::Time),
        (Kind::Time, Kind::Time) if !plus => Some(Kind::Duration),
        (Kind::Duration, Kind::Duration) => Some(Kind::Duration),
        (Kind::Text | Kind::Bytes | Kind::List, _) if plus && left == right => Some(left),
        _ if is_number(left) && left == right => Some(left),
        _ => None,
    }
}

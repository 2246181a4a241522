//! Templates: JSON whose texts may hold expressions between `{{` and `}}`.

use serde_json::{Map, Value as Json};

use super::{Expression, ExpressionError, Room, Scope};
use crate::json_bytes;

/// Deepest nesting of a template's JSON.
const MAX_DEPTH: usize = 32;

/// A parsed template. A text that is nothing but one expression gives the expression's value, of whatever type; in
/// any other text the values are written out.
#[derive(Debug, Clone, PartialEq)]
pub enum Template {
    /// As it is.
    Fixed(Json),
    /// The value of an expression.
    Value(Expression),
    /// A text with values in it.
    Text(Vec<Piece>),
    /// A list.
    List(Vec<Template>),
    /// A map.
    Map(Vec<(String, Template)>),
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// As it is.
    Fixed(String),
    /// A value, written out.
    Value(Expression),
}

/// A template that can't be used, and where in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {source}")]
pub struct TemplateError {
    /// JSON pointer into the template.
    pub pointer: String,
    /// What is wrong.
    pub source: ExpressionError,
}

impl Template {
    /// Parses a template, with everything that is wrong with it.
    pub fn parse(json: &Json) -> Result<Self, Vec<TemplateError>> {
        let mut errors = Vec::new();
        let template = parse(json, &mut String::new(), 0, &mut errors);
        if errors.is_empty() { Ok(template) } else { Err(errors) }
    }

    /// Its value, of at most so many bytes of JSON; it is given up as soon as it has more.
    pub fn render(&self, scope: &Scope<'_>, most: usize) -> Result<Json, ExpressionError> {
        self.render_into(scope, &mut Room::new(most))
    }

    fn render_into(&self, scope: &Scope<'_>, room: &mut Room) -> Result<Json, ExpressionError> {
        Ok(match self {
            Self::Fixed(json) => {
                let bytes = json_bytes(json);
                scope.budget.take_bytes(bytes)?;
                room.take(bytes)?;
                json.clone()
            }
            Self::Value(expression) => expression.evaluate_into(scope, room)?,
            Self::Text(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    piece.append_to(&mut text, scope, room)?;
                }
                Json::String(text)
            }
            Self::List(items) => {
                Json::Array(items.iter().map(|item| item.render_into(scope, room)).collect::<Result<_, _>>()?)
            }
            Self::Map(properties) => {
                let mut rendered = Map::new();
                for (name, property) in properties {
                    room.take(name.len())?;
                    scope.budget.take_bytes(name.len())?;
                    rendered.insert(name.clone(), property.render_into(scope, room)?);
                }
                Json::Object(rendered)
            }
        })
    }

    /// Every expression in it.
    pub fn expressions(&self) -> Vec<&Expression> {
        match self {
            Self::Fixed(_) => Vec::new(),
            Self::Value(expression) => vec![expression],
            Self::Text(parts) => parts
                .iter()
                .filter_map(|part| match part {
                    Piece::Fixed(_) => None,
                    Piece::Value(expression) => Some(expression),
                })
                .collect(),
            Self::List(items) => items.iter().flat_map(Self::expressions).collect(),
            Self::Map(properties) => properties.iter().flat_map(|(_, item)| item.expressions()).collect(),
        }
    }
}

impl Piece {
    fn append_to(
        &self,
        text: &mut String,
        scope: &Scope<'_>,
        room: &mut Room,
    ) -> Result<(), ExpressionError> {
        let written;
        let piece = match self {
            Self::Fixed(fixed) => fixed,
            // Written out it has another length than as a value of its own.
            Self::Value(expression) => match expression.evaluate_into(scope, &mut room.clone())? {
                Json::String(value) => {
                    written = value;
                    &written
                }
                Json::Null => return Ok(()),
                other => {
                    written = other.to_string();
                    &written
                }
            },
        };
        room.take(piece.len())?;
        scope.budget.take_bytes(piece.len())?;
        text.push_str(piece);
        Ok(())
    }
}

/// Most errors that are said of one template.
const MAX_ERRORS: usize = 250;
/// Longest pointer that is said; of a longer one, what it leads through.
const MAX_POINTER_BYTES: usize = 1_000;

fn say(errors: &mut Vec<TemplateError>, pointer: &str, source: ExpressionError) {
    if errors.len() < MAX_ERRORS {
        errors.push(TemplateError { pointer: short_pointer(pointer).to_owned(), source });
    }
}

/// A pointer, or the beginning of one that is too long to be repeated.
pub(crate) fn short_pointer(pointer: &str) -> &str {
    if pointer.len() <= MAX_POINTER_BYTES {
        return pointer;
    }
    let end = pointer.bytes().take(MAX_POINTER_BYTES).rposition(|byte| byte == b'/');
    &pointer[..end.unwrap_or_default()]
}

fn parse(json: &Json, pointer: &mut String, depth: usize, errors: &mut Vec<TemplateError>) -> Template {
    // What more is wrong isn't said; there is nothing to be gained from looking for it.
    if errors.len() >= MAX_ERRORS {
        return Template::Fixed(Json::Null);
    }
    if depth > MAX_DEPTH {
        say(errors, pointer, ExpressionError::TooDeep);
        return Template::Fixed(Json::Null);
    }
    let mut within = |name: &str, json: &Json, errors: &mut Vec<TemplateError>| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
        let template = parse(json, pointer, depth + 1, errors);
        pointer.truncate(length);
        template
    };
    match json {
        Json::String(text) if text.contains("{{") => text_template(text).unwrap_or_else(|source| {
            say(errors, pointer, source);
            Template::Fixed(Json::Null)
        }),
        Json::Array(items) => {
            let items: Vec<Template> = items
                .iter()
                .enumerate()
                .map(|(place, item)| within(&place.to_string(), item, errors))
                .collect();
            if items.iter().all(|item| matches!(item, Template::Fixed(_))) {
                return Template::Fixed(json.clone());
            }
            Template::List(items)
        }
        Json::Object(properties) => {
            let properties: Vec<(String, Template)> = properties
                .iter()
                .map(|(name, property)| (name.clone(), within(name, property, errors)))
                .collect();
            if properties.iter().all(|(_, property)| matches!(property, Template::Fixed(_))) {
                return Template::Fixed(json.clone());
            }
            Template::Map(properties)
        }
        other => Template::Fixed(other.clone()),
    }
}

fn text_template(text: &str) -> Result<Template, ExpressionError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        if !before.is_empty() {
            parts.push(Piece::Fixed(before.to_owned()));
        }
        let end = end_of(after).ok_or_else(|| ExpressionError::Syntax("a {{ without its }}".to_owned()))?;
        parts.push(Piece::Value(Expression::parse(after[..end].trim())?));
        rest = &after[end + 2..];
    }
    if !rest.is_empty() {
        parts.push(Piece::Fixed(rest.to_owned()));
    }
    Ok(match <[Piece; 1]>::try_from(parts) {
        Ok([Piece::Value(expression)]) => Template::Value(expression),
        Ok([fixed]) => Template::Text(vec![fixed]),
        Err(parts) => Template::Text(parts),
    })
}

/// Where the `}}` is that ends an expression: not one inside a string, nor the ends of two maps.
fn end_of(source: &str) -> Option<usize> {
    let bytes = source.as_bytes();
    let (mut place, mut open, mut quote) = (0, 0_usize, None);
    while place < bytes.len() {
        match (quote, bytes[place]) {
            (Some(_), b'\\') => place += 1,
            (Some(mark), byte) if mark == byte => quote = None,
            (None, mark @ (b'"' | b'\'')) => quote = Some(mark),
            (None, b'{') => open += 1,
            (None, b'}') if open > 0 => open -= 1,
            (None, b'}') if bytes.get(place + 1) == Some(&b'}') => return Some(place),
            _ => {}
        }
        place += 1;
    }
    None
}

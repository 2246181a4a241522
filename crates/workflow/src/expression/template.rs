//! Templates: JSON whose texts may hold expressions between `{{` and `}}`.

use serde_json::{Map, Value as Json};

use super::{Expression, ExpressionError, Scope};

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
    Text(Vec<Part>),
    /// A list.
    List(Vec<Template>),
    /// A map.
    Map(Vec<(String, Template)>),
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
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

    /// Its value.
    pub fn render(&self, scope: &Scope<'_>) -> Result<Json, ExpressionError> {
        Ok(match self {
            Self::Fixed(json) => json.clone(),
            Self::Value(expression) => expression.evaluate(scope)?,
            Self::Text(parts) => Json::String(
                parts.iter().map(|part| part.render(scope)).collect::<Result<Vec<_>, _>>()?.concat(),
            ),
            Self::List(items) => {
                Json::Array(items.iter().map(|item| item.render(scope)).collect::<Result<_, _>>()?)
            }
            Self::Map(properties) => Json::Object(
                properties
                    .iter()
                    .map(|(name, property)| Ok((name.clone(), property.render(scope)?)))
                    .collect::<Result<Map<_, _>, ExpressionError>>()?,
            ),
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
                    Part::Fixed(_) => None,
                    Part::Value(expression) => Some(expression),
                })
                .collect(),
            Self::List(items) => items.iter().flat_map(Self::expressions).collect(),
            Self::Map(properties) => properties.iter().flat_map(|(_, item)| item.expressions()).collect(),
        }
    }
}

impl Part {
    fn render(&self, scope: &Scope<'_>) -> Result<String, ExpressionError> {
        match self {
            Self::Fixed(text) => Ok(text.clone()),
            Self::Value(expression) => Ok(match expression.evaluate(scope)? {
                Json::String(text) => text,
                Json::Null => String::new(),
                other => other.to_string(),
            }),
        }
    }
}

fn parse(json: &Json, pointer: &mut String, depth: usize, errors: &mut Vec<TemplateError>) -> Template {
    if depth > MAX_DEPTH {
        errors.push(TemplateError { pointer: pointer.clone(), source: ExpressionError::TooDeep });
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
            errors.push(TemplateError { pointer: pointer.clone(), source });
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
            parts.push(Part::Fixed(before.to_owned()));
        }
        let end = end_of(after).ok_or_else(|| ExpressionError::Syntax("a {{ without its }}".to_owned()))?;
        parts.push(Part::Value(Expression::parse(after[..end].trim())?));
        rest = &after[end + 2..];
    }
    if !rest.is_empty() {
        parts.push(Part::Fixed(rest.to_owned()));
    }
    Ok(match <[Part; 1]>::try_from(parts) {
        Ok([Part::Value(expression)]) => Template::Value(expression),
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

//! A JSON value that keeps the order of its fields, and prints one node per line.

use std::fmt::Write;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(usize),
    /// A number that Figma prints with a fraction.
    Number(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An array that is printed with a line per element.
    Lines(Vec<Json>),
    /// An object.
    Object(Vec<(String, Json)>),
}

impl From<&str> for Json {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Json {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Vec<Json>> for Json {
    fn from(value: Vec<Json>) -> Self {
        Self::List(value)
    }
}

/// An object from its fields.
pub fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

impl Json {
    /// Appends a field to an object.
    pub fn put(&mut self, name: &str, value: impl Into<Json>) {
        let Self::Object(fields) = self else { panic!("{name} put into what is no object") };
        fields.push((name.to_owned(), value.into()));
    }

    /// Prints the value.
    pub fn print(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Int(value) => write!(out, "{value}").expect("a string takes all"),
            Self::Number(value) => number(*value, out),
            Self::Text(value) => text(value, out),
            Self::List(list) => sequence(list, "", ",", "", out),
            Self::Lines(list) if list.is_empty() => out.push_str("[]"),
            Self::Lines(list) => sequence(list, "\n", ",\n", "\n", out),
            Self::Object(fields) => {
                out.push('{');
                for (index, (name, value)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    text(name, out);
                    out.push(':');
                    value.print(out);
                }
                out.push('}');
            }
        }
    }
}

fn sequence(list: &[Json], before: &str, between: &str, after: &str, out: &mut String) {
    out.push('[');
    out.push_str(before);
    for (index, value) in list.iter().enumerate() {
        if index > 0 {
            out.push_str(between);
        }
        value.print(out);
    }
    out.push_str(after);
    out.push(']');
}

/// Four decimals are a thousandth of what anyone sees, and keep the files small and stable.
fn number(value: f64, out: &mut String) {
    let rounded = (value * 10_000.0).round() / 10_000.0;
    let rounded = if rounded == 0.0 { 0.0 } else { rounded };
    write!(out, "{rounded:?}").expect("a string takes all");
}

fn text(value: &str, out: &mut String) {
    out.push('"');
    for character in value.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            other if other < ' ' => write!(out, "\\u{:04x}", u32::from(other)).expect("a string takes all"),
            other => out.push(other),
        }
    }
    out.push('"');
}

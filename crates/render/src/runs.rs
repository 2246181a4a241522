//! A text's characters and styles as they are to be laid out: case applied, families resolved, icon fonts recognised.

use std::borrow::Cow;

use heddle_figma::{LineHeight, Paint, Text, TextCase, TextDecoration, TextStyle};

use crate::fonts::{self, FaceName};
use crate::shape::Look;

/// A style, resolved. Lengths are pixels unless said otherwise.
#[derive(Debug, Clone)]
pub struct Style<'d> {
    /// What shaping needs.
    pub look: Look,
    /// Size.
    pub size: f64,
    /// Letter spacing.
    pub spacing: f64,
    /// Height of a line; `None`: from the font.
    pub line_height: Option<f64>,
    /// Above the baseline, in ems.
    pub ascent: f64,
    /// Below the baseline, in ems.
    pub descent: f64,
    /// Whether upright letters are to be slanted.
    pub slant: bool,
    /// Line on the text.
    pub decoration: TextDecoration,
    /// Its own fills.
    pub fills: Option<&'d [Paint<'d>]>,
}

impl Style<'_> {
    /// Height of a line in this style.
    pub fn height(&self) -> f64 {
        self.line_height.unwrap_or((self.ascent + self.descent) * self.size)
    }
}

/// Characters and styles of a text.
#[derive(Debug)]
pub struct Runs<'d> {
    /// What is drawn: case applied, private characters in place of icons' names.
    pub characters: Cow<'d, str>,
    /// Where each stretch ends, and its style's index; in order, covering all.
    pub ends: Vec<(usize, u16)>,
    /// The styles; at least one.
    pub styles: Vec<Style<'d>>,
}

impl<'d> Runs<'d> {
    /// Prepares a text.
    pub fn new(text: &'d Text<'d>) -> Self {
        let source = text.characters.as_ref();
        let plain =
            |style: &TextStyle<'_>| style.case == TextCase::Original && !fonts::family(&style.family).icons;
        let mut runs = Self {
            characters: Cow::Borrowed(source),
            ends: Vec::with_capacity(text.runs.len().max(1)),
            styles: Vec::with_capacity(text.runs.len().max(1)),
        };
        let covers = covers(text);
        if !covers && plain(&text.style) || covers && text.runs.iter().all(|run| plain(&run.style)) {
            if covers {
                for run in &text.runs {
                    runs.push(run.range.end, resolve(&run.style));
                }
            } else {
                runs.push(source.len(), resolve(&text.style));
            }
        } else {
            let mut characters = String::with_capacity(source.len());
            if covers {
                for run in &text.runs {
                    runs.cased(&mut characters, &source[run.range.clone()], &run.style);
                }
            } else {
                runs.cased(&mut characters, source, &text.style);
            }
            runs.characters = Cow::Owned(characters);
        }
        if runs.styles.is_empty() {
            runs.styles.push(resolve(&text.style));
        }
        runs
    }

    fn push(&mut self, end: usize, style: Style<'d>) {
        let index = self.styles.len().min(usize::from(u16::MAX));
        if index == self.styles.len() {
            self.styles.push(style);
        }
        self.ends.push((end, index as u16));
    }

    fn cased(&mut self, out: &mut String, text: &str, style: &'d TextStyle<'d>) {
        let resolved = resolve(style);
        if fonts::family(&style.family).icons && !text.trim().is_empty() {
            out.push('\u{e000}');
            self.push(out.len(), resolved);
            return;
        }
        match style.case {
            TextCase::Original => out.push_str(text),
            TextCase::Upper => out.extend(text.chars().flat_map(char::to_uppercase)),
            TextCase::Lower => out.extend(text.chars().flat_map(char::to_lowercase)),
            TextCase::Title => {
                let mut inside = false;
                for c in text.chars() {
                    if inside {
                        out.push(c);
                    } else {
                        out.extend(c.to_uppercase());
                    }
                    inside = c.is_alphanumeric() || c == '\'' || c == '’';
                }
            }
            TextCase::SmallCaps => {
                let small = Style { size: resolved.size * 0.76, ..resolved.clone() };
                let mut was_small = None;
                for c in text.chars() {
                    let is_small = c.is_lowercase();
                    if was_small.is_some_and(|was| was != is_small) {
                        self.push(out.len(), if is_small { resolved.clone() } else { small.clone() });
                    }
                    was_small = Some(is_small);
                    out.extend(c.to_uppercase());
                }
                if was_small == Some(true) {
                    self.push(out.len(), small);
                    return;
                }
            }
        }
        if self.ends.last().map_or(0, |last| last.0) < out.len() {
            self.push(out.len(), resolved);
        }
    }
}

/// Whether the runs cover the characters in order, on character borders.
fn covers(text: &Text<'_>) -> bool {
    let mut at = 0;
    for run in &text.runs {
        if run.range.start != at || run.range.end <= at || !text.characters.is_char_boundary(run.range.end) {
            return false;
        }
        at = run.range.end;
    }
    at == text.characters.len() && at > 0
}

fn resolve<'d>(style: &'d TextStyle<'d>) -> Style<'d> {
    let family = fonts::family(&style.family);
    let (face, slant) = match style.weight {
        ..=449 if style.italic => (FaceName::Italic, false),
        ..=449 => (FaceName::Regular, false),
        450..=549 => (FaceName::Medium, style.italic),
        550..=649 => (FaceName::SemiBold, style.italic),
        650.. => (FaceName::Bold, style.italic),
    };
    let finite =
        |v: f64, least: f64, most: f64| if v.is_finite() { v.clamp(least, most) } else { least.max(0.0) };
    let size = finite(style.size, 0.1, 5_000.0);
    let spacing = finite(style.letter_spacing, -size, 1_000.0);
    Style {
        look: Look { face, contextual: family.inter, ligatures: spacing.abs() < 0.01 },
        size,
        spacing,
        line_height: match style.line_height {
            LineHeight::Auto => None,
            LineHeight::Pixels(height) => Some(finite(height, 0.0, 50_000.0)),
        },
        ascent: family.ascent,
        descent: family.descent,
        slant,
        decoration: style.decoration,
        fills: style.fills.as_deref(),
    }
}

//! Text and its runs.

use std::borrow::Cow;
use std::ops::Range;

use crate::Paint;
use crate::lenient::{Object, Scalar};
use crate::raw::RawTextStyle;

/// Alignment along the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextAlign {
    /// At the left.
    #[default]
    Left,
    /// In the middle.
    Center,
    /// At the right.
    Right,
    /// Both edges.
    Justified,
}

/// Alignment of the lines in the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextAlignVertical {
    /// At the top.
    #[default]
    Top,
    /// In the middle.
    Center,
    /// At the bottom.
    Bottom,
}

/// Letter case that the style imposes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextCase {
    /// As written.
    #[default]
    Original,
    /// All capitals.
    Upper,
    /// All small.
    Lower,
    /// First letters capital.
    Title,
    /// Small capitals.
    SmallCaps,
}

/// Line on the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextDecoration {
    /// None.
    #[default]
    None,
    /// Below.
    Underline,
    /// Through.
    Strikethrough,
}

/// How the box follows the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextResize {
    /// Not at all: the text wraps in a fixed box.
    #[default]
    None,
    /// In height: the text wraps.
    Height,
    /// In width and height: only line breaks in the text break lines.
    WidthAndHeight,
    /// Fixed box, cut with an ellipsis.
    Truncate,
}

/// Height of a line.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum LineHeight {
    /// From the font.
    #[default]
    Auto,
    /// In pixels.
    Pixels(f64),
}

/// Style of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct TextStyle<'a> {
    /// Family, as the designer's machine has it.
    pub family: Cow<'a, str>,
    /// 100..=900.
    pub weight: u16,
    /// Italic.
    pub italic: bool,
    /// In pixels, > 0.
    pub size: f64,
    /// Height of a line.
    pub line_height: LineHeight,
    /// In pixels.
    pub letter_spacing: f64,
    /// Case.
    pub case: TextCase,
    /// Decoration.
    pub decoration: TextDecoration,
    /// Its own fills; `None`: the node's.
    pub fills: Option<Vec<Paint<'a>>>,
}

impl Default for TextStyle<'_> {
    fn default() -> Self {
        Self {
            family: Cow::Borrowed("Inter"),
            weight: 400,
            italic: false,
            size: 12.0,
            line_height: LineHeight::Auto,
            letter_spacing: 0.0,
            case: TextCase::Original,
            decoration: TextDecoration::None,
            fills: None,
        }
    }
}

/// A stretch of text in one style.
#[derive(Debug, Clone, PartialEq)]
pub struct TextRun<'a> {
    /// Bytes of [`Text::characters`], on character borders.
    pub range: Range<usize>,
    /// Its style.
    pub style: TextStyle<'a>,
}

/// A text.
#[derive(Debug, Clone, PartialEq)]
pub struct Text<'a> {
    /// What it says, verbatim. Lines end with `\n` or U+2028.
    pub characters: Cow<'a, str>,
    /// The style of the whole.
    pub style: TextStyle<'a>,
    /// Runs that cover all of it in order; a single one where nothing is overridden; none where it is empty.
    pub runs: Vec<TextRun<'a>>,
    /// Alignment along the line.
    pub align: TextAlign,
    /// Alignment of the lines.
    pub align_vertical: TextAlignVertical,
    /// How the box follows the text.
    pub resize: TextResize,
    /// Most lines shown, where it is cut.
    pub max_lines: Option<u32>,
    /// Space after a paragraph.
    pub paragraph_spacing: f64,
}

/// Resolves a text's style and runs. Overrides count UTF-16 code units, as Figma does.
pub(crate) fn text<'a>(
    characters: Cow<'a, str>,
    base: &RawTextStyle<'a>,
    overrides: &[Scalar<'a>],
    table: &[(Cow<'a, str>, Object<RawTextStyle<'a>>)],
) -> Text<'a> {
    let style = style(base, TextStyle::default());
    let runs = runs(&characters, &style, overrides, table);
    let truncated = base.truncation.as_str() == Some("ENDING");
    let resize = match base.resize.as_str() {
        Some("TRUNCATE") => TextResize::Truncate,
        _ if truncated => TextResize::Truncate,
        Some("WIDTH_AND_HEIGHT") => TextResize::WidthAndHeight,
        Some("HEIGHT") => TextResize::Height,
        _ => TextResize::None,
    };
    Text {
        characters,
        style,
        runs,
        align: match base.align.as_str() {
            Some("CENTER") => TextAlign::Center,
            Some("RIGHT") => TextAlign::Right,
            Some("JUSTIFIED") => TextAlign::Justified,
            _ => TextAlign::Left,
        },
        align_vertical: match base.align_vertical.as_str() {
            Some("CENTER") => TextAlignVertical::Center,
            Some("BOTTOM") => TextAlignVertical::Bottom,
            _ => TextAlignVertical::Top,
        },
        resize,
        max_lines: base.max_lines.number().filter(|n| *n >= 1.0).map(|n| n as u32),
        paragraph_spacing: base.paragraph_spacing.number().unwrap_or(0.0).clamp(0.0, 10_000.0),
    }
}

/// `raw` laid over `under`.
fn style<'a>(raw: &RawTextStyle<'a>, under: TextStyle<'a>) -> TextStyle<'a> {
    let italic_name = || {
        let name = raw.postscript_name.as_str()?;
        Some(name.contains("Italic") || name.contains("Oblique"))
    };
    TextStyle {
        family: raw.family.as_str().map_or(under.family, |family| match &raw.family {
            Scalar::Text(Cow::Borrowed(borrowed)) => Cow::Borrowed(*borrowed),
            _ => Cow::Owned(family.to_owned()),
        }),
        weight: raw
            .weight
            .number()
            .or_else(|| weight_in_name(raw.postscript_name.as_str()?))
            .map_or(under.weight, |w| w.clamp(1.0, 1000.0) as u16),
        italic: raw.italic.boolean().or_else(italic_name).unwrap_or(under.italic),
        size: raw.size.number().filter(|s| *s > 0.0).map_or(under.size, |s| s.min(10_000.0)),
        line_height: raw
            .line_height
            .number()
            .filter(|h| *h > 0.0)
            .map_or(under.line_height, |h| LineHeight::Pixels(h.min(100_000.0))),
        letter_spacing: raw
            .letter_spacing
            .number()
            .map_or(under.letter_spacing, |s| s.clamp(-1000.0, 1000.0)),
        case: match raw.case.as_str() {
            Some("UPPER") => TextCase::Upper,
            Some("LOWER") => TextCase::Lower,
            Some("TITLE") => TextCase::Title,
            Some("SMALL_CAPS" | "SMALL_CAPS_FORCED") => TextCase::SmallCaps,
            Some(_) => TextCase::Original,
            None => under.case,
        },
        decoration: match raw.decoration.as_str() {
            Some("UNDERLINE") => TextDecoration::Underline,
            Some("STRIKETHROUGH") => TextDecoration::Strikethrough,
            Some(_) => TextDecoration::None,
            None => under.decoration,
        },
        fills: raw.fills.as_ref().map(crate::style::paints).or(under.fills),
    }
}

/// Weight from a face's name, as the plugin API gives it (`SemiBold`).
fn weight_in_name(name: &str) -> Option<f64> {
    const NAMES: [(&str, f64); 12] = [
        ("Thin", 100.0),
        ("ExtraLight", 200.0),
        ("Extra Light", 200.0),
        ("SemiBold", 600.0),
        ("Semi Bold", 600.0),
        ("DemiBold", 600.0),
        ("ExtraBold", 800.0),
        ("Extra Bold", 800.0),
        ("Light", 300.0),
        ("Medium", 500.0),
        ("Bold", 700.0),
        ("Black", 900.0),
    ];
    NAMES.iter().find(|(part, _)| name.contains(part)).map(|(_, weight)| *weight)
}

fn runs<'a>(
    characters: &str,
    base: &TextStyle<'a>,
    overrides: &[Scalar<'a>],
    table: &[(Cow<'a, str>, Object<RawTextStyle<'a>>)],
) -> Vec<TextRun<'a>> {
    let mut runs: Vec<TextRun<'a>> = Vec::new();
    if characters.is_empty() {
        return runs;
    }
    let id_at = |unit: usize| overrides.get(unit).and_then(Scalar::number).map_or(0, |id| id as u64);
    let (mut unit, mut current) = (0, None);
    for (at, character) in characters.char_indices() {
        // A surrogate pair takes the style of its first half: a character is never cut in two.
        let id = id_at(unit);
        unit += character.len_utf16();
        if current == Some(id) {
            continue;
        }
        if let Some(last) = runs.last_mut() {
            last.range.end = at;
        }
        current = Some(id);
        let over = (id != 0).then(|| table.iter().find(|(key, _)| key.parse() == Ok(id))).flatten();
        let style = match over {
            Some((_, Object(Some(raw)))) => style(raw, base.clone()),
            _ => base.clone(),
        };
        runs.push(TextRun { range: at..characters.len(), style });
    }
    runs
}

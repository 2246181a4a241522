//! Measuring and wrapping text with the bundled fonts.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

use super::paint::{Family, Type};

/// Width of a character over the font size, remembered by face.
type Advances = Mutex<HashMap<(Family, u16, char), f64>>;

fn bytes(family: Family, weight: u16) -> &'static [u8] {
    match (family, weight) {
        (Family::NotoSansJp, 0..600) => {
            include_bytes!("../../../crates/render/fonts/NotoSansCJKjp-Regular.subset.otf")
        }
        (Family::NotoSansJp, _) => {
            include_bytes!("../../../crates/render/fonts/NotoSansCJKjp-Bold.subset.otf")
        }
        (Family::Inter, 0..450) => include_bytes!("../../../crates/render/fonts/Inter-Regular.otf"),
        (Family::Inter, 450..550) => include_bytes!("../../../crates/render/fonts/Inter-Medium.otf"),
        (Family::Inter, 550..650) => include_bytes!("../../../crates/render/fonts/Inter-SemiBold.otf"),
        (Family::Inter, _) => include_bytes!("../../../crates/render/fonts/Inter-Bold.otf"),
    }
}

/// The advance of one character over the font size; half an em where the fonts lack it.
fn advance(family: Family, weight: u16, character: char) -> f64 {
    static ADVANCES: OnceLock<Advances> = OnceLock::new();
    let advances = ADVANCES.get_or_init(Mutex::default);
    let mut advances = advances.lock().expect("no holder of the lock panics");
    *advances.entry((family, weight, character)).or_insert_with(|| {
        let lookup = |family| {
            let font = FontRef::new(bytes(family, weight)).expect("the bundled fonts are sound");
            let glyph = font.charmap().map(character)?;
            let metrics = font.glyph_metrics(Size::new(1000.0), LocationRef::default());
            metrics.advance_width(glyph).map(|width| f64::from(width) / 1000.0)
        };
        [family, Family::Inter, Family::NotoSansJp].into_iter().find_map(lookup).unwrap_or(0.5)
    })
}

/// A character with the style it is set in.
pub type Styled = (char, Type);

/// Width of one styled character in pixels.
fn width_of((character, style): Styled) -> f64 {
    advance(style.family, style.weight, character) * style.size + style.spacing
}

/// Whether a character may be broken before and after, as Japanese allows.
pub fn is_cjk(character: char) -> bool {
    matches!(character, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}')
}

/// Characters that may not begin a line.
fn never_first(character: char) -> bool {
    "、。，．・：；？！）」』】〉》ーぁぃぅぇぉっゃゅょァィゥェォッャュョ々,.!?)]}%".contains(character)
}

/// Characters that may not end a line.
fn never_last(character: char) -> bool {
    "（「『【〈《([{¥￥".contains(character)
}

fn breaks_between(before: char, after: char) -> bool {
    if before == ' ' {
        return after != ' ';
    }
    if never_first(after) || never_last(before) || after == ' ' {
        return false;
    }
    is_cjk(before) || is_cjk(after) || before == '-'
}

/// One line of text that has been wrapped.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Width in pixels, without trailing spaces.
    pub width: f64,
    /// Height in pixels: the tallest line height of its characters.
    pub height: f64,
}

fn line_of(characters: &[Styled], fallback: f64) -> Line {
    let end = characters.iter().rposition(|(character, _)| *character != ' ').map_or(0, |last| last + 1);
    let width = characters[..end].iter().map(|styled| width_of(*styled)).sum();
    let height = characters.iter().map(|(_, style)| style.line).fold(0.0, f64::max);
    Line { width, height: if height > 0.0 { height } else { fallback } }
}

/// Wraps text at a width in pixels; without one, only at line breaks.
pub fn wrap(characters: &[Styled], fallback: f64, limit: Option<f64>) -> Vec<Line> {
    let mut lines = Vec::new();
    for paragraph in characters.split(|(character, _)| *character == '\n') {
        let Some(limit) = limit else {
            lines.push(line_of(paragraph, fallback));
            continue;
        };
        let (mut start, mut candidate, mut width) = (0, None, 0.0);
        let mut index = 0;
        while index < paragraph.len() {
            if index > start && breaks_between(paragraph[index - 1].0, paragraph[index].0) {
                candidate = Some(index);
            }
            width += width_of(paragraph[index]);
            let over = width > limit + 0.01 && paragraph[index].0 != ' ' && index > start;
            if over {
                let end = candidate.unwrap_or(index);
                lines.push(line_of(&paragraph[start..end], fallback));
                (start, candidate, width, index) = (end, None, 0.0, end);
            } else {
                index += 1;
            }
        }
        lines.push(line_of(&paragraph[start..], fallback));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::paint::inter;

    fn styled(text: &str, style: Type) -> Vec<Styled> {
        text.chars().map(|character| (character, style)).collect()
    }

    #[test]
    fn latin_breaks_between_words() {
        let style = inter("", 400, 16.0, 24.0);
        let text = styled("A quiet room by the river", style);
        let whole = wrap(&text, 24.0, None);
        assert_eq!(whole.len(), 1);
        let lines = wrap(&text, 24.0, Some(whole[0].width * 0.6));
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.width <= whole[0].width * 0.6));
    }

    #[test]
    fn japanese_breaks_anywhere_but_before_a_full_stop() {
        let style = inter("", 400, 10.0, 16.0).japanese();
        let text = styled("宿を探します。", style);
        let lines = wrap(&text, 16.0, Some(60.0));
        assert_eq!(lines.iter().map(|line| line.width).collect::<Vec<_>>(), [50.0, 20.0]);
    }
}

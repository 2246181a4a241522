//! Comparing what texts say.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

/// NFKC, less all white space and format characters.
pub(crate) fn normalized(text: &str) -> String {
    if text.is_ascii() {
        return text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    }
    text.nfkc().filter(|c| !c.is_whitespace() && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}')).collect()
}

/// Characters that both have, as multisets, over the mean of their lengths: 0..=1. Two empty texts agree.
pub(crate) fn character_f1(a: &str, b: &str) -> f64 {
    let (a, b) = (normalized(a), normalized(b));
    if a == b {
        return 1.0;
    }
    let mut counts: HashMap<char, i64> = HashMap::new();
    for character in a.chars() {
        *counts.entry(character).or_default() += 1;
    }
    let mut shared = 0_i64;
    for character in b.chars() {
        let left = counts.entry(character).or_default();
        if *left > 0 {
            *left -= 1;
            shared += 1;
        }
    }
    let total = a.chars().count() + b.chars().count();
    2.0 * shared as f64 / total as f64
}

/// Whether a text only has glyphs of an icon font: characters in a private-use area.
pub(crate) fn is_icon_glyph(text: &str) -> bool {
    let private = |c: char| matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{ffffd}' | '\u{100000}'..='\u{10fffd}');
    let mut letters = text.chars().filter(|c| !c.is_whitespace()).peekable();
    letters.peek().is_some() && letters.all(private)
}

/// A rough width in pixels, for layout where no font is at hand.
pub(crate) fn rough_width(text: &str, size: f64) -> f64 {
    let em: f64 = text
        .chars()
        .map(|c| match c {
            ' ' | 'i' | 'l' | 'j' | 't' | 'f' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '('
            | ')' => 0.3,
            'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.85,
            'A'..='Z' => 0.67,
            '\0'..='\u{2fff}' => 0.56,
            _ => 1.0,
        })
        .sum();
    em * size
}

//! Text to lines. Where our font is wider or narrower than the designer's, lines are fitted to what the box says the
//! text was: squeezed a little rather than running over or breaking anew.

use std::ops::Range;
use std::rc::Rc;

use heddle_figma::{Size, Text, TextAlign, TextAlignVertical, TextResize};
use unicode_bidi::BidiInfo;
use unicode_linebreak::{BreakOpportunity, linebreaks};
use unicode_segmentation::UnicodeSegmentation;

use crate::runs::{Runs, Style};
use crate::shape::{Shaper, Word};

/// Least horizontal scale of a text whose box follows it.
const LEAST_SQUEEZE: f64 = 0.8;
/// Horizontal scales that are tried to bring a wrapped text to its number of lines; the last ones for a single line.
const SQUEEZES: [f64; 10] = [1.0, 0.97, 0.94, 0.91, 0.88, 0.85, 0.82, 0.78, 0.74, 0.7];
/// How many of them are for texts of several lines.
const MODERATE: usize = 6;
/// Most lines of one text.
const MOST_LINES: usize = 5_000;

/// A word in its place.
#[derive(Debug)]
pub struct Placed {
    /// The word.
    pub word: Rc<Word>,
    /// Its style.
    pub style: u16,
    /// Left edge, before the squeeze.
    pub x: f64,
    /// Width, letter spacing included.
    pub width: f64,
}

/// A line of words in visual order.
#[derive(Debug)]
pub struct Line {
    /// Its words.
    pub words: Vec<Placed>,
    /// Its baseline, from the top of the box.
    pub baseline: f64,
}

/// A text in lines.
#[derive(Debug)]
pub struct Laid {
    /// Its lines.
    pub lines: Vec<Line>,
    /// Horizontal scale about the left edge of the box, ≤ 1.
    pub squeeze: f64,
}

struct Item {
    word: Rc<Word>,
    style: u16,
    level: u8,
    space: bool,
    break_after: bool,
    width: f64,
    range: Range<usize>,
}

struct Paragraph {
    items: Vec<Item>,
    right_to_left: bool,
    space_before: f64,
    style: u16,
}

/// Lays a text out in a box.
pub fn lay_out(shaper: &mut Shaper, text: &Text<'_>, runs: &mut Runs<'_>, size: Size) -> Laid {
    let wraps = text.resize != TextResize::WidthAndHeight && size.width >= 1.0;
    let paragraphs = paragraphs(shaper, text, runs, wraps.then_some(size.width));
    let expected = infer_line_height(text, runs, &paragraphs, size);
    let natural = paragraphs.iter().map(|p| width_of(&p.items)).fold(0.0, f64::max);
    let mut squeeze = 1.0;
    let mut wrap_width = f64::INFINITY;
    if wraps {
        (squeeze, wrap_width) = fit_lines(text, &paragraphs, size.width, expected);
    } else if natural > size.width + 0.01 && size.width > 0.0 && text.resize == TextResize::WidthAndHeight {
        squeeze = (size.width / natural).max(LEAST_SQUEEZE);
    }
    let mut ranges: Vec<(usize, Range<usize>, bool)> = Vec::new();
    for (index, paragraph) in paragraphs.iter().enumerate() {
        let lines = wrap(&paragraph.items, wrap_width);
        let count = lines.len();
        ranges.extend(lines.into_iter().enumerate().map(|(at, range)| (index, range, at + 1 == count)));
        if ranges.len() > MOST_LINES {
            ranges.truncate(MOST_LINES);
            break;
        }
    }
    let most = most_lines(text, runs, size);
    let cut = most.filter(|most| ranges.len() > *most);
    if let Some(most) = cut {
        ranges.truncate(most);
    }
    let box_width = size.width / squeeze;
    let mut lines = Vec::with_capacity(ranges.len());
    let mut y = 0.0;
    let mut last_paragraph = None;
    for (at, (index, range, ends_paragraph)) in ranges.iter().enumerate() {
        let paragraph = &paragraphs[*index];
        if last_paragraph.is_some_and(|last| last != *index) {
            y += paragraph.space_before;
        }
        last_paragraph = Some(*index);
        let items = &paragraph.items[range.clone()];
        let (above, below) = line_extent(items, paragraph.style, &runs.styles);
        let mut words = if cut.is_some() && at + 1 == ranges.len() {
            with_ellipsis(shaper, runs, paragraph, items, box_width)
        } else {
            in_visual_order(items, paragraph.right_to_left)
        };
        align(&mut words, text.align, box_width, *ends_paragraph, paragraph.right_to_left);
        let words = words
            .into_iter()
            .map(|w| Placed { word: w.word, style: w.style, x: w.x, width: w.width })
            .collect();
        lines.push(Line { words, baseline: y + above });
        y += above + below;
    }
    let shift = match (text.align_vertical, text.resize) {
        // The box follows the text: what differs is our font's doing, and is shared out.
        (_, TextResize::Height | TextResize::WidthAndHeight) => (size.height - y) / 2.0,
        // A box far lower than its only line has been trimmed to the letters.
        _ if lines.len() == 1 && size.height > 0.0 && y > size.height * 1.35 => (size.height - y) / 2.0,
        (TextAlignVertical::Top, _) => 0.0,
        (TextAlignVertical::Center, _) => (size.height - y) / 2.0,
        (TextAlignVertical::Bottom, _) => size.height - y,
    };
    for line in &mut lines {
        line.baseline += shift;
    }
    Laid { lines, squeeze }
}

fn most_lines(text: &Text<'_>, runs: &Runs<'_>, size: Size) -> Option<usize> {
    let by_count = text.max_lines.map(|most| most.max(1) as usize);
    if text.resize != TextResize::Truncate {
        return by_count;
    }
    let height = runs.styles.iter().map(Style::height).fold(1.0, f64::max);
    let by_height = ((size.height / height + 0.2).floor() as usize).max(1);
    Some(by_count.map_or(by_height, |count| count.min(by_height.max(1))))
}

/// How many lines the designer's font made of the text, by the box; and where the line height is the font's own, makes
/// it fit that number.
fn infer_line_height(
    text: &Text<'_>,
    runs: &mut Runs<'_>,
    paragraphs: &[Paragraph],
    size: Size,
) -> Option<usize> {
    let height = runs.styles.first().map(Style::height)?;
    let alike = runs.styles.iter().all(|s| (s.height() - height).abs() < 0.01);
    if !alike || height <= 0.0 || !matches!(text.resize, TextResize::Height | TextResize::WidthAndHeight) {
        let fits = (size.height / height + 0.3).floor();
        return (alike && height > 0.0 && fits >= 1.0).then_some(fits as usize);
    }
    let spacing: f64 = paragraphs.iter().skip(1).map(|p| p.space_before).sum();
    let lines = ((size.height - spacing) / height).round().max(1.0);
    let exact = (size.height - spacing) / lines;
    if runs.styles.iter().all(|s| s.line_height.is_none()) && (0.8..1.35).contains(&(exact / height)) {
        for style in &mut runs.styles {
            style.line_height = Some(exact);
        }
    }
    Some(lines as usize)
}

fn count_lines(paragraphs: &[Paragraph], width: f64) -> usize {
    paragraphs.iter().map(|p| wrap(&p.items, width).len()).sum()
}

/// The squeeze, and the width at which lines break.
fn fit_lines(text: &Text<'_>, paragraphs: &[Paragraph], width: f64, expected: Option<usize>) -> (f64, f64) {
    let lines = count_lines(paragraphs, width);
    let Some(expected) = expected.filter(|e| *e != lines && text.resize != TextResize::Truncate) else {
        return (1.0, width);
    };
    if lines > expected {
        let fits = |squeeze: &&f64| count_lines(paragraphs, width / **squeeze) <= expected;
        let most = if expected == 1 { SQUEEZES.len() } else { MODERATE };
        let squeeze = SQUEEZES[..most].iter().find(fits).copied().unwrap_or(0.94);
        (squeeze, width / squeeze)
    } else if text.resize == TextResize::Height {
        let narrower = |part: &&f64| count_lines(paragraphs, width * **part) == expected;
        (1.0, width * SQUEEZES[..MODERATE].iter().find(narrower).copied().unwrap_or(1.0))
    } else {
        (1.0, width)
    }
}

/// Splits a text at its line ends, and those stretches into words.
fn paragraphs(shaper: &mut Shaper, text: &Text<'_>, runs: &Runs<'_>, limit: Option<f64>) -> Vec<Paragraph> {
    let characters = runs.characters.as_ref();
    let mut paragraphs = Vec::new();
    let (mut start, mut new_paragraph) = (0, false);
    loop {
        let rest = &characters[start..];
        let end = rest.find(is_line_end).map_or(characters.len(), |at| start + at);
        let space_before = if new_paragraph { text.paragraph_spacing.clamp(0.0, 10_000.0) } else { 0.0 };
        let mut paragraph =
            Paragraph { items: Vec::new(), right_to_left: false, space_before, style: style_at(runs, start) };
        fill(shaper, runs, start..end, &mut paragraph, limit);
        paragraphs.push(paragraph);
        let Some(ended) = characters[end..].chars().next() else { return paragraphs };
        start = end + ended.len_utf8();
        new_paragraph = ended != '\u{2028}';
        if paragraphs.len() >= MOST_LINES {
            return paragraphs;
        }
    }
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn style_at(runs: &Runs<'_>, at: usize) -> u16 {
    let index = runs.ends.partition_point(|(end, _)| *end <= at);
    runs.ends.get(index).or(runs.ends.last()).map_or(0, |(_, style)| *style)
}

/// Whether a text may hold anything that runs from right to left.
fn may_turn(text: &str) -> bool {
    text.bytes().any(|b| b >= 0xd6)
        && text.chars().any(|c| {
            matches!(c, '\u{590}'..='\u{8ff}' | '\u{200f}' | '\u{202b}' | '\u{202e}' | '\u{2067}' | '\u{fb1d}'..='\u{fdff}'
                | '\u{fe70}'..='\u{feff}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
        })
}

fn fill(
    shaper: &mut Shaper,
    runs: &Runs<'_>,
    range: Range<usize>,
    paragraph: &mut Paragraph,
    limit: Option<f64>,
) {
    let text = &runs.characters[range.clone()];
    if text.is_empty() {
        return;
    }
    let bidi = may_turn(text).then(|| BidiInfo::new(text, None));
    let levels = bidi.as_ref().map(|b| b.levels.as_slice());
    paragraph.right_to_left =
        bidi.as_ref().and_then(|b| b.paragraphs.first()).is_some_and(|p| p.level.is_rtl());
    let level_at = |at: usize| levels.and_then(|l| l.get(at)).map_or(0, unicode_bidi::Level::number);
    let ascii = text.is_ascii();
    let mut start = 0;
    for (end, opportunity) in linebreaks(text) {
        let may_break = end < text.len() || opportunity == BreakOpportunity::Allowed;
        let mut at = start;
        while at < end {
            let style = style_at(runs, range.start + at);
            let level = level_at(at);
            let mut space = None;
            let mut stop = end;
            for (offset, c) in text[at..end].char_indices() {
                let here = at + offset;
                let is_space = c.is_whitespace() && c != '\u{a0}' && c != '\u{202f}';
                let changed = *space.get_or_insert(is_space) != is_space
                    || level_at(here) != level
                    || (runs.ends.len() > 1 && style_at(runs, range.start + here) != style);
                // A combining mark stays with its letter.
                if changed && here > at && (ascii || !is_mark(c)) {
                    stop = here;
                    break;
                }
            }
            let space = space.unwrap_or(false);
            let stretch = range.start + at..range.start + stop;
            push(shaper, runs, paragraph, stretch, (style, level, space), limit);
            at = stop;
        }
        if let Some(last) = paragraph.items.last_mut() {
            last.break_after |= may_break;
        }
        start = end;
    }
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

fn push(
    shaper: &mut Shaper,
    runs: &Runs<'_>,
    paragraph: &mut Paragraph,
    range: Range<usize>,
    (style, level, space): (u16, u8, bool),
    limit: Option<f64>,
) {
    let resolved = &runs.styles[usize::from(style)];
    let text = &runs.characters[range.clone()];
    let text = if space && text.contains('\t') { "    " } else { text };
    let right_to_left = level & 1 == 1;
    let word = shaper.word(text, resolved.look, right_to_left);
    let width = width(&word, resolved);
    if !space && limit.is_some_and(|limit| width > limit + 0.5) && word.clusters > 1 && word.clusters < 10_000
    {
        for (at, grapheme) in text.grapheme_indices(true) {
            let word = shaper.word(grapheme, resolved.look, right_to_left);
            let width = self::width(&word, resolved);
            let range = range.start + at..range.start + at + grapheme.len();
            paragraph.items.push(Item { word, style, level, space, break_after: true, width, range });
        }
        if let Some(last) = paragraph.items.last_mut() {
            last.break_after = false;
        }
        return;
    }
    paragraph.items.push(Item { word, style, level, space, break_after: false, width, range });
}

fn width(word: &Word, style: &Style<'_>) -> f64 {
    f64::from(word.width) * style.size + f64::from(word.clusters) * style.spacing
}

/// Width of a line without the spaces at its end.
fn width_of(items: &[Item]) -> f64 {
    let end = items.iter().rposition(|i| !i.space).map_or(0, |at| at + 1);
    items[..end].iter().map(|i| i.width).sum()
}

/// Breaks items into lines, first fit; spaces at the end of a line hang.
fn wrap(items: &[Item], width: f64) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let (mut line, mut segment) = (0, 0);
    let (mut x, mut segment_width, mut hanging) = (0.0, 0.0, 0.0);
    for (index, item) in items.iter().enumerate() {
        segment_width += item.width;
        hanging = if item.space { hanging + item.width } else { 0.0 };
        if item.break_after || index + 1 == items.len() {
            if x + segment_width - hanging > width + 0.01 && segment > line {
                lines.push(line..segment);
                line = segment;
                x = 0.0;
            }
            x += segment_width;
            segment = index + 1;
            segment_width = 0.0;
            hanging = 0.0;
        }
    }
    lines.push(line..items.len());
    lines
}

/// Room above and below the baseline of a line.
fn line_extent(items: &[Item], style: u16, styles: &[Style<'_>]) -> (f64, f64) {
    let of = |style: &Style<'_>| {
        let leading = style.height() - (style.ascent + style.descent) * style.size;
        (style.ascent * style.size + leading / 2.0, style.descent * style.size + leading / 2.0)
    };
    let mut extent: Option<(f64, f64)> = None;
    let mut last = None;
    for item in items {
        if last == Some(item.style) {
            continue;
        }
        last = Some(item.style);
        let (above, below) = of(&styles[usize::from(item.style)]);
        extent = Some(extent.map_or((above, below), |(a, b)| (a.max(above), b.max(below))));
    }
    extent.unwrap_or_else(|| of(&styles[usize::from(style)]))
}

struct Loose {
    word: Rc<Word>,
    style: u16,
    x: f64,
    width: f64,
    space: bool,
}

/// Items of a line from left to right (UAX #9, L1 and L2).
fn in_visual_order(items: &[Item], right_to_left: bool) -> Vec<Loose> {
    let end = items.iter().rposition(|i| !i.space).map_or(0, |at| at + 1);
    let items = &items[..end];
    let base = u8::from(right_to_left);
    let mut order: Vec<usize> = (0..items.len()).collect();
    let highest = items.iter().map(|i| i.level).max().unwrap_or(0).max(base);
    for level in (1..=highest).rev() {
        let mut at = 0;
        while at < order.len() {
            if items[order[at]].level < level {
                at += 1;
                continue;
            }
            let start = at;
            while at < order.len() && items[order[at]].level >= level {
                at += 1;
            }
            order[start..at].reverse();
        }
    }
    let loose = |index: usize| {
        let item = &items[index];
        Loose { word: Rc::clone(&item.word), style: item.style, x: 0.0, width: item.width, space: item.space }
    };
    order.into_iter().map(loose).collect()
}

fn align(words: &mut [Loose], align: TextAlign, width: f64, ends_paragraph: bool, right_to_left: bool) {
    let used: f64 = words.iter().map(|w| w.width).sum();
    let rest = width - used;
    let spaces = words.iter().filter(|w| w.space).count();
    let mut x = match align {
        TextAlign::Center => rest / 2.0,
        TextAlign::Right => rest,
        TextAlign::Justified if ends_paragraph && right_to_left => rest,
        TextAlign::Left | TextAlign::Justified => 0.0,
    };
    let stretch = align == TextAlign::Justified && !ends_paragraph && rest > 0.0 && spaces > 0;
    let more = if stretch { rest / spaces as f64 } else { 0.0 };
    for word in words {
        word.x = x;
        x += word.width + if word.space { more } else { 0.0 };
    }
}

/// The last line that is shown of a text that goes on.
fn with_ellipsis(
    shaper: &mut Shaper,
    runs: &Runs<'_>,
    paragraph: &Paragraph,
    items: &[Item],
    width: f64,
) -> Vec<Loose> {
    let style = items.last().map_or(paragraph.style, |i| i.style);
    let resolved = &runs.styles[usize::from(style)];
    let ellipsis = shaper.word("…", resolved.look, paragraph.right_to_left);
    let ellipsis_width = self::width(&ellipsis, resolved);
    let room = (width - ellipsis_width).max(0.0);
    let mut used = 0.0;
    let mut kept: Vec<Item> = Vec::new();
    for item in items {
        let copy = |word: Rc<Word>, width: f64| Item { word, width, range: item.range.clone(), ..*item };
        if used + item.width <= room {
            used += item.width;
            kept.push(copy(Rc::clone(&item.word), item.width));
            continue;
        }
        // The longest beginning of the word that leaves room.
        let text = &runs.characters[item.range.clone()];
        let look = runs.styles[usize::from(item.style)].look;
        let ends: Vec<usize> = text.grapheme_indices(true).map(|(at, g)| at + g.len()).take(2_000).collect();
        let mut fits = |count: usize| {
            let word = shaper.word(&text[..ends[count - 1]], look, item.level & 1 == 1);
            let width = self::width(&word, &runs.styles[usize::from(item.style)]);
            (used + width <= room).then_some((word, width))
        };
        let (mut low, mut high) = (0, ends.len());
        let mut best = None;
        while low < high {
            let middle = (low + high).div_ceil(2);
            match fits(middle) {
                Some(found) => {
                    best = Some(found);
                    low = middle;
                }
                None => high = middle - 1,
            }
        }
        if let Some((word, width)) = best {
            kept.push(copy(word, width));
        }
        break;
    }
    while kept.last().is_some_and(|i| i.space) {
        kept.pop();
    }
    let level = u8::from(paragraph.right_to_left);
    let range = 0..0;
    let word = ellipsis;
    kept.push(Item { word, style, level, space: false, break_after: false, width: ellipsis_width, range });
    in_visual_order(&kept, paragraph.right_to_left)
}

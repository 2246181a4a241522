//! Words to glyphs, and glyphs to outlines, each once per picture.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use harfrust::font::glyph::outline::{DrawMemory, DrawOptions, PathSink};
use harfrust::{Buffer, ClusterLevel, Direction, Feature, GlyphId, ShapeOptions, ShapePlan, ShaperFont, Tag};
use heddle_figma::Point;
use unicode_segmentation::UnicodeSegmentation;

use crate::fonts::{FaceName, Fonts, is_emoji, is_private};

/// What of a style matters to shaping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// The face wanted first.
    pub face: FaceName,
    /// Contextual forms of Latin letters (`->` to an arrow and the like), which only the real Inter has.
    pub contextual: bool,
    /// Ligatures, which letter spacing turns off.
    pub ligatures: bool,
}

impl Look {
    fn key(self, right_to_left: bool) -> usize {
        (self.face as usize) << 3
            | usize::from(self.contextual) << 2
            | usize::from(self.ligatures) << 1
            | usize::from(right_to_left)
    }
}

/// A glyph of a shaped word. Lengths are ems.
#[derive(Debug, Clone, Copy)]
pub struct Glyph {
    /// Its face; `None` for a neutral box in place of what no face has.
    pub face: Option<FaceName>,
    /// Its id in that face.
    pub id: u16,
    /// Byte of the word that it stands for.
    pub cluster: u32,
    /// To the next glyph.
    pub advance: f32,
    /// Right of the pen.
    pub dx: f32,
    /// Above the baseline.
    pub dy: f32,
}

/// A shaped word, in visual order.
#[derive(Debug)]
pub struct Word {
    /// Its glyphs.
    pub glyphs: Vec<Glyph>,
    /// Its width in ems.
    pub width: f32,
    /// How many clusters it has, between which letter spacing lies.
    pub clusters: u32,
    /// Whether a face had to stand in that is lighter than a bold text wants it.
    pub light: bool,
}

/// A part of an outline. Lengths are ems; y grows downwards.
#[derive(Debug, Clone, Copy)]
pub enum Segment {
    /// Starts a figure.
    Move(Point),
    /// A line.
    Line(Point),
    /// A curve with one control point.
    Quad(Point, Point),
    /// A curve with two.
    Curve(Point, Point, Point),
    /// Ends a figure.
    Close,
}

/// The outline of a glyph.
pub type Outline = Rc<[Segment]>;

/// Words longer than this are not kept: they hardly come again.
const LONGEST_KEPT: usize = 64;

/// Most words kept at a time.
const MOST_KEPT: usize = 50_000;

/// Shapes with the bundled fonts and remembers what it shaped.
pub struct Shaper {
    fonts: Fonts,
    shapers: Vec<Option<ShaperFont<'static, 'static>>>,
    plans: Vec<(u32, Option<harfrust::Script>, ShapePlan)>,
    buffer: Buffer,
    words: Vec<HashMap<Box<str>, Rc<Word>>>,
    kept: usize,
    outlines: HashMap<(FaceName, u16), Outline>,
    /// How many characters no face has.
    pub missing: u32,
}

impl std::hash::Hash for FaceName {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u8(*self as u8);
    }
}

impl Shaper {
    /// Nothing is shaped yet.
    pub fn new(fonts: Fonts) -> Self {
        Self {
            fonts,
            shapers: Vec::new(),
            plans: Vec::new(),
            buffer: Buffer::new(),
            words: Vec::new(),
            kept: 0,
            outlines: HashMap::new(),
            missing: 0,
        }
    }

    /// Shapes a word: a stretch of text without line breaks, in one style and direction.
    pub fn word(&mut self, text: &str, look: Look, right_to_left: bool) -> Rc<Word> {
        let key = look.key(right_to_left);
        if self.words.len() <= key {
            self.words.resize_with(key + 1, HashMap::new);
        }
        if let Some(word) = self.words[key].get(text) {
            return Rc::clone(word);
        }
        let word = Rc::new(self.shape(text, look, right_to_left));
        if text.len() <= LONGEST_KEPT && self.kept < MOST_KEPT {
            self.kept += 1;
            self.words[key].insert(text.into(), Rc::clone(&word));
        }
        word
    }

    fn shape(&mut self, text: &str, look: Look, right_to_left: bool) -> Word {
        let mut word = Word { glyphs: Vec::with_capacity(text.len()), width: 0.0, clusters: 0, light: false };
        // Stretches by face, in logical order.
        let mut stretches: Vec<(Option<FaceName>, usize, usize)> = Vec::new();
        for (start, grapheme) in text.grapheme_indices(true) {
            let mut chars = grapheme.chars();
            let Some(first) = chars.next() else { continue };
            word.clusters += 1;
            let emoji = is_emoji(first) || chars.any(|c| c == '\u{fe0f}');
            let face = if is_private(first) { None } else { self.fonts.pick(look.face, first, emoji) };
            let invisible = face.is_none() && is_invisible(first);
            let end = start + grapheme.len();
            match stretches.last_mut() {
                Some(last) if last.0 == face || invisible => last.2 = end,
                _ if invisible => stretches.push((Some(look.face), start, end)),
                _ => stretches.push((face, start, end)),
            }
        }
        if right_to_left {
            stretches.reverse();
        }
        for (face, start, end) in stretches {
            match face {
                Some(face) => self.stretch(&mut word, face, &text[start..end], start, look, right_to_left),
                None => {
                    for (at, grapheme) in text[start..end].grapheme_indices(true) {
                        self.missing += 1;
                        let advance = if grapheme.chars().next().is_some_and(is_private) { 1.1 } else { 0.7 };
                        let cluster = (start + at) as u32;
                        word.glyphs.push(Glyph { face: None, id: 0, cluster, advance, dx: 0.0, dy: 0.0 });
                    }
                }
            }
        }
        word.width = word.glyphs.iter().map(|g| g.advance).sum();
        word
    }

    fn stretch(
        &mut self,
        word: &mut Word,
        face: FaceName,
        text: &str,
        start: usize,
        look: Look,
        right_to_left: bool,
    ) {
        let Some(data) = self.fonts.face(face) else { return };
        word.light |= look.face.is_bold() && !face.is_bold();
        if self.shapers.len() <= face as usize {
            self.shapers.resize_with(face as usize + 1, || None);
        }
        let shaper = self.shapers[face as usize].get_or_insert_with(|| ShaperFont::new(&data.font));
        self.buffer.clear();
        self.buffer.set_cluster_level(ClusterLevel::MonotoneGraphemes);
        self.buffer.set_direction(if right_to_left {
            Direction::RightToLeft
        } else {
            Direction::LeftToRight
        });
        self.buffer.push_str(text);
        self.buffer.guess_segment_properties();
        let script = self.buffer.script();
        let features = [
            Feature::new(Tag::new(b"liga"), u32::from(look.ligatures), ..),
            Feature::new(Tag::new(b"calt"), 0, ..),
        ];
        let latin = matches!(
            face,
            FaceName::Regular | FaceName::Medium | FaceName::SemiBold | FaceName::Bold | FaceName::Italic
        );
        let features = &features[..=usize::from(latin && !look.contextual)];
        let key = (look.key(right_to_left) as u32) << 8 | face as u32;
        let plan = if let Some(found) = self.plans.iter().position(|(k, s, _)| *k == key && *s == script) {
            found
        } else {
            let direction = self.buffer.direction();
            let plan = ShapePlan::new(&data.font, direction, script, None, features);
            self.plans.push((key, script, plan));
            self.plans.len() - 1
        };
        let options = ShapeOptions::new().features(features).plan(Some(&self.plans[plan].2));
        if harfrust::shape(shaper, &mut self.buffer, options).is_err() {
            return;
        }
        let scale = data.scale;
        for (info, position) in self.buffer.glyph_infos().iter().zip(self.buffer.glyph_positions()) {
            // Controls and the like, which no font draws.
            if info.glyph_id == 0 {
                continue;
            }
            word.glyphs.push(Glyph {
                face: Some(face),
                id: u16::try_from(info.glyph_id).unwrap_or(0),
                cluster: start as u32 + info.cluster,
                advance: position.x_advance as f32 * scale,
                dx: position.x_offset as f32 * scale,
                dy: position.y_offset as f32 * scale,
            });
        }
    }

    /// The outline of a glyph, empty where it has none.
    pub fn outline(&mut self, face: FaceName, id: u16) -> Outline {
        match self.outlines.entry((face, id)) {
            Entry::Occupied(known) => Rc::clone(known.get()),
            Entry::Vacant(entry) => Rc::clone(entry.insert(draw(self.fonts, face, id))),
        }
    }
}

/// Characters that shape the text around them and are never seen.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}' | '\u{fffc}')
}

fn draw(fonts: Fonts, face: FaceName, id: u16) -> Outline {
    let Some(data) = fonts.face(face) else { return Rc::new([]) };
    let mut pen = Pen { segments: Vec::new(), scale: f64::from(data.scale) };
    if let Some(glyph) = data.font.outline_glyphs().get(GlyphId::new(u32::from(id)))
        && glyph.draw(&DrawOptions::new(), DrawMemory::Scratch, &mut pen).is_err()
    {
        pen.segments.clear();
    }
    pen.segments.into()
}

struct Pen {
    segments: Vec<Segment>,
    scale: f64,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> Point {
        Point { x: f64::from(x) * self.scale, y: -f64::from(y) * self.scale }
    }
}

impl PathSink for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.segments.push(Segment::Move(self.at(x, y)));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.segments.push(Segment::Line(self.at(x, y)));
    }

    fn quad_to(&mut self, cx0: f32, cy0: f32, x: f32, y: f32) {
        self.segments.push(Segment::Quad(self.at(cx0, cy0), self.at(x, y)));
    }

    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        self.segments.push(Segment::Curve(self.at(cx0, cy0), self.at(cx1, cy1), self.at(x, y)));
    }

    fn close(&mut self) {
        self.segments.push(Segment::Close);
    }
}

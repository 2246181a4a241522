//! Text as outlines: the picture looks right where no font is installed, and each text still says what it reads.

use std::borrow::Cow;
use std::collections::HashMap;

use heddle_figma::{Affine, Node, Paint, PaintKind, Point, Text, TextDecoration, TextRun};

use crate::fonts::FaceName;
use crate::layout::{Line, Placed, lay_out};
use crate::outline::{Outline, Spot};
use crate::paint::Ink;
use crate::painter::Painter;
use crate::path::PathWriter;
use crate::runs::{Runs, Style};
use crate::shape::{Segment, Shaper};
use crate::write;

/// Shared glyph outlines are on a grid of this many units per em.
const GRID: f64 = 1000.0;
/// Slant of synthetic italics: the tangent of 12°.
const SLANT: f64 = 0.2126;
/// Stroke that makes a regular glyph bold, in ems.
const EMBOLDEN: f64 = 0.032;
/// Most characters of a text that are drawn: nobody reads more of it in a picture.
const MOST_CHARACTERS: usize = 20_000;
/// Most characters of a text that its label repeats.
const LONGEST_LABEL: usize = 2_000;

/// Boxes in place of characters that no font has: wide for icons, narrow for letters.
const BOXES: [(f64, &str); 2] = [
    (
        1.1,
        "m250-800h600a140 140 0 0 1 140 140v600a140 140 0 0 1-140 140h-600a140 140 0 0 1-140-140v-600a140 140 0 0 1 140-140zm0 70a70 70 0 0 0-70 70v600a70 70 0 0 0 70 70h600a70 70 0 0 0 70-70v-600a70 70 0 0 0-70-70z",
    ),
    (0.7, "m90-700h520v700h-520zm60 60v580h400v-580z"),
];

/// The glyphs that a picture uses, each defined once.
#[derive(Debug, Default)]
pub struct GlyphTable {
    ids: HashMap<(FaceName, u16), Option<u32>>,
    boxes: [bool; 2],
    next: u32,
    /// `<path id="g…" d="…"/>` for each.
    pub definitions: String,
}

impl GlyphTable {
    fn id(&mut self, shaper: &mut Shaper, face: FaceName, id: u16) -> Option<u32> {
        if let Some(known) = self.ids.get(&(face, id)) {
            return *known;
        }
        let outline = shaper.outline(face, id);
        let known = (!outline.is_empty()).then(|| {
            let id = self.next;
            self.next += 1;
            self.definitions.push_str("<path id=\"");
            write::identifier(&mut self.definitions, 'g', id);
            self.definitions.push_str("\" d=\"");
            let scaled = |p: &Point| Point { x: p.x * GRID, y: p.y * GRID };
            draw(&mut PathWriter::new(&mut self.definitions, 0), &outline, scaled);
            self.definitions.push_str("\"/>");
            id
        });
        self.ids.insert((face, id), known);
        known
    }

    fn use_box(&mut self, which: usize) -> char {
        let name = if which == 0 { 'w' } else { 'n' };
        if !self.boxes[which] {
            self.boxes[which] = true;
            self.definitions.push_str("<path id=\"g");
            self.definitions.push(name);
            self.definitions.push_str("\" d=\"");
            self.definitions.push_str(BOXES[which].1);
            self.definitions.push_str("\" fill-rule=\"evenodd\"/>");
        }
        name
    }
}

fn draw(writer: &mut PathWriter<'_>, outline: &[Segment], place: impl Fn(&Point) -> Point) {
    for segment in outline {
        match segment {
            Segment::Move(to) => writer.move_to(place(to)),
            Segment::Line(to) => writer.line_to(place(to)),
            Segment::Quad(control, to) => writer.quad_to(place(control), place(to)),
            Segment::Curve(first, second, to) => writer.curve_to(place(first), place(second), place(to)),
            Segment::Close => writer.close(),
        }
    }
}

/// Words of one line that are written together.
struct Chunk<'l> {
    words: &'l [Placed],
    baseline: f64,
    style: u16,
    bold: bool,
}

fn chunks<'l>(lines: &'l [Line], styles: &[Style<'_>]) -> Vec<Chunk<'l>> {
    let mut chunks = Vec::new();
    for line in lines {
        let alike = |a: &Placed, b: &Placed| a.style == b.style && a.word.light == b.word.light;
        for words in line.words.chunk_by(alike) {
            let Some(first) = words.first() else { continue };
            let bold = first.word.light && styles[usize::from(first.style)].look.face.is_bold();
            chunks.push(Chunk { words, baseline: line.baseline, style: first.style, bold });
        }
    }
    chunks
}

fn solid(fills: &[Paint<'_>]) -> bool {
    matches!(fills, [Paint { kind: PaintKind::Solid(_), blend: None, .. }])
}

impl<'d> Painter<'d> {
    /// Draws a text.
    pub fn text(&mut self, node: &'d Node<'d>, spot: &Spot, opacity: f64) {
        let Some(text) = node.text.as_deref() else { return };
        if text.characters.is_empty() {
            return;
        }
        if self.outlined(node, text, spot, opacity) {
            return;
        }
        let beginning = beginning(text);
        if beginning.is_some() {
            self.warn("text_cut", node, "very long texts: only their first 20000 characters are drawn");
        }
        let text = beginning.as_ref().unwrap_or(text);
        let mut runs = Runs::new(text);
        let missing = self.shaper.missing;
        let laid = lay_out(&mut self.shaper, text, &mut runs, node.size);
        if self.shaper.missing > missing {
            self.warn("glyph_missing", node, "characters that no bundled font has are drawn as boxes");
        }
        if laid.squeeze < 0.995 {
            self.warn(
                "text_squeezed",
                node,
                "texts whose own font is narrower than ours are squeezed to fit",
            );
        }
        let visible = self.visible_lines(node, spot, &laid.lines);
        let chunks = chunks(visible, &runs.styles);
        if chunks.is_empty() {
            return;
        }
        let simple = node.stroke.is_none()
            && chunks.iter().all(|c| solid(fills_of(node, &runs.styles[usize::from(c.style)])));
        self.out.push_str("<g aria-label=\"");
        write::escaped(&mut self.out, &text.characters, LONGEST_LABEL);
        self.out.push('"');
        if simple && chunks.len() == 1 && spot.transform.is_none() {
            self.shared(node, &chunks[0], &runs.styles, spot.offset, laid.squeeze, opacity);
        } else if simple {
            spot.write(&mut self.out);
            self.out.push('>');
            for chunk in &chunks {
                if self.full() {
                    break;
                }
                self.out.push_str("<g");
                self.shared(node, chunk, &runs.styles, spot.offset, laid.squeeze, opacity);
            }
            self.out.push_str("</g>");
        } else {
            self.out.push('>');
            for chunk in &chunks {
                if self.full() {
                    break;
                }
                self.merged(node, chunk, &runs.styles, spot, laid.squeeze, opacity);
            }
            self.out.push_str("</g>");
        }
    }

    /// Draws a text whose letters the file has as outlines, in the designer's own font; false where it has none that
    /// would do.
    fn outlined(&mut self, node: &Node<'_>, text: &Text<'_>, spot: &Spot, opacity: f64) -> bool {
        if node.fill_geometry.is_empty() || text.runs.iter().any(|r| r.style.fills.is_some()) {
            return false;
        }
        let (Some(outline), true) = Outline::paths(&node.fill_geometry, spot) else { return false };
        self.out.push_str("<g aria-label=\"");
        write::escaped(&mut self.out, &text.characters, LONGEST_LABEL);
        self.out.push_str("\">");
        self.fill(node, &node.fills, &outline, spot, opacity);
        self.stroke(node, &outline, spot, opacity);
        self.out.push_str("</g>");
        true
    }

    /// Lines that are not above or below all that shows.
    fn visible_lines<'l>(&self, node: &Node<'_>, spot: &Spot, lines: &'l [Line]) -> &'l [Line] {
        let Some(clip) = self.clips.last().filter(|_| spot.transform.is_none() && lines.len() > 8) else {
            return lines;
        };
        let margin = node
            .text
            .as_ref()
            .map_or(0.0, |t| t.runs.iter().map(|r| r.style.size).fold(t.style.size, f64::max));
        let top = self.origin.y + spot.offset.y;
        let from = lines.partition_point(|l| top + l.baseline + margin < clip.y);
        let to = lines.partition_point(|l| top + l.baseline - margin * 1.5 <= clip.bottom());
        &lines[from..to.max(from)]
    }

    /// Finishes an opened `<g` with words that refer to shared glyphs.
    fn shared(
        &mut self,
        node: &Node<'_>,
        chunk: &Chunk<'_>,
        styles: &[Style<'_>],
        offset: Point,
        squeeze: f64,
        opacity: f64,
    ) {
        let style = &styles[usize::from(chunk.style)];
        let scale = style.size / GRID;
        let start = chunk.words.first().map_or(0.0, |w| w.x);
        let place = Affine {
            a: scale * squeeze,
            b: 0.0,
            c: if style.slant { -scale * squeeze * SLANT } else { 0.0 },
            d: scale,
            e: offset.x + start * squeeze,
            f: offset.y + chunk.baseline,
        };
        write::transform(&mut self.out, "transform", &place);
        let ink = fills_of(node, style).first().and_then(Paint::solid).map(Ink::Color);
        if let Some(ink) = ink {
            ink.write(&mut self.out, "fill", opacity);
            if chunk.bold {
                ink.write(&mut self.out, "stroke", opacity);
                write::attribute(&mut self.out, "stroke-width", EMBOLDEN * GRID);
            }
        }
        self.out.push('>');
        for placed in chunk.words {
            let mut pen = (placed.x - start) / scale;
            let spacing = style.spacing / scale;
            let mut last = None;
            for glyph in &placed.word.glyphs {
                if last.is_some_and(|last| last != glyph.cluster) {
                    pen += spacing;
                }
                last = Some(glyph.cluster);
                let x = pen + f64::from(glyph.dx) * GRID;
                let y = -f64::from(glyph.dy) * GRID;
                pen += f64::from(glyph.advance) * GRID;
                if let Some(face) = glyph.face {
                    let Some(id) = self.glyphs.id(&mut self.shaper, face, glyph.id) else { continue };
                    self.out.push_str("<use href=\"#");
                    write::identifier(&mut self.out, 'g', id);
                } else {
                    let name = self.glyphs.use_box(usize::from(glyph.advance < 1.0));
                    self.out.push_str("<use href=\"#g");
                    self.out.push(name);
                }
                self.out.push('"');
                for (name, value) in [("x", x), ("y", y)] {
                    if value.abs() >= 0.5 {
                        self.out.push(' ');
                        self.out.push_str(name);
                        self.out.push_str("=\"");
                        write::number(&mut self.out, value, 0);
                        self.out.push('"');
                    }
                }
                self.out.push_str("/>");
            }
        }
        if let Some((top, bottom)) = decoration(style.decoration) {
            let width = extent(chunk.words) / scale;
            self.out.push_str("<path d=\"");
            let corners = [(0.0, top), (width, top), (width, bottom), (0.0, bottom)];
            let corners = corners.map(|(x, y)| Point { x, y: y * GRID });
            PathWriter::new(&mut self.out, 0).polygon(corners);
            self.out.push_str("\"/>");
        }
        self.out.push_str("</g>");
    }

    /// Words as one path, for fills that are more than a colour, and for strokes.
    fn merged(
        &mut self,
        node: &Node<'_>,
        chunk: &Chunk<'_>,
        styles: &[Style<'_>],
        spot: &Spot,
        squeeze: f64,
        opacity: f64,
    ) {
        let style = &styles[usize::from(chunk.style)];
        let mut data = String::new();
        let mut writer = PathWriter::new(&mut data, 2).moved(spot.offset);
        let slant = if style.slant { SLANT } else { 0.0 };
        let mut left = f64::INFINITY;
        for placed in chunk.words {
            let mut pen = placed.x;
            let mut last = None;
            left = left.min(placed.x);
            for glyph in &placed.word.glyphs {
                if last.is_some_and(|last| last != glyph.cluster) {
                    pen += style.spacing;
                }
                last = Some(glyph.cluster);
                let x = pen + f64::from(glyph.dx) * style.size;
                let y = chunk.baseline - f64::from(glyph.dy) * style.size;
                pen += f64::from(glyph.advance) * style.size;
                let place = |p: &Point| Point {
                    x: (x + (p.x - p.y * slant) * style.size) * squeeze,
                    y: y + p.y * style.size,
                };
                if let Some(face) = glyph.face {
                    draw(&mut writer, &self.shaper.outline(face, glyph.id), place);
                } else {
                    let (width, height) = (f64::from(glyph.advance) - 0.2, 0.8);
                    let ring = [(0.1, -height), (0.1 + width, -height), (0.1 + width, 0.0), (0.1, 0.0)];
                    let hole = [
                        (0.17, -height + 0.07),
                        (0.17, -0.07),
                        (0.03 + width, -0.07),
                        (0.03 + width, -height + 0.07),
                    ];
                    for corners in [ring, hole] {
                        writer.polygon(corners.map(|(x, y)| place(&Point { x, y })));
                    }
                }
            }
        }
        if let Some((top, bottom)) = decoration(style.decoration) {
            let right = left + extent(chunk.words);
            let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
            writer
                .polygon(corners.map(|(x, y)| Point { x: x * squeeze, y: chunk.baseline + y * style.size }));
        }
        if data.is_empty() {
            return;
        }
        let outline = Outline::Data { data, even_odd: false };
        let strokes = node.stroke.as_ref().map_or(0, |s| s.paints.len() * 2);
        let times = fills_of(node, style).len() + usize::from(chunk.bold) + strokes;
        let outline = &*self.written_once(&outline, times);
        self.fill(node, fills_of(node, style), outline, spot, opacity);
        if chunk.bold
            && let Some(ink) = fills_of(node, style).first().and_then(|p| self.ink(p, node.size, spot))
        {
            let mut attributes = self.fresh();
            ink.write(&mut attributes, "stroke", opacity);
            write::attribute(&mut attributes, "stroke-width", EMBOLDEN * style.size);
            attributes.push_str(" fill=\"none\"");
            outline.write(&mut self.out, spot, &attributes);
            self.done(attributes);
        }
        self.stroke(node, outline, spot, opacity);
    }
}

/// The beginning of a text that is too long to be drawn; `None` for any other.
fn beginning<'t>(text: &'t Text<'_>) -> Option<Text<'t>> {
    let (end, _) = text.characters.char_indices().nth(MOST_CHARACTERS)?;
    let cut = |run: &TextRun<'t>| {
        let range = run.range.start.min(end)..run.range.end.min(end);
        (!range.is_empty()).then(|| TextRun { range, style: run.style.clone() })
    };
    Some(Text {
        characters: Cow::Borrowed(&text.characters[..end]),
        style: text.style.clone(),
        runs: text.runs.iter().filter_map(cut).collect(),
        align: text.align,
        align_vertical: text.align_vertical,
        resize: text.resize,
        max_lines: text.max_lines,
        paragraph_spacing: text.paragraph_spacing,
    })
}

fn fills_of<'n>(node: &'n Node<'_>, style: &Style<'n>) -> &'n [Paint<'n>] {
    style.fills.unwrap_or(&node.fills)
}

fn extent(words: &[Placed]) -> f64 {
    let left = words.first().map_or(0.0, |w| w.x);
    words.last().map_or(0.0, |w| w.x + w.width - left)
}

/// Top and bottom of a line on the text, in ems below the baseline.
fn decoration(decoration: TextDecoration) -> Option<(f64, f64)> {
    match decoration {
        TextDecoration::None => None,
        TextDecoration::Underline => Some((0.11, 0.175)),
        TextDecoration::Strikethrough => Some((-0.31, -0.245)),
    }
}

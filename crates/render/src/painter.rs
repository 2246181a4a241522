//! The state of a drawing: what is written so far, and how deep.

use std::borrow::Cow;

use heddle_figma::{Affine, Color, Document, Node, NodeIndex, Point, Rect, Warnings};

use crate::extent::Extents;
use crate::fonts::Fonts;
use crate::outline::{Outline, Spot};
use crate::png::PngLimits;
use crate::shape::Shaper;
use crate::text::GlyphTable;
use crate::write;

/// Pixels that filters may cover together, or twice the picture's own: each takes long to blur.
const MOST_FILTERED: f64 = 24e6;
/// Shorter path data is repeated rather than referred to.
const LEAST_SHARED: usize = 256;

/// Writes one picture.
pub struct Painter<'d> {
    /// The tree.
    pub document: &'d Document<'d>,
    /// What is written so far.
    pub out: String,
    /// For attributes of the element at hand.
    pub attributes: String,
    /// What was left out or approximated.
    pub warnings: Warnings,
    /// Extents of all nodes of the picture.
    pub extents: Extents,
    /// Shapes text.
    pub shaper: Shaper,
    /// Glyphs that were used.
    pub glyphs: GlyphTable,
    /// Whether the image placeholder was used.
    pub image_used: bool,
    /// Where the picture's corner lies on the canvas.
    pub origin: Point,
    /// Upright boxes on the canvas outside of which nothing shows, innermost last.
    pub clips: Vec<Rect>,
    /// Whether anything was left out for want of room.
    pub cut: bool,
    most_bytes: usize,
    /// Pixels that may still be filtered.
    filterable: f64,
    /// Pixels of a PNG for each of the picture, in area.
    scale: f64,
    ids: u32,
}

impl<'d> Painter<'d> {
    /// Nothing is drawn yet.
    pub fn new(
        document: &'d Document<'d>,
        root: NodeIndex,
        view: Rect,
        fonts: Fonts,
        most_bytes: usize,
    ) -> Self {
        let area = (view.width * view.height).max(1.0);
        let scale = (PngLimits::default().pixels as f64 / area).min(1.0);
        Self {
            document,
            out: String::with_capacity(64 * 1024),
            attributes: String::new(),
            warnings: Warnings::default(),
            extents: Extents::new(document, root),
            shaper: Shaper::new(fonts),
            glyphs: GlyphTable::default(),
            image_used: false,
            origin: Point { x: view.x, y: view.y },
            clips: vec![view],
            cut: false,
            most_bytes,
            filterable: MOST_FILTERED.max(area * scale * 2.0),
            scale,
            ids: 0,
        }
    }

    /// Whether the picture has its bytes: what comes now is left out. Asked before each element, since one node may
    /// have any number of them.
    pub fn full(&mut self) -> bool {
        let full = self.out.len() + self.glyphs.definitions.len() > self.most_bytes;
        self.cut |= full;
        full
    }

    /// Whether one more filter may be drawn, over this part of the picture.
    pub fn may_filter(&mut self, node: &Node<'_>, region: &Rect) -> bool {
        let pixels = self.pixels(region);
        if pixels > self.filterable {
            self.warn(
                "filters_cut",
                node,
                "the picture has too many shadows and blurs: the rest are left out",
            );
            return false;
        }
        self.filterable -= pixels;
        true
    }

    /// How many pixels of a PNG a box covers.
    pub fn pixels(&self, bounds: &Rect) -> f64 {
        bounds.width.max(1.0) * bounds.height.max(1.0) * self.scale
    }

    /// The outline, written once where it is long path data that will be drawn `times`.
    pub fn written_once<'o>(&mut self, outline: &'o Outline, times: usize) -> Cow<'o, Outline> {
        match outline {
            Outline::Data { data, even_odd } if times > 1 && data.len() > LEAST_SHARED => {
                let id = self.id();
                self.out.push_str("<defs><path id=\"");
                write::identifier(&mut self.out, 'o', id);
                self.out.push_str("\" d=\"");
                self.out.push_str(data);
                self.out.push_str("\"/></defs>");
                Cow::Owned(Outline::Shared { id, even_odd: *even_odd })
            }
            _ => Cow::Borrowed(outline),
        }
    }

    /// An id that was not given out before.
    pub fn id(&mut self) -> u32 {
        self.ids += 1;
        self.ids
    }

    /// Where a node is drawn.
    pub fn spot(&self, node: &Node<'_>) -> Spot {
        Spot::new(&self.to_picture(&node.transform))
    }

    /// A canvas transform as one of the picture.
    pub fn to_picture(&self, transform: &Affine) -> Affine {
        Affine { e: transform.e - self.origin.x, f: transform.f - self.origin.y, ..*transform }
    }

    /// The part of a canvas box that shows, in coordinates of the picture.
    pub fn visible_part(&self, bounds: &Rect, margin: f64) -> Option<Rect> {
        let clip = self.clips.last().map(|c| crate::extent::grown(c, margin))?;
        let part = touching(bounds, &clip)?;
        Some(part.translate(-self.origin.x, -self.origin.y))
    }

    /// Whether any of a canvas box shows.
    pub fn shows(&self, bounds: &Rect) -> bool {
        self.clips.last().is_some_and(|clip| touching(bounds, clip).is_some())
    }

    /// Notes what was left out or approximated.
    pub fn warn(&mut self, code: &'static str, node: &Node<'_>, message: &str) {
        self.warnings.add(code, Some(&node.id), || message.to_owned());
    }

    /// Starts an attribute list anew and hands it over.
    pub fn fresh(&mut self) -> String {
        let mut attributes = std::mem::take(&mut self.attributes);
        attributes.clear();
        attributes
    }

    /// Gives an attribute list back for the next element.
    pub fn done(&mut self, attributes: String) {
        self.attributes = attributes;
    }

    /// Appends ` x="…" y="…" width="…" height="…"`.
    pub fn write_region(&mut self, region: &Rect) {
        write::attribute(&mut self.out, "x", region.x);
        write::attribute(&mut self.out, "y", region.y);
        write::attribute(&mut self.out, "width", region.width);
        write::attribute(&mut self.out, "height", region.height);
    }
}

/// The shared part of two boxes, lines and points included.
fn touching(a: &Rect, b: &Rect) -> Option<Rect> {
    let (x, y) = (a.x.max(b.x), a.y.max(b.y));
    let (width, height) = (a.right().min(b.right()) - x, a.bottom().min(b.bottom()) - y);
    (width >= 0.0 && height >= 0.0).then_some(Rect { x, y, width, height })
}

/// Appends ` style="mix-blend-mode:…"`, where there is one.
pub fn blend(attributes: &mut String, mode: Option<&str>) {
    if let Some(mode) = mode {
        write::raw_attribute(attributes, "style", &format!("mix-blend-mode:{mode}"));
    }
}

/// The neutral grey of image placeholders.
pub const PLACEHOLDER: Color = Color { r: 0.882, g: 0.894, b: 0.910, a: 1.0 };

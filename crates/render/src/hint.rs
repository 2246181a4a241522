//! Vectors without outlines. A file that was fetched without `geometry=paths` says where an icon lies and what colour it
//! has, not what it looks like: a quiet mark of that size and colour stands for it.

use heddle_figma::{Affine, Color, Document, Node, NodeIndex, Paint, Rect, Size};

use crate::extent::Extents;
use crate::icons::{self, Icon};
use crate::outline::Outline;
use crate::paint::{Ink, main_color};
use crate::painter::Painter;
use crate::write;

/// What is larger than this is no icon.
pub const LARGEST_ICON: f64 = 72.0;

/// Whether a subtree is small enough, and unknown enough, to be drawn as one icon.
pub fn is_icon(extents: &Extents, index: NodeIndex) -> bool {
    let extent = extents.of(index);
    // What is small is one icon; what is long is rather a row of several.
    extent.only_unknown
        && extent.bounds.is_some_and(|b| {
            let (longer, shorter) = (b.width.max(b.height), b.width.min(b.height));
            longer <= 30.0 || (longer <= LARGEST_ICON && longer <= shorter * 1.7)
        })
}

/// The first paint in a subtree.
fn first_paint<'d>(document: &'d Document<'d>, index: NodeIndex) -> Option<(&'d Paint<'d>, f64)> {
    let mut at = index.0;
    let end = document.node(index).end;
    while at < end {
        let node = document.node(NodeIndex(at));
        let masks = node.mask.is_some() && at != index.0;
        if (!node.visible && at != index.0) || masks {
            at = node.end;
            continue;
        }
        {
            let stroke = node.stroke.as_ref().and_then(|s| s.paints.first());
            if let Some(paint) = node.fills.first().or(stroke) {
                return Some((paint, node.opacity));
            }
        }
        at += 1;
    }
    None
}

impl Painter<'_> {
    /// Draws one mark for several vectors that belong together.
    pub fn icon(&mut self, nodes: &[NodeIndex]) {
        let mut bounds: Option<Rect> = None;
        let mut color: Option<Color> = None;
        for index in nodes {
            let node = self.document.node(*index);
            let Some(own) = tight_bounds(self.document, *index) else { continue };
            bounds = Some(bounds.map_or(own, |b| b.union(&own)));
            if color.is_none() {
                color = first_paint(self.document, *index).map(|(paint, opacity)| {
                    let color = main_color(paint);
                    Color { a: color.a * opacity, ..color }
                });
            }
            self.warn(
                "vector_without_outline",
                node,
                "vectors whose outlines the file lacks are drawn as marks, or as what their names say",
            );
        }
        let (Some(bounds), Some(color)) = (bounds, color) else { return };
        if self.shows(&bounds) && bounds.width > 0.0 && bounds.height > 0.0 {
            let place = bounds.translate(-self.origin.x, -self.origin.y);
            match nodes.first().and_then(|index| name_of(self.document, *index)) {
                Some(icon) => self.named_icon(icon, &place, &color),
                None => self.mark(&place, &color),
            }
        }
    }

    /// An icon of ours, fitted into the box that the unknown one covers.
    fn named_icon(&mut self, icon: &Icon, bounds: &Rect, color: &Color) {
        let [left, top, right, bottom] = icon.ink;
        let (width, height) = (right - left, bottom - top);
        // Half a stroke on each side belongs to the icon, too.
        let scale = (bounds.width / (width + 2.0)).min(bounds.height / (height + 2.0));
        // Flat icons (a minus, three dots) may stand taller than they are wide in the file: never blow them up.
        let scale = scale.min(bounds.width.max(bounds.height) / (width.max(height) + 2.0)).max(0.05);
        let weight = (1.9_f64).max(1.1 / scale).min(3.5);
        let place = Affine {
            a: scale,
            b: 0.0,
            c: 0.0,
            d: scale,
            e: bounds.x + bounds.width / 2.0 - (left + width / 2.0) * scale,
            f: bounds.y + bounds.height / 2.0 - (top + height / 2.0) * scale,
        };
        self.out.push_str("<path d=\"");
        self.out.push_str(icon.data);
        self.out.push_str("\" fill=\"none\"");
        write::transform(&mut self.out, "transform", &place);
        write::paint(&mut self.out, "stroke", color, 1.0);
        write::attribute(&mut self.out, "stroke-width", weight);
        self.out.push_str(" stroke-linecap=\"round\" stroke-linejoin=\"round\"/>");
    }

    /// A rounded frame: an icon, whichever.
    fn mark(&mut self, bounds: &Rect, color: &Color) {
        let (w, h) = (bounds.width, bounds.height);
        let shorter = w.min(h);
        let mut attributes = self.fresh();
        if shorter < 5.0 {
            write::paint(&mut attributes, "fill", color, 0.75);
            let radii = [shorter / 2.0; 4];
            let outline = Outline::rect(Size { width: w, height: h }, radii);
            outline.write(
                &mut self.out,
                &crate::outline::Spot::new(&Affine::translation(bounds.x, bounds.y)),
                &attributes,
            );
        } else {
            let weight = (shorter / 11.0).clamp(0.8, 2.5);
            let inset = weight / 2.0;
            let spot = crate::outline::Spot::new(&Affine::translation(bounds.x + inset, bounds.y + inset));
            let size = Size { width: w - weight, height: h - weight };
            let outline = Outline::rect(size, [shorter * 0.26; 4]);
            write::paint(&mut attributes, "fill", color, 0.14);
            Ink::Color(*color).write(&mut attributes, "stroke", 0.72);
            write::attribute(&mut attributes, "stroke-width", weight);
            outline.write(&mut self.out, &spot, &attributes);
        }
        self.done(attributes);
    }

    /// Draws a larger vector without outline: a faint shape of its colour.
    pub fn shapeless(&mut self, node: &Node<'_>, opacity: f64) {
        let paint = node.fills.first().or_else(|| node.stroke.as_ref().and_then(|s| s.paints.first()));
        let Some(paint) = paint else { return };
        self.warn(
            "vector_without_outline",
            node,
            "vectors whose outlines the file lacks are drawn as marks, or as what their names say",
        );
        let color = main_color(paint);
        let spot = self.spot(node);
        let shorter = node.size.width.min(node.size.height);
        let outline = Outline::rect(node.size, [shorter * 0.3; 4]);
        let mut attributes = self.fresh();
        if node.fills.is_empty() {
            let weight = node.stroke.as_ref().map_or(1.0, |s| s.weight.clamp(0.5, 8.0));
            attributes.push_str(" fill=\"none\"");
            Ink::Color(color).write(&mut attributes, "stroke", opacity * 0.3);
            write::attribute(&mut attributes, "stroke-width", weight);
        } else {
            write::paint(&mut attributes, "fill", &color, opacity * 0.22);
        }
        outline.write(&mut self.out, &spot, &attributes);
        self.done(attributes);
    }
}

/// The icon that a subtree's names call: its own, those of what it holds, that of its component, or that of a parent
/// which holds nothing else.
fn name_of(document: &Document<'_>, index: NodeIndex) -> Option<&'static Icon> {
    const MOST_NAMES: u32 = 8;
    let node = document.node(index);
    if !node.transform.is_translation() {
        return None;
    }
    let below = (index.0..node.end.min(index.0 + MOST_NAMES)).map(|at| document.node(NodeIndex(at)));
    let found = below.flat_map(|n| {
        let component = n.component_id().and_then(|id| document.components.get(id));
        [Some(n.name.as_ref()), component.map(|c| c.name.as_ref())]
    });
    let found = found.flatten().find_map(icons::named);
    found.or_else(|| {
        let above = document.ancestors(index).take(3).map(|at| document.node(at));
        let close = above.take_while(|n| n.size.width.max(n.size.height) <= LARGEST_ICON);
        close.filter(|n| n.end - index.0 <= node.end - index.0 + 3).find_map(|n| icons::named(&n.name))
    })
}

/// What the vectors of a subtree cover, without the room for strokes and shadows.
pub fn tight_bounds(document: &Document<'_>, index: NodeIndex) -> Option<Rect> {
    let mut bounds: Option<Rect> = None;
    let (mut at, end) = (index.0, document.node(index).end);
    while at < end {
        let node = document.node(NodeIndex(at));
        if !node.visible && at != index.0 {
            at = node.end;
            continue;
        }
        if crate::extent::paints_itself(node) {
            bounds = Some(bounds.map_or(node.bounds, |b| b.union(&node.bounds)));
        }
        at += 1;
    }
    bounds
}

//! Boolean operations whose outline the file lacks: put together from the outlines of what they combine.

use heddle_figma::{BooleanOperation, Kind, NodeIndex};

use crate::outline::{Outline, Spot};
use crate::painter::Painter;
use crate::write;

/// Most shapes that are combined.
const MOST_SHAPES: usize = 512;

impl Painter<'_> {
    /// Fills the combination of a node's descendants with the node's own paints.
    pub fn boolean(&mut self, index: NodeIndex, spot: &Spot, opacity: f64) {
        let document = self.document;
        let node = document.node(index);
        let shapes = self.shapes(index);
        let operation = node.boolean_operation.unwrap_or(BooleanOperation::Union);
        if shapes.is_empty() {
            return;
        }
        self.warn(
            "boolean_approximated",
            node,
            "boolean operations without outlines are put together from their parts",
        );
        let whole = Outline::rect(node.size, [0.0; 4]);
        if !node.fills.is_empty() {
            let attribute = match operation {
                BooleanOperation::Subtract => ("mask", 'm', self.subtraction(index, &shapes)),
                BooleanOperation::Intersect => ("clip-path", 'c', self.intersection(&shapes)),
                BooleanOperation::Exclude => ("clip-path", 'c', self.exclusion(&shapes)),
                BooleanOperation::Union => ("clip-path", 'c', self.union(&shapes)),
            };
            self.out.push_str("<g");
            write::reference(&mut self.out, attribute.0, attribute.1, attribute.2);
            self.out.push('>');
            self.fill(node, &node.fills, &whole, spot, opacity);
            self.out.push_str("</g>");
        }
        if node.stroke.is_some() {
            for (outline, spot) in &shapes {
                self.stroke(node, outline, spot, opacity);
            }
        }
    }

    /// The outlines of all shapes below a node.
    fn shapes(&self, index: NodeIndex) -> Vec<(Outline, Spot)> {
        let document = self.document;
        let mut shapes = Vec::new();
        let (mut at, end) = (index.0 + 1, document.node(index).end);
        while at < end && shapes.len() < MOST_SHAPES {
            let node = document.node(NodeIndex(at));
            if !node.visible {
                at = node.end;
                continue;
            }
            let holds = node.end > at + 1 && node.fill_geometry.is_empty();
            if !holds && !matches!(node.kind, Kind::Text | Kind::Line | Kind::Group) {
                let spot = self.spot(node);
                let (outline, _) = Outline::of(node, &spot);
                if !outline.is_unknown() {
                    shapes.push((outline, spot));
                }
                at = node.end;
            } else {
                at += 1;
            }
        }
        shapes
    }

    fn open_clip(&mut self) -> u32 {
        let id = self.id();
        self.out.push_str("<clipPath id=\"");
        write::identifier(&mut self.out, 'c', id);
        self.out.push('"');
        id
    }

    fn union(&mut self, shapes: &[(Outline, Spot)]) -> u32 {
        let id = self.open_clip();
        self.out.push('>');
        for (outline, spot) in shapes {
            outline.write_clip(&mut self.out, spot);
        }
        self.out.push_str("</clipPath>");
        id
    }

    fn intersection(&mut self, shapes: &[(Outline, Spot)]) -> u32 {
        let mut before = None;
        let mut id = 0;
        // Chains of clips are followed by readers one within the other: not too many.
        for (outline, spot) in shapes.iter().take(16) {
            id = self.open_clip();
            if let Some(before) = before {
                write::reference(&mut self.out, "clip-path", 'c', before);
            }
            self.out.push('>');
            outline.write_clip(&mut self.out, spot);
            self.out.push_str("</clipPath>");
            before = Some(id);
        }
        id
    }

    fn exclusion(&mut self, shapes: &[(Outline, Spot)]) -> u32 {
        if shapes.iter().any(|(_, spot)| spot.transform.is_some()) {
            return self.union(shapes);
        }
        let id = self.open_clip();
        self.out.push_str("><path clip-rule=\"evenodd\" d=\"");
        for (outline, spot) in shapes {
            let at = self.out.len();
            outline.write_data(&mut self.out, spot);
            if self.out[at..].starts_with('m') {
                self.out.replace_range(at..=at, "M");
            }
        }
        self.out.push_str("\"/></clipPath>");
        id
    }

    fn subtraction(&mut self, index: NodeIndex, shapes: &[(Outline, Spot)]) -> u32 {
        let node = self.document.node(index);
        let region = self.region(&crate::extent::grown(&node.bounds, 1.0));
        let id = self.id();
        self.out.push_str("<mask id=\"");
        write::identifier(&mut self.out, 'm', id);
        self.out.push_str("\" maskUnits=\"userSpaceOnUse\"");
        self.write_region(&region);
        self.out.push('>');
        for (at, (outline, spot)) in shapes.iter().enumerate() {
            outline.write(&mut self.out, spot, if at == 0 { " fill=\"#fff\"" } else { " fill=\"#000\"" });
        }
        self.out.push_str("</mask>");
        id
    }
}

//! From the tree to elements, with a stack of our own: documents nest deeper than a thread's stack would bear.

use heddle_figma::{Kind, Mask, Node, NodeIndex, Rect};

use crate::effect::{casts_own_shadow, opacity_of_fills};
use crate::extent::{grown, has_outline, is_straight, is_unknown, paints_itself};
use crate::hint::{LARGEST_ICON, is_icon};
use crate::outline::{Outline, Spot};
use crate::painter::{Painter, blend};
use crate::write;

/// Groups that may be open at a time. SVG readers have limits of their own.
const DEEPEST: usize = 240;
/// Pixels of the groups that may be open at a time, of four bytes each.
const MOST_LAYERED: f64 = 256e6;

enum Step {
    Visit(NodeIndex),
    Icon(Vec<NodeIndex>),
    Mask(NodeIndex),
    MaskReady(Option<u32>),
    Stroke(NodeIndex),
    PopClip,
    Close,
}

/// What of the walk is open.
struct Walk {
    steps: Vec<Step>,
    /// For each group that is open: whether it was written.
    open: Vec<bool>,
    written: usize,
    deepest: usize,
    /// For each group that was written: its pixels, which a renderer holds while it is open.
    layers: Vec<f64>,
}

impl Painter<'_> {
    /// Draws a node with everything below, as far as there is room. Returns how deep its groups nest.
    pub fn draw(&mut self, root: NodeIndex) -> usize {
        let mut walk = Walk {
            steps: vec![Step::Visit(root)],
            open: Vec::new(),
            written: 0,
            deepest: 0,
            layers: Vec::new(),
        };
        while let Some(step) = walk.steps.pop() {
            let full = self.full();
            match step {
                Step::Close => self.close(&mut walk),
                Step::MaskReady(id) => self.mask_ready(&mut walk, id),
                Step::PopClip => {
                    self.clips.pop();
                }
                // A mask's group is closed later, whatever happens: it is always opened.
                Step::Mask(index) => self.mask(&mut walk, index, full),
                _ if full => {}
                Step::Visit(index) => self.visit(&mut walk, index),
                Step::Icon(nodes) => self.icon(&nodes),
                Step::Stroke(index) => {
                    let node = self.document.node(index);
                    let spot = self.spot(node);
                    let (outline, _) = Outline::of(node, &spot);
                    self.stroke(node, &outline, &spot, 1.0);
                }
            }
        }
        if self.cut {
            let node = self.document.node(root);
            self.warn("picture_cut", node, "the picture grew too large: what comes after is left out");
        }
        walk.deepest
    }

    /// Opens a group with these attributes, unless groups are too deep already.
    fn open(&mut self, walk: &mut Walk, node: &Node<'_>, bounds: &Rect, attributes: &str) {
        let pixels = self.visible_part(bounds, 0.0).map_or(0.0, |part| self.pixels(&part));
        let write = walk.written < DEEPEST && walk.layers.iter().sum::<f64>() + pixels <= MOST_LAYERED;
        if write {
            walk.layers.push(pixels);
            self.out.push_str("<g");
            self.out.push_str(attributes);
            self.out.push('>');
            walk.written += 1;
            walk.deepest = walk.deepest.max(walk.written);
        } else {
            self.warn(
                "nesting_flattened",
                node,
                "opacity, clips and masks below very deep layers are not applied",
            );
        }
        walk.open.push(write);
    }

    fn close(&mut self, walk: &mut Walk) {
        if walk.open.pop() == Some(true) {
            self.out.push_str("</g>");
            walk.written -= 1;
            walk.layers.pop();
        }
    }

    fn visit(&mut self, walk: &mut Walk, index: NodeIndex) {
        let document = self.document;
        let node = document.node(index);
        let extent = self.extents.of(index);
        let Some(bounds) = extent.bounds.filter(|b| self.shows(b)) else { return };
        let part = node.kind == Kind::Vector && self.is_illustration(node.parent);
        if !part && is_icon(&self.extents, index) {
            self.icon(&[index]);
            return;
        }
        let spot = self.spot(node);
        let leaf = node.end == index.0 + 1 || node.kind.is_shape() || node.kind == Kind::Text;
        let known = !matches!(node.kind, Kind::Text | Kind::Line | Kind::Group) && !node.kind.is_holder();
        let (outline, sound) = if known && (paints_itself(node) || !node.effects.is_empty()) {
            Outline::of(node, &spot)
        } else {
            (Outline::Unknown, true)
        };
        if !sound {
            self.warn("bad_path", node, "path data that could not be read was left out");
        }
        let own_shadow = casts_own_shadow(node, &outline);
        let backdrop = if own_shadow || node.effects.is_empty() { None } else { self.backdrop(index) };
        let opacity = self.wrap(walk, node, leaf, !own_shadow && backdrop.is_none(), &bounds);
        if own_shadow && !node.effects.is_empty() {
            self.drop_shadows(&node.effects, node, &outline, &spot);
        } else if let Some(backdrop) = backdrop {
            let backdrop = document.node(backdrop);
            let spot = self.spot(backdrop);
            let (outline, _) = Outline::of(backdrop, &spot);
            self.drop_shadows(&node.effects, backdrop, &outline, &spot);
        }
        match node.kind {
            Kind::Text => self.text(node, &spot, opacity),
            Kind::Line => self.stroke(node, &Outline::Unknown, &spot, opacity),
            Kind::Vector if is_straight(node) => self.straight_vector(node, &spot, opacity),
            Kind::Vector if is_unknown(node) => {
                if !part && node.size.width.max(node.size.height) <= LARGEST_ICON {
                    self.icon(&[index]);
                } else {
                    self.shapeless(node, opacity);
                }
            }
            Kind::BooleanOperation if !has_outline(node) && node.end > index.0 + 1 => {
                if extent.only_unknown {
                    self.shapeless(node, opacity);
                } else {
                    self.boolean(index, &spot, opacity);
                }
            }
            _ => {
                if paints_itself(node) {
                    self.fill(node, &node.fills, &outline, &spot, opacity);
                    if !node.effects.is_empty() {
                        self.inner_shadows(node, &outline, &spot);
                    }
                    if leaf {
                        self.stroke(node, &outline, &spot, opacity);
                    }
                }
                if !leaf {
                    self.descend(walk, index, &outline, &spot);
                }
            }
        }
    }

    /// Opens the group that a node's opacity, blend mode and blur need. Returns the opacity that is left to its paints.
    fn wrap(
        &mut self,
        walk: &mut Walk,
        node: &Node<'_>,
        leaf: bool,
        filter_shadows: bool,
        bounds: &Rect,
    ) -> f64 {
        let opacity = if node.opacity.is_finite() { node.opacity.clamp(0.0, 1.0) } else { 1.0 };
        let filter =
            if node.effects.is_empty() { None } else { self.layer_filter(node, filter_shadows, bounds) };
        let paints = node.fills.len() + node.stroke.as_ref().map_or(0, |s| s.paints.len());
        let alone = leaf && paints <= 1 && node.effects.is_empty();
        let group = opacity < 0.9995 && !alone;
        if !group && filter.is_none() && node.blend.is_none() {
            return opacity;
        }
        let mut attributes = self.fresh();
        if group {
            attributes.push_str(" opacity=\"");
            write::number(&mut attributes, opacity, 3);
            attributes.push('"');
        }
        if let Some(filter) = filter {
            write::reference(&mut attributes, "filter", 'f', filter);
        }
        blend(&mut attributes, node.blend);
        self.open(walk, node, bounds, &attributes);
        walk.steps.push(Step::Close);
        self.done(attributes);
        if group { 1.0 } else { opacity }
    }

    /// Leaves the steps for a node's children, its clip around them, and its stroke over them.
    fn descend(&mut self, walk: &mut Walk, index: NodeIndex, outline: &Outline, spot: &Spot) {
        let document = self.document;
        let node = document.node(index);
        if node.stroke.is_some() {
            walk.steps.push(Step::Stroke(index));
        }
        let clips = node.clips && (node.kind.is_frame_like() || node.kind == Kind::Unknown);
        if clips {
            let inside = self.clips.last().and_then(|clip| clip.intersection(&node.bounds));
            let Some(inside) = inside else { return };
            self.clips.push(inside);
            walk.steps.push(Step::PopClip);
            if self.clip_changes_anything(index) {
                let id = self.id();
                self.out.push_str("<clipPath id=\"");
                write::identifier(&mut self.out, 'c', id);
                self.out.push_str("\">");
                if outline.is_unknown() {
                    Outline::rect(node.size, node.radii).write_clip(&mut self.out, spot);
                } else {
                    outline.write_clip(&mut self.out, spot);
                }
                self.out.push_str("</clipPath>");
                let mut attributes = self.fresh();
                write::reference(&mut attributes, "clip-path", 'c', id);
                self.open(walk, node, &inside, &attributes);
                walk.steps.push(Step::Close);
                self.done(attributes);
            }
        }
        let first = walk.steps.len();
        let illustration = self.is_illustration(Some(index));
        let reverse = node.layout.as_ref().is_some_and(|l| l.reverse_z);
        if reverse {
            let children: Vec<NodeIndex> = document.children(index).collect();
            self.steps_for(walk, children.into_iter().rev(), illustration);
        } else {
            self.steps_for(walk, document.children(index), illustration);
        }
        walk.steps[first..].reverse();
    }

    /// Appends the steps for siblings in painting order.
    fn steps_for(&self, walk: &mut Walk, children: impl Iterator<Item = NodeIndex>, illustration: bool) {
        let mut masked = false;
        let mut icon: Option<(Vec<NodeIndex>, Rect)> = None;
        for child in children {
            let node = self.document.node(child);
            if !node.visible || node.kind == Kind::Slice {
                continue;
            }
            let extent = self.extents.of(child);
            if node.mask.is_some() {
                if let Some((nodes, _)) = icon.take() {
                    walk.steps.push(Step::Icon(nodes));
                }
                if masked {
                    walk.steps.push(Step::Close);
                }
                masked = !extent.only_unknown || !self.masks_only_unknown(child);
                if masked {
                    walk.steps.push(Step::Mask(child));
                }
                continue;
            }
            let Some(bounds) = extent.bounds.filter(|b| self.shows(b)) else { continue };
            // Vectors that lie on one another are parts of one icon.
            if let Some((nodes, union)) = &mut icon {
                let all = union.union(&bounds);
                if extent.only_unknown
                    && union.intersection(&bounds).is_some()
                    && all.width.max(all.height) <= LARGEST_ICON
                    && node.opacity >= 0.05
                {
                    nodes.push(child);
                    *union = all;
                    continue;
                }
            }
            if let Some((nodes, _)) = icon.take() {
                walk.steps.push(Step::Icon(nodes));
            }
            let part = illustration && node.kind == Kind::Vector;
            if !part && is_icon(&self.extents, child) && node.effects.is_empty() && node.blend.is_none() {
                icon = Some((vec![child], bounds));
            } else {
                walk.steps.push(Step::Visit(child));
            }
        }
        if let Some((nodes, _)) = icon {
            walk.steps.push(Step::Icon(nodes));
        }
        if masked {
            walk.steps.push(Step::Close);
        }
    }

    /// Whether a node's vectors are many and make up something larger than an icon: then each is but a faint shape.
    fn is_illustration(&self, index: Option<NodeIndex>) -> bool {
        const MANY: usize = 6;
        let Some(index) = index else { return false };
        let node = self.document.node(index);
        let children = self.document.children(index);
        node.kind == Kind::Group
            && node.size.width.max(node.size.height) > LARGEST_ICON
            && children.filter(|c| is_unknown(self.document.node(*c))).take(MANY).count() == MANY
    }

    /// Whether a mask covers nothing but vectors without outlines: to cut one mark by another would leave little.
    fn masks_only_unknown(&self, mask: NodeIndex) -> bool {
        let document = self.document;
        let Some(parent) = document.node(mask).parent else { return false };
        let mut after = document.children(parent).skip_while(|c| *c <= mask);
        after
            .by_ref()
            .take_while(|c| document.node(*c).mask.is_none())
            .all(|c| self.extents.of(c).bounds.is_none() || self.extents.of(c).only_unknown)
    }

    /// Whether any child reaches out of the node's box, or into its rounded corners.
    fn clip_changes_anything(&self, index: NodeIndex) -> bool {
        let node = self.document.node(index);
        let upright = node.transform.is_translation();
        let widest = node.radii.into_iter().fold(0.0, f64::max);
        // A box this far inside of a rounded box touches none of its corners.
        let inset = widest * (1.0 - std::f64::consts::FRAC_1_SQRT_2);
        let safe = Rect {
            x: node.bounds.x + inset,
            y: node.bounds.y + inset,
            width: (node.bounds.width - 2.0 * inset).max(0.0),
            height: (node.bounds.height - 2.0 * inset).max(0.0),
        };
        let view = self.clips.first().copied().unwrap_or_default();
        if widest < 0.005 && upright && node.bounds.covers(&view, 0.01) {
            return false;
        }
        let mut visible = self.document.children(index).filter_map(|child| {
            let node = self.document.node(child);
            self.extents.of(child).bounds.map(|bounds| if text_fits(node) { node.bounds } else { bounds })
        });
        visible.any(|bounds| !upright || !safe.covers(&bounds, 0.01))
    }

    /// Starts a mask: what comes until the next `Close` shows only through it.
    fn mask(&mut self, walk: &mut Walk, index: NodeIndex, full: bool) {
        let document = self.document;
        let node = document.node(index);
        let spot = self.spot(node);
        let kind = node.mask.unwrap_or(Mask::Alpha);
        let (outline, _) = Outline::of(node, &spot);
        let leaf = node.end == index.0 + 1 || (node.kind.is_shape() && has_outline(node));
        let plain = leaf && node.stroke.is_none() && node.effects.is_empty() && node.opacity > 0.995;
        let opaque = opacity_of_fills(node);
        let icon = outline.is_unknown()
            && node.size.width.max(node.size.height) <= LARGEST_ICON
            && node.kind != Kind::Text;
        let sharp = match kind {
            // An icon-sized vector without outline masks by its mark.
            _ if icon && is_icon(&self.extents, index) => false,
            Mask::Outline => leaf && node.kind != Kind::Text,
            // A mask without any paint would hide everything: nobody draws that on purpose.
            Mask::Alpha => node.kind != Kind::Text && plain && !(0.001..0.99).contains(&opaque),
            Mask::Luminance => false,
        };
        let id = self.id();
        if full {
            walk.open.push(false);
        } else if sharp {
            self.out.push_str("<clipPath id=\"");
            write::identifier(&mut self.out, 'c', id);
            self.out.push_str("\">");
            if outline.is_unknown() {
                Outline::rect(node.size, [0.0; 4]).write_clip(&mut self.out, &spot);
            } else {
                outline.write_clip(&mut self.out, &spot);
            }
            self.out.push_str("</clipPath>");
            let mut attributes = self.fresh();
            write::reference(&mut attributes, "clip-path", 'c', id);
            let bounds = self.extents.of(index).bounds.unwrap_or(node.bounds);
            self.open(walk, node, &bounds, &attributes);
            self.done(attributes);
        } else {
            let bounds = self.extents.of(index).bounds.unwrap_or(node.bounds);
            let region = grown(&bounds, 1.0).translate(-self.origin.x, -self.origin.y);
            self.out.push_str("<mask id=\"");
            write::identifier(&mut self.out, 'm', id);
            self.out.push_str("\" maskUnits=\"userSpaceOnUse\"");
            self.write_region(&region);
            if kind != Mask::Luminance {
                self.out.push_str(" mask-type=\"alpha\"");
            }
            self.out.push('>');
            walk.steps.push(Step::MaskReady(Some(id)));
            walk.steps.push(Step::Visit(index));
        }
    }

    fn mask_ready(&mut self, walk: &mut Walk, id: Option<u32>) {
        self.out.push_str("</mask>");
        let mut attributes = self.fresh();
        if let Some(id) = id {
            write::reference(&mut attributes, "mask", 'm', id);
        }
        let document = self.document;
        let bounds = self.clips.last().copied().unwrap_or_default();
        self.open(walk, document.node(NodeIndex(0)), &bounds, &attributes);
        self.done(attributes);
    }

    /// A vector whose box is a line: it is one.
    fn straight_vector(&mut self, node: &Node<'_>, spot: &Spot, opacity: f64) {
        let Some(stroke) = node.stroke.as_deref() else { return };
        let (w, h) = (node.size.width, node.size.height);
        let (from, to) = if w >= h { ((0.0, h / 2.0), (w, h / 2.0)) } else { ((w / 2.0, 0.0), (w / 2.0, h)) };
        for paint in &stroke.paints {
            if let Some(ink) = self.ink(paint, node.size, spot) {
                self.straight(from, to, stroke, (ink, paint), spot, opacity);
            }
        }
    }
}

/// Whether a text's letters can be taken to stay in its box: one that it follows, or that cuts them.
fn text_fits(node: &Node<'_>) -> bool {
    node.kind == Kind::Text && node.effects.is_empty()
}

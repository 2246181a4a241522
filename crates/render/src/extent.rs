//! What each node covers with its descendants, found before drawing: it decides what can be left out, which clips
//! change anything, and how far filters and masks reach.

use heddle_figma::{Document, Effect, Kind, Node, NodeIndex, Rect, StrokeAlign};

/// What is known of a node before it is drawn.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extent {
    /// What it and its descendants cover on the canvas; `None` where they show nothing.
    pub bounds: Option<Rect>,
    /// Whether all that it shows are vectors whose outlines the file does not have.
    pub only_unknown: bool,
}

/// Extents of a node and its descendants; the first is the node itself.
pub struct Extents {
    first: u32,
    extents: Vec<Extent>,
}

impl Extents {
    /// Looks at `root` and everything below.
    pub fn new(document: &Document<'_>, root: NodeIndex) -> Self {
        let range = document.subtree(root);
        let mut extents = vec![Extent::default(); range.len()];
        // Children come after their parents: backwards, each is ready before its parent asks.
        for index in range.clone().rev() {
            let node = document.node(NodeIndex(index));
            if (!node.visible && index != root.0) || node.kind == Kind::Slice {
                continue;
            }
            let own = own_bounds(node);
            let mut extent = Extent { bounds: own, only_unknown: is_unknown(node) };
            if node.kind == Kind::BooleanOperation && !has_outline(node) {
                // Its parts say where it is, and need no paint of their own to do so.
                extent.only_unknown = own.is_some() && combines_unknown(document, NodeIndex(index));
            } else if node.end > index + 1 && !(node.kind.is_shape() && has_outline(node)) {
                let content =
                    content(document, NodeIndex(index), |child| extents[(child.0 - range.start) as usize]);
                extent.only_unknown = own.is_none() && content.only_unknown;
                let inside = if node.clips {
                    content.bounds.and_then(|c| c.intersection(&node.bounds))
                } else {
                    content.bounds
                };
                let all = match (own, inside) {
                    (Some(own), Some(inside)) => Some(own.union(&inside)),
                    (own, inside) => own.or(inside),
                };
                extent.bounds = all.map(|b| with_effects(node, b));
            }
            extents[(index - range.start) as usize] = extent;
        }
        Self { first: range.start, extents }
    }

    /// Of one node.
    pub fn of(&self, index: NodeIndex) -> Extent {
        index
            .0
            .checked_sub(self.first)
            .and_then(|at| self.extents.get(at as usize))
            .copied()
            .unwrap_or_default()
    }
}

/// What the children of a node cover together.
fn content(document: &Document<'_>, index: NodeIndex, of: impl Fn(NodeIndex) -> Extent) -> Extent {
    let mut bounds: Option<Rect> = None;
    let mut only_unknown = true;
    let mut cut_out = false;
    let mut mask: Option<Rect> = None;
    for child in document.children(index) {
        let node = document.node(child);
        let extent = of(child);
        let Some(mut own) = extent.bounds else { continue };
        if node.mask.is_some() {
            // What a mask covers does not show itself.
            mask = Some(own);
            cut_out |= extent.only_unknown;
            only_unknown &= extent.only_unknown;
            continue;
        }
        if let Some(mask) = &mask {
            let Some(inside) = own.intersection(mask) else { continue };
            own = inside;
        }
        bounds = Some(bounds.map_or(own, |b| b.union(&own)));
        // A box that only shows through an unknown vector is as unknown as that.
        only_unknown &= extent.only_unknown || (cut_out && node.end == child.0 + 1 && node.text.is_none());
    }
    Extent { bounds, only_unknown: only_unknown && bounds.is_some() }
}

/// Whether a boolean operation has a part whose outline the file lacks.
fn combines_unknown(document: &Document<'_>, index: NodeIndex) -> bool {
    let (mut at, end) = (index.0 + 1, document.node(index).end);
    while at < end {
        let node = document.node(NodeIndex(at));
        if !node.visible {
            at = node.end;
            continue;
        }
        if node.kind == Kind::Vector && !has_outline(node) {
            return true;
        }
        at += 1;
    }
    false
}

/// Whether the file has the outline of this vector.
pub fn has_outline(node: &Node<'_>) -> bool {
    !node.fill_geometry.is_empty() || !node.stroke_geometry.is_empty()
}

/// Whether this is a vector whose outline the file does not have, and that is no mere line.
pub fn is_unknown(node: &Node<'_>) -> bool {
    node.kind == Kind::Vector && !has_outline(node) && !is_straight(node)
}

/// Whether a vector can only be a straight line: its box has no area to speak of.
pub fn is_straight(node: &Node<'_>) -> bool {
    let weight = node.stroke.as_ref().map_or(0.0, |s| s.weight);
    let thin = (weight * 0.75).clamp(0.6, 3.0);
    node.kind == Kind::Vector
        && !has_outline(node)
        && node.stroke.is_some()
        && (node.size.height <= thin || node.size.width <= thin)
}

/// Whether a node puts down anything of its own.
pub fn paints_itself(node: &Node<'_>) -> bool {
    !node.fills.is_empty() || node.stroke.is_some() || (node.text.is_some() && node.kind == Kind::Text)
}

fn own_bounds(node: &Node<'_>) -> Option<Rect> {
    if node.opacity <= 0.0 || !paints_itself(node) {
        return None;
    }
    let mut grow: f64 = 0.0;
    if let Some(stroke) = node.stroke.as_ref().filter(|_| !is_unknown(node)) {
        let widest = stroke.sides.map_or(stroke.weight, |s| s.into_iter().fold(0.0, f64::max));
        let boxed = node.kind.is_frame_like() || matches!(node.kind, Kind::Rectangle | Kind::Ellipse);
        grow = match (stroke.align, boxed) {
            (StrokeAlign::Inside, true) => 0.0,
            (StrokeAlign::Center, true) => widest / 2.0,
            (StrokeAlign::Outside, true) => widest,
            // Pointed corners reach further.
            (_, false) => widest * 2.0,
        };
    }
    if let Some(text) = &node.text {
        // Letters hang out of their boxes, and ours may be wider than the designer's.
        grow = grow.max(text.runs.iter().map(|r| r.style.size).fold(text.style.size, f64::max) * 0.5);
    }
    let bounds = grown(&node.bounds, grow);
    let bounds = match &node.render_bounds {
        Some(render) if !node.kind.is_frame_like() => bounds.union(render),
        _ => bounds,
    };
    Some(with_effects(node, bounds))
}

fn with_effects(node: &Node<'_>, bounds: Rect) -> Rect {
    let mut all = bounds;
    for effect in &node.effects {
        match *effect {
            Effect::DropShadow { offset, radius, spread, .. } => {
                let reach = (radius * 1.6 + spread).max(0.0);
                all = all.union(&grown(&bounds, reach).translate(offset.x, offset.y));
            }
            Effect::LayerBlur { radius } => all = all.union(&grown(&bounds, radius * 1.6)),
            Effect::InnerShadow { .. } | Effect::BackgroundBlur { .. } => {}
        }
    }
    all
}

/// A box grown on all sides.
pub fn grown(rect: &Rect, by: f64) -> Rect {
    let by = if by.is_finite() { by.clamp(0.0, 100_000.0) } else { 0.0 };
    Rect { x: rect.x - by, y: rect.y - by, width: rect.width + 2.0 * by, height: rect.height + 2.0 * by }
}

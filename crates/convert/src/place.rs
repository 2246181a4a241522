//! Putting a kit master into a box of another size, with other texts: what Figma's auto layout and constraints would
//! do, close enough for a picture. Flexbox does the work.

use std::collections::{HashMap, HashSet};

use heddle_figma::{
    Affine, Align, Axis, Constraint, Document, Kind, LineHeight, Node, NodeIndex, Point, Rect, Size, Sizing,
    TextResize,
};
use taffy::prelude::{
    AlignContent, AlignItems, AvailableSpace, Dimension, Display, FlexDirection, FlexWrap, JustifyContent,
    LengthPercentage, LengthPercentageAuto, NodeId, Position, Style, TaffyTree, auto, length, percent,
};

use crate::strings::rough_width;
use crate::sweep::paths;

/// What an instance changes in its master.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Texts by layer path.
    pub texts: HashMap<Vec<String>, String>,
    /// Layers to hide.
    pub hidden: HashSet<Vec<String>>,
    /// Boolean properties to switch on.
    pub switched_on: HashSet<String>,
}

/// Deeper masters are scaled instead of laid out anew, since layout recurses.
const DEEPEST: u16 = 64;

/// A master is not scaled further down than this.
const SMALLEST: f64 = 0.4;

/// How far a layer may stick out of its master, in pixels.
const SPILL: f64 = 2.0;

/// One layer of a placed master: its index in the library, its box, and what it says.
pub(crate) struct Placed {
    pub index: NodeIndex,
    pub rect: Rect,
    pub characters: Option<String>,
    pub path: Vec<String>,
}

/// Lays the master out in `target`; layers that aren't shown are left out. Beside the layers stands the scale that
/// their texts are to be set in, 1 where the master fits.
pub(crate) fn place(
    library: &Document<'_>,
    master: NodeIndex,
    target: Rect,
    changes: &Changes,
) -> (Vec<Placed>, f64) {
    let paths = paths(library, master);
    let path_of = |index: NodeIndex| paths.get(&index).cloned().unwrap_or_default();
    let mut shown: HashSet<NodeIndex> = HashSet::from([master]);
    for index in library.subtree(master).skip(1).map(NodeIndex) {
        let node = library.node(index);
        let switched = node.facts().is_some_and(|facts| {
            facts
                .references
                .iter()
                .any(|(field, key)| field == "visible" && changes.switched_on.contains(key.as_ref()))
        });
        let visible = (node.visible || switched) && !changes.hidden.contains(&path_of(index));
        if visible && node.parent.is_some_and(|p| shown.contains(&p)) {
            shown.insert(index);
        }
    }
    let from = library.node(master);
    let deepest = library.subtree(master).map(|i| library.nodes[i as usize].depth).max().unwrap_or(0);
    let (mut rects, mut shrink) = (HashMap::new(), 1.0);
    if deepest - from.depth <= DEEPEST {
        let mut layout = Layouter { library, shown: &shown, changes, paths: &paths, tree: TaffyTree::new() };
        layout.tree.disable_rounding();
        // A master that can't shrink so far is laid out in a larger box and scaled down: too small beats too large
        // for its place.
        for attempt in 0..3 {
            let room =
                Rect { width: target.width / shrink, height: target.height / shrink, ..Rect::default() };
            let Some(made) = layout.run(master, room) else { break };
            let within = made.iter().filter(|(i, _)| from.bounds.covers(&library.node(**i).bounds, SPILL));
            let (right, bottom) = within.fold((room.width, room.height), |(right, bottom), (_, rect)| {
                (right.max(rect.right() - SPILL), bottom.max(rect.bottom() - SPILL))
            });
            rects = made;
            let spill = (room.width / right.max(0.01)).min(room.height / bottom.max(0.01));
            if spill >= 1.0 || attempt == 2 {
                break;
            }
            shrink = (shrink * spill).max(SMALLEST);
        }
        for rect in rects.values_mut() {
            *rect = Rect {
                x: target.x + rect.x * shrink,
                y: target.y + rect.y * shrink,
                width: rect.width * shrink,
                height: rect.height * shrink,
            };
        }
    }
    // What can't be laid out is stretched.
    let scale = |r: Rect| {
        let (sx, sy) =
            (target.width / from.bounds.width.max(0.01), target.height / from.bounds.height.max(0.01));
        Rect {
            x: target.x + (r.x - from.bounds.x) * sx,
            y: target.y + (r.y - from.bounds.y) * sy,
            width: r.width * sx,
            height: r.height * sy,
        }
    };
    let subtree = library.subtree(master).map(NodeIndex).filter(|i| shown.contains(i));
    let placed = subtree
        .map(|index| {
            let path = path_of(index);
            let rect = rects.get(&index).copied().unwrap_or_else(|| scale(library.node(index).bounds));
            Placed { index, rect, characters: changes.texts.get(&path).cloned(), path }
        })
        .collect();
    (placed, if rects.is_empty() { 1.0 } else { shrink })
}

struct Layouter<'l, 'a> {
    library: &'l Document<'a>,
    shown: &'l HashSet<NodeIndex>,
    changes: &'l Changes,
    paths: &'l HashMap<NodeIndex, Vec<String>>,
    tree: TaffyTree<NodeIndex>,
}

impl Layouter<'_, '_> {
    fn run(&mut self, master: NodeIndex, target: Rect) -> Option<HashMap<NodeIndex, Rect>> {
        let root = self.build(master, None)?;
        let mut style = self.tree.style(root).ok()?.clone();
        style.size = taffy::Size { width: length(target.width as f32), height: length(target.height as f32) };
        self.tree.set_style(root, style).ok()?;
        let available = taffy::Size {
            width: AvailableSpace::Definite(target.width as f32),
            height: AvailableSpace::Definite(target.height as f32),
        };
        let (library, changes, paths) = (self.library, self.changes, self.paths);
        self.tree
            .compute_layout_with_measure(root, available, |input, _, context, style| {
                let index = context.copied();
                taffy::compute_leaf_layout(
                    input,
                    style,
                    |_, _| 0.0,
                    |known, available| {
                        let Some(index) = index else { return taffy::Size::ZERO };
                        let written = paths.get(&index).and_then(|path| changes.texts.get(path));
                        measure(library.node(index), written.map(String::as_str), known, available)
                    },
                )
            })
            .ok()?;
        let mut rects = HashMap::new();
        let mut stack = vec![(root, target.x, target.y)];
        while let Some((id, x, y)) = stack.pop() {
            let layout = self.tree.layout(id).ok()?;
            let (x, y) = if id == root {
                (x, y)
            } else {
                (x + f64::from(layout.location.x), y + f64::from(layout.location.y))
            };
            let rect = Rect::new(x, y, f64::from(layout.size.width), f64::from(layout.size.height))?;
            if let Some(index) = self.tree.get_node_context(id) {
                rects.insert(*index, rect);
            }
            stack.extend(self.tree.children(id).ok()?.into_iter().map(|child| (child, x, y)));
        }
        Some(rects)
    }

    fn build(&mut self, index: NodeIndex, parent: Option<NodeIndex>) -> Option<NodeId> {
        let node = self.library.node(index);
        let style = style(node, parent.map(|p| self.library.node(p)));
        let library = self.library;
        let children: Vec<NodeIndex> = library.children(index).filter(|c| self.shown.contains(c)).collect();
        let mut built = Vec::with_capacity(children.len());
        for child in children {
            built.push(self.build(child, Some(index))?);
        }
        let id = self.tree.new_with_children(style, &built).ok()?;
        self.tree.set_node_context(id, Some(index)).ok()?;
        Some(id)
    }
}

fn style(node: &Node<'_>, parent: Option<&Node<'_>>) -> Style {
    // Every layer places its own children; boxes may shrink below their content, as Figma's do.
    let mut style = Style {
        display: Display::Flex,
        position: Position::Relative,
        min_size: taffy::Size { width: length(0.0), height: length(0.0) },
        ..Style::default()
    };
    if let Some(layout) = node.layout.as_deref().filter(|l| l.axis != Axis::Grid) {
        style.flex_direction =
            if layout.axis == Axis::Horizontal { FlexDirection::Row } else { FlexDirection::Column };
        style.flex_wrap = if layout.wrap { FlexWrap::Wrap } else { FlexWrap::NoWrap };
        let between = layout.primary_align == Align::SpaceBetween;
        let gap = if between { 0.0 } else { layout.spacing.max(0.0) };
        let (row, column) = if layout.axis == Axis::Horizontal {
            (gap, layout.counter_spacing.max(0.0))
        } else {
            (layout.counter_spacing.max(0.0), gap)
        };
        style.gap = taffy::Size { width: length(row as f32), height: length(column as f32) };
        let [top, right, bottom, left] = layout.padding.map(|p| LengthPercentage::length(p.max(0.0) as f32));
        style.padding = taffy::Rect { left, right, top, bottom };
        style.justify_content = match layout.primary_align {
            Align::Center => JustifyContent::CENTER,
            Align::End => JustifyContent::FLEX_END,
            Align::SpaceBetween => JustifyContent::SPACE_BETWEEN,
            _ => JustifyContent::FLEX_START,
        };
        style.align_items = match layout.counter_align {
            Align::Center => AlignItems::CENTER,
            Align::End => AlignItems::FLEX_END,
            Align::Baseline => AlignItems::BASELINE,
            _ => AlignItems::FLEX_START,
        };
        style.align_content = AlignContent::FLEX_START;
    }
    let (width, height) = (node.bounds.width as f32, node.bounds.height as f32);
    style.size = taffy::Size { width: length(width), height: length(height) };
    let Some(parent) = parent else { return style };
    let flows = parent.layout.as_deref().filter(|l| l.axis != Axis::Grid && !node.placement.absolute);
    match flows {
        Some(layout) => flow(&mut style, node, layout.axis, width, height),
        None => pin(&mut style, node, parent),
    }
    style
}

/// A child of an auto layout.
fn flow(style: &mut Style, node: &Node<'_>, axis: Axis, width: f32, height: f32) {
    let along_x = axis == Axis::Horizontal;
    style.flex_shrink = 0.0;
    let lays_out = node.layout.as_deref().is_some_and(|l| l.axis != Axis::Grid);
    let text = node.text.as_deref().map(|t| t.resize);
    let side = |sizing: Sizing, along: bool, fixed: f32, hugs: bool| match sizing {
        Sizing::Fill if along => (length(0.0), 1.0, false),
        Sizing::Fill => (Dimension::auto(), 0.0, true),
        Sizing::Hug if hugs => (Dimension::auto(), 0.0, false),
        _ => (length(fixed), 0.0, false),
    };
    let hugs_width = lays_out || text == Some(TextResize::WidthAndHeight);
    let hugs_height = lays_out || matches!(text, Some(TextResize::WidthAndHeight | TextResize::Height));
    let hug = |sizing: Sizing, natural: bool| {
        if natural && node.text.is_some() && sizing == Sizing::Fixed { Sizing::Hug } else { sizing }
    };
    let (w, grow_x, stretch_x) = side(hug(node.placement.horizontal, hugs_width), along_x, width, hugs_width);
    let (h, grow_y, stretch_y) =
        side(hug(node.placement.vertical, hugs_height), !along_x, height, hugs_height);
    style.size = taffy::Size { width: w, height: h };
    style.flex_grow = if along_x { grow_x } else { grow_y };
    if style.flex_grow > 0.0 {
        style.flex_basis = length(0.0);
        style.flex_shrink = 1.0;
        if along_x {
            style.size.width = auto();
        } else {
            style.size.height = auto();
        }
    }
    if stretch_x || stretch_y {
        style.align_self = Some(AlignItems::STRETCH);
    }
}

/// A child held by its constraints.
fn pin(style: &mut Style, node: &Node<'_>, parent: &Node<'_>) {
    style.position = Position::Absolute;
    let grouped = parent.kind == Kind::Group;
    let axis = |constraint: Constraint, start: f64, size: f64, outer: f64| -> [LengthPercentageAuto; 3] {
        let at = |v: f64| LengthPercentageAuto::length(v as f32);
        let constraint = if grouped { Constraint::Scale } else { constraint };
        match constraint {
            Constraint::Start => [at(start), auto(), at(0.0)],
            Constraint::End => [auto(), at(outer - start - size), at(0.0)],
            Constraint::Stretch => [at(start), at(outer - start - size), at(0.0)],
            Constraint::Center => [percent(0.5), auto(), at(start - outer / 2.0)],
            Constraint::Scale => [percent((start / outer.max(0.01)) as f32), auto(), at(0.0)],
        }
    };
    let (x, y) = (node.bounds.x - parent.bounds.x, node.bounds.y - parent.bounds.y);
    let (w, h) = (node.bounds.width, node.bounds.height);
    let [left, right, margin_left] = axis(node.placement.constraint_x, x, w, parent.bounds.width);
    let [top, bottom, margin_top] = axis(node.placement.constraint_y, y, h, parent.bounds.height);
    style.inset = taffy::Rect { left, right, top, bottom };
    style.margin = taffy::Rect {
        left: margin_left,
        right: LengthPercentageAuto::length(0.0),
        top: margin_top,
        bottom: LengthPercentageAuto::length(0.0),
    };
    let resized = |constraint: Constraint, size: f64, outer: f64| match constraint {
        Constraint::Stretch if !grouped => Dimension::auto(),
        Constraint::Scale => percent((size / outer.max(0.01)) as f32),
        _ if grouped => percent((size / outer.max(0.01)) as f32),
        _ => length(size as f32),
    };
    style.size = taffy::Size {
        width: resized(node.placement.constraint_x, w, parent.bounds.width),
        height: resized(node.placement.constraint_y, h, parent.bounds.height),
    };
}

fn measure(
    node: &Node<'_>,
    written: Option<&str>,
    known: taffy::Size<Option<f32>>,
    available: taffy::Size<AvailableSpace>,
) -> taffy::Size<f32> {
    let Some(text) = node.text.as_deref() else { return taffy::Size::ZERO };
    let line = match text.style.line_height {
        LineHeight::Pixels(height) => height,
        LineHeight::Auto => text.style.size * 1.25,
    };
    let says = written.unwrap_or(&text.characters);
    let widths: Vec<f64> =
        says.split(['\n', '\u{2028}']).map(|l| rough_width(l, text.style.size) * 1.04).collect();
    let natural = widths.iter().copied().fold(0.0, f64::max);
    let limit = match (known.width, available.width) {
        (Some(width), _) => f64::from(width),
        (None, AvailableSpace::Definite(width)) if text.resize != TextResize::WidthAndHeight => {
            f64::from(width)
        }
        _ => f64::INFINITY,
    };
    let lines: f64 = widths.iter().map(|w| (w / limit.max(1.0)).ceil().max(1.0)).sum();
    taffy::Size {
        width: known.width.unwrap_or(natural.min(limit) as f32),
        height: known.height.unwrap_or((lines * line) as f32),
    }
}

/// A copy of a layer in another box. Outlines keep their own coordinates and are scaled by the transform.
pub(crate) fn resized<'a>(node: &Node<'a>, rect: Rect) -> Node<'a> {
    let mut copy = node.clone();
    let turned = !node.transform.is_translation();
    let drawn = !node.fill_geometry.is_empty() || !node.stroke_geometry.is_empty();
    copy.bounds = rect;
    copy.render_bounds = None;
    if turned || drawn {
        let (sx, sy) = (
            if node.bounds.width > 0.01 { rect.width / node.bounds.width } else { 1.0 },
            if node.bounds.height > 0.01 { rect.height / node.bounds.height } else { 1.0 },
        );
        let to_origin = Affine::translation(-node.bounds.x, -node.bounds.y);
        let scale = Affine { a: sx, d: sy, ..Affine::IDENTITY };
        let back = Affine::translation(rect.x, rect.y);
        copy.transform = back.after(&scale).after(&to_origin).after(&node.transform);
    } else {
        copy.size = Size { width: rect.width, height: rect.height };
        copy.transform = Affine::translation(rect.x, rect.y);
    }
    copy
}

/// A copy of a layer, moved and scaled along with a box around it.
pub(crate) fn moved<'a>(node: &Node<'a>, from: Rect, to: Rect) -> Node<'a> {
    let scale = (to.width / from.width.max(0.01)).min(to.height / from.height.max(0.01)).clamp(0.01, 100.0);
    let (cx, cy) = (from.center(), to.center());
    let map =
        Affine { a: scale, d: scale, e: cy.x - cx.x * scale, f: cy.y - cx.y * scale, ..Affine::IDENTITY };
    let mut copy = node.clone();
    copy.transform = map.after(&node.transform);
    let corner = map.apply(Point { x: node.bounds.x, y: node.bounds.y });
    copy.bounds = Rect {
        x: corner.x,
        y: corner.y,
        width: node.bounds.width * scale,
        height: node.bounds.height * scale,
    };
    copy.render_bounds = None;
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(json: &str, target: Rect, changes: &Changes) -> Vec<(String, [i64; 4])> {
        let document =
            heddle_figma::read(json.as_bytes(), &heddle_figma::Limits::default()).expect("a document");
        place(&document, Document::ROOT, target, changes)
            .0
            .into_iter()
            .map(|p| {
                let r = p.rect;
                (p.path.join("/"), [r.x, r.y, r.width, r.height].map(|v| v.round() as i64))
            })
            .collect()
    }

    const TAB: &str = r#"{"id":"1","type":"COMPONENT","layoutMode":"HORIZONTAL","paddingLeft":8,"paddingRight":8,"absoluteBoundingBox":{"x":100,"y":100,"width":116,"height":50},"children":[
        {"id":"2","name":"A","type":"FRAME","layoutMode":"VERTICAL","layoutSizingHorizontal":"FILL","layoutSizingVertical":"FIXED","counterAxisAlignItems":"CENTER","absoluteBoundingBox":{"x":108,"y":100,"width":50,"height":50},"children":[
            {"id":"3","name":"Icon","type":"INSTANCE","absoluteBoundingBox":{"x":121,"y":100,"width":24,"height":24},"children":[
                {"id":"4","name":"Shape","type":"VECTOR","constraints":{"horizontal":"SCALE","vertical":"SCALE"},"absoluteBoundingBox":{"x":127,"y":106,"width":12,"height":12}}]}]},
        {"id":"5","name":"B","type":"FRAME","layoutSizingHorizontal":"FILL","absoluteBoundingBox":{"x":158,"y":100,"width":50,"height":50}}]}"#;

    #[test]
    fn what_fills_grows_and_what_is_pinned_stays_in_its_own_parent() {
        let target = Rect { x: 0.0, y: 0.0, width: 216.0, height: 60.0 };
        let made = placed(TAB, target, &Changes::default());
        let at = |name: &str| made.iter().find(|(path, _)| path == name).map(|(_, rect)| *rect);
        assert_eq!(at(""), Some([0, 0, 216, 60]));
        assert_eq!(at("A"), Some([8, 0, 100, 50]));
        assert_eq!(at("B"), Some([108, 0, 100, 50]));
        assert_eq!(at("A/Icon"), Some([46, 0, 24, 24]));
        assert_eq!(at("A/Icon/Shape"), Some([52, 6, 12, 12]));
    }

    #[test]
    fn hidden_layers_leave_no_gap() {
        let target = Rect { x: 0.0, y: 0.0, width: 116.0, height: 50.0 };
        let changes = Changes { hidden: HashSet::from([vec!["A".to_owned()]]), ..Changes::default() };
        let made = placed(TAB, target, &changes);
        assert_eq!(made, [(String::new(), [0, 0, 116, 50]), ("B".to_owned(), [8, 0, 100, 50])]);
    }
}

//! Boxes: auto layouts by taffy, everything else by its pins.

use taffy::prelude::{
    AlignItems, Dimension, Display, FlexDirection, FlexWrap, JustifyContent, LengthPercentage,
    LengthPercentageAuto, NodeId, Size, Style, TaffyTree,
};
use taffy::style_helpers::{FromLength, TaffyAuto, TaffyMaxContent, TaffyZero};

use super::node::{Direction, Flow, Kind, Node, Pin, Place, Sizing, Text};
use super::text::{Line, wrap};

type Tree = TaffyTree<Text>;

/// Lays a node out. A given length overrules the node's own.
pub fn lay_out(node: &mut Node, width: Option<f64>, height: Option<f64>) {
    if node.flow.is_some() {
        let mut tree = Tree::new();
        tree.disable_rounding();
        let id = plant(node, None, &mut tree);
        let mut style = tree.style(id).expect("just planted").clone();
        let length = |own: Sizing, given: Option<f64>| match (own, given) {
            (_, Some(given)) | (Sizing::Fixed(given), None) => Dimension::from_length(given as f32),
            _ => Dimension::AUTO,
        };
        style.size = Size { width: length(node.width, width), height: length(node.height, height) };
        tree.set_style(id, style).expect("just planted");
        tree.compute_layout_with_measure(id, Size::MAX_CONTENT, |inputs, _, text, style| {
            taffy::compute_leaf_layout(
                inputs,
                style,
                |_, _| 0.0,
                |known, _| {
                    let Some(text) = text else { return Size::ZERO };
                    let (width, height) = measure(text, known.width.map(f64::from));
                    Size { width: width as f32, height: known.height.unwrap_or(height as f32) }
                },
            )
        })
        .expect("a planted tree can be laid out");
        harvest(node, id, &tree);
        return;
    }
    let length = |own: Sizing, given: Option<f64>, natural: f64| match (own, given) {
        (_, Some(given)) | (Sizing::Fixed(given), None) => given,
        _ => natural,
    };
    let mut natural = (0.0, 0.0);
    if let Kind::Text(text) = &node.kind {
        natural =
            measure(text, width.or(if let Sizing::Fixed(width) = node.width { Some(width) } else { None }));
    }
    node.size = (length(node.width, width, natural.0), length(node.height, height, natural.1));
    pin_children(node);
}

/// The lines of a text at a width, cut to its maximum.
pub fn lines(text: &Text, width: Option<f64>) -> Vec<Line> {
    let mut lines = wrap(&text.styled(), text.style.line, width);
    lines.truncate(text.max_lines.unwrap_or(usize::MAX));
    lines
}

fn measure(text: &Text, width: Option<f64>) -> (f64, f64) {
    let lines = lines(text, width);
    let natural = lines.iter().map(|line| line.width).fold(0.0, f64::max).ceil();
    (width.unwrap_or(natural), lines.iter().map(|line| line.height).sum())
}

/// Whether the parent's auto layout places this child.
fn flows(child: &Node) -> bool {
    child.visible && child.pin.is_none()
}

fn plant(node: &Node, parent: Option<&Flow>, tree: &mut Tree) -> NodeId {
    let style = style(node, parent);
    match (&node.kind, &node.flow) {
        (Kind::Text(text), _) => tree.new_leaf_with_context(style, text.clone()),
        (_, Some(flow)) => {
            let flowing = node.children.iter().filter(|child| flows(child));
            let children: Vec<_> = flowing.map(|child| plant(child, Some(flow), tree)).collect();
            tree.new_with_children(style, &children)
        }
        _ => tree.new_leaf(style),
    }
    .expect("a new node can be planted")
}

fn style(node: &Node, parent: Option<&Flow>) -> Style {
    let length = |sizing: Sizing| match sizing {
        Sizing::Fixed(length) => Dimension::from_length(length as f32),
        Sizing::Hug | Sizing::Fill => Dimension::AUTO,
    };
    let mut style = Style {
        display: Display::Flex,
        size: Size { width: length(node.width), height: length(node.height) },
        flex_shrink: 0.0,
        ..Style::default()
    };
    if let Some(parent) = parent {
        let (primary, counter) = match parent.direction {
            Direction::Row => (node.width, node.height),
            Direction::Column => (node.height, node.width),
        };
        if primary == Sizing::Fill {
            style.flex_grow = 1.0;
            style.flex_shrink = 1.0;
            style.flex_basis = Dimension::ZERO;
            style.min_size = Size { width: LengthPercentageAuto::ZERO, height: LengthPercentageAuto::ZERO };
        }
        if counter == Sizing::Fill {
            style.align_self = Some(AlignItems::STRETCH);
        }
    }
    if let Some(width) = node.max_width {
        style.max_size.width = LengthPercentageAuto::from_length(width as f32);
    }
    if let Some(flow) = &node.flow {
        flow_style(flow, &mut style);
    }
    style
}

fn flow_style(flow: &Flow, style: &mut Style) {
    let pixels = |length: f64| LengthPercentage::from_length(length as f32);
    let [top, right, bottom, left] = flow.padding.map(pixels);
    style.padding = taffy::geometry::Rect { left, right, top, bottom };
    style.flex_direction = match flow.direction {
        Direction::Row => FlexDirection::Row,
        Direction::Column => FlexDirection::Column,
    };
    style.gap = Size { width: pixels(flow.gap), height: pixels(flow.gap) };
    if let Some(lines) = flow.wrap {
        style.flex_wrap = FlexWrap::Wrap;
        style.gap.height = pixels(lines);
        style.align_content = taffy::style::AlignContent::FLEX_START;
    }
    style.justify_content = match flow.primary {
        Place::Min => JustifyContent::FLEX_START,
        Place::Center => JustifyContent::CENTER,
        Place::Max => JustifyContent::FLEX_END,
        Place::Between => JustifyContent::SPACE_BETWEEN,
    };
    style.align_items = match flow.counter {
        Place::Min | Place::Between => AlignItems::FLEX_START,
        Place::Center => AlignItems::CENTER,
        Place::Max => AlignItems::FLEX_END,
    };
}

/// Reads boxes back from taffy.
fn harvest(node: &mut Node, id: NodeId, tree: &Tree) {
    let layout = tree.layout(id).expect("laid out");
    node.size = (f64::from(layout.size.width), f64::from(layout.size.height));
    if node.flow.is_none() {
        pin_children(node);
        return;
    }
    let padding = node.flow.as_ref().map_or([0.0; 4], |flow| flow.padding);
    let mut planted = tree.children(id).expect("laid out").into_iter();
    for child in &mut node.children {
        if flows(child) {
            let id = planted.next().expect("as many as were planted");
            let location = tree.layout(id).expect("laid out").location;
            child.at = (f64::from(location.x), f64::from(location.y));
            harvest(child, id, tree);
        } else if child.pin.is_some() {
            pin(child, node.size);
        } else {
            // Hidden: it takes no room, and yet has a box.
            let room = |length: f64, before: f64, after: f64| Some((length - before - after).max(0.0));
            let inner = (
                (child.width == Sizing::Fill).then(|| room(node.size.0, padding[3], padding[1])).flatten(),
                (child.height == Sizing::Fill).then(|| room(node.size.1, padding[0], padding[2])).flatten(),
            );
            lay_out(child, inner.0, inner.1);
            child.at = (padding[3], padding[0]);
        }
    }
}

fn pin_children(node: &mut Node) {
    let size = node.size;
    for child in &mut node.children {
        pin(child, size);
    }
}

/// Places a child by its pins.
fn pin(child: &mut Node, parent: (f64, f64)) {
    let (horizontal, vertical) = child.pin.unwrap_or((Pin::Start(0.0), Pin::Start(0.0)));
    let given = |pin: Pin, parent: f64, own: Sizing| match pin {
        Pin::Both(before, after) => Some(parent - before - after),
        Pin::Scale(_, length) => Some(parent * length),
        Pin::Start(offset) | Pin::End(offset) if own == Sizing::Fill => Some(parent - offset),
        _ => None,
    };
    lay_out(child, given(horizontal, parent.0, child.width), given(vertical, parent.1, child.height));
    let start = |pin: Pin, parent: f64, length: f64| match pin {
        Pin::Start(offset) | Pin::Both(offset, _) => offset,
        Pin::End(offset) => parent - offset - length,
        Pin::Middle(offset) => (parent - length) / 2.0 + offset,
        Pin::Scale(start, _) => parent * start,
    };
    child.at = (start(horizontal, parent.0, child.size.0), start(vertical, parent.1, child.size.1));
}

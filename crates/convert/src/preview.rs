//! A wireframe as a tree that can be drawn: kit components by their own masters, kept artwork by the source's.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use heddle_figma::{
    Affine, Color, Document, Effect, Kind, LineHeight, Node, NodeIndex, Paint, PaintKind, Rect, ScaleMode,
    Size, Stroke, StrokeAlign, StrokeCap, StrokeJoin, Text, TextAlign, TextAlignVertical, TextResize,
    TextRun, TextStyle, Warnings,
};

use crate::library::Place;
use crate::place::{Changes, moved, place, resized};
use crate::wireframe::{self, KitInstance, NodeKind, Tone};

/// Library files by the hash that rows name.
pub type Libraries<'l, 'a> = HashMap<&'l str, &'l Document<'a>>;

/// Most layers of a picture: a large master in many instances would make more than anyone can look at.
const MOST_LAYERS: usize = 200_000;

/// Builds the tree. Where a master can't be had, its box stands with what it would say, and a warning.
pub fn preview<'a>(
    wireframe: &wireframe::Document,
    source: &Document<'a>,
    libraries: &Libraries<'_, 'a>,
) -> Document<'a> {
    let mut ids = HashMap::new();
    for (at, node) in source.nodes.iter().enumerate() {
        ids.entry(node.id.as_ref()).or_insert(NodeIndex(at as u32));
    }
    let mut builder = Builder {
        ids,
        source,
        libraries,
        nodes: Vec::new(),
        warnings: Warnings::default(),
        finder: HashMap::new(),
    };
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); wireframe.nodes.len()];
    for (at, node) in wireframe.nodes.iter().enumerate() {
        if let Some(parent) = node.parent_at {
            below[parent].push(at);
        }
    }
    let mut stack = vec![Errand::Open(0, None)];
    while let Some(errand) = stack.pop() {
        match errand {
            Errand::Open(at, parent) => {
                let Some(node) = wireframe.nodes.get(at) else { continue };
                let index = builder.node(node, parent);
                stack.push(Errand::Close(index));
                stack.extend(below[at].iter().rev().map(|child| Errand::Open(*child, Some(index))));
            }
            Errand::Close(index) => builder.close(index),
        }
    }
    Document {
        name: Cow::Owned(wireframe.name.clone()),
        nodes: builder.nodes,
        components: BTreeMap::new(),
        component_sets: BTreeMap::new(),
        styles: BTreeMap::new(),
        warnings: builder.warnings,
    }
}

/// A node is closed once all below it has been made, so the stack holds both errands.
enum Errand {
    Open(usize, Option<NodeIndex>),
    Close(NodeIndex),
}

struct Builder<'s, 'l, 'a> {
    source: &'s Document<'a>,
    /// Source nodes by id.
    ids: HashMap<&'s str, NodeIndex>,
    libraries: &'s Libraries<'l, 'a>,
    nodes: Vec<Node<'a>>,
    warnings: Warnings,
    /// Masters by library and node id.
    finder: HashMap<(String, String), Option<NodeIndex>>,
}

impl<'a> Builder<'_, '_, 'a> {
    fn open(&mut self, mut node: Node<'a>, parent: Option<NodeIndex>) -> NodeIndex {
        let index = NodeIndex(self.nodes.len() as u32);
        node.parent = parent;
        node.depth = parent.map_or(0, |p| self.nodes[p.at()].depth.saturating_add(1));
        node.shown = true;
        node.visible = true;
        node.end = index.0 + 1;
        self.nodes.push(node);
        index
    }

    fn close(&mut self, index: NodeIndex) {
        self.nodes[index.at()].end = self.nodes.len() as u32;
    }

    fn node(&mut self, node: &wireframe::Node, parent: Option<NodeIndex>) -> NodeIndex {
        let rect = rect(node.place);
        let mut made = plain(&node.id, &node.name, Kind::Frame, rect);
        match &node.kind {
            NodeKind::Frame { fill, stroke, radii, clips, .. } => {
                made.fills = fill.map(solid).into_iter().collect();
                made.stroke = stroke.map(outline).map(Box::new);
                made.radii = *radii;
                made.clips = *clips || parent.is_none();
                self.open(made, parent)
            }
            NodeKind::Box { fill, stroke, radii } => {
                made.kind = Kind::Rectangle;
                made.fills = fill.map(solid).into_iter().collect();
                made.stroke = stroke.map(outline).map(Box::new);
                made.radii = *radii;
                self.open(made, parent)
            }
            NodeKind::Text { characters, font_size, font_weight, line_height, align, tone } => {
                made.kind = Kind::Text;
                made.fills = vec![solid(*tone)];
                made.text = Some(Box::new(self.text(
                    node,
                    characters,
                    *font_size,
                    *font_weight,
                    *line_height,
                    align,
                )));
                self.open(made, parent)
            }
            NodeKind::Image { radii } => {
                made.kind = Kind::Rectangle;
                made.radii = *radii;
                made.fills = vec![Paint {
                    kind: PaintKind::Image { reference: None, scale: ScaleMode::Fill, transform: None },
                    opacity: 1.0,
                    blend: None,
                }];
                self.open(made, parent)
            }
            NodeKind::Divider { tone } => {
                made.kind = Kind::Rectangle;
                made.fills = vec![solid(*tone)];
                // A line has no thickness of its own.
                let thick = Rect { width: rect.width.max(1.0), height: rect.height.max(1.0), ..rect };
                made.bounds = thick;
                made.size = Size { width: thick.width, height: thick.height };
                self.open(made, parent)
            }
            NodeKind::Ink { tone } => {
                made.kind = Kind::Rectangle;
                made.fills = vec![solid(Tone(tone.0.max(0x9a)))];
                made.radii = [rect.width.min(rect.height) / 4.0; 4];
                self.open(made, parent)
            }
            NodeKind::Graphic { source_id, .. } => {
                let index = self.open(made, parent);
                self.artwork(source_id, rect, index, None);
                index
            }
            NodeKind::Instance(instance) => {
                let index = self.open(made, parent);
                if !self.instance(instance, rect, index) {
                    self.stand_in(instance, rect, index);
                }
                index
            }
        }
    }

    fn text(
        &self,
        node: &wireframe::Node,
        characters: &str,
        size: f64,
        weight: u16,
        line_height: Option<f64>,
        align: &str,
    ) -> Text<'a> {
        // How the source's box follows its text: the wireframe's does the same.
        let source =
            node.source_ids.first().and_then(|id| self.ids.get(id.as_str())).map(|i| self.source.node(*i));
        let source = source.and_then(|n| n.text.as_deref());
        let style = TextStyle {
            family: Cow::Borrowed("Inter"),
            weight,
            size,
            line_height: line_height.map_or(LineHeight::Auto, LineHeight::Pixels),
            letter_spacing: source.map_or(0.0, |t| t.style.letter_spacing),
            case: source.map(|t| t.style.case).unwrap_or_default(),
            ..TextStyle::default()
        };
        Text {
            characters: Cow::Owned(characters.to_owned()),
            runs: vec![TextRun { range: 0..characters.len(), style: style.clone() }],
            style,
            align: match align {
                "center" => TextAlign::Center,
                "right" => TextAlign::Right,
                "justified" => TextAlign::Justified,
                _ => TextAlign::Left,
            },
            align_vertical: source.map_or(TextAlignVertical::Top, |t| t.align_vertical),
            resize: source.map_or(TextResize::None, |t| t.resize),
            max_lines: source.and_then(|t| t.max_lines),
            paragraph_spacing: source.map_or(0.0, |t| t.paragraph_spacing),
        }
    }

    /// The source's own artwork, in greys or in one ink.
    fn artwork(&mut self, source_id: &str, to: Rect, parent: NodeIndex, ink: Option<Color>) {
        let Some(root) = self.ids.get(source_id).copied() else { return };
        let from = self.source.node(root).bounds;
        let source = self.source;
        let mut made: HashMap<NodeIndex, NodeIndex> = HashMap::new();
        for index in source.subtree(root).map(NodeIndex) {
            let node = source.node(index);
            let up =
                if index == root { Some(parent) } else { node.parent.and_then(|p| made.get(&p).copied()) };
            let (Some(up), true) = (up, node.shown) else { continue };
            let mut copy = moved(node, from, to);
            recolor(&mut copy, ink);
            made.insert(index, self.open(copy, Some(up)));
        }
        self.close_all(made);
    }

    /// Sets the ends of what was opened out of order: each parent ends where its last descendant does.
    fn close_all(&mut self, made: HashMap<NodeIndex, NodeIndex>) {
        let mut made: Vec<NodeIndex> = made.into_values().collect();
        made.sort_unstable();
        for index in made.into_iter().rev() {
            let end = self.nodes[index.at()].end;
            if let Some(parent) = self.nodes[index.at()].parent {
                let parent = &mut self.nodes[parent.at()];
                parent.end = parent.end.max(end);
            }
        }
    }

    fn instance(&mut self, instance: &KitInstance, rect: Rect, parent: NodeIndex) -> bool {
        let Some(library) = self.libraries.get(instance.source_hash.as_str()).copied() else { return false };
        if self.nodes.len() > MOST_LAYERS {
            self.warnings.add("picture_too_large", None, || {
                format!("the picture has more than {MOST_LAYERS} layers: the other kit components are drawn as boxes")
            });
            return false;
        }
        let Some(id) = &instance.component_node_id else { return false };
        let key = (instance.source_hash.clone(), id.clone());
        let Some(master) = *self.finder.entry(key).or_insert_with(|| library.find(id)) else { return false };
        let mut changes = Changes::default();
        for write in &instance.texts {
            changes.texts.insert(write.path.clone(), write.characters.clone());
            changes.switched_on.extend(write.visibility.iter().cloned());
        }
        changes.hidden.extend(instance.cleared.iter().cloned());
        let mut made: HashMap<NodeIndex, NodeIndex> = HashMap::new();
        let mut icons: Vec<(String, Rect, Option<Color>)> = Vec::new();
        let (layers, scale) = place(library, master, rect, &changes);
        for placed in layers {
            let node = library.node(placed.index);
            let up = if placed.index == master {
                Some(parent)
            } else {
                node.parent.and_then(|p| made.get(&p).copied())
            };
            let Some(up) = up else { continue };
            if let Some(icon) = instance.icons.iter().find(|icon| icon.path == placed.path) {
                // The artwork takes the ink of the icon whose place it takes, which can be read on this component.
                icons.push((icon.source_id.clone(), placed.rect, first_ink(library, placed.index)));
                continue;
            }
            let mut copy = resized(node, placed.rect);
            if scale < 1.0
                && let Some(text) = copy.text.as_deref_mut()
            {
                shrink(text, scale);
            }
            if let (Some(says), Some(text)) = (placed.characters, copy.text.as_deref_mut()) {
                text.runs = vec![TextRun { range: 0..says.len(), style: text.style.clone() }];
                text.characters = Cow::Owned(says);
            }
            made.insert(placed.index, self.open(copy, Some(up)));
        }
        self.close_all(made);
        for (source_id, rect, ink) in icons {
            self.artwork(&source_id, rect, parent, ink);
        }
        true
    }

    /// A box with what the component would say, one text above the other.
    fn stand_in(&mut self, instance: &KitInstance, rect: Rect, parent: NodeIndex) {
        self.warnings.add("no_master", None, || {
            format!("the kit's file that {:?} comes from is not at hand: drawn as a box", instance.name)
        });
        let node = &mut self.nodes[parent.at()];
        node.fills = vec![solid(Tone(0xf3))];
        node.stroke = Some(Box::new(outline(Tone(0xcf))));
        let count = instance.texts.len().max(1) as f64;
        let line = (rect.height / count).min(24.0);
        for (at, write) in instance.texts.iter().enumerate() {
            let place = Rect {
                x: rect.x + 4.0,
                y: rect.y + (rect.height - line * count) / 2.0 + line * at as f64,
                width: (rect.width - 8.0).max(1.0),
                height: line,
            };
            let mut made = plain(&write.source_ids.join(","), &instance.name, Kind::Text, place);
            made.fills = vec![solid(Tone(0x2b))];
            let style = TextStyle { size: (line * 0.6).clamp(6.0, 14.0), ..TextStyle::default() };
            made.text = Some(Box::new(Text {
                characters: Cow::Owned(write.characters.clone()),
                runs: vec![TextRun { range: 0..write.characters.len(), style: style.clone() }],
                style,
                align: TextAlign::Left,
                align_vertical: TextAlignVertical::Center,
                resize: TextResize::Truncate,
                max_lines: Some(1),
                paragraph_spacing: 0.0,
            }));
            self.open(made, Some(parent));
        }
    }
}

fn rect(place: Place) -> Rect {
    Rect { x: place.x, y: place.y, width: place.width, height: place.height }
}

fn plain<'a>(id: &str, name: &str, kind: Kind, rect: Rect) -> Node<'a> {
    Node {
        id: Cow::Owned(id.to_owned()),
        name: Cow::Owned(name.to_owned()),
        bounds: rect,
        size: Size { width: rect.width, height: rect.height },
        transform: Affine::translation(rect.x, rect.y),
        ..Node::blank(kind)
    }
}

fn color(tone: Tone) -> Color {
    let v = f64::from(tone.0) / 255.0;
    Color { r: v, g: v, b: v, a: 1.0 }
}

fn solid<'a>(tone: Tone) -> Paint<'a> {
    Paint { kind: PaintKind::Solid(color(tone)), opacity: 1.0, blend: None }
}

fn outline<'a>(tone: Tone) -> Stroke<'a> {
    Stroke {
        paints: vec![solid(tone)],
        weight: 1.0,
        sides: None,
        align: StrokeAlign::Inside,
        dashes: Vec::new(),
        cap: StrokeCap::None,
        join: StrokeJoin::Miter,
    }
}

/// Sets a text smaller.
fn shrink(text: &mut Text<'_>, scale: f64) {
    let runs = text.runs.iter_mut().map(|run| &mut run.style);
    for style in runs.chain([&mut text.style]) {
        style.size *= scale;
        style.letter_spacing *= scale;
        if let LineHeight::Pixels(height) = &mut style.line_height {
            *height *= scale;
        }
    }
}

/// The first colour that a layer or one below it is drawn in.
fn first_ink(document: &Document<'_>, index: NodeIndex) -> Option<Color> {
    let nodes = document.subtree(index).map(|i| &document.nodes[i as usize]);
    nodes.filter(|node| node.kind.is_shape()).find_map(|node| {
        let stroke = node.stroke.as_deref().map(|s| s.paints.as_slice()).unwrap_or_default();
        node.fills.iter().chain(stroke).find_map(Paint::solid)
    })
}

/// Takes the colour out of a layer's own paints, or gives them all one ink.
fn recolor(node: &mut Node<'_>, ink: Option<Color>) {
    let to_grey = |color: &mut Color| {
        let lightness = color.luminance().cbrt();
        let ink = ink.unwrap_or(Color { r: lightness, g: lightness, b: lightness, a: 1.0 });
        (color.r, color.g, color.b) = (ink.r, ink.g, ink.b);
    };
    let stroke = node.stroke.as_deref_mut().map(|s| s.paints.as_mut_slice()).unwrap_or_default();
    for paint in node.fills.iter_mut().chain(stroke) {
        match &mut paint.kind {
            PaintKind::Solid(color) => to_grey(color),
            PaintKind::Gradient { stops, .. } => stops.iter_mut().for_each(|stop| to_grey(&mut stop.color)),
            PaintKind::Image { .. } => {}
        }
    }
    node.effects.retain(|effect| !matches!(effect, Effect::DropShadow { .. }));
}

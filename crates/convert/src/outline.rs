//! What each layer of the frame is for: the parsed tree that a run relies on (`parse.json`).

use std::collections::HashMap;

use heddle_figma::{Color, Document, Kind, Node, NodeIndex, Paint, Rect, TextAlign, Warnings};
use serde::Serialize;

use crate::lexicon::{Archetype, archetype_of};
use crate::library::{DesignNames, Place};
use crate::reading::sort_for_reading;
use crate::strings::is_icon_glyph;

/// What a layer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Holds others.
    Container,
    /// Says something.
    Text,
    /// A picture of pixels.
    Image,
    /// Drawn artwork: an icon, a logo, an illustration. What is below belongs to it.
    Graphic,
    /// A line between things.
    Divider,
    /// A painted box without content.
    Surface,
    /// Part of a graphic, or of nothing that can be seen.
    None,
}

/// Why a text of the frame is not to be expected in the wireframe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unseen {
    /// It, or a layer above, is hidden.
    Hidden,
    /// It, or a layer above, is fully transparent.
    Transparent,
    /// It lies outside of what a layer above, or the frame, shows.
    Clipped,
    /// It is a glyph of an icon font.
    IconGlyph,
    /// It is a mask, and not drawn.
    Mask,
}

/// A text layer that can't be seen, and why: what D10 lists.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnseenText {
    /// Its node.
    pub node_id: String,
    /// What it would say.
    pub characters: String,
    /// Why it doesn't.
    pub reason: Unseen,
}

/// What is known of one layer. Runs parallel to the frame's subtree.
#[derive(Debug, Clone)]
pub struct Part {
    /// What it is for.
    pub role: Role,
    /// What it is, as far as name and shape tell.
    pub archetype: Option<Archetype>,
    /// How sure that is, 0..=1.
    pub confidence: f64,
    /// Texts at or below it that can be seen.
    pub texts: u32,
    /// Graphics at or below it.
    pub graphics: u32,
    /// Images at or below it.
    pub images: u32,
    /// Shapes, painted, at or below it.
    pub shapes: u32,
    /// Controls below it, itself not counted.
    pub controls: u32,
    /// Whether it can be seen: shown, not transparent, within every clip.
    pub seen: bool,
    /// Whether it holds an image below its content.
    pub image_background: bool,
}

/// The outline of one frame.
pub struct Outline<'d, 'a> {
    /// The document it speaks of.
    pub document: &'d Document<'a>,
    /// What the design registry calls the design's components.
    design: &'d DesignNames,
    /// Archetypes by name, since the same names come again and again.
    named: HashMap<&'d str, Option<Archetype>>,
    /// The frame.
    pub frame: NodeIndex,
    /// One per node of the frame's subtree, in its order.
    pub parts: Vec<Part>,
    /// Seen texts in document order.
    pub texts: Vec<NodeIndex>,
    /// Unseen ones.
    pub unseen: Vec<UnseenText>,
    /// What was odd.
    pub warnings: Warnings,
}

impl<'d, 'a> Outline<'d, 'a> {
    /// Looks at every layer once downwards (what can be seen) and once upwards (what it holds).
    pub fn of(document: &'d Document<'a>, frame: NodeIndex, design: &'d DesignNames) -> Self {
        let mut outline = Self {
            document,
            design,
            named: HashMap::new(),
            frame,
            parts: Vec::with_capacity(document.subtree(frame).len()),
            texts: Vec::new(),
            unseen: Vec::new(),
            warnings: Warnings::default(),
        };
        outline.look_down();
        outline.look_up();
        outline
    }

    /// The part of a node within the frame.
    pub fn part(&self, index: NodeIndex) -> &Part {
        &self.parts[(index.0 - self.frame.0) as usize]
    }

    /// Its node.
    pub fn node(&self, index: NodeIndex) -> &'d Node<'a> {
        self.document.node(index)
    }

    /// Seen texts at or below a node, in document order.
    pub fn texts_below(&self, index: NodeIndex) -> &[NodeIndex] {
        let range = self.document.subtree(index);
        let start = self.texts.partition_point(|t| t.0 < range.start);
        let end = self.texts.partition_point(|t| t.0 < range.end);
        &self.texts[start..end]
    }

    /// Seen texts as they are read: siblings in rows from the top, each from the left, a layer's content together.
    pub fn reading_order(&self) -> Vec<NodeIndex> {
        let (mut order, mut stack) = (Vec::with_capacity(self.texts.len()), vec![self.frame]);
        while let Some(index) = stack.pop() {
            let part = self.part(index);
            if part.role == Role::Text {
                order.push(index);
            }
            if part.texts == 0 {
                continue;
            }
            let mut below: Vec<NodeIndex> =
                self.document.children(index).filter(|c| self.part(*c).texts > 0).collect();
            sort_for_reading(&mut below, |child| {
                let r = self.node(*child).bounds;
                Place { x: r.x, y: r.y, width: r.width, height: r.height }
            });
            stack.extend(below.into_iter().rev());
        }
        order
    }

    /// Graphics at or below a node, outermost only.
    pub fn graphics_below(&self, index: NodeIndex) -> Vec<NodeIndex> {
        let range = self.document.subtree(index);
        let graphic = |i: &u32| self.part(NodeIndex(*i)).role == Role::Graphic;
        range.filter(graphic).map(NodeIndex).collect()
    }

    fn look_down(&mut self) {
        let document = self.document;
        let first = self.frame.0;
        // Per node: the clip that its children lie in, and why they can't be seen.
        let mut clips: Vec<(Option<Rect>, Option<Unseen>)> =
            Vec::with_capacity(document.subtree(self.frame).len());
        for index in document.subtree(self.frame).map(NodeIndex) {
            let node = document.node(index);
            let above = match node.parent {
                Some(parent) if index != self.frame => clips[(parent.0 - first) as usize],
                _ => (None, None),
            };
            let outside = above.0.is_some_and(|clip| {
                let thick = Rect {
                    width: node.bounds.width.max(0.5),
                    height: node.bounds.height.max(0.5),
                    ..node.bounds
                };
                clip.intersection(&thick).is_none()
            });
            // The frame that was asked for is looked at even where it is hidden itself.
            let hidden = if index == self.frame { false } else { !node.visible };
            let unseen = above.1.or(if hidden {
                Some(Unseen::Hidden)
            } else if node.opacity <= 0.0 && index != self.frame {
                Some(Unseen::Transparent)
            } else if outside && node.kind != Kind::Group {
                Some(Unseen::Clipped)
            } else if node.mask.is_some() {
                Some(Unseen::Mask)
            } else {
                None
            });
            let clips_here = node.clips || index == self.frame;
            let clip = match (above.0, clips_here) {
                (Some(outer), true) => Some(outer.intersection(&node.bounds).unwrap_or(Rect {
                    x: node.bounds.x,
                    y: node.bounds.y,
                    width: 0.0,
                    height: 0.0,
                })),
                (None, true) => Some(node.bounds),
                (outer, false) => outer,
            };
            clips.push((clip, unseen));
            let mut part = blank(unseen.is_none());
            if let Some(text) = &node.text {
                let characters = text.characters.as_ref();
                let blank = characters.trim().is_empty();
                let glyph = is_icon_glyph(characters);
                let reason = unseen.or(glyph.then_some(Unseen::IconGlyph));
                match reason {
                    // White space alone says nothing.
                    _ if blank => {}
                    None => {
                        part.role = Role::Text;
                        part.texts = 1;
                        self.texts.push(index);
                    }
                    Some(reason) => {
                        if reason == Unseen::IconGlyph {
                            part.role = Role::Graphic;
                            part.graphics = 1;
                        }
                        self.unseen.push(UnseenText {
                            node_id: node.id.to_string(),
                            characters: characters.to_owned(),
                            reason,
                        });
                    }
                }
            }
            self.parts.push(part);
        }
    }

    fn look_up(&mut self) {
        let document = self.document;
        let first = self.frame.0;
        for index in document.subtree(self.frame).rev().map(NodeIndex) {
            let at = (index.0 - first) as usize;
            if !self.parts[at].seen {
                continue;
            }
            let node = document.node(index);
            if self.parts[at].role == Role::None {
                self.settle(index, node);
            }
            self.recognise(index, node);
            let part = self.parts[at].clone();
            if let Some(parent) = node.parent.filter(|_| index != self.frame) {
                let up = &mut self.parts[(parent.0 - first) as usize];
                up.texts += part.texts;
                up.graphics += part.graphics;
                up.images += part.images;
                up.shapes += part.shapes;
                up.controls += part.controls
                    + u32::from(
                        part.role == Role::Container && part.archetype.is_some_and(Archetype::is_control),
                    );
            }
        }
    }

    /// The role of a layer that is no text, from what is below it.
    fn settle(&mut self, index: NodeIndex, node: &Node<'_>) {
        let first = self.frame.0;
        // A ring around a text is a chart's, not what the text lies on.
        let is_ring = node.arc.is_some_and(|arc| arc.inner > 0.0);
        let large_shape =
            node.kind.is_shape() && !is_ring && node.bounds.width.min(node.bounds.height) > 28.0;
        let carries = large_shape && self.carries_text(index, node);
        let part = &mut self.parts[(index.0 - first) as usize];
        let painted = is_painted(node);
        let has_image = node.fills.iter().any(Paint::is_image);
        let rect = node.bounds;
        let long = rect.width.max(rect.height);
        let thin = rect.width.min(rect.height);
        let empty = part.texts + part.graphics + part.images + part.shapes == 0;
        if has_image && long >= 4.0 {
            if part.texts + part.images + part.graphics + part.shapes > 0 {
                part.role = Role::Container;
                part.image_background = true;
            } else {
                part.role = Role::Image;
            }
            part.images += 1;
            return;
        }
        if node.kind.is_shape() {
            if !painted && empty {
                return;
            }
            let line = node.kind == Kind::Line || thin <= 2.0;
            if line && long >= 16.0 && long >= 8.0 * thin {
                part.role = Role::Divider;
            } else if carries
                || matches!(node.kind, Kind::Rectangle)
                || (node.kind == Kind::Ellipse && node.arc.is_none_or(|a| a.inner == 0.0))
            {
                part.role = Role::Surface;
                part.shapes = 1;
            } else {
                part.role = Role::Graphic;
                part.graphics = 1;
                part.shapes = 0;
            }
            return;
        }
        if empty {
            // A box that shows nothing is nothing: the slot that a hidden icon leaves behind (F04).
            part.role = if painted { Role::Surface } else { Role::None };
            part.shapes = u32::from(painted);
            return;
        }
        let drawn = part.texts == 0 && part.images == 0 && part.graphics > 0 && part.controls == 0;
        let small = long <= 64.0;
        let artwork = archetype_of(&node.name).is_some_and(Archetype::is_artwork);
        let plain = !painted || !node.kind.is_frame_like();
        let icon = drawn && small && (plain || artwork || part.graphics >= 2 && long <= 32.0);
        let illustration = drawn && !small && part.graphics >= 3 && node.layout.is_none() && {
            // Artwork is painted layer upon layer; what lies side by side is a set of icons.
            let children = self.document.children(index).map(|c| self.node(c));
            let covered: f64 =
                children.filter_map(|c| c.bounds.intersection(&node.bounds)).map(|r| r.area()).sum();
            covered >= 0.8 * node.bounds.area() || long <= 160.0
        };
        let part = &mut self.parts[(index.0 - first) as usize];
        if icon || illustration || (drawn && artwork) {
            part.role = Role::Graphic;
            part.graphics = 1;
            part.shapes = 0;
            for inner in self.document.subtree(index).skip(1) {
                self.parts[(inner - first) as usize].role = Role::None;
            }
        } else {
            part.role = Role::Container;
        }
    }

    /// What a container is: by the names that designers gave, then by its shape.
    fn recognise(&mut self, index: NodeIndex, node: &Node<'_>) {
        if !matches!(self.part(index).role, Role::Container | Role::Image | Role::Surface | Role::Graphic) {
            return;
        }
        let named = if node.kind == Kind::Instance {
            self.component_name(node).and_then(|name| self.archetype_of(name)).map(|a| (a, 0.95))
        } else {
            None
        };
        let named = named.or_else(|| {
            self.archetype_of(&self.document.node(index).name)
                .map(|a| (a, if node.kind == Kind::Instance { 0.85 } else { 0.6 }))
        });
        let (shaped, part) = (self.shape(index, node), self.part(index));
        let found = match (named, shaped) {
            // The frame itself is a screen, whatever its name.
            _ if index == self.frame => None,
            (Some((name, sure)), Some((shape, _))) if name == shape => {
                Some((name, (sure + 0.2_f64).min(1.0)))
            }
            // One tab is no row of tabs.
            (Some((Archetype::Tabs, _)), _) if part.texts < 2 => None,
            (Some((name, sure)), _) if node.kind == Kind::Instance => Some((name, sure)),
            // A bare frame called "Header" may be anything; its shape has the last word where it says something.
            (_, Some(shape)) => Some(shape),
            (Some((name, sure)), None)
                if plausible(name, node, part) && (name != Archetype::Button || self.stands_out(index)) =>
            {
                Some((name, sure))
            }
            _ => None,
        };
        if let Some((archetype, confidence)) = found {
            let part = &mut self.parts[(index.0 - self.frame.0) as usize];
            part.archetype = Some(archetype);
            part.confidence = confidence;
        }
    }

    fn archetype_of(&mut self, name: &'d str) -> Option<Archetype> {
        *self.named.entry(name).or_insert_with(|| archetype_of(name))
    }

    /// The set's name, else the component's, of what an instance shows; the design registry knows best.
    pub fn component_name(&self, node: &Node<'_>) -> Option<&'d str> {
        let id = node.component_id()?;
        let Some(meta) = self.document.components.get(id) else { return self.design.get(id) };
        if let Some(name) = self.design.get(&meta.key).filter(|_| !meta.key.is_empty()) {
            return Some(name);
        }
        let set = meta.set_id.as_ref().and_then(|id| self.document.component_sets.get(id.as_ref()));
        Some(set.map_or(meta.name.as_ref(), |s| s.name.as_ref()))
    }

    /// What a small painted box with little in it looks like.
    fn shape(&self, index: NodeIndex, node: &Node<'_>) -> Option<(Archetype, f64)> {
        let part = self.part(index);
        let Rect { width, height, .. } = node.bounds;
        if part.role == Role::Image {
            let is_round =
                |n: &Node<'_>| n.radii[0] * 2.0 >= width.min(height) * 0.9 || n.kind == Kind::Ellipse;
            let within = node.parent.filter(|_| index != self.frame).map(|p| self.node(p));
            let cut_round =
                within.is_some_and(|p| p.clips && is_round(p) && p.bounds.iou(&node.bounds) > 0.9);
            let round = is_round(node) || cut_round;
            let square = (width / height.max(1.0) - 1.0).abs() < 0.1;
            return if round && square && (16.0..=160.0).contains(&width) {
                Some((Archetype::Avatar, 0.7))
            } else {
                Some((Archetype::Image, 0.7))
            };
        }
        if part.role != Role::Container || !node.kind.is_frame_like() && node.kind != Kind::Group {
            return None;
        }
        if !self.stands_out(index) && !self.has_backdrop(index, node) {
            return None;
        }
        if part.texts == 0 && part.graphics == 1 && part.images == 0 && (24.0..=72.0).contains(&width) {
            let square = (width / height.max(1.0) - 1.0).abs() < 0.15;
            return square.then_some((Archetype::IconButton, 0.55));
        }
        if part.texts != 1 || part.images > 0 || part.graphics > 2 || part.controls > 0 {
            return None;
        }
        let text_index = *self.texts_below(index).first()?;
        let text_node = self.node(text_index);
        let text = text_node.text.as_deref()?;
        let label = text.characters.trim();
        if label.contains('\n') || label.chars().count() > 40 || text.style.size > 24.0 {
            return None;
        }
        let (left, right) =
            (text_node.bounds.x - node.bounds.x, node.bounds.right() - text_node.bounds.right());
        let centered =
            text.align == TextAlign::Center || (left - right).abs() < 0.15 * width || part.graphics > 0;
        if (14.0..28.0).contains(&height) && width <= 200.0 {
            return Some((Archetype::Badge, 0.5));
        }
        if (28.0..=72.0).contains(&height)
            && width >= 160.0
            && width > 3.5 * height
            && !centered
            && left < 0.3 * width
        {
            return Some((Archetype::Input, 0.5));
        }
        if (28.0..=72.0).contains(&height) && centered && width <= 600.0 && width >= height * 0.9 {
            return Some((Archetype::Button, 0.5));
        }
        None
    }

    /// Whether the layer's own paint can be told from what it lies on.
    pub fn stands_out(&self, index: NodeIndex) -> bool {
        let node = self.node(index);
        if node.stroke.is_some() || !node.effects.is_empty() {
            return true;
        }
        let Some(own) = node.fills.iter().rev().find_map(Paint::solid) else { return !node.fills.is_empty() };
        let below = self.document.ancestors(index).take_while(|a| a.0 >= self.frame.0);
        let below =
            below.filter_map(|a| self.node(a).fills.iter().rev().find_map(Paint::solid)).find(|c| c.a > 0.9);
        let below = below.unwrap_or(Color { r: 1.0, g: 1.0, b: 1.0, a: 1.0 });
        let differs = |a: f64, b: f64| ((a - b) * own.a).abs() > 0.015;
        differs(own.r, below.r) || differs(own.g, below.g) || differs(own.b, below.b)
    }

    /// Whether texts lie on the shape: then it is a surface, however it was drawn.
    fn carries_text(&self, index: NodeIndex, node: &Node<'_>) -> bool {
        let Some(parent) = node.parent.filter(|_| index != self.frame) else { return false };
        let texts = self.texts_below(parent);
        // What lies on a shape comes soon after it.
        let after = texts.partition_point(|text| *text <= index);
        let mut soon = texts[after..].iter().take(200);
        soon.any(|text| node.bounds.contains(self.node(*text).bounds.center()))
    }

    /// Whether the first thing in it is a painted box as large as itself: how backgrounds are made in groups.
    fn has_backdrop(&self, index: NodeIndex, node: &Node<'_>) -> bool {
        self.document.children(index).find(|c| self.part(*c).seen).is_some_and(|first| {
            let below = self.node(first);
            self.part(first).role == Role::Surface && below.bounds.iou(&node.bounds) > 0.9
        })
    }
}

fn blank(seen: bool) -> Part {
    Part {
        role: Role::None,
        archetype: None,
        confidence: 0.0,
        texts: 0,
        graphics: 0,
        images: 0,
        shapes: 0,
        controls: 0,
        seen,
        image_background: false,
    }
}

/// Whether the layer itself leaves a mark.
pub fn is_painted(node: &Node<'_>) -> bool {
    !node.fills.is_empty() || node.stroke.is_some() || !node.effects.is_empty()
}

/// Whether a box of that size and content can be what its name says.
fn plausible(archetype: Archetype, node: &Node<'_>, part: &Part) -> bool {
    let Rect { width, height, .. } = node.bounds;
    match archetype {
        Archetype::Button => (20.0..=80.0).contains(&height) && part.texts <= 2,
        Archetype::IconButton | Archetype::Fab => width.max(height) <= 96.0 && part.texts == 0,
        Archetype::Badge | Archetype::Chip => height <= 48.0 && part.texts <= 2,
        Archetype::Input | Archetype::Select | Archetype::Search => {
            (20.0..=120.0).contains(&height) && width >= 80.0 && part.texts <= 4
        }
        Archetype::Checkbox | Archetype::Radio | Archetype::Switch => height <= 64.0 && part.texts <= 2,
        Archetype::Avatar => width.max(height) <= 200.0 && part.texts <= 1,
        Archetype::Image => part.texts == 0 && part.images + part.shapes > 0,
        Archetype::Heading | Archetype::Paragraph | Archetype::Caption | Archetype::Link => part.texts == 1,
        Archetype::AppBar | Archetype::TabBar | Archetype::StatusBar => height <= 160.0 && width >= 200.0,
        Archetype::Tabs => (20.0..=96.0).contains(&height) && part.texts >= 2,
        Archetype::ListRow | Archetype::TableRow => (24.0..=200.0).contains(&height) && part.texts >= 1,
        Archetype::Card => width >= 80.0 && height >= 48.0 && part.texts >= 1,
        _ => part.texts + part.graphics + part.images + part.shapes > 0,
    }
}

//! From an outline to a wireframe: what the kit can express becomes its components, the rest stays as frames, texts
//! and placeholders. Nothing that can be read is dropped (D10), and what lies on top stays on top.

use std::collections::HashMap;

use heddle_figma::{
    Align, Axis, Color, Document as Source, Effect, Kind, LineHeight, Node as SourceNode, NodeIndex, Paint,
    PaintKind, Rect, TextAlign, Warnings,
};
use serde::Serialize;

use crate::graphics::{Action, Appearance, Classification, RenderedKind};
use crate::kit::Kit;
use crate::lexicon::Archetype;
use crate::library::{Extent, Place};
use crate::number::round;
use crate::outline::{Outline, Part, Role, is_painted};
use crate::reading::sort_for_reading;
use crate::select::{Choice, Decision, Selector};
use crate::slots::{assign, cleared};
use crate::wireframe::{
    Document, IconWrite, KitInstance, Layout, Node, NodeKind, SlotWrite, Summary, Tone, WIREFRAME_SCHEMA,
};

/// A component of the design and how well the kit realises it: what part K of the score measures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComponentRegion {
    /// Its layer.
    pub node_id: String,
    /// Fit of the kit component, 0 where none was found.
    pub fit: f64,
    /// √area.
    #[serde(skip)]
    pub weight: f64,
}

/// What assembly made.
pub struct Assembly {
    /// The wireframe, its `_id` still empty.
    pub wireframe: Document,
    /// What was decided on graphics, and what became of them, in document order.
    pub graphics: Vec<Appearance>,
    /// What was decided on components.
    pub decisions: Vec<Decision>,
    /// The design's components, outermost realised or fallen back.
    pub regions: Vec<ComponentRegion>,
    /// What could not be done well.
    pub warnings: Warnings,
}

impl Assembly {
    /// What the wireframe says for each source text; more than one thing where a file repeats an id.
    pub fn said(&self) -> HashMap<&str, Vec<&str>> {
        let mut said: HashMap<&str, Vec<&str>> = HashMap::new();
        for node in &self.wireframe.nodes {
            match &node.kind {
                NodeKind::Text { characters, .. } => {
                    for id in &node.source_ids {
                        said.entry(id).or_default().push(characters);
                    }
                }
                NodeKind::Instance(instance) => {
                    for write in &instance.texts {
                        for id in &write.source_ids {
                            said.entry(id).or_default().push(&write.characters);
                        }
                    }
                }
                _ => {}
            }
        }
        said
    }
}

/// Builds the wireframe.
pub fn assemble(outline: &Outline<'_, '_>, kit: &Kit, graphics: Classification) -> Assembly {
    let frame = outline.node(outline.frame);
    let mut builder = Builder {
        outline,
        kit,
        selector: Selector::new(kit, outline),
        graphics,
        nodes: Vec::new(),
        regions: Vec::new(),
        warnings: Warnings::default(),
        origin: frame.bounds,
        ids: HashMap::new(),
    };
    builder.root();
    let Builder { selector, graphics, nodes, regions, warnings, .. } = builder;
    let mut wireframe = Document {
        id: String::new(),
        schema: WIREFRAME_SCHEMA,
        based_on: 1,
        page_type: 0,
        memos: [],
        name: frame.name.to_string(),
        source_node_id: frame.id.to_string(),
        size: Extent { width: frame.bounds.width, height: frame.bounds.height },
        summary: Summary::default(),
        reading_order: reading_order(&nodes),
        nodes,
    };
    wireframe.summarise();
    Assembly {
        wireframe,
        graphics: graphics.into_values().collect(),
        decisions: selector.decisions,
        regions,
        warnings,
    }
}

struct Builder<'o, 'd, 'a, 'k> {
    outline: &'o Outline<'d, 'a>,
    kit: &'k Kit,
    selector: Selector<'k>,
    graphics: Classification,
    nodes: Vec<Node>,
    regions: Vec<ComponentRegion>,
    warnings: Warnings,
    origin: Rect,
    /// How often each id has been given.
    ids: HashMap<String, u32>,
}

impl<'d, 'a> Builder<'_, 'd, 'a, '_> {
    fn source(&self, index: NodeIndex) -> &'d SourceNode<'a> {
        self.outline.node(index)
    }

    fn place(&self, rect: Rect) -> Place {
        Place {
            x: round(rect.x - self.origin.x),
            y: round(rect.y - self.origin.y),
            width: round(rect.width),
            height: round(rect.height),
        }
    }

    fn push(&mut self, index: NodeIndex, parent: Option<usize>, suffix: &str, kind: NodeKind) -> usize {
        let source = self.source(index);
        let mut id = format!("wf:{}{suffix}", source.id);
        // A file that repeats an id still gets ids of its own here.
        let repeats = self.ids.entry(id.clone()).or_insert(0);
        *repeats += 1;
        if *repeats > 1 {
            id = format!("{id}~{repeats}");
        }
        self.nodes.push(Node {
            id,
            parent: parent.map(|at| self.nodes[at].id.clone()),
            parent_at: parent,
            name: source.name.to_string(),
            source_ids: vec![source.id.to_string()],
            place: self.place(source.bounds),
            absolute: source.placement.absolute,
            kind,
        });
        self.nodes.len() - 1
    }

    /// A layer and all below it. Nesting is bounded by the reader's limit; the stack grows with it.
    fn layer(&mut self, index: NodeIndex, parent: usize) {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.layer_inner(index, parent));
    }

    fn layer_inner(&mut self, index: NodeIndex, parent: usize) {
        let part = self.outline.part(index);
        if !part.seen {
            return;
        }
        match part.role {
            Role::None => {}
            Role::Text => self.text(index, parent),
            Role::Divider => {
                let tone = divider_tone(self.source(index));
                self.push(index, Some(parent), "", NodeKind::Divider { tone });
            }
            Role::Image => self.image(index, parent, ""),
            Role::Graphic => self.graphic(index, parent),
            Role::Surface => self.surface(index, parent),
            Role::Container => self.container(index, parent),
        }
        // Texts below what is no container are texts all the same.
        if part.role != Role::Container && part.texts > u32::from(part.role == Role::Text) {
            self.children(index, parent);
        }
    }

    fn children(&mut self, index: NodeIndex, parent: usize) {
        let document: &'d Source<'a> = self.outline.document;
        for child in document.children(index) {
            self.layer(child, parent);
        }
    }

    /// The frame that was asked for; where that is a text, a picture or a drawing, a frame with it inside.
    fn root(&mut self) {
        let index = self.outline.frame;
        self.frame(index, None);
        match self.outline.part(index).role {
            Role::Text => self.text(index, 0),
            Role::Image => self.image(index, 0, ""),
            Role::Graphic => self.graphic(index, 0),
            Role::Divider => {
                let tone = divider_tone(self.source(index));
                self.push(index, Some(0), "", NodeKind::Divider { tone });
            }
            _ => {}
        }
    }

    fn frame(&mut self, index: NodeIndex, parent: Option<usize>) {
        let source = self.source(index);
        let mut kind = frame_kind(source);
        if parent.is_none()
            && let NodeKind::Frame { fill, .. } = &mut kind
        {
            // A screen without a fill of its own stands on white paper.
            *fill = fill.or(Some(Tone(255)));
        }
        let at = self.push(index, parent, "", kind);
        if self.outline.part(index).image_background {
            self.image(index, at, ":image");
        }
        self.children(index, at);
    }

    fn container(&mut self, index: NodeIndex, parent: usize) {
        let (source, part) = (self.source(index), self.outline.part(index).clone());
        let asks = part.archetype.is_some() || source.kind == Kind::Instance;
        if asks && let Some(choice) = self.selector.choose(self.outline, index) {
            self.instance(index, parent, choice);
            return;
        }
        if is_leaf_component(source, &part) {
            self.warnings.add("no_kit_match", Some(&source.id), || {
                format!("the kit has nothing for {:?}: its layers are kept instead", source.name)
            });
            self.regions.push(ComponentRegion {
                node_id: source.id.to_string(),
                fit: 0.0,
                weight: weight(source),
            });
        }
        // A wrapper that only wraps is left out (F38); its content keeps its place.
        let kept = self.outline.document.children(index).filter(|c| is_kept(self.outline.part(*c))).count();
        let wraps = !is_painted(source) && !part.image_background && !clips_content(self.outline, index);
        if wraps && kept <= 1 {
            self.children(index, parent);
        } else {
            self.frame(index, Some(parent));
        }
    }

    fn text(&mut self, index: NodeIndex, parent: usize) {
        let source = self.source(index);
        let Some(text) = source.text.as_deref() else { return };
        let first = text.runs.first().map_or(&text.style, |run| &run.style);
        let kind = NodeKind::Text {
            characters: text.characters.to_string(),
            font_size: text.style.size,
            font_weight: text.style.weight,
            line_height: match text.style.line_height {
                LineHeight::Pixels(height) => Some(height),
                LineHeight::Auto => None,
            },
            align: match text.align {
                TextAlign::Left => "left",
                TextAlign::Center => "center",
                TextAlign::Right => "right",
                TextAlign::Justified => "justified",
            },
            tone: ink(first.fills.as_deref().unwrap_or(&source.fills)),
        };
        self.push(index, Some(parent), "", kind);
    }

    fn image(&mut self, index: NodeIndex, parent: usize, suffix: &str) {
        let (source, part) = (self.source(index), self.outline.part(index));
        let archetype =
            if suffix.is_empty() { part.archetype.unwrap_or(Archetype::Image) } else { Archetype::Image };
        let archetype = if archetype == Archetype::Avatar { Archetype::Avatar } else { Archetype::Image };
        let Rect { width, height, .. } = source.bounds;
        let choice = self.selector.atom(archetype, width, height).filter(|c| c.fit >= 0.15);
        let kind = match choice {
            Some(choice) if suffix.is_empty() => NodeKind::Instance(self.kit_instance(choice)),
            _ => NodeKind::Image { radii: source.radii },
        };
        self.push(index, Some(parent), suffix, kind);
    }

    /// What an icon shows, as far as names tell: its component's, else its own.
    fn icon_name(&self, source: &'d SourceNode<'a>) -> &'d str {
        let component = source.component_id().and_then(|id| self.outline.document.components.get(id));
        component.map_or(source.name.as_ref(), |meta| meta.name.as_ref())
    }

    /// The kit's chart for artwork that is one by its own name or that of a layer close above.
    fn chart(&self, index: NodeIndex) -> Option<Choice> {
        let source = self.source(index);
        let Rect { width, height, .. } = source.bounds;
        let is_chart = |i: &NodeIndex| self.outline.part(*i).archetype == Some(Archetype::Chart);
        let above = self.outline.document.ancestors(index).take_while(|a| a.0 > self.outline.frame.0).take(2);
        let within: Vec<NodeIndex> = std::iter::once(index).chain(above).collect();
        if width.min(height) <= 48.0 || !within.iter().any(is_chart) {
            return None;
        }
        let names: Vec<&str> = within
            .iter()
            .map(|i| self.source(*i))
            .flat_map(|node| [Some(node.name.as_ref()), self.outline.component_name(node)])
            .flatten()
            .collect();
        let is_ring = source.arc.is_some();
        self.selector.chart(&names, is_ring, width, height).filter(|c| c.fit >= 0.3)
    }

    /// A sibling that is the same kit component in about the same place.
    fn drawn_already(&self, index: NodeIndex, parent: usize, choice: Choice) -> Option<usize> {
        let place = self.source(index).bounds.translate(-self.origin.x, -self.origin.y);
        let row = &self.kit.rows[choice.row].key;
        // What belongs together lies together: it is not looked for further back.
        (parent + 1..self.nodes.len()).rev().take(64).find(|at| {
            let node = &self.nodes[*at];
            let Place { x, y, width, height } = node.place;
            let same = matches!(&node.kind, NodeKind::Instance(instance) if instance.row == *row);
            same && node.parent_at == Some(parent) && place.iou(&Rect { x, y, width, height }) > 0.8
        })
    }

    fn graphic(&mut self, index: NodeIndex, parent: usize) {
        let source = self.source(index);
        let Rect { width, height, .. } = source.bounds;
        let tone = graphic_tone(self.outline.document, index);
        let preserve = self.graphics.get(&index).is_some_and(|a| a.action == Action::Preserve);
        let chart = self.chart(index);
        let (kind, rendered) = if let Some(choice) = chart {
            if let Some(same) = self.drawn_already(index, parent, choice) {
                // Figma draws a ring as one arc for each part; the kit's chart stands for them all.
                self.nodes[same].source_ids.push(source.id.to_string());
                let id = self.nodes[same].id.clone();
                if let Some(appearance) = self.graphics.get_mut(&index) {
                    appearance.rendered_kind = Some(RenderedKind::Kit);
                    appearance.covered_by = Some(id);
                }
                return;
            }
            let mut instance = self.kit_instance(choice);
            instance.cleared = cleared(&self.kit.rows[choice.row], &[]);
            (NodeKind::Instance(instance), RenderedKind::Kit)
        } else if preserve {
            (NodeKind::Graphic { source_id: source.id.to_string(), tone }, RenderedKind::Preserved)
        } else if width.max(height) > 64.0 {
            let image = self.selector.atom(Archetype::Image, width, height).filter(|c| c.fit >= 0.15);
            match image {
                Some(choice) => (NodeKind::Instance(self.kit_instance(choice)), RenderedKind::Kit),
                None => (NodeKind::Image { radii: source.radii }, RenderedKind::Ink),
            }
        } else {
            match self.selector.icon(self.icon_name(source), width, height).filter(|c| c.fit >= 0.2) {
                Some(choice) => (NodeKind::Instance(self.kit_instance(choice)), RenderedKind::Kit),
                None => (NodeKind::Ink { tone }, RenderedKind::Ink),
            }
        };
        self.push(index, Some(parent), "", kind);
        if let Some(appearance) = self.graphics.get_mut(&index) {
            appearance.rendered_kind = Some(rendered);
        }
    }

    fn surface(&mut self, index: NodeIndex, parent: usize) {
        let (source, part) = (self.source(index), self.outline.part(index).clone());
        if part.archetype.is_some()
            && source.kind == Kind::Instance
            && let Some(choice) = self.selector.choose(self.outline, index)
        {
            self.instance(index, parent, choice);
            return;
        }
        let kind =
            NodeKind::Box { fill: surface_fill(source), stroke: stroke_tone(source), radii: radii(source) };
        self.push(index, Some(parent), "", kind);
    }

    fn kit_instance(&self, choice: Choice) -> KitInstance {
        let row = &self.kit.rows[choice.row];
        KitInstance {
            row: row.key.clone(),
            entry_id: row.entry_id.clone(),
            name: row.name.clone(),
            component_key: row.component_key.clone(),
            component_node_id: row.component_node_id.clone(),
            source_hash: row.source_hash.clone(),
            variant_props: row.variant_props.clone(),
            texts: Vec::new(),
            cleared: Vec::new(),
            icons: Vec::new(),
            fit: round(choice.fit),
        }
    }

    fn instance(&mut self, index: NodeIndex, parent: usize, choice: Choice) {
        let source = self.source(index);
        let row = &self.kit.rows[choice.row];
        let mut instance = self.kit_instance(choice);
        let texts = self.outline.texts_below(index).to_vec();
        let slots = assign(self.outline, index, &texts, row).slots;
        for (text, slot) in texts.iter().zip(&slots) {
            let (text, slot) = (self.source(*text), &row.slots[*slot]);
            instance.texts.push(SlotWrite {
                path: slot.path.clone(),
                characters: text.characters().unwrap_or_default().to_owned(),
                source_ids: vec![text.id.to_string()],
                property: slot.property.clone(),
                visibility: if slot.shown { Vec::new() } else { slot.visibility.clone() },
            });
        }
        instance.cleared = cleared(row, &slots);
        // Artwork finds its icon in the order of reading.
        let mut icons = row.icons(&instance.cleared).into_iter();
        let mut graphics = self.outline.graphics_below(index);
        sort_for_reading(&mut graphics, |graphic| self.place(self.source(*graphic).bounds));
        for graphic in &graphics {
            let icon = icons.next();
            let Some(appearance) = self.graphics.get_mut(graphic) else { continue };
            appearance.rendered_kind = Some(match icon {
                Some(nested) if appearance.action == Action::Preserve => {
                    let source_id = appearance.node_id.clone();
                    instance.icons.push(IconWrite { path: nested.path.clone(), source_id });
                    RenderedKind::PreservedInKit
                }
                Some(_) => RenderedKind::Kit,
                None => RenderedKind::Covered,
            });
        }
        self.regions.push(ComponentRegion {
            node_id: source.id.to_string(),
            fit: instance.fit,
            weight: weight(source),
        });
        let at = self.push(index, Some(parent), "", NodeKind::Instance(instance));
        for graphic in graphics {
            if let Some(appearance) = self.graphics.get_mut(&graphic) {
                appearance.covered_by = Some(self.nodes[at].id.clone());
            }
        }
    }
}

fn weight(source: &SourceNode<'_>) -> f64 {
    source.bounds.area().max(1.0).sqrt()
}

fn is_kept(part: &Part) -> bool {
    part.seen && part.role != Role::None
}

/// A component of the design that is not merely made of others: where the kit has nothing for it, something is
/// missing.
fn is_leaf_component(source: &SourceNode<'_>, part: &Part) -> bool {
    source.kind == Kind::Instance && part.controls == 0 && part.texts <= 6 && part.images <= 1
}

/// Whether leaving the layer out would show what it cuts off.
fn clips_content(outline: &Outline<'_, '_>, index: NodeIndex) -> bool {
    let node = outline.node(index);
    node.clips && outline.document.children(index).any(|c| !node.bounds.covers(&outline.node(c).bounds, 1.0))
}

/// Ids of what says or shows something, siblings sorted for reading, parents before children.
fn reading_order(nodes: &[Node]) -> Vec<String> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        if let Some(parent) = node.parent_at {
            below[parent].push(at);
        }
    }
    let mut order = Vec::with_capacity(nodes.len());
    let mut stack = vec![0];
    while let Some(at) = stack.pop() {
        let Some(node) = nodes.get(at) else { break };
        if !matches!(node.kind, NodeKind::Frame { .. } | NodeKind::Box { .. } | NodeKind::Divider { .. }) {
            order.push(node.id.clone());
        }
        let children = &mut below[at];
        sort_for_reading(children, |child| nodes[*child].place);
        stack.extend(children.iter().rev());
    }
    order
}

fn frame_kind(source: &SourceNode<'_>) -> NodeKind {
    let layout = source.layout.as_deref().map(|layout| Layout {
        axis: match layout.axis {
            Axis::Horizontal => "horizontal",
            Axis::Vertical => "vertical",
            Axis::Grid => "grid",
        },
        wrap: layout.wrap,
        spacing: if layout.primary_align == Align::SpaceBetween { 0.0 } else { layout.spacing },
        counter_spacing: layout.counter_spacing,
        padding: layout.padding,
    });
    NodeKind::Frame {
        fill: surface_fill(source),
        stroke: stroke_tone(source),
        radii: radii(source),
        clips: source.clips,
        layout,
    }
}

fn radii(source: &SourceNode<'_>) -> [f64; 4] {
    if source.kind == Kind::Ellipse {
        [source.bounds.width.min(source.bounds.height) / 2.0; 4]
    } else {
        source.radii
    }
}

/// Greys that a wireframe has.
const SURFACES: [u8; 7] = [0x2b, 0x5c, 0x9a, 0xcf, 0xe6, 0xf3, 0xff];

fn quantized(color: Color) -> Tone {
    // Perceived lightness, over white where it is not opaque.
    let luminance = color.luminance() * color.a + (1.0 - color.a);
    let lightness = luminance.cbrt() * 255.0;
    let nearest = SURFACES.iter().min_by_key(|tone| (f64::from(**tone) - lightness).abs() as u32);
    Tone(nearest.copied().unwrap_or(255))
}

fn paint_color(paint: &Paint<'_>) -> Option<Color> {
    match &paint.kind {
        PaintKind::Solid(_) => paint.solid(),
        PaintKind::Gradient { stops, .. } => {
            let n = stops.len().max(1) as f64;
            let mean = |part: fn(&Color) -> f64| stops.iter().map(|s| part(&s.color)).sum::<f64>() / n;
            Some(Color {
                r: mean(|c| c.r),
                g: mean(|c| c.g),
                b: mean(|c| c.b),
                a: mean(|c| c.a) * paint.opacity,
            })
        }
        PaintKind::Image { .. } => None,
    }
}

/// The grey of the topmost paint that shows.
fn surface_fill(source: &SourceNode<'_>) -> Option<Tone> {
    let visible = source.fills.iter().rev().filter_map(paint_color).find(|c| c.a * source.opacity > 0.04);
    let color = visible.map(|c| Color { a: c.a * source.opacity, ..c });
    let shadow = source.effects.iter().any(|e| matches!(e, Effect::DropShadow { .. }));
    color.map(quantized).or((shadow && source.fills.is_empty()).then_some(Tone(255)))
}

fn stroke_tone(source: &SourceNode<'_>) -> Option<Tone> {
    let stroke = source.stroke.as_deref().and_then(|s| s.paints.iter().rev().find_map(paint_color));
    let shadow = source.effects.iter().any(|e| matches!(e, Effect::DropShadow { .. }));
    // Elevation is an outline in a wireframe.
    stroke.map(|c| Tone(quantized(c).0.min(0xcf))).or(shadow.then_some(Tone(0xcf)))
}

fn divider_tone(source: &SourceNode<'_>) -> Tone {
    let stroke = source.stroke.as_deref().and_then(|s| s.paints.iter().rev().find_map(paint_color));
    let color = stroke.or_else(|| source.fills.iter().rev().find_map(paint_color));
    Tone(color.map_or(0xcf, |c| quantized(c).0.min(0xe6)))
}

/// Ink for texts: dark, grey or light, as the design has it.
fn ink(paints: &[Paint<'_>]) -> Tone {
    let Some(color) = paints.iter().rev().find_map(paint_color) else { return Tone(0x2b) };
    let lightness = (color.luminance() * color.a + (1.0 - color.a)).cbrt();
    Tone(match lightness {
        l if l > 0.9 => 0xff,
        l if l > 0.78 => 0xcf,
        l if l > 0.55 => 0x80,
        l if l > 0.4 => 0x5c,
        _ => 0x2b,
    })
}

fn graphic_tone(document: &Source<'_>, index: NodeIndex) -> Tone {
    let painted = document.subtree(index).map(|i| &document.nodes[i as usize]);
    let mut colors = painted.filter(|n| n.shown).filter_map(|n| {
        let fill = n.fills.iter().rev().find_map(paint_color);
        fill.or_else(|| n.stroke.as_deref().and_then(|s| s.paints.iter().find_map(paint_color)))
    });
    match colors.next() {
        Some(color) if color.luminance() > 0.8 => Tone(0xff),
        Some(color) if color.luminance() > 0.35 => Tone(0x80),
        _ => Tone(0x2b),
    }
}

//! The resolved tree. Nodes lie in one vector in document order (a node, then its descendants), which is also the
//! painting order: what comes later lies on top.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::{Affine, Effect, Paint, Path, Rect, Size, Stroke, Text, Warnings};

/// The place of a node in [`Document::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub u32);

impl NodeIndex {
    /// As an index into a slice that runs parallel to [`Document::nodes`].
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// Figma's node types, as far as they are told apart here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// What holds the documents of an answer: no node of Figma's.
    Envelope,
    /// `DOCUMENT`.
    Document,
    /// `CANVAS` (or `PAGE`): a page.
    Canvas,
    /// `SECTION`.
    Section,
    /// `FRAME`.
    Frame,
    /// `GROUP`, and `TRANSFORM_GROUP`.
    Group,
    /// `COMPONENT`.
    Component,
    /// `COMPONENT_SET`.
    ComponentSet,
    /// `INSTANCE`.
    Instance,
    /// `SLOT`: a frame that instances fill with children of their own.
    Slot,
    /// `TEXT` (and `TEXT_PATH`, whose characters are read, not its curve).
    Text,
    /// `RECTANGLE`.
    Rectangle,
    /// `ELLIPSE`.
    Ellipse,
    /// `LINE`.
    Line,
    /// `VECTOR`.
    Vector,
    /// `STAR`.
    Star,
    /// `REGULAR_POLYGON` (or `POLYGON`).
    Polygon,
    /// `BOOLEAN_OPERATION`.
    BooleanOperation,
    /// `SLICE`: an export region, never painted.
    Slice,
    /// Anything else, `FigJam`'s types among it. Its children are read like any other's.
    Unknown,
}

impl Kind {
    /// A box that holds children: frame, component, instance, set, section or slot.
    pub const fn is_frame_like(self) -> bool {
        matches!(
            self,
            Self::Frame | Self::Component | Self::ComponentSet | Self::Instance | Self::Section | Self::Slot
        )
    }

    /// A shape that is painted by its own outline.
    pub const fn is_shape(self) -> bool {
        matches!(
            self,
            Self::Rectangle
                | Self::Ellipse
                | Self::Line
                | Self::Vector
                | Self::Star
                | Self::Polygon
                | Self::BooleanOperation
        )
    }

    /// What holds frames without being one: envelope, document, page.
    pub const fn is_holder(self) -> bool {
        matches!(self, Self::Envelope | Self::Document | Self::Canvas)
    }
}

/// Axis of an auto layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Left to right.
    Horizontal,
    /// Top to bottom.
    Vertical,
    /// A grid.
    Grid,
}

/// Alignment along one axis of an auto layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// At the start.
    #[default]
    Start,
    /// In the middle.
    Center,
    /// At the end.
    End,
    /// Space between.
    SpaceBetween,
    /// On the text's baseline.
    Baseline,
}

/// How one side of a box comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sizing {
    /// As it stands.
    #[default]
    Fixed,
    /// From its content.
    Hug,
    /// From its parent.
    Fill,
}

/// Auto layout of a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoLayout {
    /// Its axis.
    pub axis: Axis,
    /// Whether children wrap into rows.
    pub wrap: bool,
    /// Space between children; negative where they overlap.
    pub spacing: f64,
    /// Space between rows when wrapping.
    pub counter_spacing: f64,
    /// Padding: top, right, bottom, left.
    pub padding: [f64; 4],
    /// Along the axis.
    pub primary_align: Align,
    /// Across the axis.
    pub counter_align: Align,
    /// Whether the first child is painted on top (`itemReverseZIndex`).
    pub reverse_z: bool,
    /// Whether strokes take space (`strokesIncludedInLayout`).
    pub strokes_included: bool,
}

/// How a child keeps its place when a parent without auto layout is resized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Constraint {
    /// Keeps its distance to the left or top.
    #[default]
    Start,
    /// Keeps its distance to the right or bottom.
    End,
    /// Keeps its distance to the middle.
    Center,
    /// Keeps both distances.
    Stretch,
    /// Scales along.
    Scale,
}

/// How a node sits in its parent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Placement {
    /// Taken out of the parent's auto layout (`layoutPositioning: ABSOLUTE`).
    pub absolute: bool,
    /// Width.
    pub horizontal: Sizing,
    /// Height.
    pub vertical: Sizing,
    /// Constraint on the left-right axis.
    pub constraint_x: Constraint,
    /// Constraint on the top-bottom axis.
    pub constraint_y: Constraint,
}

/// What a mask takes from the layer that masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mask {
    /// Its opacity.
    Alpha,
    /// Its outline.
    Outline,
    /// Its luminance.
    Luminance,
}

/// What a boolean operation does with its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BooleanOperation {
    /// All of them.
    Union,
    /// What they share.
    Intersect,
    /// The first less the others.
    Subtract,
    /// What only one covers.
    Exclude,
}

/// The arc of an ellipse, in radians from three o'clock, clockwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arc {
    /// Start.
    pub start: f64,
    /// End.
    pub end: f64,
    /// Inner radius over outer radius, 0..=1.
    pub inner: f64,
}

/// The value of a component property on an instance, or its default on a component.
#[derive(Debug, Clone, PartialEq)]
pub enum PropertyValue<'a> {
    /// `VARIANT`.
    Variant(Cow<'a, str>),
    /// `TEXT`.
    Text(Cow<'a, str>),
    /// `BOOLEAN`.
    Boolean(bool),
    /// `INSTANCE_SWAP`: the id of the chosen component.
    Swap(Cow<'a, str>),
    /// A type that is not known here.
    Other,
}

/// One entry of `componentPropertyDefinitions`.
#[derive(Debug, Clone, PartialEq)]
pub struct PropertyDefinition<'a> {
    /// Its key: `State` for a variant axis, `Label#12:3` for the others.
    pub key: Cow<'a, str>,
    /// Its default.
    pub default: PropertyValue<'a>,
    /// What a variant axis enumerates; empty for the others.
    pub options: Vec<Cow<'a, str>>,
}

/// What ties a node to components.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ComponentFacts<'a> {
    /// The component that an instance shows.
    pub component_id: Option<Cow<'a, str>>,
    /// An instance's property values by key.
    pub properties: Vec<(Cow<'a, str>, PropertyValue<'a>)>,
    /// A component's or set's definitions.
    pub definitions: Vec<PropertyDefinition<'a>>,
    /// Which property drives which field of this layer (`characters`, `visible`, `mainComponent`).
    pub references: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Ids of the nodes below an instance that differ from the master.
    pub overrides: Vec<Cow<'a, str>>,
}

/// One node, resolved.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "Figma's own flags, independent of each other")]
pub struct Node<'a> {
    /// Figma's id.
    pub id: Cow<'a, str>,
    /// The layer's name, verbatim.
    pub name: Cow<'a, str>,
    /// Its type.
    pub kind: Kind,
    /// Its parent; `None` for the root alone.
    pub parent: Option<NodeIndex>,
    /// One past its last descendant.
    pub end: u32,
    /// Layers above it.
    pub depth: u16,
    /// Its own `visible`.
    pub visible: bool,
    /// Whether it is shown: visible itself, and every ancestor too.
    pub shown: bool,
    /// Its upright box on the canvas; a zero box at the parent's corner where the file has none.
    pub bounds: Rect,
    /// The box of what is painted, shadows included, where the file says.
    pub render_bounds: Option<Rect>,
    /// Its size before any turn.
    pub size: Size,
    /// From its own corner to the canvas.
    pub transform: Affine,
    /// 0..=1.
    pub opacity: f64,
    /// CSS `mix-blend-mode`, where it is not `normal`.
    pub blend: Option<&'static str>,
    /// Visible fills, bottom first.
    pub fills: Vec<Paint<'a>>,
    /// Its stroke, where a visible one exists.
    pub stroke: Option<Box<Stroke<'a>>>,
    /// Corner radii: top left, top right, bottom right, bottom left.
    pub radii: [f64; 4],
    /// Visible effects.
    pub effects: Vec<Effect>,
    /// Whether it masks the siblings after it.
    pub mask: Option<Mask>,
    /// Whether it clips its children to its box.
    pub clips: bool,
    /// Fill outlines in its own coordinates, where the file has them.
    pub fill_geometry: Vec<Path<'a>>,
    /// Stroke outlines in its own coordinates, where the file has them.
    pub stroke_geometry: Vec<Path<'a>>,
    /// Arc of an ellipse.
    pub arc: Option<Arc>,
    /// Of a boolean operation.
    pub boolean_operation: Option<BooleanOperation>,
    /// Auto layout.
    pub layout: Option<Box<AutoLayout>>,
    /// Its place in the parent.
    pub placement: Placement,
    /// Text.
    pub text: Option<Box<Text<'a>>>,
    /// Ties to components.
    pub component: Option<Box<ComponentFacts<'a>>>,
    /// Named styles by what they style (`fill`, `text`, `effect` …).
    pub styles: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Whether someone marked it for export.
    pub exported: bool,
}

impl<'a> Node<'a> {
    /// A layer without anything: shown, opaque, at the origin.
    pub fn blank(kind: Kind) -> Self {
        Self {
            id: Cow::Borrowed(""),
            name: Cow::Borrowed(""),
            kind,
            parent: None,
            end: 0,
            depth: 0,
            visible: true,
            shown: true,
            bounds: Rect::default(),
            render_bounds: None,
            size: Size::default(),
            transform: Affine::IDENTITY,
            opacity: 1.0,
            blend: None,
            fills: Vec::new(),
            stroke: None,
            radii: [0.0; 4],
            effects: Vec::new(),
            mask: None,
            clips: false,
            fill_geometry: Vec::new(),
            stroke_geometry: Vec::new(),
            arc: None,
            boolean_operation: None,
            layout: None,
            placement: Placement::default(),
            text: None,
            component: None,
            styles: Vec::new(),
            exported: false,
        }
    }

    /// Ties to components, where there are any.
    pub fn facts(&self) -> Option<&ComponentFacts<'a>> {
        self.component.as_deref()
    }

    /// The component that this instance shows.
    pub fn component_id(&self) -> Option<&str> {
        self.facts().and_then(|f| f.component_id.as_deref())
    }

    /// Its characters, where it is a text with any.
    pub fn characters(&self) -> Option<&str> {
        self.text.as_deref().map(|t| t.characters.as_ref()).filter(|c| !c.is_empty())
    }
}

/// An entry of an answer's `components` map.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ComponentMeta<'a> {
    /// Publish key; empty where unpublished.
    pub key: Cow<'a, str>,
    /// Name.
    pub name: Cow<'a, str>,
    /// Its set's node id.
    pub set_id: Option<Cow<'a, str>>,
    /// Whether it lives in another file.
    pub remote: bool,
}

/// An entry of an answer's `componentSets` map.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ComponentSetMeta<'a> {
    /// Publish key; empty where unpublished.
    pub key: Cow<'a, str>,
    /// Name.
    pub name: Cow<'a, str>,
}

/// An entry of an answer's `styles` map.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StyleMeta<'a> {
    /// Publish key.
    pub key: Cow<'a, str>,
    /// Name.
    pub name: Cow<'a, str>,
    /// `FILL`, `TEXT`, `EFFECT` or `GRID`.
    pub style_type: Cow<'a, str>,
}

/// Everything that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Document<'a> {
    /// The file's name, where the answer has one.
    pub name: Cow<'a, str>,
    /// All nodes in document order; the first is the root.
    pub nodes: Vec<Node<'a>>,
    /// Components by node id.
    pub components: BTreeMap<Cow<'a, str>, ComponentMeta<'a>>,
    /// Component sets by node id.
    pub component_sets: BTreeMap<Cow<'a, str>, ComponentSetMeta<'a>>,
    /// Styles by id.
    pub styles: BTreeMap<Cow<'a, str>, StyleMeta<'a>>,
    /// What was skipped or mended.
    pub warnings: Warnings,
}

impl<'a> Document<'a> {
    /// The root.
    pub const ROOT: NodeIndex = NodeIndex(0);

    /// The node at an index.
    pub fn node(&self, index: NodeIndex) -> &Node<'a> {
        &self.nodes[index.at()]
    }

    /// The first node with this id; `1-2`, as links have it, stands for `1:2`.
    pub fn find(&self, id: &str) -> Option<NodeIndex> {
        // What has no id can't be asked for.
        if id.is_empty() {
            return None;
        }
        let by = |id: &str| self.nodes.iter().position(|n| n.id == id).map(|i| NodeIndex(i as u32));
        by(id).or_else(|| id.contains('-').then(|| by(&id.replace('-', ":"))).flatten())
    }

    /// Children in document order, bottom first.
    pub fn children(&self, index: NodeIndex) -> Children<'_, 'a> {
        Children { document: self, next: index.0 + 1, end: self.node(index).end }
    }

    /// The node and all its descendants.
    pub fn subtree(&self, index: NodeIndex) -> Range<u32> {
        index.0..self.node(index).end
    }

    /// The nodes above, nearest first.
    pub fn ancestors(&self, index: NodeIndex) -> impl Iterator<Item = NodeIndex> + use<'_, 'a> {
        std::iter::successors(self.node(index).parent, |i| self.node(*i).parent)
    }

    /// What a person would call the screens: shown frames, components, sets and instances that lie on a page or in
    /// sections, in document order; or the root itself where a bare node was read.
    pub fn top_level_frames(&self) -> Vec<NodeIndex> {
        let mut found = Vec::new();
        let mut index = 0;
        while let Some(node) = self.nodes.get(index as usize) {
            if node.kind.is_holder() || node.kind == Kind::Section {
                index += 1;
                continue;
            }
            if node.kind.is_frame_like() || (node.kind == Kind::Group && node.end > index + 1) || index == 0 {
                found.push(NodeIndex(index));
            }
            index = node.end;
        }
        found
    }
}

/// See [`Document::children`].
pub struct Children<'d, 'a> {
    document: &'d Document<'a>,
    next: u32,
    end: u32,
}

impl Iterator for Children<'_, '_> {
    type Item = NodeIndex;

    fn next(&mut self) -> Option<NodeIndex> {
        (self.next < self.end).then(|| {
            let index = NodeIndex(self.next);
            self.next = self.document.node(index).end;
            index
        })
    }
}

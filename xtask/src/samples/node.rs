//! A node as a designer would describe it: what it is, how it looks, how it sits.

use super::paint::{Align, Effect, Effects, Fill, Stroke, Type};
use super::text::{Styled, is_cjk};
use super::vector::Outline;

/// How a side of a node gets its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sizing {
    /// This many pixels.
    Fixed(f64),
    /// As long as its content.
    Hug,
    /// As long as its parent has room for.
    Fill,
}

/// Direction of an auto layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Left to right.
    Row,
    /// Top to bottom.
    Column,
}

/// Alignment on an axis of an auto layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the start.
    Min,
    /// In the middle.
    Center,
    /// At the end.
    Max,
    /// First and last at the ends, the rest evenly between (primary axis only).
    Between,
}

/// An auto layout.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Primary axis.
    pub direction: Direction,
    /// Pixels between children.
    pub gap: f64,
    /// Pixels at the top, right, bottom and left.
    pub padding: [f64; 4],
    /// Alignment on the primary axis.
    pub primary: Place,
    /// Alignment on the counter axis.
    pub counter: Place,
    /// Gap between lines, where children wrap.
    pub wrap: Option<f64>,
}

/// How a node without auto layout holds on to its parent, along one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pin {
    /// At a distance from the start.
    Start(f64),
    /// At a distance from the end.
    End(f64),
    /// In the middle, moved by this.
    Middle(f64),
    /// At distances from both.
    Both(f64, f64),
    /// Start and length as fractions of the parent's length.
    Scale(f64, f64),
}

/// Text, and the runs within that differ.
#[derive(Clone, Debug)]
pub struct Text {
    /// The characters.
    pub characters: String,
    /// Style of what no run covers.
    pub style: Type,
    /// Substrings that look different.
    pub spans: Vec<Span>,
    /// LEFT, CENTER or RIGHT.
    pub align: &'static str,
    /// TOP, CENTER or BOTTOM.
    pub vertical: &'static str,
    /// Lines after which it ends with an ellipsis.
    pub max_lines: Option<usize>,
    /// UNDERLINE or STRIKETHROUGH.
    pub decoration: Option<&'static str>,
}

/// A run of rich text.
#[derive(Clone, Debug)]
pub struct Span {
    /// The substring it applies to, at its first occurrence.
    pub of: String,
    /// Its text style.
    pub style: Type,
    /// Its colour, where it differs.
    pub fill: Option<Fill>,
}

impl Text {
    /// The number of the run (1 and up) that covers each character, or 0.
    pub fn runs(&self) -> Vec<usize> {
        let mut runs = vec![0; self.characters.chars().count()];
        for (number, span) in self.spans.iter().enumerate() {
            if let Some(byte) = self.characters.find(&span.of) {
                let start = self.characters[..byte].chars().count();
                runs[start..start + span.of.chars().count()].fill(number + 1);
            }
        }
        runs
    }

    /// Each character with its style.
    pub fn styled(&self) -> Vec<Styled> {
        let style = |run: usize| if run == 0 { self.style } else { self.spans[run - 1].style };
        self.characters.chars().zip(self.runs()).map(|(character, run)| (character, style(run))).collect()
    }
}

/// What an instance is made of.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// Index of the set in its library.
    pub set: usize,
    /// Index of the variant in its set.
    pub variant: usize,
    /// Id of the component.
    pub component: String,
    /// Name and value of every property.
    pub properties: Vec<(String, Value)>,
    /// What differs from the component, by node id and field.
    pub overrides: Vec<(String, Vec<&'static str>)>,
    /// Paint over all vectors within, for icons.
    pub tint: Option<Fill>,
}

/// The value of a component property.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// One of an axis.
    Variant(String),
    /// A text.
    Text(String),
    /// Whether a layer shows.
    Bool(bool),
    /// The id of the component that stands there.
    Swap(String),
}

/// A field that a component property drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Text.
    Characters,
    /// Visibility.
    Visible,
    /// The component of an instance.
    MainComponent,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A frame, with or without auto layout.
    Frame,
    /// A group: as large as its children.
    Group,
    /// A section of a board.
    Section,
    /// A rectangle.
    Rectangle,
    /// A line: all stroke, no height.
    Line,
    /// An ellipse, or the part of a ring between two angles.
    Ellipse(Option<Arc>),
    /// A vector with its outline.
    Vector(Outline),
    /// Text.
    Text(Text),
    /// A component.
    Component,
    /// A set of components; the number is its index in the library.
    ComponentSet(usize),
    /// An instance of a component.
    Instance(Box<Instance>),
}

/// Part of a ring.
#[derive(Clone, Copy, Debug)]
pub struct Arc {
    /// Radians, clockwise from the right.
    pub start: f64,
    /// Radians.
    pub end: f64,
    /// Inner radius over outer radius.
    pub inner: f64,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Figma's id; empty until assigned.
    pub id: String,
    /// Layer name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Whether it shows.
    pub visible: bool,
    /// Whether it masks the siblings above it.
    pub mask: bool,
    /// Whether it cuts what leaves its box.
    pub clips: bool,
    /// Opacity of the whole.
    pub opacity: f64,
    /// Fills.
    pub fill: Fill,
    /// Stroke.
    pub stroke: Option<Stroke>,
    /// Radii at the top left, top right, bottom right and bottom left.
    pub radii: [f64; 4],
    /// Effects.
    pub effects: Effects,
    /// Degrees, clockwise, around the top left corner.
    pub rotation: f64,
    /// Width.
    pub width: Sizing,
    /// Height.
    pub height: Sizing,
    /// Greatest width, where it hugs or fills.
    pub max_width: Option<f64>,
    /// Auto layout.
    pub flow: Option<Flow>,
    /// Where it sits when no auto layout places it.
    pub pin: Option<(Pin, Pin)>,
    /// Component properties that drive it.
    pub refs: Vec<(Field, String)>,
    /// From back to front.
    pub children: Vec<Node>,
    /// Position in its parent, once laid out.
    pub at: (f64, f64),
    /// Size, once laid out.
    pub size: (f64, f64),
}

fn new(name: &str, kind: Kind, width: Sizing, height: Sizing) -> Node {
    Node {
        id: String::new(),
        name: name.to_owned(),
        kind,
        visible: true,
        mask: false,
        clips: false,
        opacity: 1.0,
        fill: Fill::default(),
        stroke: None,
        radii: [0.0; 4],
        effects: Effects::default(),
        rotation: 0.0,
        width,
        height,
        max_width: None,
        flow: None,
        pin: None,
        refs: Vec::new(),
        children: Vec::new(),
        at: (0.0, 0.0),
        size: (0.0, 0.0),
    }
}

fn flowing(name: &str, direction: Direction) -> Node {
    let mut node = new(name, Kind::Frame, Sizing::Hug, Sizing::Hug);
    let (primary, counter) = (Place::Min, Place::Min);
    node.flow = Some(Flow { direction, gap: 0.0, padding: [0.0; 4], primary, counter, wrap: None });
    node
}

/// A frame that lays its children out left to right.
pub fn row(name: &str) -> Node {
    flowing(name, Direction::Row)
}

/// A frame that lays its children out top to bottom.
pub fn column(name: &str) -> Node {
    flowing(name, Direction::Column)
}

/// A frame whose children are pinned by hand.
pub fn frame(name: &str, width: f64, height: f64) -> Node {
    new(name, Kind::Frame, Sizing::Fixed(width), Sizing::Fixed(height)).clip()
}

/// A section of a board.
pub fn section(name: &str) -> Node {
    new(name, Kind::Section, Sizing::Fixed(0.0), Sizing::Fixed(0.0))
}

/// A group. Children are pinned by `at`.
pub fn group(name: &str, width: f64, height: f64) -> Node {
    new(name, Kind::Group, Sizing::Fixed(width), Sizing::Fixed(height))
}

/// A rectangle.
pub fn rect(name: &str, width: f64, height: f64) -> Node {
    new(name, Kind::Rectangle, Sizing::Fixed(width), Sizing::Fixed(height))
}

/// A horizontal line that fills its parent's width.
pub fn rule(name: &str, fill: impl Into<Fill>, weight: f64) -> Node {
    let node = new(name, Kind::Line, Sizing::Fill, Sizing::Fixed(0.0)).stroke(fill, weight);
    let stroke = node.stroke.map(|stroke| Stroke { align: Align::Center, ..stroke });
    Node { stroke, ..node }
}

/// An ellipse.
pub fn ellipse(name: &str, width: f64, height: f64) -> Node {
    new(name, Kind::Ellipse(None), Sizing::Fixed(width), Sizing::Fixed(height))
}

/// Part of a ring: angles in turns, clockwise from the top.
pub fn ring(name: &str, size: f64, from: f64, to: f64, inner: f64) -> Node {
    let radians = |turns: f64| (turns - 0.25) * std::f64::consts::TAU;
    let arc = Arc { start: radians(from), end: radians(to), inner };
    new(name, Kind::Ellipse(Some(arc)), Sizing::Fixed(size), Sizing::Fixed(size))
}

/// A vector from SVG path data; it sits where its data puts it, and scales with its parent's size.
pub fn vector(name: &str, data: &str, parent: (f64, f64)) -> Node {
    let outline = Outline::new(data);
    let (x, y, width, height) = outline.bounds();
    let outline = outline.moved(-x, -y, 1.0, 1.0);
    let mut node = new(name, Kind::Vector(outline), Sizing::Fixed(width), Sizing::Fixed(height));
    let horizontal = Pin::Scale(x / parent.0, width / parent.0);
    node.pin = Some((horizontal, Pin::Scale(y / parent.1, height / parent.1)));
    node
}

/// Text. The layer is called as given; Japanese text gets the Japanese typeface.
pub fn text(name: &str, style: Type, characters: &str) -> Node {
    let style = if characters.chars().any(is_cjk) { style.japanese() } else { style };
    let text = Text {
        characters: characters.to_owned(),
        style,
        spans: Vec::new(),
        align: "LEFT",
        vertical: "TOP",
        max_lines: None,
        decoration: None,
    };
    new(name, Kind::Text(text), Sizing::Hug, Sizing::Hug)
}

/// An instance without content; `Library::make` fills it.
pub fn bare_instance(name: &str, instance: Instance) -> Node {
    new(name, Kind::Instance(Box::new(instance)), Sizing::Hug, Sizing::Hug)
}

/// A set without content.
pub fn bare_set(name: &str, index: usize) -> Node {
    new(name, Kind::ComponentSet(index), Sizing::Fixed(0.0), Sizing::Fixed(0.0))
}

impl Node {
    /// Appends a child.
    pub fn child(mut self, child: impl Into<Node>) -> Self {
        self.children.push(child.into());
        self
    }

    /// Appends children.
    pub fn children<T: Into<Node>>(mut self, children: impl IntoIterator<Item = T>) -> Self {
        self.children.extend(children.into_iter().map(Into::into));
        self
    }

    /// Paints it.
    pub fn fill(mut self, fill: impl Into<Fill>) -> Self {
        self.fill = fill.into();
        self
    }

    /// Strokes it inside.
    pub fn stroke(mut self, fill: impl Into<Fill>, weight: f64) -> Self {
        let (fill, align) = (fill.into(), Align::Inside);
        self.stroke = Some(Stroke { fill, weight, align, sides: None, dashes: Vec::new(), round: false });
        self
    }

    /// Strokes it on its outline, with round caps and joins.
    pub fn line(mut self, fill: impl Into<Fill>, weight: f64) -> Self {
        let (fill, align) = (fill.into(), Align::Center);
        self.stroke = Some(Stroke { fill, weight, align, sides: None, dashes: Vec::new(), round: true });
        self
    }

    /// Strokes only some sides: top, right, bottom, left.
    pub fn sides(mut self, sides: [f64; 4]) -> Self {
        self.stroke.as_mut().expect("sides belong to a stroke").sides = Some(sides);
        self
    }

    /// Dashes the stroke.
    pub fn dashes(mut self, dashes: &[f64]) -> Self {
        self.stroke.as_mut().expect("dashes belong to a stroke").dashes = dashes.to_vec();
        self
    }

    /// Rounds all corners.
    pub fn radius(mut self, radius: f64) -> Self {
        self.radii = [radius; 4];
        self
    }

    /// Rounds corners: top left, top right, bottom right, bottom left.
    pub fn corners(mut self, radii: [f64; 4]) -> Self {
        self.radii = radii;
        self
    }

    /// Adds an effect.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effects.list.push(effect);
        self
    }

    /// Takes effects from a style.
    pub fn elevation(mut self, effects: &Effects) -> Self {
        self.effects = effects.clone();
        self
    }

    /// Makes it translucent.
    pub fn opacity(mut self, opacity: f64) -> Self {
        self.opacity = opacity;
        self
    }

    /// Cuts what leaves its box.
    pub fn clip(mut self) -> Self {
        self.clips = true;
        self
    }

    /// Hides it.
    pub fn hidden(mut self) -> Self {
        self.visible = false;
        self
    }

    /// Makes it the mask of its group.
    pub fn masking(mut self) -> Self {
        self.mask = true;
        self
    }

    /// Turns it, in degrees clockwise.
    pub fn rotate(mut self, degrees: f64) -> Self {
        self.rotation = degrees;
        self
    }

    fn flow_mut(&mut self) -> &mut Flow {
        self.flow.as_mut().expect("only an auto layout takes this")
    }

    /// Space between children.
    pub fn gap(mut self, gap: f64) -> Self {
        self.flow_mut().gap = gap;
        self
    }

    /// Space inside, vertically and horizontally.
    pub fn pad(self, vertical: f64, horizontal: f64) -> Self {
        self.pads([vertical, horizontal, vertical, horizontal])
    }

    /// Space inside: top, right, bottom, left.
    pub fn pads(mut self, padding: [f64; 4]) -> Self {
        self.flow_mut().padding = padding;
        self
    }

    /// Alignment along the primary and the counter axis.
    pub fn align(mut self, primary: Place, counter: Place) -> Self {
        let flow = self.flow_mut();
        (flow.primary, flow.counter) = (primary, counter);
        self
    }

    /// Centres children on the counter axis.
    pub fn middle(mut self) -> Self {
        self.flow_mut().counter = Place::Center;
        self
    }

    /// Lets children wrap, with a gap between the lines.
    pub fn wrap(mut self, gap: f64) -> Self {
        self.flow_mut().wrap = Some(gap);
        self
    }

    /// Fixes both sides.
    pub fn sized(mut self, width: f64, height: f64) -> Self {
        (self.width, self.height) = (Sizing::Fixed(width), Sizing::Fixed(height));
        self
    }

    /// Fixes the width.
    pub fn wide(mut self, width: f64) -> Self {
        self.width = Sizing::Fixed(width);
        self
    }

    /// Fixes the height.
    pub fn tall(mut self, height: f64) -> Self {
        self.height = Sizing::Fixed(height);
        self
    }

    /// Fills its parent's width.
    pub fn fill_width(mut self) -> Self {
        self.width = Sizing::Fill;
        self
    }

    /// Fills its parent's height.
    pub fn fill_height(mut self) -> Self {
        self.height = Sizing::Fill;
        self
    }

    /// Pins it to its parent's top left corner.
    pub fn at(self, x: f64, y: f64) -> Self {
        self.pin(Pin::Start(x), Pin::Start(y))
    }

    /// Pins it, out of any auto layout.
    pub fn pin(mut self, horizontal: Pin, vertical: Pin) -> Self {
        self.pin = Some((horizontal, vertical));
        self
    }

    /// Drives the text by a property.
    pub fn prop(mut self, name: &str) -> Self {
        self.refs.push((Field::Characters, name.to_owned()));
        self
    }

    /// Drives visibility by a property.
    pub fn shown_by(mut self, name: &str) -> Self {
        self.refs.push((Field::Visible, name.to_owned()));
        self
    }

    /// Drives the component by a property.
    pub fn swapped_by(mut self, name: &str) -> Self {
        self.refs.push((Field::MainComponent, name.to_owned()));
        self
    }

    fn text_mut(&mut self) -> &mut Text {
        let Kind::Text(text) = &mut self.kind else { panic!("{} is no text", self.name) };
        text
    }

    /// Aligns the text: LEFT, CENTER or RIGHT.
    pub fn text_align(mut self, align: &'static str) -> Self {
        self.text_mut().align = align;
        self
    }

    /// Cuts the text after so many lines.
    pub fn lines(mut self, lines: usize) -> Self {
        self.text_mut().max_lines = Some(lines);
        self
    }

    /// Strikes the text through.
    pub fn struck(mut self) -> Self {
        self.text_mut().decoration = Some("STRIKETHROUGH");
        self
    }

    /// Underlines the text.
    pub fn underlined(mut self) -> Self {
        self.text_mut().decoration = Some("UNDERLINE");
        self
    }

    /// Sets a substring in another style and colour.
    pub fn span(mut self, of: &str, style: Type, fill: impl Into<Fill>) -> Self {
        let style =
            if of.chars().any(is_cjk) || self.text_mut().style.family == super::paint::Family::NotoSansJp {
                style.japanese()
            } else {
                style
            };
        let span = Span { of: of.to_owned(), style, fill: Some(fill.into()) };
        self.text_mut().spans.push(span);
        self
    }
}

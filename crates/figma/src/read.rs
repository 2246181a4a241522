//! One pass over the bytes: the parser calls back here, and nodes go straight into the arena.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::error::locate;
use crate::input::strip_mark;
use crate::lenient::{Entries, Fields, Key, Object, Scalar, drain_map, drain_seq, scalars_are_absent};
use crate::raw::{RawMeta, RawNode};
use crate::resolve::{self, RawGeometry};
use crate::{
    ComponentMeta, ComponentSetMeta, Document, Kind, Limits, Node, NodeIndex, ReadError, StyleMeta, Warnings,
};

/// Reads a document of Figma's in one pass, borrowing its strings from `bytes` (see [`crate::decompress`] for gzip).
///
/// Bytes after the JSON are skipped with a warning `trailing_bytes`.
///
/// # Errors
/// See [`ReadError`]; each says where, and what to do.
pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Document<'a>, ReadError> {
    let bytes = strip_mark(bytes);
    if bytes.len() as u64 > limits.bytes {
        return Err(ReadError::TooLarge { bytes: bytes.len() as u64, limit: limits.bytes });
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ReadError::Empty);
    }
    let mut builder = Builder::new(*limits);
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    deserializer.disable_recursion_limit();
    let parsed = Top { builder: &mut builder, inner: false }.deserialize(&mut deserializer);
    let found = parsed.map_err(|error| match builder.exceeded {
        Some(Exceeded::Depth) => {
            ReadError::TooDeep { limit: limits.depth, at: locate(bytes, error.line(), error.column()) }
        }
        Some(Exceeded::Nodes) => {
            ReadError::TooManyNodes { limit: limits.nodes, at: locate(bytes, error.line(), error.column()) }
        }
        None => ReadError::from_json(&error, bytes),
    })?;
    if let Err(error) = deserializer.end() {
        let offset = locate(bytes, error.line(), error.column());
        if let Found::Nothing(what) = found {
            return Err(ReadError::Syntax {
                at: offset,
                reason: format!("{what}, and then more; is this a fragment, its outer brace lost?"),
            });
        }
        builder
            .warnings
            .add("trailing_bytes", None, || format!("bytes after the JSON were skipped, from {offset}"));
    }
    match found {
        Found::Nothing(what) => Err(ReadError::NotFigma { reason: format!("it is {what}, not an object") }),
        Found::ApiError { status, message } => Err(ReadError::ApiError { status, message }),
        Found::Neither => Err(ReadError::NotFigma {
            reason: "it has neither `document` nor `nodes`, and is no node with `type` or `children`"
                .to_owned(),
        }),
        Found::Document => Ok(builder.finish()),
    }
}

#[derive(Clone, Copy)]
enum Exceeded {
    Depth,
    Nodes,
}

/// What the outermost value turned out to be.
enum Found {
    Document,
    ApiError { status: u16, message: String },
    Neither,
    Nothing(&'static str),
}

struct Builder<'de> {
    limits: Limits,
    nodes: Vec<Node<'de>>,
    geometry: Vec<RawGeometry>,
    components: BTreeMap<Cow<'de, str>, ComponentMeta<'de>>,
    component_sets: BTreeMap<Cow<'de, str>, ComponentSetMeta<'de>>,
    styles: BTreeMap<Cow<'de, str>, StyleMeta<'de>>,
    warnings: Warnings,
    exceeded: Option<Exceeded>,
}

impl<'de> Builder<'de> {
    fn new(limits: Limits) -> Self {
        Self {
            limits,
            nodes: Vec::new(),
            geometry: Vec::new(),
            components: BTreeMap::new(),
            component_sets: BTreeMap::new(),
            styles: BTreeMap::new(),
            warnings: Warnings::default(),
            exceeded: None,
        }
    }

    /// Makes room for a node, so that it precedes its children; [`Self::close`] fills it in.
    fn open(&mut self, parent: Option<NodeIndex>, depth: u16) -> Result<NodeIndex, Exceeded> {
        let exceeded = if depth > self.limits.depth {
            Some(Exceeded::Depth)
        } else if self.nodes.len() >= self.limits.nodes as usize {
            Some(Exceeded::Nodes)
        } else {
            None
        };
        if let Some(which) = exceeded {
            self.exceeded = Some(which);
            return Err(which);
        }
        let index = NodeIndex(self.nodes.len() as u32);
        self.nodes.push(Node { parent, depth, ..Node::blank(Kind::Unknown) });
        self.geometry.push(RawGeometry::default());
        Ok(index)
    }

    fn close(&mut self, index: NodeIndex, raw: RawNode<'de>) {
        let end = self.nodes.len() as u32;
        let node = &mut self.nodes[index.at()];
        self.geometry[index.at()] = resolve::fill_in(node, raw, &mut self.warnings);
        node.end = end;
    }

    fn add_components(&mut self, entries: Entries<'de, Object<RawMeta<'de>>>) {
        for (id, Object(meta)) in entries.0 {
            let Some(meta) = meta else { continue };
            self.components.insert(
                id,
                ComponentMeta {
                    key: meta.key.text().unwrap_or_default(),
                    name: meta.name.text().unwrap_or_default(),
                    set_id: meta.set_id.text(),
                    remote: meta.remote.boolean().unwrap_or(false),
                },
            );
        }
    }

    fn add_component_sets(&mut self, entries: Entries<'de, Object<RawMeta<'de>>>) {
        for (id, Object(meta)) in entries.0 {
            let Some(meta) = meta else { continue };
            let (key, name) = (meta.key.text().unwrap_or_default(), meta.name.text().unwrap_or_default());
            self.component_sets.insert(id, ComponentSetMeta { key, name });
        }
    }

    fn add_styles(&mut self, entries: Entries<'de, StyleEntry<'de>>, node: &mut RawNode<'de>) {
        for (id, entry) in entries.0 {
            match entry {
                StyleEntry::Meta(meta) => {
                    let style = StyleMeta {
                        key: meta.key.text().unwrap_or_default(),
                        name: meta.name.text().unwrap_or_default(),
                        style_type: meta.style_type.text().unwrap_or_default(),
                    };
                    self.styles.insert(id, style);
                }
                // A bare node's own `styles`: from what is styled to a style's id.
                StyleEntry::Id(style) => node.styles.0.push((id, Scalar::Text(style))),
                StyleEntry::Other => {}
            }
        }
    }

    fn finish(mut self) -> Document<'de> {
        resolve::resolve(&mut self.nodes, &self.geometry, &mut self.warnings);
        Document {
            name: self.nodes.first().map_or(Cow::Borrowed(""), |root| root.name.clone()),
            nodes: self.nodes,
            components: self.components,
            component_sets: self.component_sets,
            styles: self.styles,
            warnings: self.warnings,
        }
    }
}

/// The outermost object: an envelope or a bare node, which of the two shows as its keys arrive.
struct Top<'b, 'de> {
    builder: &'b mut Builder<'de>,
    /// Whether this is an envelope within an envelope, as an entry of `nodes` is.
    inner: bool,
}

impl<'de> DeserializeSeed<'de> for Top<'_, 'de> {
    type Value = Found;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Found, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Top<'_, 'de> {
    type Value = Found;
    scalars_are_absent!(Found::Nothing("a single value"));

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Found, A::Error> {
        drain_seq(seq).map(|()| Found::Nothing("an array"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        let Self { builder, inner } = self;
        let mut raw = RawNode::default();
        let (mut envelope, mut bare) = (inner, false);
        let (mut status, mut message, mut failed) = (0_u16, None, false);
        let root = if inner {
            Document::ROOT
        } else {
            builder.open(None, 0).map_err(|_| A::Error::custom("no room for the root"))?
        };
        while let Some(Key(key)) = map.next_key()? {
            match &*key {
                "document" => {
                    envelope = true;
                    map.next_value_seed(NodeSeed { builder, parent: root, depth: 1 })?;
                }
                "nodes" if !inner => {
                    envelope = true;
                    map.next_value_seed(NodesSeed { builder })?;
                }
                // Some plugins put the whole answer one level down.
                "info" if !inner => {
                    let found = map.next_value_seed(Top { builder, inner: true })?;
                    envelope |= matches!(found, Found::Document) && builder.nodes.len() > 1;
                }
                "components" => {
                    let entries = map.next_value()?;
                    builder.add_components(entries);
                }
                "componentSets" => {
                    let entries = map.next_value()?;
                    builder.add_component_sets(entries);
                }
                "styles" => {
                    let entries = map.next_value()?;
                    builder.add_styles(entries, &mut raw);
                }
                "children" if !inner => {
                    // A repeated key replaces, as it does in JavaScript.
                    if bare && !envelope {
                        builder.nodes.truncate(1);
                        builder.geometry.truncate(1);
                    }
                    bare = true;
                    map.next_value_seed(ChildrenSeed { builder, parent: root, depth: 1 })?;
                }
                "status" => status = map.next_value::<Scalar<'de>>()?.number().unwrap_or(0.0) as u16,
                "err" | "error" => match map.next_value::<Scalar<'de>>()? {
                    Scalar::Text(text) => {
                        failed = true;
                        message = Some(text.into_owned());
                    }
                    Scalar::Bool(true) => failed = true,
                    _ => {}
                },
                "message" => {
                    message = map.next_value::<Scalar<'de>>()?.text().map(Cow::into_owned).or(message);
                }
                other => {
                    bare |= other == "type";
                    if !raw.field(other, &mut map)? {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
            }
        }
        if inner {
            return Ok(Found::Document);
        }
        if failed && builder.nodes.len() == 1 {
            return Ok(Found::ApiError {
                status,
                message: message.unwrap_or_else(|| "no message".to_owned()),
            });
        }
        if !envelope && !bare {
            return Ok(Found::Neither);
        }
        if envelope {
            // The file's name stays; everything else on the envelope is not a node's.
            raw = RawNode { name: raw.name, kind: Scalar::Text("ENVELOPE".into()), ..RawNode::default() };
        }
        builder.close(root, raw);
        Ok(Found::Document)
    }
}

/// A value in a `styles` object: an answer's map has objects, a node's has ids.
enum StyleEntry<'de> {
    Meta(RawMeta<'de>),
    Id(Cow<'de, str>),
    Other,
}

impl<'de> Deserialize<'de> for StyleEntry<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;
        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = StyleEntry<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON value")
            }
            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(StyleEntry::Other)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                Ok(StyleEntry::Other)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                Ok(StyleEntry::Other)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                Ok(StyleEntry::Other)
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(StyleEntry::Other)
            }
            fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
                Ok(StyleEntry::Id(Cow::Borrowed(value)))
            }
            fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
                Ok(StyleEntry::Id(Cow::Owned(value.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                drain_seq(seq).map(|()| StyleEntry::Other)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut meta = RawMeta::default();
                crate::lenient::fill(&mut meta, &mut map)?;
                Ok(StyleEntry::Meta(meta))
            }
        }
        deserializer.deserialize_any(EntryVisitor)
    }
}

/// The `nodes` object of a nodes answer: ids to envelopes; `null` for a node that is not there.
struct NodesSeed<'b, 'de> {
    builder: &'b mut Builder<'de>,
}

impl<'de> DeserializeSeed<'de> for NodesSeed<'_, 'de> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodesSeed<'_, 'de> {
    type Value = ();
    scalars_are_absent!(());

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        drain_seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(id)) = map.next_key()? {
            let found = map.next_value_seed(Top { builder: self.builder, inner: true })?;
            if matches!(found, Found::Nothing(_)) {
                self.builder
                    .warnings
                    .add("missing_node", Some(&id), || format!("the answer says that there is no node {id}"));
            }
        }
        Ok(())
    }
}

/// One node and what is below it.
struct NodeSeed<'b, 'de> {
    builder: &'b mut Builder<'de>,
    parent: NodeIndex,
    depth: u16,
}

impl<'de> DeserializeSeed<'de> for NodeSeed<'_, 'de> {
    type Value = bool;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        // 128 KiB are more than one layer takes in a debug build, and a MiB lasts for the next few.
        stacker::maybe_grow(128 << 10, 1 << 20, || deserializer.deserialize_any(self))
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_, 'de> {
    /// Whether the value was a node.
    type Value = bool;
    scalars_are_absent!(false);

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<bool, A::Error> {
        drain_seq(seq).map(|()| false)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let Self { builder, parent, depth } = self;
        let index = builder
            .open(Some(parent), depth)
            .map_err(|_| A::Error::custom("beyond the limits for layers"))?;
        let mut raw = RawNode::default();
        while let Some(Key(key)) = map.next_key()? {
            if key == "children" {
                // A repeated key replaces, as it does in JavaScript.
                builder.nodes.truncate(index.at() + 1);
                builder.geometry.truncate(index.at() + 1);
                map.next_value_seed(ChildrenSeed { builder, parent: index, depth: depth + 1 })?;
            } else if !raw.field(&key, &mut map)? {
                map.next_value::<IgnoredAny>()?;
            }
        }
        builder.close(index, raw);
        Ok(true)
    }
}

/// A `children` array.
struct ChildrenSeed<'b, 'de> {
    builder: &'b mut Builder<'de>,
    parent: NodeIndex,
    depth: u16,
}

impl<'de> DeserializeSeed<'de> for ChildrenSeed<'_, 'de> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ChildrenSeed<'_, 'de> {
    type Value = ();
    scalars_are_absent!(());

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self { builder, parent, depth } = self;
        while let Some(was_node) = seq.next_element_seed(NodeSeed { builder, parent, depth })? {
            if !was_node {
                builder.warnings.add("child_not_a_node", None, || {
                    "an entry of `children` is not an object: skipped".to_owned()
                });
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        drain_map(map)
    }
}

impl Kind {
    /// From Figma's name; [`Kind::Unknown`] for any other.
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "ENVELOPE" => Self::Envelope,
            "DOCUMENT" => Self::Document,
            "CANVAS" | "PAGE" => Self::Canvas,
            "SECTION" => Self::Section,
            "FRAME" => Self::Frame,
            "GROUP" | "TRANSFORM_GROUP" => Self::Group,
            "COMPONENT" => Self::Component,
            "COMPONENT_SET" => Self::ComponentSet,
            "INSTANCE" => Self::Instance,
            "SLOT" => Self::Slot,
            "TEXT" | "TEXT_PATH" => Self::Text,
            "RECTANGLE" => Self::Rectangle,
            "ELLIPSE" => Self::Ellipse,
            "LINE" => Self::Line,
            "VECTOR" => Self::Vector,
            "STAR" => Self::Star,
            "REGULAR_POLYGON" | "POLYGON" => Self::Polygon,
            "BOOLEAN_OPERATION" => Self::BooleanOperation,
            "SLICE" => Self::Slice,
            _ => Self::Unknown,
        }
    }
}

//! The wireframe that a conversion makes: a flat list of nodes in painting order, each naming its parent and the
//! source nodes that it stands for.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::library::{Extent, Place};

/// Schema of [`Document`].
pub const WIREFRAME_SCHEMA: &str = "heddle.wireframe/v1";

/// A grey, 0 (black) ..= 255 (white).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Tone(pub u8);

/// A text written into a slot of an instance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlotWrite {
    /// The slot's layer path.
    pub path: Vec<String>,
    /// What is written.
    pub characters: String,
    /// The source texts that it stands for.
    pub source_ids: Vec<String>,
    /// The component property that drives the slot, where one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// The boolean properties to switch on first, where the slot is hidden by default.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub visibility: Vec<String>,
}

/// Artwork of the source put where the instance has an icon.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IconWrite {
    /// The icon's layer path.
    pub path: Vec<String>,
    /// The source graphic.
    pub source_id: String,
}

/// A kit component in place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KitInstance {
    /// The row that was chosen.
    pub row: String,
    /// Its entry's `_id`.
    pub entry_id: String,
    /// Its name, for display.
    pub name: String,
    /// Publish key of the set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component_key: Option<String>,
    /// The node to instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component_node_id: Option<String>,
    /// The library file that the row comes from, by hash.
    pub source_hash: String,
    /// Value by axis.
    pub variant_props: BTreeMap<String, String>,
    /// Texts to write.
    pub texts: Vec<SlotWrite>,
    /// Slots to empty, so that no placeholder stays.
    pub cleared: Vec<Vec<String>>,
    /// Icons to replace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<IconWrite>,
    /// How well it fits, 0..=1.
    pub fit: f64,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NodeKind {
    /// A container.
    Frame {
        /// Its fill.
        #[serde(skip_serializing_if = "Option::is_none")]
        fill: Option<Tone>,
        /// Its outline.
        #[serde(skip_serializing_if = "Option::is_none")]
        stroke: Option<Tone>,
        /// Corner radii.
        #[serde(skip_serializing_if = "no_radii")]
        radii: [f64; 4],
        /// Whether it clips.
        clips: bool,
        /// Auto layout, as in the source.
        #[serde(skip_serializing_if = "Option::is_none")]
        layout: Option<Layout>,
    },
    /// A painted box without content.
    Box {
        /// Its fill.
        #[serde(skip_serializing_if = "Option::is_none")]
        fill: Option<Tone>,
        /// Its outline.
        #[serde(skip_serializing_if = "Option::is_none")]
        stroke: Option<Tone>,
        /// Corner radii.
        #[serde(skip_serializing_if = "no_radii")]
        radii: [f64; 4],
    },
    /// A text outside of any component.
    Text {
        /// What it says, verbatim.
        characters: String,
        /// Font size in pixels.
        font_size: f64,
        /// Weight, 100..=900.
        font_weight: u16,
        /// Line height in pixels, where it is fixed.
        #[serde(skip_serializing_if = "Option::is_none")]
        line_height: Option<f64>,
        /// `left`, `center`, `right` or `justified`.
        align: &'static str,
        /// Its colour.
        tone: Tone,
    },
    /// A kit component.
    Instance(KitInstance),
    /// A placeholder for pixels.
    Image {
        /// Corner radii.
        #[serde(skip_serializing_if = "no_radii")]
        radii: [f64; 4],
    },
    /// Artwork kept as it is drawn, in ink.
    Graphic {
        /// The source graphic.
        source_id: String,
        /// Its colour.
        tone: Tone,
    },
    /// A placeholder for artwork.
    Ink {
        /// Its colour.
        tone: Tone,
    },
    /// A line between things.
    Divider {
        /// Its colour.
        tone: Tone,
    },
}

fn no_radii(radii: &[f64; 4]) -> bool {
    radii.iter().all(|r| *r <= 0.0)
}

/// Auto layout of a frame.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Layout {
    /// `horizontal`, `vertical` or `grid`.
    pub axis: &'static str,
    /// Whether children wrap.
    pub wrap: bool,
    /// Space between children.
    pub spacing: f64,
    /// Space between rows.
    pub counter_spacing: f64,
    /// Padding: top, right, bottom, left.
    pub padding: [f64; 4],
}

/// One node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Node {
    /// `wf:` and the source node's id.
    pub id: String,
    /// The parent's id; none for the root alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The parent's place in the list.
    #[serde(skip)]
    pub parent_at: Option<usize>,
    /// The source layer's name, verbatim.
    pub name: String,
    /// The Figma node ids that it stands for.
    pub source_ids: Vec<String>,
    /// Its box, from the frame's top left corner.
    #[serde(rename = "box")]
    pub place: Place,
    /// Taken out of the parent's auto layout.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub absolute: bool,
    /// What it is.
    #[serde(flatten)]
    pub kind: NodeKind,
}

/// What the wireframe has, counted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Summary {
    /// All nodes.
    pub nodes: usize,
    /// Kit components.
    pub instances: usize,
    /// Texts, in slots or free.
    pub texts: usize,
    /// Image placeholders.
    pub images: usize,
    /// Artwork kept.
    pub graphics: usize,
    /// Kit components by name.
    pub components: BTreeMap<String, usize>,
}

/// A wireframe as it is stored (`WireframeDoc`).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    /// `{project_id}_{figma_file_key}_{node_id}~des2wf` (D4); set by who stores it.
    #[serde(rename = "_id")]
    pub id: String,
    /// [`WIREFRAME_SCHEMA`].
    pub schema: &'static str,
    /// 1: made from a design (D5).
    pub based_on: u8,
    /// 0: a page.
    #[serde(rename = "type")]
    pub page_type: u8,
    /// Nobody has annotated it yet.
    pub memos: [(); 0],
    /// The frame's name.
    pub name: String,
    /// The source frame.
    pub source_node_id: String,
    /// The frame's size.
    pub size: Extent,
    /// Counts.
    pub summary: Summary,
    /// Nodes in painting order, parents first.
    pub nodes: Vec<Node>,
    /// Ids of what says or shows something, in reading order.
    pub reading_order: Vec<String>,
}

impl Document {
    /// Counts what is there.
    pub fn summarise(&mut self) {
        let mut summary = Summary { nodes: self.nodes.len(), ..Summary::default() };
        for node in &self.nodes {
            match &node.kind {
                NodeKind::Instance(instance) => {
                    summary.instances += 1;
                    summary.texts += instance.texts.len();
                    summary.graphics += instance.icons.len();
                    *summary.components.entry(instance.name.clone()).or_default() += 1;
                }
                NodeKind::Text { .. } => summary.texts += 1,
                NodeKind::Image { .. } => summary.images += 1,
                NodeKind::Graphic { .. } => summary.graphics += 1,
                _ => {}
            }
        }
        self.summary = summary;
    }
}

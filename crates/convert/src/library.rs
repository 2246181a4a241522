//! The registry's documents: one per component or set, as the sweep writes them and selection reads them (D7).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the shape of [`Entry`].
pub const INDEX_SCHEMA_VERSION: u32 = 1;
/// Version of what the sweep makes of a file; entries of an older one are stale.
pub const PROCESSOR_VERSION: &str = "sweep@1.0";

/// A width and a height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extent {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// A box in its master, from the master's top left corner.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// A text layer that can be written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextSlot {
    /// Layer names from the master down. A name that an earlier sibling has too gets `[2]`, `[3]` …
    pub path: Vec<String>,
    /// What the master says there.
    #[serde(default)]
    pub default: String,
    /// Where it lies in the master.
    #[serde(default)]
    pub place: Place,
    /// Font size in pixels.
    #[serde(default)]
    pub font_size: f64,
    /// Whether the master shows it as it stands.
    #[serde(default = "yes")]
    pub shown: bool,
    /// The property that drives the text, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// The boolean properties to switch on so that a text here is seen: one for each hidden layer from the master
    /// down. Empty where it is shown as it stands, and where no property can show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visibility: Vec<String>,
}

fn yes() -> bool {
    true
}

impl TextSlot {
    /// Whether a text written here can be seen.
    pub fn usable(&self) -> bool {
        self.shown || !self.visibility.is_empty()
    }
}

/// An instance within a master.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nested {
    /// Layer names from the master down, as in [`TextSlot::path`].
    pub path: Vec<String>,
    /// The component's node id.
    #[serde(default)]
    pub component_id: String,
    /// The set's name, else the component's, else the layer's.
    #[serde(default)]
    pub name: String,
    /// Where it lies in the master.
    #[serde(default)]
    pub place: Place,
}

/// One variant: the unit that can be selected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Node id of the variant's component.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub node_id: String,
    /// Publish key of the variant's component.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub component_key: String,
    /// Value by axis.
    #[serde(default)]
    pub variant_props: BTreeMap<String, String>,
    /// Size of the master.
    #[serde(default)]
    pub size: Extent,
    /// Its text layers.
    #[serde(default)]
    pub text_slots: Vec<TextSlot>,
    /// The instances within it.
    #[serde(default)]
    pub nested_components: Vec<Nested>,
}

/// Where an entry comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lineage {
    /// Figma's key of the library file.
    #[serde(default)]
    pub source_file: String,
    /// SHA-256 of the library file's bytes, in hex.
    #[serde(default)]
    pub source_hash: String,
    /// [`PROCESSOR_VERSION`] of the sweep.
    #[serde(default)]
    pub processor_version: String,
    /// [`INDEX_SCHEMA_VERSION`] of the sweep.
    #[serde(default)]
    pub index_schema_version: u32,
}

impl Entry {
    /// Reads an entry from a document.
    ///
    /// # Errors
    /// Where a field has another type than [`Entry`] says.
    pub fn read(document: &Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(document)
    }

    /// Variant values that more than one variant claims: none of those can be told from the others (F16).
    pub fn conflicts(&self) -> BTreeSet<&BTreeMap<String, String>> {
        let mut seen = BTreeSet::new();
        let claimed = self.variants.iter().map(|v| &v.variant_props).filter(|props| !props.is_empty());
        claimed.filter(|props| !seen.insert(*props)).collect()
    }
}

/// One registry document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Document id: by publish key for a kit, by node for a design system (D6).
    #[serde(rename = "_id")]
    pub id: String,
    /// The project that it is registered for.
    #[serde(default)]
    pub project_id: i64,
    /// Display only; no identity.
    #[serde(default)]
    pub name: String,
    /// The board that it was swept from; never matched against a design layer's name.
    #[serde(default)]
    pub family: String,
    /// Publish key of the set, or of the component that stands alone.
    #[serde(default)]
    pub component_key: Option<String>,
    /// Node id of the set, or of the component that stands alone.
    #[serde(default)]
    pub component_node_id: Option<String>,
    /// Values by axis.
    #[serde(default)]
    pub variant_properties: BTreeMap<String, Vec<String>>,
    /// The value that each axis falls back to.
    #[serde(default)]
    pub variant_defaults: BTreeMap<String, String>,
    /// The selectable rows.
    #[serde(default)]
    pub variants: Vec<Variant>,
    /// Slots of the default; read only where `variants` is empty.
    #[serde(default)]
    pub text_slots: Vec<TextSlot>,
    /// Size of the default; read only where `variants` is empty.
    #[serde(default)]
    pub default_size: Extent,
    /// Where it comes from.
    #[serde(default)]
    pub lineage: Lineage,
}

/// Names of design components, from the design registry, by publish key and by node id.
#[derive(Debug, Clone, Default)]
pub struct DesignNames(HashMap<String, String>);

impl DesignNames {
    /// From the registry's entries.
    pub fn from_entries(entries: &[Entry]) -> Self {
        let mut names = HashMap::new();
        for entry in entries {
            let own = entry.component_key.iter().chain(&entry.component_node_id);
            let variants = entry.variants.iter().flat_map(|v| [&v.component_key, &v.node_id]);
            for id in own.chain(variants).filter(|id| !id.is_empty()) {
                names.insert(id.clone(), entry.name.clone());
            }
        }
        Self(names)
    }

    /// The name of the component with this key or node id.
    pub fn get(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }
}

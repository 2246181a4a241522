//! The registered kit, read back for selection: one [`Row`] per variant (D7).

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::lexicon::{Archetype, archetype_of, words};
use crate::library::{Entry, Extent, INDEX_SCHEMA_VERSION, Nested, PROCESSOR_VERSION, TextSlot};
use crate::reading::sort_for_reading;

/// What selection votes for and results resolve by: one variant of one entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Unique among all rows: the entry's `_id`, then `#`, then the variant's node id, key or values.
    pub key: String,
    /// The entry's `_id`: shared by every variant of a set, so never voted for.
    pub entry_id: String,
    /// Display only.
    pub name: String,
    /// Publish key of the set.
    pub component_key: Option<String>,
    /// The node that can be instanced.
    pub component_node_id: Option<String>,
    /// Value by axis.
    pub variant_props: BTreeMap<String, String>,
    /// Size of the master.
    pub size: Extent,
    /// Slots that can be written, one per distinct layer path.
    pub slots: Vec<TextSlot>,
    /// The instances within it.
    pub nested: Vec<Nested>,
    /// What its name says that it is.
    pub archetype: Option<Archetype>,
    /// Words of its name.
    pub words: Vec<String>,
    /// Whether it is the entry's default variant.
    pub is_default: bool,
    /// SHA-256 of the library file that it comes from, in hex.
    pub source_hash: String,
}

impl Row {
    /// How many texts it can take: distinct layer paths, never declarations.
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// The icons within it that are drawn when these layers are hidden, in reading order; an icon within an icon
    /// belongs to the outer one.
    pub fn icons(&self, hidden: &[Vec<String>]) -> Vec<&Nested> {
        let is_icon = |n: &&Nested| {
            let small = n.place.width <= 48.0 && n.place.height <= 48.0;
            small && archetype_of(&n.name).is_some_and(Archetype::is_artwork)
        };
        let mut icons: Vec<&Nested> = Vec::new();
        for icon in self.nested.iter().filter(is_icon) {
            let within = |path: &Vec<String>| icon.path.starts_with(path);
            if !hidden.iter().any(within) && !icons.iter().any(|outer| within(&outer.path)) {
                icons.push(icon);
            }
        }
        sort_for_reading(&mut icons, |icon| icon.place);
        icons
    }
}

/// The setup view: what the registered kit has (D7).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Summary {
    /// Documents read.
    pub entries: usize,
    /// Selectable rows.
    pub rows: usize,
    /// Entries with a node id; without one nothing can be instanced.
    pub with_node_id: usize,
    /// Entries with a publish key.
    pub with_publish_key: usize,
    /// Entries with variant axes.
    pub with_variant_axes: usize,
    /// Entries with text slots.
    pub with_text_slots: usize,
    /// Entries dropped because they have neither key nor node id.
    pub unreachable: usize,
    /// Variants dropped because others claim the same values.
    pub conflicting: usize,
    /// Variants dropped because the set does not enumerate one of their values.
    pub unenumerated: usize,
    /// Entries of an older sweep or index schema.
    pub stale: usize,
    /// Documents that could not be read as an entry.
    pub unreadable: usize,
}

/// The rows that a run may choose from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Kit {
    /// By key.
    pub rows: Vec<Row>,
    /// What was read and dropped.
    pub summary: Summary,
}

impl Kit {
    /// Reads the documents of a collection. What can't be used is counted, never guessed at.
    pub fn load(documents: &[Value]) -> Self {
        let mut kit = Self::default();
        for document in documents {
            match Entry::read(document) {
                Ok(entry) => kit.add(&entry),
                Err(_) => kit.summary.unreadable += 1,
            }
            kit.summary.entries += 1;
        }
        kit.finish()
    }

    /// From a sweep's entries.
    pub fn from_entries(entries: &[Entry]) -> Self {
        let mut kit = Self::default();
        for entry in entries {
            kit.add(entry);
            kit.summary.entries += 1;
        }
        kit.finish()
    }

    fn finish(mut self) -> Self {
        self.rows.sort_by(|a, b| a.key.cmp(&b.key));
        self.rows.dedup_by(|a, b| a.key == b.key);
        self.summary.rows = self.rows.len();
        self
    }

    fn add(&mut self, entry: &Entry) {
        let summary = &mut self.summary;
        let set_node = entry.component_node_id.clone().filter(|id| !id.is_empty());
        let set_key = entry.component_key.clone().filter(|key| !key.is_empty());
        summary.with_node_id += usize::from(set_node.is_some());
        summary.with_publish_key += usize::from(set_key.is_some());
        summary.with_variant_axes += usize::from(!entry.variant_properties.is_empty());
        let has_slots =
            !entry.text_slots.is_empty() || entry.variants.iter().any(|v| !v.text_slots.is_empty());
        summary.with_text_slots += usize::from(has_slots);
        let lineage = &entry.lineage;
        let stale = lineage.index_schema_version != INDEX_SCHEMA_VERSION
            || lineage.processor_version != PROCESSOR_VERSION;
        summary.stale += usize::from(stale);
        if set_node.is_none() && set_key.is_none() {
            summary.unreachable += 1;
            return;
        }
        let archetype = archetype_of(&entry.name);
        let words = words(&entry.name);
        let row =
            |suffix: &str, node: Option<String>, props: BTreeMap<String, String>, size, slots, nested| Row {
                key: format!("{}#{suffix}", entry.id),
                entry_id: entry.id.clone(),
                name: entry.name.clone(),
                component_key: set_key.clone(),
                component_node_id: node,
                is_default: props == entry.variant_defaults,
                variant_props: props,
                size,
                slots: distinct(slots),
                nested,
                archetype,
                words: words.clone(),
                source_hash: entry.lineage.source_hash.clone(),
            };
        if entry.variants.is_empty() {
            let slots = entry.text_slots.clone();
            let only = row("", set_node, BTreeMap::new(), entry.default_size, slots, Vec::new());
            self.rows.push(only);
            return;
        }
        let conflicts = entry.conflicts();
        for variant in entry.variants.iter().cloned() {
            if conflicts.contains(&variant.variant_props) {
                self.summary.conflicting += 1;
                continue;
            }
            // Figma would refuse a value that the set doesn't know.
            let known = |(axis, value): (&String, &String)| {
                entry.variant_properties.get(axis).is_some_and(|values| values.contains(value))
            };
            if !entry.variant_properties.is_empty() && !variant.variant_props.iter().all(known) {
                self.summary.unenumerated += 1;
                continue;
            }
            let values = || {
                let pairs: Vec<String> =
                    variant.variant_props.iter().map(|(k, v)| format!("{k}={v}")).collect();
                pairs.join(",")
            };
            let suffix = match (variant.node_id.as_str(), variant.component_key.as_str()) {
                ("", "") => values(),
                ("", key) => key.to_owned(),
                (node, _) => node.to_owned(),
            };
            // A set can't be instanced, its variant can; a variant that names no node is reached through the set.
            let node = Some(variant.node_id.clone()).filter(|id| !id.is_empty()).or_else(|| set_node.clone());
            let props = variant.variant_props;
            let made = row(&suffix, node, props, variant.size, variant.text_slots, variant.nested_components);
            self.rows.push(made);
        }
    }
}

/// One slot per layer path: a second write to one path would lose the first string.
fn distinct(slots: Vec<TextSlot>) -> Vec<TextSlot> {
    let mut seen = BTreeSet::new();
    slots.into_iter().filter(|slot| slot.usable() && seen.insert(slot.path.clone())).collect()
}

//! From a library file to the registry's documents (D6, D7).

use std::collections::{BTreeMap, HashMap};

use heddle_figma::{ComponentFacts, Document, Kind, NodeIndex, PropertyValue, Rect, Warnings};

use crate::library::{
    Entry, Extent, INDEX_SCHEMA_VERSION, Lineage, Nested, PROCESSOR_VERSION, Place, TextSlot, Variant,
};

/// What a sweep made of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// The documents, by id.
    pub entries: Vec<Entry>,
    /// What was skipped or is odd.
    pub warnings: Warnings,
}

/// The file that a sweep is of.
#[derive(Debug, Clone, Copy)]
pub struct LibraryFile<'f> {
    /// The project that it is registered for.
    pub project_id: i64,
    /// Figma's key of the file.
    pub file_key: &'f str,
    /// SHA-256 of its bytes, in hex.
    pub source_hash: &'f str,
}

/// Sweeps every component set, and every component outside of one, at any depth (F31). `identity` gives an entry its
/// `_id`: the rule differs between the kit and the design system.
pub fn sweep(document: &Document<'_>, file: LibraryFile<'_>, identity: &dyn Fn(&Entry) -> String) -> Sweep {
    let mut warnings = document.warnings.clone();
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    let mut index = 0;
    while (index as usize) < document.nodes.len() {
        let at = NodeIndex(index);
        let node = document.node(at);
        match node.kind {
            Kind::ComponentSet | Kind::Component => {
                let mut entry = entry(document, at);
                entry.project_id = file.project_id;
                for conflict in entry.conflicts() {
                    warnings.add("conflicting_variants", Some(&node.id), || {
                        let name = &node.name;
                        format!(
                            "{name:?} has more than one variant {conflict:?}: none of them can be selected"
                        )
                    });
                }
                entry.id = identity(&entry);
                entry.lineage = Lineage {
                    source_file: file.file_key.to_owned(),
                    source_hash: file.source_hash.to_owned(),
                    processor_version: PROCESSOR_VERSION.to_owned(),
                    index_schema_version: INDEX_SCHEMA_VERSION,
                };
                if let Some(before) = entries.insert(entry.id.clone(), entry) {
                    warnings.add("duplicate_entry", before.component_node_id.as_deref(), || {
                        format!(
                            "{:?} shares its publish key with another: the later one is registered",
                            before.name
                        )
                    });
                }
                index = node.end;
            }
            Kind::Instance => index = node.end,
            _ => index += 1,
        }
    }
    if entries.is_empty() {
        warnings.add("no_components", None, || "the file has no components to register".to_owned());
    }
    Sweep { entries: entries.into_values().collect(), warnings }
}

fn filled(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn entry(document: &Document<'_>, at: NodeIndex) -> Entry {
    let node = document.node(at);
    let is_set = node.kind == Kind::ComponentSet;
    let (key, name) = if is_set {
        let meta = document.component_sets.get(&node.id);
        (meta.map(|m| m.key.as_ref()), meta.map(|m| m.name.as_ref()))
    } else {
        let meta = document.components.get(&node.id);
        (meta.map(|m| m.key.as_ref()), meta.map(|m| m.name.as_ref()))
    };
    let masters: Vec<NodeIndex> = if is_set {
        document.children(at).filter(|c| document.node(*c).kind == Kind::Component).collect()
    } else {
        vec![at]
    };
    let definitions = node.facts();
    let mut axes = axes(definitions);
    let mut variants: Vec<Variant> = Vec::new();
    for master in &masters {
        let mut variant = variant(document, *master);
        if is_set {
            let known: Vec<&str> = axes.keys().map(String::as_str).collect();
            variant.variant_props = variant_props(&document.node(*master).name, &known);
        }
        variants.push(variant);
    }
    if axes.is_empty() {
        for variant in &variants {
            for (axis, value) in &variant.variant_props {
                let values: &mut Vec<String> = axes.entry(axis.clone()).or_default();
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
        }
    }
    let mut defaults: BTreeMap<String, String> = BTreeMap::new();
    for definition in definitions.map(|d| d.definitions.as_slice()).unwrap_or_default() {
        if let PropertyValue::Variant(value) = &definition.default {
            defaults.insert(definition.key.to_string(), value.to_string());
        }
    }
    if defaults.is_empty()
        && let Some(first) = variants.first()
    {
        defaults.clone_from(&first.variant_props);
    }
    let default = variants.iter().find(|v| v.variant_props == defaults).or(variants.first());
    let (text_slots, default_size) =
        default.map_or_else(Default::default, |v| (v.text_slots.clone(), v.size));
    Entry {
        id: String::new(),
        project_id: 0,
        name: name.filter(|n| !n.is_empty()).unwrap_or(&node.name).to_owned(),
        family: family(document, at),
        component_key: key.and_then(filled),
        component_node_id: filled(&node.id),
        variant_properties: axes,
        variant_defaults: defaults,
        variants,
        text_slots,
        default_size,
        lineage: Lineage::default(),
    }
}

/// The nearest section above, else the top-level frame, else the page.
fn family(document: &Document<'_>, at: NodeIndex) -> String {
    let mut name = String::new();
    for above in document.ancestors(at) {
        let node = document.node(above);
        match node.kind {
            Kind::Section => return node.name.to_string(),
            Kind::Canvas if name.is_empty() => return node.name.to_string(),
            Kind::Canvas | Kind::Document | Kind::Envelope => return name,
            _ => name = node.name.to_string(),
        }
    }
    name
}

fn axes(definitions: Option<&ComponentFacts<'_>>) -> BTreeMap<String, Vec<String>> {
    let definitions = definitions.map(|d| d.definitions.as_slice()).unwrap_or_default();
    definitions
        .iter()
        .filter(|d| matches!(d.default, PropertyValue::Variant(_)))
        .map(|d| (d.key.to_string(), d.options.iter().map(ToString::to_string).collect()))
        .collect()
}

/// `Size=sm, State=on` by axis. Where the axes are known, values may hold commas and equals signs.
pub(crate) fn variant_props(name: &str, known: &[&str]) -> BTreeMap<String, String> {
    let mut starts: Vec<(usize, &str)> = known
        .iter()
        .filter_map(|axis| {
            let at = name.match_indices(axis).map(|(at, _)| at).find(|at| {
                let opens = *at == 0 || name[..*at].trim_end().ends_with(',');
                opens && name[at + axis.len()..].trim_start().starts_with('=')
            })?;
            Some((at, *axis))
        })
        .collect();
    starts.sort_unstable();
    if starts.is_empty() {
        return name
            .split(',')
            .filter_map(|part| part.split_once('='))
            .map(|(axis, value)| (axis.trim().to_owned(), value.trim().to_owned()))
            .collect();
    }
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([name.len()]);
    starts
        .iter()
        .zip(ends)
        .filter_map(|((at, axis), end)| {
            let value = name[at + axis.len()..end].trim_start().strip_prefix('=')?;
            Some(((*axis).to_owned(), value.trim().trim_end_matches(',').trim().to_owned()))
        })
        .collect()
}

fn variant(document: &Document<'_>, master: NodeIndex) -> Variant {
    let node = document.node(master);
    let (text_slots, nested_components) = layers(document, master);
    Variant {
        node_id: node.id.to_string(),
        component_key: document.components.get(&node.id).map(|m| m.key.to_string()).unwrap_or_default(),
        variant_props: BTreeMap::new(),
        size: Extent { width: node.size.width, height: node.size.height },
        text_slots,
        nested_components,
    }
}

/// Path of each node below `master`, with ordinals where siblings share a name (F26).
pub(crate) fn paths(document: &Document<'_>, master: NodeIndex) -> HashMap<NodeIndex, Vec<String>> {
    let mut paths: HashMap<NodeIndex, Vec<String>> = HashMap::from([(master, Vec::new())]);
    let mut taken: HashMap<(NodeIndex, String), u32> = HashMap::new();
    for index in document.subtree(master).skip(1).map(NodeIndex) {
        let node = document.node(index);
        let Some(parent) = node.parent else { continue };
        let mut name = node.name.to_string();
        let count = taken.entry((parent, name.clone())).or_insert(0);
        *count += 1;
        // A sibling may really be called `Label[2]`: then the next free ordinal is taken.
        let mut ordinal = *count;
        while ordinal > 1 {
            name = format!("{}[{ordinal}]", node.name);
            if taken.insert((parent, name.clone()), 1).is_none() {
                break;
            }
            ordinal += 1;
        }
        taken.insert((parent, node.name.to_string()), ordinal.max(1));
        let mut path = paths.get(&parent).cloned().unwrap_or_default();
        path.push(name);
        paths.insert(index, path);
    }
    paths
}

/// The boolean properties that show a layer: one for each hidden layer from it up to the master. `None` where one of
/// them has no property of this master's: properties within a nested instance are that instance's own.
fn switches(document: &Document<'_>, master: NodeIndex, layer: NodeIndex) -> Option<Vec<String>> {
    let mut switches = Vec::new();
    let above = document.ancestors(layer).take_while(|a| *a != master);
    let chain: Vec<NodeIndex> = std::iter::once(layer).chain(above).collect();
    for (at, index) in chain.iter().enumerate() {
        let node = document.node(*index);
        if node.visible {
            continue;
        }
        if chain[at + 1..].iter().any(|a| document.node(*a).kind == Kind::Instance) {
            return None;
        }
        let references = node.facts().map(|f| f.references.as_slice()).unwrap_or_default();
        switches.push(references.iter().find(|(of, _)| of == "visible")?.1.to_string());
    }
    Some(switches)
}

fn layers(document: &Document<'_>, master: NodeIndex) -> (Vec<TextSlot>, Vec<Nested>) {
    let paths = paths(document, master);
    let origin = document.node(master).bounds;
    let place = |r: Rect| Place { x: r.x - origin.x, y: r.y - origin.y, width: r.width, height: r.height };
    let (mut slots, mut nested) = (Vec::new(), Vec::new());
    for index in document.subtree(master).skip(1).map(NodeIndex) {
        let node = document.node(index);
        let path = || paths.get(&index).cloned().unwrap_or_default();
        if node.kind == Kind::Instance {
            let id = node.component_id().unwrap_or_default();
            let meta = document.components.get(id);
            let set = meta.and_then(|m| document.component_sets.get(m.set_id.as_ref()?));
            let name = set.map(|s| &s.name).or(meta.map(|m| &m.name)).unwrap_or(&node.name);
            if node.shown {
                nested.push(Nested {
                    path: path(),
                    component_id: id.to_owned(),
                    name: name.to_string(),
                    place: place(node.bounds),
                });
            }
        }
        let Some(text) = node.text.as_deref() else { continue };
        let reference = |field: &str| {
            let references = &node.facts()?.references;
            references.iter().find(|(of, _)| of == field).map(|(_, key)| key.to_string())
        };
        let visibility = switches(document, master, index).unwrap_or_default();
        slots.push(TextSlot {
            path: path(),
            default: text.characters.to_string(),
            place: place(node.bounds),
            font_size: text.style.size,
            shown: node.shown,
            property: reference("characters"),
            visibility,
        });
    }
    (slots, nested)
}

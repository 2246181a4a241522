//! Cutting one frame out of an answer for keeping (D9): the frame as it stands, and of the `components`,
//! `componentSets` and `styles` maps exactly what it uses. Publish keys and style identity can't be recovered
//! once they are gone, so they are never dropped.
//!
//! The bytes are canonical: keys sorted, no white space, one spelling per number. The same frame gives the same
//! bytes and the same hash, whatever order the maps came in.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fmt::Write as _;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::input::strip_mark;
use crate::lenient::{Entries, Fields, Key, List, Object, Scalar};
use crate::{Document, Kind, NodeIndex, PropertyValue, ReadError};

/// A frame cut out of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// `{"componentSets":…,"components":…,"document":…,"schemaVersion":0,"styles":…}`, canonical.
    pub bytes: Vec<u8>,
    /// SHA-256 of the bytes, in lower-case hex.
    pub hash: String,
}

/// Cuts a node out of the bytes that `document` was read from.
///
/// # Errors
/// [`ReadError::NoSuchNode`] where the node is not in these bytes, or has no id to find it by.
pub fn snapshot(bytes: &[u8], document: &Document<'_>, frame: NodeIndex) -> Result<Snapshot, ReadError> {
    let bytes = strip_mark(bytes);
    let id = document.node(frame).id.as_ref();
    let json = |error: serde_json::Error| ReadError::from_json(&error, bytes);
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    deserializer.disable_recursion_limit();
    // The first value; what comes after it has been warned of by the reader.
    let top: &RawValue = Deserialize::deserialize(&mut deserializer).map_err(json)?;
    let mut maps = Maps::default();
    let frame_json = find(top, id, &mut maps, 0)
        .map_err(json)?
        .ok_or_else(|| ReadError::NoSuchNode { id: id.to_owned() })?;
    write(frame_json, &maps, &Used::of(document, frame)).map_err(json)
}

/// The maps of an answer, every entry as it stands.
#[derive(Default)]
struct Maps<'a> {
    components: BTreeMap<String, &'a RawValue>,
    component_sets: BTreeMap<String, &'a RawValue>,
    styles: BTreeMap<String, &'a RawValue>,
}

/// What is looked at on the way down to the frame.
#[derive(Default)]
struct Shallow<'de> {
    id: Scalar<'de>,
    children: List<&'de RawValue>,
    document: Option<&'de RawValue>,
    nodes: Entries<'de, &'de RawValue>,
    info: Option<&'de RawValue>,
    components: Entries<'de, &'de RawValue>,
    component_sets: Entries<'de, &'de RawValue>,
    styles: Entries<'de, &'de RawValue>,
}

impl<'de> Fields<'de> for Shallow<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "id" => self.id = map.next_value()?,
            "children" => self.children = map.next_value()?,
            "document" => self.document = Some(map.next_value()?),
            "nodes" => self.nodes = map.next_value()?,
            "info" => self.info = Some(map.next_value()?),
            "components" => self.components = map.next_value()?,
            "componentSets" => self.component_sets = map.next_value()?,
            "styles" => self.styles = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The node with this id at or below `raw`; the maps on the way there are taken along.
fn find<'a>(
    raw: &'a RawValue,
    id: &str,
    maps: &mut Maps<'a>,
    depth: u16,
) -> Result<Option<&'a RawValue>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    deserializer.disable_recursion_limit();
    let Object(Some(here)) = Object::<Shallow<'a>>::deserialize(&mut deserializer)? else { return Ok(None) };
    let envelope = here.document.is_some() || !here.nodes.0.is_empty() || here.info.is_some();
    if envelope || depth == 0 {
        let keep = |into: &mut BTreeMap<String, &'a RawValue>, from: Entries<'a, &'a RawValue>| {
            into.extend(from.0.into_iter().map(|(id, entry)| (id.into_owned(), entry)));
        };
        keep(&mut maps.components, here.components);
        keep(&mut maps.component_sets, here.component_sets);
        keep(&mut maps.styles, here.styles);
    }
    if !envelope && here.id.as_str().unwrap_or_default() == id {
        return Ok(Some(raw));
    }
    let below = here.document.into_iter().chain(here.info);
    let below = below.chain(here.nodes.0.into_iter().map(|(_, entry)| entry)).chain(here.children.0);
    let mut found = None;
    for child in below {
        // Every envelope is looked into, since each brings its maps; below the frame nothing is.
        if found.is_some() && !envelope {
            break;
        }
        let inner =
            stacker::maybe_grow(64 << 10, 1 << 20, || find(child, id, maps, depth.saturating_add(1)))?;
        found = found.or(inner);
    }
    Ok(found)
}

/// Ids that the frame refers to.
struct Used<'d> {
    components: BTreeSet<&'d str>,
    component_sets: BTreeSet<&'d str>,
    styles: BTreeSet<&'d str>,
}

impl<'d> Used<'d> {
    fn of(document: &'d Document<'_>, frame: NodeIndex) -> Self {
        let mut used =
            Self { components: BTreeSet::new(), component_sets: BTreeSet::new(), styles: BTreeSet::new() };
        for index in document.subtree(frame) {
            let node = &document.nodes[index as usize];
            used.styles.extend(node.styles.iter().map(|(_, style)| style.as_ref()));
            match node.kind {
                Kind::Component => _ = used.components.insert(&node.id),
                Kind::ComponentSet => _ = used.component_sets.insert(&node.id),
                _ => {}
            }
            let Some(facts) = node.facts() else { continue };
            used.components.extend(facts.component_id.as_deref());
            let defaults = facts.definitions.iter().map(|d| &d.default);
            for value in facts.properties.iter().map(|(_, value)| value).chain(defaults) {
                if let PropertyValue::Swap(component) = value {
                    used.components.insert(component);
                }
            }
        }
        for id in &used.components {
            let meta = document.components.get(*id);
            used.component_sets.extend(meta.and_then(|m| m.set_id.as_deref()));
        }
        used
    }
}

fn write(frame: &RawValue, maps: &Maps<'_>, used: &Used<'_>) -> Result<Snapshot, serde_json::Error> {
    let mut bytes = Vec::with_capacity(frame.get().len());
    let map = |bytes: &mut Vec<u8>, name: &str, all: &BTreeMap<String, &RawValue>, used: &BTreeSet<&str>| {
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(b'{');
        let mut first = true;
        for (id, entry) in all.iter().filter(|(id, _)| used.contains(id.as_str())) {
            if !std::mem::take(&mut first) {
                bytes.push(b',');
            }
            serde_json::to_writer(&mut *bytes, id)?;
            bytes.push(b':');
            canonical(entry, bytes)?;
        }
        bytes.push(b'}');
        Ok::<(), serde_json::Error>(())
    };
    map(&mut bytes, "{\"componentSets\":", &maps.component_sets, &used.component_sets)?;
    map(&mut bytes, ",\"components\":", &maps.components, &used.components)?;
    bytes.extend_from_slice(b",\"document\":");
    canonical(frame, &mut bytes)?;
    bytes.extend_from_slice(b",\"schemaVersion\":0");
    map(&mut bytes, ",\"styles\":", &maps.styles, &used.styles)?;
    bytes.push(b'}');
    let mut hash = String::with_capacity(64);
    for byte in Sha256::digest(&bytes) {
        let _ = write!(hash, "{byte:02x}");
    }
    Ok(Snapshot { bytes, hash })
}

/// Appends a value in its canonical spelling.
fn canonical(raw: &RawValue, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    deserializer.disable_recursion_limit();
    Canonical(out).deserialize(&mut deserializer)
}

struct Canonical<'o>(&'o mut Vec<u8>);

impl Canonical<'_> {
    fn scalar<E: serde::de::Error>(self, value: &impl serde::Serialize) -> Result<(), E> {
        serde_json::to_writer(self.0, value).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Canonical<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        stacker::maybe_grow(64 << 10, 1 << 20, || deserializer.deserialize_any(self))
    }
}

impl<'de> Visitor<'de> for Canonical<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.scalar(&value)
    }
    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.scalar(&value)
    }
    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.scalar(&value)
    }
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        // Up to here every whole number has an exact i64; `-0.0` becomes `0`.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if value.fract() == 0.0 && value.abs() < EXACT {
            self.scalar(&(value as i64))
        } else {
            self.scalar(&value)
        }
    }
    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.scalar(&value)
    }
    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.scalar(&())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        self.0.push(b'[');
        let start = self.0.len();
        loop {
            let before = self.0.len();
            if before > start {
                self.0.push(b',');
            }
            if seq.next_element_seed(Canonical(&mut *self.0))?.is_none() {
                self.0.truncate(before);
                break;
            }
        }
        self.0.push(b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.push(b'{');
        let start = self.0.len();
        // Where each entry's value lies; a repeated key's last value wins, as in JavaScript.
        let mut entries = BTreeMap::new();
        let mut sorted = true;
        let mut last: Option<std::borrow::Cow<'de, str>> = None;
        while let Some(Key(key)) = map.next_key()? {
            let entry = self.0.len();
            if entry > start {
                self.0.push(b',');
            }
            let body = self.0.len();
            serde_json::to_writer(&mut *self.0, &key).map_err(serde::de::Error::custom)?;
            self.0.push(b':');
            map.next_value_seed(Canonical(&mut *self.0))?;
            sorted &= last.as_ref().is_none_or(|last| *last < key);
            entries.insert(key.clone(), body..self.0.len());
            last = Some(key);
        }
        if !sorted {
            let mut ordered = Vec::with_capacity(self.0.len() - start);
            for range in entries.into_values() {
                if !ordered.is_empty() {
                    ordered.push(b',');
                }
                ordered.extend_from_slice(&self.0[range]);
            }
            self.0.truncate(start);
            self.0.append(&mut ordered);
        }
        self.0.push(b'}');
        Ok(())
    }
}

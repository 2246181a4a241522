//! A library of components: sets with axes and variants, ids and publish keys, properties.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::node::{Field, Kind, Node, Value};

/// A library.
pub struct Library {
    /// Name, which seeds publish keys.
    pub name: &'static str,
    /// Whether this is the copy that a file keeps of a library from elsewhere: same keys, other ids.
    pub remote: bool,
    /// Its sets and single components, in the order they were added.
    pub sets: Vec<Set>,
    page: String,
}

/// A component set, or a single component.
pub struct Set {
    /// Name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Page it is on.
    pub page: String,
    /// Axes and their values; none for a single component.
    pub axes: Vec<(String, Vec<String>)>,
    /// Id of the set's node.
    pub id: String,
    /// Publish key of the set.
    pub key: String,
    /// Properties besides the axes: full name and default.
    pub definitions: Vec<(String, Value)>,
    /// Variants, in order of the axes' values.
    pub variants: Vec<Variant>,
}

/// A variant of a set, or the one component.
pub struct Variant {
    /// The values of the axes, in order.
    pub values: Vec<String>,
    /// Publish key.
    pub key: String,
    /// The component's node.
    pub node: Node,
}

/// The values of a variant in the making.
pub struct Pick<'a>(Vec<(&'a str, &'a str)>);

impl Pick<'_> {
    /// The value of an axis.
    pub fn get(&self, axis: &str) -> &str {
        let found = self.0.iter().find(|(name, _)| *name == axis);
        found.unwrap_or_else(|| panic!("no axis {axis}")).1
    }

    /// Whether an axis has a value.
    pub fn is(&self, axis: &str, value: &str) -> bool {
        self.get(axis) == value
    }

    /// The value of an axis of numbers.
    pub fn number(&self, axis: &str) -> usize {
        self.get(axis).parse().unwrap_or_else(|_| panic!("{axis} is no number"))
    }
}

/// The first hex digits of the SHA-256 of a name.
pub fn hash(name: &str, digits: usize) -> String {
    let digest = Sha256::digest(name.as_bytes());
    let mut hex = String::new();
    for byte in digest {
        write!(hex, "{byte:02x}").expect("a string takes all");
    }
    hex.truncate(digits);
    hex
}

/// The first half of a node id: from the name alone, so that ids stay when something else is added.
pub fn session(name: &str) -> u32 {
    let value = u32::from_str_radix(&hash(name, 6), 16).expect("a hash is hexadecimal");
    1000 + value % 89_000
}

/// The id of an instance's descendant, from the id of the instance and the id within the component.
fn within(instance: &str, id: &str) -> String {
    let strip = |id: &str| id.strip_prefix('I').unwrap_or(id).to_owned();
    format!("I{};{}", strip(instance), strip(id))
}

/// Moves the content of a component into an instance.
pub fn prefix(children: &mut [Node], instance: &str) {
    for node in children {
        node.id = within(instance, &node.id);
        if let Kind::Instance(nested) = &mut node.kind {
            for (id, _) in &mut nested.overrides {
                *id = within(instance, id);
            }
        }
        prefix(&mut node.children, instance);
    }
}

/// Numbers a tree. Nodes in instances take their ids from the instance.
pub fn assign(node: &mut Node, session: u32, next: &mut u32) {
    node.id = format!("{session}:{next}");
    *next += 1;
    if let Kind::Instance(instance) = &mut node.kind {
        for (id, _) in &mut instance.overrides {
            *id = if id.is_empty() { node.id.clone() } else { within(&node.id, id) };
        }
        prefix(&mut node.children, &node.id);
    } else {
        for child in &mut node.children {
            assign(child, session, next);
        }
    }
}

/// Calls `visit` on every node of a component that belongs to the component itself.
fn each_own(node: &mut Node, visit: &mut impl FnMut(&mut Node)) {
    visit(node);
    if !matches!(node.kind, Kind::Instance(_)) {
        for child in &mut node.children {
            each_own(child, visit);
        }
    }
}

/// The value that a node gives a field that a property drives.
fn value_of(node: &Node, field: Field) -> Value {
    match (&node.kind, field) {
        (Kind::Text(text), Field::Characters) => Value::Text(text.characters.clone()),
        (_, Field::Visible) => Value::Bool(node.visible),
        (Kind::Instance(instance), Field::MainComponent) => Value::Swap(instance.component.clone()),
        _ => panic!("{} has no field for its property", node.name),
    }
}

impl Library {
    /// An empty library.
    pub fn new(name: &'static str, remote: bool) -> Self {
        Self { name, remote, sets: Vec::new(), page: String::new() }
    }

    /// What is added from now on is on this page.
    pub fn page(&mut self, page: &str) {
        page.clone_into(&mut self.page);
    }

    /// The number that begins the ids of what has this name.
    fn session(&self, name: &str) -> u32 {
        let place = if self.remote { "remote" } else { "local" };
        session(&format!("{place}/{}/{name}", self.name))
    }

    /// The publish key of what has this name.
    pub fn key(&self, name: &str) -> String {
        hash(&format!("{}/{name}", self.name), 40)
    }

    /// Adds a single component.
    pub fn single(&mut self, name: &str, description: &str, build: impl FnOnce(&Self) -> Node) {
        let node = build(self);
        self.push(name, description, Vec::new(), vec![(Vec::new(), node)]);
    }

    /// Adds a set: a variant for every combination of the axes' values, the last axis fastest.
    pub fn set(
        &mut self,
        name: &str,
        description: &str,
        axes: &[(&str, &[&str])],
        build: impl Fn(&Self, &Pick) -> Node,
    ) {
        let mut picks: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
        for (axis, values) in axes {
            picks = picks
                .into_iter()
                .flat_map(|pick| {
                    values.iter().map(move |value| [pick.as_slice(), &[(*axis, *value)]].concat())
                })
                .collect();
        }
        let mut variants = Vec::new();
        for pick in picks {
            let values = pick.iter().map(|(_, value)| (*value).to_owned()).collect();
            variants.push((values, build(self, &Pick(pick))));
        }
        let owned = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        let axes = axes.iter().map(|(axis, values)| ((*axis).to_owned(), owned(values))).collect();
        self.push(name, description, axes, variants);
    }

    fn push(
        &mut self,
        name: &str,
        description: &str,
        axes: Vec<(String, Vec<String>)>,
        variants: Vec<(Vec<String>, Node)>,
    ) {
        assert!(self.sets.iter().all(|set| set.name != name), "two sets are called {name}");
        let session = self.session(name);
        let (mut next, mut definitions) = (2, Vec::new());
        // Property ids travel with the library, so that they are the same in every file.
        let own = super::library::session(&format!("local/{}/{name}", self.name));
        let mut finished = Vec::new();
        for (values, mut node) in variants {
            let named: Vec<_> =
                axes.iter().zip(&values).map(|((axis, _), value)| format!("{axis}={value}")).collect();
            node.name = if named.is_empty() { name.to_owned() } else { named.join(", ") };
            node.kind = Kind::Component;
            assign(&mut node, session, &mut next);
            each_own(&mut node, &mut |node| define(node, own, &mut definitions));
            let key = self.key(&format!("{name}/{}", named.join(", ")));
            finished.push(Variant { values, key, node });
        }
        self.sets.push(Set {
            name: name.to_owned(),
            description: description.to_owned(),
            page: self.page.clone(),
            axes,
            id: format!("{session}:1"),
            key: self.key(name),
            definitions,
            variants: finished,
        });
    }

    /// The index of a set by name.
    pub fn index(&self, name: &str) -> usize {
        let found = self.sets.iter().position(|set| set.name == name);
        found.unwrap_or_else(|| panic!("no component {name}"))
    }

    /// The set and variant with this component id.
    pub fn component(&self, id: &str) -> Option<(&Set, &Variant)> {
        let mut all = self.sets.iter().flat_map(|set| set.variants.iter().map(move |variant| (set, variant)));
        all.find(|(_, variant)| variant.node.id == id)
    }
}

/// Gives the properties of a node their full names, and notes the new ones.
fn define(node: &mut Node, session: u32, definitions: &mut Vec<(String, Value)>) {
    let refs = std::mem::take(&mut node.refs);
    for (field, name) in refs {
        let known = definitions.iter().find(|(full, _)| full.split('#').next() == Some(&name));
        let full = if let Some((full, _)) = known {
            full.clone()
        } else {
            let full = format!("{name}#{session}:{}", definitions.len());
            definitions.push((full.clone(), value_of(node, field)));
            full
        };
        node.refs.push((field, full));
    }
}

impl Set {
    /// The full name of a property.
    pub fn property(&self, name: &str) -> &str {
        let found = self.definitions.iter().find(|(full, _)| full.split('#').next() == Some(name));
        &found.unwrap_or_else(|| panic!("{} has no property {name}", self.name)).0
    }

    /// The index of the variant with these values.
    pub fn find(&self, values: &[String]) -> usize {
        let found = self.variants.iter().position(|variant| variant.values == values);
        found.unwrap_or_else(|| panic!("{} has no variant {values:?}", self.name))
    }
}

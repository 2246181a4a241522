//! Instances: a component, and what is different this time.

use super::library::{Library, prefix};
use super::node::{Field, Instance, Kind, Node, Value, bare_instance};
use super::paint::Fill;
use super::text::is_cjk;

/// An instance in the making.
pub struct Make<'a> {
    library: &'a Library,
    node: Node,
}

impl From<Make<'_>> for Node {
    fn from(make: Make<'_>) -> Self {
        make.node
    }
}

fn instance(node: &Node) -> &Instance {
    let Kind::Instance(instance) = &node.kind else { panic!("{} is no instance", node.name) };
    instance
}

fn instance_mut(node: &mut Node) -> &mut Instance {
    let Kind::Instance(instance) = &mut node.kind else { panic!("{} is no instance", node.name) };
    instance
}

/// The first node below for which `test` holds, depth first.
fn find<'n>(node: &'n mut Node, test: &dyn Fn(&Node) -> bool) -> Option<&'n mut Node> {
    for child in &mut node.children {
        if test(child) {
            return Some(child);
        }
        if let Some(found) = find(child, test) {
            return Some(found);
        }
    }
    None
}

fn each(nodes: &mut [Node], visit: &mut impl FnMut(&mut Node)) {
    for node in nodes {
        visit(node);
        each(&mut node.children, visit);
    }
}

impl Library {
    /// An instance of a component: of the first variant, until told otherwise.
    pub fn make(&self, name: &str) -> Make<'_> {
        let set = self.index(name);
        let layer = name.rsplit('/').next().unwrap_or(name);
        let layer = if name.starts_with("Icon/") { name } else { layer };
        let mut node = bare_instance(layer, Instance { set, ..Instance::default() });
        let master = &self.sets[set].variants[0].node;
        (node.width, node.height) = (master.width, master.height);
        let mut make = Make { library: self, node };
        make.rebuild(set, 0);
        make
    }
}

impl Make<'_> {
    /// Takes the content of a component, and keeps what had been said about the instance.
    fn rebuild(&mut self, set: usize, variant: usize) {
        let library = self.library;
        let master = &library.sets[set].variants[variant];
        let said = std::mem::take(&mut instance_mut(&mut self.node).properties);
        let node = &mut self.node;
        let from = &master.node;
        node.clips = from.clips;
        node.fill = from.fill.clone();
        node.stroke = from.stroke.clone();
        node.radii = from.radii;
        node.effects = from.effects.clone();
        node.opacity = from.opacity;
        node.max_width = from.max_width;
        node.flow = from.flow.clone();
        node.children = from.children.clone();
        if !node.id.is_empty() {
            prefix(&mut node.children, &node.id);
        }
        let axes = library.sets[set].axes.iter().zip(&master.values);
        let axes = axes.map(|((axis, _), value)| (axis.clone(), Value::Variant(value.clone())));
        let defaults = library.sets[set].definitions.iter().cloned();
        let own = instance_mut(node);
        own.component.clone_from(&from.id);
        (own.set, own.variant) = (set, variant);
        own.properties = axes.chain(defaults).collect();
        if let Some(tint) = own.tint.clone() {
            self.paint(&tint);
        }
        for (name, value) in said {
            if !matches!(value, Value::Variant(_)) {
                self.apply(&name, &value);
            }
        }
    }

    /// Chooses a value of an axis.
    pub fn with(mut self, axis: &str, value: &str) -> Self {
        let own = instance(&self.node);
        let (index, old) = (own.set, own.variant);
        let set = &self.library.sets[index];
        let position = set.axes.iter().position(|(name, _)| name == axis);
        let position = position.unwrap_or_else(|| panic!("{} has no axis {axis}", set.name));
        let mut values = set.variants[old].values.clone();
        value.clone_into(&mut values[position]);
        let variant = set.find(&values);
        let (before, after) = (&set.variants[old].node, &set.variants[variant].node);
        if self.node.width == before.width {
            self.node.width = after.width;
        }
        if self.node.height == before.height {
            self.node.height = after.height;
        }
        self.rebuild(index, variant);
        self
    }

    fn full(&self, name: &str) -> String {
        self.library.sets[instance(&self.node).set].property(name).to_owned()
    }

    /// Sets a property by its full name, in the list and in the layers it drives.
    fn apply(&mut self, full: &str, value: &Value) {
        let Some(entry) = instance_mut(&mut self.node).properties.iter_mut().find(|(name, _)| name == full)
        else {
            return;
        };
        if entry.1 == *value {
            return;
        }
        entry.1 = value.clone();
        let mut overrides = Vec::new();
        let library = self.library;
        each(&mut self.node.children, &mut |node| {
            let driven = node.refs.iter().find(|(_, name)| name == full).map(|(field, _)| *field);
            match (driven, value) {
                (Some(Field::Characters), Value::Text(characters)) => {
                    overrides.push((node.id.clone(), write(node, characters)));
                }
                (Some(Field::Visible), Value::Bool(visible)) => {
                    node.visible = *visible;
                    overrides.push((node.id.clone(), vec!["visible"]));
                }
                (Some(Field::MainComponent), Value::Swap(id)) => {
                    let set = library.component(id).map(|(set, _)| library.index(&set.name));
                    let set = set.expect("a swap names a component");
                    let mut nested = Make { library, node: node.clone() };
                    nested.rebuild(set, 0);
                    *node = nested.node;
                }
                _ => {}
            }
        });
        let own = instance_mut(&mut self.node);
        for (id, fields) in overrides {
            if !own.overrides.iter().any(|(known, known_fields)| *known == id && *known_fields == fields) {
                own.overrides.push((id, fields));
            }
        }
    }

    /// Sets a TEXT property.
    pub fn text(mut self, name: &str, value: &str) -> Self {
        let full = self.full(name);
        self.apply(&full, &Value::Text(value.to_owned()));
        self
    }

    /// Sets several TEXT properties.
    pub fn texts(self, texts: &[(&str, &str)]) -> Self {
        texts.iter().fold(self, |make, (name, value)| make.text(name, value))
    }

    /// Sets a BOOLEAN property.
    pub fn show(mut self, name: &str, visible: bool) -> Self {
        let full = self.full(name);
        self.apply(&full, &Value::Bool(visible));
        self
    }

    /// Sets an `INSTANCE_SWAP` property.
    pub fn swap(mut self, name: &str, component: &str) -> Self {
        let full = self.full(name);
        let id = self.library.sets[self.library.index(component)].variants[0].node.id.clone();
        self.apply(&full, &Value::Swap(id));
        self
    }

    fn paint(&mut self, tint: &Fill) {
        let mut overrides = Vec::new();
        each(&mut self.node.children, &mut |node| {
            let mut fields = Vec::new();
            if let Some(stroke) = &mut node.stroke {
                stroke.fill = tint.clone();
                fields.push("strokes");
            }
            if !node.fill.paints.is_empty() {
                node.fill = tint.clone();
                fields.push("fills");
            }
            overrides.push((node.id.clone(), fields));
        });
        instance_mut(&mut self.node).overrides = overrides;
    }

    /// Paints all vectors of an icon.
    pub fn tint(mut self, tint: impl Into<Fill>) -> Self {
        let tint = tint.into();
        self.paint(&tint);
        instance_mut(&mut self.node).tint = Some(tint);
        self
    }

    /// Changes an instance within, by layer name.
    pub fn inside(mut self, name: &str, change: impl FnOnce(Self) -> Self) -> Self {
        let library = self.library;
        let test = |node: &Node| node.name == name && matches!(node.kind, Kind::Instance(_));
        let Some(place) = find(&mut self.node, &test) else {
            panic!("no instance {name} in {}", self.node.name)
        };
        let before = instance(place).overrides.len();
        let nested = change(Self { library, node: place.clone() }).node;
        let new = instance(&nested).overrides.get(before..).unwrap_or_default().to_vec();
        *place = nested;
        instance_mut(&mut self.node).overrides.extend(new);
        self
    }

    /// Changes a layer within, by name; an empty name is the instance itself.
    pub fn tweak(mut self, name: &str, field: &'static str, change: impl FnOnce(&mut Node)) -> Self {
        let id = if name.is_empty() {
            change(&mut self.node);
            self.node.id.clone()
        } else {
            let place = find(&mut self.node, &|node| node.name == name);
            let place = place.unwrap_or_else(|| panic!("no layer {name}"));
            change(place);
            place.id.clone()
        };
        instance_mut(&mut self.node).overrides.push((id, vec![field]));
        self
    }

    /// Fixes the size.
    pub fn sized(self, width: f64, height: f64) -> Self {
        self.tweak("", "width", |node| *node = node.clone().wide(width)).tall(height)
    }

    /// Fixes the height.
    pub fn tall(self, height: f64) -> Self {
        self.tweak("", "height", |node| *node = node.clone().tall(height))
    }

    /// Fills the width.
    pub fn wide(self) -> Self {
        self.tweak("", "width", |node| *node = node.clone().fill_width())
    }

    /// The instance, as a node that can be placed.
    pub fn node(self) -> Node {
        self.node
    }

    /// The instance under another layer name.
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.node.name);
        self
    }
}

/// Replaces the characters of a text, and names the fields that changed.
fn write(node: &mut Node, characters: &str) -> Vec<&'static str> {
    let Kind::Text(text) = &mut node.kind else { panic!("{} is no text", node.name) };
    characters.clone_into(&mut text.characters);
    text.spans.clear();
    if characters.chars().any(is_cjk) {
        text.style = text.style.japanese();
        return vec!["characters", "fontFamily", "fontPostScriptName", "fontWeight"];
    }
    vec!["characters"]
}

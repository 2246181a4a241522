//! Nodes as Figma's REST API writes them.

use std::collections::{BTreeMap, BTreeSet};

use super::geometry::{Bounds, Transform, ink};
use super::json::{Json, object};
use super::library::{Library, hash, session};
use super::node::{Arc, Direction, Field, Flow, Instance, Kind, Node, Pin, Place, Sizing, Value};
use super::paint::{Align, Color, Effect, Fill, Paint};
use super::typeset;

/// Writes nodes, and notes the styles and components they use.
pub struct Emitter<'a> {
    /// Where components come from.
    pub library: &'a Library,
    /// Name and type of each style by its id.
    pub styles: BTreeMap<String, (&'static str, &'static str)>,
    /// Ids of the components in use.
    pub components: Vec<String>,
}

/// What a node needs to know of those above it.
#[derive(Clone, Copy)]
struct Above<'a> {
    transform: Transform,
    flow: Option<&'a Flow>,
    shows: bool,
    clip: Option<Bounds>,
}

/// A colour.
pub fn color(color: Color) -> Json {
    object([("r", color.r.into()), ("g", color.g.into()), ("b", color.b.into()), ("a", color.a.into())])
}

fn point(x: f64, y: f64) -> Json {
    object([("x", x.into()), ("y", y.into())])
}

fn paint(paint: &Paint) -> Json {
    let mut out = object([("blendMode", "NORMAL".into())]);
    let gradient = |out: &mut Json, kind: &str, handles: [(f64, f64); 3], stops: &[(f64, Color)]| {
        out.put("type", kind);
        out.put("gradientHandlePositions", handles.map(|(x, y)| point(x, y)).to_vec());
        let stop = |(at, tone): &(f64, Color)| object([("color", color(*tone)), ("position", (*at).into())]);
        out.put("gradientStops", stops.iter().map(stop).collect::<Vec<_>>());
    };
    match paint {
        Paint::Solid(tone) => {
            if tone.a < 1.0 {
                out.put("opacity", tone.a);
            }
            out.put("type", "SOLID");
            out.put("color", color(tone.alpha(1.0)));
        }
        Paint::Linear { from, to, stops } => {
            let third = (from.0 - (to.1 - from.1), from.1 + (to.0 - from.0));
            gradient(&mut out, "GRADIENT_LINEAR", [*from, *to, third], stops);
        }
        Paint::Radial { center, radius, stops } => {
            let handles = [*center, (center.0 + radius.0, center.1), (center.0, center.1 + radius.1)];
            gradient(&mut out, "GRADIENT_RADIAL", handles, stops);
        }
        Paint::Image { reference } => {
            out.put("type", "IMAGE");
            out.put("scaleMode", "FILL");
            out.put("imageRef", reference.as_str());
        }
    }
    out
}

/// Paints as an array.
pub fn paints(fill: &Fill) -> Json {
    Json::List(fill.paints.iter().map(paint).collect())
}

fn effect(effect: &Effect) -> Json {
    let (kind, radius) = match effect {
        Effect::Shadow { color: tone, y, blur, spread } => {
            return object([
                ("type", "DROP_SHADOW".into()),
                ("visible", true.into()),
                ("color", color(*tone)),
                ("blendMode", "NORMAL".into()),
                ("offset", point(0.0, *y)),
                ("radius", (*blur).into()),
                ("spread", (*spread).into()),
                ("showShadowBehindNode", false.into()),
            ]);
        }
        Effect::LayerBlur(radius) => ("LAYER_BLUR", *radius),
        Effect::BackgroundBlur(radius) => ("BACKGROUND_BLUR", *radius),
    };
    object([("type", kind.into()), ("visible", true.into()), ("radius", radius.into())])
}

/// The id of a style.
pub fn style_id(name: &str) -> String {
    format!("{}:0", session(&format!("style/{name}")))
}

/// The publish key of a style.
pub fn style_key(library: &Library, name: &str) -> String {
    hash(&format!("{}/style/{name}", library.name), 40)
}

fn type_name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Frame => "FRAME",
        Kind::Group => "GROUP",
        Kind::Section => "SECTION",
        Kind::Rectangle => "RECTANGLE",
        Kind::Line => "LINE",
        Kind::Ellipse(_) => "ELLIPSE",
        Kind::Vector(_) => "VECTOR",
        Kind::Text(_) => "TEXT",
        Kind::Component => "COMPONENT",
        Kind::ComponentSet(_) => "COMPONENT_SET",
        Kind::Instance(_) => "INSTANCE",
    }
}

fn value(value: &Value) -> (&'static str, Json) {
    match value {
        Value::Variant(value) => ("VARIANT", value.as_str().into()),
        Value::Text(value) => ("TEXT", value.as_str().into()),
        Value::Bool(value) => ("BOOLEAN", (*value).into()),
        Value::Swap(value) => ("INSTANCE_SWAP", value.as_str().into()),
    }
}

impl<'a> Emitter<'a> {
    /// An emitter that has seen nothing yet.
    pub fn new(library: &'a Library) -> Self {
        Self { library, styles: BTreeMap::new(), components: Vec::new() }
    }

    /// Writes a node that lies directly on a canvas.
    pub fn top(&mut self, node: &Node) -> Json {
        let above = Above { transform: Transform::offset(0.0, 0.0), flow: None, shows: true, clip: None };
        self.node(node, above).0
    }

    fn use_style(&mut self, name: Option<&'static str>, kind: &'static str) -> Option<Json> {
        let name = name.filter(|name| !name.is_empty())?;
        let id = style_id(name);
        self.styles.insert(id.clone(), (name, kind));
        Some(id.into())
    }

    fn node(&mut self, node: &Node, above: Above) -> (Json, Option<Bounds>) {
        let relative = Transform::of(node);
        let transform = above.transform.then(relative);
        let bounds = transform.bounds([0.0, 0.0, node.size.0, node.size.1]);
        let shows = above.shows && node.visible;
        let mut out = object([("id", node.id.as_str().into()), ("name", node.name.as_str().into())]);
        if !node.visible {
            out.put("visible", false);
        }
        out.put("type", type_name(&node.kind));
        out.put("scrollBehavior", "SCROLLS");
        if node.rotation != 0.0 {
            out.put("rotation", node.rotation.to_radians());
        }
        self.properties(node, &mut out);
        out.put("blendMode", "PASS_THROUGH");
        if node.opacity < 1.0 {
            out.put("opacity", node.opacity);
        }
        self.look(node, &mut out);
        if let Some(flow) = &node.flow {
            layout(node, flow, &mut out);
        }
        let clip = match (node.clips, above.clip) {
            (true, Some(clip)) => bounds.intersection(clip).or(Some(bounds)),
            (true, None) => Some(bounds),
            (false, clip) => clip,
        };
        let within = Above { transform, flow: node.flow.as_ref(), shows, clip };
        let mut render =
            ink(node, transform).and_then(|ink| above.clip.map_or(Some(ink), |clip| ink.intersection(clip)));
        let mut children = Vec::new();
        for child in &node.children {
            let (json, ink) = self.node(child, within);
            children.push(json);
            render = match (render, ink) {
                (Some(render), Some(ink)) => Some(render.union(ink)),
                (render, ink) => render.or(ink),
            };
        }
        let render = render.filter(|_| shows);
        out.put("absoluteBoundingBox", bounds.json());
        out.put("absoluteRenderBounds", render.map_or(Json::Null, Bounds::json));
        out.put("relativeTransform", relative.json());
        out.put("size", point(node.size.0, node.size.1));
        placement(node, above.flow, &mut out);
        if let Kind::Text(text) = &node.kind {
            typeset::text(node, text, &mut out);
        }
        out.put("effects", Json::List(node.effects.list.iter().map(effect).collect()));
        if node.mask {
            out.put("isMask", true);
            out.put("maskType", "ALPHA");
        }
        if !children.is_empty() || is_container(&node.kind) {
            out.put("children", Json::Lines(children));
        }
        (out, render)
    }

    fn properties(&mut self, node: &Node, out: &mut Json) {
        if !node.refs.is_empty() {
            let field = |(field, name): &(Field, String)| {
                let field = match field {
                    Field::Characters => "characters",
                    Field::Visible => "visible",
                    Field::MainComponent => "mainComponent",
                };
                (field.to_owned(), Json::from(name.as_str()))
            };
            out.put("componentPropertyReferences", Json::Object(node.refs.iter().map(field).collect()));
        }
        match &node.kind {
            Kind::ComponentSet(index) => self.definitions(*index, out),
            Kind::Component => {
                // A variant's properties belong to its set.
                let found = self.library.sets.iter().position(|set| set.variants[0].node.id == node.id);
                if let Some(index) = found.filter(|index| self.library.sets[*index].axes.is_empty()) {
                    self.definitions(index, out);
                }
            }
            Kind::Instance(instance) => self.instance(node, instance, out),
            _ => {}
        }
    }

    fn definitions(&self, index: usize, out: &mut Json) {
        let set = &self.library.sets[index];
        let mut fields = Vec::new();
        for (position, (axis, values)) in set.axes.iter().enumerate() {
            let default = set.variants[0].values[position].as_str();
            let options = values.iter().map(|value| value.as_str().into()).collect::<Vec<Json>>();
            let definition = object([
                ("type", "VARIANT".into()),
                ("defaultValue", default.into()),
                ("variantOptions", options.into()),
            ]);
            fields.push((axis.clone(), definition));
        }
        for (name, default) in &set.definitions {
            let (kind, default) = value(default);
            let mut definition = object([("type", kind.into()), ("defaultValue", default)]);
            if kind == "INSTANCE_SWAP" {
                definition.put("preferredValues", Json::List(Vec::new()));
            }
            fields.push((name.clone(), definition));
        }
        if !fields.is_empty() {
            out.put("componentPropertyDefinitions", Json::Object(fields));
        }
    }

    fn instance(&mut self, node: &Node, instance: &Instance, out: &mut Json) {
        out.put("componentId", instance.component.as_str());
        self.components.push(instance.component.clone());
        if !instance.properties.is_empty() {
            let mut fields = Vec::new();
            for (name, given) in &instance.properties {
                if let Value::Swap(id) = given {
                    self.components.push(id.clone());
                }
                let (kind, json) = value(given);
                let mut property = object([("value", json), ("type", kind.into())]);
                match given {
                    Value::Variant(_) => property.put("boundVariables", Json::Object(Vec::new())),
                    Value::Swap(_) => property.put("preferredValues", Json::List(Vec::new())),
                    _ => {}
                }
                fields.push((name.clone(), property));
            }
            out.put("componentProperties", Json::Object(fields));
        }
        let mut merged: Vec<(&str, Vec<&str>)> = Vec::new();
        let ids = ids(node);
        let current = |(id, fields): &&(String, Vec<_>)| !fields.is_empty() && ids.contains(id.as_str());
        for (id, fields) in instance.overrides.iter().filter(current) {
            let known = merged.iter().position(|(known, _)| known == id);
            let entry = known.unwrap_or_else(|| {
                merged.push((id, Vec::new()));
                merged.len() - 1
            });
            for field in fields {
                if !merged[entry].1.contains(field) {
                    merged[entry].1.push(field);
                }
            }
        }
        let entry = |(id, fields): (&str, Vec<&str>)| {
            let fields = fields.into_iter().map(Json::from).collect::<Vec<_>>();
            object([("id", id.into()), ("overriddenFields", fields.into())])
        };
        out.put("overrides", merged.into_iter().map(entry).collect::<Vec<_>>());
    }

    fn look(&mut self, node: &Node, out: &mut Json) {
        let container = is_container(&node.kind);
        if container {
            out.put("clipsContent", node.clips);
            out.put("background", paints(&node.fill));
        }
        out.put("fills", paints(&node.fill));
        let strokes = node.stroke.as_ref().map_or(Json::List(Vec::new()), |stroke| paints(&stroke.fill));
        out.put("strokes", strokes);
        let [first, others @ ..] = node.radii;
        if others.iter().any(|radius| (radius - first).abs() > f64::EPSILON) {
            out.put("rectangleCornerRadii", node.radii.map(Json::Number).to_vec());
        } else if first > 0.0 {
            out.put("cornerRadius", first);
        }
        out.put("strokeWeight", node.stroke.as_ref().map_or(1.0, |stroke| stroke.weight));
        if let Some([top, right, bottom, left]) = node.stroke.as_ref().and_then(|stroke| stroke.sides) {
            let sides = [("top", top), ("right", right), ("bottom", bottom), ("left", left)];
            out.put("individualStrokeWeights", object(sides.map(|(side, weight)| (side, weight.into()))));
        }
        let center = node.stroke.as_ref().is_some_and(|stroke| stroke.align == Align::Center);
        let outside = matches!(node.kind, Kind::Text(_));
        out.put(
            "strokeAlign",
            if center {
                "CENTER"
            } else if outside {
                "OUTSIDE"
            } else {
                "INSIDE"
            },
        );
        if let Some(stroke) = &node.stroke {
            if !stroke.dashes.is_empty() {
                out.put(
                    "strokeDashes",
                    stroke.dashes.iter().map(|dash| (*dash).into()).collect::<Vec<Json>>(),
                );
            }
            if stroke.round {
                out.put("strokeJoin", "ROUND");
                out.put("strokeCap", "ROUND");
            }
        }
        if container {
            let first = node.fill.paints.first();
            let behind = if let Some(Paint::Solid(tone)) = first {
                *tone
            } else {
                Color { r: 0.0, g: 0.0, b: 0.0, a: 0.0 }
            };
            out.put("backgroundColor", color(behind));
        }
        self.styles_of(node, out);
        typeset::geometry(node, out);
    }

    fn styles_of(&mut self, node: &Node, out: &mut Json) {
        let mut styles = Vec::new();
        let text = if let Kind::Text(text) = &node.kind { Some(text.style.name) } else { None };
        let stroke = node.stroke.as_ref().and_then(|stroke| stroke.fill.style);
        let named = [
            ("fill", node.fill.style, "FILL"),
            ("stroke", stroke, "FILL"),
            ("text", text, "TEXT"),
            ("effect", node.effects.style, "EFFECT"),
        ];
        for (field, name, kind) in named {
            if let Some(id) = self.use_style(name, kind) {
                styles.push((field.to_owned(), id));
            }
        }
        if !styles.is_empty() {
            out.put("styles", Json::Object(styles));
        }
    }
}

/// The ids of a node and of all below it. What was overridden before a swap isn't among them any more.
fn ids(node: &Node) -> BTreeSet<&str> {
    let below = node.children.iter().flat_map(ids);
    below.chain([node.id.as_str()]).collect()
}

/// Whether Figma writes `children` and a background for it.
fn is_container(kind: &Kind) -> bool {
    use Kind::{Component, ComponentSet, Frame, Group, Instance, Section};
    matches!(kind, Frame | Group | Section | Component | ComponentSet(_) | Instance(_))
}

fn layout(node: &Node, flow: &Flow, out: &mut Json) {
    let (mode, primary, counter) = match flow.direction {
        Direction::Row => ("HORIZONTAL", node.width, node.height),
        Direction::Column => ("VERTICAL", node.height, node.width),
    };
    out.put("layoutMode", mode);
    if counter != Sizing::Hug {
        out.put("counterAxisSizingMode", "FIXED");
    }
    if primary != Sizing::Hug {
        out.put("primaryAxisSizingMode", "FIXED");
    }
    let name = |place: Place| match place {
        Place::Min => None,
        Place::Center => Some("CENTER"),
        Place::Max => Some("MAX"),
        Place::Between => Some("SPACE_BETWEEN"),
    };
    for (field, place) in [("counterAxisAlignItems", flow.counter), ("primaryAxisAlignItems", flow.primary)] {
        if let Some(name) = name(place) {
            out.put(field, name);
        }
    }
    let sides = ["paddingTop", "paddingRight", "paddingBottom", "paddingLeft"];
    for (side, padding) in sides.into_iter().zip(flow.padding) {
        if padding != 0.0 {
            out.put(side, padding);
        }
    }
    if flow.gap != 0.0 {
        out.put("itemSpacing", flow.gap);
    }
    out.put("layoutWrap", if flow.wrap.is_some() { "WRAP" } else { "NO_WRAP" });
    if let Some(gap) = flow.wrap {
        out.put("counterAxisSpacing", gap);
    }
}

fn placement(node: &Node, parent: Option<&Flow>, out: &mut Json) {
    let (horizontal, vertical) = node.pin.unwrap_or((Pin::Start(0.0), Pin::Start(0.0)));
    let name = |pin: Pin, names: [&'static str; 3]| match pin {
        Pin::Start(_) => names[0],
        Pin::End(_) => names[1],
        Pin::Middle(_) => "CENTER",
        Pin::Both(..) => names[2],
        Pin::Scale(..) => "SCALE",
    };
    let vertical = name(vertical, ["TOP", "BOTTOM", "TOP_BOTTOM"]);
    let horizontal = name(horizontal, ["LEFT", "RIGHT", "LEFT_RIGHT"]);
    out.put("constraints", object([("vertical", vertical.into()), ("horizontal", horizontal.into())]));
    let sizing = |sizing: Sizing| match sizing {
        Sizing::Fixed(_) => "FIXED",
        Sizing::Hug => "HUG",
        Sizing::Fill => "FILL",
    };
    if let Some(parent) = parent {
        let (primary, counter) = match parent.direction {
            Direction::Row => (node.width, node.height),
            Direction::Column => (node.height, node.width),
        };
        out.put("layoutAlign", if counter == Sizing::Fill { "STRETCH" } else { "INHERIT" });
        out.put("layoutGrow", if primary == Sizing::Fill { 1.0 } else { 0.0 });
        if node.pin.is_some() {
            out.put("layoutPositioning", "ABSOLUTE");
        }
    }
    if parent.is_some() || node.flow.is_some() {
        if let Some(width) = node.max_width {
            out.put("maxWidth", width);
        }
        out.put("layoutSizingHorizontal", sizing(node.width));
        out.put("layoutSizingVertical", sizing(node.height));
    }
}

/// The angles of an arc.
pub fn arc(arc: Arc) -> Json {
    object([
        ("startingAngle", arc.start.into()),
        ("endingAngle", arc.end.into()),
        ("innerRadius", arc.inner.into()),
    ])
}

//! Small frames and kits for the tests.

use heddle_convert::des2wf::{Conversion, ConvertError, convert};
use heddle_convert::kit::Kit;
use heddle_convert::library::DesignNames;
use heddle_convert::wireframe::{KitInstance, NodeKind};
use heddle_figma::{Limits, read};
use serde_json::{Value, json};

/// A kit entry with one variant for each `(suffix, props, width, height, slots)`; slots are `(name, y, size)`.
pub fn entry(name: &str, variants: &[Value]) -> Value {
    json!({
        "_id": format!("1_{name}"), "project_id": 1, "name": name, "family": "Board",
        "component_key": format!("key-{name}"), "component_node_id": format!("set-{name}"),
        "variant_properties": {}, "variant_defaults": variants.first().map(|v| v["variant_props"].clone()),
        "variants": variants, "text_slots": [], "default_size": {"width": 0, "height": 0},
        "lineage": {"source_file": "kit", "source_hash": "hash", "processor_version": "sweep@1.0", "index_schema_version": 1},
    })
}

pub fn variant(id: &str, props: &Value, width: f64, height: f64, slots: &[(&str, f64, f64)]) -> Value {
    let slots: Vec<Value> = slots
        .iter()
        .map(|(name, y, size)| {
            json!({"path": [name], "default": "Placeholder", "font_size": size, "shown": true,
                   "place": {"x": 16, "y": y, "width": width - 32.0, "height": size * 1.5}})
        })
        .collect();
    json!({"node_id": id, "component_key": format!("key-{id}"), "variant_props": props,
           "size": {"width": width, "height": height}, "text_slots": slots, "nested_components": []})
}

/// Buttons in two sizes, cards with one to three texts, an icon placeholder.
pub fn kit() -> Kit {
    Kit::load(&[
        entry(
            "Button",
            &[
                variant("b-md", &json!({"Size": "md"}), 120.0, 40.0, &[("Label", 10.0, 16.0)]),
                variant("b-lg", &json!({"Size": "lg"}), 120.0, 56.0, &[("Label", 18.0, 16.0)]),
            ],
        ),
        entry(
            "Card",
            &[
                variant("c-1", &json!({"Lines": "1"}), 320.0, 120.0, &[("Title", 16.0, 18.0)]),
                variant(
                    "c-2",
                    &json!({"Lines": "2"}),
                    320.0,
                    120.0,
                    &[("Title", 16.0, 18.0), ("Body", 48.0, 14.0)],
                ),
            ],
        ),
        entry("Icon/placeholder", &[variant("icon", &json!({}), 24.0, 24.0, &[])]),
    ])
}

pub fn rect(x: f64, y: f64, width: f64, height: f64) -> Value {
    json!({"x": x, "y": y, "width": width, "height": height})
}

pub fn text(id: &str, says: &str, place: impl Into<Value>) -> Value {
    let place = place.into();
    json!({"id": id, "name": id, "type": "TEXT", "characters": says, "absoluteBoundingBox": place,
           "style": {"fontFamily": "Inter", "fontSize": 16, "fontWeight": 400},
           "fills": [{"type": "SOLID", "color": {"r": 0.1, "g": 0.1, "b": 0.1, "a": 1}}]})
}

pub fn frame(children: &[Value]) -> Value {
    json!({"id": "1:0", "name": "Screen", "type": "FRAME", "clipsContent": true,
           "absoluteBoundingBox": rect(0.0, 0.0, 390.0, 844.0), "children": children})
}

pub fn filled(mut node: Value, grey: f64) -> Value {
    node["fills"] = json!([{"type": "SOLID", "color": {"r": grey, "g": grey, "b": grey, "a": 1}}]);
    node
}

/// Converts the frame `1:0` of a document with these components (`(id, key, name)`).
pub fn run_with(kit: &Kit, frame: &Value, components: &[(&str, &str)]) -> Result<Conversion, ConvertError> {
    let components: Value =
        components.iter().map(|(id, name)| ((*id).to_owned(), json!({"key": id, "name": name}))).collect();
    let bytes = json!({"document": frame, "components": components}).to_string();
    let document = read(bytes.as_bytes(), &Limits::default()).expect("a document");
    let index = document.find("1:0").expect("the frame");
    convert(&document, index, kit, &DesignNames::default())
}

pub fn run(frame: &Value) -> Conversion {
    run_with(&kit(), frame, &[("9:1", "Button"), ("9:2", "Card")]).expect("a conversion")
}

pub fn instances(made: &Conversion) -> Vec<&KitInstance> {
    let nodes = made.wireframe.nodes.iter();
    nodes
        .filter_map(|n| match &n.kind {
            NodeKind::Instance(instance) => Some(instance),
            _ => None,
        })
        .collect()
}

/// All that the wireframe says, in order.
pub fn said(made: &Conversion) -> Vec<String> {
    let mut said = Vec::new();
    for node in &made.wireframe.nodes {
        match &node.kind {
            NodeKind::Text { characters, .. } => said.push(characters.clone()),
            NodeKind::Instance(instance) => said.extend(instance.texts.iter().map(|w| w.characters.clone())),
            _ => {}
        }
    }
    said
}

//! Guards, ties, covers, and that what is said can really be seen.

use std::collections::HashMap;

use crate::common::{entry, filled, frame, instances, rect, run_with, text, variant};
use heddle_convert::graphics::RenderedKind;
use heddle_convert::kit::Kit;
use heddle_convert::library::{DesignNames, Entry};
use heddle_convert::preview::preview;
use heddle_convert::sweep::{LibraryFile, sweep};
use heddle_figma::{Document, Limits, read};
use serde_json::{Value, json};

fn instance(id: &str, component: &str, place: impl Into<Value>, children: &[Value]) -> Value {
    json!({"id": id, "name": "Layer", "type": "INSTANCE", "componentId": component,
           "absoluteBoundingBox": place.into(), "children": children})
}

fn icon(id: &str, x: f64, y: f64) -> Value {
    json!({"id": id, "name": "bell", "type": "VECTOR", "absoluteBoundingBox": rect(x, y, 20.0, 20.0),
           "fills": [{"type": "SOLID", "color": {"r": 0, "g": 0, "b": 0, "a": 1}}]})
}

/// A button of 120 × 40 that says one thing.
fn button() -> Value {
    let label = text("t", "Buy", rect(30.0, 30.0, 80.0, 20.0));
    filled(instance("1:1", "9:1", rect(20.0, 20.0, 120.0, 40.0), &[label]), 0.2)
}

#[test]
fn each_guard_keeps_its_row_out() {
    // proves D11
    let label: &[(&str, f64, f64)] = &[("Label", 10.0, 16.0)];
    let fine = variant("fine", &json!({"Size": "md"}), 120.0, 40.0, label);
    let with = |name: &str, id: &str, width: f64, height: f64, slots: &[(&str, f64, f64)]| {
        entry(name, &[variant(id, &json!({}), width, height, slots)])
    };
    for (guard, row) in [
        ("capacity", with("Button", "row", 120.0, 40.0, &[])),
        ("size", with("Button", "row", 120.0, 200.0, label)),
        ("size", with("Button", "row", 3000.0, 40.0, label)),
        ("meaning", with("Avatar", "row", 120.0, 40.0, label)),
    ] {
        let kit = Kit::load(&[row, entry("Button", std::slice::from_ref(&fine))]);
        let made = run_with(&kit, &frame(&[button()]), &[("9:1", "Button")]).expect("a conversion");
        assert_eq!(instances(&made)[0].component_node_id.as_deref(), Some("fine"), "{guard}");
        let refused = serde_json::to_value(&made.result.selection[0].refused).expect("JSON");
        assert_eq!(refused, json!({guard: 1}), "{guard}");
    }
    // A card would swallow the button in it, unless it has one itself.
    let card = |nested: Value| {
        let mut card =
            variant("card", &json!({}), 320.0, 120.0, &[("Title", 16.0, 18.0), ("Action", 80.0, 16.0)]);
        card["nested_components"] = nested;
        Kit::load(&[entry("Card", &[card])])
    };
    let inner = filled(
        instance(
            "1:2",
            "9:1",
            rect(36.0, 90.0, 120.0, 40.0),
            &[text("b", "Buy", rect(46.0, 100.0, 80.0, 20.0))],
        ),
        0.2,
    );
    let region = filled(
        instance(
            "1:1",
            "9:2",
            rect(20.0, 20.0, 320.0, 120.0),
            &[text("a", "Title", rect(36.0, 36.0, 80.0, 20.0)), inner],
        ),
        0.95,
    );
    let names = [("9:1", "Button"), ("9:2", "Card")];
    let swallowed =
        run_with(&card(json!([])), &frame(std::slice::from_ref(&region)), &names).expect("a conversion");
    assert!(instances(&swallowed).is_empty());
    let nested = json!([{"path": ["Action"], "name": "Button", "component_id": "b", "place": {"x": 16, "y": 70, "width": 120, "height": 40}}]);
    let kept = run_with(&card(nested), &frame(&[region]), &names).expect("a conversion");
    assert_eq!(instances(&kept).len(), 1);
    let texts: Vec<_> =
        instances(&kept)[0].texts.iter().map(|w| (w.path[0].as_str(), w.characters.as_str())).collect();
    assert_eq!(texts, [("Title", "Title"), ("Action", "Buy")]);
}

#[test]
fn a_value_that_the_set_does_not_enumerate_is_no_row() {
    // proves D7, D11
    let mut button = entry(
        "Button",
        &[
            variant("known", &json!({"Size": "md"}), 120.0, 40.0, &[]),
            variant("unknown", &json!({"Size": "huge"}), 120.0, 40.0, &[]),
        ],
    );
    button["variant_properties"] = json!({"Size": ["sm", "md"]});
    let kit = Kit::load(&[button]);
    assert_eq!(kit.rows.iter().filter_map(|r| r.component_node_id.as_deref()).collect::<Vec<_>>(), ["known"]);
    assert_eq!(kit.summary.unenumerated, 1);
}

#[test]
fn ties_fall_the_same_way_whatever_order_the_kit_comes_in() {
    // proves D11
    let rows = ["a", "b", "c"].map(|id| {
        let mut twin = entry("Button", &[variant(id, &json!({}), 120.0, 40.0, &[("Label", 10.0, 16.0)])]);
        twin["_id"] = json!(format!("1_{id}"));
        twin
    });
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let kit = Kit::load(&order.map(|at| rows[at].clone()));
        let made = run_with(&kit, &frame(&[button()]), &[("9:1", "Button")]).expect("a conversion");
        assert_eq!(instances(&made)[0].component_node_id.as_deref(), Some("a"), "{order:?}");
    }
}

#[test]
fn what_covers_a_graphic_is_told_and_every_graphic_has_an_end() {
    // proves D12
    let button_with_icon = |id: &str| {
        let mut with = variant(id, &json!({}), 40.0, 40.0, &[]);
        with["nested_components"] = json!([{"path": ["Icon"], "name": "Icon", "component_id": "i", "place": {"x": 10, "y": 10, "width": 20, "height": 20}}]);
        with
    };
    let kit = Kit::load(&[
        entry("Icon button", &[button_with_icon("with")]),
        entry("Badge", &[variant("badge", &json!({}), 80.0, 24.0, &[("Label", 4.0, 12.0)])]),
    ]);
    let alone = filled(instance("1:1", "9:1", rect(20.0, 20.0, 40.0, 40.0), &[icon("i1", 30.0, 30.0)]), 0.9);
    let badge = filled(
        instance(
            "1:2",
            "9:2",
            rect(20.0, 100.0, 80.0, 24.0),
            &[icon("i2", 22.0, 102.0), text("t", "New", rect(46.0, 104.0, 40.0, 16.0))],
        ),
        0.9,
    );
    // An icon on a photo is artwork of its own.
    let photo = json!({"id": "p", "name": "Photo", "type": "FRAME", "absoluteBoundingBox": rect(20.0, 200.0, 200.0, 100.0),
        "fills": [{"type": "IMAGE", "imageRef": "x", "scaleMode": "FILL"}], "children": [icon("i3", 190.0, 210.0)]});
    let made = run_with(&kit, &frame(&[alone, badge, photo]), &[("9:1", "Icon button"), ("9:2", "Badge")])
        .expect("a conversion");
    let ends: Vec<_> = made
        .result
        .graphic_classification
        .iter()
        .map(|g| (g.node_id.as_str(), g.rendered_kind, g.covered_by.as_deref()))
        .collect();
    assert_eq!(
        ends,
        [
            ("i1", Some(RenderedKind::PreservedInKit), Some("wf:1:1")),
            ("i2", Some(RenderedKind::Covered), Some("wf:1:2")),
            ("i3", Some(RenderedKind::Preserved), None),
        ]
    );
    assert_eq!(instances(&made)[0].icons[0].path, ["Icon"]);
}

/// Texts of a tree that can be seen.
fn seen(document: &Document<'_>) -> Vec<String> {
    let shown = document.nodes.iter().filter(|n| n.shown && n.opacity > 0.0);
    shown.filter_map(|n| n.characters()).map(str::to_owned).collect()
}

#[test]
fn what_the_ledger_says_is_kept_can_be_seen_in_the_drawn_wireframe() {
    // proves D10: read from the picture's tree, not from the converter's own word.
    let slot = |id: &str, name: &str, y: f64, extra: Value| {
        let mut slot = json!({"id": id, "name": name, "type": "TEXT", "characters": "Placeholder", "style": {"fontSize": 16},
            "absoluteBoundingBox": rect(16.0, y, 288.0, 24.0)});
        for (key, value) in extra.as_object().into_iter().flatten() {
            slot[key] = value.clone();
        }
        slot
    };
    let hidden = json!({"visible": false, "componentPropertyReferences": {"visible": "Has body#1:1"}});
    let library = json!({"document": {"id": "0:0", "type": "DOCUMENT", "children": [{"id": "0:1", "type": "CANVAS", "children": [
        {"id": "5:1", "name": "Card", "type": "COMPONENT", "absoluteBoundingBox": rect(0.0, 0.0, 320.0, 120.0),
         "children": [slot("5:2", "Title", 16.0, json!({})), slot("5:3", "Body", 48.0, hidden), slot("5:4", "Note", 80.0, json!({}))]}]}]},
        "components": {"5:1": {"key": "card", "name": "Card"}}})
    .to_string();
    let masters = read(library.as_bytes(), &Limits::default()).expect("a library");
    let file = LibraryFile { project_id: 1, file_key: "kit", source_hash: "hash" };
    let swept = sweep(&masters, file, &|entry: &Entry| entry.component_key.clone().unwrap_or_default());
    let kit = Kit::from_entries(&swept.entries);
    // Three texts: the third can only be written where the hidden slot is shown.
    let texts: Vec<Value> = ["One", "Two", "Three"]
        .iter()
        .enumerate()
        .map(|(at, says)| text(says, says, rect(36.0, 36.0 + 32.0 * at as f64, 200.0, 24.0)))
        .collect();
    let card = filled(instance("1:1", "9:2", rect(20.0, 20.0, 320.0, 120.0), &texts), 0.95);
    let source = json!({"document": frame(&[card, text("free", "Free", rect(20.0, 200.0, 80.0, 20.0))]),
                        "components": {"9:2": {"key": "x", "name": "Card"}}})
    .to_string();
    let source = read(source.as_bytes(), &Limits::default()).expect("a design");
    let index = source.find("1:0").expect("the frame");
    let made =
        heddle_convert::des2wf::convert(&source, index, &kit, &DesignNames::default()).expect("a conversion");
    assert_eq!(instances(&made).len(), 1);
    assert_eq!(instances(&made)[0].texts[1].visibility, ["Has body#1:1"]);
    let drawn = preview(&made.wireframe, &source, &HashMap::from([("hash", &masters)]));
    assert_eq!(seen(&drawn), ["One", "Two", "Three", "Free"]);
    // With fewer texts no placeholder is left to be read as content.
    let short = filled(instance("1:1", "9:2", rect(20.0, 20.0, 320.0, 120.0), &texts[..1]), 0.95);
    let short =
        json!({"document": frame(&[short]), "components": {"9:2": {"key": "x", "name": "Card"}}}).to_string();
    let short = read(short.as_bytes(), &Limits::default()).expect("a design");
    let index = short.find("1:0").expect("the frame");
    let made =
        heddle_convert::des2wf::convert(&short, index, &kit, &DesignNames::default()).expect("a conversion");
    let drawn = preview(&made.wireframe, &short, &HashMap::from([("hash", &masters)]));
    assert_eq!(seen(&drawn), ["One"]);
    // Without the master, its box says the same, and tells.
    let without = preview(&made.wireframe, &short, &HashMap::new());
    assert_eq!(seen(&without), ["One"]);
    assert!(without.warnings.get("no_master").is_some());
}

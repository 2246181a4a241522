//! From library files to registry documents (D6, D7).

use heddle_convert::kit::Kit;
use heddle_convert::library::Entry;
use heddle_convert::sweep::{LibraryFile, Sweep, sweep};
use heddle_figma::{Limits, read};
use serde_json::{Value, json};

fn run(document: &Value) -> Sweep {
    let bytes = document.to_string();
    let read = read(bytes.as_bytes(), &Limits::default()).expect("a document");
    let file = LibraryFile { project_id: 7, file_key: "lib", source_hash: "h" };
    sweep(&read, file, &|entry: &Entry| {
        let key = entry.component_key.as_deref();
        format!("7_{}", key.or(entry.component_node_id.as_deref()).unwrap_or_default())
    })
}

fn component(id: &str, name: &str, children: &[Value]) -> Value {
    json!({"id": id, "name": name, "type": "COMPONENT", "absoluteBoundingBox": {"x": 10, "y": 10, "width": 100, "height": 40},
           "children": children})
}

fn set(id: &str, name: &str, children: &[Value]) -> Value {
    json!({"id": id, "name": name, "type": "COMPONENT_SET", "absoluteBoundingBox": {"x": 0, "y": 0, "width": 300, "height": 300}, "children": children})
}

fn page(children: &[Value], components: &Value, sets: &Value) -> Value {
    json!({"document": {"id": "0:0", "type": "DOCUMENT", "children": [{"id": "0:1", "name": "Forms", "type": "CANVAS", "children": children}]},
           "components": components, "componentSets": sets})
}

fn slot(id: &str, name: &str) -> Value {
    json!({"id": id, "name": name, "type": "TEXT", "characters": "x", "absoluteBoundingBox": {"x": 20, "y": 20, "width": 40, "height": 20}})
}

#[test]
fn sets_with_equal_variants_are_two_units_and_masters_are_found_at_any_depth() {
    // proves D7 — F15, F31, F18, F30.
    let library = page(
        &[
            set("1:0", "ButtonA", &[component("1:1", "Size=sm", &[])]),
            set("2:0", "ButtonB", &[component("2:1", "Size=sm", &[])]),
            json!({"id": "3:0", "name": "Board", "type": "FRAME", "children": [
                {"id": "3:1", "name": "Group", "type": "GROUP", "children": [component("3:2", "icon/eye", &[])]},
                {"id": "3:3", "type": "INSTANCE", "componentId": "3:2", "children": [component("I3:3;9", "not a master", &[])]}]}),
        ],
        &json!({"1:1": {"key": "ka", "name": "Size=sm", "componentSetId": "1:0"}, "3:2": {"key": "eye", "name": "icon/eye"}}),
        &json!({"1:0": {"key": "A", "name": "ButtonA"}, "2:0": {"key": "", "name": "ButtonB"}}),
    );
    let swept = run(&library);
    let found: Vec<_> =
        swept.entries.iter().map(|e| (e.id.as_str(), e.name.as_str(), e.family.as_str())).collect();
    // A set without a publish key goes by its node: registered all the same.
    assert_eq!(
        found,
        [("7_2:0", "ButtonB", "Forms"), ("7_A", "ButtonA", "Forms"), ("7_eye", "icon/eye", "Board")]
    );
    let kit = Kit::from_entries(&swept.entries);
    assert_eq!(kit.rows.len(), 3);
    assert_eq!(swept.entries[0].lineage.source_hash, "h");
}

#[test]
fn variants_that_claim_the_same_values_are_reported_and_none_is_picked() {
    // proves D7 — F16.
    let twins = [
        component("1:1", "State=on", &[]),
        component("1:2", "State=on", &[]),
        component("1:3", "State=off", &[]),
    ];
    let swept = run(&page(&[set("1:0", "Switch", &twins)], &json!({}), &json!({})));
    assert_eq!(swept.entries[0].conflicts().len(), 1);
    assert!(swept.warnings.get("conflicting_variants").is_some());
    let kit = Kit::from_entries(&swept.entries);
    assert_eq!(kit.rows.iter().filter_map(|r| r.component_node_id.as_deref()).collect::<Vec<_>>(), ["1:3"]);
    assert_eq!(kit.summary.conflicting, 2);
}

#[test]
fn layers_of_one_name_get_paths_of_their_own() {
    // proves D7 — F26: two buttons in a modal, both labels can be written.
    let nested = |id: &str| {
        json!({"id": id, "name": "Button", "type": "INSTANCE", "componentId": "9:1", "absoluteBoundingBox": {"x": 20, "y": 20, "width": 40, "height": 20},
                                   "children": [slot(&format!("I{id};1"), "Label")]})
    };
    let swept = run(&page(
        &[component("1:1", "Modal", &[nested("1:2"), nested("1:3")])],
        &json!({"9:1": {"key": "b", "name": "Button"}}),
        &json!({}),
    ));
    let variant = &swept.entries[0].variants[0];
    let paths: Vec<_> = variant.text_slots.iter().map(|s| s.path.join("/")).collect();
    assert_eq!(paths, ["Button/Label", "Button[2]/Label"]);
    assert_eq!(variant.nested_components.len(), 2);
    assert_eq!(Kit::from_entries(&swept.entries).rows[0].capacity(), 2);
}

#[test]
fn a_layer_that_a_property_hides_is_an_optional_slot() {
    // proves D7 — F03.
    let mut badge = slot("1:2", "Badge");
    badge["visible"] = json!(false);
    badge["componentPropertyReferences"] = json!({"visible": "Has badge#1:0", "characters": "Text#1:1"});
    let mut dead = slot("1:3", "Never");
    dead["visible"] = json!(false);
    let swept =
        run(&page(&[component("1:1", "Row", &[slot("1:4", "Title"), badge, dead])], &json!({}), &json!({})));
    let slots = &swept.entries[0].variants[0].text_slots;
    assert_eq!(slots[1].visibility, ["Has badge#1:0"]);
    assert_eq!(slots[1].property.as_deref(), Some("Text#1:1"));
    assert!(!slots[1].shown && slots[1].usable() && !slots[2].usable());
    assert_eq!(Kit::from_entries(&swept.entries).rows[0].capacity(), 2);
}

#[test]
fn every_hidden_layer_on_the_way_needs_a_property_of_the_master() {
    // proves D7, D10: a text that is written where nothing shows it would be lost.
    let hide = |mut node: Value, key: Option<&str>| {
        node["visible"] = json!(false);
        if let Some(key) = key {
            node["componentPropertyReferences"] = json!({"visible": key});
        }
        node
    };
    let group = |id: &str, child: Value| json!({"id": id, "name": id, "type": "FRAME", "children": [child]});
    let both = hide(group("both", hide(slot("1:2", "A"), Some("Inner#1:0"))), Some("Outer#1:1"));
    let outer_only = hide(group("outer", hide(slot("1:3", "B"), None)), Some("Outer#1:1"));
    let foreign = json!({"id": "1:4", "name": "Nested", "type": "INSTANCE", "componentId": "9:9",
                         "children": [hide(slot("I1:4;1", "C"), Some("Theirs#9:0"))]});
    let swept = run(&page(&[component("1:1", "Row", &[both, outer_only, foreign])], &json!({}), &json!({})));
    let slots = &swept.entries[0].variants[0].text_slots;
    assert_eq!(slots[0].visibility, ["Inner#1:0", "Outer#1:1"]);
    assert!(slots[0].usable() && !slots[1].usable() && !slots[2].usable());
}

#[test]
fn axes_come_from_definitions_and_values_may_hold_commas_and_equals_signs() {
    let mut odd = set("1:0", "Field", &[component("1:1", "TextField/State=a, b=c, Size=sm", &[])]);
    odd["componentPropertyDefinitions"] = json!({
        "TextField/State": {"type": "VARIANT", "defaultValue": "a, b=c", "variantOptions": ["a, b=c"]},
        "Size": {"type": "VARIANT", "defaultValue": "sm", "variantOptions": ["sm", "md"]}});
    let swept = run(&page(&[odd], &json!({}), &json!({})));
    let props = &swept.entries[0].variants[0].variant_props;
    assert_eq!(props["TextField/State"], "a, b=c");
    assert_eq!(props["Size"], "sm");
    assert_eq!(swept.entries[0].variant_properties["Size"], ["sm", "md"]);
}

#[test]
fn a_file_without_components_says_so() {
    let swept = run(&page(&[json!({"id": "1:0", "type": "FRAME"})], &json!({}), &json!({})));
    assert!(swept.entries.is_empty() && swept.warnings.get("no_components").is_some());
}

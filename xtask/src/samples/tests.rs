//! What every reader of the samples relies on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde_json::Value;

use super::files;

fn samples() -> &'static [(&'static str, Value)] {
    static SAMPLES: OnceLock<Vec<(&'static str, Value)>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let parsed = files().into_iter().map(|(name, text)| (name, serde_json::from_str(&text).unwrap()));
        parsed.collect()
    })
}

fn sample(name: &str) -> &'static Value {
    &samples().iter().find(|(known, _)| *known == name).unwrap().1
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// Every node, parents first, with the set it is in, if any.
fn nodes(file: &Value) -> Vec<(&Value, Option<&Value>)> {
    fn walk<'a>(node: &'a Value, set: Option<&'a Value>, out: &mut Vec<(&'a Value, Option<&'a Value>)>) {
        out.push((node, set));
        let single = node["type"] == "COMPONENT" && set.is_none();
        let set = if node["type"] == "COMPONENT_SET" || single { Some(node) } else { set };
        for child in node["children"].as_array().into_iter().flatten() {
            walk(child, set, out);
        }
    }
    let mut out = Vec::new();
    walk(&file["document"], None, &mut out);
    out
}

#[test]
fn the_same_sources_give_the_same_bytes() {
    assert!(files() == files());
}

#[test]
fn ids_are_unique() {
    for (name, file) in samples() {
        let mut seen = BTreeSet::new();
        for (node, _) in nodes(file) {
            assert!(seen.insert(text(node, "id")), "{name}: {} is there twice", node["id"]);
        }
        for map in ["components", "componentSets", "styles"] {
            let keys: Vec<_> =
                file[map].as_object().unwrap().values().map(|entry| text(entry, "key")).collect();
            let unique: BTreeSet<_> = keys.iter().collect();
            assert_eq!(keys.len(), unique.len(), "{name}: {map}");
            assert!(keys.iter().all(|key| key.len() == 40), "{name}: {map}");
        }
        assert!(
            file["styles"].as_object().unwrap().keys().all(|id| !seen.contains(id.as_str())),
            "{name}: a style has a node's id"
        );
    }
}

#[test]
fn instances_and_styles_resolve() {
    for (name, file) in samples() {
        let ids: BTreeSet<_> = nodes(file).iter().map(|(node, _)| text(node, "id")).collect();
        for (node, _) in nodes(file) {
            for style in node["styles"].as_object().into_iter().flatten() {
                assert!(file["styles"][style.1.as_str().unwrap()].is_object(), "{name}: {style:?}");
            }
            if node["type"] != "INSTANCE" {
                continue;
            }
            let component = &file["components"][text(node, "componentId")];
            assert!(component.is_object(), "{name}: {} has no component", node["id"]);
            if let Some(set) = component["componentSetId"].as_str() {
                assert!(file["componentSets"][set].is_object(), "{name}: {} has no set", node["id"]);
            }
            for change in node["overrides"].as_array().unwrap() {
                assert!(
                    ids.contains(text(change, "id")),
                    "{name}: {} overrides {}",
                    node["id"],
                    change["id"]
                );
            }
            for property in node["componentProperties"].as_object().into_iter().flatten() {
                let (kind, value) = (text(property.1, "type"), &property.1["value"]);
                if kind == "INSTANCE_SWAP" {
                    assert!(file["components"][value.as_str().unwrap()].is_object(), "{name}: {property:?}");
                }
            }
        }
    }
}

#[test]
fn properties_are_defined_and_used() {
    for name in ["wireframe-kit.json", "design-system.json"] {
        let file = sample(name);
        let mut used: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (node, set) in nodes(file) {
            let inside = text(node, "id").starts_with('I');
            for (field, property) in node["componentPropertyReferences"].as_object().into_iter().flatten() {
                if inside {
                    continue;
                }
                let (set, property) = (set.unwrap(), property.as_str().unwrap());
                let definition = &set["componentPropertyDefinitions"][property];
                let kind = match field.as_str() {
                    "characters" => "TEXT",
                    "visible" => "BOOLEAN",
                    _ => "INSTANCE_SWAP",
                };
                assert_eq!(text(definition, "type"), kind, "{name}: {property} of {}", node["id"]);
                used.entry(text(set, "id")).or_default().insert(property);
            }
        }
        for (node, _) in nodes(file) {
            for (property, definition) in
                node["componentPropertyDefinitions"].as_object().into_iter().flatten()
            {
                let drives = used.get(text(node, "id")).is_some_and(|used| used.contains(property.as_str()));
                assert!(drives || definition["type"] == "VARIANT", "{name}: {property} drives nothing");
            }
        }
    }
}

#[test]
fn libraries_are_broad() {
    for name in ["wireframe-kit.json", "design-system.json"] {
        let sets: Vec<_> =
            nodes(sample(name)).into_iter().filter(|(node, _)| node["type"] == "COMPONENT_SET").collect();
        assert!(sets.len() >= 25, "{name} has {} sets", sets.len());
        for (set, _) in sets {
            let axes = set["componentPropertyDefinitions"].as_object().unwrap();
            assert!(
                axes.values().any(|axis| axis["type"] == "VARIANT"),
                "{name}: {} has no axis",
                set["name"]
            );
        }
    }
}

#[test]
fn every_text_of_a_component_has_a_path_of_its_own() {
    fn paths(node: &Value, path: &str, out: &mut Vec<String>) {
        for child in node["children"].as_array().into_iter().flatten() {
            let path = format!("{path}/{}", text(child, "name"));
            if child["type"] == "TEXT" {
                out.push(path.clone());
            }
            paths(child, &path, out);
        }
    }
    for name in ["wireframe-kit.json", "design-system.json"] {
        for (node, _) in nodes(sample(name)).into_iter().filter(|(node, _)| node["type"] == "COMPONENT") {
            let mut all = Vec::new();
            paths(node, "", &mut all);
            let unique: BTreeSet<_> = all.iter().collect();
            assert_eq!(all.len(), unique.len(), "{name}: {} {all:?}", node["name"]);
        }
    }
}

#[test]
fn screens_use_the_design_system_by_its_keys() {
    let keys = |file: &'static Value, map: &str| -> BTreeSet<&str> {
        file[map].as_object().unwrap().values().map(|entry| text(entry, "key")).collect()
    };
    let (screens, system) = (sample("screens.json"), sample("design-system.json"));
    for map in ["components", "componentSets", "styles"] {
        assert!(keys(screens, map).is_subset(&keys(system, map)), "{map}");
        assert!(screens[map].as_object().unwrap().values().all(|entry| entry["remote"] == true), "{map}");
    }
    let own: BTreeSet<_> = nodes(system).into_iter().map(|(node, _)| text(node, "id")).collect();
    let local =
        screens["components"].as_object().unwrap().keys().filter(|id| own.contains(id.as_str())).count();
    assert_eq!(local, 0, "ids of remote components are the file's own");
}

fn edges(node: &Value) -> Option<[f64; 4]> {
    let bounds = &node["absoluteBoundingBox"];
    let side = |field: &str| bounds[field].as_f64();
    let (x, y) = (side("x")?, side("y")?);
    Some([x, y, x + side("width")?, y + side("height")?])
}

#[test]
fn boxes_are_sane() {
    for (name, file) in samples() {
        for (node, _) in nodes(file) {
            let Some([left, top, right, bottom]) = edges(node) else { continue };
            assert!(right >= left && bottom >= top, "{name}: {} is inside out", node["id"]);
            assert!(right - left < 4000.0 && bottom - top < 8000.0, "{name}: {} is huge", node["id"]);
            let flows = node["layoutMode"].is_string();
            for child in node["children"].as_array().into_iter().flatten() {
                let Some([a, b, c, d]) = edges(child) else { continue };
                let placed = child["layoutPositioning"] == "ABSOLUTE" || child["visible"] == false;
                if !flows || placed || node["clipsContent"] == true {
                    continue;
                }
                let inside = a >= left - 1.0 && b >= top - 1.0 && c <= right + 1.0 && d <= bottom + 1.0;
                assert!(inside, "{name}: {} {} leaves {}", child["id"], child["name"], node["name"]);
            }
        }
    }
}

#[test]
fn boxes_follow_from_the_transforms() {
    for (name, file) in samples() {
        for (node, _) in nodes(file) {
            let Some([left, top, ..]) = edges(node) else { continue };
            if node["rotation"].is_number() {
                continue;
            }
            for child in node["children"].as_array().into_iter().flatten() {
                let Some([a, b, ..]) = edges(child) else { continue };
                if child["rotation"].is_number() {
                    continue;
                }
                let offset = |row: usize| child["relativeTransform"][row][2].as_f64().unwrap();
                let near = (a - left - offset(0)).abs() < 0.01 && (b - top - offset(1)).abs() < 0.01;
                assert!(near, "{name}: {}", child["id"]);
            }
        }
    }
}

#[test]
fn runs_cover_their_text() {
    for (name, file) in samples() {
        for (node, _) in nodes(file).into_iter().filter(|(node, _)| node["type"] == "TEXT") {
            let runs = node["characterStyleOverrides"].as_array().unwrap();
            assert!(runs.len() <= text(node, "characters").chars().count(), "{name}: {}", node["id"]);
            for run in runs.iter().filter(|run| **run != 0) {
                assert!(node["styleOverrideTable"][run.to_string()].is_object(), "{name}: {}", node["id"]);
            }
        }
    }
}

#[test]
fn screens_show_what_designs_are_made_of() {
    let nodes = nodes(sample("screens.json"));
    let count = |test: &dyn Fn(&Value) -> bool| nodes.iter().filter(|(node, _)| test(node)).count();
    let paints = |kind: &'static str| {
        move |node: &Value| node["fills"].as_array().into_iter().flatten().any(|paint| paint["type"] == kind)
    };
    assert!(count(&paints("IMAGE")) > 0, "photos");
    assert!(count(&paints("GRADIENT_LINEAR")) > 0, "gradients");
    assert!(count(&|node| node["isMask"] == true) > 0, "masks");
    assert!(count(&|node| node["layoutPositioning"] == "ABSOLUTE") > 0, "absolute layers");
    assert!(count(&|node| node["visible"] == false) > 0, "hidden layers");
    assert!(count(&|node| node["effects"][0]["type"] == "DROP_SHADOW") > 0, "shadows");
    assert!(
        count(&|node| node["characterStyleOverrides"].as_array().is_some_and(|runs| !runs.is_empty())) > 0,
        "runs"
    );
}

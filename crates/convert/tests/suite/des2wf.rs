//! What a conversion keeps, chooses and says, on small frames.

use crate::common::{entry, filled, frame, instances, kit, rect, run, run_with, said, text, variant};
use heddle_convert::des2wf::ConvertError;
use heddle_convert::graphics::{Action, RenderedKind};
use heddle_convert::kit::Kit;
use heddle_convert::outline::Unseen;
use heddle_convert::wireframe::NodeKind;
use serde_json::{Value, json};

fn instance(id: &str, component: &str, place: impl Into<Value>, children: &[Value]) -> Value {
    let place = place.into();
    json!({"id": id, "name": "Layer", "type": "INSTANCE", "componentId": component,
           "absoluteBoundingBox": place, "children": children})
}

fn button(id: &str, says: &str, y: f64) -> Value {
    let label = text(&format!("I{id};9:9"), says, rect(30.0, y + 10.0, 80.0, 20.0));
    filled(instance(id, "9:1", rect(20.0, y, 120.0, 40.0), &[label]), 0.2)
}

#[test]
fn components_become_the_kits_and_keep_their_own_texts() {
    // proves D10, D11 — F23, F26: two instances of one master, two texts.
    let made = run(&frame(&[button("1:1", "Buy now", 20.0), button("1:2", "Later", 80.0)]));
    let found = instances(&made);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|i| i.component_node_id.as_deref() == Some("b-md")), "{found:#?}");
    assert_eq!(said(&made), ["Buy now", "Later"]);
    assert_eq!(found[0].texts[0].source_ids, ["I1:1;9:9"]);
    assert!(made.result.score.value > 0.7, "{:?}", made.result.score);
    assert_eq!(made.result.text.lost, Vec::<String>::new());
}

#[test]
fn every_emitted_node_names_its_sources_and_its_parent() {
    let made =
        run(&frame(&[button("1:1", "Buy", 20.0), text("1:2", "Hello", rect(20.0, 100.0, 80.0, 20.0))]));
    let ids: Vec<&str> = made.wireframe.nodes.iter().map(|n| n.id.as_str()).collect();
    for (at, node) in made.wireframe.nodes.iter().enumerate() {
        assert!(!node.source_ids.is_empty());
        match &node.parent {
            None => assert_eq!(at, 0),
            Some(parent) => assert!(ids[..at].contains(&parent.as_str()), "parents come first"),
        }
    }
    assert_eq!((made.wireframe.based_on, made.wireframe.page_type), (1, 0));
    let document = serde_json::to_value(&made.wireframe).expect("JSON");
    assert_eq!(document["memos"], json!([]));
}

#[test]
fn more_strings_than_slots_keep_the_row_out_and_lose_nothing() {
    // proves D10, D11: capacity is a hard guard.
    let texts: Vec<Value> = (0..3)
        .map(|i| {
            text(&format!("t{i}"), &format!("Line {i}"), rect(30.0, 30.0 + 30.0 * f64::from(i), 200.0, 20.0))
        })
        .collect();
    let card = filled(instance("1:1", "9:2", rect(20.0, 20.0, 320.0, 120.0), &texts), 0.9);
    let made = run(&frame(&[card]));
    assert!(instances(&made).is_empty(), "no card of the kit takes three texts");
    assert_eq!(said(&made), ["Line 0", "Line 1", "Line 2"]);
    let decision = &made.result.selection[0];
    let refused = serde_json::to_value(&decision.refused).expect("JSON");
    assert_eq!(refused["capacity"], 2, "{refused}");
    assert_eq!(made.result.confidence.flag_count, 1);
}

#[test]
fn slots_are_counted_by_path_and_each_is_written_once() {
    // proves D7: two declarations of one path are one destination.
    let twice = variant("c-x", &json!({}), 320.0, 120.0, &[("Title", 16.0, 18.0), ("Title", 48.0, 14.0)]);
    let kit = Kit::load(&[entry("Card", &[twice])]);
    assert_eq!(kit.rows[0].capacity(), 1);
    let texts =
        [text("a", "One", rect(30.0, 30.0, 100.0, 20.0)), text("b", "Two", rect(30.0, 70.0, 100.0, 20.0))];
    let card = filled(instance("1:1", "9:2", rect(20.0, 20.0, 320.0, 120.0), &texts), 0.9);
    let made = run_with(&kit, &frame(&[card]), &[("9:2", "Card")]).expect("a conversion");
    assert!(instances(&made).is_empty());
    assert_eq!(said(&made), ["One", "Two"]);
    assert!(made.result.score.violations.abs() < 1e-9);
}

#[test]
fn the_unit_is_a_variant_and_the_fitting_one_is_taken() {
    // proves D7, D11
    let one = text("a", "Title", rect(30.0, 36.0, 100.0, 20.0));
    let two = [
        text("b", "Title", rect(30.0, 236.0, 100.0, 20.0)),
        text("c", "Body", rect(30.0, 268.0, 100.0, 20.0)),
    ];
    let cards = [
        filled(instance("1:1", "9:2", rect(20.0, 20.0, 320.0, 120.0), &[one]), 0.9),
        filled(instance("1:2", "9:3", rect(20.0, 220.0, 320.0, 120.0), &two), 0.9),
    ];
    let made = run_with(&kit(), &frame(&cards), &[("9:2", "Card"), ("9:3", "Card")]).expect("a conversion");
    let rows: Vec<_> =
        instances(&made).iter().map(|i| i.component_node_id.clone().unwrap_or_default()).collect();
    assert_eq!(rows, ["c-1", "c-2"]);
    // Votes go to a key unique to the row, never to the entry's id that all variants share.
    let keys: Vec<_> = instances(&made).iter().map(|i| i.row.clone()).collect();
    assert_ne!(keys[0], keys[1]);
    assert_eq!(instances(&made)[0].entry_id, instances(&made)[1].entry_id);
}

#[test]
fn one_master_gets_one_answer_within_a_run() {
    // proves D11: the appearance with fewer texts gets the row that serves them all.
    let full =
        [text("a", "Title", rect(30.0, 36.0, 100.0, 20.0)), text("b", "Body", rect(30.0, 68.0, 100.0, 20.0))];
    let bare = text("c", "Title", rect(30.0, 236.0, 100.0, 20.0));
    let cards = [
        filled(instance("1:1", "9:2", rect(20.0, 220.0, 320.0, 120.0), &[bare]), 0.9),
        filled(instance("1:2", "9:2", rect(20.0, 20.0, 320.0, 120.0), &full), 0.9),
    ];
    let made = run(&frame(&cards));
    let rows: Vec<_> = instances(&made).iter().map(|i| i.row.clone()).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0], rows[1]);
    // The slot that stays empty is cleared, so that no placeholder is read as content.
    assert_eq!(instances(&made)[0].cleared, [["Body"]]);
}

#[test]
fn what_can_not_be_reached_or_told_apart_is_dropped_and_counted() {
    // proves D7 — F16.
    let mut unreachable = entry("Button", &[variant("", &json!({}), 120.0, 40.0, &[("Label", 10.0, 16.0)])]);
    unreachable["component_key"] = Value::Null;
    unreachable["component_node_id"] = Value::Null;
    let mut conflicting = entry(
        "Switch",
        &[
            variant("s1", &json!({"State": "on"}), 40.0, 24.0, &[]),
            variant("s2", &json!({"State": "on"}), 40.0, 24.0, &[]),
            variant("s3", &json!({"State": "off"}), 40.0, 24.0, &[]),
        ],
    );
    conflicting["conflicts"] = json!([{"State": "on"}]);
    let mut stale = entry("Card", &[variant("c", &json!({}), 320.0, 120.0, &[])]);
    stale["lineage"]["processor_version"] = json!("sweep@0.1");
    let kit = Kit::load(&[unreachable, conflicting, stale, json!("nonsense")]);
    let summary = &kit.summary;
    assert_eq!(
        (summary.entries, summary.unreachable, summary.conflicting, summary.stale, summary.unreadable),
        (4, 1, 2, 1, 1)
    );
    let rows: Vec<_> = kit.rows.iter().filter_map(|r| r.component_node_id.clone()).collect();
    assert_eq!(rows, ["c", "s3"]);
}

#[test]
fn texts_that_can_not_be_seen_are_listed_with_the_reason() {
    // proves D10 — F01, F02.
    let mut hidden = text("h", "hidden", rect(20.0, 20.0, 80.0, 20.0));
    hidden["visible"] = json!(false);
    let group = json!({"id": "g", "name": "g", "type": "GROUP", "visible": false, "absoluteBoundingBox": rect(0.0, 0.0, 9.0, 9.0),
                       "children": [text("u", "under", rect(0.0, 0.0, 9.0, 9.0))]});
    let mut clear = text("t", "clear", rect(20.0, 60.0, 80.0, 20.0));
    clear["opacity"] = json!(0);
    let away = text("w", "away", rect(500.0, 60.0, 80.0, 20.0));
    let glyph = text("i", "\u{f101}", rect(20.0, 90.0, 20.0, 20.0));
    let blank = text("b", "  \n", rect(20.0, 120.0, 20.0, 20.0));
    let seen = text("s", "seen 👋", rect(20.0, 150.0, 80.0, 20.0));
    let made = run(&frame(&[hidden, group, clear, away, glyph, blank, seen]));
    assert_eq!(said(&made), ["seen 👋"]);
    let unseen: Vec<_> = made.result.text.unseen.iter().map(|u| (u.node_id.as_str(), u.reason)).collect();
    let expected = [
        ("h", Unseen::Hidden),
        ("u", Unseen::Hidden),
        ("t", Unseen::Transparent),
        ("w", Unseen::Clipped),
        ("i", Unseen::IconGlyph),
    ];
    assert_eq!(unseen, expected);
}

#[test]
fn empty_slots_and_wrappers_leave_nothing_behind() {
    // F04, F38.
    let hidden_icon = json!({"id": "3", "name": "icon", "type": "INSTANCE", "visible": false, "absoluteBoundingBox": rect(20.0, 20.0, 45.0, 45.0)});
    let slot = json!({"id": "2", "name": "Button", "type": "FRAME", "absoluteBoundingBox": rect(20.0, 20.0, 45.0, 45.0), "children": [hidden_icon]});
    let deep = (0..20).fold(text("t", "Hello", rect(20.0, 100.0, 80.0, 20.0)), |inner, i| {
        json!({"id": format!("w{i}"), "name": "wrap", "type": "FRAME", "absoluteBoundingBox": rect(20.0, 100.0, 80.0, 20.0), "children": [inner]})
    });
    let empty: Vec<Value> = (0..50)
        .map(|i| json!({"id": format!("e{i}"), "name": "Rectangle", "type": "FRAME", "absoluteBoundingBox": rect(0.0, 0.0, 50.0, 50.0)}))
        .collect();
    let mut children = vec![slot, deep];
    children.extend(empty);
    let made = run(&frame(&children));
    let kinds: Vec<_> = made.wireframe.nodes.iter().map(|n| n.source_ids[0].as_str()).collect();
    assert_eq!(kinds, ["1:0", "t"]);
}

#[test]
fn what_lies_on_top_stays_on_top_and_keeps_its_place() {
    // F05, F07, F35.
    let photo = json!({"id": "p", "name": "Photo", "type": "RECTANGLE", "absoluteBoundingBox": rect(20.0, 20.0, 200.0, 100.0),
                       "fills": [{"type": "IMAGE", "imageRef": "x", "scaleMode": "FILL"}]});
    let mut badge = filled(
        json!({"id": "b", "name": "Dot", "type": "ELLIPSE", "absoluteBoundingBox": rect(200.0, 12.0, 16.0, 16.0)}),
        0.3,
    );
    badge["layoutPositioning"] = json!("ABSOLUTE");
    let line = json!({"id": "l", "name": "Line", "type": "LINE", "absoluteBoundingBox": rect(20.0, 140.0, 300.0, 0.0), "strokeWeight": 1,
                      "strokes": [{"type": "SOLID", "color": {"r": 0, "g": 0, "b": 0, "a": 1}}]});
    let made = run(&frame(&[photo, badge, line]));
    let order: Vec<_> = made.wireframe.nodes.iter().map(|n| n.source_ids[0].as_str()).collect();
    assert_eq!(order, ["1:0", "p", "b", "l"]);
    let dot = &made.wireframe.nodes[2];
    assert!(dot.absolute && (dot.place.x - 200.0).abs() < 1e-9 && (dot.place.y - 12.0).abs() < 1e-9);
    assert!(matches!(made.wireframe.nodes[3].kind, NodeKind::Divider { .. }));
}

#[test]
fn artwork_is_kept_where_it_alone_carries_meaning() {
    // proves D12 — F37.
    let icon = |id: &str, name: &str, x: f64, y: f64, size: f64| {
        json!({"id": id, "name": name, "type": "BOOLEAN_OPERATION", "booleanOperation": "UNION", "absoluteBoundingBox": rect(x, y, size, size),
               "fills": [{"type": "SOLID", "color": {"r": 0, "g": 0, "b": 0, "a": 1}}],
               "children": [{"id": format!("{id}v"), "type": "VECTOR", "absoluteBoundingBox": rect(x, y, size, size)}]})
    };
    let alone = icon("alone", "bell", 300.0, 20.0, 24.0);
    let row = json!({"id": "row", "name": "Row", "type": "FRAME", "absoluteBoundingBox": rect(20.0, 100.0, 300.0, 40.0),
                     "children": [icon("beside", "home", 30.0, 108.0, 24.0), text("t", "Home", rect(64.0, 110.0, 80.0, 20.0))]});
    let logo = icon("logo", "Logo / Acme", 20.0, 20.0, 32.0);
    let scene = icon("scene", "Illustration", 20.0, 200.0, 240.0);
    let made = run(&frame(&[alone, row, logo, scene]));
    let by =
        |id: &str| made.result.graphic_classification.iter().find(|g| g.node_id == id).expect("a decision");
    for (id, action, rendered) in [
        ("alone", Action::Preserve, RenderedKind::Preserved),
        ("beside", Action::Simplify, RenderedKind::Kit),
        ("logo", Action::Preserve, RenderedKind::Preserved),
    ] {
        assert_eq!((by(id).action, by(id).rendered_kind), (action, Some(rendered)), "{id}");
    }
    assert_eq!(by("scene").action, Action::Simplify);
    // Each is one atom; its paths are no layers of the wireframe.
    assert!(
        made.result
            .graphic_classification
            .iter()
            .all(|g| !g.node_id.ends_with('v') && !g.evidence.is_empty())
    );
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let screen = frame(&[
        button("1:1", "Buy now", 20.0),
        button("1:2", "Later", 80.0),
        text("1:3", "日本語", rect(20.0, 200.0, 80.0, 20.0)),
    ]);
    let (a, b) = (run(&screen), run(&screen));
    assert_eq!(serde_json::to_vec(&a.result).expect("JSON"), serde_json::to_vec(&b.result).expect("JSON"));
    assert_eq!(
        serde_json::to_vec(&a.wireframe).expect("JSON"),
        serde_json::to_vec(&b.wireframe).expect("JSON")
    );
    assert_eq!(a.parse_json, b.parse_json);
}

#[test]
fn a_kit_without_components_and_a_frame_without_content_are_refused() {
    let screen = frame(&[text("1:2", "Hello", rect(20.0, 20.0, 80.0, 20.0))]);
    let empty = run_with(&Kit::load(&[]), &screen, &[]).expect_err("no kit");
    assert_eq!(empty.code(), "empty_kit");
    let blank = run_with(&kit(), &frame(&[]), &[]).expect_err("nothing to see");
    assert_eq!(blank, ConvertError::NothingSeen { name: "Screen".to_owned() });
}

#[test]
fn texts_are_found_wherever_they_hang() {
    // proves D10: in a boolean operation, below a shape, below a text, below an icon, and as the frame itself.
    let under = |kind: &str, y: f64, says: &str| {
        let mut node = filled(
            json!({"id": kind, "name": kind, "type": kind, "absoluteBoundingBox": rect(20.0, y, 200.0, 40.0)}),
            0.5,
        );
        node["children"] = json!([text(&format!("in {kind}"), says, rect(30.0, y + 10.0, 80.0, 20.0))]);
        node
    };
    let mut parent = text("outer", "Outer", rect(20.0, 300.0, 80.0, 20.0));
    parent["children"] = json!([text("inner", "Inner", rect(20.0, 330.0, 80.0, 20.0))]);
    let kinds = ["BOOLEAN_OPERATION", "RECTANGLE", "VECTOR", "ELLIPSE"];
    let mut children: Vec<Value> =
        kinds.iter().enumerate().map(|(at, kind)| under(kind, 50.0 * at as f64, kind)).collect();
    children.push(parent);
    let made = run(&frame(&children));
    let mut found = said(&made);
    found.sort();
    assert_eq!(found, ["BOOLEAN_OPERATION", "ELLIPSE", "Inner", "Outer", "RECTANGLE", "VECTOR"]);
    assert!(made.result.text.lost.is_empty());
    // A text, an icon, a picture as the frame that was asked for.
    let mut alone = text("1:0", "Alone", rect(0.0, 0.0, 80.0, 20.0));
    let made = run(&alone);
    assert_eq!((said(&made), made.result.text.lost.len()), (vec!["Alone".to_owned()], 0));
    alone["type"] = json!("VECTOR");
    let made = run(&alone);
    assert_eq!(made.result.graphic_classification[0].rendered_kind, Some(RenderedKind::Preserved));
    alone["type"] = json!("RECTANGLE");
    alone["fills"] = json!([{"type": "IMAGE", "imageRef": "x"}]);
    assert_eq!(run(&alone).result.summary.images, 1);
}

#[test]
fn repeated_ids_lose_nothing_and_stay_apart() {
    // proves D10
    let twice = [
        text("x", "One", rect(20.0, 20.0, 80.0, 20.0)),
        text("x", "Two", rect(20.0, 60.0, 80.0, 20.0)),
        button("x", "Three", 100.0),
    ];
    let made = run(&frame(&twice));
    assert_eq!(said(&made), ["One", "Two", "Three"]);
    assert!(made.result.text.lost.is_empty() && made.result.score.parts.text == Some(1.0));
    let ids: Vec<_> = made.wireframe.nodes.iter().map(|n| n.id.as_str()).collect();
    assert_eq!(ids, ["wf:1:0", "wf:x", "wf:x~2", "wf:x~3"]);
}

#[test]
fn a_hidden_frame_is_converted_when_it_is_asked_for() {
    let mut screen = frame(&[text("1:2", "Hello", rect(20.0, 20.0, 80.0, 20.0))]);
    screen["visible"] = json!(false);
    assert_eq!(said(&run(&screen)), ["Hello"]);
}

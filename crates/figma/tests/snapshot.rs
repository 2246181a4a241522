//! Cutting a frame out (D9).

use heddle_figma::{Limits, ReadError, Snapshot, read};
use serde_json::Value;

/// Reads, and cuts the node out.
fn snapshot(bytes: &[u8], id: &str, limits: &Limits) -> Result<Snapshot, ReadError> {
    let document = read(bytes, limits)?;
    let frame = document.find(id).ok_or_else(|| ReadError::NoSuchNode { id: id.to_owned() })?;
    heddle_figma::snapshot(bytes, &document, frame)
}

const FILE: &str = r#"{"name":"File","version":"7","document":{"id":"0:0","type":"DOCUMENT","children":[{"id":"0:1","type":"CANVAS","children":[
    {"type":"FRAME","id":"1:1","name":"Home","opacity":1.0,"customKey":{"b":[1,2.50,-0.0],"a":null},"styles":{"fill":"S:1"},"children":[
        {"id":"1:2","type":"INSTANCE","componentId":"9:1","componentProperties":{"Icon#1:1":{"type":"INSTANCE_SWAP","value":"9:5"}}}]},
    {"id":"2:1","type":"FRAME","children":[{"id":"2:2","type":"INSTANCE","componentId":"9:3"}]}]}]},
  "components":{"9:3":{"key":"k3","name":"C"},"9:1":{"key":"k1","name":"Size=sm","componentSetId":"9:0","description":"kept"},"9:5":{"name":"icon/eye","key":"k5"}},
  "componentSets":{"9:9":{"key":"other","name":"Other"},"9:0":{"key":"s","name":"Button"}},
  "styles":{"S:2":{"key":"y","name":"Unused"},"S:1":{"key":"x","name":"Ink","styleType":"FILL"}}}"#;

#[test]
fn maps_are_pruned_to_what_the_frame_uses_and_never_dropped() {
    // proves D9
    let cut = snapshot(FILE.as_bytes(), "1:1", &Limits::default()).expect("a snapshot");
    let value: Value = serde_json::from_slice(&cut.bytes).expect("JSON");
    let keys = |name: &str| value[name].as_object().expect("a map").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys("components"), ["9:1", "9:5"]);
    assert_eq!(keys("componentSets"), ["9:0"]);
    assert_eq!(keys("styles"), ["S:1"]);
    // Entries are whole, publish keys among them, and fields that we don't know stay.
    assert_eq!(value["components"]["9:1"]["key"], "k1");
    assert_eq!(value["components"]["9:1"]["description"], "kept");
    assert_eq!(value["document"]["customKey"]["a"], Value::Null);
    assert_eq!(value["document"]["id"], "1:1");
    assert!(!String::from_utf8_lossy(&cut.bytes).contains("2:1"));
    // What was cut out can be read like any answer.
    let again = read(&cut.bytes, &Limits::default()).expect("a document");
    assert_eq!(again.top_level_frames().len(), 1);
    assert_eq!(again.component_sets["9:0"].name, "Button");
}

#[test]
fn the_same_frame_gives_the_same_bytes() {
    // proves D9
    let cut = snapshot(FILE.as_bytes(), "1:1", &Limits::default()).expect("a snapshot");
    // Other white space, other order of keys and maps, another spelling of numbers.
    let value: Value = serde_json::from_str(FILE).expect("JSON");
    let pretty = serde_json::to_string_pretty(&value).expect("JSON").replace("2.5", "25e-1");
    let again = snapshot(pretty.as_bytes(), "1-1", &Limits::default()).expect("a snapshot");
    assert_eq!(String::from_utf8_lossy(&cut.bytes), String::from_utf8_lossy(&again.bytes));
    assert_eq!((cut.hash.len(), &cut.hash), (64, &again.hash));
    // A snapshot of a snapshot is itself.
    assert_eq!(snapshot(&cut.bytes, "1:1", &Limits::default()).expect("a snapshot"), cut);
    // And a change anywhere in the frame shows.
    let other = FILE.replace("\"kept\"", "\"changed\"");
    assert_ne!(snapshot(other.as_bytes(), "1:1", &Limits::default()).expect("a snapshot").hash, cut.hash);
}

#[test]
fn numbers_keep_their_last_bit() {
    // proves D9
    let file = FILE.replace("2.50", "4.6047271329285884e-08");
    let cut = snapshot(file.as_bytes(), "1:1", &Limits::default()).expect("a snapshot");
    let again = snapshot(&cut.bytes, "1:1", &Limits::default()).expect("a snapshot");
    assert_eq!(cut.hash, again.hash);
    assert!(String::from_utf8_lossy(&cut.bytes).contains("4.6047271329285884e-8"));
}

#[test]
fn a_nodes_answer_with_many_envelopes_finds_its_maps() {
    let json = r#"{"nodes":{"1:1":{"document":{"id":"1:1","type":"FRAME","children":[]},"components":{}},
        "2:1":{"document":{"id":"2:1","type":"INSTANCE","componentId":"9:1"},"components":{"9:1":{"key":"k1","name":"Button"}}}}}"#;
    let cut = snapshot(json.as_bytes(), "2:1", &Limits::default()).expect("a snapshot");
    let value: Value = serde_json::from_slice(&cut.bytes).expect("JSON");
    assert_eq!(value["components"]["9:1"]["key"], "k1");
    let missing = snapshot(json.as_bytes(), "3:1", &Limits::default()).expect_err("no such node");
    assert_eq!(missing.code(), "no_such_node");
}

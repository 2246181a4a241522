//! Whatever comes, the reader answers: no panic, and a tree that holds together.

use heddle_figma::{Document, Limits, NodeIndex, read, snapshot};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn holds_together(document: &Document<'_>) {
    for (at, node) in document.nodes.iter().enumerate() {
        assert!(node.end as usize > at && node.end as usize <= document.nodes.len());
        match node.parent {
            None => assert_eq!(at, 0),
            Some(parent) => {
                let above = document.node(parent);
                assert!(parent.at() < at && node.end <= above.end && node.depth == above.depth + 1);
                assert!(!node.shown || above.shown);
            }
        }
        for number in [node.bounds.x, node.bounds.y, node.bounds.width, node.bounds.height, node.opacity] {
            assert!(number.is_finite());
        }
        if let Some(text) = &node.text {
            let covered: usize = text.runs.iter().map(|r| text.characters[r.range.clone()].len()).sum();
            assert_eq!(covered, text.characters.len());
        }
        assert_eq!(
            document.children(NodeIndex(at as u32)).map(|c| document.node(c).end - c.0).sum::<u32>(),
            node.end - at as u32 - 1
        );
    }
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(|v| json!(v)),
        (-500i32..500).prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ]
}

/// A value where something else may be expected.
fn anything() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,8}", inner), 0..4).prop_map(|p| Value::from(Map::from_iter(p))),
        ]
    })
}

const KEYS: [&str; 24] = [
    "visible",
    "absoluteBoundingBox",
    "relativeTransform",
    "size",
    "rotation",
    "opacity",
    "fills",
    "strokes",
    "effects",
    "characters",
    "style",
    "characterStyleOverrides",
    "styleOverrideTable",
    "componentId",
    "componentProperties",
    "layoutMode",
    "children",
    "styles",
    "isMask",
    "cornerRadius",
    "arcData",
    "x",
    "width",
    "name",
];

fn node() -> impl Strategy<Value = Value> {
    let kind =
        prop::sample::select(vec!["FRAME", "TEXT", "GROUP", "INSTANCE", "VECTOR", "SECTION", "STICKY"]);
    let rect = prop_oneof![
        anything(),
        (-90i32..90, -90i32..90, 0i32..90, 0i32..90)
            .prop_map(|(x, y, width, height)| json!({"x": x, "y": y, "width": width, "height": height})),
    ];
    let own = prop::collection::vec((prop::sample::select(KEYS.to_vec()), anything()), 0..5);
    let leaf = ("[0-9]:[0-9]", kind, rect, own).prop_map(|(id, kind, rect, own)| {
        let mut node = json!({"id": id, "type": kind, "absoluteBoundingBox": rect});
        for (key, value) in own {
            node[key] = value;
        }
        node
    });
    leaf.prop_recursive(6, 40, 5, |inner| {
        (inner.clone(), prop::collection::vec(inner, 0..5)).prop_map(|(mut node, children)| {
            node["children"] = Value::from(children);
            node
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_node_reads(node in node()) {
        let json = node.to_string();
        if let Ok(document) = read(json.as_bytes(), &Limits::default()) {
            holds_together(&document);
            for index in (0..document.nodes.len()).step_by(3) {
                let _ = snapshot(json.as_bytes(), &document, NodeIndex(index as u32));
            }
        }
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes, &Limits::default());
    }

    #[test]
    fn a_document_cut_anywhere_is_answered(node in node(), cut in 0.0f64..1.0) {
        let json = json!({"document": node, "components": {}}).to_string();
        let end = (json.len() as f64 * cut) as usize;
        prop_assert!(read(&json.as_bytes()[..end], &Limits::default()).is_err());
    }
}

#[test]
fn every_real_file_reads_or_says_why() {
    let Ok(folder) = std::env::var("HEDDLE_CORPUS") else {
        println!("skipped: HEDDLE_CORPUS is not set");
        return;
    };
    let mut read_well = 0;
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let packed = std::fs::read(&path).expect("the file");
        let bytes = heddle_figma::decompress(&packed, &Limits::default()).expect("gzip");
        match read(&bytes, &Limits::default()) {
            Ok(document) => {
                holds_together(&document);
                read_well += 1;
            }
            Err(error) => {
                let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
                assert!(name.starts_with("odd-invalid") || name.contains("bad-prefix"), "{name}: {error}");
            }
        }
    }
    assert!(read_well > 0);
}

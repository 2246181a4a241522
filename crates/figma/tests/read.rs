//! What the reader makes of small documents: the cases that broke other tools, and everything that can be wrong with
//! a file.

use std::fmt::Write as _;

use heddle_figma::{
    Align, Axis, Document, Kind, Limits, LineHeight, Mask, NodeIndex, PaintKind, PropertyValue, ReadError,
    ScaleMode, Sizing, TextAlign, decompress, read,
};

fn parse(json: &str) -> Document<'_> {
    read(json.as_bytes(), &Limits::default()).expect("a document")
}

fn error(bytes: &[u8]) -> ReadError {
    read(bytes, &Limits::default()).expect_err("an error")
}

fn at<'d, 'a>(document: &'d Document<'a>, id: &str) -> &'d heddle_figma::Node<'a> {
    document.node(document.find(id).unwrap_or_else(|| panic!("no node {id}")))
}

fn bounds(x: f64, y: f64, width: f64, height: f64) -> String {
    format!(r#""absoluteBoundingBox":{{"x":{x},"y":{y},"width":{width},"height":{height}}}"#)
}

#[test]
fn hidden_layers_and_all_below_them_are_not_shown() {
    // F01, F02.
    let document = parse(
        r#"{"id":"1:1","type":"FRAME","children":[
            {"id":"1:2","type":"TEXT","characters":"seen"},
            {"id":"1:3","type":"TEXT","characters":"hidden","visible":false},
            {"id":"1:4","type":"GROUP","visible":false,"children":[{"id":"1:5","type":"TEXT","characters":"under"}]}]}"#,
    );
    let shown: Vec<&str> = document.nodes.iter().filter(|n| n.shown).filter_map(|n| n.characters()).collect();
    assert_eq!(shown, ["seen"]);
    assert!(at(&document, "1:5").visible && !at(&document, "1:5").shown);
}

#[test]
fn envelopes_of_every_kind_give_the_same_frame() {
    let frame = r#"{"id":"1:2","name":"Home","type":"FRAME","children":[{"id":"1:3","type":"TEXT","characters":"Hi"}]}"#;
    let page = format!(r#"{{"id":"0:1","type":"CANVAS","name":"Page","children":[{frame}]}}"#);
    let maps = r#""components":{"9:1":{"key":"k","name":"Size=sm","componentSetId":"9:0"}},"componentSets":{"9:0":{"key":"s","name":"Button"}},"styles":{"S:1":{"key":"x","name":"Ink","styleType":"FILL"}}"#;
    let file = format!(
        r#"{{"name":"File","document":{{"id":"0:0","type":"DOCUMENT","children":[{page}]}},{maps}}}"#
    );
    let nodes = format!(r#"{{"name":"File","nodes":{{"1:2":{{"document":{frame},{maps}}},"7:7":null}}}}"#);
    let plugin = format!(r#"{{"document":{frame},{maps},"schemaVersion":0}}"#);
    let wrapped = format!(r#"{{"pluginData":[],"info":{{"document":{frame},{maps}}}}}"#);
    for json in [file.as_str(), &nodes, &plugin, &wrapped, frame] {
        let document = parse(json);
        let frames = document.top_level_frames();
        assert_eq!(frames.len(), 1, "{json}");
        assert_eq!(document.node(frames[0]).id, "1:2");
        assert_eq!(document.node(frames[0]).name, "Home");
        if json != frame {
            assert_eq!(document.component_sets["9:0"].name, "Button");
            assert_eq!(document.components["9:1"].set_id.as_deref(), Some("9:0"));
            assert_eq!(document.styles["S:1"].style_type, "FILL");
        }
    }
    // A node that the answer says isn't there is told, not swallowed.
    assert_eq!(parse(&nodes).warnings.get("missing_node").and_then(|w| w.node_id.as_deref()), Some("7:7"));
}

#[test]
fn order_is_the_order_of_children() {
    // F05, F06: what comes later lies on top, whatever order any map has.
    let document = parse(
        r#"{"nodes":{"2:2":{"document":{"id":"2:2","type":"FRAME","children":[{"id":"2:4","type":"RECTANGLE"},{"id":"2:3","type":"INSTANCE"}]}}},"images":{"2:3":"a","2:4":"b"}}"#,
    );
    let frame = document.find("2:2").expect("the frame");
    let order: Vec<&str> = document.children(frame).map(|i| document.node(i).id.as_ref()).collect();
    assert_eq!(order, ["2:4", "2:3"]);
}

#[test]
fn sections_unknown_types_and_sets_are_read_through() {
    // F11, F12, F13, F14.
    let document = parse(
        r#"{"document":{"id":"0:0","type":"DOCUMENT","children":[{"id":"0:1","type":"CANVAS","children":[
            {"id":"1:0","type":"SECTION","name":"Flow","children":[{"id":"1:1","type":"FRAME","children":[{"id":"1:2","type":"TEXT","characters":"in a section"}]}]},
            {"id":"2:0","type":"SHAPE_WITH_TEXT","characters":"jam","children":[{"id":"2:1","type":"TEXT","characters":"inside"}]},
            {"id":"3:0","type":"COMPONENT_SET","children":[{"id":"3:1","type":"COMPONENT","name":"State=on"},{"id":"3:2","type":"COMPONENT","name":"State=off"}]}]}]}}"#,
    );
    let frames: Vec<&str> =
        document.top_level_frames().iter().map(|i| document.node(*i).id.as_ref()).collect();
    assert_eq!(frames, ["1:1", "3:0"]);
    assert_eq!(at(&document, "1:2").characters(), Some("in a section"));
    assert_eq!(at(&document, "2:0").kind, Kind::Unknown);
    assert_eq!(at(&document, "2:1").characters(), Some("inside"));
    assert_eq!(document.warnings.get("unknown_type").map(|w| w.count), Some(1));
    assert_eq!(document.children(document.find("3:0").expect("the set")).count(), 2);
}

#[test]
fn auto_layout_is_read_with_what_the_child_says() {
    // F07, F08, F09, F10.
    let json = format!(
        r#"{{"id":"1:0","type":"FRAME","layoutMode":"VERTICAL","itemSpacing":-8,"itemReverseZIndex":true,"strokesIncludedInLayout":true,"paddingTop":1,"paddingRight":2,"paddingBottom":3,"paddingLeft":4,"counterAxisAlignItems":"CENTER","primaryAxisAlignItems":"SPACE_BETWEEN",{},"children":[
            {{"id":"1:1","type":"FRAME","layoutMode":"HORIZONTAL","layoutAlign":"STRETCH","counterAxisSizingMode":"FIXED","layoutWrap":"WRAP","counterAxisSpacing":6,{}}},
            {{"id":"1:2","type":"RECTANGLE","layoutPositioning":"ABSOLUTE",{}}},
            {{"id":"1:3","type":"FRAME","layoutMode":"GRID","gridColumnGap":5,"gridRowGap":7,"layoutSizingHorizontal":"FILL","layoutSizingVertical":"HUG"}}]}}"#,
        bounds(0.0, 0.0, 300.0, 474.0),
        bounds(4.0, 1.0, 294.0, 40.0),
        bounds(290.0, -4.0, 14.0, 14.0),
    );
    let document = parse(&json);
    let layout = at(&document, "1:0").layout.as_deref().expect("auto layout");
    assert_eq!((layout.axis, layout.spacing, layout.reverse_z), (Axis::Vertical, -8.0, true));
    assert_eq!((layout.padding, layout.strokes_included), ([1.0, 2.0, 3.0, 4.0], true));
    assert_eq!((layout.counter_align, layout.primary_align), (Align::Center, Align::SpaceBetween));
    // A stretched row keeps its fixed height.
    let row = at(&document, "1:1");
    assert_eq!((row.placement.horizontal, row.placement.vertical), (Sizing::Fill, Sizing::Fixed));
    assert!(row.layout.as_deref().is_some_and(|l| l.wrap && (l.counter_spacing - 6.0).abs() < 1e-9));
    // What is taken out of the flow keeps its own box, and the frame keeps its size.
    let badge = at(&document, "1:2");
    assert!(badge.placement.absolute);
    assert_eq!((badge.bounds.x, badge.bounds.y), (290.0, -4.0));
    assert!((at(&document, "1:0").bounds.height - 474.0).abs() < 1e-9);
    let grid = at(&document, "1:3");
    assert_eq!(
        grid.layout.as_deref().map(|l| (l.axis, l.spacing, l.counter_spacing)),
        Some((Axis::Grid, 5.0, 7.0))
    );
    assert_eq!((grid.placement.horizontal, grid.placement.vertical), (Sizing::Fill, Sizing::Hug));
}

#[test]
fn runs_count_code_units_and_never_cut_a_character() {
    // F19, F21: the emoji takes two code units, and the bold word after it starts at unit 3.
    let document = parse(
        r#"{"id":"1:1","type":"TEXT","characters":"👋 bold ok","style":{"fontFamily":"Inter","fontSize":20,"fontWeight":400,"lineHeightPx":28,"textAlignHorizontal":"CENTER"},
           "characterStyleOverrides":[0,0,0,7,7,7,7],"styleOverrideTable":{"7":{"fontWeight":700,"fills":[{"type":"SOLID","color":{"r":1,"g":0,"b":0,"a":1}}]}}}"#,
    );
    let text = at(&document, "1:1").text.as_deref().expect("a text");
    let runs: Vec<(&str, u16)> =
        text.runs.iter().map(|r| (&text.characters[r.range.clone()], r.style.weight)).collect();
    assert_eq!(runs, [("👋 ", 400), ("bold", 700), (" ok", 400)]);
    assert!(text.runs[1].style.fills.is_some() && text.runs[0].style.fills.is_none());
    assert_eq!((text.style.line_height, text.align), (LineHeight::Pixels(28.0), TextAlign::Center));
}

#[test]
fn instances_keep_their_own_texts_and_choices() {
    // F23, F24, F03.
    let document = parse(
        r#"{"id":"1:0","type":"FRAME","children":[
            {"id":"1:1","type":"INSTANCE","componentId":"9:1","componentProperties":{"Label#1:0":{"type":"TEXT","value":"First"},"State":{"type":"VARIANT","value":"On"},"Icon#2:0":{"type":"INSTANCE_SWAP","value":"8:8"},"Has badge#3:0":{"type":"BOOLEAN","value":false}},
             "overrides":[{"id":"I1:1;9:2","overriddenFields":["characters"]}],
             "children":[{"id":"I1:1;9:2","type":"TEXT","characters":"First","componentPropertyReferences":{"characters":"Label#1:0","visible":"Has badge#3:0"},"visible":false},
                         {"id":"I1:1;9:3","type":"INSTANCE","componentId":"8:8"}]}]}"#,
    );
    let instance = at(&document, "1:1");
    let facts = instance.facts().expect("facts");
    assert_eq!(instance.component_id(), Some("9:1"));
    assert!(facts.properties.contains(&("Label#1:0".into(), PropertyValue::Text("First".into()))));
    assert!(facts.properties.contains(&("Icon#2:0".into(), PropertyValue::Swap("8:8".into()))));
    assert_eq!(facts.overrides, ["I1:1;9:2"]);
    assert_eq!(at(&document, "I1:1;9:3").component_id(), Some("8:8"));
    assert!(!at(&document, "I1:1;9:2").shown);
}

#[test]
fn masks_crops_lines_and_exports_are_seen() {
    // F34, F35, F36, F37.
    let json = format!(
        r#"{{"id":"1:0","type":"GROUP","children":[
            {{"id":"1:1","type":"RECTANGLE","isMask":true,"maskType":"ALPHA"}},
            {{"id":"1:2","type":"LINE",{},"strokes":[{{"type":"SOLID","color":{{"r":0,"g":0,"b":0,"a":1}}}}],"strokeWeight":1}},
            {{"id":"1:3","type":"RECTANGLE","fills":[{{"type":"IMAGE","scaleMode":"STRETCH","imageRef":"abc","imageTransform":[[0.5,0,0.1],[0,0.5,0.2]]}}]}},
            {{"id":"1:4","type":"BOOLEAN_OPERATION","booleanOperation":"SUBTRACT","exportSettings":[{{"format":"SVG"}}],"children":[]}}]}}"#,
        bounds(0.0, 10.0, 300.0, 0.0),
    );
    let document = parse(&json);
    assert_eq!(at(&document, "1:1").mask, Some(Mask::Alpha));
    assert!(at(&document, "1:2").stroke.is_some());
    let PaintKind::Image { reference, scale, transform } = &at(&document, "1:3").fills[0].kind else {
        panic!("an image")
    };
    assert_eq!((reference.as_deref(), *scale), (Some("abc"), ScaleMode::Crop));
    assert!(transform.is_some_and(|t| (t.e - 0.1).abs() < 1e-9 && (t.f - 0.2).abs() < 1e-9));
    assert!(at(&document, "1:4").exported && at(&document, "1:4").boolean_operation.is_some());
}

#[test]
fn rotated_boxes_get_their_size_back() {
    // A 100×20 box turned by 30°: the file has the box around it, and the angle in radians.
    let (sin, cos) = (30.0_f64).to_radians().sin_cos();
    let (width, height) = (100.0 * cos + 20.0 * sin, 100.0 * sin + 20.0 * cos);
    let json = format!(
        r#"{{"id":"1:0","type":"FRAME",{},"children":[{{"id":"1:1","type":"RECTANGLE","rotation":{},{}}}]}}"#,
        bounds(0.0, 0.0, 200.0, 200.0),
        30.0_f64.to_radians(),
        bounds(50.0, 50.0, width, height),
    );
    let document = parse(&json);
    let node = at(&document, "1:1");
    assert!(
        (node.size.width - 100.0).abs() < 0.01 && (node.size.height - 20.0).abs() < 0.01,
        "{:?}",
        node.size
    );
    let around = node.transform.bounds(node.size).expect("a box");
    assert!((around.x - 50.0).abs() < 0.01 && (around.width - width).abs() < 0.01, "{around:?}");
}

#[test]
fn transforms_compose_through_groups_and_frames() {
    let json = format!(
        r#"{{"id":"1:0","type":"FRAME",{},"size":{{"x":200,"y":200}},"relativeTransform":[[1,0,0],[0,1,0]],"children":[
            {{"id":"1:1","type":"GROUP",{},"size":{{"x":40,"y":40}},"relativeTransform":[[1,0,20],[0,1,30]],"children":[
                {{"id":"1:2","type":"VECTOR",{},"size":{{"x":10,"y":10}},"relativeTransform":[[1,0,5],[0,1,5]]}}]}}]}}"#,
        bounds(1000.0, 1000.0, 200.0, 200.0),
        bounds(1020.0, 1030.0, 40.0, 40.0),
        bounds(1025.0, 1035.0, 10.0, 10.0),
    );
    let document = parse(&json);
    let node = at(&document, "1:2");
    assert!((node.transform.e - 1025.0).abs() < 1e-6 && (node.transform.f - 1035.0).abs() < 1e-6);
}

#[test]
fn a_plugin_tree_without_boxes_is_placed_by_its_own_numbers() {
    let document = parse(
        r#"{"document":{"id":"0:0","type":"DOCUMENT","children":[{"id":"0:1","type":"PAGE","children":[
            {"id":"1:0","type":"FRAME","x":100,"y":50,"width":200,"height":100,"children":[
                {"id":"1:1","type":"TEXT","x":10,"y":20,"width":30,"height":12,"characters":"a","fontSize":11,"fontName":{"family":"Roboto","style":"Bold Italic"}}]}]}]}}"#,
    );
    let text = at(&document, "1:1");
    assert_eq!((text.bounds.x, text.bounds.y), (110.0, 70.0));
    let style = &text.text.as_deref().expect("a text").style;
    assert_eq!((style.family.as_ref(), style.weight, style.italic), ("Roboto", 700, true));
}

#[test]
fn boxes_that_are_none_are_mended_and_told() {
    let document = parse(
        r#"{"id":"1:0","type":"FRAME","absoluteBoundingBox":{"x":0,"y":0,"width":1e300,"height":null},"children":[
            {"id":"1:1","type":"RECTANGLE","absoluteBoundingBox":{"x":5,"y":6,"width":0,"height":0}},
            {"id":"1:2","type":"RECTANGLE","absoluteBoundingBox":{"x":"NaN","y":6,"width":-4,"height":9}},
            {"id":"1:3","type":"RECTANGLE","absoluteBoundingBox":{"x":10,"y":10,"width":20,"height":30},"fills":"none","opacity":17,"cornerRadius":-3}]}"#,
    );
    assert!(document.nodes.iter().all(|n| n.bounds.width.is_finite() && n.bounds.width >= 0.0));
    // The frame takes in what it holds.
    assert!((document.nodes[0].bounds.right() - 30.0).abs() < 1e-9);
    assert_eq!(document.warnings.get("bad_bounds").map(|w| w.count), Some(2));
    let odd = at(&document, "1:3");
    assert!(odd.fills.is_empty() && (odd.opacity - 1.0).abs() < 1e-9 && odd.radii[0].abs() < 1e-9);
}

#[test]
fn duplicate_ids_odd_names_and_repeated_keys_are_kept_apart() {
    // F18, F20.
    let document = parse(
        r#"{"id":"0:1","type":"CANVAS","children":[
            {"id":"1:1","name":"Login","type":"FRAME"},{"id":"1:2","name":"Login","type":"FRAME"},
            {"id":"1:2","name":"../icon/eye, a=b 👁","type":"COMPONENT","children":[{"id":"x","type":"TEXT"}],"children":[{"id":"y","type":"TEXT"}]}]}"#,
    );
    assert_eq!(document.top_level_frames().len(), 3);
    assert_eq!(document.nodes[3].name, "../icon/eye, a=b 👁");
    assert_eq!(document.warnings.get("duplicate_id").map(|w| w.count), Some(1));
    // As in JavaScript, the last of a repeated key counts.
    assert!(document.find("x").is_none() && document.find("y").is_some());
    // A link's spelling of an id finds it too.
    assert_eq!(document.find("1-1"), Some(NodeIndex(1)));
}

#[test]
fn what_is_not_json_is_located() {
    let cut = br#"{"document":{"id":"0:0","children":[{"id":"1:1","name":"Hal"#;
    assert!(
        matches!(error(cut), ReadError::Truncated { at } if at.offset >= cut.len() - 1),
        "{}",
        error(cut)
    );
    let comma = b"{\n  \"id\": \"1\",\n  \"type\": \"FRAME\",,\n}";
    let ReadError::Syntax { at, .. } = error(comma) else { panic!("{}", error(comma)) };
    assert_eq!((at.line, comma[at.offset]), (3, b','));
    assert_eq!(error(b"").code(), "empty_file");
    assert_eq!(error(b" \n ").code(), "empty_file");
    assert_eq!(error(b"[1,2]").code(), "not_figma");
    assert_eq!(error(b"{\"a\":1}").code(), "not_figma");
    assert_eq!(error(b"\"document\": {\"id\":\"1\"}").code(), "invalid_json");
    assert_eq!(error(b"{\"id\":\"1\",\"type\":\"FRAME\",\"name\":\"\xff\xfe\"}").code(), "invalid_json");
    let api = error(br#"{"status":403,"err":"Invalid token"}"#);
    assert_eq!(api, ReadError::ApiError { status: 403, message: "Invalid token".to_owned() });
    // F32: the platform's own refusal comes through as it is.
    let large = error(br#"{"status":400,"err":"Request too large. If applicable, filter by query params."}"#);
    assert!(large.to_string().contains("Request too large"));
}

#[test]
fn bytes_after_the_document_are_skipped_and_told() {
    let document = parse("{\"id\":\"1:1\",\"type\":\"FRAME\"}\nHTTP_STATUS:200");
    assert_eq!(document.nodes.len(), 1);
    let warning = document.warnings.get("trailing_bytes").expect("a warning");
    assert!(warning.message.contains("line 2"), "{}", warning.message);
}

#[test]
fn nesting_is_read_to_the_limit_and_refused_beyond() {
    let nested = |layers: usize| {
        let mut json = String::new();
        for layer in 0..layers {
            let _ = write!(json, "{{\"id\":\"{layer}\",\"type\":\"FRAME\",\"children\":[");
        }
        json.push_str("{\"id\":\"leaf\",\"type\":\"TEXT\",\"characters\":\"deep\"}");
        json.push_str(&"]}".repeat(layers));
        json
    };
    // On a small stack, as a server's threads have.
    std::thread::Builder::new()
        .stack_size(512 << 10)
        .spawn(move || {
            let deep = nested(512);
            assert_eq!(parse(&deep).nodes.len(), 513);
            let too_deep = nested(600);
            let ReadError::TooDeep { limit, at } = error(too_deep.as_bytes()) else { panic!("too deep") };
            assert!(limit == 512 && at.offset > 512 * 30);
            // Nesting in what is skipped costs nothing.
            let odd = format!(
                r#"{{"id":"1","type":"FRAME","pluginData":{}{}}}"#,
                "[".repeat(100_000),
                "]".repeat(100_000)
            );
            assert_eq!(parse(&odd).nodes.len(), 1);
            let odd = format!(
                r#"{{"id":"1","type":"FRAME","fills":{}{}}}"#,
                "[".repeat(100_000),
                "]".repeat(100_000)
            );
            assert_eq!(parse(&odd).nodes.len(), 1);
        })
        .expect("a thread")
        .join()
        .expect("no overflow");
}

#[test]
fn limits_on_nodes_and_bytes_say_what_to_do() {
    let limits = Limits { nodes: 3, bytes: 500, ..Limits::default() };
    let many = r#"{"id":"0","type":"FRAME","children":[{"id":"1"},{"id":"2"},{"id":"3"},{"id":"4"}]}"#;
    let error = read(many.as_bytes(), &limits).expect_err("too many");
    assert_eq!(error.code(), "too_many_nodes");
    assert!(error.to_string().contains("one frame at a time"));
    let large = format!("{many}{}", " ".repeat(500));
    assert_eq!(read(large.as_bytes(), &limits).expect_err("too large").code(), "file_too_large");
}

#[test]
fn halves_of_surrogate_pairs_cost_one_character_and_not_the_file() {
    let json =
        br#"{"id":"1","type":"TEXT","characters":"a\ud83dz \ude00 \ud83d\ude00 \\ud83d \n","name":"\uD800"}"#;
    let mended = decompress(json, &Limits::default()).expect("mended");
    let document = read(&mended, &Limits::default()).expect("a document");
    assert_eq!(document.nodes[0].characters(), Some("a\u{fffd}z \u{fffd} 😀 \\ud83d \n"));
    assert_eq!(document.nodes[0].name, "\u{fffd}");
    // What needs no mending is not copied.
    assert!(matches!(
        decompress(br#"{"a":"\ud83d\ude00"}"#, &Limits::default()),
        Ok(std::borrow::Cow::Borrowed(_))
    ));
}

#[test]
fn what_no_one_can_see_is_bounded_and_only_texts_speak() {
    let paint = r#"{"type":"SOLID","color":{"r":1,"g":0,"b":0,"a":1}}"#;
    let last = r#"{"type":"SOLID","color":{"r":0,"g":1,"b":0,"a":1}}"#;
    let json = format!(
        r#"{{"id":"1","type":"FRAME","characters":"no","fills":[{}{last}],"children":[{{"id":"2","type":"STICKY","characters":"yes"}}],"children":[{{"id":"3","type":"STICKY","characters":"yes"}}]}}"#,
        format!("{paint},").repeat(10_000)
    );
    let document = parse(&json);
    assert_eq!(document.nodes[0].fills.len(), 64);
    assert!(document.nodes[0].fills[63].solid().is_some_and(|c| c.g > 0.9), "the topmost stays");
    assert_eq!(document.nodes[0].characters(), None);
    assert_eq!((document.nodes.len(), document.nodes[1].characters()), (2, Some("yes")));
    assert_eq!(document.find(""), None);
}

#[test]
fn gzip_is_unpacked_within_the_limit() {
    use std::io::Write;
    let pack = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).expect("in memory");
        encoder.finish().expect("in memory")
    };
    let limits = Limits { bytes: 1000, ..Limits::default() };
    let packed = pack(b"\xef\xbb\xbf{\"id\":\"1\",\"type\":\"FRAME\"}");
    assert_eq!(&*decompress(&packed, &limits).expect("unpacked"), b"{\"id\":\"1\",\"type\":\"FRAME\"}");
    // A bomb stops at the limit.
    let bomb = pack(&vec![b' '; 5_000_000]);
    assert_eq!(decompress(&bomb, &limits).expect_err("a bomb").code(), "file_too_large");
    assert_eq!(decompress(&packed[..packed.len() / 2], &limits).expect_err("cut").code(), "damaged_gzip");
}

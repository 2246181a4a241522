//! Boxes, strokes, gradients, order, clips, masks: small documents, and what is seen of them.

mod common;

use common::{at, frame, lines, node, picture, pixels, solid, text};

fn gradient(kind: &str, handles: [(f64, f64); 3]) -> String {
    let points: Vec<String> = handles.iter().map(|(x, y)| format!(r#"{{"x":{x},"y":{y}}}"#)).collect();
    format!(
        r#"[{{"type":"GRADIENT_{kind}","gradientHandlePositions":[{}],"gradientStops":[
            {{"position":0,"color":{{"r":1,"g":0,"b":0,"a":1}}}},{{"position":1,"color":{{"r":0,"g":0,"b":1,"a":1}}}}]}}]"#,
        points.join(",")
    )
}

fn painted(kind: &str, fills: &str) -> String {
    format!(r#"{{"id":"2:1","name":"Shape","type":"{kind}",{},"fills":{fills}}}"#, at(10.0, 10.0, 80.0, 80.0))
}

// proves D20: a frame is an SVG of its own, titled, without reference to anything outside.
#[test]
fn a_frame_with_shapes_and_text() {
    let document = frame(
        r#","cornerRadius":8"#,
        &[
            node("2:1", "RECTANGLE", &at(10.0, 10.0, 30.0, 20.0), "0080ff", r#","cornerRadius":4"#),
            node("2:2", "ELLIPSE", &at(50.0, 10.0, 20.0, 20.0), "ff0000", r#","opacity":0.5"#),
            text("2:3", &at(10.0, 40.0, 8.0, 20.0), "I", ""),
        ],
    );
    insta::assert_snapshot!(lines(&document));
}

// proves F01, F02: neither a hidden layer nor anything below one is drawn.
#[test]
fn hidden_layers_and_what_they_hold_are_left_out() {
    let hidden = format!(
        r#"{{"id":"3:1","name":"Group","type":"GROUP","visible":false,{},"children":[{}]}}"#,
        at(0.0, 0.0, 100.0, 100.0),
        text("3:2", &at(0.0, 0.0, 50.0, 20.0), "below", "")
    );
    let own =
        text("3:3", &at(0.0, 20.0, 50.0, 20.0), "own", "").replace(r#""name""#, r#""visible":false,"name""#);
    let shown = text("3:4", &at(0.0, 40.0, 50.0, 20.0), "shown", "");
    let svg = picture(&frame("", &[hidden, own, shown])).svg;
    assert!(svg.contains("aria-label=\"shown\""), "{svg}");
    assert!(!svg.contains("below") && !svg.contains("\"own\""), "{svg}");
}

// proves F05: what comes later lies on top; proves F06: the order is that of `children`.
#[test]
fn later_siblings_lie_on_top() {
    let red = node("2:1", "RECTANGLE", &at(0.0, 0.0, 60.0, 60.0), "ff0000", "");
    let blue = node("2:2", "RECTANGLE", &at(30.0, 30.0, 60.0, 60.0), "0000ff", "");
    let seen = pixels(&frame("", &[red.clone(), blue.clone()]));
    assert_eq!([seen.at(10, 10), seen.at(45, 45), seen.at(95, 95)], ["ff0000", "0000ff", "ffffff"]);
    let reversed = frame(r#","layoutMode":"HORIZONTAL","itemReverseZIndex":true"#, &[red, blue]);
    assert_eq!(pixels(&reversed).at(45, 45), "ff0000");
}

// proves F07, F08: children are drawn where their boxes are, in auto layout or out of it.
#[test]
fn absolute_children_of_auto_layout_keep_their_boxes() {
    let badge =
        node("2:1", "RECTANGLE", &at(80.0, 5.0, 15.0, 15.0), "ff0000", r#","layoutPositioning":"ABSOLUTE""#);
    let row = node("2:2", "RECTANGLE", &at(0.0, 40.0, 100.0, 20.0), "00ff00", "");
    let seen = pixels(&frame(r#","layoutMode":"VERTICAL""#, &[row, badge]));
    assert_eq!([seen.at(87, 12), seen.at(50, 50), seen.at(50, 12)], ["ff0000", "00ff00", "ffffff"]);
}

// proves F12: what a section holds is drawn, and so is the section.
#[test]
fn sections_hold_frames() {
    let inner = frame("", &[]).replace("1:1", "5:1");
    let section = format!(
        r#"{{"id":"4:1","name":"Section","type":"SECTION",{},"fills":[{}],"children":[{inner}]}}"#,
        at(-20.0, -20.0, 140.0, 140.0),
        solid("cccccc")
    );
    let seen = common::with(&section, |document| {
        let picture = heddle_render::svg(
            document,
            heddle_figma::NodeIndex(0),
            heddle_render::Fonts::bundled(),
            &heddle_render::Options::default(),
        );
        common::Pixels::of(&picture)
    });
    assert_eq!([seen.at(5, 5), seen.at(70, 70)], ["cccccc", "ffffff"]);
}

// proves F34: a mask is not drawn, what it covers shows only through it, and what lies before it is untouched.
#[test]
fn masks_cut_and_are_not_seen() {
    let below = node("3:1", "RECTANGLE", &at(0.0, 0.0, 20.0, 20.0), "00ff00", "");
    let mask = node("3:2", "RECTANGLE", &at(20.0, 20.0, 20.0, 20.0), "000000", r#","isMask":true"#);
    let cut = node("3:3", "RECTANGLE", &at(0.0, 0.0, 100.0, 100.0), "ff0000", "");
    let group = format!(
        r#"{{"id":"2:1","name":"Group","type":"GROUP",{},"children":[{below},{mask},{cut}]}}"#,
        at(0.0, 0.0, 100.0, 100.0)
    );
    let after = node("2:2", "RECTANGLE", &at(80.0, 80.0, 20.0, 20.0), "0000ff", "");
    let seen = pixels(&frame("", &[group, after]));
    assert_eq!(
        [seen.at(10, 10), seen.at(30, 30), seen.at(60, 60), seen.at(90, 90)],
        ["00ff00", "ff0000", "ffffff", "0000ff"]
    );
}

// proves F34: a mask that is not of one piece masks by its opacity; one by luminance by its brightness.
#[test]
fn masks_by_opacity_and_by_luminance() {
    for (kind, expected) in [("ALPHA", "ff7f7f"), ("LUMINANCE", "ffffff")] {
        let fields = format!(r#","isMask":true,"maskType":"{kind}","opacity":0.5"#);
        let mask = node("3:2", "RECTANGLE", &at(0.0, 0.0, 100.0, 100.0), "000000", &fields);
        let cut = node("3:3", "RECTANGLE", &at(0.0, 0.0, 100.0, 100.0), "ff0000", "");
        let seen = pixels(&frame("", &[mask, cut]));
        assert_eq!(seen.at(50, 50), expected, "{kind}");
    }
}

// proves F35: a line without height is drawn, just above where it lies.
#[test]
fn lines_are_drawn() {
    let line = format!(
        r#"{{"id":"2:1","name":"Line","type":"LINE",{},"strokes":[{}],"strokeWeight":2}}"#,
        at(10.0, 50.0, 80.0, 0.0),
        solid("ff0000")
    );
    let seen = pixels(&frame("", &[line]));
    assert_eq!(
        [seen.at(50, 48), seen.at(50, 49), seen.at(50, 50), seen.at(5, 49)],
        ["ff0000", "ff0000", "ffffff", "ffffff"]
    );
}

// proves F36: an image keeps its box, and its reference and crop are told.
#[test]
fn images_are_placeholders_that_tell_their_crop() {
    let fills = r#"[{"type":"IMAGE","scaleMode":"STRETCH","imageRef":"abc\"<1","imageTransform":[[0.5,0,0.25],[0,0.5,0.25]]}]"#;
    let document = frame("", &[painted("RECTANGLE", fills)]);
    let picture = picture(&document);
    assert!(picture.svg.contains("data-image=\"abc&quot;&lt;1\""), "{}", picture.svg);
    assert!(picture.svg.contains("data-crop=\"matrix(.5 0 0 .5 .25 .25)\""), "{}", picture.svg);
    let seen = common::Pixels::of(&picture);
    assert_eq!([seen.at(15, 15), seen.at(5, 5)], ["e1e4e8", "ffffff"]);
}

// proves F37: a boolean operation is one shape: by its outline, else by what it combines.
#[test]
fn boolean_operations_combine_their_parts() {
    for (operation, left, both, right) in [
        ("UNION", "ff0000", "ff0000", "ff0000"),
        ("SUBTRACT", "ff0000", "ffffff", "ffffff"),
        ("INTERSECT", "ffffff", "ff0000", "ffffff"),
        ("EXCLUDE", "ff0000", "ffffff", "ff0000"),
    ] {
        let parts = [
            node("3:1", "RECTANGLE", &at(10.0, 10.0, 50.0, 80.0), "000000", ""),
            node("3:2", "RECTANGLE", &at(40.0, 10.0, 50.0, 80.0), "000000", ""),
        ];
        let fields = format!(r#","booleanOperation":"{operation}","children":[{}]"#, parts.join(","));
        let shape = node("2:1", "BOOLEAN_OPERATION", &at(10.0, 10.0, 80.0, 80.0), "ff0000", &fields);
        let seen = pixels(&frame("", &[shape]));
        assert_eq!([seen.at(20, 50), seen.at(50, 50), seen.at(80, 50)], [left, both, right], "{operation}");
    }
    let outline = r#","booleanOperation":"UNION","fillGeometry":[{"path":"M0 0L80 0L80 40L0 40Z","windingRule":"NONZERO"}]"#;
    let shape = node("2:1", "BOOLEAN_OPERATION", &at(10.0, 10.0, 80.0, 80.0), "ff0000", outline);
    let seen = pixels(&frame("", &[shape]));
    assert_eq!([seen.at(50, 20), seen.at(50, 80)], ["ff0000", "ffffff"]);
}

#[test]
fn strokes_lie_inside_on_and_outside() {
    for (align, weight, inside, outside) in [
        ("INSIDE", 6, "ff0000", "ffffff"),
        ("CENTER", 6, "ff0000", "ff0000"),
        ("OUTSIDE", 6, "0000ff", "ff0000"),
    ] {
        for kind in ["RECTANGLE", "ELLIPSE", "STAR"] {
            let fields = format!(
                r#","strokes":[{}],"strokeWeight":{weight},"strokeAlign":"{align}""#,
                solid("ff0000")
            );
            let seen =
                pixels(&frame("", &[node("2:1", kind, &at(20.0, 20.0, 60.0, 60.0), "0000ff", &fields)]));
            // Two pixels within and beyond the top; a star's tip is too thin to tell the inside.
            assert_eq!(seen.at(50, 18), outside, "{kind} {align}");
            if kind != "STAR" {
                assert_eq!(seen.at(50, 21), inside, "{kind} {align}");
            }
        }
    }
}

#[test]
fn strokes_by_side_leave_the_others_open() {
    let fields = format!(
        r#","strokes":[{}],"strokeWeight":1,"strokeAlign":"INSIDE","individualStrokeWeights":{{"top":0,"right":0,"bottom":8,"left":4}}"#,
        solid("ff0000")
    );
    let seen =
        pixels(&frame("", &[node("2:1", "RECTANGLE", &at(20.0, 20.0, 60.0, 60.0), "0000ff", &fields)]));
    assert_eq!(
        [seen.at(50, 21), seen.at(78, 50), seen.at(50, 75), seen.at(22, 50)],
        ["0000ff", "0000ff", "ff0000", "ff0000"]
    );
}

#[test]
fn a_frame_draws_its_stroke_over_its_children() {
    let child = node("2:1", "RECTANGLE", &at(0.0, 0.0, 100.0, 100.0), "00ff00", "");
    let fields = format!(r#","strokes":[{}],"strokeWeight":4,"strokeAlign":"INSIDE""#, solid("ff0000"));
    let seen = pixels(&frame(&fields, &[child]));
    assert_eq!([seen.at(2, 50), seen.at(50, 50)], ["ff0000", "00ff00"]);
}

#[test]
fn gradients_run_where_their_handles_say() {
    let red = |c: &str| u8::from_str_radix(&c[..2], 16).unwrap();
    let linear = gradient("LINEAR", [(0.0, 0.5), (1.0, 0.5), (0.0, 1.0)]);
    let seen = pixels(&frame("", &[painted("RECTANGLE", &linear)]));
    assert!(
        red(&seen.at(12, 50)) > 240
            && red(&seen.at(88, 50)) < 15
            && (110..145).contains(&red(&seen.at(50, 50)))
    );
    let radial = gradient("RADIAL", [(0.5, 0.5), (1.0, 0.5), (0.5, 1.0)]);
    let seen = pixels(&frame("", &[painted("RECTANGLE", &radial)]));
    assert!(red(&seen.at(50, 50)) > 240 && red(&seen.at(88, 50)) < 20 && red(&seen.at(50, 12)) < 20);
    let diamond = gradient("DIAMOND", [(0.5, 0.5), (1.0, 0.5), (0.5, 1.0)]);
    let seen = pixels(&frame("", &[painted("RECTANGLE", &diamond)]));
    assert!(red(&seen.at(50, 50)) > 240 && red(&seen.at(70, 70)) < 15 && red(&seen.at(70, 50)) > 115);
    let angular = gradient("ANGULAR", [(0.5, 0.5), (1.0, 0.5), (0.5, 1.0)]);
    let picture = picture(&frame("", &[painted("RECTANGLE", &angular)]));
    let seen = common::Pixels::of(&picture);
    // A quarter turn clockwise from three o'clock is six.
    assert!(
        red(&seen.at(80, 52)) > 240 && (175..205).contains(&red(&seen.at(50, 80))),
        "{}",
        seen.at(50, 80)
    );
    assert_eq!(picture.warnings.get("gradient_approximated").map(|w| w.count), Some(1));
}

#[test]
fn opacity_of_a_layer_is_put_on_it_as_a_whole() {
    let parts = [
        node("3:1", "RECTANGLE", &at(10.0, 10.0, 50.0, 50.0), "000000", ""),
        node("3:2", "RECTANGLE", &at(40.0, 40.0, 50.0, 50.0), "000000", ""),
    ];
    let group = format!(
        r#"{{"id":"2:1","name":"Group","type":"GROUP","opacity":0.5,{},"children":[{}]}}"#,
        at(10.0, 10.0, 80.0, 80.0),
        parts.join(",")
    );
    let seen = pixels(&frame("", &[group]));
    assert_eq!([seen.at(20, 20), seen.at(50, 50)], [seen.at(80, 80), seen.at(20, 20)]);
    assert_eq!(seen.at(50, 50), "808080");
}

#[test]
fn frames_clip_to_their_rounded_boxes() {
    let inner = format!(
        r#"{{"id":"2:1","name":"Inner","type":"FRAME",{},"clipsContent":true,"cornerRadius":20,"fills":[],"children":[{}]}}"#,
        at(20.0, 20.0, 60.0, 60.0),
        node("3:1", "RECTANGLE", &at(0.0, 20.0, 100.0, 100.0), "ff0000", "")
    );
    let seen = pixels(&frame("", &[inner]));
    assert_eq!(
        [seen.at(10, 50), seen.at(21, 21), seen.at(50, 50), seen.at(50, 85)],
        ["ffffff", "ffffff", "ff0000", "ffffff"]
    );
}

#[test]
fn a_shadow_falls_beside_its_box_and_not_on_it() {
    let shadow = r#","effects":[{"type":"DROP_SHADOW","visible":true,"color":{"r":0,"g":0,"b":0,"a":0.5},
        "offset":{"x":0,"y":10},"radius":8,"blendMode":"NORMAL"}]"#;
    let seen = pixels(&frame("", &[node("2:1", "RECTANGLE", &at(20.0, 20.0, 60.0, 50.0), "00ff00", shadow)]));
    assert_eq!([seen.at(50, 40), seen.at(50, 10), seen.at(50, 95)], ["00ff00", "ffffff", "ffffff"]);
    let below = u8::from_str_radix(&seen.at(50, 74)[..2], 16).unwrap();
    assert!((125..175).contains(&below), "{below}");
}

// proves D20: turned and mirrored layers lie as on the canvas.
#[test]
fn transforms_turn_and_mirror() {
    let turned = format!(
        r#"{{"id":"2:1","name":"Turned","type":"RECTANGLE","absoluteBoundingBox":{{"x":40,"y":10,"width":20,"height":80}},
            "size":{{"x":80,"y":20}},"relativeTransform":[[0,-1,60],[1,0,10]],"fills":{}}}"#,
        gradient("LINEAR", [(0.0, 0.5), (1.0, 0.5), (0.0, 1.0)])
    );
    let seen = pixels(&frame(r#","relativeTransform":[[1,0,0],[0,1,0]]"#, &[turned]));
    let red = |c: &str| u8::from_str_radix(&c[..2], 16).unwrap();
    assert!(
        red(&seen.at(50, 12)) > 240 && red(&seen.at(50, 88)) < 15,
        "{} {}",
        seen.at(50, 12),
        seen.at(50, 88)
    );
    assert_eq!(seen.at(30, 50), "ffffff");
}

#[test]
fn arcs_and_rings() {
    let ring = r#","arcData":{"startingAngle":0,"endingAngle":6.283185307179586,"innerRadius":0.5}"#;
    let seen = pixels(&frame("", &[node("2:1", "ELLIPSE", &at(10.0, 10.0, 80.0, 80.0), "ff0000", ring)]));
    assert_eq!([seen.at(50, 50), seen.at(50, 15)], ["ffffff", "ff0000"]);
    let quarter = r#","arcData":{"startingAngle":0,"endingAngle":1.5707963267948966,"innerRadius":0}"#;
    let seen = pixels(&frame("", &[node("2:1", "ELLIPSE", &at(10.0, 10.0, 80.0, 80.0), "ff0000", quarter)]));
    assert_eq!([seen.at(70, 70), seen.at(30, 30), seen.at(70, 30)], ["ff0000", "ffffff", "ffffff"]);
}

#[test]
fn vectors_without_outlines_are_marked_by_what_their_names_say() {
    let named = node("2:1", "VECTOR", &at(10.0, 10.0, 24.0, 24.0), "ff0000", "")
        .replace(r#""name":"VECTOR""#, r#""name":"icon/close""#);
    let other = node("2:2", "VECTOR", &at(50.0, 10.0, 24.0, 24.0), "ff0000", "");
    let picture = picture(&frame("", &[named, other]));
    assert!(picture.svg.contains("M5 5l14 14M19 5L5 19"), "{}", picture.svg);
    assert_eq!(picture.warnings.get("vector_without_outline").map(|w| w.count), Some(2));
    let seen = common::Pixels::of(&picture);
    assert_eq!([seen.at(22, 22), seen.at(22, 12)], ["ff0000", "ffffff"]);
}

// Files that were fetched with outlines have them for frames, too: those still hold children.
#[test]
fn frames_with_outlines_draw_their_children() {
    let outline = r#","fillGeometry":[{"path":"M0 0H100V100H0Z","windingRule":"NONZERO"}]"#;
    let child = node("2:1", "RECTANGLE", &at(10.0, 10.0, 50.0, 50.0), "ff0000", outline);
    let seen = pixels(&frame(outline, &[child]));
    assert_eq!([seen.at(30, 30), seen.at(80, 80)], ["ff0000", "ffffff"]);
}

#[test]
fn bad_path_data_is_left_out_and_counted() {
    let fields = r#","fillGeometry":[{"path":"M0 0L80\"/><script>","windingRule":"NONZERO"},{"path":"M0 0H80V80H0Z"}]"#;
    let picture =
        picture(&frame("", &[node("2:1", "VECTOR", &at(10.0, 10.0, 80.0, 80.0), "ff0000", fields)]));
    assert!(!picture.svg.contains("script"));
    assert_eq!(picture.warnings.get("bad_path").map(|w| w.count), Some(1));
    assert_eq!(common::Pixels::of(&picture).at(50, 50), "ff0000");
}

//! However much a file asks for, a picture stays within its bytes and its pixels' work.

mod common;

use common::{Pixels, at, frame, picture, solid, text, with};
use heddle_render::{Fonts, Options, Picture, svg};

fn within(json: &str, most_bytes: usize) -> Picture {
    with(json, |document| {
        let options = Options { most_bytes, ..Options::default() };
        svg(document, document.top_level_frames()[0], Fonts::bundled(), &options)
    })
}

fn count(picture: &Picture, code: &str) -> usize {
    picture.warnings.get(code).map_or(0, |warning| warning.count as usize)
}

fn repeated(paint: &str, times: usize) -> String {
    vec![paint; times].join(",")
}

const GRADIENT: &str = r#"{"type":"GRADIENT_LINEAR","opacity":0.1,
    "gradientHandlePositions":[{"x":0,"y":0},{"x":1,"y":0},{"x":0,"y":1}],"gradientStops":[
    {"position":0,"color":{"r":1,"g":0,"b":0,"a":1}},{"position":1,"color":{"r":0,"g":0,"b":1,"a":1}}]}"#;

/// A frame in a frame and so on, each with these fields.
fn nested(levels: usize, at: &str, fields: &str) -> String {
    (0..levels).fold(text("9:9", at, "deep", ""), |inner, level| {
        format!(
            r#"{{"id":"1:{level}","name":"Frame","type":"FRAME",{at},"fills":[{}]{fields},"children":[{inner}]}}"#,
            solid("ffffff")
        )
    })
}

#[test]
fn a_long_text_is_drawn_in_its_beginning() {
    let short =
        picture(&frame("", &[text("2:1", &at(0.0, 0.0, 90.0, 20.0), &"lorem ipsum ".repeat(1_600), "")]));
    assert_eq!(count(&short, "text_cut"), 0);
    let long = text("2:1", &at(0.0, 0.0, 90.0, 20.0), &"lorem ipsum ".repeat(400_000), "");
    let long = picture(&frame("", &[long]));
    assert_eq!(count(&long, "text_cut"), 1);
    assert!(long.svg.len() < 2_000_000, "{}", long.svg.len());
}

#[test]
fn letters_are_written_once_however_often_they_are_painted() {
    let letters = text("2:1", &at(0.0, 0.0, 200_000.0, 20.0), &"lorem ipsum ".repeat(1_000), "");
    let painted = |times: usize| {
        let paints = letters.replacen(&solid("000000"), &repeated(GRADIENT, times), 1);
        picture(&frame(r#","clipsContent":false"#, &[paints]))
    };
    let (one, many) = (painted(1), painted(60));
    assert!(one.svg.len() > 200_000, "{}", one.svg.len());
    assert!(many.svg.len() < one.svg.len() + 400_000, "{} {}", one.svg.len(), many.svg.len());
    assert!(many.svg.contains("<use href=\"#o"));
}

#[test]
fn a_path_written_once_looks_as_it_did() {
    // A ring of many points, by the even-odd rule.
    let circle = |radius: f64| {
        let points = (0..200).map(|step| {
            let angle = f64::from(step) * std::f64::consts::TAU / 200.0;
            format!("{:.4} {:.4}", 40.0 + radius * angle.cos(), 40.0 + radius * angle.sin())
        });
        format!("M{}Z", points.collect::<Vec<_>>().join("L"))
    };
    let ring = |paints: usize, align: &str| {
        let paints = repeated(&solid("ff0000"), paints);
        picture(&frame(
            "",
            &[format!(
                r#"{{"id":"2:1","name":"Ring","type":"VECTOR",{},"fills":[{paints}],"strokeWeight":4,"strokeAlign":"{align}",
                    "strokes":[{}],"fillGeometry":[{{"path":"{}{}","windingRule":"EVENODD"}}]}}"#,
                at(10.0, 10.0, 80.0, 80.0),
                repeated(&solid("0000ff"), 2),
                circle(40.0),
                circle(20.0)
            )],
        ))
    };
    for align in ["INSIDE", "OUTSIDE", "CENTER"] {
        let (one, two) = (ring(1, align), ring(2, align));
        assert!(two.svg.contains("<use href=\"#o"), "{}", two.svg);
        let (one, two) = (Pixels::of(&one), Pixels::of(&two));
        for (x, y) in [(50, 50), (50, 20), (20, 50), (11, 50), (31, 50), (29, 50), (2, 2)] {
            assert_eq!(one.at(x, y), two.at(x, y), "{align} {x} {y}");
        }
        assert_eq!((two.at(50, 50), two.at(20, 50)), ("ffffff".to_owned(), "ff0000".to_owned()), "{align}");
    }
}

#[test]
fn one_layer_does_not_pass_the_bytes() {
    let shadow = r#"{"type":"DROP_SHADOW","visible":true,"radius":9,"offset":{"x":4,"y":4},"color":{"r":0,"g":0,"b":0,"a":0.5}}"#;
    let facets = GRADIENT.replace("LINEAR", "ANGULAR");
    let layer = |fills: &str, effects: usize| {
        format!(
            r#"{{"id":"2:1","name":"Box","type":"RECTANGLE",{},"fills":[{fills}],"effects":[{}]}}"#,
            at(10.0, 10.0, 50.0, 50.0),
            repeated(shadow, effects)
        )
    };
    for layer in [layer(&repeated(&facets, 60), 0), layer(&solid("ff0000"), 3_000)] {
        let whole = within(&frame("", std::slice::from_ref(&layer)), 64 << 20);
        assert!(whole.svg.len() > 50_000, "{}", whole.svg.len());
        let cut = within(&frame("", &[layer]), 20_000);
        assert!(cut.svg.len() < 40_000, "{}", cut.svg.len());
        assert_eq!((count(&whole, "picture_cut"), count(&cut, "picture_cut")), (0, 1));
        Pixels::of(&cut);
    }
}

#[test]
fn filters_are_bounded_by_the_pixels_they_cover() {
    let blur = r#","effects":[{"type":"LAYER_BLUR","visible":true,"radius":9}]"#;
    let blurred = picture(&nested(200, &at(0.0, 0.0, 1_000.0, 1_000.0), blur));
    let filters = blurred.svg.matches("<filter").count();
    assert!((20..=24).contains(&filters), "{filters}");
    assert_eq!(count(&blurred, "filters_cut"), 200 - filters);
    // Small ones are many.
    let small = picture(&nested(200, &at(0.0, 0.0, 100.0, 100.0), blur));
    assert_eq!((small.svg.matches("<filter").count(), count(&small, "filters_cut")), (200, 0));
}

#[test]
fn open_groups_are_bounded_by_the_pixels_they_hold() {
    let huge = picture(&nested(100, &at(0.0, 0.0, 8_000.0, 4_000.0), r#","opacity":0.9"#));
    let groups = huge.svg.matches("<g opacity").count();
    assert!((5..=8).contains(&groups), "{groups}");
    assert!(count(&huge, "nesting_flattened") > 0);
    let ordinary = picture(&nested(100, &at(0.0, 0.0, 400.0, 800.0), r#","opacity":0.9"#));
    assert_eq!(ordinary.svg.matches("<g opacity").count(), 100);
}

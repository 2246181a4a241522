//! Whatever a document holds, its picture is well-formed, finite, and comes without a panic.

mod common;

use std::borrow::Cow;

use heddle_figma::{
    Affine, Arc, AutoLayout, Axis, BooleanOperation, Color, Document, Effect, GradientKind, GradientStop,
    Kind, LineHeight, Mask, Node, NodeIndex, Paint, PaintKind, Path, Placement, Point, Rect, ScaleMode, Size,
    Stroke, StrokeAlign, StrokeCap, StrokeJoin, Text, TextAlign, TextAlignVertical, TextCase, TextDecoration,
    TextResize, TextRun, TextStyle,
};
use heddle_render::{Fonts, Options, Picture, PngLimits, RenderError, png, svg};
use proptest::prelude::*;

/// Numbers as files have them, and as they should never.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => -50.0..150.0_f64,
        2 => Just(0.0),
        1 => prop::sample::select(vec![
            f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 1e-300, -0.0, 1e9, 65_536.0,
        ]),
    ]
}

fn color() -> impl Strategy<Value = Color> {
    (number(), 0.0..1.0_f64, 0.0..1.0_f64, prop_oneof![Just(1.0), number()]).prop_map(|(r, g, b, a)| Color {
        r,
        g,
        b,
        a,
    })
}

fn point() -> impl Strategy<Value = Point> {
    (number(), number()).prop_map(|(x, y)| Point { x, y })
}

fn paint() -> impl Strategy<Value = Paint<'static>> {
    let kinds = prop::sample::select(vec![
        GradientKind::Linear,
        GradientKind::Radial,
        GradientKind::Angular,
        GradientKind::Diamond,
    ]);
    let unit = || (-0.5..1.5_f64, -0.5..1.5_f64).prop_map(|(x, y)| Point { x, y });
    let handles = prop_oneof![
        3 => (unit(), unit(), unit()).prop_map(|(a, b, c)| [a, b, c]),
        1 => (point(), point(), point()).prop_map(|(a, b, c)| [a, b, c]),
    ];
    let stops = prop::collection::vec((number(), color()), 0..4).prop_map(|stops| {
        stops.into_iter().map(|(position, color)| GradientStop { position, color }).collect()
    });
    let kind = prop_oneof![
        4 => color().prop_map(PaintKind::Solid),
        2 => (kinds, handles, stops).prop_map(|(kind, handles, stops)| PaintKind::Gradient { kind, handles, stops }),
        1 => any::<bool>().prop_map(|crop| PaintKind::Image {
            reference: Some(Cow::Borrowed("a\"<>&\u{0}")),
            scale: if crop { ScaleMode::Crop } else { ScaleMode::Tile },
            transform: crop.then_some(Affine::IDENTITY),
        }),
    ];
    (kind, prop_oneof![Just(1.0), number()], prop::option::weighted(0.2, Just("multiply")))
        .prop_map(|(kind, opacity, blend)| Paint { kind, opacity, blend })
}

fn stroke() -> impl Strategy<Value = Stroke<'static>> {
    (
        prop::collection::vec(paint(), 1..3),
        number(),
        prop::option::weighted(0.3, prop::array::uniform4(number())),
        prop::sample::select(vec![StrokeAlign::Inside, StrokeAlign::Center, StrokeAlign::Outside]),
        prop::collection::vec(number(), 0..4),
        prop::sample::select(vec![StrokeCap::None, StrokeCap::Round, StrokeCap::Square, StrokeCap::Arrow]),
        prop::sample::select(vec![StrokeJoin::Miter, StrokeJoin::Round, StrokeJoin::Bevel]),
    )
        .prop_map(|(paints, weight, sides, align, dashes, cap, join)| Stroke {
            paints,
            weight,
            sides,
            align,
            dashes,
            cap,
            join,
        })
}

fn effect() -> impl Strategy<Value = Effect> {
    (0..4, color(), point(), number(), number()).prop_map(
        |(kind, color, offset, radius, spread)| match kind {
            0 => Effect::DropShadow { color, offset, radius, spread },
            1 => Effect::InnerShadow { color, offset, radius, spread },
            2 => Effect::LayerBlur { radius },
            _ => Effect::BackgroundBlur { radius },
        },
    )
}

fn characters() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => "[a-zA-Z ]{0,40}",
        1 => prop::collection::vec(
            prop::sample::select(vec![
                "\n", "\r", "\u{2028}", "\t", "\u{0}", "<", "&", "\"", "日本", "한국", "سلام", "אב", "हिन्दी", "😀", "👩‍👩‍👧", "\u{e001}",
                "\u{200d}", "\u{301}", "fi", "ﬁ", "…", "ß", "İ", "\u{202e}", "\u{10ffff}", "\u{fffe}", "a", " ",
            ]),
            0..24,
        )
        .prop_map(|parts| parts.concat()),
        1 => any::<String>(),
    ]
}

fn style() -> impl Strategy<Value = TextStyle<'static>> {
    (
        prop::sample::select(vec!["Inter", "Roboto", "Font Awesome 5", "", "Noto Sans JP"]),
        (any::<u16>(), any::<bool>(), number(), number()),
        prop::option::of(number()),
        prop::sample::select(vec![
            TextCase::Original,
            TextCase::Upper,
            TextCase::Lower,
            TextCase::Title,
            TextCase::SmallCaps,
        ]),
        prop::sample::select(vec![
            TextDecoration::None,
            TextDecoration::Underline,
            TextDecoration::Strikethrough,
        ]),
        prop::option::weighted(0.3, prop::collection::vec(paint(), 0..3)),
    )
        .prop_map(|(family, (weight, italic, size, letter_spacing), line, case, decoration, fills)| {
            TextStyle {
                family: Cow::Borrowed(family),
                weight,
                italic,
                size,
                line_height: line.map_or(LineHeight::Auto, LineHeight::Pixels),
                letter_spacing,
                case,
                decoration,
                fills,
            }
        })
}

fn text() -> impl Strategy<Value = Text<'static>> {
    (
        characters(),
        style(),
        prop::option::weighted(0.4, (style(), style(), any::<prop::sample::Index>(), any::<bool>())),
        prop::sample::select(vec![
            TextAlign::Left,
            TextAlign::Center,
            TextAlign::Right,
            TextAlign::Justified,
        ]),
        prop::sample::select(vec![
            TextAlignVertical::Top,
            TextAlignVertical::Center,
            TextAlignVertical::Bottom,
        ]),
        prop::sample::select(vec![
            TextResize::None,
            TextResize::Height,
            TextResize::WidthAndHeight,
            TextResize::Truncate,
        ]),
        prop::option::of(0..4_u32),
        number(),
    )
        .prop_map(
            |(characters, style, split, align, align_vertical, resize, max_lines, paragraph_spacing)| {
                let length = characters.len();
                let runs = match split {
                    // Cut wherever, borders or not: runs that make no sense must not hurt.
                    Some((first, second, at, sound)) => {
                        let mut at = at.index(length + 1);
                        while sound && !characters.is_char_boundary(at) {
                            at -= 1;
                        }
                        vec![
                            TextRun { range: 0..at, style: first },
                            TextRun { range: at..length, style: second },
                        ]
                    }
                    None if length > 0 => vec![TextRun { range: 0..length, style: style.clone() }],
                    None => Vec::new(),
                };
                Text {
                    characters: Cow::Owned(characters),
                    style,
                    runs,
                    align,
                    align_vertical,
                    resize,
                    max_lines,
                    paragraph_spacing,
                }
            },
        )
}

fn transform() -> impl Strategy<Value = Affine> {
    prop_oneof![
        4 => (number(), number()).prop_map(|(x, y)| Affine::translation(x, y)),
        1 => (number(), number(), -4.0..4.0_f64)
            .prop_map(|(x, y, angle)| Affine::translation(x, y).after(&Affine::rotation(angle))),
        1 => prop::array::uniform6(number()).prop_map(|[a, b, c, d, e, f]| Affine { a, b, c, d, e, f }),
    ]
}

fn paths() -> impl Strategy<Value = Vec<Path<'static>>> {
    let data = prop_oneof![
        3 => Just("M0 0L80 0L80 40L0 40Z".to_owned()),
        1 => "[MLHVCSQTAZmlhvcsqtaz0-9 .,eE+-]{0,40}",
        1 => any::<String>(),
    ];
    let path = (data, any::<bool>()).prop_map(|(data, even_odd)| Path { data: Cow::Owned(data), even_odd });
    prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(path, 1..3)]
}

const KINDS: [Kind; 15] = [
    Kind::Frame,
    Kind::Group,
    Kind::Section,
    Kind::Component,
    Kind::Instance,
    Kind::Text,
    Kind::Rectangle,
    Kind::Ellipse,
    Kind::Line,
    Kind::Vector,
    Kind::Star,
    Kind::Polygon,
    Kind::BooleanOperation,
    Kind::Unknown,
    Kind::Slice,
];

/// A node that knows only how many of the nodes before it are its ancestors' siblings: the tree comes later.
fn node() -> impl Strategy<Value = (Node<'static>, usize)> {
    let shape = (
        prop::sample::select(KINDS.to_vec()),
        transform(),
        (number(), number()),
        prop::collection::vec(paint(), 0..3),
        prop::option::weighted(0.4, stroke()),
        prop::array::uniform4(prop_oneof![Just(0.0), number()]),
        prop::collection::vec(effect(), 0..2),
        prop::option::weighted(0.2, (number(), number(), number())),
    );
    let rest = (
        prop_oneof![4 => Just(1.0), 1 => number()],
        prop::option::weighted(0.15, prop::sample::select(vec![Mask::Alpha, Mask::Outline, Mask::Luminance])),
        (any::<bool>(), prop::bool::weighted(0.9), prop::bool::weighted(0.2)),
        (paths(), paths()),
        text(),
        "[a-z<&\"-]{0,12}",
        0..4_usize,
        prop::sample::select(vec![
            BooleanOperation::Union,
            BooleanOperation::Intersect,
            BooleanOperation::Subtract,
            BooleanOperation::Exclude,
        ]),
    );
    (shape, rest).prop_map(|(shape, rest)| {
        let (kind, transform, (width, height), fills, stroke, radii, effects, arc) = shape;
        let (
            opacity,
            mask,
            (clips, visible, reverse),
            (fill_geometry, stroke_geometry),
            text,
            name,
            up,
            operation,
        ) = rest;
        let size = Size { width: width.abs(), height: height.abs() };
        let node = Node {
            id: Cow::Borrowed("1:1"),
            name: Cow::Owned(name),
            kind,
            parent: None,
            end: 0,
            depth: 0,
            visible,
            shown: visible,
            bounds: transform.bounds(size).unwrap_or_default(),
            render_bounds: None,
            size,
            transform,
            opacity,
            blend: None,
            fills,
            stroke: stroke.map(Box::new),
            radii,
            effects,
            mask,
            clips,
            fill_geometry,
            stroke_geometry,
            arc: arc.map(|(start, end, inner)| Arc { start, end, inner }),
            boolean_operation: (kind == Kind::BooleanOperation).then_some(operation),
            layout: reverse.then(|| Box::new(layout())),
            placement: Placement::default(),
            text: (kind == Kind::Text).then(|| Box::new(text)),
            component: None,
            styles: Vec::new(),
            exported: false,
        };
        (node, up)
    })
}

fn layout() -> AutoLayout {
    AutoLayout {
        axis: Axis::Horizontal,
        wrap: false,
        spacing: 0.0,
        counter_spacing: 0.0,
        padding: [0.0; 4],
        primary_align: heddle_figma::Align::Start,
        counter_align: heddle_figma::Align::Start,
        reverse_z: true,
        strokes_included: false,
    }
}

/// Puts nodes into a tree below a frame: each goes under the one before, or `up` layers higher.
fn tree(mut nodes: Vec<(Node<'static>, usize)>) -> Document<'static> {
    let mut all: Vec<Node<'static>> = Vec::new();
    let mut path: Vec<u32> = Vec::new();
    for (mut node, up) in nodes.drain(..) {
        if all.is_empty() {
            node.kind = Kind::Frame;
            node.transform = Affine::translation(3.0, 5.0);
            node.size = Size { width: 120.0, height: 90.0 };
            node.bounds = Rect { x: 3.0, y: 5.0, width: 120.0, height: 90.0 };
        } else {
            let keep = path.len().saturating_sub(up).max(1);
            path.truncate(keep);
        }
        node.parent = path.last().map(|p| NodeIndex(*p));
        node.depth = path.len() as u16;
        path.push(all.len() as u32);
        all.push(node);
    }
    for index in (0..all.len()).rev() {
        let end = all[index].end.max(index as u32 + 1);
        all[index].end = end;
        if let Some(parent) = all[index].parent {
            all[parent.at()].end = all[parent.at()].end.max(end);
        }
    }
    Document {
        name: Cow::Borrowed("Test"),
        nodes: all,
        components: std::collections::BTreeMap::new(),
        component_sets: std::collections::BTreeMap::new(),
        styles: std::collections::BTreeMap::new(),
        warnings: heddle_figma::Warnings::default(),
    }
}

/// A picture that every reader takes: well-formed, no `NaN`, every reference defined.
fn check(picture: &Picture) {
    let svg = &picture.svg;
    assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
    assert!(picture.width >= 1.0 && picture.height >= 1.0);
    resvg::usvg::Tree::from_str(svg, &resvg::usvg::Options::default())
        .unwrap_or_else(|e| panic!("{e}: {svg}"));
    for (mark, close) in [("url(#", ')'), ("href=\"#", '"')] {
        for reference in svg.split(mark).skip(1) {
            let id = reference.split(close).next().unwrap_or_default();
            assert!(svg.contains(&format!("id=\"{id}\"")), "{id} is not defined: {svg}");
        }
    }
}

proptest! {
    // proves D20: any document has a picture.
    #[test]
    fn any_document_has_a_sound_picture(nodes in prop::collection::vec(node(), 1..12)) {
        let document = tree(nodes);
        for index in [0, document.nodes.len() as u32 - 1] {
            check(&svg(&document, NodeIndex(index), Fonts::bundled(), &Options::default()));
        }
    }

    #[test]
    fn any_document_becomes_pixels(nodes in prop::collection::vec(node(), 1..6)) {
        let document = tree(nodes);
        let picture = svg(&document, NodeIndex(0), Fonts::bundled(), &Options::default());
        match png(&picture, 0.5, &PngLimits { pixels: 10_000, side: 500 }) {
            Ok(pixels) => prop_assert!(u64::from(pixels.width) * u64::from(pixels.height) <= 10_000),
            // The rasteriser's own assertions, on geometry of the 1e300 sort.
            Err(error) => prop_assert!(matches!(error, RenderError::Draw), "{error}"),
        }
    }
}

// proves D20: layers nested as deeply as the reader lets through are drawn, on a small stack, in any build.
#[test]
fn five_hundred_layers_are_drawn_on_a_small_stack() {
    let layer = format!(
        r#"{{"id":"2:1","name":"Layer","type":"FRAME",{},"clipsContent":true,"cornerRadius":30,"opacity":0.999,"children":["#,
        common::at(0.0, 0.0, 100.0, 100.0)
    );
    let open = layer.repeat(505);
    let inner = common::node("900:1", "RECTANGLE", &common::at(-10.0, -10.0, 130.0, 130.0), "ff0000", "");
    let document = format!("{open}{inner}{}", "]}".repeat(505));
    let drawn = std::thread::Builder::new().stack_size(512 << 10).spawn(move || {
        let picture = common::picture(&document);
        let seen = common::Pixels::of(&picture);
        assert!(picture.warnings.get("nesting_flattened").is_some());
        assert_eq!(seen.at(2, 2), "none");
        seen.at(50, 50)
    });
    let seen = drawn.expect("a thread").join().expect("no overflow");
    assert!(seen.starts_with('f') || seen.starts_with('e'), "{seen}");
}

#[test]
fn pictures_are_bounded() {
    let wide = common::frame("", &[]).replace(r#""width":100"#, r#""width":60000"#);
    let picture = common::picture(&wide);
    let pixels = png(&picture, 4.0, &PngLimits::default()).expect("pixels");
    assert!(pixels.width <= 32_000 && u64::from(pixels.width) * u64::from(pixels.height) <= 32_000_000);
    assert!(pixels.scale < 1.0);

    let many: Vec<String> = (0..2_000)
        .map(|at| {
            common::node(&format!("2:{at}"), "RECTANGLE", &common::at(1.0, 1.0, 5.0, 5.0), "ff0000", "")
        })
        .collect();
    let picture = common::with(&common::frame("", &many), |document| {
        let options = Options { most_bytes: 20_000, ..Options::default() };
        svg(document, NodeIndex(0), Fonts::bundled(), &options)
    });
    assert!(picture.svg.len() < 22_000 && picture.warnings.get("picture_cut").is_some());
    check(&picture);
}

#[test]
fn threads_share_the_fonts() {
    let fonts = Fonts::bundled();
    let document =
        common::frame("", &[common::text("2:1", &common::at(0.0, 0.0, 100.0, 20.0), "Shared", "")]);
    let draw = || common::with(&document, |d| svg(d, NodeIndex(0), fonts, &Options::default()).svg);
    let first = draw();
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..4).map(|_| scope.spawn(draw)).collect();
        // The same document gives the same bytes, wherever and whenever.
        assert!(others.into_iter().all(|other| other.join().expect("a picture") == first));
    });
}

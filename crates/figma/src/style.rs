//! Paints, strokes, effects and property values, from how they stand to what they mean.

use std::borrow::Cow;

use crate::lenient::{List, Object, Scalar};
use crate::raw::{RawEffect, RawNode, RawPaint, RawPath, RawProperty, color, point};
use crate::resolve::matrix;
use crate::{
    Affine, Color, Effect, GradientKind, GradientStop, Paint, PaintKind, Path, Point, PropertyValue,
    ScaleMode, Stroke, StrokeAlign, StrokeCap, StrokeJoin,
};

/// Most paints or effects of one layer.
pub(crate) const MOST_PAINTS: usize = 64;

pub(crate) fn blend(name: &str) -> Option<&'static str> {
    Some(match name {
        "DARKEN" => "darken",
        "MULTIPLY" => "multiply",
        "LINEAR_BURN" | "COLOR_BURN" => "color-burn",
        "LIGHTEN" => "lighten",
        "SCREEN" => "screen",
        "LINEAR_DODGE" | "COLOR_DODGE" => "color-dodge",
        "OVERLAY" => "overlay",
        "SOFT_LIGHT" => "soft-light",
        "HARD_LIGHT" => "hard-light",
        "DIFFERENCE" => "difference",
        "EXCLUSION" => "exclusion",
        "HUE" => "hue",
        "SATURATION" => "saturation",
        "COLOR" => "color",
        "LUMINOSITY" => "luminosity",
        _ => return None,
    })
}

pub(crate) fn paints<'a>(raw: &List<Object<RawPaint<'a>>>) -> Vec<Paint<'a>> {
    // The topmost ones, should there be more than anyone can see.
    let mut paints: Vec<Paint<'a>> =
        raw.0.iter().rev().filter_map(|Object(p)| paint(p.as_ref()?)).take(MOST_PAINTS).collect();
    paints.reverse();
    paints
}

fn paint<'a>(raw: &RawPaint<'a>) -> Option<Paint<'a>> {
    let opacity = raw.opacity.number().unwrap_or(1.0).clamp(0.0, 1.0);
    if raw.visible.boolean() == Some(false) || opacity == 0.0 {
        return None;
    }
    let gradient = |kind| {
        let mut stops: Vec<GradientStop> = raw
            .stops
            .0
            .iter()
            .filter_map(|Object(stop)| {
                let stop = stop.as_ref()?;
                let position = stop.position.number()?.clamp(0.0, 1.0);
                Some(GradientStop { position, color: color(stop.color.0.as_ref()?) })
            })
            .collect();
        stops.sort_by(|a, b| a.position.total_cmp(&b.position));
        let handles: Vec<Point> = raw.handles.0.iter().filter_map(|Object(p)| point(p.as_ref()?)).collect();
        let handles = match handles.as_slice() {
            [start, end, across, ..] => [*start, *end, *across],
            [start, end] => {
                [*start, *end, Point { x: start.x - (end.y - start.y), y: start.y + end.x - start.x }]
            }
            _ => handles_from_transform(&raw.gradient_transform),
        };
        (!stops.is_empty()).then_some(PaintKind::Gradient { kind, handles, stops })
    };
    let kind = match raw.kind.as_str()? {
        "SOLID" => PaintKind::Solid(color(raw.color.0.as_ref()?)),
        "GRADIENT_LINEAR" => gradient(GradientKind::Linear)?,
        "GRADIENT_RADIAL" => gradient(GradientKind::Radial)?,
        "GRADIENT_ANGULAR" => gradient(GradientKind::Angular)?,
        "GRADIENT_DIAMOND" => gradient(GradientKind::Diamond)?,
        "IMAGE" | "VIDEO" | "EMOJI" | "PATTERN" => {
            let transform = matrix(&raw.transform).filter(Affine::is_finite);
            let scale = match raw.scale.as_str() {
                Some("FIT") => ScaleMode::Fit,
                Some("TILE") => ScaleMode::Tile,
                Some("CROP" | "STRETCH") => ScaleMode::Crop,
                _ => ScaleMode::Fill,
            };
            PaintKind::Image { reference: raw.image.clone().text(), scale, transform }
        }
        _ => return None,
    };
    if let PaintKind::Solid(color) = &kind
        && color.a == 0.0
    {
        return None;
    }
    Some(Paint { kind, opacity, blend: raw.blend.as_str().and_then(blend) })
}

/// The plugin API gives the inverse: from the box's unit square to the gradient's.
fn handles_from_transform(rows: &List<List<Scalar<'_>>>) -> [Point; 3] {
    let inverse = matrix(rows).and_then(|m| m.inverse());
    match inverse {
        Some(m) => [(0.0, 0.5), (1.0, 0.5), (0.0, 1.0)].map(|(x, y)| m.apply(Point { x, y })),
        None => [Point { x: 0.5, y: 0.0 }, Point { x: 0.5, y: 1.0 }, Point { x: 0.0, y: 0.0 }],
    }
}

pub(crate) fn stroke<'a>(raw: &RawNode<'a>) -> Option<Stroke<'a>> {
    let paints = paints(&raw.strokes);
    let weight = raw.stroke_weight.number().unwrap_or(1.0);
    let sides = raw.stroke_sides.0.as_ref().map(|s| {
        [&s.top, &s.right, &s.bottom, &s.left].map(|side| side.number().unwrap_or(0.0).clamp(0.0, 1000.0))
    });
    let visible = weight > 0.0 || sides.is_some_and(|s| s.iter().any(|w| *w > 0.0));
    if paints.is_empty() || !visible {
        return None;
    }
    let dashes: Vec<f64> = raw.dashes.0.iter().filter_map(Scalar::number).collect();
    let dashed = dashes.iter().all(|d| *d >= 0.0) && dashes.iter().sum::<f64>() > 0.0;
    Some(Stroke {
        paints,
        weight: weight.clamp(0.0, 1000.0),
        sides,
        align: match raw.stroke_align.as_str() {
            Some("CENTER") => StrokeAlign::Center,
            Some("OUTSIDE") => StrokeAlign::Outside,
            _ => StrokeAlign::Inside,
        },
        dashes: if dashed { dashes } else { Vec::new() },
        cap: match raw.stroke_cap.as_str() {
            None | Some("NONE") => StrokeCap::None,
            Some("ROUND") => StrokeCap::Round,
            Some("SQUARE") => StrokeCap::Square,
            Some(_) => StrokeCap::Arrow,
        },
        join: match raw.stroke_join.as_str() {
            Some("ROUND") => StrokeJoin::Round,
            Some("BEVEL") => StrokeJoin::Bevel,
            _ => StrokeJoin::Miter,
        },
    })
}

pub(crate) fn radii(radius: &Scalar<'_>, each: &List<Scalar<'_>>) -> [f64; 4] {
    let sane = |v: &Scalar<'_>| v.number().unwrap_or(0.0).clamp(0.0, 100_000.0);
    match each.0.as_slice() {
        [a, b, c, d] => [sane(a), sane(b), sane(c), sane(d)],
        _ => [sane(radius); 4],
    }
}

pub(crate) fn effect(raw: &RawEffect<'_>) -> Option<Effect> {
    if raw.visible.boolean() == Some(false) {
        return None;
    }
    let color = raw.color.0.as_ref().map_or(Color { a: 0.25, ..Default::default() }, color);
    let offset = raw.offset.0.as_ref().and_then(point).unwrap_or_default();
    let radius = raw.radius.number().unwrap_or(0.0).clamp(0.0, 1000.0);
    let spread = raw.spread.number().unwrap_or(0.0).clamp(-1000.0, 1000.0);
    match raw.kind.as_str()? {
        "DROP_SHADOW" => Some(Effect::DropShadow { color, offset, radius, spread }),
        "INNER_SHADOW" => Some(Effect::InnerShadow { color, offset, radius, spread }),
        "LAYER_BLUR" => Some(Effect::LayerBlur { radius }),
        "BACKGROUND_BLUR" => Some(Effect::BackgroundBlur { radius }),
        _ => None,
    }
}

pub(crate) fn paths(raw: List<Object<RawPath<'_>>>) -> Vec<Path<'_>> {
    raw.0
        .into_iter()
        .filter_map(|Object(path)| {
            let path = path?;
            let even_odd = path.rule.as_str() == Some("EVENODD");
            Some(Path { data: path.data.text().filter(|d| !d.is_empty())?, even_odd })
        })
        .collect()
}

/// A property's value (or default) and what it enumerates.
pub(crate) fn value(raw: RawProperty<'_>, definition: bool) -> (PropertyValue<'_>, Vec<Cow<'_, str>>) {
    let given = if definition { raw.default } else { raw.value };
    let value = match raw.kind.as_str() {
        Some("VARIANT") => PropertyValue::Variant(given.text().unwrap_or_default()),
        Some("TEXT") => PropertyValue::Text(given.text().unwrap_or_default()),
        Some("BOOLEAN") => PropertyValue::Boolean(given.boolean().unwrap_or(false)),
        Some("INSTANCE_SWAP") => PropertyValue::Swap(given.text().unwrap_or_default()),
        _ => PropertyValue::Other,
    };
    (value, raw.options.0.into_iter().filter_map(Scalar::text).collect())
}

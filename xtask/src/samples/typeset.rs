//! The fields of texts and vectors.

use super::emit::{arc, paints};
use super::json::{Json, object};
use super::node::{Kind, Node, Sizing, Span, Text};
use super::paint::{Family, Type};
use super::vector::{Outline, ring};

fn face(style: Type) -> (&'static str, String, &'static str) {
    let (family, script) = match style.family {
        Family::Inter => ("Inter", "Inter"),
        Family::NotoSansJp => ("Noto Sans JP", "NotoSansJP"),
    };
    let (name, suffix) = match style.weight {
        0..450 => ("Regular", "Regular"),
        450..550 => ("Medium", "Medium"),
        550..650 => ("Semi Bold", "SemiBold"),
        _ => ("Bold", "Bold"),
    };
    (family, format!("{script}-{suffix}"), name)
}

/// The fields of a style that a run may change.
fn font(style: Type) -> Json {
    let (family, script, name) = face(style);
    object([
        ("fontFamily", family.into()),
        ("fontPostScriptName", script.into()),
        ("fontStyle", name.into()),
        ("fontWeight", Json::Int(style.weight.into())),
        ("fontSize", style.size.into()),
        ("letterSpacing", style.spacing.into()),
    ])
}

fn lines(style: Type, out: &mut Json) {
    out.put("lineHeightPx", style.line);
    out.put("lineHeightPercent", style.line / (style.size * 1.21) * 100.0);
    out.put("lineHeightPercentFontSize", style.line / style.size * 100.0);
    out.put("lineHeightUnit", "PIXELS");
}

fn run(span: &Span) -> Json {
    let mut out = font(span.style);
    lines(span.style, &mut out);
    if let Some(fill) = &span.fill {
        out.put("fills", paints(fill));
    }
    out
}

/// Characters, runs and style.
pub fn text(node: &Node, text: &Text, out: &mut Json) {
    out.put("characters", text.characters.as_str());
    let mut runs = text.runs();
    // Figma leaves out the zeros at the end.
    runs.truncate(runs.iter().rposition(|run| *run != 0).map_or(0, |last| last + 1));
    let runs = runs.into_iter().map(Json::Int).collect::<Vec<_>>();
    out.put("characterStyleOverrides", runs);
    let table = text.spans.iter().enumerate().map(|(index, span)| ((index + 1).to_string(), run(span)));
    out.put("styleOverrideTable", Json::Object(table.collect()));
    let paragraphs = text.characters.split('\n').count();
    out.put("lineTypes", vec![Json::from("NONE"); paragraphs]);
    out.put("lineIndentations", vec![Json::Int(0); paragraphs]);
    let mut style = font(text.style);
    match (node.width, node.height) {
        (Sizing::Hug, Sizing::Hug) => style.put("textAutoResize", "WIDTH_AND_HEIGHT"),
        (_, Sizing::Hug) => style.put("textAutoResize", "HEIGHT"),
        _ => {}
    }
    if let Some(lines) = text.max_lines {
        style.put("textTruncation", "ENDING");
        style.put("maxLines", Json::Int(lines));
    }
    if let Some(decoration) = text.decoration {
        style.put("textDecoration", decoration);
    }
    style.put("textAlignHorizontal", text.align);
    style.put("textAlignVertical", text.vertical);
    lines(text.style, &mut style);
    out.put("style", style);
}

fn path(data: String) -> Json {
    Json::List(vec![object([("path", data.into()), ("windingRule", "NONZERO".into())])])
}

/// Outlines of fills and strokes.
pub fn geometry(node: &Node, out: &mut Json) {
    let outline = match &node.kind {
        Kind::Vector(outline) => {
            let (x, y, width, height) = outline.bounds();
            let scale = |to: f64, from: f64| if from > 0.0 { to / from } else { 1.0 };
            outline.moved(-x, -y, scale(node.size.0, width), scale(node.size.1, height))
        }
        Kind::Ellipse(Some(part)) => {
            out.put("arcData", arc(*part));
            ring(*part, node.size)
        }
        Kind::Ellipse(None) => {
            let whole = super::node::Arc { start: 0.0, end: std::f64::consts::TAU, inner: 0.0 };
            out.put("arcData", arc(whole));
            return;
        }
        Kind::Line => Outline::new(&format!("M0 0L{} 0", node.size.0)),
        _ => return,
    };
    let filled = !node.fill.paints.is_empty();
    out.put("fillGeometry", if filled { path(outline.fill_data()) } else { Json::List(Vec::new()) });
    let stroked = node
        .stroke
        .as_ref()
        .map(|stroke| path(outline.stroke_data(stroke.weight, stroke.round, &stroke.dashes)));
    out.put("strokeGeometry", stroked.unwrap_or_else(|| Json::List(Vec::new())));
}

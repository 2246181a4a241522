//! Vector outlines: SVG path data in, boxes and outlined strokes out.

use kurbo::{Affine, BezPath, Cap, CircleSegment, Join, PathEl, Rect, Shape, StrokeOpts};

use super::node::Arc;

/// An outline in the coordinates of its own box.
#[derive(Clone, Debug)]
pub struct Outline {
    path: BezPath,
}

impl Outline {
    /// Reads SVG path data. Panics on data that is no path: the data is written in this crate.
    pub fn new(data: &str) -> Self {
        let path = BezPath::from_svg(data);
        Self { path: path.unwrap_or_else(|error| panic!("path {data}: {error}")) }
    }

    /// The box around the outline: x, y, width, height.
    pub fn bounds(&self) -> (f64, f64, f64, f64) {
        let Rect { x0, y0, x1, y1 } = self.path.bounding_box();
        (x0, y0, x1 - x0, y1 - y0)
    }

    /// Moves and then scales the outline.
    pub fn moved(&self, x: f64, y: f64, scale_x: f64, scale_y: f64) -> Self {
        let transform = Affine::scale_non_uniform(scale_x, scale_y) * Affine::translate((x, y));
        Self { path: transform * self.path.clone() }
    }

    /// The path data of the filled outline.
    pub fn fill_data(&self) -> String {
        data(&self.path)
    }

    /// The path data of the outlined stroke.
    pub fn stroke_data(&self, weight: f64, round: bool, dashes: &[f64]) -> String {
        let (cap, join) = if round { (Cap::Round, Join::Round) } else { (Cap::Butt, Join::Miter) };
        let mut style = kurbo::Stroke::new(weight).with_caps(cap).with_join(join);
        if !dashes.is_empty() {
            style = style.with_dashes(0.0, dashes.iter().copied());
        }
        data(&kurbo::stroke(self.path.elements().iter().copied(), &style, &StrokeOpts::default(), 0.05))
    }
}

/// SVG path data, absolute, with two decimals.
fn data(path: &BezPath) -> String {
    let mut out = String::new();
    let mut push = |command: char, points: &[kurbo::Point]| {
        out.push(command);
        for (index, point) in points.iter().enumerate() {
            if index > 0 {
                out.push(' ');
            }
            out.push_str(&decimal(point.x));
            out.push(' ');
            out.push_str(&decimal(point.y));
        }
    };
    for element in path.elements() {
        match *element {
            PathEl::MoveTo(a) => push('M', &[a]),
            PathEl::LineTo(a) => push('L', &[a]),
            PathEl::QuadTo(a, b) => push('Q', &[a, b]),
            PathEl::CurveTo(a, b, c) => push('C', &[a, b, c]),
            PathEl::ClosePath => push('Z', &[]),
        }
    }
    out
}

fn decimal(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    // Minus zero would print a sign.
    let rounded = if rounded == 0.0 { 0.0 } else { rounded };
    format!("{rounded}")
}

/// Part of a ring in a box.
pub fn ring(arc: Arc, size: (f64, f64)) -> Outline {
    let radius = size.0.min(size.1) / 2.0;
    let center = (size.0 / 2.0, size.1 / 2.0);
    let segment = CircleSegment::new(center, radius, radius * arc.inner, arc.start, arc.end - arc.start);
    Outline { path: segment.to_path(0.05) }
}

//! Where nodes and their ink end up on the canvas.

use super::json::{Json, object};
use super::layout::lines;
use super::node::{Kind, Node, Text};
use super::paint::{Align, Effect};

/// A rectangle on the canvas: left, top, right, bottom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds(pub [f64; 4]);

impl Bounds {
    /// The smallest rectangle around two.
    pub fn union(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([a.min(e), b.min(f), c.max(g), d.max(h)])
    }

    /// What two have in common.
    pub fn intersection(self, other: Self) -> Option<Self> {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        let common = [a.max(e), b.max(f), c.min(g), d.min(h)];
        (common[0] <= common[2] && common[1] <= common[3]).then_some(Self(common))
    }

    /// Larger by a margin on every side.
    pub fn grown(self, by: f64) -> Self {
        let [a, b, c, d] = self.0;
        Self([a - by, b - by, c + by, d + by])
    }

    /// Figma's rectangle.
    pub fn json(self) -> Json {
        let [a, b, c, d] = self.0;
        object([("x", a.into()), ("y", b.into()), ("width", (c - a).into()), ("height", (d - b).into())])
    }
}

/// A transform of the plane, as Figma writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform(pub [[f64; 3]; 2]);

impl Transform {
    /// A move.
    pub fn offset(x: f64, y: f64) -> Self {
        Self([[1.0, 0.0, x], [0.0, 1.0, y]])
    }

    /// The transform of a node relative to its parent.
    pub fn of(node: &Node) -> Self {
        if node.rotation == 0.0 {
            return Self::offset(node.at.0, node.at.1);
        }
        let (sin, cos) = node.rotation.to_radians().sin_cos();
        Self([[cos, -sin, node.at.0], [sin, cos, node.at.1]])
    }

    /// First `inner`, then this.
    pub fn then(self, inner: Self) -> Self {
        let (a, b) = (self.0, inner.0);
        let entry = |row: usize, column: usize| {
            let moved = if column == 2 { a[row][2] } else { 0.0 };
            a[row][0] * b[0][column] + a[row][1] * b[1][column] + moved
        };
        Self([[entry(0, 0), entry(0, 1), entry(0, 2)], [entry(1, 0), entry(1, 1), entry(1, 2)]])
    }

    /// The box around a rectangle of this transform's space.
    pub fn bounds(self, [left, top, right, bottom]: [f64; 4]) -> Bounds {
        let [[a, b, x], [c, d, y]] = self.0;
        let corners = [(left, top), (right, top), (left, bottom), (right, bottom)];
        let mut out = Bounds([f64::MAX, f64::MAX, f64::MIN, f64::MIN]);
        for (u, v) in corners {
            let (px, py) = (a * u + b * v + x, c * u + d * v + y);
            out = out.union(Bounds([px, py, px, py]));
        }
        out
    }

    /// Figma's matrix.
    pub fn json(self) -> Json {
        let row = |row: [f64; 3]| Json::List(row.map(Json::Number).to_vec());
        Json::List(self.0.map(row).to_vec())
    }
}

/// What a node itself paints, without its children, or nothing.
pub fn ink(node: &Node, transform: Transform) -> Option<Bounds> {
    if let Kind::Text(text) = &node.kind {
        return text_ink(node, text, transform);
    }
    let painted = !node.fill.paints.is_empty() || node.stroke.is_some();
    let container = !matches!(node.kind, Kind::Group | Kind::Vector(_) | Kind::Ellipse(_));
    if !painted && !container {
        return None;
    }
    let mut bounds = transform.bounds([0.0, 0.0, node.size.0, node.size.1]);
    if let Some(stroke) = &node.stroke
        && stroke.align == Align::Center
    {
        bounds = bounds.grown(stroke.weight / 2.0);
    }
    let plain = bounds;
    for effect in &node.effects.list {
        if let Effect::Shadow { y, blur, spread, .. } = effect {
            let [a, b, c, d] = plain.grown(blur + spread).0;
            bounds = bounds.union(Bounds([a, b + y, c, d + y]));
        }
    }
    Some(bounds)
}

/// About where the letters are: a good guess from the metrics of the typefaces.
fn text_ink(node: &Node, text: &Text, transform: Transform) -> Option<Bounds> {
    let lines = lines(text, Some(node.size.0 + 0.5));
    let widest = lines.iter().map(|line| line.width).fold(0.0, f64::max);
    if widest == 0.0 {
        return None;
    }
    let (first, last) = (lines.first()?.height, lines.last()?.height);
    let height: f64 = lines.iter().map(|line| line.height).sum();
    let size = text.style.size;
    let left = match text.align {
        "CENTER" => (node.size.0 - widest) / 2.0,
        "RIGHT" => node.size.0 - widest,
        _ => 0.0,
    };
    let top = (first - size * 1.21) / 2.0 + size * 0.24;
    let bottom = height - (last - size * 1.21) / 2.0 - size * 0.1;
    Some(transform.bounds([left + size * 0.07, top, left + widest - size * 0.05, bottom]))
}

//! Fills: colours, gradients, and the neutral placeholder that stands for an image.

use heddle_figma::{
    Affine, Color, GradientKind, GradientStop, Node, Paint, PaintKind, Point, ScaleMode, Size,
};

use crate::outline::{Outline, Spot};
use crate::painter::{PLACEHOLDER, Painter, blend};
use crate::write;

/// How finely an angular gradient is cut.
const WEDGES: u32 = 72;

/// What a `fill` or `stroke` attribute can hold.
#[derive(Debug, Clone, Copy)]
pub enum Ink {
    /// A colour; its opacity includes the paint's.
    Color(Color),
    /// A gradient's id.
    Gradient(u32),
}

impl Ink {
    /// Appends ` fill="…"` (or ` stroke="…"`), and the opacity where it is not 1.
    pub fn write(self, attributes: &mut String, property: &str, opacity: f64) {
        match self {
            Self::Color(color) => write::paint(attributes, property, &color, opacity),
            Self::Gradient(id) => {
                write::reference(attributes, property, 'p', id);
                if opacity < 0.9995 {
                    attributes.push(' ');
                    attributes.push_str(property);
                    attributes.push_str("-opacity=\"");
                    write::number(attributes, opacity.max(0.0), 3);
                    attributes.push('"');
                }
            }
        }
    }
}

/// The colour that a paint comes down to where only one can be used.
pub fn main_color(paint: &Paint<'_>) -> Color {
    match &paint.kind {
        PaintKind::Solid(color) => Color { a: color.a * paint.opacity, ..*color },
        PaintKind::Gradient { stops, .. } => {
            let stop = stops.iter().max_by(|a, b| a.color.a.total_cmp(&b.color.a));
            stop.map_or(PLACEHOLDER, |s| Color { a: s.color.a * paint.opacity, ..s.color })
        }
        PaintKind::Image { .. } => Color { a: paint.opacity, ..PLACEHOLDER },
    }
}

impl Painter<'_> {
    /// Paints an outline with all fills of a node, bottom first. `opacity` is put on top of the paints' own.
    pub fn fill(
        &mut self,
        node: &Node<'_>,
        fills: &[Paint<'_>],
        outline: &Outline,
        spot: &Spot,
        opacity: f64,
    ) {
        let outline = &*self.written_once(outline, fills.len());
        for paint in fills {
            if self.full() {
                break;
            }
            self.fill_one(node, paint, outline, spot, opacity);
        }
    }

    fn fill_one(&mut self, node: &Node<'_>, paint: &Paint<'_>, outline: &Outline, spot: &Spot, opacity: f64) {
        if outline.is_unknown() {
            return;
        }
        match &paint.kind {
            PaintKind::Image { reference, scale, transform } => {
                let image = (reference.as_deref(), *scale, transform.as_ref());
                self.image(node, paint, image, outline, spot, opacity);
            }
            PaintKind::Gradient {
                kind: kind @ (GradientKind::Angular | GradientKind::Diamond),
                handles,
                stops,
            } => {
                self.faceted(node, (*kind, handles, stops), paint, outline, spot, opacity);
            }
            _ => {
                let Some(ink) = self.ink(paint, node.size, spot) else { return };
                let mut attributes = self.fresh();
                ink.write(&mut attributes, "fill", opacity);
                blend(&mut attributes, paint.blend);
                outline.write(&mut self.out, spot, &attributes);
                self.done(attributes);
            }
        }
    }

    /// What a paint is as one attribute; gradients are defined on the way. `None` where it cannot be seen.
    pub fn ink(&mut self, paint: &Paint<'_>, size: Size, spot: &Spot) -> Option<Ink> {
        let opacity = if paint.opacity.is_finite() { paint.opacity.clamp(0.0, 1.0) } else { 1.0 };
        match &paint.kind {
            PaintKind::Solid(color) => {
                let a = color.a * opacity;
                (a > 0.0).then_some(Ink::Color(Color { a, ..*color }))
            }
            PaintKind::Image { .. } => Some(Ink::Color(Color { a: opacity, ..PLACEHOLDER })),
            PaintKind::Gradient { kind, handles, stops } => {
                let [start, end, side] = handles.map(|h| spot.point(h.x * size.width, h.y * size.height));
                let along = Point { x: end.x - start.x, y: end.y - start.y };
                let across = Point { x: side.x - start.x, y: side.y - start.y };
                let flat = along.x.hypot(along.y) < 1e-6;
                let last = stops.last()?;
                if flat || stops.len() == 1 || !(along.x + along.y + start.x + start.y).is_finite() {
                    return Some(Ink::Color(Color { a: last.color.a * opacity, ..last.color }));
                }
                let id = self.id();
                let out = &mut self.out;
                if kind == &GradientKind::Radial {
                    let across = if across.x.hypot(across.y) < 1e-6 || !(across.x + across.y).is_finite() {
                        Point { x: -along.y, y: along.x }
                    } else {
                        across
                    };
                    out.push_str("<radialGradient id=\"");
                    write::identifier(out, 'p', id);
                    out.push_str("\" gradientUnits=\"userSpaceOnUse\" cx=\"0\" cy=\"0\" r=\"1\"");
                    let matrix =
                        Affine { a: along.x, b: along.y, c: across.x, d: across.y, e: start.x, f: start.y };
                    write::transform(out, "gradientTransform", &matrix);
                    stops_of(out, stops, opacity);
                    out.push_str("</radialGradient>");
                } else {
                    out.push_str("<linearGradient id=\"");
                    write::identifier(out, 'p', id);
                    out.push_str("\" gradientUnits=\"userSpaceOnUse\"");
                    let dot = along.x * across.x + along.y * across.y;
                    let area = along.x * across.y - along.y * across.x;
                    if area.is_finite() && area.abs() > 1e-6 && dot.abs() > area.abs() * 1e-3 {
                        let matrix = Affine {
                            a: along.x,
                            b: along.y,
                            c: across.x,
                            d: across.y,
                            e: start.x,
                            f: start.y,
                        };
                        out.push_str(" x1=\"0\" y1=\"0\" x2=\"1\" y2=\"0\"");
                        write::transform(out, "gradientTransform", &matrix);
                    } else {
                        write::attribute(out, "x1", start.x);
                        write::attribute(out, "y1", start.y);
                        write::attribute(out, "x2", end.x);
                        write::attribute(out, "y2", end.y);
                    }
                    stops_of(out, stops, opacity);
                    out.push_str("</linearGradient>");
                }
                Some(Ink::Gradient(id))
            }
        }
    }

    /// Angular and diamond gradients, which SVG lacks: cut into facets behind a clip.
    fn faceted(
        &mut self,
        node: &Node<'_>,
        (kind, handles, stops): (GradientKind, &[Point; 3], &[GradientStop]),
        paint: &Paint<'_>,
        outline: &Outline,
        spot: &Spot,
        opacity: f64,
    ) {
        let [center, end, side] = handles.map(|h| spot.point(h.x * node.size.width, h.y * node.size.height));
        let along = Point { x: end.x - center.x, y: end.y - center.y };
        let across = Point { x: side.x - center.x, y: side.y - center.y };
        let frame = Affine { a: along.x, b: along.y, c: across.x, d: across.y, e: center.x, f: center.y };
        let Some(inverse) = frame.inverse().filter(Affine::is_finite) else { return };
        self.warn("gradient_approximated", node, "angular and diamond gradients are drawn in facets");
        let far = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
            .map(|(x, y)| inverse.apply(spot.point(x * node.size.width, y * node.size.height)))
            .iter()
            .map(|p| p.x.hypot(p.y))
            .fold(1.0, f64::max)
            .min(1e4);
        let clip = self.id();
        let alpha = (paint.opacity * opacity).clamp(0.0, 1.0);
        self.out.push_str("<clipPath id=\"");
        write::identifier(&mut self.out, 'c', clip);
        self.out.push_str("\">");
        outline.write_clip(&mut self.out, spot);
        self.out.push_str("</clipPath><g");
        write::reference(&mut self.out, "clip-path", 'c', clip);
        if alpha < 0.9995 {
            self.out.push_str(" opacity=\"");
            write::number(&mut self.out, alpha, 3);
            self.out.push('"');
        }
        blend(&mut self.out, paint.blend);
        self.out.push('>');
        if kind == GradientKind::Angular {
            self.wedges(&frame, far * 1.5, stops, spot);
        } else {
            self.quarters(&frame, far * 2.0, stops, spot);
        }
        self.out.push_str("</g>");
    }

    fn wedges(&mut self, frame: &Affine, far: f64, stops: &[GradientStop], spot: &Spot) {
        let step = std::f64::consts::TAU / f64::from(WEDGES);
        for wedge in 0..WEDGES {
            // Each reaches under the next, so that no seam shows.
            let (from, to) = (f64::from(wedge) * step, (f64::from(wedge) + 1.35) * step);
            let to = to.min(std::f64::consts::TAU);
            let points = [from, to].map(|t| frame.apply(Point { x: far * t.cos(), y: far * t.sin() }));
            let color = color_at(stops, (f64::from(wedge) + 0.5) / f64::from(WEDGES));
            let mut attributes = self.fresh();
            write::paint(&mut attributes, "fill", &color, 1.0);
            self.polygon(&[Point { x: frame.e, y: frame.f }, points[0], points[1]], spot, &attributes);
            self.done(attributes);
        }
    }

    fn quarters(&mut self, frame: &Affine, far: f64, stops: &[GradientStop], spot: &Spot) {
        for (x, y) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)] {
            let id = self.id();
            let out = &mut self.out;
            out.push_str("<linearGradient id=\"");
            write::identifier(out, 'p', id);
            // Within a quarter the distance is x + y: 1 at half of each axis together.
            out.push_str("\" gradientUnits=\"userSpaceOnUse\" x1=\"0\" y1=\"0\" x2=\".5\" y2=\".5\"");
            let matrix = Affine { a: frame.a * x, b: frame.b * x, c: frame.c * y, d: frame.d * y, ..*frame };
            write::transform(out, "gradientTransform", &matrix);
            stops_of(out, stops, 1.0);
            out.push_str("</linearGradient>");
            let mut attributes = self.fresh();
            Ink::Gradient(id).write(&mut attributes, "fill", 1.0);
            let corners = [(far * x, 0.0), (0.0, far * y)].map(|(x, y)| frame.apply(Point { x, y }));
            self.polygon(&[Point { x: frame.e, y: frame.f }, corners[0], corners[1]], spot, &attributes);
            self.done(attributes);
        }
    }

    fn polygon(&mut self, points: &[Point], spot: &Spot, attributes: &str) {
        self.out.push_str("<path d=\"");
        crate::path::PathWriter::new(&mut self.out, 2).polygon(points.iter().copied());
        self.out.push_str("\" shape-rendering=\"crispEdges\"");
        spot.write(&mut self.out);
        self.out.push_str(attributes);
        self.out.push_str("/>");
    }

    /// A light box with a mark that says "picture"; what the file knows of the image is kept as data attributes.
    fn image(
        &mut self,
        node: &Node<'_>,
        paint: &Paint<'_>,
        (reference, scale, transform): (Option<&str>, ScaleMode, Option<&Affine>),
        outline: &Outline,
        spot: &Spot,
        opacity: f64,
    ) {
        let alpha = (paint.opacity * opacity).clamp(0.0, 1.0);
        let mut attributes = self.fresh();
        write::paint(&mut attributes, "fill", &PLACEHOLDER, alpha);
        blend(&mut attributes, paint.blend);
        if let Some(reference) = reference {
            attributes.push_str(" data-image=\"");
            write::escaped(&mut attributes, reference, 100);
            attributes.push('"');
        }
        if let (ScaleMode::Crop, Some(crop)) = (scale, transform) {
            write::transform(&mut attributes, "data-crop", crop);
        }
        outline.write(&mut self.out, spot, &attributes);
        self.done(attributes);
        let shorter = node.size.width.min(node.size.height);
        if shorter < 20.0 || !shorter.is_finite() || outline.is_path() && shorter < 40.0 {
            return;
        }
        self.image_used = true;
        let mark = (shorter * 0.36).clamp(12.0, 88.0);
        // Upright, however the image is turned.
        let center = self.to_picture(&node.transform);
        let center = center.apply(Point { x: node.size.width / 2.0, y: node.size.height / 2.0 });
        let to_picture = Affine {
            a: mark / 24.0,
            b: 0.0,
            c: 0.0,
            d: mark / 24.0,
            e: center.x - mark / 2.0,
            f: center.y - mark / 2.0,
        };
        self.out.push_str("<use href=\"#image\"");
        write::transform(&mut self.out, "transform", &to_picture);
        if alpha < 0.9995 {
            self.out.push_str(" opacity=\"");
            write::number(&mut self.out, alpha, 3);
            self.out.push('"');
        }
        self.out.push_str("/>");
    }
}

/// The mark on image placeholders, 24 by 24.
pub const IMAGE_MARK: &str = "<g id=\"image\" fill=\"#b4bcc8\"><circle cx=\"17\" cy=\"6.6\" r=\"2.4\"/>\
    <path d=\"M1.4 20.2 8.3 9.4a1 1 0 0 1 1.7 0l4.1 6.4 2-2.9a1 1 0 0 1 1.6 0l5 7.3a.8.8 0 0 1-.7 1.3H2.1a.8.8 0 0 1-.7-1.3Z\"/></g>";

fn stops_of(out: &mut String, stops: &[GradientStop], opacity: f64) {
    out.push('>');
    for stop in stops {
        out.push_str("<stop offset=\"");
        write::number(out, stop.position.clamp(0.0, 1.0), 3);
        out.push_str("\" stop-color=\"");
        write::color(out, &stop.color);
        out.push('"');
        let alpha = (stop.color.a * opacity).clamp(0.0, 1.0);
        if alpha < 0.9995 {
            out.push_str(" stop-opacity=\"");
            write::number(out, alpha, 3);
            out.push('"');
        }
        out.push_str("/>");
    }
}

/// The colour of a gradient at a position.
fn color_at(stops: &[GradientStop], position: f64) -> Color {
    let after = stops.iter().position(|s| s.position >= position);
    match after {
        None => stops.last().map_or(PLACEHOLDER, |s| s.color),
        Some(0) => stops[0].color,
        Some(at) => {
            let (a, b) = (&stops[at - 1], &stops[at]);
            let span = b.position - a.position;
            let part = if span > 0.0 { (position - a.position) / span } else { 1.0 };
            let mix = |a: f64, b: f64| a + (b - a) * part;
            Color {
                r: mix(a.color.r, b.color.r),
                g: mix(a.color.g, b.color.g),
                b: mix(a.color.b, b.color.b),
                a: mix(a.color.a, b.color.a),
            }
        }
    }
}

//! Strokes: inside, on, and outside of outlines; by side; dashed; and the lines that have no outline at all.

use std::f64::consts::PI;

use heddle_figma::{Kind, Node, Paint, Point, Rect, Size, Stroke, StrokeAlign, StrokeCap, StrokeJoin};

use crate::outline::{Outline, Spot};
use crate::paint::Ink;
use crate::painter::{Painter, blend};
use crate::path::PathWriter;
use crate::write;

/// Wider strokes are cut.
const WIDEST: f64 = 10_000.0;

impl Painter<'_> {
    /// Draws a node's stroke along its outline.
    pub fn stroke(&mut self, node: &Node<'_>, outline: &Outline, spot: &Spot, opacity: f64) {
        let Some(stroke) = node.stroke.as_deref() else { return };
        if !stroke.weight.is_finite() || (stroke.weight <= 0.0 && stroke.sides.is_none()) {
            return;
        }
        let boxed = matches!(outline, Outline::Box { .. });
        if !node.stroke_geometry.is_empty() && !boxed {
            let (found, sound) = Outline::paths(&node.stroke_geometry, spot);
            if !sound {
                self.warn("bad_path", node, "path data that could not be read was left out");
            }
            if let Some(found) = found {
                self.fill(node, &stroke.paints, &found, spot, opacity);
                return;
            }
        }
        // Each paint draws it, and once more to cut off the half that is not wanted.
        let outline = &*self.written_once(outline, stroke.paints.len() * 2);
        for paint in &stroke.paints {
            if self.full() {
                break;
            }
            let Some(ink) = self.ink(paint, node.size, spot) else { continue };
            match outline {
                Outline::Unknown if node.kind == Kind::Line => {
                    self.line(node, stroke, (ink, paint), spot, opacity);
                }
                Outline::Unknown => {}
                Outline::Box { size, radii, .. } if stroke.sides.is_some() => {
                    let sides = stroke.sides.unwrap_or_default();
                    self.sides(*size, *radii, (stroke, sides), (ink, paint), spot, opacity);
                }
                _ => self.along(node, stroke, (ink, paint), outline, spot, opacity),
            }
        }
    }

    fn along(
        &mut self,
        node: &Node<'_>,
        stroke: &Stroke<'_>,
        (ink, paint): (Ink, &Paint<'_>),
        outline: &Outline,
        spot: &Spot,
        opacity: f64,
    ) {
        let mut weight = stroke.weight.min(WIDEST);
        if let (StrokeAlign::Inside, Outline::Box { size, .. } | Outline::Ellipse { size, .. }) =
            (stroke.align, outline)
        {
            // Two strokes that meet in the middle fill the shape.
            weight = weight.min(size.width.min(size.height));
        }
        let shifted = match stroke.align {
            StrokeAlign::Center => Some(outline.clone()),
            StrokeAlign::Inside => outline.grown(-weight / 2.0),
            StrokeAlign::Outside => outline.grown(weight / 2.0),
        };
        let mut attributes = self.fresh();
        attributes.push_str(" fill=\"none\"");
        ink.write(&mut attributes, "stroke", opacity);
        blend(&mut attributes, paint.blend);
        if let Some(shifted) = shifted {
            stroke_attributes(&mut attributes, stroke, weight);
            shifted.write(&mut self.out, spot, &attributes);
        } else {
            // Path data: twice the weight, and the half that is not wanted cut off.
            stroke_attributes(&mut attributes, stroke, weight * 2.0);
            let id = self.id();
            if stroke.align == StrokeAlign::Inside {
                self.out.push_str("<clipPath id=\"");
                write::identifier(&mut self.out, 'c', id);
                self.out.push_str("\">");
                outline.write_clip(&mut self.out, spot);
                self.out.push_str("</clipPath>");
                self.out.push_str("<g");
                write::reference(&mut self.out, "clip-path", 'c', id);
                self.out.push('>');
            } else {
                let region = crate::extent::grown(&node.bounds, weight * 3.0);
                let region = region.translate(-self.origin.x, -self.origin.y);
                self.out.push_str("<mask id=\"");
                write::identifier(&mut self.out, 'm', id);
                self.out.push_str("\" maskUnits=\"userSpaceOnUse\"");
                self.write_region(&region);
                self.out.push_str("><rect");
                self.write_region(&region);
                self.out.push_str(" fill=\"#fff\"/>");
                outline.write(&mut self.out, spot, " fill=\"#000\"");
                self.out.push_str("</mask><g");
                write::reference(&mut self.out, "mask", 'm', id);
                self.out.push('>');
            }
            outline.write(&mut self.out, spot, &attributes);
            self.out.push_str("</g>");
        }
        self.done(attributes);
    }

    /// Strokes of different weights by side: the ring between an outer and an inner box.
    fn sides(
        &mut self,
        size: Size,
        radii: [f64; 4],
        (stroke, sides): (&Stroke<'_>, [f64; 4]),
        (ink, paint): (Ink, &Paint<'_>),
        spot: &Spot,
        opacity: f64,
    ) {
        let sides = sides.map(|s| if s.is_finite() { s.clamp(0.0, WIDEST) } else { 0.0 });
        if !stroke.dashes.is_empty() {
            self.dashed_sides(size, (stroke, sides), ink, spot, opacity);
            return;
        }
        let (out_part, in_part) = match stroke.align {
            StrokeAlign::Inside => (0.0, 1.0),
            StrokeAlign::Center => (0.5, 0.5),
            StrokeAlign::Outside => (1.0, 0.0),
        };
        let ring = |part: f64, sign: f64| {
            let [top, right, bottom, left] = sides.map(|s| s * part * sign);
            let size = Size {
                width: (size.width + left + right).max(0.0),
                height: (size.height + top + bottom).max(0.0),
            };
            let [tl, tr, br, bl] = radii;
            let radius = |r: f64, a: f64, b: f64| if r > 0.0 { (r + a.min(b)).max(0.0) } else { 0.0 };
            let radii = [
                radius(tl, top, left),
                radius(tr, top, right),
                radius(br, bottom, right),
                radius(bl, bottom, left),
            ];
            Outline::rect(size, radii).moved(Point { x: -left, y: -top })
        };
        let mut attributes = self.fresh();
        attributes.push_str(" fill-rule=\"evenodd\"");
        ink.write(&mut attributes, "fill", opacity);
        blend(&mut attributes, paint.blend);
        self.out.push_str("<path d=\"");
        ring(out_part, 1.0).write_data(&mut self.out, spot);
        let at = self.out.len();
        ring(in_part, -1.0).write_data(&mut self.out, spot);
        // The second figure starts anew: relative moves would count from the first.
        if self.out[at..].starts_with('m') {
            self.out.replace_range(at..=at, "M");
        }
        self.out.push('"');
        spot.write(&mut self.out);
        self.out.push_str(&attributes);
        self.out.push_str("/>");
        self.done(attributes);
    }

    fn dashed_sides(
        &mut self,
        size: Size,
        (stroke, sides): (&Stroke<'_>, [f64; 4]),
        ink: Ink,
        spot: &Spot,
        opacity: f64,
    ) {
        let (w, h) = (size.width, size.height);
        let shift = match stroke.align {
            StrokeAlign::Inside => 0.5,
            StrokeAlign::Center => 0.0,
            StrokeAlign::Outside => -0.5,
        };
        let [top, right, bottom, left] = sides.map(|s| s * shift);
        let lines = [
            ((0.0, top), (w, top)),
            ((w - right, 0.0), (w - right, h)),
            ((0.0, h - bottom), (w, h - bottom)),
            ((left, 0.0), (left, h)),
        ];
        for (weight, (from, to)) in sides.into_iter().zip(lines) {
            if weight > 0.0 {
                let mut attributes = self.fresh();
                ink.write(&mut attributes, "stroke", opacity);
                stroke_attributes(&mut attributes, stroke, weight);
                self.segment(spot.point(from.0, from.1), spot.point(to.0, to.1), spot, &attributes);
                self.done(attributes);
            }
        }
    }

    /// A `LINE`: its stroke lies above its baseline, from 0 to its width.
    fn line(
        &mut self,
        node: &Node<'_>,
        stroke: &Stroke<'_>,
        (ink, paint): (Ink, &Paint<'_>),
        spot: &Spot,
        opacity: f64,
    ) {
        let y = node.size.height / 2.0 - stroke.weight / 2.0;
        self.straight((0.0, y), (node.size.width, y), stroke, (ink, paint), spot, opacity);
    }

    /// A straight stroke between two points of a node, with its caps within them.
    pub fn straight(
        &mut self,
        from: (f64, f64),
        to: (f64, f64),
        stroke: &Stroke<'_>,
        (ink, paint): (Ink, &Paint<'_>),
        spot: &Spot,
        opacity: f64,
    ) {
        let weight = stroke.weight.min(WIDEST);
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let inset = if matches!(stroke.cap, StrokeCap::Round | StrokeCap::Square) {
            (weight / 2.0).min(length / 2.0)
        } else {
            0.0
        };
        let unit =
            if length > 0.0 { ((to.0 - from.0) / length, (to.1 - from.1) / length) } else { (1.0, 0.0) };
        let start = spot.point(from.0 + unit.0 * inset, from.1 + unit.1 * inset);
        let end = spot.point(to.0 - unit.0 * inset, to.1 - unit.1 * inset);
        let mut attributes = self.fresh();
        ink.write(&mut attributes, "stroke", opacity);
        blend(&mut attributes, paint.blend);
        stroke_attributes(&mut attributes, stroke, weight);
        self.segment(start, end, spot, &attributes);
        if stroke.cap == StrokeCap::Arrow {
            let head = (weight * 4.0).min(length / 2.0);
            let angle = unit.1.atan2(unit.0);
            let wing = |at: Point, turn: f64| Point {
                x: at.x + head * (angle + turn).cos(),
                y: at.y + head * (angle + turn).sin(),
            };
            self.out.push_str("<path d=\"");
            let mut writer = PathWriter::new(&mut self.out, 2);
            for (tip, turn) in [(start, PI / 4.0), (end, PI * 0.75)] {
                writer.move_to(wing(tip, turn));
                writer.line_to(tip);
                writer.line_to(wing(tip, -turn));
            }
            self.out.push_str("\" fill=\"none\"");
            spot.write(&mut self.out);
            self.out.push_str(&attributes);
            self.out.push_str("/>");
        }
        self.done(attributes);
    }

    fn segment(&mut self, from: Point, to: Point, spot: &Spot, attributes: &str) {
        self.out.push_str("<path d=\"");
        let mut writer = PathWriter::new(&mut self.out, 2);
        writer.move_to(from);
        writer.line_to(to);
        self.out.push('"');
        spot.write(&mut self.out);
        self.out.push_str(attributes);
        self.out.push_str("/>");
    }

    /// A box on the canvas as one of the picture.
    pub fn region(&self, bounds: &Rect) -> Rect {
        bounds.translate(-self.origin.x, -self.origin.y)
    }
}

fn stroke_attributes(attributes: &mut String, stroke: &Stroke<'_>, weight: f64) {
    if (weight - 1.0).abs() > 0.005 {
        write::attribute(attributes, "stroke-width", weight);
    }
    if !stroke.dashes.is_empty()
        && stroke.dashes.iter().all(|d| d.is_finite() && *d >= 0.0)
        && stroke.dashes.iter().sum::<f64>() > 0.05
    {
        attributes.push_str(" stroke-dasharray=\"");
        for (index, dash) in stroke.dashes.iter().take(16).enumerate() {
            if index > 0 {
                attributes.push(' ');
            }
            write::length(attributes, *dash);
        }
        attributes.push('"');
    }
    match stroke.cap {
        StrokeCap::Round => attributes.push_str(" stroke-linecap=\"round\""),
        StrokeCap::Square => attributes.push_str(" stroke-linecap=\"square\""),
        StrokeCap::None | StrokeCap::Arrow => {}
    }
    match stroke.join {
        StrokeJoin::Round => attributes.push_str(" stroke-linejoin=\"round\""),
        StrokeJoin::Bevel => attributes.push_str(" stroke-linejoin=\"bevel\""),
        StrokeJoin::Miter => {}
    }
}

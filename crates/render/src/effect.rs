//! Shadows and blurs. A box casts its shadow as a blurred box of its own; what has no box of its own is filtered whole.

use heddle_figma::{Color, Effect, Kind, Node, NodeIndex, Point, Rect, Size};

use crate::outline::{Outline, Spot};
use crate::painter::Painter;
use crate::write;

/// Figma's blur radius over SVG's standard deviation.
const DEVIATION: f64 = 0.5;
/// Wider blurs are cut: they are a flat colour anyway.
const WIDEST: f64 = 300.0;

/// Most effects of one layer.
const MOST_EFFECTS: usize = 64;

/// A shadow's offset or spread as far as it can matter.
fn near(value: f64) -> f64 {
    if value.is_finite() { value.clamp(-5_000.0, 5_000.0) } else { 0.0 }
}

fn deviation(radius: f64) -> f64 {
    if radius.is_finite() { (radius * DEVIATION).clamp(0.0, WIDEST) } else { 0.0 }
}

/// How opaque the fills of a node are together, 0..=1.
pub fn opacity_of_fills(node: &Node<'_>) -> f64 {
    let through = node.fills.iter().map(|p| 1.0 - crate::paint::main_color(p).a.clamp(0.0, 1.0));
    1.0 - through.product::<f64>()
}

/// Whether a node's shadow is that of its own outline.
pub fn casts_own_shadow(node: &Node<'_>, outline: &Outline) -> bool {
    !outline.is_unknown() && node.text.is_none() && opacity_of_fills(node) > 0.02
}

struct Shadow {
    color: Color,
    offset: Point,
    deviation: f64,
    spread: f64,
}

/// Where a normal distribution has `part` of itself above (Abramowitz and Stegun 26.2.23).
fn upper_quantile(part: f64) -> f64 {
    let part = part.clamp(1e-4, 1.0 - 1e-4);
    let tail = part.min(1.0 - part);
    let t = (-2.0 * tail.ln()).sqrt();
    let above = t
        - (2.515_517 + 0.802_853 * t + 0.010_328 * t * t)
            / (1.0 + 1.432_788 * t + 0.189_269 * t * t + 0.001_308 * t * t * t);
    if part < 0.5 { above } else { -above }
}

impl Painter<'_> {
    /// The drop shadows of a node's outline, drawn before it. The effects may be those of a layer around it.
    pub fn drop_shadows(&mut self, effects: &[Effect], node: &Node<'_>, outline: &Outline, spot: &Spot) {
        let opaque = opacity_of_fills(node);
        let hidden = |clip: &Rect| node.bounds.covers(clip, 0.01) && node.radii.iter().all(|r| *r <= 0.0);
        if opaque >= 0.95 && spot.transform.is_none() && self.clips.last().is_some_and(hidden) {
            // All that shows of the canvas lies under the node itself.
            return;
        }
        for effect in effects.iter().take(MOST_EFFECTS) {
            if self.full() {
                break;
            }
            let Effect::DropShadow { color, offset, radius, spread } = *effect else { continue };
            if color.a.is_nan() || color.a <= 0.0 {
                continue;
            }
            let (offset, spread) = (Point { x: near(offset.x), y: near(offset.y) }, near(spread));
            let shadow = Shadow { color, offset, deviation: deviation(radius), spread };
            let boxed = spot.transform.is_none() && !matches!(outline, Outline::Data { .. });
            if boxed && shadow.deviation > 0.05 {
                if opaque >= 0.95 {
                    self.contours(node, &shadow, outline, spot);
                } else {
                    // Translucent layers show nothing of their shadow behind them, and cast a weaker one.
                    let reach = shadow.deviation * 3.0 + spread.max(0.0) + 1.0;
                    let bounds = crate::extent::grown(&node.bounds, reach).translate(offset.x, offset.y);
                    let clip = self.knock_out(outline, spot, &self.region(&bounds.union(&node.bounds)));
                    self.out.push_str("<g");
                    write::reference(&mut self.out, "clip-path", 'c', clip);
                    self.out.push('>');
                    let color = Color { a: color.a * opaque.max(0.3), ..color };
                    self.contours(node, &Shadow { color, ..shadow }, outline, spot);
                    self.out.push_str("</g>");
                }
            } else {
                self.filtered_shadow(node, &shadow, outline, spot, opaque);
            }
        }
    }

    /// The shadow of an opaque box as a stack of ever smaller boxes, each a little darker: what a blur looks like from
    /// outside, at a fraction of its cost. What lies under the box itself is left out.
    fn contours(&mut self, node: &Node<'_>, shadow: &Shadow, outline: &Outline, spot: &Spot) {
        let Shadow { color, offset, deviation, spread } = *shadow;
        let reach = deviation * 2.5 + spread.max(0.0);
        let covered = crate::extent::grown(&node.bounds, reach).translate(offset.x, offset.y);
        let Some(base) = outline.grown(spread).filter(|_| self.shows(&covered)) else { return };
        // Steps of whole 255ths, so that no renderer rounds them away.
        let levels = (color.a.min(1.0) * 255.0).round().max(1.0);
        let steps = levels.min((deviation * 2.5).clamp(4.0, 32.0)).round().max(1.0) as u32;
        let shift = offset.x.abs().max(offset.y.abs());
        let mut before = 0.0;
        for step in 0..steps {
            let part = (f64::from(step) + 0.5) / f64::from(steps);
            let grow = deviation * upper_quantile(part);
            if spread + grow + shift <= 0.0 {
                break;
            }
            let after = (levels * f64::from(step + 1) / f64::from(steps)).round() / 255.0;
            let alpha = (after - before) / (1.0 - before).max(1e-3);
            before = after;
            // Blurred corners are rounder than the box's own.
            let rounder = match &base {
                Outline::Box { at, size, radii } => Outline::Box {
                    at: *at,
                    size: *size,
                    radii: radii.map(|r| r.max(deviation * 1.1 - grow.min(0.0))),
                },
                other => other.clone(),
            };
            let Some(contour) = rounder.grown(grow) else { break };
            self.hollow(
                &contour.moved(offset),
                spread + grow + shift + 3.0,
                spot,
                &Color { a: alpha, ..color },
            );
        }
    }

    /// The inner shadow of a box: rings between it and ever smaller boxes.
    fn inner_contours(&mut self, shadow: &Shadow, outline: &Outline, spot: &Spot) {
        let Shadow { color, offset, deviation, spread } = *shadow;
        let Outline::Box { at, size, radii } = outline else { return };
        let levels = (color.a.min(1.0) * 255.0).round().max(1.0);
        let steps = levels.min((deviation * 2.5).clamp(1.0, 24.0)).round().max(1.0) as u32;
        let mut before = 0.0;
        // The widest ring first, so that each is darker than the one before.
        for step in 0..steps {
            let part = (f64::from(step) + 0.5) / f64::from(steps);
            let inset = spread.max(0.0) + deviation * upper_quantile(part);
            let after = (levels * f64::from(step + 1) / f64::from(steps)).round() / 255.0;
            let alpha = (after - before) / (1.0 - before).max(1e-3);
            before = after;
            let (left, top) = ((offset.x + inset).max(0.0), (offset.y + inset).max(0.0));
            let (right, bottom) = ((inset - offset.x).max(0.0), (inset - offset.y).max(0.0));
            if left + top + right + bottom < 0.01 {
                continue;
            }
            let inner = Size {
                width: (size.width - left - right).max(0.0),
                height: (size.height - top - bottom).max(0.0),
            };
            let hole = Outline::rect(
                inner,
                radii.map(|r| if r > 0.0 { (r - inset.max(0.0)).max(deviation) } else { r }),
            );
            let mut attributes = self.fresh();
            write::paint(&mut attributes, "fill", &Color { a: alpha, ..color }, 1.0);
            self.out.push_str("<path fill-rule=\"evenodd\" d=\"");
            outline.write_data(&mut self.out, spot);
            if inner.width > 0.0 && inner.height > 0.0 {
                let from = self.out.len();
                hole.moved(Point { x: at.x + left, y: at.y + top }).write_data(&mut self.out, spot);
                // The second figure starts anew: relative moves would count from the first.
                if self.out[from..].starts_with('m') {
                    self.out.replace_range(from..=from, "M");
                }
            }
            self.out.push('"');
            spot.write(&mut self.out);
            self.out.push_str(&attributes);
            self.out.push_str("/>");
            self.done(attributes);
        }
    }

    /// Fills an outline, or where it is large only a band along its edge that is `depth` wide.
    fn hollow(&mut self, outline: &Outline, depth: f64, spot: &Spot, color: &Color) {
        let mut attributes = self.fresh();
        let mut band = None;
        if let Outline::Box { size, radii, .. } = outline {
            let widest = radii.iter().copied().fold(0.0, f64::max);
            let depth = depth + widest * 0.3;
            let alike = radii.iter().all(|r| (r - widest).abs() < 0.005);
            if alike && size.width.min(size.height) > 4.0 * depth && size.width * size.height > 10_000.0 {
                band = outline.grown(-depth / 2.0).map(|middle| (middle, depth));
            }
        }
        if let Some((middle, depth)) = band {
            attributes.push_str(" fill=\"none\"");
            write::paint(&mut attributes, "stroke", color, 1.0);
            write::attribute(&mut attributes, "stroke-width", depth);
            middle.write(&mut self.out, spot, &attributes);
        } else {
            write::paint(&mut attributes, "fill", color, 1.0);
            outline.write(&mut self.out, spot, &attributes);
        }
        self.done(attributes);
    }

    fn filtered_shadow(
        &mut self,
        node: &Node<'_>,
        shadow: &Shadow,
        outline: &Outline,
        spot: &Spot,
        opaque: f64,
    ) {
        let Shadow { color, offset, deviation, spread } = *shadow;
        let reach = deviation * 3.0 + spread.max(0.0) + 1.0;
        let bounds = crate::extent::grown(&node.bounds, reach).translate(offset.x, offset.y);
        let Some(region) = self.visible_part(&bounds, deviation * 3.0) else { return };
        if deviation > 0.05 && !self.may_filter(node, &region) {
            return;
        }
        let shape = outline.grown(spread).unwrap_or_else(|| outline.clone());
        // Translucent layers show nothing of their shadow behind them.
        let knocked = (opaque < 0.95).then(|| self.knock_out(outline, spot, &self.region(&bounds)));
        if let Some(clip) = knocked {
            self.out.push_str("<g");
            write::reference(&mut self.out, "clip-path", 'c', clip);
            self.out.push('>');
        }
        let filter = (deviation > 0.05).then(|| self.blur(&region, deviation));
        let mut attributes = self.fresh();
        write::paint(&mut attributes, "fill", &color, if opaque < 0.95 { opaque.max(0.3) } else { 1.0 });
        if let Some(filter) = filter {
            // The region is the picture's: so is what is filtered.
            self.out.push_str("<g");
            write::reference(&mut self.out, "filter", 'f', filter);
            self.out.push('>');
        }
        if matches!(shape, Outline::Data { .. }) || spot.transform.is_some() {
            self.out.push_str("<g transform=\"translate(");
            write::length(&mut self.out, offset.x);
            self.out.push(' ');
            write::length(&mut self.out, offset.y);
            self.out.push_str(")\">");
            shape.write(&mut self.out, spot, &attributes);
            self.out.push_str("</g>");
        } else {
            shape.moved(offset).write(&mut self.out, spot, &attributes);
        }
        if filter.is_some() {
            self.out.push_str("</g>");
        }
        if knocked.is_some() {
            self.out.push_str("</g>");
        }
        self.done(attributes);
    }

    fn knock_out(&mut self, outline: &Outline, spot: &Spot, region: &Rect) -> u32 {
        let id = self.id();
        self.out.push_str("<clipPath id=\"");
        write::identifier(&mut self.out, 'c', id);
        self.out.push_str("\"><path clip-rule=\"evenodd\" d=\"");
        if spot.transform.is_none() {
            let mut writer = crate::path::PathWriter::new(&mut self.out, 2);
            let (x, y) = (region.x, region.y);
            writer.polygon(
                [(x, y), (region.right(), y), (region.right(), region.bottom()), (x, region.bottom())]
                    .map(|(x, y)| Point { x, y }),
            );
            let at = self.out.len();
            outline.write_data(&mut self.out, spot);
            if self.out[at..].starts_with('m') {
                self.out.replace_range(at..=at, "M");
            }
        } else {
            self.out.push_str("M-99999-99999H99999V99999H-99999z");
        }
        self.out.push_str("\"/></clipPath>");
        id
    }

    fn blur(&mut self, region: &Rect, deviation: f64) -> u32 {
        let id = self.id();
        self.open_filter(id, region);
        self.out.push_str("<feGaussianBlur stdDeviation=\"");
        write::length(&mut self.out, deviation);
        self.out.push_str("\"/></filter>");
        id
    }

    fn open_filter(&mut self, id: u32, region: &Rect) {
        self.out.push_str("<filter id=\"");
        write::identifier(&mut self.out, 'f', id);
        self.out.push_str("\" filterUnits=\"userSpaceOnUse\" color-interpolation-filters=\"sRGB\"");
        let region = Rect { width: region.width.max(1.0), height: region.height.max(1.0), ..*region };
        self.write_region(&region);
        self.out.push('>');
    }

    /// The opaque box among a node's children that is as large as all of it, and so casts its shadow.
    pub fn backdrop(&self, index: NodeIndex) -> Option<NodeIndex> {
        let document = self.document;
        let whole = self.extents.of(index).bounds?;
        let node = document.node(index);
        let shown = document.children(index).filter(|c| document.node(*c).visible);
        let mut inside = shown.take_while(|c| document.node(*c).mask.is_none()).take(4);
        inside.find(|child| {
            let backdrop = document.node(*child);
            let boxed =
                backdrop.kind.is_frame_like() || matches!(backdrop.kind, Kind::Rectangle | Kind::Ellipse);
            boxed
                && backdrop.opacity > 0.95
                && backdrop.transform.is_translation()
                && opacity_of_fills(backdrop) >= 0.95
                && (backdrop.bounds.covers(&node.bounds, 1.5) || backdrop.bounds.covers(&whole, 1.5))
        })
    }

    /// The inner shadows of an outline, drawn over its fills.
    pub fn inner_shadows(&mut self, node: &Node<'_>, outline: &Outline, spot: &Spot) {
        for effect in node.effects.iter().take(MOST_EFFECTS) {
            if self.full() {
                break;
            }
            let Effect::InnerShadow { color, offset, radius, spread } = *effect else { continue };
            let (offset, spread) = (Point { x: near(offset.x), y: near(offset.y) }, near(spread));
            if matches!(outline, Outline::Box { .. }) {
                let shadow = Shadow { color, offset, deviation: deviation(radius), spread };
                self.inner_contours(&shadow, outline, spot);
                continue;
            }
            let Some(region) = self.visible_part(&crate::extent::grown(&node.bounds, 1.0), 0.0) else {
                continue;
            };
            if outline.is_unknown() || !self.may_filter(node, &region) {
                continue;
            }
            let id = self.id();
            self.open_filter(id, &region);
            // What lies outside of the (shrunken, moved) shape, blurred, within the shape.
            let out = &mut self.out;
            let shrunk = spread.is_finite() && spread > 0.05;
            if shrunk {
                out.push_str("<feMorphology in=\"SourceAlpha\" operator=\"erode\" radius=\"");
                write::length(out, spread.min(100.0));
                out.push_str("\" result=\"s\"/>");
            }
            out.push_str(if shrunk {
                "<feOffset in=\"s\" dx=\""
            } else {
                "<feOffset in=\"SourceAlpha\" dx=\""
            });
            write::length(out, offset.x);
            out.push_str("\" dy=\"");
            write::length(out, offset.y);
            out.push_str("\"/><feGaussianBlur stdDeviation=\"");
            write::length(out, deviation(radius));
            out.push_str("\" result=\"b\"/><feFlood");
            flood(out, &color);
            out.push_str(
                "/><feComposite operator=\"out\" in2=\"b\"/><feComposite operator=\"in\" in2=\"SourceAlpha\"/></filter>",
            );
            out.push_str("<g");
            write::reference(out, "filter", 'f', id);
            out.push('>');
            outline.write(out, spot, " fill=\"#000\"");
            out.push_str("</g>");
        }
    }

    /// The filter for a layer blur, and for shadows of what has no outline of its own; `None` where nothing of it shows
    /// or nothing is to be done.
    pub fn layer_filter(&mut self, node: &Node<'_>, shadows: bool, bounds: &Rect) -> Option<u32> {
        let mut reach: f64 = 1.0;
        let mut any = false;
        for effect in node.effects.iter().take(MOST_EFFECTS) {
            match *effect {
                Effect::DropShadow { radius, offset, .. } if shadows => {
                    any = true;
                    reach =
                        reach.max(deviation(radius) * 3.0 + near(offset.x).abs().max(near(offset.y).abs()));
                }
                Effect::LayerBlur { radius } if deviation(radius) > 0.05 => {
                    any = true;
                    reach = reach.max(deviation(radius) * 3.0);
                }
                Effect::BackgroundBlur { .. } => {
                    self.warn("background_blur_left_out", node, "background blurs are not drawn");
                }
                _ => {}
            }
        }
        if !any {
            return None;
        }
        let region = self.visible_part(&crate::extent::grown(bounds, reach), reach)?;
        if !self.may_filter(node, &region) {
            return None;
        }
        let id = self.id();
        self.open_filter(id, &region);
        for effect in node.effects.iter().take(MOST_EFFECTS) {
            let out = &mut self.out;
            match *effect {
                Effect::DropShadow { color, offset, radius, .. } if shadows => {
                    out.push_str("<feDropShadow dx=\"");
                    write::length(out, near(offset.x));
                    out.push_str("\" dy=\"");
                    write::length(out, near(offset.y));
                    out.push_str("\" stdDeviation=\"");
                    write::length(out, deviation(radius));
                    out.push('"');
                    flood(out, &color);
                    out.push_str("/>");
                }
                Effect::LayerBlur { radius } if deviation(radius) > 0.05 => {
                    out.push_str("<feGaussianBlur stdDeviation=\"");
                    write::length(out, deviation(radius));
                    out.push_str("\"/>");
                }
                _ => {}
            }
        }
        self.out.push_str("</filter>");
        Some(id)
    }
}

fn flood(out: &mut String, color: &Color) {
    out.push_str(" flood-color=\"");
    write::color(out, color);
    out.push('"');
    if color.a < 0.9995 {
        out.push_str(" flood-opacity=\"");
        write::number(out, color.a.max(0.0), 3);
        out.push('"');
    }
}

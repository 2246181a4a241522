//! Shadows and blurs. A box casts its shadow as a blurred box of its own; what has no box of its own is filtered whole.

use heddle_figma::{Color, Effect, Node, Point, Rect};

use crate::outline::{Outline, Spot};
use crate::painter::Painter;
use crate::write;

/// Figma's blur radius over SVG's standard deviation.
const DEVIATION: f64 = 0.5;
/// Wider blurs are cut: they are a flat colour anyway.
const WIDEST: f64 = 300.0;

fn deviation(radius: f64) -> f64 {
    if radius.is_finite() { (radius * DEVIATION).clamp(0.0, WIDEST) } else { 0.0 }
}

/// How opaque the fills of a node are together, 0..=1.
pub fn opacity_of_fills(node: &Node<'_>) -> f64 {
    let through = node.fills.iter().map(|p| 1.0 - crate::paint::main_color(p).a.clamp(0.0, 1.0));
    1.0 - through.product::<f64>()
}

impl Painter<'_> {
    /// Whether a node's shadow is that of its own outline.
    pub fn casts_own_shadow(&self, node: &Node<'_>, outline: &Outline) -> bool {
        !outline.is_unknown() && node.text.is_none() && opacity_of_fills(node) > 0.02
    }

    /// The drop shadows of an outline, drawn before it.
    pub fn drop_shadows(&mut self, node: &Node<'_>, outline: &Outline, spot: &Spot) {
        let opaque = opacity_of_fills(node);
        for effect in &node.effects {
            let Effect::DropShadow { color, offset, radius, spread } = *effect else { continue };
            if color.a <= 0.0 || !(offset.x + offset.y + spread).is_finite() {
                continue;
            }
            let deviation = deviation(radius);
            let reach = deviation * 3.0 + spread.max(0.0) + 1.0;
            let bounds = crate::extent::grown(&node.bounds, reach).translate(offset.x, offset.y);
            let Some(region) = self.visible_part(&bounds, deviation * 3.0) else { continue };
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

    /// The inner shadows of an outline, drawn over its fills.
    pub fn inner_shadows(&mut self, node: &Node<'_>, outline: &Outline, spot: &Spot) {
        for effect in &node.effects {
            let Effect::InnerShadow { color, offset, radius, spread } = *effect else { continue };
            let Some(region) = self.visible_part(&crate::extent::grown(&node.bounds, 1.0), 0.0) else {
                continue;
            };
            if outline.is_unknown() || !(offset.x + offset.y).is_finite() {
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
        for effect in &node.effects {
            match *effect {
                Effect::DropShadow { radius, offset, .. } if shadows => {
                    any = true;
                    reach = reach.max(deviation(radius) * 3.0 + offset.x.abs().max(offset.y.abs()));
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
        let id = self.id();
        self.open_filter(id, &region);
        for effect in &node.effects {
            let out = &mut self.out;
            match *effect {
                Effect::DropShadow { color, offset, radius, .. } if shadows => {
                    out.push_str("<feDropShadow dx=\"");
                    write::length(out, offset.x);
                    out.push_str("\" dy=\"");
                    write::length(out, offset.y);
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

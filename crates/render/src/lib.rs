//! A Figma tree to SVG and PNG (D20), without Figma and without any font of the machine.
//!
//! [`svg`] draws a node with everything below it as it stands on the canvas; [`png`] turns such a picture into pixels.
//! Text is laid out here with bundled fonts and written as outlines, each text in a group that is labelled with its
//! characters. Images, which a file knows by reference only, become neutral placeholders. What is left out or
//! approximated is counted in [`Picture::warnings`].
//!
//! Absent on purpose: I/O, the network, fonts of the system, and any opinion about what a layer is for.

mod boolean;
mod effect;
mod extent;
mod fonts;
mod hint;
mod icons;
mod layout;
mod outline;
mod paint;
mod painter;
mod path;
mod png;
mod runs;
mod shape;
mod stroke;
mod text;
mod walk;
mod write;

use heddle_figma::{Color, Document, Kind, NodeIndex, Rect, Warnings};

pub use fonts::Fonts;
pub use png::{PngLimits, RenderError, RenderedPng, png};

/// How a picture is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Behind everything; `None`: transparent.
    pub background: Option<Color>,
    /// Bytes of SVG after which no further element is drawn.
    pub most_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { background: None, most_bytes: 64 << 20 }
    }
}

/// A picture of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// A standalone SVG document.
    pub svg: String,
    /// Width in Figma's pixels, > 0.
    pub width: f64,
    /// Height in Figma's pixels, > 0.
    pub height: f64,
    /// What was left out or approximated.
    pub warnings: Warnings,
    /// How deep its groups nest.
    depth: usize,
}

/// Draws a node and everything below it. The node itself is drawn even where it or an ancestor is hidden; hidden
/// descendants are not.
pub fn svg(document: &Document<'_>, node: NodeIndex, fonts: Fonts, options: &Options) -> Picture {
    let view = view(document, node);
    let root = document.node(node);
    let mut painter = painter::Painter::new(document, node, view, fonts, options.most_bytes);
    let depth = painter.draw(node);
    let (body, glyphs) = (&painter.out, &painter.glyphs.definitions);
    let mut svg = String::with_capacity(body.len() + glyphs.len() + 1_024);
    svg.push_str("<svg xmlns=\"http://www.w3.org/2000/svg\"");
    write::attribute(&mut svg, "width", view.width);
    write::attribute(&mut svg, "height", view.height);
    svg.push_str(" viewBox=\"0 0 ");
    write::length(&mut svg, view.width);
    svg.push(' ');
    write::length(&mut svg, view.height);
    svg.push_str("\" role=\"img\"><title>");
    write::escaped(&mut svg, &root.name, 200);
    svg.push_str("</title>");
    if let Some(background) = &options.background {
        svg.push_str("<rect width=\"100%\" height=\"100%\"");
        write::paint(&mut svg, "fill", background, 1.0);
        svg.push_str("/>");
    }
    svg.push_str(body);
    if !glyphs.is_empty() || painter.image_used {
        svg.push_str("<defs>");
        if painter.image_used {
            svg.push_str(paint::IMAGE_MARK);
        }
        svg.push_str(glyphs);
        svg.push_str("</defs>");
    }
    svg.push_str("</svg>");
    Picture { svg, width: view.width, height: view.height, warnings: painter.warnings, depth }
}

/// What of the canvas a picture of a node shows: its box; what it holds, where it has no box of its own.
fn view(document: &Document<'_>, index: NodeIndex) -> Rect {
    let node = document.node(index);
    let mut view = node.bounds;
    if node.kind.is_holder() {
        let shown = document.children(index).map(|c| document.node(c)).filter(|c| c.visible);
        view = shown.map(|c| c.bounds).reduce(|a, b| a.union(&b)).unwrap_or_default();
    } else if !node.kind.is_frame_like() {
        let stroke = node.stroke.as_ref().map_or(0.0, |s| s.weight);
        view = node
            .render_bounds
            .unwrap_or_else(|| if node.kind == Kind::Group { view } else { extent::grown(&view, stroke) });
    }
    let sane = |v: f64| if v.is_finite() { v } else { 0.0 };
    Rect {
        x: sane(view.x),
        y: sane(view.y),
        width: sane(view.width).clamp(1.0, 1_000_000.0),
        height: sane(view.height).clamp(1.0, 1_000_000.0),
    }
}

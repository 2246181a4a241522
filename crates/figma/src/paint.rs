//! Paints, strokes, effects and outlines. Invisible ones are dropped at the door.

use std::borrow::Cow;

use crate::{Affine, Point};

/// sRGB, each 0..=1, not premultiplied.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Color {
    /// Red.
    pub r: f64,
    /// Green.
    pub g: f64,
    /// Blue.
    pub b: f64,
    /// Opacity.
    pub a: f64,
}

impl Color {
    /// WCAG relative luminance, 0 (black) ..= 1 (white).
    pub fn luminance(&self) -> f64 {
        let linear = |v: f64| if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) };
        0.2126 * linear(self.r) + 0.7152 * linear(self.g) + 0.0722 * linear(self.b)
    }

    /// HSV saturation, 0 (grey) ..= 1.
    pub fn saturation(&self) -> f64 {
        let (max, min) = (self.r.max(self.g).max(self.b), self.r.min(self.g).min(self.b));
        if max <= 0.0 { 0.0 } else { (max - min) / max }
    }
}

/// Shape of a gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GradientKind {
    /// Along a line.
    Linear,
    /// From a centre.
    Radial,
    /// Around a centre.
    Angular,
    /// From a centre, in a diamond.
    Diamond,
}

/// One stop of a gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradientStop {
    /// 0..=1.
    pub position: f64,
    /// Its colour.
    pub color: Color,
}

/// How an image fills its box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScaleMode {
    /// Covers the box.
    #[default]
    Fill,
    /// Fits in the box.
    Fit,
    /// Repeats.
    Tile,
    /// Placed by a transform: a crop.
    Crop,
}

/// What a paint is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum PaintKind<'a> {
    /// One colour.
    Solid(Color),
    /// A gradient.
    Gradient {
        /// Its shape.
        kind: GradientKind,
        /// Start, end, and the end of the other half axis, in the box's unit square.
        handles: [Point; 3],
        /// At least one, by position.
        stops: Vec<GradientStop>,
    },
    /// An image (or video, or pattern), known by reference only.
    Image {
        /// Figma's image reference.
        reference: Option<Cow<'a, str>>,
        /// How it fills the box.
        scale: ScaleMode,
        /// Crop, where there is one.
        transform: Option<Affine>,
    },
}

/// One visible paint.
#[derive(Debug, Clone, PartialEq)]
pub struct Paint<'a> {
    /// What it is made of.
    pub kind: PaintKind<'a>,
    /// 0..=1.
    pub opacity: f64,
    /// CSS `mix-blend-mode`, where it is not `normal`.
    pub blend: Option<&'static str>,
}

impl Paint<'_> {
    /// The colour of a solid paint, its opacity included.
    pub fn solid(&self) -> Option<Color> {
        match self.kind {
            PaintKind::Solid(color) => Some(Color { a: color.a * self.opacity, ..color }),
            _ => None,
        }
    }

    /// Whether it is an image.
    pub fn is_image(&self) -> bool {
        matches!(self.kind, PaintKind::Image { .. })
    }
}

/// Where a stroke lies on the outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StrokeAlign {
    /// Within.
    #[default]
    Inside,
    /// On it.
    Center,
    /// Around it.
    Outside,
}

/// End of an open line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StrokeCap {
    /// Cut.
    #[default]
    None,
    /// Round.
    Round,
    /// Square.
    Square,
    /// Some arrow head.
    Arrow,
}

/// Corner of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StrokeJoin {
    /// Pointed.
    #[default]
    Miter,
    /// Round.
    Round,
    /// Cut.
    Bevel,
}

/// A visible stroke.
#[derive(Debug, Clone, PartialEq)]
pub struct Stroke<'a> {
    /// Visible paints, bottom first; never empty.
    pub paints: Vec<Paint<'a>>,
    /// Width.
    pub weight: f64,
    /// Widths by side (top, right, bottom, left) where they differ.
    pub sides: Option<[f64; 4]>,
    /// Where it lies.
    pub align: StrokeAlign,
    /// Dash and gap lengths; empty for a solid line.
    pub dashes: Vec<f64>,
    /// Ends.
    pub cap: StrokeCap,
    /// Corners.
    pub join: StrokeJoin,
}

/// A visible effect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effect {
    /// A shadow behind.
    DropShadow {
        /// Its colour.
        color: Color,
        /// How far it is moved.
        offset: Point,
        /// Blur radius.
        radius: f64,
        /// How much it grows first.
        spread: f64,
    },
    /// A shadow within.
    InnerShadow {
        /// Its colour.
        color: Color,
        /// How far it is moved.
        offset: Point,
        /// Blur radius.
        radius: f64,
        /// How much it grows first.
        spread: f64,
    },
    /// The layer itself, blurred.
    LayerBlur {
        /// Blur radius.
        radius: f64,
    },
    /// What lies behind, blurred.
    BackgroundBlur {
        /// Blur radius.
        radius: f64,
    },
}

/// An outline as SVG path data, in the node's own coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct Path<'a> {
    /// SVG path data, not checked.
    pub data: Cow<'a, str>,
    /// Whether holes follow the even-odd rule.
    pub even_odd: bool,
}

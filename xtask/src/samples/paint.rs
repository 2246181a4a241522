//! Paints, strokes and effects, and the named styles they come from.

/// A colour with opacity, each channel in 0..=1.
#[derive(Clone, Copy, Debug, PartialEq)]
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

/// `0xRRGGBB` as an opaque colour.
pub const fn rgb(hex: u32) -> Color {
    Color {
        r: ((hex >> 16) & 0xff) as f64 / 255.0,
        g: ((hex >> 8) & 0xff) as f64 / 255.0,
        b: (hex & 0xff) as f64 / 255.0,
        a: 1.0,
    }
}

impl Color {
    /// The same colour at another opacity.
    pub const fn alpha(self, a: f64) -> Self {
        Self { a, ..self }
    }
}

/// One layer of paint.
#[derive(Clone, Debug, PartialEq)]
pub enum Paint {
    /// One colour; its alpha becomes the paint's opacity.
    Solid(Color),
    /// A linear gradient between two points of the unit box.
    Linear {
        /// Start, in the node's unit box.
        from: (f64, f64),
        /// End, in the node's unit box.
        to: (f64, f64),
        /// Positions in 0..=1 with their colours.
        stops: Vec<(f64, Color)>,
    },
    /// A radial gradient around a point of the unit box.
    Radial {
        /// Centre, in the node's unit box.
        center: (f64, f64),
        /// Radius along x and y, in units of the box.
        radius: (f64, f64),
        /// Positions in 0..=1 with their colours.
        stops: Vec<(f64, Color)>,
    },
    /// A picture that covers the box.
    Image {
        /// What Figma's image endpoint knows the picture by: 40 hex digits.
        reference: String,
    },
}

/// Paints, and the library style they were picked from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fill {
    /// From bottom to top.
    pub paints: Vec<Paint>,
    /// Name of the style, where there is one.
    pub style: Option<&'static str>,
}

/// A named colour of a palette.
#[derive(Clone, Copy, Debug)]
pub struct Tone {
    /// Name of the style; `""` for none.
    pub name: &'static str,
    /// Its colour.
    pub color: Color,
}

/// A named colour.
pub const fn tone(name: &'static str, hex: u32) -> Tone {
    Tone { name, color: rgb(hex) }
}

impl From<Tone> for Fill {
    fn from(tone: Tone) -> Self {
        let style = (!tone.name.is_empty()).then_some(tone.name);
        Self { paints: vec![Paint::Solid(tone.color)], style }
    }
}

impl From<Color> for Fill {
    fn from(color: Color) -> Self {
        Self { paints: vec![Paint::Solid(color)], style: None }
    }
}

impl From<Paint> for Fill {
    fn from(paint: Paint) -> Self {
        Self { paints: vec![paint], style: None }
    }
}

impl From<Vec<Paint>> for Fill {
    fn from(paints: Vec<Paint>) -> Self {
        Self { paints, style: None }
    }
}

/// A vertical gradient from top to bottom.
pub fn vertical(stops: &[(f64, Color)]) -> Paint {
    Paint::Linear { from: (0.5, 0.0), to: (0.5, 1.0), stops: stops.to_vec() }
}

/// Where a stroke lies on its outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Within the box.
    Inside,
    /// On the outline, half in and half out.
    Center,
}

/// A stroke.
#[derive(Clone, Debug)]
pub struct Stroke {
    /// Its paint.
    pub fill: Fill,
    /// Width in pixels.
    pub weight: f64,
    /// Where it lies.
    pub align: Align,
    /// Widths at the top, right, bottom and left, where they differ.
    pub sides: Option<[f64; 4]>,
    /// Dash and gap lengths.
    pub dashes: Vec<f64>,
    /// Round caps and joins.
    pub round: bool,
}

/// What is drawn around or over a node.
#[derive(Clone, Debug)]
pub enum Effect {
    /// A drop shadow.
    Shadow {
        /// Its colour.
        color: Color,
        /// Offset down, in pixels.
        y: f64,
        /// Blur radius.
        blur: f64,
        /// Spread.
        spread: f64,
    },
    /// Blurs the node itself.
    LayerBlur(f64),
    /// Blurs what is behind the node.
    BackgroundBlur(f64),
}

/// Effects, and the library style they were picked from.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// From bottom to top.
    pub list: Vec<Effect>,
    /// Name of the style, where there is one.
    pub style: Option<&'static str>,
}

/// The family of a typeface that the samples use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Latin.
    Inter,
    /// Japanese.
    NotoSansJp,
}

/// A text style.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    /// Name of the style; `""` for none.
    pub name: &'static str,
    /// Typeface.
    pub family: Family,
    /// 400, 500, 600 or 700.
    pub weight: u16,
    /// In pixels.
    pub size: f64,
    /// Line height in pixels.
    pub line: f64,
    /// Letter spacing in pixels.
    pub spacing: f64,
}

/// A Latin text style.
pub const fn inter(name: &'static str, weight: u16, size: f64, line: f64) -> Type {
    Type { name, family: Family::Inter, weight, size, line, spacing: 0.0 }
}

impl Type {
    /// The same style with other letter spacing, in pixels.
    pub const fn spaced(self, spacing: f64) -> Self {
        Self { spacing, ..self }
    }

    /// The style's sizes in the Japanese typeface, which has two weights. It is no named style any more.
    pub const fn japanese(self) -> Self {
        let weight = if self.weight >= 600 { 700 } else { 400 };
        Self { name: "", family: Family::NotoSansJp, weight, spacing: 0.0, ..self }
    }
}

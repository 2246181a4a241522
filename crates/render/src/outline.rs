//! The outlines of nodes, as SVG elements and as path data.

use heddle_figma::{Affine, Arc, Kind, Node, Path, Point, Size};

use crate::path::{PathWriter, rewrite};
use crate::write;

/// Where a node is drawn: moved by an offset that goes into the coordinates, or by a transform.
#[derive(Debug, Clone, Copy)]
pub struct Spot {
    /// Added to every coordinate.
    pub offset: Point,
    /// Where moving is not enough. The offset is then zero.
    pub transform: Option<Affine>,
}

impl Spot {
    /// For a node with this transform to the picture.
    pub fn new(transform: &Affine) -> Self {
        if !transform.is_finite() {
            Self { offset: Point::default(), transform: None }
        } else if transform.is_translation() {
            Self { offset: Point { x: transform.e, y: transform.f }, transform: None }
        } else {
            Self { offset: Point::default(), transform: Some(*transform) }
        }
    }

    /// A point of the node, with the offset.
    pub fn point(&self, x: f64, y: f64) -> Point {
        Point { x: self.offset.x + x, y: self.offset.y + y }
    }

    /// Appends the `transform` attribute, where one is needed.
    pub fn write(&self, out: &mut String) {
        if let Some(transform) = &self.transform {
            write::transform(out, "transform", transform);
        }
    }
}

/// An outline in its place.
#[derive(Debug, Clone)]
pub enum Outline {
    /// A box with corner radii (top left, top right, bottom right, bottom left), already scaled to fit.
    Box {
        /// Left and top, without the spot's offset.
        at: Point,
        /// Its size.
        size: Size,
        /// Its radii.
        radii: [f64; 4],
    },
    /// A full ellipse in a box.
    Ellipse {
        /// Left and top of the box, without the spot's offset.
        at: Point,
        /// The box.
        size: Size,
    },
    /// Path data with the spot's offset in it.
    Data {
        /// Path data.
        data: String,
        /// Whether holes follow the even-odd rule.
        even_odd: bool,
    },
    /// Path data that was written before, to be referred to; see [`Painter::written_once`](crate::painter::Painter::written_once).
    Shared {
        /// Its id.
        id: u32,
        /// Whether holes follow the even-odd rule.
        even_odd: bool,
    },
    /// None is known.
    Unknown,
}

/// Most bytes of path data that one outline is made of.
const MOST_DATA: usize = 8 << 20;

/// Radii that fit the box, scaled down together as CSS does.
pub fn fitting_radii(size: Size, radii: [f64; 4]) -> [f64; 4] {
    let [tl, tr, br, bl] = radii.map(|r| if r.is_finite() { r.max(0.0) } else { 0.0 });
    let ratio = |side: f64, sum: f64| if sum > side && sum > 0.0 { side / sum } else { 1.0 };
    let scale = ratio(size.width, tl + tr)
        .min(ratio(size.width, bl + br))
        .min(ratio(size.height, tl + bl))
        .min(ratio(size.height, tr + br));
    [tl, tr, br, bl].map(|r| r * scale)
}

impl Outline {
    /// A box at a node's own corner.
    pub fn rect(size: Size, radii: [f64; 4]) -> Self {
        Self::Box { at: Point::default(), size, radii: fitting_radii(size, radii) }
    }

    /// The outline of a node; the flag says whether all its path data could be read.
    pub fn of(node: &Node<'_>, spot: &Spot) -> (Self, bool) {
        match node.kind {
            Kind::Ellipse => match node.arc {
                Some(arc) if !is_full(&arc) => (Self::arc(node.size, &arc, spot), true),
                _ => (Self::Ellipse { at: Point::default(), size: node.size }, true),
            },
            Kind::Star | Kind::Polygon | Kind::Vector | Kind::BooleanOperation => {
                let (found, sound) = Self::paths(&node.fill_geometry, spot);
                match (found, node.kind) {
                    (Some(outline), _) => (outline, sound),
                    (None, Kind::Star) => (Self::star(node.size, spot), sound),
                    (None, Kind::Polygon) => (Self::polygon(node.size, spot), sound),
                    (None, _) => (Self::Unknown, sound),
                }
            }
            Kind::Line => (Self::Unknown, true),
            _ => (Self::rect(node.size, node.radii), true),
        }
    }

    /// The outline that path data describes, and whether all of it could be read.
    pub fn paths(paths: &[Path<'_>], spot: &Spot) -> (Option<Self>, bool) {
        let mut data = String::new();
        let mut sound = true;
        let mut bytes = 0;
        let mut writer = PathWriter::new(&mut data, 2).moved(spot.offset);
        for path in paths {
            let before = writer.mark();
            bytes += path.data.len();
            if bytes > MOST_DATA {
                sound = false;
                break;
            }
            if rewrite(&path.data, &mut writer).is_err() {
                writer.cut(&before);
                sound = false;
            }
        }
        let even_odd = paths.iter().any(|p| p.even_odd);
        ((!data.is_empty()).then_some(Self::Data { data, even_odd }), sound)
    }

    fn from_points(points: impl IntoIterator<Item = Point>, spot: &Spot) -> Self {
        let mut data = String::new();
        PathWriter::new(&mut data, 2).moved(spot.offset).polygon(points);
        Self::Data { data, even_odd: false }
    }

    fn star(size: Size, spot: &Spot) -> Self {
        // Five points; the inner radius of a regular star.
        const INNER: f64 = 0.381_966;
        Self::from_points(
            (0..10).map(|at| {
                let radius = if at % 2 == 0 { 1.0 } else { INNER };
                let angle = std::f64::consts::PI * (f64::from(at) / 5.0 - 0.5);
                Point {
                    x: size.width / 2.0 * (1.0 + radius * angle.cos()),
                    y: size.height / 2.0 * (1.0 + radius * angle.sin()),
                }
            }),
            spot,
        )
    }

    fn polygon(size: Size, spot: &Spot) -> Self {
        // Figma's polygon is a triangle unless someone turned it into something else, which the file does not say.
        let points = [(0.5, 0.0), (0.933, 0.75), (0.067, 0.75)];
        Self::from_points(points.map(|(x, y)| Point { x: x * size.width, y: y * size.height }), spot)
    }

    fn arc(size: Size, arc: &Arc, spot: &Spot) -> Self {
        let (rx, ry) = (size.width / 2.0, size.height / 2.0);
        let inner = arc.inner.clamp(0.0, 1.0);
        let turn = std::f64::consts::TAU;
        let sweep = (arc.end - arc.start).clamp(-turn, turn);
        let at = |angle: f64, part: f64| Point {
            x: rx + rx * part * angle.cos(),
            y: ry + ry * part * angle.sin(),
        };
        let mut data = String::new();
        let mut writer = PathWriter::new(&mut data, 2).moved(spot.offset);
        let half = |part: f64, from: f64, by: f64, writer: &mut PathWriter<'_>| {
            // In halves, since an arc between equal points is none.
            let radii = Point { x: rx * part, y: ry * part };
            for step in [0.5, 1.0] {
                writer.arc_to(radii, 0.0, false, by > 0.0, at(from + by * step, part));
            }
        };
        if sweep.abs() > turn - 1e-4 {
            writer.move_to(at(0.0, 1.0));
            half(1.0, 0.0, turn, &mut writer);
            writer.close();
            if inner > 0.0 {
                writer.move_to(at(0.0, inner));
                half(inner, 0.0, -turn, &mut writer);
                writer.close();
            }
        } else {
            writer.move_to(at(arc.start, 1.0));
            half(1.0, arc.start, sweep, &mut writer);
            if inner > 0.0 {
                writer.line_to(at(arc.start + sweep, inner));
                half(inner, arc.start + sweep, -sweep, &mut writer);
            } else {
                writer.line_to(Point { x: rx, y: ry });
            }
            writer.close();
        }
        Self::Data { data, even_odd: false }
    }

    /// Grown by `by` on every side (shrunk where negative); `None` where nothing is left, or for path data.
    pub fn grown(&self, by: f64) -> Option<Self> {
        let grow = |at: Point, size: Size| {
            let (width, height) = (size.width + 2.0 * by, size.height + 2.0 * by);
            (width >= 0.0 && height >= 0.0)
                .then_some((Point { x: at.x - by, y: at.y - by }, Size { width, height }))
        };
        match self {
            Self::Box { at, size, radii } => grow(*at, *size).map(|(at, size)| Self::Box {
                at,
                size,
                // A square corner stays square.
                radii: fitting_radii(size, radii.map(|r| if r > 0.0 { (r + by).max(0.0) } else { 0.0 })),
            }),
            Self::Ellipse { at, size } => grow(*at, *size).map(|(at, size)| Self::Ellipse { at, size }),
            Self::Data { .. } | Self::Shared { .. } | Self::Unknown => None,
        }
    }

    /// Moved; path data stays as it is.
    #[must_use]
    pub fn moved(mut self, by: Point) -> Self {
        if let Self::Box { at, .. } | Self::Ellipse { at, .. } = &mut self {
            *at = Point { x: at.x + by.x, y: at.y + by.y };
        }
        self
    }

    /// Appends an element with this outline; `attributes` begin with a space.
    pub fn write(&self, out: &mut String, spot: &Spot, attributes: &str) {
        match self {
            Self::Box { at, size, radii } if radii.iter().all(|r| (r - radii[0]).abs() < 0.005) => {
                out.push_str("<rect");
                let at = spot.point(at.x, at.y);
                for (name, value) in [("x", at.x), ("y", at.y)] {
                    if value.abs() >= 0.005 {
                        write::attribute(out, name, value);
                    }
                }
                write::attribute(out, "width", size.width);
                write::attribute(out, "height", size.height);
                if radii[0] >= 0.005 {
                    write::attribute(out, "rx", radii[0]);
                }
            }
            Self::Ellipse { at, size } if (size.width - size.height).abs() < 0.005 => {
                out.push_str("<circle");
                let center = spot.point(at.x + size.width / 2.0, at.y + size.height / 2.0);
                write::attribute(out, "cx", center.x);
                write::attribute(out, "cy", center.y);
                write::attribute(out, "r", size.width / 2.0);
            }
            Self::Ellipse { at, size } => {
                out.push_str("<ellipse");
                let center = spot.point(at.x + size.width / 2.0, at.y + size.height / 2.0);
                write::attribute(out, "cx", center.x);
                write::attribute(out, "cy", center.y);
                write::attribute(out, "rx", size.width / 2.0);
                write::attribute(out, "ry", size.height / 2.0);
            }
            Self::Box { .. } => {
                out.push_str("<path d=\"");
                self.write_data(out, spot);
                out.push('"');
            }
            Self::Data { data, even_odd } => {
                out.push_str("<path d=\"");
                out.push_str(data);
                out.push('"');
                if *even_odd {
                    out.push_str(" fill-rule=\"evenodd\"");
                }
            }
            Self::Shared { id, even_odd } => {
                out.push_str("<use href=\"#");
                write::identifier(out, 'o', *id);
                out.push('"');
                if *even_odd {
                    out.push_str(" fill-rule=\"evenodd\"");
                }
            }
            Self::Unknown => return,
        }
        spot.write(out);
        out.push_str(attributes);
        out.push_str("/>");
    }

    /// Appends an element for use in a `clipPath`.
    pub fn write_clip(&self, out: &mut String, spot: &Spot) {
        let rule = match self {
            Self::Data { even_odd: true, .. } | Self::Shared { even_odd: true, .. } => {
                " clip-rule=\"evenodd\""
            }
            _ => "",
        };
        self.write(out, spot, rule);
    }

    /// Appends the outline as path data.
    pub fn write_data(&self, out: &mut String, spot: &Spot) {
        match self {
            Self::Box { at, size, radii } => {
                let mut writer =
                    PathWriter::new(out, 2).moved(Point { x: spot.offset.x + at.x, y: spot.offset.y + at.y });
                let (w, h) = (size.width, size.height);
                let [tl, tr, br, bl] = *radii;
                let corner = |writer: &mut PathWriter<'_>, radius: f64, x: f64, y: f64| {
                    if radius >= 0.005 {
                        writer.arc_to(Point { x: radius, y: radius }, 0.0, false, true, Point { x, y });
                    }
                };
                writer.move_to(Point { x: tl, y: 0.0 });
                writer.line_to(Point { x: w - tr, y: 0.0 });
                corner(&mut writer, tr, w, tr);
                writer.line_to(Point { x: w, y: h - br });
                corner(&mut writer, br, w - br, h);
                writer.line_to(Point { x: bl, y: h });
                corner(&mut writer, bl, 0.0, h - bl);
                writer.line_to(Point { x: 0.0, y: tl });
                corner(&mut writer, tl, tl, 0.0);
                writer.close();
            }
            Self::Ellipse { at, size } => {
                let (rx, ry) = (size.width / 2.0, size.height / 2.0);
                let mut writer =
                    PathWriter::new(out, 2).moved(Point { x: spot.offset.x + at.x, y: spot.offset.y + at.y });
                let radii = Point { x: rx, y: ry };
                writer.move_to(Point { x: 0.0, y: ry });
                writer.arc_to(radii, 0.0, false, true, Point { x: size.width, y: ry });
                writer.arc_to(radii, 0.0, false, true, Point { x: 0.0, y: ry });
                writer.close();
            }
            Self::Data { data, .. } => out.push_str(data),
            // Only what is drawn as an element is shared.
            Self::Shared { .. } | Self::Unknown => {}
        }
    }

    /// Whether it is path data.
    pub fn is_path(&self) -> bool {
        matches!(self, Self::Data { .. } | Self::Shared { .. })
    }

    /// Whether there is nothing to draw.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }
}

fn is_full(arc: &Arc) -> bool {
    let sweep = (arc.end - arc.start).abs();
    arc.inner <= 0.0 && sweep > std::f64::consts::TAU - 1e-3 || !sweep.is_finite()
}

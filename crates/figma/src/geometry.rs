//! Points, boxes and transforms. Lengths are Figma's pixels; y grows downwards; angles are radians.

/// A point on the canvas.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point {
    /// Horizontal.
    pub x: f64,
    /// Vertical.
    pub y: f64,
}

/// A width and a height.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Size {
    /// Width, ≥ 0.
    pub width: f64,
    /// Height, ≥ 0.
    pub height: f64,
}

/// An upright box. Width and height are finite and ≥ 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width, ≥ 0.
    pub width: f64,
    /// Height, ≥ 0.
    pub height: f64,
}

/// Coordinates beyond this are taken for garbage: Figma's canvas ends at ±65,536.
const FARTHEST: f64 = 1_000_000.0;

impl Rect {
    /// A box from four numbers, or `None` where one is not finite, too far away, or a size is negative.
    pub fn new(x: f64, y: f64, width: f64, height: f64) -> Option<Self> {
        let sane = |v: f64| v.is_finite() && v.abs() <= FARTHEST;
        (sane(x) && sane(y) && sane(width) && sane(height) && width >= 0.0 && height >= 0.0).then_some(Self {
            x,
            y,
            width,
            height,
        })
    }

    /// Right edge.
    pub fn right(&self) -> f64 {
        self.x + self.width
    }

    /// Bottom edge.
    pub fn bottom(&self) -> f64 {
        self.y + self.height
    }

    /// Its centre.
    pub fn center(&self) -> Point {
        Point { x: self.x + self.width / 2.0, y: self.y + self.height / 2.0 }
    }

    /// Width times height.
    pub fn area(&self) -> f64 {
        self.width * self.height
    }

    /// The smallest box around both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        Self {
            x,
            y,
            width: self.right().max(other.right()) - x,
            height: self.bottom().max(other.bottom()) - y,
        }
    }

    /// The part that both cover; `None` where they share no area.
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let (width, height) = (self.right().min(other.right()) - x, self.bottom().min(other.bottom()) - y);
        (width > 0.0 && height > 0.0).then_some(Self { x, y, width, height })
    }

    /// Whether the point lies in it, edges included.
    pub fn contains(&self, point: Point) -> bool {
        point.x >= self.x && point.x <= self.right() && point.y >= self.y && point.y <= self.bottom()
    }

    /// Whether the other box lies in it, within a tolerance in pixels.
    pub fn covers(&self, other: &Self, tolerance: f64) -> bool {
        other.x >= self.x - tolerance
            && other.y >= self.y - tolerance
            && other.right() <= self.right() + tolerance
            && other.bottom() <= self.bottom() + tolerance
    }

    /// Intersection over union, 0..=1; boxes without area are widened to one pixel so that lines compare too.
    pub fn iou(&self, other: &Self) -> f64 {
        let thick = |r: &Self| Self { width: r.width.max(1.0), height: r.height.max(1.0), ..*r };
        let (a, b) = (thick(self), thick(other));
        let shared = a.intersection(&b).map_or(0.0, |r| r.area());
        shared / (a.area() + b.area() - shared)
    }

    /// Moved.
    #[must_use]
    pub fn translate(&self, dx: f64, dy: f64) -> Self {
        Self { x: self.x + dx, y: self.y + dy, ..*self }
    }
}

/// `[a c e; b d f]`: maps (x, y) to (a·x + c·y + e, b·x + d·y + f), as in SVG.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine {
    /// x from x.
    pub a: f64,
    /// y from x.
    pub b: f64,
    /// x from y.
    pub c: f64,
    /// y from y.
    pub d: f64,
    /// x offset.
    pub e: f64,
    /// y offset.
    pub f: f64,
}

impl Affine {
    /// No change.
    pub const IDENTITY: Self = Self { a: 1.0, b: 0.0, c: 0.0, d: 1.0, e: 0.0, f: 0.0 };

    /// A move.
    pub const fn translation(x: f64, y: f64) -> Self {
        Self { a: 1.0, b: 0.0, c: 0.0, d: 1.0, e: x, f: y }
    }

    /// A turn about the origin, clockwise on screen for a positive angle in radians.
    pub fn rotation(angle: f64) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self { a: cos, b: sin, c: -sin, d: cos, e: 0.0, f: 0.0 }
    }

    /// `self` after `inner`: a point goes through `inner` first.
    #[must_use]
    pub fn after(&self, inner: &Self) -> Self {
        Self {
            a: self.a * inner.a + self.c * inner.b,
            b: self.b * inner.a + self.d * inner.b,
            c: self.a * inner.c + self.c * inner.d,
            d: self.b * inner.c + self.d * inner.d,
            e: self.a * inner.e + self.c * inner.f + self.e,
            f: self.b * inner.e + self.d * inner.f + self.f,
        }
    }

    /// Where the point goes.
    pub fn apply(&self, point: Point) -> Point {
        Point {
            x: self.a * point.x + self.c * point.y + self.e,
            y: self.b * point.x + self.d * point.y + self.f,
        }
    }

    /// The upright box around a `size` placed by this transform.
    pub fn bounds(&self, size: Size) -> Option<Rect> {
        let corners = [(0.0, 0.0), (size.width, 0.0), (0.0, size.height), (size.width, size.height)]
            .map(|(x, y)| self.apply(Point { x, y }));
        let min = |f: fn(&Point) -> f64| corners.iter().map(f).fold(f64::INFINITY, f64::min);
        let max = |f: fn(&Point) -> f64| corners.iter().map(f).fold(f64::NEG_INFINITY, f64::max);
        let (x, y) = (min(|p| p.x), min(|p| p.y));
        Rect::new(x, y, max(|p| p.x) - x, max(|p| p.y) - y)
    }

    /// Whether it only moves.
    pub fn is_translation(&self) -> bool {
        const NEAR: f64 = 1e-4;
        (self.a - 1.0).abs() < NEAR
            && self.b.abs() < NEAR
            && self.c.abs() < NEAR
            && (self.d - 1.0).abs() < NEAR
    }

    /// The undoing transform; `None` where it flattens the plane.
    pub fn inverse(&self) -> Option<Self> {
        let det = self.a * self.d - self.b * self.c;
        (det.abs() > 1e-12).then(|| Self {
            a: self.d / det,
            b: -self.b / det,
            c: -self.c / det,
            d: self.a / det,
            e: (self.c * self.f - self.d * self.e) / det,
            f: (self.b * self.e - self.a * self.f) / det,
        })
    }

    /// Whether all six numbers are finite.
    pub fn is_finite(&self) -> bool {
        [self.a, self.b, self.c, self.d, self.e, self.f].iter().all(|v| v.is_finite())
    }
}

//! Path data: read defensively, written short.

use heddle_figma::Point;

use crate::write::number;

/// Most numbers in one path; what has more is cut there.
const MOST_NUMBERS: usize = 2_000_000;

/// Writes path data in relative commands on a decimal grid, so that rounding never adds up.
pub struct PathWriter<'o> {
    out: &'o mut String,
    decimals: u32,
    grid: f64,
    at: (i64, i64),
    start: (i64, i64),
    command: u8,
    offset: Point,
}

/// A place in what a [`PathWriter`] wrote, to go back to.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    length: usize,
    at: (i64, i64),
    start: (i64, i64),
    command: u8,
}

impl<'o> PathWriter<'o> {
    /// Appends to `out`, with 0..=4 decimals.
    pub fn new(out: &'o mut String, decimals: u32) -> Self {
        let grid = f64::from(10_u32.pow(decimals.min(4)));
        Self { out, decimals, grid, at: (0, 0), start: (0, 0), command: 0, offset: Point { x: 0.0, y: 0.0 } }
    }

    /// Adds `offset` to every point.
    pub fn moved(self, offset: Point) -> Self {
        Self { offset, ..self }
    }

    /// Where it is now.
    pub fn mark(&self) -> Mark {
        Mark { length: self.out.len(), at: self.at, start: self.start, command: self.command }
    }

    /// Takes back what was written since.
    pub fn cut(&mut self, mark: &Mark) {
        self.out.truncate(mark.length);
        (self.at, self.start, self.command) = (mark.at, mark.start, mark.command);
    }

    fn snap(&self, point: Point) -> (i64, i64) {
        let snap = |v: f64| if v.is_finite() { (v.clamp(-1e7, 1e7) * self.grid).round() as i64 } else { 0 };
        (snap(point.x + self.offset.x), snap(point.y + self.offset.y))
    }

    fn command(&mut self, command: u8) {
        // After a move, further pairs would be lines: `m` is always written.
        if self.command != command || command == b'm' {
            self.out.push(char::from(command));
            self.command = command;
        }
    }

    fn value(&mut self, value: i64, first: bool) {
        if !first && value >= 0 {
            self.out.push(' ');
        }
        number(self.out, value as f64 / self.grid, self.decimals);
    }

    fn pairs(&mut self, command: u8, points: &[(i64, i64)]) {
        let repeated = self.command == command && command != b'm';
        self.command(command);
        let mut first = !repeated;
        for (x, y) in points {
            self.value(x - self.at.0, first);
            self.value(y - self.at.1, false);
            first = false;
        }
        if let Some(last) = points.last() {
            self.at = *last;
        }
    }

    /// Starts a figure.
    pub fn move_to(&mut self, to: Point) {
        let to = self.snap(to);
        self.pairs(b'm', &[to]);
        self.start = to;
    }

    /// A straight line.
    pub fn line_to(&mut self, to: Point) {
        let to = self.snap(to);
        let (dx, dy) = (to.0 - self.at.0, to.1 - self.at.1);
        if dx != 0 && dy != 0 {
            self.pairs(b'l', &[to]);
            return;
        }
        let (command, delta) = if dy == 0 { (b'h', dx) } else { (b'v', dy) };
        let repeated = self.command == command;
        self.command(command);
        self.value(delta, !repeated);
        self.at = to;
    }

    /// A curve with one control point.
    pub fn quad_to(&mut self, control: Point, to: Point) {
        let points = [self.snap(control), self.snap(to)];
        self.pairs(b'q', &points);
    }

    /// A curve with two control points.
    pub fn curve_to(&mut self, first: Point, second: Point, to: Point) {
        let points = [self.snap(first), self.snap(second), self.snap(to)];
        self.pairs(b'c', &points);
    }

    /// An elliptical arc about upright axes.
    pub fn arc_to(&mut self, radii: Point, turn: f64, large: bool, sweep: bool, to: Point) {
        let to = self.snap(to);
        let snap = |v: f64| if v.is_finite() { (v.abs().min(1e7) * self.grid).round() as i64 } else { 0 };
        let radii = (snap(radii.x), snap(radii.y));
        let repeated = self.command == b'a';
        self.command(b'a');
        self.value(radii.0, !repeated);
        self.value(radii.1, false);
        self.out.push(' ');
        number(self.out, turn, 2);
        self.out.push_str(match (large, sweep) {
            (false, false) => " 0 0",
            (false, true) => " 0 1",
            (true, false) => " 1 0",
            (true, true) => " 1 1",
        });
        self.value(to.0 - self.at.0, false);
        self.value(to.1 - self.at.1, false);
        self.at = to;
    }

    /// Ends a figure where it started.
    pub fn close(&mut self) {
        if self.command != b'z' && self.command != 0 {
            self.command(b'z');
        }
        self.at = self.start;
    }

    /// A polygon.
    pub fn polygon(&mut self, points: impl IntoIterator<Item = Point>) {
        let mut points = points.into_iter();
        if let Some(first) = points.next() {
            self.move_to(first);
            for point in points {
                self.line_to(point);
            }
            self.close();
        }
    }
}

/// Why path data was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadPath {
    /// Byte offset of what could not be read.
    pub at: usize,
}

struct Reader<'d> {
    data: &'d [u8],
    at: usize,
}

impl Reader<'_> {
    fn skip(&mut self) {
        while self.data.get(self.at).is_some_and(|b| b.is_ascii_whitespace() || *b == b',') {
            self.at += 1;
        }
    }

    fn starts_number(&mut self) -> bool {
        self.skip();
        self.data.get(self.at).is_some_and(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.'))
    }

    fn number(&mut self) -> Result<f64, BadPath> {
        self.skip();
        let start = self.at;
        let bad = BadPath { at: start };
        let byte = |at: usize| self.data.get(at).copied().unwrap_or(0);
        let negative = byte(self.at) == b'-';
        if matches!(byte(self.at), b'-' | b'+') {
            self.at += 1;
        }
        // Seventeen digits are all that a double holds: the rest only moves the point.
        let (mut mantissa, mut exponent, mut seen) = (0_u64, 0_i32, 0_u32);
        let mut fraction = false;
        loop {
            match byte(self.at) {
                digit @ b'0'..=b'9' => {
                    seen += 1;
                    if mantissa < 100_000_000_000_000_000 {
                        mantissa = mantissa * 10 + u64::from(digit - b'0');
                        exponent -= i32::from(fraction);
                    } else {
                        exponent += i32::from(!fraction);
                    }
                }
                b'.' if !fraction => fraction = true,
                _ => break,
            }
            self.at += 1;
        }
        if seen == 0 {
            return Err(bad);
        }
        if matches!(byte(self.at), b'e' | b'E')
            && (byte(self.at + 1).is_ascii_digit()
                || (matches!(byte(self.at + 1), b'-' | b'+') && byte(self.at + 2).is_ascii_digit()))
        {
            let minus = byte(self.at + 1) == b'-';
            self.at += if byte(self.at + 1).is_ascii_digit() { 1 } else { 2 };
            let mut power = 0_i32;
            while let digit @ b'0'..=b'9' = byte(self.at) {
                power = (power * 10 + i32::from(digit - b'0')).min(999);
                self.at += 1;
            }
            exponent += if minus { -power } else { power };
        }
        let value = mantissa as f64 * 10_f64.powi(exponent);
        if !value.is_finite() || value > 1e7 {
            return Err(bad);
        }
        Ok(if negative { -value } else { value })
    }

    fn flag(&mut self) -> Result<bool, BadPath> {
        self.skip();
        let flag = match self.data.get(self.at) {
            Some(b'0') => false,
            Some(b'1') => true,
            _ => return Err(BadPath { at: self.at }),
        };
        self.at += 1;
        Ok(flag)
    }

    fn point(&mut self, origin: Point) -> Result<Point, BadPath> {
        let x = self.number()?;
        let y = self.number()?;
        Ok(Point { x: origin.x + x, y: origin.y + y })
    }
}

/// Reads path data and writes it again, checked and shortened. What was written before a fault stays in `writer`'s
/// string: the caller cuts it.
pub fn rewrite(data: &str, writer: &mut PathWriter<'_>) -> Result<(), BadPath> {
    const ZERO: Point = Point { x: 0.0, y: 0.0 };
    let mut reader = Reader { data: data.as_bytes(), at: 0 };
    let (mut at, mut start, mut control) = (ZERO, ZERO, ZERO);
    let (mut command, mut last) = (0_u8, 0_u8);
    let mut numbers = 0;
    loop {
        reader.skip();
        let Some(&byte) = reader.data.get(reader.at) else { return Ok(()) };
        if byte.is_ascii_alphabetic() {
            command = byte;
            reader.at += 1;
        } else if !reader.starts_number() || matches!(command, 0 | b'z' | b'Z') {
            return Err(BadPath { at: reader.at });
        }
        if last == 0 && !matches!(command, b'm' | b'M') {
            return Err(BadPath { at: reader.at });
        }
        let origin = if command.is_ascii_lowercase() { at } else { ZERO };
        let mirrored = |control: Point| Point { x: 2.0 * at.x - control.x, y: 2.0 * at.y - control.y };
        let kind = command.to_ascii_lowercase();
        match kind {
            b'm' => {
                at = reader.point(origin)?;
                start = at;
                writer.move_to(at);
                command = if command == b'm' { b'l' } else { b'L' };
            }
            b'l' => {
                at = reader.point(origin)?;
                writer.line_to(at);
            }
            b'h' => {
                at.x = origin.x + reader.number()?;
                writer.line_to(at);
            }
            b'v' => {
                at.y = origin.y + reader.number()?;
                writer.line_to(at);
            }
            b'c' => {
                let first = reader.point(origin)?;
                control = reader.point(origin)?;
                at = reader.point(origin)?;
                writer.curve_to(first, control, at);
            }
            b's' => {
                let first = if matches!(last, b'c' | b's') { mirrored(control) } else { at };
                control = reader.point(origin)?;
                at = reader.point(origin)?;
                writer.curve_to(first, control, at);
            }
            b'q' => {
                control = reader.point(origin)?;
                at = reader.point(origin)?;
                writer.quad_to(control, at);
            }
            b't' => {
                control = if matches!(last, b'q' | b't') { mirrored(control) } else { at };
                at = reader.point(origin)?;
                writer.quad_to(control, at);
            }
            b'a' => {
                let radii = Point { x: reader.number()?, y: reader.number()? };
                let turn = reader.number()?;
                let (large, sweep) = (reader.flag()?, reader.flag()?);
                at = reader.point(origin)?;
                writer.arc_to(radii, turn, large, sweep, at);
            }
            b'z' => {
                writer.close();
                at = start;
            }
            _ => return Err(BadPath { at: reader.at - 1 }),
        }
        last = kind;
        numbers += 1;
        if numbers > MOST_NUMBERS || at.x.abs() > 1e7 || at.y.abs() > 1e7 {
            return Err(BadPath { at: reader.at });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(data: &str) -> Result<String, BadPath> {
        let mut out = String::new();
        rewrite(data, &mut PathWriter::new(&mut out, 2)).map(|()| out)
    }

    #[test]
    fn absolute_paths_become_short_relative_ones() {
        for (data, expected) in [
            ("M10 10L20 10L20 20L10 20L10 10Z", "m10 10h10v10h-10v-10z"),
            ("M0.25 -0.5C0.111929 -0.5 0 -0.388071 0 -0.25", "m.25-.5c-.14 0-.25 .11-.25 .25"),
            ("M0,0 L1,1 2,3 Z m5 5 l1 1", "m0 0l1 1 1 2zm5 5l1 1"),
            ("M0 0Q1 1 2 0T4 0", "m0 0q1 1 2 0 1-1 2 0"),
            ("M1e1-1e-1", "m10-.1"),
            ("M0 0A5 5 0 1 0 10 0", "m0 0a5 5 0 1 0 10 0"),
            ("M0 0C1 1 2 2 3 3S5 5 6 6", "m0 0c1 1 2 2 3 3 1 1 2 2 3 3"),
            ("", ""),
        ] {
            assert_eq!(rewritten(data).as_deref(), Ok(expected), "{data}");
        }
    }

    #[test]
    fn bad_paths_are_refused_where_they_are_bad() {
        for (data, at) in [
            ("L1 1", 1),
            ("M0 0 L1", 7),
            ("M0 0\"/><script>", 4),
            ("M0 0 X", 5),
            ("M nan 0", 2),
            ("M0 0z5", 5),
            ("M1e999 0", 1),
            ("5 5", 0),
        ] {
            assert_eq!(rewritten(data), Err(BadPath { at }), "{data}");
        }
    }
}

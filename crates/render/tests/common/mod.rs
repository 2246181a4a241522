//! Small documents, their pictures, and single pixels of them.
#![allow(dead_code, reason = "each test file uses its part")]

use heddle_figma::{Document, Limits};
use heddle_render::{Fonts, Options, Picture, PngLimits, png, svg};

/// A white frame of 100 by 100 at the canvas's corner, with these children and further fields.
pub fn frame(fields: &str, children: &[String]) -> String {
    format!(
        r#"{{"id":"1:1","name":"Frame","type":"FRAME",{},"clipsContent":true,
            "fills":[{{"type":"SOLID","color":{{"r":1,"g":1,"b":1,"a":1}}}}]{fields},"children":[{}]}}"#,
        at(0.0, 0.0, 100.0, 100.0),
        children.join(",")
    )
}

/// An `absoluteBoundingBox`, and the `size` that goes with it.
pub fn at(x: f64, y: f64, width: f64, height: f64) -> String {
    format!(
        r#""absoluteBoundingBox":{{"x":{x},"y":{y},"width":{width},"height":{height}}},"size":{{"x":{width},"y":{height}}}"#
    )
}

/// A solid paint.
pub fn solid(color: &str) -> String {
    let value = |at: usize| f64::from(u8::from_str_radix(&color[at..at + 2], 16).expect("a colour")) / 255.0;
    format!(r#"{{"type":"SOLID","color":{{"r":{},"g":{},"b":{},"a":1}}}}"#, value(0), value(2), value(4))
}

/// A node of a type, with a solid fill and further fields (which begin with a comma).
pub fn node(id: &str, kind: &str, at: &str, fill: &str, fields: &str) -> String {
    format!(r#"{{"id":"{id}","name":"{kind}","type":"{kind}",{at},"fills":[{}]{fields}}}"#, solid(fill))
}

/// A text in Inter, 16 px on a line of 20.
pub fn text(id: &str, at: &str, characters: &str, fields: &str) -> String {
    let characters: String =
        characters
            .chars()
            .map(|c| {
                if c.is_control() || "\"\\".contains(c) {
                    format!("\\u{:04x}", u32::from(c))
                } else {
                    c.into()
                }
            })
            .collect();
    format!(
        r#"{{"id":"{id}","name":"Text","type":"TEXT",{at},"characters":"{characters}","fills":[{}],
            "style":{{"fontFamily":"Inter","fontWeight":400,"fontSize":16,"lineHeightPx":20,"lineHeightUnit":"PIXELS"
            {fields}}}}}"#,
        solid("000000")
    )
}

/// Reads a document and hands it over.
pub fn with<T>(json: &str, see: impl FnOnce(&Document<'_>) -> T) -> T {
    let document = heddle_figma::read(json.as_bytes(), &Limits::default()).expect("the test's JSON reads");
    see(&document)
}

/// The picture of the first top-level frame.
pub fn picture(json: &str) -> Picture {
    with(json, |document| {
        let root = document.top_level_frames()[0];
        svg(document, root, Fonts::bundled(), &Options::default())
    })
}

/// The SVG, a line per element.
pub fn lines(json: &str) -> String {
    picture(json).svg.replace("><", ">\n<")
}

/// Pixels of a picture.
pub struct Pixels {
    width: u32,
    /// Height.
    pub height: u32,
    channels: usize,
    data: Vec<u8>,
}

impl Pixels {
    /// Of a picture at scale 1.
    pub fn of(picture: &Picture) -> Self {
        let rendered = png(picture, 1.0, &PngLimits::default()).expect("the picture becomes pixels");
        Self::decode(&rendered.bytes)
    }

    /// Of a PNG file.
    pub fn decode(bytes: &[u8]) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
        let mut data = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut data).expect("a frame");
        Self { width: info.width, height: info.height, channels: info.color_type.samples(), data }
    }

    /// `rrggbb` at a point; `none` where it is transparent.
    pub fn at(&self, x: u32, y: u32) -> String {
        let from = (y * self.width + x) as usize * self.channels;
        match &self.data[from..from + self.channels] {
            [_, _, _, 0] => "none".to_owned(),
            pixel => format!("{:02x}{:02x}{:02x}", pixel[0], pixel[1], pixel[2]),
        }
    }

    /// Bounds (left, top, right, bottom) of all pixels that are darker than mid grey.
    pub fn dark(&self) -> Option<(u32, u32, u32, u32)> {
        let mut found: Option<(u32, u32, u32, u32)> = None;
        for y in 0..self.height {
            for x in 0..self.width {
                let from = (y * self.width + x) as usize * self.channels;
                if self.data[from] < 128 && (self.channels < 4 || self.data[from + 3] > 128) {
                    let (l, t, r, b) = found.unwrap_or((x, y, x, y));
                    found = Some((l.min(x), t.min(y), r.max(x), b.max(y)));
                }
            }
        }
        found
    }
}

/// Pixels of a document's first frame.
pub fn pixels(json: &str) -> Pixels {
    Pixels::of(&picture(json))
}

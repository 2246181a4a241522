//! Pixels.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::Picture;

/// Most pixels, on either side and in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PngLimits {
    /// Most pixels in all; larger pictures are scaled down.
    pub pixels: u64,
    /// Most pixels on one side.
    pub side: u32,
}

impl Default for PngLimits {
    /// D14's 32,000,000 pixels, 32,000 on a side.
    fn default() -> Self {
        Self { pixels: 32_000_000, side: 32_000 }
    }
}

/// Why a picture could not be turned into pixels.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The SVG could not be read.
    #[error("reading the picture's SVG")]
    Svg(#[source] resvg::usvg::Error),
    /// No memory for that many pixels.
    #[error("no memory for {width} × {height} pixels")]
    Memory {
        /// Width asked for.
        width: u32,
        /// Height asked for.
        height: u32,
    },
    /// The renderer met geometry that it has no answer to.
    #[error("drawing the picture's pixels")]
    Draw,
    /// The pixels could not be encoded.
    #[error("encoding the PNG")]
    Encode(#[source] ::png::EncodingError),
}

/// A picture in pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedPng {
    /// A PNG file.
    pub bytes: Vec<u8>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Pixels per Figma pixel: less than was asked for where a limit was hit.
    pub scale: f64,
}

/// Stack for each level of groups that the reader and the renderer descend.
const STACK_PER_LEVEL: usize = 48 << 10;

/// Turns a picture into pixels at a scale (1: one per Figma pixel), smaller where a limit would be passed.
pub fn png(picture: &Picture, scale: f64, limits: &PngLimits) -> Result<RenderedPng, RenderError> {
    // Both recurse by group: the stack grows with the picture, whoever's thread this is.
    stacker::maybe_grow(256 << 10, (picture.depth + 24) * STACK_PER_LEVEL, || render(picture, scale, limits))
}

fn render(picture: &Picture, scale: f64, limits: &PngLimits) -> Result<RenderedPng, RenderError> {
    let scale = fitting_scale(picture, scale, limits);
    let side = |v: f64| ((v * scale).round() as u32).clamp(1, limits.side.max(1));
    let (width, height) = (side(picture.width), side(picture.height));
    let tree = Tree::from_str(&picture.svg, &Options::default()).map_err(RenderError::Svg)?;
    let mut pixels = Pixmap::new(width, height).ok_or(RenderError::Memory { width, height })?;
    let transform = Transform::from_scale(
        (f64::from(width) / picture.width) as f32,
        (f64::from(height) / picture.height) as f32,
    );
    // The rasteriser asserts what absurd geometry can break. The pixels are dropped with it: nothing half-done is seen.
    let drawn = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        resvg::render(&tree, transform, &mut pixels.as_mut());
    }));
    drawn.map_err(|_| RenderError::Draw)?;
    drop(tree);
    let bytes = encode(pixels).map_err(RenderError::Encode)?;
    Ok(RenderedPng { bytes, width, height, scale })
}

fn fitting_scale(picture: &Picture, scale: f64, limits: &PngLimits) -> f64 {
    let wanted = if scale.is_finite() && scale > 0.0 { scale.min(64.0) } else { 1.0 };
    let by_area = (limits.pixels.max(1) as f64 / (picture.width * picture.height)).sqrt();
    let by_side = f64::from(limits.side.max(1)) / picture.width.max(picture.height);
    // Rounding up must not pass the limit: hence a little less.
    let most = by_area.min(by_side);
    if wanted > most { most * 0.9995 } else { wanted }
}

fn encode(mut pixels: Pixmap) -> Result<Vec<u8>, ::png::EncodingError> {
    let (width, height) = (pixels.width(), pixels.height());
    let mut opaque = true;
    // Straight alpha in place: a second buffer would double what a large picture takes.
    for pixel in pixels.data_mut().chunks_exact_mut(4) {
        let alpha = pixel[3];
        if alpha != 255 {
            opaque = false;
            if alpha != 0 {
                for channel in &mut pixel[..3] {
                    let straight = (u32::from(*channel) * 255 + u32::from(alpha) / 2) / u32::from(alpha);
                    *channel = straight.min(255) as u8;
                }
            }
        }
    }
    let mut bytes = Vec::with_capacity((width as usize * height as usize) / 4 + 1_024);
    let mut encoder = ::png::Encoder::new(&mut bytes, width, height);
    encoder.set_depth(::png::BitDepth::Eight);
    encoder.set_compression(::png::Compression::Fast);
    encoder.set_color(if opaque { ::png::ColorType::Rgb } else { ::png::ColorType::Rgba });
    let mut writer = encoder.write_header()?;
    let data = pixels.data_mut();
    let length = if opaque {
        let mut to = 0;
        for from in (0..data.len()).step_by(4) {
            data.copy_within(from..from + 3, to);
            to += 3;
        }
        to
    } else {
        data.len()
    };
    writer.write_image_data(&data[..length])?;
    writer.finish()?;
    Ok(bytes)
}

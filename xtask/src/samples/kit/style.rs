//! Greys, text styles and small parts that the whole kit shares.

use crate::samples::library::Library;
use crate::samples::make::Make;
use crate::samples::node::Node;
use crate::samples::paint::{Tone, Type, inter, tone};

/// Text and strong shapes.
pub const INK: Tone = tone("Wire/Ink", 0x26_26_26);
/// Secondary text.
pub const MUTED: Tone = tone("Wire/Muted", 0x73_73_73);
/// Disabled text, placeholders.
pub const FAINT: Tone = tone("Wire/Faint", 0xa3_a3_a3);
/// Outlines.
pub const LINE: Tone = tone("Wire/Line", 0xd4_d4_d4);
/// Media and other filled areas.
pub const BLOCK: Tone = tone("Wire/Block", 0xe5_e5_e5);
/// Quiet areas.
pub const SURFACE: Tone = tone("Wire/Surface", 0xf5_f5_f5);
/// Paper.
pub const PAPER: Tone = tone("Wire/Paper", 0xff_ff_ff);

/// Largest heading.
pub const H1: Type = inter("Wire/Heading 1", 700, 32.0, 40.0).spaced(-0.5);
/// Second heading.
pub const H2: Type = inter("Wire/Heading 2", 700, 24.0, 32.0).spaced(-0.3);
/// Third heading.
pub const H3: Type = inter("Wire/Heading 3", 600, 20.0, 28.0).spaced(-0.2);
/// Fourth heading.
pub const H4: Type = inter("Wire/Heading 4", 600, 16.0, 24.0);
/// Running text.
pub const BODY: Type = inter("Wire/Body", 400, 16.0, 24.0);
/// Smaller running text.
pub const SMALL: Type = inter("Wire/Small", 400, 14.0, 20.0);
/// Labels of controls.
pub const LABEL: Type = inter("Wire/Label", 500, 14.0, 20.0);
/// Larger labels.
pub const LABEL_LARGE: Type = inter("Wire/Label large", 500, 16.0, 24.0);
/// Captions.
pub const CAPTION: Type = inter("Wire/Caption", 400, 12.0, 16.0);
/// Strong captions.
pub const CAPTION_STRONG: Type = inter("Wire/Caption strong", 600, 12.0, 16.0);

/// An icon at a size, in a grey.
pub fn icon<'a>(kit: &'a Library, name: &str, size: f64, tone: Tone) -> Make<'a> {
    kit.make(&format!("Icon/{name}")).tint(tone).sized(size, size).named("Icon")
}

/// A placeholder icon that a property swaps.
pub fn slot(kit: &Library, property: &str, size: f64, tone: Tone) -> Node {
    icon(kit, "placeholder", size, tone).node().swapped_by(property)
}

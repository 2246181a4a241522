//! The page that shows colours and text styles.

use super::style::{
    BODY_M, CAPTION, DISPLAY, INK, LABEL_S, LINE, PALETTE, PAPER, RICE, SLATE, TITLE_M, TYPES, low,
};
use crate::samples::layout::lay_out;
use crate::samples::library::{Library, assign, session};
use crate::samples::node::{Node, column, rect, row, text};

/// The foundations page: its name and its frame.
pub fn foundations(library: &Library) -> (String, Vec<Node>) {
    let mut swatches = row("Swatches").fill_width().gap(24.0).wrap(24.0);
    for tone in PALETTE {
        let chip = rect("Colour", 132.0, 88.0).radius(16.0).fill(*tone).stroke(LINE, 1.0);
        let name = tone.name.split('/').next_back().unwrap_or(tone.name);
        let card = column(tone.name).wide(132.0).gap(8.0).child(chip);
        let channel = |value: f64| (value * 255.0).round() as u8;
        let hex = format!(
            "#{:02X}{:02X}{:02X}",
            channel(tone.color.r),
            channel(tone.color.g),
            channel(tone.color.b)
        );
        let words = column("Words")
            .child(text("Name", LABEL_S, name).fill(INK))
            .child(text("Hex", CAPTION, &hex).fill(SLATE));
        swatches = swatches.child(card.child(words));
    }
    let mut types = column("Text styles").fill_width().gap(20.0);
    for style in TYPES {
        let line = row(style.name).fill_width().gap(32.0).middle();
        let facts = format!("{} · {:.0}/{:.0}", style.name, style.size, style.line);
        let label = text("Facts", CAPTION, &facts).fill(SLATE).wide(160.0);
        types =
            types.child(line.child(label).child(text("Specimen", *style, "Where the river turns").fill(INK)));
    }
    let card = |name: &str, content: Node| {
        let card =
            column(name).fill_width().pad(32.0, 32.0).gap(24.0).radius(24.0).fill(PAPER).elevation(&low());
        card.child(text("Title", TITLE_M, name).fill(INK)).child(content)
    };
    let lead = "Evergreen for what one does, persimmon for what one should notice, rice paper for everything else. \
                Corners are soft, shadows low, lines thin.";
    let mut page = column("Foundations")
        .wide(1040.0)
        .pad(56.0, 56.0)
        .gap(32.0)
        .fill(RICE)
        .child(text("Title", DISPLAY, "Hinoki").fill(INK))
        .child(text("Lead", BODY_M, lead).fill(SLATE).wide(560.0))
        .child(card("Colours", swatches))
        .child(card("Type", types));
    assign(&mut page, session(&format!("foundations/{}", library.name)), &mut 1);
    lay_out(&mut page, None, None);
    ("Foundations".to_owned(), vec![page])
}

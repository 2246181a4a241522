//! Words: headings, bodies, the logo.

use super::style::{
    BODY_L, BODY_M, BODY_S, CAPTION, DISPLAY, EVERGREEN, INK, LABEL_M, LINE, MIST, PAPER, SLATE, TITLE_L,
    TITLE_M, TITLE_S,
};
use crate::samples::library::Library;
use crate::samples::node::{column, frame, row, rule, text, vector};
use crate::samples::paint::inter;

/// Adds the words.
pub fn add(library: &mut Library) {
    library.set(
        "Type/Heading",
        "Titles, from heroes to cards.",
        &[("Scale", &["XL", "L", "M", "S"])],
        |_, pick| {
            let style = match pick.get("Scale") {
                "XL" => DISPLAY,
                "L" => TITLE_L,
                "M" => TITLE_M,
                _ => TITLE_S,
            };
            column("")
                .wide(358.0)
                .child(text("Words", style, "Where the river turns").fill(INK).fill_width().prop("Words"))
        },
    );
    library.set(
        "Type/Body",
        "Running text.",
        &[("Scale", &["L", "M", "S"]), ("Tone", &["Ink", "Slate"])],
        |_, pick| {
            let style = match pick.get("Scale") {
                "L" => BODY_L,
                "M" => BODY_M,
                _ => BODY_S,
            };
            let words = "Nine rooms, one cedar bath and a breakfast that takes its time.";
            let tone = if pick.is("Tone", "Ink") { INK } else { SLATE };
            column("").wide(358.0).child(text("Words", style, words).fill(tone).fill_width().prop("Words"))
        },
    );
    library.set("Type/Note", "Small print.", &[("Tone", &["Slate", "Mist"])], |_, pick| {
        let tone = if pick.is("Tone", "Slate") { SLATE } else { MIST };
        column("")
            .wide(358.0)
            .child(text("Words", CAPTION, "Taxes included").fill(tone).fill_width().prop("Words"))
    });
    library.set(
        "Type/Section head",
        "The title of a section, and the way to all of it.",
        &[("Way", &["None", "All"]), ("Scale", &["Regular", "Large"])],
        |_, pick| {
            let style = if pick.is("Scale", "Large") { TITLE_L } else { TITLE_M };
            let head = row("").wide(358.0).gap(16.0).middle();
            let head = head.child(text("Title", style, "Section").fill(INK).fill_width().prop("Title"));
            if pick.is("Way", "None") {
                return head;
            }
            head.child(text("Way", LABEL_M, "See all").fill(EVERGREEN).prop("Way"))
        },
    );
    library.set("Type/Rule", "A hairline.", &[("Inset", &["None", "Text"])], |_, pick| {
        let inset = if pick.is("Inset", "Text") { 72.0 } else { 0.0 };
        row("").wide(358.0).pads([0.0, 0.0, 0.0, inset]).child(rule("Line", LINE, 1.0))
    });
    library.set("Mark/Logo", "The name and the tree.", &[("Ground", &["Light", "Dark"])], |_, pick| {
        let (tree, words) = if pick.is("Ground", "Light") { (EVERGREEN, INK) } else { (PAPER, PAPER) };
        let size = (28.0, 28.0);
        let mark = frame("Tree", 28.0, 28.0)
            .child(
                vector("Crown", "M14 2C19 7 22 11.500 22 16a8 8 0 0 1-16 0C6 11.500 9 7 14 2Z", size)
                    .line(tree, 2.0),
            )
            .child(vector("Trunk", "M14 11v15M14 17l4-3.500M14 20.500l-4-3.500", size).line(tree, 2.0));
        let name = text("Name", inter("", 700, 20.0, 28.0).spaced(-0.6), "Hinoki").fill(words);
        row("").gap(8.0).middle().child(mark).child(name)
    });
}

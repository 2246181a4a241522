//! Fields.

use super::style::{
    BODY_L, BODY_M, CAPTION, DANGER, EVERGREEN, INK, LABEL_M, LINE, MIST, PAPER, SAND, SLATE, centred, high,
    icon,
};
use crate::samples::library::{Library, Pick};
use crate::samples::node::{Node, Place, column, rect, row, text};

/// Adds the fields.
pub fn add(library: &mut Library) {
    let states: &[&str] = &["Rest", "Focus", "Filled", "Wrong", "Locked"];
    library.set("Field/Text", "A line that someone writes.", &[("State", states)], |library, pick| {
        let glyph = if pick.is("State", "Wrong") {
            icon(library, "alert", 20.0, DANGER).node()
        } else {
            icon(library, "eye", 20.0, SLATE).node().hidden().swapped_by("Icon").shown_by("With icon")
        };
        field(pick.get("State"), "you@example.com", glyph)
    });
    library.set(
        "Field/Picker",
        "One of a list.",
        &[("State", &["Rest", "Filled", "Locked"])],
        |library, pick| field(pick.get("State"), "Choose", icon(library, "chevron-down", 20.0, SLATE).node()),
    );
    library.set("Field/Date", "A day or two.", &[("State", &["Rest", "Filled"])], |library, pick| {
        field(pick.get("State"), "Add dates", icon(library, "calendar", 20.0, SLATE).node())
    });
    library.set(
        "Field/Long text",
        "Several lines that someone writes.",
        &[("State", &["Rest", "Filled"])],
        |_, pick| {
            let filled = pick.is("State", "Filled");
            let area = column("")
                .sized(358.0, 128.0)
                .pad(14.0, 16.0)
                .gap(4.0)
                .radius(14.0)
                .fill(PAPER)
                .stroke(LINE, 1.0);
            let words =
                if filled { "We arrive after nine in the evening." } else { "Anything we should know?" };
            area.child(text("Label", CAPTION, "Message").fill(SLATE).fill_width().prop("Label")).child(
                text("Words", BODY_M, words).fill(if filled { INK } else { MIST }).fill_width().prop("Words"),
            )
        },
    );
    library.set(
        "Field/Search",
        "Where to look.",
        &[("Form", &["Line", "Card"]), ("State", &["Rest", "Filled"])],
        search,
    );
    library.set("Field/Code", "Digits from a message.", &[("Digits", &["4", "6"])], |_, pick| {
        let box_ = |at: usize| {
            let digit = centred(&format!("Digit {at}"), 52.0, 14.0)
                .fill(PAPER)
                .stroke(if at == 1 { EVERGREEN } else { LINE }, 1.5);
            digit.child(text("Number", BODY_L, "·").fill(INK).prop(&format!("Digit {at}")))
        };
        row("").gap(10.0).children((1..=pick.number("Digits")).map(box_))
    });
}

/// A box with its label above the words.
fn field(state: &str, placeholder: &str, glyph: Node) -> Node {
    let (label, words, ink) = match state {
        "Rest" => (SLATE, placeholder, MIST),
        "Focus" => (EVERGREEN, placeholder, MIST),
        "Wrong" => (DANGER, "mika@hinoki", INK),
        "Locked" => (MIST, "Filled in", MIST),
        _ => (SLATE, "Filled in", INK),
    };
    let area = row("Box").fill_width().tall(58.0).pad(0.0, 16.0).gap(12.0).middle().radius(14.0);
    let area = match state {
        "Focus" => area.fill(PAPER).stroke(EVERGREEN, 2.0),
        "Wrong" => area.fill(PAPER).stroke(DANGER, 1.5),
        "Locked" => area.fill(SAND),
        _ => area.fill(PAPER).stroke(LINE, 1.0),
    };
    let words = text("Words", BODY_M, words).fill(ink).fill_width().lines(1).prop("Words");
    let inner = column("Inner").fill_width().gap(2.0);
    let inner =
        inner.child(text("Label", CAPTION, "Label").fill(label).fill_width().prop("Label")).child(words);
    let help = text("Help", CAPTION, if state == "Wrong" { "That is no address" } else { "A word of help" });
    let help = help
        .fill(if state == "Wrong" { DANGER } else { SLATE })
        .fill_width()
        .prop("Help")
        .shown_by("With help");
    column("").wide(358.0).gap(6.0).child(area.child(inner).child(glyph)).child(help)
}

fn search(library: &Library, pick: &Pick) -> Node {
    let filled = pick.is("State", "Filled");
    let words = if filled { "Kinosaki" } else { "Search" };
    let ink = if filled { INK } else { MIST };
    if pick.is("Form", "Line") {
        let line = row("")
            .sized(358.0, 48.0)
            .pad(0.0, 16.0)
            .gap(10.0)
            .middle()
            .radius(24.0)
            .fill(PAPER)
            .stroke(LINE, 1.0);
        let words = text("Words", BODY_M, words).fill(ink).fill_width().lines(1).prop("Words");
        return line.child(icon(library, "search", 20.0, SLATE)).child(words);
    }
    let card = row("").wide(358.0).pads([12.0, 12.0, 12.0, 20.0]).gap(14.0).middle().radius(24.0).fill(PAPER);
    let words = column("Inner")
        .fill_width()
        .gap(2.0)
        .child(
            text("Words", LABEL_M, if filled { "Kinosaki" } else { "Where to?" })
                .fill(INK)
                .fill_width()
                .lines(1)
                .prop("Words"),
        )
        .child(
            text("Terms", CAPTION, "Any week · Add guests").fill(SLATE).fill_width().lines(1).prop("Terms"),
        );
    let button =
        row("Button").sized(40.0, 40.0).radius(20.0).fill(EVERGREEN).align(Place::Center, Place::Center);
    let parting = rect("Parting", 1.0, 28.0).fill(LINE);
    card.elevation(&high())
        .child(icon(library, "search", 22.0, INK))
        .child(words)
        .child(parting)
        .child(button.child(icon(library, "filter", 20.0, PAPER)))
}

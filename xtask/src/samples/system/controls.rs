//! Actions and controls.

use super::style::{
    BODY_M, DANGER, DEW, EVERGREEN, INK, LABEL_L, LABEL_M, LABEL_S, LINE, MIST, MOSS, PAPER, SAND, SLATE,
    centred, high, icon, low,
};
use crate::samples::library::Library;
use crate::samples::node::{Node, Pin, Place, ellipse, frame, row, text};
use crate::samples::paint::{Tone, Type};

/// Area, outline and ink of an emphasis.
fn colours(emphasis: &str, disabled: bool) -> (Option<Tone>, Option<Tone>, Tone) {
    match (emphasis, disabled) {
        ("Strong", false) => (Some(EVERGREEN), None, PAPER),
        ("Strong" | "Soft", true) => (Some(SAND), None, MIST),
        ("Soft", false) => (Some(MOSS), None, EVERGREEN),
        ("Outline", false) => (Some(PAPER), Some(LINE), INK),
        ("Outline", true) => (Some(PAPER), Some(LINE), MIST),
        ("Danger", false) => (None, None, DANGER),
        (_, disabled) => (None, None, if disabled { MIST } else { EVERGREEN }),
    }
}

fn dress(node: Node, area: Option<Tone>, outline: Option<Tone>) -> Node {
    let node = if let Some(area) = area { node.fill(area) } else { node };
    if let Some(outline) = outline { node.stroke(outline, 1.0) } else { node }
}

/// Height, padding, radius, label and icon of a size.
fn measures(size: &str) -> (f64, f64, f64, Type, f64) {
    match size {
        "Small" => (32.0, 12.0, 10.0, LABEL_S, 16.0),
        "Medium" => (44.0, 18.0, 14.0, LABEL_M, 20.0),
        _ => (54.0, 24.0, 16.0, LABEL_L, 20.0),
    }
}

/// Adds the actions.
pub fn actions(library: &mut Library) {
    library.set(
        "Action/Button",
        "Does what its words say. One strong button per screen.",
        &[
            ("Emphasis", &["Strong", "Soft", "Outline", "Ghost"]),
            ("Size", &["Small", "Medium", "Large"]),
            ("Phase", &["Rest", "Off"]),
        ],
        |library, pick| {
            let (height, padding, radius, label, size) = measures(pick.get("Size"));
            let (area, outline, ink) = colours(pick.get("Emphasis"), pick.is("Phase", "Off"));
            let button = row("").tall(height).pad(0.0, padding).gap(8.0).align(Place::Center, Place::Center);
            let glyph = icon(library, "arrow-right", size, ink).node().hidden();
            dress(button.radius(radius), area, outline)
                .child(glyph.shown_by("With icon").swapped_by("Icon"))
                .child(text("Words", label, "Continue").fill(ink).prop("Words"))
        },
    );
    library.set(
        "Action/Round",
        "An action told by its icon.",
        &[("Emphasis", &["Strong", "Soft", "Outline", "Floating"]), ("Size", &["Small", "Medium"])],
        |library, pick| {
            let (side, glyph) = if pick.is("Size", "Small") { (36.0, 20.0) } else { (44.0, 22.0) };
            let floating = pick.is("Emphasis", "Floating");
            let (area, outline, ink) =
                if floating { (Some(PAPER), None, INK) } else { colours(pick.get("Emphasis"), false) };
            let button = dress(centred("", side, side / 2.0), area, outline);
            let button = if floating { button.elevation(&low()) } else { button };
            button.child(icon(library, "heart", glyph, ink).node().swapped_by("Icon"))
        },
    );
    library.set(
        "Action/Float",
        "The main action, over everything.",
        &[("Words", &["No", "Yes"])],
        |library, pick| {
            let button =
                row("").tall(56.0).pad(0.0, 16.0).gap(10.0).radius(28.0).fill(EVERGREEN).elevation(&high());
            let button = button.align(Place::Center, Place::Center);
            let button = button.child(icon(library, "plus", 24.0, PAPER).node().swapped_by("Icon"));
            if pick.is("Words", "No") {
                return button;
            }
            button
                .pads([0.0, 22.0, 0.0, 16.0])
                .child(text("Words", LABEL_L, "New booking").fill(PAPER).prop("Words"))
        },
    );
    library.set(
        "Action/Way",
        "A quiet way to somewhere else.",
        &[("Arrow", &["No", "Yes"])],
        |library, pick| {
            let way = row("")
                .gap(4.0)
                .middle()
                .child(text("Words", LABEL_M, "Read more").fill(EVERGREEN).prop("Words"));
            if pick.is("Arrow", "Yes") {
                way.child(icon(library, "chevron-right", 16.0, EVERGREEN))
            } else {
                way
            }
        },
    );
}

/// Adds the controls.
pub fn controls(library: &mut Library) {
    library.set("Control/Tick", "Yes or no.", &[("On", &["No", "Yes"])], |library, pick| {
        let mark = centred("Mark", 22.0, 7.0);
        let mark = if pick.is("On", "Yes") {
            mark.fill(EVERGREEN).child(icon(library, "check", 16.0, PAPER))
        } else {
            mark.fill(PAPER).stroke(MIST, 1.5)
        };
        let words = text("Words", BODY_M, "I agree").fill(SLATE).fill_width().prop("Words");
        row("").wide(358.0).gap(12.0).child(mark).child(words)
    });
    library.set("Control/Choice", "One of a few.", &[("On", &["No", "Yes"])], |_, pick| {
        let on = pick.is("On", "Yes");
        let mark =
            frame("Mark", 22.0, 22.0).radius(11.0).fill(PAPER).stroke(if on { EVERGREEN } else { MIST }, 1.5);
        let dot = ellipse("Dot", 12.0, 12.0).fill(EVERGREEN).pin(Pin::Middle(0.0), Pin::Middle(0.0));
        let mark = if on { mark.child(dot) } else { mark };
        let card = row("").wide(358.0).pad(14.0, 16.0).gap(12.0).middle().radius(14.0);
        let card =
            if on { card.fill(DEW).stroke(EVERGREEN, 1.5) } else { card.fill(PAPER).stroke(LINE, 1.0) };
        card.child(mark).child(text("Words", BODY_M, "Pay at the inn").fill(INK).fill_width().prop("Words"))
    });
    library.set("Control/Toggle", "On or off, at once.", &[("On", &["No", "Yes"])], |_, pick| {
        let on = pick.is("On", "Yes");
        let knob = ellipse("Knob", 24.0, 24.0).fill(PAPER).elevation(&low());
        let track = frame("", 48.0, 28.0).radius(14.0).fill(if on { EVERGREEN } else { LINE });
        track.child(knob.pin(if on { Pin::End(2.0) } else { Pin::Start(2.0) }, Pin::Middle(0.0)))
    });
    library.set("Control/Range", "Between two amounts.", &[("Ends", &["One", "Two"])], |_, pick| {
        let two = pick.is("Ends", "Two");
        let from = if two { 0.18 } else { 0.0 };
        let bar =
            |name: &str, tone: Tone| crate::samples::node::rect(name, 280.0, 4.0).radius(2.0).fill(tone);
        let mut range = Node { clips: false, ..frame("", 280.0, 24.0) };
        range = range
            .child(bar("Rail", LINE).pin(Pin::Both(0.0, 0.0), Pin::Middle(0.0)))
            .child(bar("Span", EVERGREEN).pin(Pin::Scale(from, 0.7 - from), Pin::Middle(0.0)));
        for at in if two { vec![0.14, 0.66] } else { vec![0.66] } {
            let knob = ellipse("Knob", 24.0, 24.0).fill(PAPER).stroke(LINE, 1.0).elevation(&low());
            range = range.child(knob.pin(Pin::Scale(at, 24.0 / 280.0), Pin::Middle(0.0)));
        }
        range
    });
    library.set("Control/Counter", "A few more, or fewer.", &[("Size", &["S", "M"])], |library, pick| {
        let side = if pick.is("Size", "S") { 28.0 } else { 36.0 };
        let step = |glyph: &str| {
            centred(glyph, side, side / 2.0).stroke(LINE, 1.0).child(icon(library, glyph, 16.0, INK))
        };
        let number = text("Number", LABEL_M, "2").fill(INK).wide(24.0).text_align("CENTER").prop("Number");
        row("").gap(6.0).middle().child(step("minus")).child(number).child(step("plus"))
    });
}

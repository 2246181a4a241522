//! Rows of lists.

use super::style::{
    BODY_M, BODY_S, CAPTION, DEW, EVERGREEN, INK, LABEL_L, LABEL_M, LINE, MIST, PAPER, SLATE, centred, icon,
    low, picture,
};
use crate::samples::library::{Library, Pick};
use crate::samples::node::{Node, column, frame, row, text};

/// Adds the rows.
pub fn add(library: &mut Library) {
    library.set(
        "Surface/List item",
        "A line of a list.",
        &[
            ("Lead", &["None", "Icon", "Portrait", "Photo"]),
            ("Trail", &["None", "Chevron", "Value", "Toggle"]),
        ],
        list_item,
    );
    library.set(
        "Surface/Basket item",
        "Something one is about to buy.",
        &[("Counter", &["Yes", "No"])],
        |library, pick| {
            let item =
                row("").wide(358.0).pad(12.0, 12.0).gap(14.0).radius(20.0).fill(PAPER).elevation(&low());
            let photo = frame("Photo", 88.0, 88.0).radius(14.0).fill(picture("breakfast"));
            let head = row("Head").fill_width().gap(8.0);
            let head = head
                .child(text("Name", LABEL_M, "Breakfast box").fill(INK).fill_width().lines(2).prop("Name"))
                .child(icon(library, "close", 18.0, MIST));
            let foot = row("Foot").fill_width().gap(8.0).middle();
            let foot = foot.child(text("Price", LABEL_L, "€18").fill(INK).fill_width().prop("Price"));
            let foot =
                if pick.is("Counter", "Yes") { foot.child(library.make("Control/Counter")) } else { foot };
            let note =
                text("Note", CAPTION, "For two, from eight").fill(SLATE).fill_width().lines(1).prop("Note");
            item.child(photo).child(column("Words").fill_width().gap(6.0).child(head).child(note).child(foot))
        },
    );
    library.set(
        "Surface/Sum",
        "One line of a bill.",
        &[("Weight", &["Plain", "Total", "Saving"])],
        |_, pick| {
            let (style, key, value) = match pick.get("Weight") {
                "Total" => (LABEL_L, INK, INK),
                "Saving" => (BODY_M, EVERGREEN, EVERGREEN),
                _ => (BODY_M, SLATE, INK),
            };
            row("")
                .wide(326.0)
                .gap(16.0)
                .middle()
                .child(text("Key", style, "Two nights").fill(key).fill_width().prop("Key"))
                .child(text("Value", style, "€296").fill(value).text_align("RIGHT").prop("Value"))
        },
    );
    library.set(
        "Surface/Arrival",
        "A guest who is about to arrive.",
        &[("State", &["Expected", "Here"])],
        |library, pick| {
            let here = pick.is("State", "Here");
            let item = row("").wide(320.0).pad(12.0, 12.0).gap(12.0).middle().radius(16.0).fill(if here {
                DEW
            } else {
                PAPER
            });
            let item = if here { item } else { item.stroke(LINE, 1.0) };
            let words = column("Words").fill_width().gap(2.0);
            let words = words
                .child(text("Name", LABEL_M, "Guest").fill(INK).fill_width().lines(1).prop("Name"))
                .child(
                    text("Room", BODY_S, "Cedar, two nights").fill(SLATE).fill_width().lines(1).prop("Room"),
                );
            let item = item
                .child(library.make("Data/Portrait").with("Face", "Letters").with("Size", "M"))
                .child(words);
            if here {
                return item.child(
                    centred("Mark", 24.0, 12.0).fill(EVERGREEN).child(icon(library, "check", 16.0, PAPER)),
                );
            }
            item.child(text("Time", LABEL_M, "15:00").fill(INK).text_align("RIGHT").prop("Time"))
        },
    );
}

fn list_item(library: &Library, pick: &Pick) -> Node {
    let mut item = row("").wide(358.0).pad(12.0, 0.0).gap(14.0).middle();
    match pick.get("Lead") {
        "Icon" => {
            let disc = centred("Disc", 44.0, 14.0).fill(DEW);
            item = item.child(disc.child(icon(library, "bed", 22.0, EVERGREEN).node().swapped_by("Icon")));
        }
        "Portrait" => item = item.child(library.make("Data/Portrait").with("Size", "M")),
        "Photo" => item = item.child(library.make("Media/Photo").with("Shape", "Square").sized(64.0, 64.0)),
        _ => {}
    }
    let words = column("Words").fill_width().gap(2.0);
    let words = words
        .child(text("Title", LABEL_M, "Title").fill(INK).fill_width().prop("Title"))
        .child(text("Note", BODY_S, "A note").fill(SLATE).fill_width().prop("Note").shown_by("With note"));
    item = item.child(words);
    match pick.get("Trail") {
        "Chevron" => item.child(icon(library, "chevron-right", 20.0, MIST)),
        "Value" => item.child(text("Value", LABEL_M, "€24").fill(INK).text_align("RIGHT").prop("Value")),
        "Toggle" => item.child(library.make("Control/Toggle").with("On", "Yes")),
        _ => item,
    }
}

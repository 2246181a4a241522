//! What Hinoki says back.

use super::data::tint;
use super::style::{
    BODY_M, BODY_S, CAPTION, DEW, EVERGREEN, FOREST, INK, LABEL_M, LINE, MOSS, PAPER, SLATE, TITLE_M,
    centred, high, icon,
};
use crate::samples::library::Library;
use crate::samples::node::{Pin, Place, column, frame, rect, row, text};

/// Adds feedback.
pub fn add(library: &mut Library) {
    library.set(
        "Feedback/Toast",
        "A short word that goes away.",
        &[("Action", &["No", "Yes"])],
        |library, pick| {
            let toast = row("")
                .wide(358.0)
                .pad(14.0, 16.0)
                .gap(12.0)
                .middle()
                .radius(16.0)
                .fill(FOREST)
                .elevation(&high());
            let toast = toast
                .child(icon(library, "check", 20.0, MOSS))
                .child(text("Words", BODY_S, "Saved to your list").fill(PAPER).fill_width().prop("Words"));
            if pick.is("Action", "No") {
                toast
            } else {
                toast.child(text("Way", LABEL_M, "Undo").fill(MOSS).prop("Way"))
            }
        },
    );
    library.set(
        "Feedback/Notice",
        "Something to know here.",
        &[("Tone", &["Notice", "Success", "Warning", "Danger"])],
        |library, pick| {
            let (area, ink) = tint(pick.get("Tone"));
            let glyph = if pick.is("Tone", "Success") {
                "check"
            } else if pick.is("Tone", "Notice") {
                "info"
            } else {
                "alert"
            };
            let notice = row("").wide(358.0).pad(14.0, 16.0).gap(12.0).radius(16.0).fill(area);
            let words = column("Inner").fill_width().gap(2.0);
            let words = words
                .child(text("Title", LABEL_M, "Good to know").fill(ink).fill_width().prop("Title"))
                .child(
                    text("Words", BODY_S, "Free to cancel until two days before.")
                        .fill(INK)
                        .fill_width()
                        .prop("Words")
                        .shown_by("With words"),
                );
            notice.child(icon(library, glyph, 20.0, ink)).child(words)
        },
    );
    library.set(
        "Feedback/Dialog",
        "A question that must be answered.",
        &[("Answers", &["1", "2"])],
        |library, pick| {
            let dialog =
                column("").wide(342.0).pad(24.0, 24.0).gap(12.0).radius(24.0).fill(PAPER).elevation(&high());
            let mut answers = row("Answers").fill_width().gap(12.0).pads([12.0, 0.0, 0.0, 0.0]);
            if pick.is("Answers", "2") {
                let no = library
                    .make("Action/Button")
                    .with("Emphasis", "Outline")
                    .with("Size", "Medium")
                    .text("Words", "Keep it");
                answers = answers.child(no.wide().named("No"));
            }
            answers = answers.child(
                library
                    .make("Action/Button")
                    .with("Size", "Medium")
                    .text("Words", "Cancel booking")
                    .wide()
                    .named("Yes"),
            );
            dialog
                .child(text("Title", TITLE_M, "Cancel this booking?").fill(INK).fill_width().prop("Title"))
                .child(
                    text("Words", BODY_M, "You get back all that you paid.")
                        .fill(SLATE)
                        .fill_width()
                        .prop("Words"),
                )
                .child(answers)
        },
    );
    library.set("Feedback/Sheet", "More, from below.", &[("Title", &["No", "Yes"])], |_, pick| {
        let sheet =
            column("").wide(390.0).pads([10.0, 16.0, 34.0, 16.0]).gap(16.0).align(Place::Min, Place::Center);
        let sheet = sheet.corners([28.0, 28.0, 0.0, 0.0]).fill(PAPER).elevation(&high());
        let sheet = sheet.child(rect("Handle", 40.0, 4.0).radius(2.0).fill(LINE));
        let title = text("Title", TITLE_M, "Guests").fill(INK).fill_width().prop("Title");
        let sheet = if pick.is("Title", "Yes") { sheet.child(title) } else { sheet };
        sheet.child(text("Words", BODY_M, "Who is coming?").fill(SLATE).fill_width().prop("Words"))
    });
    library.set("Feedback/Meter", "How far something is.", &[("Words", &["No", "Yes"])], |_, pick| {
        let rail = frame("Rail", 358.0, 8.0).radius(4.0).fill(MOSS).fill_width();
        let rail = rail.child(
            rect("Amount", 230.0, 8.0)
                .radius(4.0)
                .fill(EVERGREEN)
                .pin(Pin::Scale(0.0, 0.64), Pin::Start(0.0)),
        );
        let meter = column("").wide(358.0).gap(8.0);
        if pick.is("Words", "No") {
            return meter.child(rail);
        }
        let head = row("Head").fill_width().gap(8.0);
        let head = head
            .child(text("Words", BODY_S, "Profile").fill(SLATE).fill_width().prop("Words"))
            .child(text("Value", CAPTION, "64%").fill(INK).text_align("RIGHT").prop("Value"));
        meter.child(head).child(rail)
    });
    library.set("Feedback/Blank", "Nothing here yet.", &[("Action", &["No", "Yes"])], |library, pick| {
        let blank = column("").wide(358.0).pad(40.0, 24.0).gap(10.0).align(Place::Center, Place::Center);
        let disc = centred("Disc", 80.0, 28.0)
            .fill(DEW)
            .child(icon(library, "leaf", 34.0, EVERGREEN).node().swapped_by("Icon"));
        let blank = blank
            .child(disc)
            .child(
                text("Title", TITLE_M, "No trips yet")
                    .fill(INK)
                    .fill_width()
                    .text_align("CENTER")
                    .prop("Title"),
            )
            .child(
                text("Words", BODY_S, "The next one will be here.")
                    .fill(SLATE)
                    .fill_width()
                    .text_align("CENTER")
                    .prop("Words"),
            );
        if pick.is("Action", "No") {
            return blank;
        }
        blank.child(
            library.make("Action/Button").with("Size", "Medium").text("Words", "Explore").named("Action"),
        )
    });
    library.set("Feedback/Hint", "A word over the pointer.", &[("Side", &["Plain"])], |_, _| {
        let hint = row("").pad(8.0, 12.0).radius(10.0).fill(FOREST);
        hint.child(text("Words", CAPTION, "€1,240 on Saturday").fill(PAPER).prop("Words"))
    });
}

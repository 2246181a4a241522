//! What a product says back.

use super::content::shadow;
use super::style::{BLOCK, CAPTION, H2, H3, INK, LABEL, LINE, MUTED, PAPER, SMALL, SURFACE, icon, slot};
use crate::samples::library::Library;
use crate::samples::node::{Pin, Place, column, frame, rect, ring, row, text};

/// Adds feedback.
pub fn add(kit: &mut Library) {
    kit.set(
        "Modal",
        "Asks before going on.",
        &[("Device", &["Phone", "Desktop"]), ("Actions", &["1", "2"])],
        |kit, pick| {
            let desktop = pick.is("Device", "Desktop");
            let modal =
                column("").wide(if desktop { 480.0 } else { 326.0 }).pad(24.0, 24.0).gap(12.0).radius(16.0);
            let modal = modal.fill(PAPER).effect(shadow());
            let head = row("Head").fill_width().gap(12.0).middle();
            let head = head
                .child(text("Title", H3, "Title").fill(INK).fill_width().prop("Title"))
                .child(icon(kit, "close", 24.0, MUTED));
            let body = text("Body", SMALL, "What happens next, and what can't be undone.").fill(MUTED);
            let mut actions = row("Actions").fill_width().gap(12.0).pads([12.0, 0.0, 0.0, 0.0]);
            for action in (1..=pick.number("Actions")).rev() {
                let kind = if action == 1 { "Primary" } else { "Secondary" };
                let button = kit
                    .make("Button")
                    .with("Kind", kind)
                    .text("Label", if action == 1 { "Confirm" } else { "Cancel" });
                actions = actions.child(button.wide().named(&format!("Action {action}")));
            }
            modal.child(head).child(body.fill_width().prop("Body")).child(actions)
        },
    );
    kit.set("Sheet", "Rises from the bottom of a phone.", &[("Kind", &["Plain", "Titled"])], |_, pick| {
        let sheet =
            column("").wide(390.0).pads([8.0, 16.0, 32.0, 16.0]).gap(16.0).align(Place::Min, Place::Center);
        let sheet = sheet.corners([20.0, 20.0, 0.0, 0.0]).fill(PAPER).effect(shadow());
        let sheet = sheet.child(rect("Handle", 40.0, 4.0).radius(2.0).fill(LINE));
        let sheet = if pick.is("Kind", "Titled") {
            sheet.child(text("Title", H3, "Title").fill(INK).fill_width().prop("Title"))
        } else {
            sheet
        };
        sheet.child(text("Body", SMALL, "Content").fill(MUTED).fill_width().prop("Body"))
    });
    kit.set("Toast", "Says that something happened.", &[("Kind", &["Info", "Action"])], |kit, pick| {
        let toast =
            row("").wide(358.0).pad(14.0, 16.0).gap(12.0).middle().radius(10.0).fill(INK).effect(shadow());
        let toast = toast
            .child(icon(kit, "check", 20.0, PAPER))
            .child(text("Text", SMALL, "It is done").fill(PAPER).fill_width().prop("Text"));
        if pick.is("Kind", "Info") {
            return toast;
        }
        toast.child(text("Action", LABEL, "Undo").fill(PAPER).underlined().prop("Action"))
    });
    kit.set(
        "Banner",
        "Says something about the whole page.",
        &[("Kind", &["Info", "Warning"]), ("Action", &["None", "Link"])],
        |kit, pick| {
            let banner =
                row("").wide(358.0).pad(12.0, 16.0).gap(12.0).radius(10.0).fill(SURFACE).stroke(LINE, 1.0);
            let content = column("Content").fill_width().gap(4.0);
            let content = content
                .child(text("Title", LABEL, "Notice").fill(INK).fill_width().prop("Title"))
                .child(text("Body", SMALL, "What there is to know.").fill(MUTED).fill_width().prop("Body"));
            let link = text("Action", LABEL, "More").fill(INK).underlined().prop("Action");
            let content = if pick.is("Action", "Link") { content.child(link) } else { content };
            banner
                .child(icon(kit, if pick.is("Kind", "Info") { "info" } else { "alert" }, 20.0, INK))
                .child(content)
        },
    );
    kit.set("Progress", "How far it is.", &[("Kind", &["Bar", "Ring"])], |_, pick| {
        if pick.is("Kind", "Ring") {
            let label =
                text("Value", LABEL, "60%").fill(INK).prop("Value").pin(Pin::Middle(0.0), Pin::Middle(0.0));
            return frame("", 72.0, 72.0)
                .child(ring("Rail", 72.0, 0.0, 1.0, 0.86).fill(BLOCK).at(0.0, 0.0))
                .child(ring("Amount", 72.0, 0.0, 0.6, 0.86).fill(INK).at(0.0, 0.0))
                .child(label);
        }
        let head = row("Head").fill_width().gap(8.0);
        let head = head
            .child(text("Label", SMALL, "Progress").fill(INK).fill_width().prop("Label"))
            .child(text("Value", CAPTION, "60%").fill(MUTED).text_align("RIGHT").prop("Value"));
        let rail = frame("Rail", 358.0, 8.0).radius(4.0).fill(BLOCK).fill_width();
        let rail = rail.child(
            rect("Amount", 200.0, 8.0).radius(4.0).fill(INK).pin(Pin::Scale(0.0, 0.6), Pin::Start(0.0)),
        );
        column("").wide(358.0).gap(8.0).child(head).child(rail)
    });
    kit.set("Tooltip", "Explains what is under the pointer.", &[("Kind", &["Line", "Block"])], |_, pick| {
        let block = pick.is("Kind", "Block");
        let tip = column("").pad(8.0, 12.0).radius(6.0).fill(INK);
        let words =
            text("Text", CAPTION, if block { "Two lines of help that explain it well" } else { "Help" })
                .fill(PAPER);
        if block {
            tip.wide(180.0).child(words.fill_width().prop("Text"))
        } else {
            tip.child(words.prop("Text"))
        }
    });
    kit.set(
        "Empty state",
        "Nothing here yet, and what to do.",
        &[("Action", &["None", "Button"])],
        |kit, pick| {
            let empty = column("").wide(358.0).pad(32.0, 24.0).gap(12.0).align(Place::Center, Place::Center);
            let mark =
                row("Mark").sized(72.0, 72.0).radius(36.0).fill(SURFACE).align(Place::Center, Place::Center);
            let empty = empty
                .child(mark.child(slot(kit, "Icon", 32.0, MUTED)))
                .child(
                    text("Title", H2, "Nothing yet")
                        .fill(INK)
                        .fill_width()
                        .text_align("CENTER")
                        .prop("Title"),
                )
                .child(
                    text("Body", SMALL, "What will be here, and how to begin.")
                        .fill(MUTED)
                        .fill_width()
                        .text_align("CENTER")
                        .prop("Body"),
                );
            if pick.is("Action", "None") {
                empty
            } else {
                empty.child(kit.make("Button").text("Label", "Begin").named("Action"))
            }
        },
    );
}

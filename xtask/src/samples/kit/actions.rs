//! Buttons and the like.

use super::style::{BLOCK, FAINT, H4, INK, LABEL, LABEL_LARGE, LINE, PAPER, SURFACE, icon, slot};
use crate::samples::library::Library;
use crate::samples::node::{Node, Place, column, row, text};
use crate::samples::paint::{Effect, Tone, Type, rgb};

/// Height, horizontal padding, label and icon size of a control.
fn measures(size: &str) -> (f64, f64, Type, f64) {
    match size {
        "sm" => (32.0, 12.0, LABEL, 16.0),
        "md" => (40.0, 16.0, LABEL, 20.0),
        _ => (48.0, 20.0, LABEL_LARGE, 20.0),
    }
}

/// Fill, stroke and ink of a kind of control.
fn colours(kind: &str, disabled: bool) -> (Option<Tone>, Option<Tone>, Tone) {
    match (kind, disabled) {
        ("Primary" | "Filled", false) => (Some(INK), None, PAPER),
        ("Primary" | "Filled", true) => (Some(BLOCK), None, FAINT),
        ("Secondary" | "Outline", false) => (Some(PAPER), Some(INK), INK),
        ("Secondary" | "Outline", true) => (Some(PAPER), Some(LINE), FAINT),
        (_, disabled) => (None, None, if disabled { FAINT } else { INK }),
    }
}

fn dress(node: Node, fill: Option<Tone>, stroke: Option<Tone>) -> Node {
    let node = if let Some(fill) = fill { node.fill(fill) } else { node };
    if let Some(stroke) = stroke { node.stroke(stroke, 1.0) } else { node }
}

/// Adds the actions.
pub fn add(kit: &mut Library) {
    kit.set(
        "Button",
        "Starts something. Primary once per view.",
        &[
            ("Kind", &["Primary", "Secondary", "Text"]),
            ("Size", &["sm", "md", "lg"]),
            ("State", &["Default", "Disabled"]),
        ],
        |kit, pick| {
            let (height, padding, label, size) = measures(pick.get("Size"));
            let (fill, stroke, ink) = colours(pick.get("Kind"), pick.is("State", "Disabled"));
            let button = row("").tall(height).pad(0.0, padding).gap(8.0).align(Place::Center, Place::Center);
            dress(button.radius(8.0), fill, stroke)
                .child(slot(kit, "Icon", size, ink).hidden().shown_by("Show icon"))
                .child(text("Label", label, "Button").fill(ink).prop("Label"))
        },
    );
    kit.set(
        "Icon button",
        "An action told by an icon alone.",
        &[("Kind", &["Filled", "Outline", "Plain"]), ("Size", &["sm", "md", "lg"])],
        |kit, pick| {
            let (height, _, _, size) = measures(pick.get("Size"));
            let (fill, stroke, ink) = colours(pick.get("Kind"), false);
            let button = row("").sized(height, height).align(Place::Center, Place::Center).radius(8.0);
            dress(button, fill, stroke).child(slot(kit, "Icon", size, ink))
        },
    );
    kit.set(
        "FAB",
        "Floats over a screen with its main action.",
        &[("Kind", &["Icon", "Extended"])],
        |kit, pick| {
            let extended = pick.is("Kind", "Extended");
            let button = row("").tall(56.0).pad(0.0, 16.0).gap(8.0).align(Place::Center, Place::Center);
            let shadow = Effect::Shadow { color: rgb(0).alpha(0.2), y: 4.0, blur: 12.0, spread: 0.0 };
            let button = button.radius(28.0).fill(INK).effect(shadow);
            let button = button.child(icon(kit, "plus", 24.0, PAPER).node().swapped_by("Icon"));
            if extended {
                button.child(text("Label", H4, "Create").fill(PAPER).prop("Label"))
            } else {
                button
            }
        },
    );
    kit.set(
        "Link",
        "Goes somewhere else.",
        &[("Size", &["sm", "md"]), ("Icon", &["None", "Trailing"])],
        |kit, pick| {
            let style = if pick.is("Size", "sm") { LABEL } else { LABEL_LARGE };
            let link = row("")
                .gap(4.0)
                .middle()
                .child(text("Label", style, "Link").fill(INK).underlined().prop("Label"));
            if pick.is("Icon", "None") { link } else { link.child(icon(kit, "chevron-right", 16.0, INK)) }
        },
    );
    kit.set(
        "Button group",
        "Two or three actions of one decision.",
        &[("Items", &["2", "3"])],
        |kit, pick| {
            let mut group = row("").wide(358.0).gap(12.0);
            for item in 1..=pick.number("Items") {
                let kind = if item == 1 { "Primary" } else { "Secondary" };
                let button =
                    kit.make("Button").with("Kind", kind).with("Size", "lg").text("Label", "Button").wide();
                group = group.child(button.named(&format!("Button {item}")));
            }
            group
        },
    );
    kit.set(
        "Menu",
        "A short list of choices that opens from a control.",
        &[("Items", &["3", "4", "5"])],
        |kit, pick| {
            let mut menu = column("").wide(220.0).pad(8.0, 0.0).fill(PAPER).stroke(LINE, 1.0).radius(8.0);
            menu = menu.effect(Effect::Shadow { color: rgb(0).alpha(0.12), y: 4.0, blur: 16.0, spread: 0.0 });
            for item in 1..=pick.number("Items") {
                let line = row(&format!("Item {item}")).fill_width().pad(10.0, 16.0).gap(12.0).middle();
                let line = if item == 1 { line.fill(SURFACE) } else { line };
                let label = text("Label", LABEL, &format!("Item {item}")).fill(INK).fill_width();
                menu = menu.child(
                    line.child(icon(kit, "placeholder", 16.0, INK))
                        .child(label.prop(&format!("Item {item}"))),
                );
            }
            menu
        },
    );
}

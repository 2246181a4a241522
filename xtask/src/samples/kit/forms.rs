//! Fields and controls.

use super::style::{BLOCK, BODY, CAPTION, FAINT, INK, LABEL, LINE, MUTED, PAPER, SMALL, SURFACE, icon, slot};
use crate::samples::library::{Library, Pick};
use crate::samples::node::{Node, Pin, Place, column, ellipse, frame, rect, row, text};
use crate::samples::paint::Tone;

/// Adds the forms.
pub fn add(kit: &mut Library) {
    let states: &[&str] = &["Empty", "Filled", "Error", "Disabled"];
    let labels: &[&str] = &["Above", "Inside", "None"];
    let axes: &[(&str, &[&str])] = &[("Label", labels), ("Size", &["md", "lg"]), ("State", states)];
    kit.set("Input", "A line of text.", axes, |kit, pick| {
        let trail = if pick.is("State", "Error") { Some(icon(kit, "alert", 20.0, INK).node()) } else { None };
        let lead = Some(slot(kit, "Icon", 20.0, MUTED).hidden().shown_by("Show icon"));
        let tall = if pick.is("Size", "md") { 40.0 } else { 48.0 };
        match pick.get("Label") {
            "Inside" => {
                let label = text("Label", CAPTION, "Label").fill(MUTED).fill_width().lines(1).prop("Label");
                let words =
                    column("Words").fill_width().child(label).child(value(pick, "Placeholder").lines(1));
                control("", pick, lead, words, trail, tall + 16.0).wide(358.0)
            }
            "None" => control("", pick, lead, value(pick, "Placeholder").lines(1), trail, tall).wide(358.0),
            _ => field(pick, "Placeholder", lead, trail, tall),
        }
    });
    kit.set("Select", "One of a list.", &[("Size", &["md", "lg"]), ("State", states)], |kit, pick| {
        let chevron = icon(kit, "chevron-down", 20.0, MUTED).node();
        field(pick, "Choose one", None, Some(chevron), if pick.is("Size", "md") { 40.0 } else { 48.0 })
    });
    kit.set("Date field", "A day.", &[("State", &["Empty", "Filled"])], |kit, pick| {
        field(pick, "Choose a day", None, Some(icon(kit, "calendar", 20.0, MUTED).node()), 48.0)
    });
    kit.set("Text area", "Several lines of text.", &[("State", &["Empty", "Filled", "Error"])], |_, pick| {
        let mut area = field(pick, "Placeholder", None, None, 112.0);
        if let Some(control) = area.children.iter_mut().find(|child| child.name == "Control") {
            *control = control.clone().pad(12.0, 12.0).align(Place::Min, Place::Min);
        }
        area
    });
    kit.set(
        "Search",
        "Finds things.",
        &[("Size", &["md", "lg"]), ("State", &["Empty", "Filled"])],
        |kit, pick| {
            let filled = pick.is("State", "Filled");
            let tall = if pick.is("Size", "md") { 40.0 } else { 48.0 };
            let search =
                row("").sized(358.0, tall).pad(0.0, 12.0).gap(8.0).middle().radius(tall / 2.0).fill(SURFACE);
            let words = text("Value", BODY, if filled { "Query" } else { "Search" }).fill(if filled {
                INK
            } else {
                MUTED
            });
            let search = search
                .child(icon(kit, "search", 20.0, MUTED))
                .child(words.fill_width().lines(1).prop("Value"));
            if filled { search.child(icon(kit, "close", 20.0, MUTED)) } else { search }
        },
    );
    kit.set(
        "Checkbox",
        "Yes or no, or some.",
        &[("State", &["Off", "On", "Mixed", "Disabled"])],
        |kit, pick| {
            let (ink, paper) = if pick.is("State", "Disabled") { (LINE, FAINT) } else { (INK, INK) };
            let mut mark = row("Mark").sized(20.0, 20.0).radius(4.0).align(Place::Center, Place::Center);
            mark = match pick.get("State") {
                "On" => mark.fill(INK).child(icon(kit, "check", 16.0, PAPER)),
                "Mixed" => mark.fill(INK).child(icon(kit, "minus", 16.0, PAPER)),
                _ => mark.fill(PAPER).stroke(ink, 1.5),
            };
            option(mark, paper)
        },
    );
    kit.set("Radio", "One of a few.", &[("State", &["Off", "On", "Disabled"])], |_, pick| {
        let (ink, paper) = if pick.is("State", "Disabled") { (LINE, FAINT) } else { (INK, INK) };
        let mark = frame("Mark", 20.0, 20.0).radius(10.0).fill(PAPER).stroke(ink, 1.5);
        let dot = ellipse("Dot", 10.0, 10.0).fill(INK).pin(Pin::Middle(0.0), Pin::Middle(0.0));
        option(if pick.is("State", "On") { mark.child(dot) } else { mark }, paper)
    });
    kit.set(
        "Switch",
        "On or off, at once.",
        &[("State", &["Off", "On"]), ("Label", &["None", "Leading"])],
        |_, pick| {
            let on = pick.is("State", "On");
            let knob = ellipse("Knob", 18.0, 18.0).fill(PAPER);
            let track = frame("Track", 40.0, 24.0).radius(12.0).fill(if on { INK } else { FAINT });
            let track =
                track.child(knob.pin(if on { Pin::End(3.0) } else { Pin::Start(3.0) }, Pin::Middle(0.0)));
            if pick.is("Label", "None") {
                return row("").child(track);
            }
            let label = text("Label", BODY, "Setting").fill(INK).fill_width().prop("Label");
            row("").wide(358.0).gap(12.0).middle().child(label).child(track)
        },
    );
    kit.set("Slider", "An amount, by hand.", &[("Kind", &["Single", "Range"])], |_, pick| {
        let range = pick.is("Kind", "Range");
        let track = frame("Track", 358.0, 20.0).fill_width();
        let bar = |name: &str, tone: Tone| rect(name, 358.0, 4.0).radius(2.0).fill(tone);
        let mut track = Node { clips: false, ..track };
        let start = if range { 0.25 } else { 0.0 };
        track = track
            .child(bar("Rail", LINE).pin(Pin::Both(0.0, 0.0), Pin::Middle(0.0)))
            .child(bar("Amount", INK).pin(Pin::Scale(start, 0.65 - start), Pin::Middle(0.0)));
        for at in if range { vec![0.22, 0.62] } else { vec![0.62] } {
            let knob = ellipse("Knob", 20.0, 20.0).fill(PAPER).stroke(INK, 1.5);
            track = track.child(knob.pin(Pin::Scale(at, 20.0 / 358.0), Pin::Middle(0.0)));
        }
        let head = row("Head").fill_width().gap(8.0);
        let head = head
            .child(text("Label", LABEL, "Amount").fill(INK).fill_width().prop("Label"))
            .child(text("Value", LABEL, "65").fill(MUTED).text_align("RIGHT").prop("Value"));
        column("").wide(358.0).gap(8.0).child(head).child(track)
    });
    kit.set("Quantity", "A small number, step by step.", &[("Size", &["sm", "md"])], |kit, pick| {
        let side = if pick.is("Size", "sm") { 28.0 } else { 40.0 };
        let step = |glyph: &str| {
            let button = row(glyph).sized(side, side).align(Place::Center, Place::Center).radius(side / 2.0);
            button.stroke(LINE, 1.0).child(icon(kit, glyph, 16.0, INK))
        };
        let value = text("Value", LABEL, "1").fill(INK).wide(20.0).text_align("CENTER").prop("Value");
        row("").gap(8.0).middle().child(step("minus")).child(value).child(step("plus"))
    });
    kit.set("Upload", "Takes a file.", &[("State", &["Empty", "Filled"])], |kit, pick| {
        let filled = pick.is("State", "Filled");
        let area =
            column("").wide(358.0).pad(24.0, 24.0).gap(8.0).align(Place::Center, Place::Center).radius(12.0);
        let area =
            if filled { area.fill(BLOCK) } else { area.fill(SURFACE).stroke(FAINT, 1.0).dashes(&[6.0, 4.0]) };
        area.child(icon(kit, if filled { "check" } else { "image" }, 24.0, INK))
            .child(
                text("Label", LABEL, if filled { "File name" } else { "Choose a file" })
                    .fill(INK)
                    .prop("Label"),
            )
            .child(text("Hint", CAPTION, "PNG or PDF, 5 MB at most").fill(MUTED).prop("Hint"))
    });
}

/// Label, control and hint.
/// What a field says: what was entered, or what might be.
fn value(pick: &Pick, placeholder: &str) -> Node {
    let (words, ink) = match pick.get("State") {
        "Filled" | "Error" => ("Value", INK),
        "Disabled" => ("Value", FAINT),
        _ => (placeholder, FAINT),
    };
    text("Value", BODY, words).fill(ink).fill_width().prop("Value")
}

/// The box of a field.
fn control(name: &str, pick: &Pick, lead: Option<Node>, words: Node, trail: Option<Node>, tall: f64) -> Node {
    let control = row(name).tall(tall).pad(0.0, 12.0).gap(8.0).middle().radius(8.0);
    let control = match pick.get("State") {
        "Error" => control.fill(PAPER).stroke(INK, 2.0),
        "Disabled" => control.fill(SURFACE).stroke(LINE, 1.0),
        _ => control.fill(PAPER).stroke(FAINT, 1.0),
    };
    control.children(lead).child(words).children(trail)
}

/// A box with a label above it and a hint below.
fn field(pick: &Pick, placeholder: &str, lead: Option<Node>, trail: Option<Node>, tall: f64) -> Node {
    let state = pick.get("State");
    let words = value(pick, placeholder);
    let words = if tall > 60.0 { words } else { words.lines(1) };
    let control = control("Control", pick, lead, words, trail, tall).fill_width();
    let hint = text("Hint", CAPTION, if state == "Error" { "What is wrong" } else { "A hint" });
    let hint =
        hint.fill(if state == "Error" { INK } else { MUTED }).fill_width().prop("Hint").shown_by("Show hint");
    column("")
        .wide(358.0)
        .gap(6.0)
        .child(text("Label", LABEL, "Label").fill(INK).fill_width().prop("Label").shown_by("Show label"))
        .child(control)
        .child(hint)
}

/// A mark and its label.
fn option(mark: Node, ink: Tone) -> Node {
    row("").gap(10.0).middle().child(mark).child(text("Label", SMALL, "Option").fill(ink).prop("Label"))
}

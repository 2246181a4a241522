//! Small data: people, tags, counts, ratings, chips, pictures.

use super::style::{
    BODY_S, CAPTION, DANGER, DEW, EVERGREEN, INK, LABEL_M, LABEL_S, LINE, MICRO, MOSS, NOTICE, PAPER, PEACH,
    PERSIMMON, SAND, SLATE, SUCCESS, SUN, TITLE_M, WARNING, centred, icon, picture,
};
use crate::samples::library::Library;
use crate::samples::node::{Place, frame, rect, row, text};
use crate::samples::paint::{Fill, Tone, rgb};

/// Area and ink of a tone.
pub fn tint(name: &str) -> (Fill, Tone) {
    match name {
        "Brand" => (MOSS.into(), EVERGREEN),
        "Accent" => (PEACH.into(), PERSIMMON),
        "Success" => (rgb(0xdf_f1_e7).into(), SUCCESS),
        "Warning" => (rgb(0xfb_ef_d5).into(), WARNING),
        "Danger" => (rgb(0xfa_e3_df).into(), DANGER),
        "Notice" => (rgb(0xe1_ed_f6).into(), NOTICE),
        _ => (SAND.into(), SLATE),
    }
}

/// Adds the small data.
pub fn add(library: &mut Library) {
    library.set(
        "Data/Portrait",
        "A person: a photo, or two letters.",
        &[("Face", &["Photo", "Letters"]), ("Size", &["S", "M", "L"])],
        |_, pick| {
            let (side, style) = match pick.get("Size") {
                "S" => (32.0, LABEL_S),
                "M" => (44.0, LABEL_M),
                _ => (72.0, TITLE_M),
            };
            let portrait = centred("", side, side / 2.0).clip();
            if pick.is("Face", "Photo") {
                let photo =
                    rect("Photo", side, side).fill(picture("portrait-mika")).fill_width().fill_height();
                return portrait.child(photo);
            }
            portrait.fill(MOSS).child(text("Letters", style, "MH").fill(EVERGREEN).prop("Letters"))
        },
    );
    let tones: &[&str] = &["Neutral", "Brand", "Accent", "Success", "Warning", "Danger"];
    library.set("Data/Tag", "A word about a thing's state.", &[("Tone", tones)], |_, pick| {
        let (area, ink) = tint(pick.get("Tone"));
        let tag = row("").pad(4.0, 10.0).radius(12.0).fill(area).align(Place::Center, Place::Center);
        tag.child(text("Label", LABEL_S, pick.get("Tone")).fill(ink).prop("Label"))
    });
    library.set(
        "Data/Count",
        "How many are new.",
        &[("Tone", &["Accent", "Brand"]), ("Form", &["Number", "Dot"])],
        |_, pick| {
            let tone = if pick.is("Tone", "Accent") { PERSIMMON } else { EVERGREEN };
            if pick.is("Form", "Dot") {
                return frame("", 10.0, 10.0).radius(5.0).fill(tone).stroke(PAPER, 1.5);
            }
            let count =
                row("").tall(18.0).pad(0.0, 6.0).radius(9.0).fill(tone).align(Place::Center, Place::Center);
            count.child(text("Number", MICRO, "2").fill(PAPER).prop("Number"))
        },
    );
    library.set(
        "Data/Rating",
        "What guests thought.",
        &[("Form", &["Short", "With count", "Stars"])],
        |library, pick| {
            let score = text("Score", LABEL_M, "4.9").fill(INK).prop("Score");
            let rating = row("").gap(4.0).middle();
            if pick.is("Form", "Stars") {
                return rating.children((0..5).map(|_| icon(library, "star", 16.0, SUN))).child(score);
            }
            let rating = rating.child(icon(library, "star", 16.0, SUN)).child(score);
            if pick.is("Form", "Short") {
                return rating;
            }
            rating.child(text("Count", BODY_S, "(212)").fill(SLATE).prop("Count"))
        },
    );
    library.set(
        "Data/Filter",
        "A condition that can be put on a search.",
        &[("Chosen", &["No", "Yes"]), ("Icon", &["None", "Leading", "Menu"])],
        |library, pick| {
            let chosen = pick.is("Chosen", "Yes");
            let ink = if chosen { PAPER } else { INK };
            let chip = row("").tall(36.0).pad(0.0, 14.0).gap(6.0).middle().radius(18.0);
            let mut chip = if chosen { chip.fill(EVERGREEN) } else { chip.fill(PAPER).stroke(LINE, 1.0) };
            if pick.is("Icon", "Leading") {
                chip = chip.child(icon(library, "leaf", 16.0, ink).node().swapped_by("Icon"));
            }
            chip = chip.child(text("Label", LABEL_M, "Filter").fill(ink).prop("Label"));
            if pick.is("Icon", "Menu") { chip.child(icon(library, "chevron-down", 16.0, ink)) } else { chip }
        },
    );
    library.set(
        "Data/Amenity",
        "Something a house offers.",
        &[("Form", &["Line", "Tile"])],
        |library, pick| {
            let mark = icon(library, "bath", 20.0, EVERGREEN).node().swapped_by("Icon");
            if pick.is("Form", "Line") {
                return row("")
                    .gap(8.0)
                    .middle()
                    .child(mark)
                    .child(text("Label", BODY_S, "Cedar bath").fill(SLATE).prop("Label"));
            }
            let tile = row("").pad(8.0, 12.0).gap(8.0).middle().radius(12.0).fill(DEW);
            tile.child(mark).child(text("Label", CAPTION, "Cedar bath").fill(EVERGREEN).prop("Label"))
        },
    );
    library.set(
        "Media/Photo",
        "A picture.",
        &[("Shape", &["Landscape", "Square", "Portrait"])],
        |_, pick| {
            let (width, height, subject) = match pick.get("Shape") {
                "Landscape" => (280.0, 186.0, "river-inn"),
                "Square" => (96.0, 96.0, "cedar-bath"),
                _ => (156.0, 208.0, "snow-cabin"),
            };
            frame("", width, height).radius(16.0).fill(picture(subject))
        },
    );
}

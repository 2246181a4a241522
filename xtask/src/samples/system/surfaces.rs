//! Cards.

use super::data::tint;
use super::style::{
    BODY_S, CAPTION, EVERGREEN, FOREST, INK, LABEL_M, LABEL_S, LINE, MOSS, NUMERAL, PAPER, SLATE, TITLE_M,
    TITLE_S, centred, corner, icon, low, picture,
};
use crate::samples::library::{Library, Pick};
use crate::samples::node::{Node, Pin, Place, column, frame, rect, row, text, vector};
use crate::samples::paint::{Paint, rgb, vertical};

/// Adds the cards.
pub fn add(library: &mut Library) {
    library.set(
        "Surface/Stay card",
        "A house one could stay at.",
        &[("Form", &["Tall", "Wide", "Poster"]), ("Saved", &["No", "Yes"])],
        stay,
    );
    library.set("Surface/Category", "A kind of stay.", &[("Chosen", &["No", "Yes"])], |library, pick| {
        let chosen = pick.is("Chosen", "Yes");
        let disc = centred("Disc", 60.0, 20.0).fill(if chosen { EVERGREEN } else { PAPER });
        let disc = if chosen { disc } else { disc.stroke(LINE, 1.0) };
        let disc = disc.child(
            icon(library, "bath", 26.0, if chosen { PAPER } else { EVERGREEN }).node().swapped_by("Icon"),
        );
        let words = text("Words", CAPTION, "Onsen").fill(if chosen { INK } else { SLATE }).prop("Words");
        column("").wide(68.0).gap(8.0).align(Place::Min, Place::Center).child(disc).child(words)
    });
    library.set(
        "Surface/Figure",
        "A number of the house, and its drift.",
        &[("Drift", &["Up", "Down", "None"])],
        |library, pick| {
            let card =
                column("").wide(264.0).pad(20.0, 20.0).gap(12.0).radius(20.0).fill(PAPER).elevation(&low());
            let head = row("Head").fill_width().gap(8.0).middle();
            let head =
                head.child(text("Words", BODY_S, "Occupancy").fill(SLATE).fill_width().prop("Words")).child(
                    centred("Disc", 32.0, 10.0)
                        .fill(MOSS)
                        .child(icon(library, "bed", 18.0, EVERGREEN).node().swapped_by("Icon")),
                );
            let number = text("Number", NUMERAL, "86%").fill(INK).prop("Number");
            let card = card.child(head).child(number);
            if pick.is("Drift", "None") {
                return card.child(text("Note", BODY_S, "this week").fill(SLATE).fill_width().prop("Note"));
            }
            let up = pick.is("Drift", "Up");
            let (area, ink) = tint(if up { "Success" } else { "Danger" });
            let chip = row("Change").pads([2.0, 8.0, 2.0, 6.0]).gap(2.0).middle().radius(10.0).fill(area);
            let chip = chip
                .child(icon(library, if up { "arrow-up-right" } else { "arrow-down-right" }, 14.0, ink))
                .child(text("Change", LABEL_S, "4.2%").fill(ink).prop("Change"));
            let note = text("Note", BODY_S, "on last week").fill(SLATE).fill_width().prop("Note");
            card.child(row("Drift").fill_width().gap(8.0).middle().child(chip).child(note))
        },
    );
    library.set("Surface/Promo", "An offer with a drawing.", &[("Ground", &["Forest", "Peach"])], promo);
    library.set("Surface/Review", "What a guest wrote.", &[("Form", &["Card"])], |library, _| {
        let card =
            column("").wide(280.0).pad(20.0, 20.0).gap(14.0).radius(20.0).fill(PAPER).elevation(&low());
        let who = column("Words").fill_width().gap(1.0);
        let who = who
            .child(text("Name", LABEL_M, "Guest").fill(INK).fill_width().lines(1).prop("Name"))
            .child(text("When", CAPTION, "March").fill(SLATE).fill_width().lines(1).prop("When"));
        let head = row("Head").fill_width().gap(12.0).middle();
        let head = head
            .child(library.make("Data/Portrait").with("Face", "Letters").with("Size", "S"))
            .child(who)
            .child(library.make("Data/Rating"));
        let words = "We slept with the river in the window.";
        card.child(head).child(text("Words", BODY_S, words).fill(SLATE).fill_width().prop("Words"))
    });
    library.set(
        "Surface/Card",
        "Whatever has a title and a few words.",
        &[("Picture", &["No", "Yes"]), ("Action", &["No", "Yes"])],
        |library, pick| {
            let mut card = column("").wide(326.0).radius(20.0).fill(PAPER).elevation(&low());
            if pick.is("Picture", "Yes") {
                let photo = frame("Photo", 326.0, 160.0)
                    .fill_width()
                    .corners([20.0, 20.0, 0.0, 0.0])
                    .fill(picture("tea-terrace"));
                card = card.child(photo);
            }
            let inner = column("Inner").fill_width().pad(20.0, 20.0).gap(6.0);
            let inner = inner
                .child(text("Title", TITLE_S, "Title").fill(INK).fill_width().prop("Title"))
                .child(text("Words", BODY_S, "A few words about it.").fill(SLATE).fill_width().prop("Words"));
            let way = column("Way")
                .pads([8.0, 0.0, 0.0, 0.0])
                .child(library.make("Action/Way").with("Arrow", "Yes").named("Action"));
            card.child(if pick.is("Action", "Yes") { inner.child(way) } else { inner })
        },
    );
}

/// What is known of a house. `end` goes beside its name.
fn facts(library: &Library, dark: bool, end: Option<Node>) -> Node {
    let (ink, quiet) = if dark { (PAPER, PAPER) } else { (INK, SLATE) };
    let name = text("Name", TITLE_S, "Kawabe House").fill(ink).fill_width().lines(1).prop("Name");
    let rating = library.make("Data/Rating").tweak("Score", "fills", |node| node.fill = ink.into()).node();
    let wide = end.is_some();
    let head = row("Head").fill_width().gap(8.0).middle().child(name);
    let place = text("Place", BODY_S, "Kinosaki, Hyogo").fill(quiet).fill_width().lines(1).prop("Place");
    let price = row("Cost").fill_width().gap(4.0).align(Place::Min, Place::Max);
    let price = price
        .child(text("Price", LABEL_M, "€148").fill(ink).prop("Price"))
        .child(text("Unit", BODY_S, "a night").fill(quiet).prop("Unit"));
    let facts = column("Facts").fill_width().gap(if wide { 6.0 } else { 2.0 });
    if let Some(end) = end {
        let foot = row("Foot").fill_width().gap(8.0).middle().child(price).child(rating);
        return facts.child(head.child(end)).child(place).child(foot);
    }
    facts.child(head.child(rating)).child(place).child(price)
}

/// A drawing in the middle of a photo's frame, cropped by it.
fn scene(library: &Library, width: f64, height: f64) -> Node {
    library.make("Media/Scene").sized(width, height).node().pin(Pin::Middle(0.0), Pin::Middle(0.0))
}

fn stay(library: &Library, pick: &Pick) -> Node {
    let saved = pick.is("Saved", "Yes");
    let tone = if saved { super::style::PERSIMMON } else { INK };
    let heart = icon(library, if saved { "heart-filled" } else { "heart" }, 20.0, tone).node();
    let (right, top) = corner(12.0, 12.0);
    let save =
        |heart: Node| centred("Save", 36.0, 18.0).fill(PAPER).elevation(&low()).child(heart).pin(right, top);
    let tag = library.make("Data/Tag").with("Tone", "Accent").text("Label", "New").node();
    let tag = tag.hidden().shown_by("With tag").pin(Pin::Start(12.0), Pin::Start(14.0));
    match pick.get("Form") {
        "Tall" => {
            let photo =
                frame("Photo", 260.0, 188.0).fill_width().radius(20.0).child(scene(library, 360.0, 200.0));
            column("")
                .wide(260.0)
                .gap(12.0)
                .child(photo.child(save(heart)).child(tag))
                .child(facts(library, false, None))
        }
        "Wide" => {
            let photo = frame("Photo", 96.0, 96.0).radius(14.0).child(scene(library, 180.0, 100.0));
            let card = row("").wide(358.0).pads([12.0, 16.0, 12.0, 12.0]).gap(14.0).middle().radius(20.0);
            card.fill(PAPER).elevation(&low()).child(photo.child(tag)).child(facts(
                library,
                false,
                Some(heart),
            ))
        }
        _ => {
            let shade = |alpha: f64| rgb(0x0d_2b_23).alpha(alpha);
            let shade = vertical(&[(0.0, shade(0.0)), (0.45, shade(0.1)), (1.0, shade(0.82))]);
            let words = column("Words").fill_width().pad(16.0, 16.0).child(facts(library, true, None));
            frame("", 220.0, 280.0)
                .radius(22.0)
                .child(scene(library, 504.0, 280.0))
                .child(rect("Shade", 220.0, 280.0).fill(shade).pin(Pin::Both(0.0, 0.0), Pin::Both(0.0, 0.0)))
                .child(words.pin(Pin::Both(0.0, 0.0), Pin::End(0.0)))
                .child(save(heart))
                .child(tag)
        }
    }
}

fn promo(library: &Library, pick: &Pick) -> Node {
    let forest = pick.is("Ground", "Forest");
    let (ink, quiet) = if forest { (PAPER, MOSS) } else { (INK, SLATE) };
    let ground: Paint = if forest {
        Paint::Linear {
            from: (0.0, 0.0),
            to: (1.0, 1.0),
            stops: vec![(0.0, FOREST.color), (1.0, rgb(0x23_64_51))],
        }
    } else {
        Paint::Linear {
            from: (0.0, 0.0),
            to: (1.0, 1.0),
            stops: vec![(0.0, rgb(0xfd_ee_e5)), (1.0, rgb(0xf8_d2_bf))],
        }
    };
    let words = column("Words").wide(200.0).gap(6.0);
    let words = words
        .child(text("Title", TITLE_M, "Stay three, pay two").fill(ink).fill_width().prop("Title"))
        .child(text("Words", BODY_S, "Midweek in April").fill(quiet).fill_width().prop("Words"));
    let button = library
        .make("Action/Button")
        .with("Emphasis", if forest { "Soft" } else { "Strong" })
        .with("Size", "Small");
    let words = words.child(
        column("Way").pads([8.0, 0.0, 0.0, 0.0]).child(button.text("Words", "Find dates").named("Action")),
    );
    let size = (140.0, 160.0);
    let hill = |tone: u32| rgb(tone);
    let drawing = frame("Drawing", 140.0, 160.0)
        .child(vector("Moon", "M96 26a20 20 0 1 0 0 40a20 20 0 1 0 0-40z", size).fill(if forest {
            rgb(0xf3_d9_a4)
        } else {
            rgb(0xee_7d_4f)
        }))
        .child(
            vector("Far hill", "M0 160C18 124 48 84 82 100C104 112 122 98 140 82V160Z", size)
                .fill(hill(if forest { 0x2f_7a_63 } else { 0xf0_a9_84 })),
        )
        .child(
            vector("Near hill", "M8 160C36 132 64 124 90 134C110 142 126 138 140 126V160Z", size)
                .fill(hill(if forest { 0x3f_93_78 } else { 0xe2_8a_60 })),
        )
        .child(vector("Roof", "M52 128L70 112L88 128V146H52Z", size).fill(if forest {
            FOREST.color
        } else {
            rgb(0x8f_3f_22)
        }))
        .child(vector("Door", "M66 146V134h8v12z", size).fill(rgb(0xf7_d9_8b)))
        .child(
            vector("Smoke", "M82 110c-4-6 4-8 0-14s4-8 1-13", size)
                .line(if forest { MOSS.color } else { PAPER.color }, 2.0),
        );
    let card = frame("", 358.0, 176.0).radius(24.0).fill(ground);
    card.child(drawing.pin(Pin::End(0.0), Pin::End(0.0))).child(words.pin(Pin::Start(20.0), Pin::Middle(0.0)))
}

//! Bars, rails, tabs, trails.

use super::style::{
    BODY_M, BODY_S, CAPTION, DEW, EVERGREEN, FOREST, INK, LABEL_M, LABEL_S, LINE, MICRO, MIST, MOSS, PAPER,
    SLATE, TITLE_L, TITLE_S, centred, icon,
};
use crate::samples::library::{Library, Pick};
use crate::samples::node::{Node, Place, column, rect, row, rule, text, vector};
use crate::samples::paint::{Tone, inter, rgb};

/// Adds navigation.
pub fn add(library: &mut Library) {
    library.set("Device/Status bar", "The phone's own line.", &[("Ink", &["Dark", "Light"])], |_, pick| {
        status(if pick.is("Ink", "Dark") { INK } else { PAPER })
    });
    library.set("Device/Home bar", "The phone's own handle.", &[("Ink", &["Dark", "Light"])], |_, pick| {
        let ink = if pick.is("Ink", "Dark") { INK } else { PAPER };
        row("")
            .sized(390.0, 34.0)
            .pads([0.0, 0.0, 8.0, 0.0])
            .align(Place::Center, Place::Max)
            .child(rect("Handle", 134.0, 5.0).radius(2.5).fill(ink))
    });
    library.set(
        "Navigation/Top bar",
        "The head of a phone screen.",
        &[("Kind", &["Title", "Back", "Greeting"])],
        top_bar,
    );
    library.set(
        "Navigation/Tab",
        "One place of the bottom bar.",
        &[("Here", &["No", "Yes"])],
        |library, pick| {
            let tone = if pick.is("Here", "Yes") { EVERGREEN } else { MIST };
            let tab = column("").wide(72.0).pad(4.0, 0.0).gap(4.0).align(Place::Min, Place::Center);
            tab.child(icon(library, "home", 24.0, tone).node().swapped_by("Icon"))
                .child(text("Words", MICRO, "Home").fill(tone).prop("Words"))
        },
    );
    library.set(
        "Navigation/Bottom bar",
        "The places of the app.",
        &[("Tabs", &["3", "4", "5"])],
        |library, pick| {
            let places = [
                ("Explore", "search"),
                ("Saved", "heart"),
                ("Trips", "ticket"),
                ("Inbox", "chat"),
                ("Profile", "user"),
            ];
            let mut tabs = row("Tabs").fill_width().pad(8.0, 12.0);
            for (at, (words, glyph)) in places.iter().take(pick.number("Tabs")).enumerate() {
                let tab = library.make("Navigation/Tab").with("Here", if at == 0 { "Yes" } else { "No" });
                let tab = tab.text("Words", words).swap("Icon", &format!("Icon/{glyph}")).wide();
                tabs = tabs.child(tab.named(&format!("Tab {}", at + 1)));
            }
            let bar = column("").wide(390.0).fill(PAPER).stroke(LINE, 1.0).sides([1.0, 0.0, 0.0, 0.0]);
            bar.child(tabs).child(library.make("Device/Home bar").wide().tall(26.0))
        },
    );
    rail(library);
    library.set("Navigation/View", "One view of a strip.", &[("Here", &["No", "Yes"])], |_, pick| {
        let here = pick.is("Here", "Yes");
        let view = row("").tall(44.0).pad(0.0, 4.0).align(Place::Center, Place::Center);
        let view = if here { view.stroke(EVERGREEN, 2.0).sides([0.0, 0.0, 2.0, 0.0]) } else { view };
        view.child(text("Words", LABEL_M, "View").fill(if here { EVERGREEN } else { SLATE }).prop("Words"))
    });
    library.set(
        "Navigation/Strip",
        "Views of one thing.",
        &[("Views", &["2", "3", "4"])],
        |library, pick| {
            let mut strip = row("").wide(358.0).gap(24.0).stroke(LINE, 1.0).sides([0.0, 0.0, 1.0, 0.0]);
            for at in 1..=pick.number("Views") {
                let view = library.make("Navigation/View").with("Here", if at == 1 { "Yes" } else { "No" });
                strip = strip.child(view.text("Words", &format!("View {at}")).named(&format!("View {at}")));
            }
            strip
        },
    );
    library.set(
        "Navigation/Trail",
        "Where one is in the house.",
        &[("Depth", &["2", "3"])],
        |library, pick| {
            let depth = pick.number("Depth");
            let mut trail = row("").gap(6.0).middle();
            for at in 1..=depth {
                let tone = if at == depth { INK } else { SLATE };
                trail = trail.child(
                    text(&format!("Step {at}"), BODY_S, &format!("Step {at}"))
                        .fill(tone)
                        .prop(&format!("Step {at}")),
                );
                if at < depth {
                    trail = trail.child(icon(library, "chevron-right", 14.0, MIST));
                }
            }
            trail
        },
    );
    library.set("Navigation/Pager", "On to the next page.", &[("Form", &["Numbers", "Dots"])], pager);
    library.set(
        "Navigation/Journey",
        "How far one has come.",
        &[("Steps", &["3", "4"]), ("At", &["1", "2", "3"])],
        |library, pick| {
            let (steps, at) = (pick.number("Steps"), pick.number("At"));
            let mut journey = row("").wide(358.0).gap(6.0);
            for step in 1..=steps {
                let bar = rect("Bar", 80.0, 4.0)
                    .radius(2.0)
                    .fill(if step <= at { EVERGREEN } else { LINE })
                    .fill_width();
                let words = text("Words", CAPTION, &format!("Step {step}")).fill(if step == at {
                    INK
                } else {
                    SLATE
                });
                let label = row("Label").gap(4.0).middle();
                let label =
                    if step < at { label.child(icon(library, "check", 14.0, EVERGREEN)) } else { label };
                let item = column(&format!("Step {step}")).fill_width().gap(8.0).child(bar);
                journey = journey.child(item.child(label.child(words.prop(&format!("Step {step}")))));
            }
            journey
        },
    );
    site(library);
}

fn status(ink: Tone) -> Node {
    let bar = |x: f64, tall: f64| format!("M{x} {}h3v{tall}h-3z", 12.0 - tall);
    let signal = [bar(0.0, 4.0), bar(4.7, 6.0), bar(9.4, 8.5), bar(14.1, 11.0)].concat();
    let level = crate::samples::node::frame("Levels", 70.0, 13.0)
        .child(vector("Signal", &signal, (70.0, 13.0)).fill(ink))
        .child(vector("Wifi", "M24 4.500a11 11 0 0 1 15 0l-1.500 1.600a9 9 0 0 0-12 0zM26.700 7.400a7 7 0 0 1 9.600 0l-4.800 5z", (70.0, 13.0)).fill(ink))
        .child(vector("Battery", "M46.500 1.500h18a2 2 0 0 1 2 2v6a2 2 0 0 1-2 2h-18a2 2 0 0 1-2-2v-6a2 2 0 0 1 2-2z", (70.0, 13.0)).line(ink, 1.0))
        .child(vector("Charge", "M46.500 3.500h14v6h-14z", (70.0, 13.0)).fill(ink));
    let bar = row("").sized(390.0, 47.0).pads([6.0, 24.0, 0.0, 32.0]).align(Place::Between, Place::Center);
    bar.child(text("Time", inter("", 600, 16.0, 20.0), "9:41").fill(ink).prop("Time")).child(level)
}

fn top_bar(library: &Library, pick: &Pick) -> Node {
    let bar = row("").wide(390.0).pad(8.0, 16.0).gap(12.0).middle();
    match pick.get("Kind") {
        "Back" => bar
            .tall(56.0)
            .child(icon(library, "arrow-left", 24.0, INK))
            .child(
                text("Title", TITLE_S, "Title")
                    .fill(INK)
                    .fill_width()
                    .text_align("CENTER")
                    .lines(1)
                    .prop("Title"),
            )
            .child(icon(library, "share", 24.0, INK).node().swapped_by("Icon").shown_by("With icon")),
        "Greeting" => {
            let words = column("Words").fill_width().gap(2.0);
            let words = words
                .child(text("Hello", BODY_S, "Good morning").fill(SLATE).fill_width().prop("Hello"))
                .child(text("Title", TITLE_S, "Mika").fill(INK).fill_width().lines(1).prop("Title"));
            bar.child(library.make("Data/Portrait").with("Size", "M")).child(words).child(
                library
                    .make("Action/Round")
                    .with("Emphasis", "Outline")
                    .with("Size", "Medium")
                    .swap("Icon", "Icon/bell"),
            )
        }
        _ => bar
            .child(text("Title", TITLE_L, "Title").fill(INK).fill_width().lines(1).prop("Title"))
            .child(icon(library, "bell", 24.0, INK).node().swapped_by("Icon").shown_by("With icon")),
    }
}

fn rail(library: &mut Library) {
    library.set(
        "Navigation/Rail item",
        "One place of the host's desk.",
        &[("Here", &["No", "Yes"])],
        |library, pick| {
            let here = pick.is("Here", "Yes");
            let tone = if here { PAPER } else { Tone { name: "", color: rgb(0xa9_be_b5) } };
            let item = row("").sized(216.0, 44.0).pad(0.0, 14.0).gap(12.0).middle().radius(12.0);
            let item = if here { item.fill(EVERGREEN) } else { item };
            let count = library.make("Data/Count").node().hidden().shown_by("With count");
            item.child(icon(library, "home", 20.0, tone).node().swapped_by("Icon"))
                .child(text("Words", LABEL_M, "Place").fill(tone).fill_width().lines(1).prop("Words"))
                .child(count)
        },
    );
    library.set(
        "Navigation/Rail",
        "The places of the host's desk.",
        &[("Items", &["5", "6", "7"])],
        |library, pick| {
            let places = [
                ("Today", "home"),
                ("Bookings", "calendar"),
                ("Rooms", "bed"),
                ("Guests", "users"),
                ("Inbox", "chat"),
                ("Earnings", "wallet"),
                ("Settings", "gear"),
            ];
            let brand = row("Brand").fill_width().pads([4.0, 8.0, 28.0, 8.0]);
            let mut rail = column("").sized(248.0, 900.0).pad(24.0, 16.0).gap(4.0).fill(FOREST);
            rail = rail.child(brand.child(library.make("Mark/Logo").with("Ground", "Dark")));
            for (at, (words, glyph)) in places.iter().take(pick.number("Items")).enumerate() {
                let item =
                    library.make("Navigation/Rail item").with("Here", if at == 0 { "Yes" } else { "No" });
                let item = item.text("Words", words).swap("Icon", &format!("Icon/{glyph}")).wide();
                rail = rail.child(item.named(&format!("Item {}", at + 1)));
            }
            let muted = Tone { name: "", color: rgb(0xa9_be_b5) };
            let who = column("Words").fill_width().gap(1.0);
            let who = who
                .child(text("Name", LABEL_M, "Mika Hayashi").fill(PAPER).fill_width().lines(1).prop("Name"))
                .child(
                    text("House", CAPTION, "Kawabe House").fill(muted).fill_width().lines(1).prop("House"),
                );
            let person = row("Person")
                .fill_width()
                .pad(12.0, 12.0)
                .gap(12.0)
                .middle()
                .radius(14.0)
                .fill(rgb(0x16_3d_33));
            let person = person.child(library.make("Data/Portrait").with("Size", "S")).child(who);
            rail.child(column("Spacer").fill_width().fill_height()).child(person)
        },
    );
}

fn pager(library: &Library, pick: &Pick) -> Node {
    if pick.is("Form", "Dots") {
        let dot = |at: usize| {
            rect(&format!("Dot {}", at + 1), if at == 0 { 20.0 } else { 6.0 }, 6.0)
                .radius(3.0)
                .fill(if at == 0 { EVERGREEN } else { LINE })
        };
        return row("").gap(6.0).middle().children((0..4).map(dot));
    }
    let page = |at: usize| {
        let here = at == 1;
        let page = centred(&format!("Page {at}"), 36.0, 12.0);
        let page = if here { page.fill(MOSS) } else { page };
        page.child(
            text("Number", LABEL_S, &at.to_string())
                .fill(if here { EVERGREEN } else { SLATE })
                .prop(&format!("Page {at}")),
        )
    };
    row("")
        .gap(4.0)
        .middle()
        .child(icon(library, "chevron-left", 18.0, MIST))
        .children((1..=5).map(page))
        .child(icon(library, "chevron-right", 18.0, INK))
}

fn site(library: &mut Library) {
    library.set(
        "Navigation/Site head",
        "The head of the web site.",
        &[("Search", &["No", "Yes"])],
        |library, pick| {
            let bar = row("").sized(1440.0, 76.0).pad(0.0, 64.0).gap(32.0).middle().fill(PAPER);
            let mut bar = bar.stroke(LINE, 1.0).sides([0.0, 0.0, 1.0, 0.0]).child(library.make("Mark/Logo"));
            if pick.is("Search", "Yes") {
                bar = bar.child(library.make("Field/Search").wide().tall(44.0));
            } else {
                bar = bar.child(row("Spacer").fill_width());
            }
            for (at, words) in ["Stays", "Journeys", "Magazine"].iter().enumerate() {
                bar = bar.child(
                    text(&format!("Way {}", at + 1), LABEL_M, words)
                        .fill(INK)
                        .prop(&format!("Way {}", at + 1)),
                );
            }
            bar.child(
                library
                    .make("Action/Button")
                    .with("Emphasis", "Soft")
                    .with("Size", "Medium")
                    .text("Words", "Sign in")
                    .named("Action"),
            )
            .child(library.make("Data/Portrait").with("Size", "M").node().hidden().shown_by("With portrait"))
        },
    );
    library.set(
        "Navigation/Site foot",
        "The foot of the web site.",
        &[("Columns", &["3"])],
        |library, pick| {
            let mut columns = row("Columns").fill_width().gap(48.0);
            let about =
                text("About", BODY_M, "Small inns, slow mornings.").fill(SLATE).fill_width().prop("About");
            columns = columns
                .child(column("Brand").fill_width().gap(12.0).child(library.make("Mark/Logo")).child(about));
            for at in 1..=pick.number("Columns") {
                let mut list = column(&format!("Column {at}")).wide(180.0).gap(10.0);
                list = list.child(text("Title", LABEL_M, "Column").fill(INK).prop(&format!("Title {at}")));
                for line in 1..=3 {
                    list = list.child(
                        text(&format!("Way {line}"), BODY_S, "Way")
                            .fill(SLATE)
                            .prop(&format!("Way {at}.{line}")),
                    );
                }
                columns = columns.child(list);
            }
            let print = text("Small print", CAPTION, "© Hinoki Inns").fill(MIST).prop("Small print");
            column("")
                .wide(1440.0)
                .pad(48.0, 64.0)
                .gap(32.0)
                .fill(DEW)
                .child(columns)
                .child(rule("Line", LINE, 1.0))
                .child(print)
        },
    );
}

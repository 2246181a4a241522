//! The home of the guests' app, in English.

use super::parts::{Stay, band, phone, stay_card, top};
use crate::samples::library::Library;
use crate::samples::node::{Node, Pin, row, text};
use crate::samples::system::style::{DISPLAY, INK, PERSIMMON};

const LOVED: [Stay; 2] = [
    Stay {
        scene: "River",
        name: "Kawabe House",
        place: "Kinosaki, Hyogo",
        price: "€148",
        unit: "a night",
        score: "4.9",
        tag: Some("Only 2 rooms left"),
        saved: true,
    },
    Stay {
        scene: "Fjord",
        name: "Nordvik Boathouse",
        place: "Balestrand, Norway",
        price: "€192",
        unit: "a night",
        score: "4.8",
        tag: None,
        saved: false,
    },
];

const NEAR: [Stay; 2] = [
    Stay {
        scene: "Harbour",
        name: "Harbour Loft",
        place: "Svolvær, 40 m from the pier",
        price: "€126",
        unit: "a night",
        score: "4.7",
        tag: None,
        saved: false,
    },
    Stay {
        scene: "Tea",
        name: "Tea Terrace Farm",
        place: "Uji, with a view of the fields",
        price: "€98",
        unit: "a night",
        score: "4.9",
        tag: None,
        saved: true,
    },
];

const KINDS: [(&str, &str); 5] =
    [("Onsen", "bath"), ("Forest", "leaf"), ("By rail", "train"), ("Breakfast", "cup"), ("New", "sparkle")];

/// The screen.
pub fn screen(library: &Library) -> Node {
    let greeting = library
        .make("Navigation/Top bar")
        .with("Kind", "Greeting")
        .text("Hello", "Good evening")
        .text("Title", "Elin Sandberg")
        .tweak("Photo", "fills", |node| node.fill = crate::samples::system::style::picture("portrait-aiko"));
    let count = library.make("Data/Count").text("Number", "3").node().pin(Pin::End(12.0), Pin::Start(4.0));
    let headline = text("Headline", DISPLAY, "Where will you\nslow down next?").fill(INK).fill_width();
    let search = library
        .make("Field/Search")
        .with("Form", "Card")
        .with("State", "Filled")
        .text("Words", "Kinosaki Onsen")
        .text("Terms", "12 – 15 Nov · 2 guests");
    let mut kinds = row("Kinds").fill_width().gap(4.0);
    for (at, (words, glyph)) in KINDS.iter().enumerate() {
        let kind = library.make("Surface/Category").with("Chosen", if at == 0 { "Yes" } else { "No" });
        kinds = kinds.child(kind.text("Words", words).swap("Icon", &format!("Icon/{glyph}")).named(words));
    }
    let head = |title: &str, way: &str| {
        library
            .make("Type/Section head")
            .with("Way", "All")
            .text("Title", title)
            .text("Way", way)
            .wide()
            .node()
    };
    let loved = LOVED.iter().map(|stay| stay_card(library, "Tall", stay));
    let promo = library
        .make("Surface/Promo")
        .text("Title", "Stay three nights, pay for two")
        .text("Words", "Midweek in November, breakfast included")
        .inside("Action", |action| action.text("Words", "Find dates"));
    let bar = library
        .make("Navigation/Bottom bar")
        .with("Tabs", "5")
        .inside("Tab 4", |tab| tab.text("Words", "Inbox"));
    phone("Explore", 1360.0)
        .gap(20.0)
        .child(top(library, row("Greeting").fill_width().child(greeting.wide()).child(count)))
        .child(
            band("Search", 20.0).child(headline.span("slow down", DISPLAY, PERSIMMON)).child(search.wide()),
        )
        .child(band("Kinds of stay", 0.0).child(kinds))
        .child(band("Loved head", 0.0).child(head("Loved this week", "See all 48")))
        .child(row("Loved").fill_width().pad(0.0, 16.0).gap(16.0).clip().children(loved))
        .child(band("Offer", 0.0).child(promo.wide()))
        .child(band("Near head", 0.0).child(head("Close to the water", "See map")))
        .child(band("Near", 12.0).children(NEAR.iter().map(|stay| widened(stay_card(library, "Wide", stay)))))
        .child(bar.node().pin(Pin::Both(0.0, 0.0), Pin::End(0.0)))
}

fn widened(card: Node) -> Node {
    card.fill_width()
}

//! The hosts' desk: a dashboard for the desktop, in English.

use super::parts::{panel, pill};
use crate::samples::library::Library;
use crate::samples::make::Make;
use crate::samples::node::{Node, Pin, column, row, text};
use crate::samples::system::style::{
    BODY_M, EVERGREEN, INK, LABEL_M, PERSIMMON, RICE, SLATE, TITLE_L, TITLE_M,
};

/// Guest, letters, note, room, dates, tone and word of the state, amount.
const BOOKINGS: [[&str; 8]; 5] = [
    [
        "Elin Sandberg",
        "ES",
        "2 guests · direct",
        "Cedar",
        "12 – 15 Nov · 3 nights",
        "Success|Confirmed",
        "€444",
        "1",
    ],
    [
        "Tomás Herrera",
        "TH",
        "1 guest · partner",
        "Maple",
        "12 – 13 Nov · 1 night",
        "Warning|Unpaid",
        "€118",
        "2",
    ],
    [
        "Aiko Tanabe",
        "AT",
        "4 guests · direct",
        "River suite",
        "14 – 18 Nov · 4 nights",
        "Success|Confirmed",
        "€1,120",
        "3",
    ],
    [
        "Jonas Wieland",
        "JW",
        "2 guests · phone",
        "Willow",
        "12 – 14 Nov · 2 nights",
        "Brand|Checked in",
        "€296",
        "4",
    ],
    [
        "Priya Raman",
        "PR",
        "3 guests · partner",
        "Plum",
        "21 – 24 Nov · 3 nights",
        "Danger|Cancelled",
        "€402",
        "5",
    ],
];

fn figures(library: &Library) -> Node {
    let figure = |drift: &str, words: &str, number: &str, glyph: &str| {
        let figure =
            library.make("Surface/Figure").with("Drift", drift).text("Words", words).text("Number", number);
        figure.swap("Icon", &format!("Icon/{glyph}")).wide().named(words)
    };
    let drift =
        |figure: Make, change: &str, note: &str| figure.text("Change", change).text("Note", note).node();
    row("Figures")
        .fill_width()
        .gap(20.0)
        .child(drift(figure("Up", "Occupancy", "86%", "bed"), "4.2%", "on last week"))
        .child(drift(figure("Up", "Revenue", "€8,640", "wallet"), "11.8%", "on last week"))
        .child(drift(figure("Down", "Average night", "€148", "card"), "1.5%", "on last week"))
        .child(
            figure("None", "Guest rating", "4.92", "star")
                .text("Note", "from 212 reviews, 9 of them new")
                .node()
                .fill_height(),
        )
}

fn revenue(library: &Library) -> Node {
    let mut chart = library.make("Chart/Area").with("Points", "7");
    for (at, day) in ["Mon 3", "Tue 4", "Wed 5", "Thu 6", "Fri 7", "Sat 8", "Sun 9"].iter().enumerate() {
        chart = chart.text(&format!("Label {}", at + 1), day);
    }
    let chart = chart.wide().tall(232.0);
    let key = |tone: &str, words: &str| library.make("Chart/Key").with("Tone", tone).text("Words", words);
    let keys =
        row("Keys").gap(16.0).middle().child(key("Evergreen", "This week")).child(key("Mist", "Last week"));
    let panel =
        panel("Revenue", "Revenue", "Room nights and extras, before tax", Some(pill(library, "This week")));
    let total = row("Total").fill_width().gap(24.0).middle();
    let total = total.child(text("Amount", TITLE_M, "€8,640").fill(INK).fill_width()).child(keys);
    let hint = library.make("Feedback/Hint").text("Words", "Sat 8 Nov · €1,860").node();
    panel.child(total).child(chart).child(hint.pin(Pin::End(76.0), Pin::Start(134.0))).fill_width()
}

fn sources(library: &Library) -> Node {
    let key = |tone: &str, words: &str, value: &str| {
        library
            .make("Chart/Key")
            .with("Tone", tone)
            .with("Value", "Yes")
            .text("Words", words)
            .text("Value", value)
            .wide()
    };
    let chart =
        library.make("Chart/Ring").with("Parts", "3").text("Number", "128").text("Unit", "nights sold");
    let keys = column("Keys").fill_width().gap(10.0);
    let keys = keys.child(key("Evergreen", "Direct", "58%")).child(key("Sun", "Partners", "25%")).child(key(
        "Persimmon",
        "Phone",
        "17%",
    ));
    let ring = column("Ring")
        .fill_width()
        .align(crate::samples::node::Place::Min, crate::samples::node::Place::Center)
        .child(chart);
    panel("Sources", "Where guests come from", "Nights sold this month", None)
        .wide(320.0)
        .fill_height()
        .child(ring)
        .child(keys)
}

fn bookings(library: &Library) -> Node {
    let mut table = library.make("Table/Bookings").with("Lines", "5");
    for [name, letters, note, room, dates, state, amount, at] in BOOKINGS {
        let (tone, word) = state.split_once('|').unwrap_or(("Neutral", state));
        table = table.inside(&format!("Line {at}"), |line| {
            line.texts(&[
                ("Name", name),
                ("Note", note),
                ("Room", room),
                ("Dates", dates),
                ("Amount", amount),
            ])
            .inside("Portrait", |portrait| portrait.text("Letters", letters))
            .inside("Tag", |tag| tag.with("Tone", tone).text("Label", word))
        });
    }
    let way = library.make("Action/Way").with("Arrow", "Yes").text("Words", "All bookings").node();
    panel("Bookings", "Latest bookings", "23 in the next 30 days", Some(way))
        .fill_width()
        .fill_height()
        .child(table.wide())
}

fn arrivals(library: &Library) -> Node {
    let arrival = |state: &str, name: &str, letters: &str, room: &str| {
        let arrival =
            library.make("Surface/Arrival").with("State", state).text("Name", name).text("Room", room).wide();
        arrival.inside("Portrait", |portrait| portrait.text("Letters", letters)).named(name)
    };
    let meter = library
        .make("Feedback/Meter")
        .with("Words", "Yes")
        .text("Words", "Rooms made up")
        .text("Value", "6 of 9")
        .wide();
    panel("Arrivals", "Arriving today", "Wednesday 12 November", None)
        .wide(320.0)
        .fill_height()
        .child(
            column("List")
                .fill_width()
                .gap(12.0)
                .child(arrival("Here", "Jonas Wieland", "JW", "Willow, two nights"))
                .child(
                    arrival("Expected", "Elin Sandberg", "ES", "Cedar, three nights").text("Time", "15:30"),
                )
                .child(arrival("Expected", "Tomás Herrera", "TH", "Maple, one night").text("Time", "18:00"))
                .child(arrival("Expected", "Lena Okafor", "LO", "Plum, two nights").text("Time", "20:15")),
        )
        .child(meter)
}

/// The screen.
pub fn screen(library: &Library) -> Node {
    let rail = library
        .make("Navigation/Rail")
        .with("Items", "7")
        .inside("Item 5", |item| {
            item.show("With count", true).inside("Count", |count| count.text("Number", "4"))
        })
        .tweak("", "height", |node| *node = node.clone().fill_height());
    let lead =
        text("Lead", BODY_M, "4 guests arrive today and 3 rooms still need linen.").fill(SLATE).fill_width();
    let lead = lead.span("4 guests", LABEL_M, EVERGREEN).span("3 rooms", LABEL_M, PERSIMMON);
    let words = column("Words").fill_width().gap(4.0);
    let words = words.child(text("Title", TITLE_L, "Good morning, Mika").fill(INK).fill_width()).child(lead);
    let search = library.make("Field/Search").text("Words", "Find a guest or a booking").sized(300.0, 44.0);
    let button = library
        .make("Action/Button")
        .with("Size", "Medium")
        .show("With icon", true)
        .swap("Icon", "Icon/plus")
        .text("Words", "New booking");
    let bell = library
        .make("Action/Round")
        .with("Emphasis", "Outline")
        .with("Size", "Medium")
        .swap("Icon", "Icon/bell");
    let badge = library.make("Data/Count").text("Number", "4").node().pin(Pin::End(-4.0), Pin::Start(-4.0));
    let head = row("Head").fill_width().gap(16.0).middle().child(words).child(search);
    let head = head.child(row("Bell").child(bell).child(badge)).child(button);
    let main = column("Main").fill_width().fill_height().pad(32.0, 36.0).gap(24.0);
    let main = main
        .child(head)
        .child(figures(library))
        .child(row("Charts").fill_width().gap(20.0).child(revenue(library)).child(sources(library)))
        .child(row("Lists").fill_width().gap(20.0).child(bookings(library)).child(arrivals(library)));
    row("Host desk").sized(1440.0, 1220.0).clip().fill(RICE).child(rail).child(main)
}

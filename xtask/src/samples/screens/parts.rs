//! What several screens are made of.

use crate::samples::library::Library;
use crate::samples::node::{Node, Place, column, row, text};
use crate::samples::system::style::{BODY_S, INK, LABEL_S, LINE, PAPER, RICE, SLATE, TITLE_S, icon, low};

/// An empty phone screen of a height.
pub fn phone(name: &str, height: f64) -> Node {
    column(name).sized(390.0, height).clip().fill(RICE)
}

/// The status bar over the head of a phone screen.
pub fn top(library: &Library, head: Node) -> Node {
    column("Top").fill_width().child(library.make("Device/Status bar").wide()).child(head)
}

/// A band of a phone screen, with its margins.
pub fn band(name: &str, gap: f64) -> Node {
    column(name).fill_width().pad(0.0, 16.0).gap(gap)
}

/// A panel of the desk: a title, a note, something at the end of the head.
pub fn panel(name: &str, title: &str, note: &str, end: Option<Node>) -> Node {
    let words = column("Words").fill_width().gap(2.0);
    let words = words
        .child(text("Title", TITLE_S, title).fill(INK).fill_width())
        .child(text("Note", BODY_S, note).fill(SLATE).fill_width());
    let head = row("Head").fill_width().gap(16.0).middle().child(words).children(end);
    column(name).pad(24.0, 24.0).gap(20.0).radius(20.0).fill(PAPER).elevation(&low()).child(head)
}

/// A small menu in the head of a panel.
pub fn pill(library: &Library, words: &str) -> Node {
    let pill = row("Period").tall(32.0).pad(0.0, 12.0).gap(4.0).align(Place::Min, Place::Center).radius(16.0);
    let pill = pill.stroke(LINE, 1.0).child(text("Words", LABEL_S, words).fill(INK));
    pill.child(icon(library, "chevron-down", 16.0, SLATE))
}

/// A house on a card.
pub struct Stay {
    /// The scene on its card.
    pub scene: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Where it is.
    pub place: &'static str,
    /// What a night costs.
    pub price: &'static str,
    /// What that price is for.
    pub unit: &'static str,
    /// Its rating.
    pub score: &'static str,
    /// A word on its picture.
    pub tag: Option<&'static str>,
    /// Whether the guest has saved it.
    pub saved: bool,
}

/// The card of a house.
pub fn stay_card(library: &Library, form: &str, stay: &Stay) -> Node {
    let card = library
        .make("Surface/Stay card")
        .with("Form", form)
        .with("Saved", if stay.saved { "Yes" } else { "No" });
    let card = card
        .text("Name", stay.name)
        .text("Place", stay.place)
        .text("Price", stay.price)
        .text("Unit", stay.unit)
        .inside("Rating", |rating| rating.text("Score", stay.score))
        .show("With tag", stay.tag.is_some())
        .inside("Tag", |tag| tag.text("Label", stay.tag.unwrap_or("New")));
    card.inside("Scene", |scene| scene.with("Subject", stay.scene)).node()
}

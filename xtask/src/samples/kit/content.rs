//! Cards, rows, pictures and the small things on them.

use super::style::{
    BLOCK, BODY, CAPTION, CAPTION_STRONG, FAINT, H3, H4, INK, LABEL, LINE, MUTED, PAPER, SMALL, SURFACE,
    icon, slot,
};
use crate::samples::library::{Library, Pick};
use crate::samples::node::{Node, Pin, Place, column, ellipse, frame, row, rule, text, vector};
use crate::samples::paint::{Effect, rgb};

/// Adds content.
pub fn add(kit: &mut Library) {
    kit.set(
        "Image",
        "Stands for a picture.",
        &[("Ratio", &["1:1", "4:3", "16:9", "3:4", "Wide"])],
        |_, pick| {
            let (width, height) = match pick.get("Ratio") {
                "1:1" => (160.0, 160.0),
                "4:3" => (240.0, 180.0),
                "16:9" => (320.0, 180.0),
                "3:4" => (165.0, 220.0),
                _ => (390.0, 140.0),
            };
            picture(width, height)
        },
    );
    kit.set("Illustration", "Stands for a drawing.", &[("Size", &["md", "lg"])], |_, pick| {
        let side = if pick.is("Size", "md") { 160.0 } else { 240.0 };
        let scale = |node: Node| Node { pin: node.pin, ..node };
        frame("", side, side)
            .fill(SURFACE)
            .radius(12.0)
            .child(scale(
                vector(
                    "Hill",
                    "M0 160L0 118C34 88 66 96 92 114C116 130 138 126 160 104L160 160Z",
                    (160.0, 160.0),
                )
                .fill(BLOCK),
            ))
            .child(scale(
                vector("Sun", "M112 36a16 16 0 1 0 0 32a16 16 0 1 0 0-32z", (160.0, 160.0)).fill(LINE),
            ))
            .child(scale(
                vector("Horizon", "M24 132L64 92L96 124L120 104L140 124", (160.0, 160.0)).line(FAINT, 2.0),
            ))
    });
    kit.set(
        "Avatar",
        "A person.",
        &[("Kind", &["Initials", "Image"]), ("Size", &["sm", "md", "lg"])],
        |kit, pick| {
            let side = match pick.get("Size") {
                "sm" => 24.0,
                "md" => 40.0,
                _ => 64.0,
            };
            let avatar = row("").sized(side, side).radius(side / 2.0).fill(BLOCK).clip();
            let avatar = avatar.align(Place::Center, Place::Center);
            if pick.is("Kind", "Image") {
                return avatar.child(icon(kit, "user", (side * 0.6_f64).round(), FAINT));
            }
            let style = if side < 30.0 {
                CAPTION
            } else if side < 60.0 {
                LABEL
            } else {
                H3
            };
            avatar.child(
                text("Initials", style, if side < 30.0 { "A" } else { "AB" }).fill(INK).prop("Initials"),
            )
        },
    );
    kit.set(
        "Badge",
        "A count or a state on something else.",
        &[("Kind", &["Count", "Dot", "Label"])],
        |_, pick| match pick.get("Kind") {
            "Dot" => frame("", 8.0, 8.0).radius(4.0).fill(INK),
            kind => {
                let style = if kind == "Count" { CAPTION_STRONG } else { CAPTION };
                let (fill, ink) = if kind == "Count" { (INK, PAPER) } else { (BLOCK, INK) };
                let badge = row("").pad(2.0, if kind == "Count" { 6.0 } else { 8.0 });
                let badge = badge.align(Place::Center, Place::Center).radius(if kind == "Count" {
                    10.0
                } else {
                    4.0
                });
                badge.fill(fill).child(
                    text("Label", style, if kind == "Count" { "3" } else { "New" }).fill(ink).prop("Label"),
                )
            }
        },
    );
    kit.set(
        "Chip",
        "A filter or a tag.",
        &[("State", &["Off", "On"]), ("Icon", &["None", "Leading", "Close"])],
        |kit, pick| {
            let on = pick.is("State", "On");
            let ink = if on { PAPER } else { INK };
            let mut chip = row("").tall(32.0).pad(0.0, 12.0).gap(6.0).middle().radius(16.0);
            chip = if on { chip.fill(INK) } else { chip.fill(PAPER).stroke(LINE, 1.0) };
            if pick.is("Icon", "Leading") {
                chip = chip.child(slot(kit, "Icon", 16.0, ink));
            }
            chip = chip.child(text("Label", LABEL, "Chip").fill(ink).prop("Label"));
            if pick.is("Icon", "Close") { chip.child(icon(kit, "close", 16.0, ink)) } else { chip }
        },
    );
    kit.set("Rating", "Stars and a number.", &[("Kind", &["Stars", "Short"])], |kit, pick| {
        let count = if pick.is("Kind", "Stars") { 5 } else { 1 };
        let stars = (0..count).map(|index| icon(kit, "star", 16.0, if index < 4 { INK } else { LINE }));
        row("")
            .gap(4.0)
            .middle()
            .children(stars)
            .child(text("Label", CAPTION_STRONG, "4.0").fill(INK).prop("Label"))
    });
    kit.set("Divider", "Parts what belongs apart.", &[("Kind", &["Line", "Label"])], |_, pick| {
        let divider = row("").wide(358.0).gap(12.0).middle();
        if pick.is("Kind", "Line") {
            return divider.child(rule("Line", LINE, 1.0));
        }
        let label = text("Label", CAPTION, "or").fill(MUTED).prop("Label");
        divider.child(rule("Line", LINE, 1.0)).child(label).child(rule("Line", LINE, 1.0))
    });
    cards(kit);
    rows(kit);
}

/// A crossed box with a mountain.
pub fn picture(width: f64, height: f64) -> Node {
    let glyph = frame("Glyph", 32.0, 32.0)
        .child(vector("Frame", "M4 6h24v20H4z", (32.0, 32.0)).line(FAINT, 1.5))
        .child(vector("Hill", "M4 22l7-7l5 5l4-3l8 6", (32.0, 32.0)).line(FAINT, 1.5))
        .child(
            vector("Sun", "M20 10a2.500 2.500 0 1 0 0 5a2.500 2.500 0 1 0 0-5z", (32.0, 32.0))
                .line(FAINT, 1.5),
        );
    frame("", width, height).fill(BLOCK).child(glyph.pin(Pin::Middle(0.0), Pin::Middle(0.0)))
}

fn cards(kit: &mut Library) {
    kit.set(
        "Card",
        "One thing of a collection.",
        &[
            ("Kind", &["Plain", "Media top", "Media left"]),
            ("Lines", &["1", "2", "3"]),
            ("Action", &["None", "Button"]),
        ],
        card,
    );
    kit.set(
        "Tile",
        "A small card: an icon over a word.",
        &[("Kind", &["Icon", "Icon and body"])],
        |kit, pick| {
            let tile = column("")
                .wide(112.0)
                .pad(16.0, 12.0)
                .gap(8.0)
                .radius(12.0)
                .fill(SURFACE)
                .align(Place::Min, Place::Center);
            let title =
                text("Title", LABEL, "Tile").fill(INK).fill_width().text_align("CENTER").prop("Title");
            let tile = tile.child(slot(kit, "Icon", 24.0, INK)).child(title);
            if pick.is("Kind", "Icon") {
                return tile;
            }
            tile.child(
                text("Body", CAPTION, "Caption").fill(MUTED).fill_width().text_align("CENTER").prop("Body"),
            )
        },
    );
    kit.set(
        "Metric",
        "A number that matters, and how it moves.",
        &[("Trend", &["None", "Shown"]), ("Size", &["md", "lg"])],
        |kit, pick| {
            let large = pick.is("Size", "lg");
            let metric =
                column("").wide(if large { 264.0 } else { 171.0 }).pad(16.0, 16.0).gap(8.0).radius(12.0);
            let label = text("Label", SMALL, "Metric").fill(MUTED).fill_width().prop("Label");
            let number = text("Value", if large { super::style::H1 } else { super::style::H2 }, "1,234");
            let metric = metric
                .fill(PAPER)
                .stroke(LINE, 1.0)
                .child(label)
                .child(number.fill(INK).fill_width().prop("Value"));
            if pick.is("Trend", "None") {
                return metric;
            }
            let trend = row("Trend").gap(4.0).middle().fill_width().child(icon(kit, "chart", 16.0, MUTED));
            metric.child(
                trend.child(
                    text("Change", CAPTION, "+12% on last month").fill(MUTED).fill_width().prop("Change"),
                ),
            )
        },
    );
    kit.set(
        "Hero",
        "The first thing on a page.",
        &[("Kind", &["Text", "Media"]), ("Actions", &["1", "2"])],
        |kit, pick| {
            let mut hero = column("").wide(640.0).pad(40.0, 40.0).gap(16.0).radius(16.0).fill(SURFACE);
            if pick.is("Kind", "Media") {
                hero = hero.child(kit.make("Image").with("Ratio", "Wide").wide());
            }
            hero = hero
                .child(
                    text("Title", super::style::H1, "A headline that says it all")
                        .fill(INK)
                        .fill_width()
                        .prop("Title"),
                )
                .child(
                    text("Body", BODY, "A sentence or two that make the reader go on.")
                        .fill(MUTED)
                        .fill_width()
                        .prop("Body"),
                );
            let mut actions = row("Actions").gap(12.0);
            for item in 1..=pick.number("Actions") {
                let kind = if item == 1 { "Primary" } else { "Secondary" };
                let (fill, ink) = if item == 1 { (INK, PAPER) } else { (PAPER, INK) };
                let button =
                    row(kind).tall(48.0).pad(0.0, 20.0).middle().radius(8.0).fill(fill).stroke(INK, 1.0);
                let label = text("Label", super::style::LABEL_LARGE, "Button").fill(ink);
                actions = actions.child(button.child(label.prop(&format!("Action {item}"))));
            }
            hero.child(actions)
        },
    );
}

fn card(kit: &Library, pick: &Pick) -> Node {
    let left = pick.is("Kind", "Media left");
    let media = pick.is("Kind", "Media top");
    let card = if left { row("") } else { column("") };
    let mut card =
        card.wide(if left { 358.0 } else { 264.0 }).radius(12.0).clip().fill(PAPER).stroke(LINE, 1.0);
    if left {
        card = card.child(
            kit.make("Image")
                .sized(112.0, 112.0)
                .tweak("", "height", |node| *node = node.clone().fill_height()),
        );
    } else if media {
        card = card.child(kit.make("Image").with("Ratio", "4:3").tall(148.0).wide());
    }
    let mut content = column("Content").fill_width().pad(16.0, 16.0).gap(4.0);
    let lines = pick.number("Lines");
    if lines == 3 {
        content =
            content.child(text("Overline", CAPTION, "Overline").fill(MUTED).fill_width().prop("Overline"));
    }
    content = content.child(text("Title", H4, "Title").fill(INK).fill_width().prop("Title"));
    if lines >= 2 {
        content = content.child(
            text("Body", SMALL, "What there is to say about it").fill(MUTED).fill_width().prop("Body"),
        );
    }
    if pick.is("Action", "Button") {
        let button = row("Action").tall(32.0).pad(0.0, 12.0).middle().radius(8.0).stroke(INK, 1.0);
        let spacer = column("Actions").fill_width().pads([12.0, 0.0, 0.0, 0.0]);
        content = content
            .child(spacer.child(button.child(text("Label", LABEL, "Button").fill(INK).prop("Action"))));
    }
    card.child(content)
}

fn rows(kit: &mut Library) {
    kit.set(
        "List row",
        "One line of a list.",
        &[
            ("Lead", &["None", "Icon", "Avatar", "Thumbnail"]),
            ("Trail", &["None", "Chevron", "Text", "Button"]),
            ("Lines", &["1", "2", "3"]),
        ],
        list_row,
    );
    kit.set("Message", "One turn of a conversation.", &[("Side", &["Them", "Me"])], |_, pick| {
        let me = pick.is("Side", "Me");
        let bubble = column("Bubble").pad(10.0, 14.0).radius(16.0).fill(if me { INK } else { BLOCK });
        let words =
            text("Text", SMALL, "What they have to say").fill(if me { PAPER } else { INK }).prop("Text");
        let message =
            row("").wide(358.0).gap(8.0).align(if me { Place::Max } else { Place::Min }, Place::Max);
        if me {
            return message.child(bubble.child(words));
        }
        message.child(ellipse("Avatar", 24.0, 24.0).fill(BLOCK)).child(bubble.child(words))
    });
    kit.set("Accordion", "A question and its answer.", &[("State", &["Closed", "Open"])], |kit, pick| {
        let open = pick.is("State", "Open");
        let head = row("Head").fill_width().gap(12.0).middle();
        let head = head
            .child(text("Title", LABEL, "Question").fill(INK).fill_width().prop("Title"))
            .child(icon(kit, if open { "minus" } else { "plus" }, 20.0, INK));
        let accordion = column("")
            .wide(358.0)
            .pad(16.0, 0.0)
            .gap(8.0)
            .stroke(LINE, 1.0)
            .sides([0.0, 0.0, 1.0, 0.0])
            .child(head);
        if !open {
            return accordion;
        }
        accordion.child(
            text("Body", SMALL, "The answer, in a sentence or two.").fill(MUTED).fill_width().prop("Body"),
        )
    });
}

fn list_row(kit: &Library, pick: &Pick) -> Node {
    let lines = pick.number("Lines");
    let mut row_ = row("").wide(358.0).pad(12.0, 16.0).gap(12.0).middle().fill(PAPER);
    row_ = row_.stroke(LINE, 1.0).sides([0.0, 0.0, 1.0, 0.0]);
    match pick.get("Lead") {
        "Icon" => row_ = row_.child(slot(kit, "Icon", 24.0, INK)),
        "Avatar" => row_ = row_.child(kit.make("Avatar").with("Size", "md")),
        "Thumbnail" => row_ = row_.child(kit.make("Image").sized(56.0, 56.0)),
        _ => {}
    }
    let mut content = column("Content").fill_width().gap(2.0);
    content = content.child(
        text("Title", if lines == 1 { BODY } else { H4 }, "Title").fill(INK).fill_width().prop("Title"),
    );
    if lines >= 2 {
        content = content.child(text("Body", SMALL, "Second line").fill(MUTED).fill_width().prop("Body"));
    }
    if lines == 3 {
        content = content.child(text("Note", CAPTION, "Third line").fill(FAINT).fill_width().prop("Note"));
    }
    row_ = row_.child(content);
    match pick.get("Trail") {
        "Chevron" => row_.child(icon(kit, "chevron-right", 20.0, MUTED)),
        "Text" => row_.child(text("Value", LABEL, "Value").fill(INK).text_align("RIGHT").prop("Value")),
        "Button" => {
            let button = row("Button").tall(32.0).pad(0.0, 12.0).middle().radius(8.0).stroke(INK, 1.0);
            row_.child(button.child(text("Action", LABEL, "Button").fill(INK).prop("Action")))
        }
        _ => row_,
    }
}

/// The kit's one shadow.
pub fn shadow() -> Effect {
    Effect::Shadow { color: rgb(0).alpha(0.16), y: 8.0, blur: 32.0, spread: 0.0 }
}

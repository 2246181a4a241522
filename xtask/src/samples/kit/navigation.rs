//! Bars, tabs and ways through.

use super::style::{
    BLOCK, CAPTION, CAPTION_STRONG, FAINT, H3, H4, INK, LABEL, LINE, MUTED, PAPER, SMALL, SURFACE, icon, slot,
};
use crate::samples::library::{Library, Pick};
use crate::samples::node::{Node, Place, column, ellipse, rect, row, rule, text};

/// Adds navigation.
pub fn add(kit: &mut Library) {
    kit.set(
        "App bar",
        "The top of a screen.",
        &[("Device", &["Phone", "Desktop"]), ("Kind", &["Title", "Back", "Search"])],
        app_bar,
    );
    kit.set("Status bar", "What the phone itself shows.", &[("Device", &["Phone"])], |_, _| {
        let level = |width: f64| rect("Level", width, 10.0).radius(2.0).fill(INK);
        let levels = row("Levels").gap(4.0).middle().child(level(14.0)).child(level(14.0)).child(level(22.0));
        let bar = row("").sized(390.0, 44.0).pad(0.0, 24.0).align(Place::Between, Place::Center).fill(PAPER);
        bar.child(text("Time", LABEL, "9:41").fill(INK).prop("Time")).child(levels)
    });
    kit.set("Tab bar", "The main places of an app.", &[("Items", &["2", "3", "4", "5"])], |kit, pick| {
        let mut bar = row("")
            .wide(390.0)
            .pads([8.0, 8.0, 24.0, 8.0])
            .fill(PAPER)
            .stroke(LINE, 1.0)
            .sides([1.0, 0.0, 0.0, 0.0]);
        for item in 1..=pick.number("Items") {
            let tone = if item == 1 { INK } else { FAINT };
            let label = text("Label", CAPTION_STRONG, &format!("Tab {item}"))
                .fill(tone)
                .prop(&format!("Label {item}"));
            let tab = column(&format!("Tab {item}"))
                .fill_width()
                .pad(4.0, 0.0)
                .gap(4.0)
                .align(Place::Min, Place::Center);
            bar = bar.child(tab.child(slot(kit, &format!("Icon {item}"), 24.0, tone)).child(label));
        }
        bar
    });
    kit.set(
        "Side nav",
        "The places of a desktop app.",
        &[("State", &["Expanded", "Collapsed"]), ("Items", &["4", "5", "6", "8"])],
        side_nav,
    );
    tabs(kit);
    kit.set("Breadcrumb", "Where one is.", &[("Levels", &["2", "3", "4"])], |kit, pick| {
        let levels = pick.number("Levels");
        let mut trail = row("").gap(4.0).middle();
        for level in 1..=levels {
            let tone = if level == levels { INK } else { MUTED };
            let words = if level == levels { "This page".to_owned() } else { format!("Level {level}") };
            trail = trail.child(
                text(&format!("Level {level}"), SMALL, &words).fill(tone).prop(&format!("Level {level}")),
            );
            if level < levels {
                trail = trail.child(icon(kit, "chevron-right", 16.0, FAINT));
            }
        }
        trail
    });
    kit.set("Pagination", "Pages of a long list.", &[("Kind", &["Numbers", "Dots", "Compact"])], pagination);
    kit.set(
        "Stepper",
        "Where one is in a task.",
        &[("Steps", &["3", "4", "5"]), ("Current", &["1", "2", "3"])],
        |kit, pick| {
            let (steps, current) = (pick.number("Steps"), pick.number("Current"));
            let mut stepper = row("").wide(358.0).gap(8.0);
            for step in 1..=steps {
                let done = step < current;
                let dot = row("Dot").sized(24.0, 24.0).radius(12.0).align(Place::Center, Place::Center);
                let dot = if step <= current { dot.fill(INK) } else { dot.fill(PAPER).stroke(FAINT, 1.5) };
                let number = text("Number", CAPTION_STRONG, &step.to_string()).fill(if step <= current {
                    PAPER
                } else {
                    FAINT
                });
                let dot = if done { dot.child(icon(kit, "check", 16.0, PAPER)) } else { dot.child(number) };
                let line = rule("Line", if done { INK } else { LINE }, 1.5);
                let line = if step == steps { line.hidden() } else { line };
                let head = row("Head").fill_width().gap(8.0).middle().child(dot).child(line);
                let label = text("Label", CAPTION, &format!("Step {step}")).fill(if step <= current {
                    INK
                } else {
                    MUTED
                });
                let item = column(&format!("Step {step}")).fill_width().gap(6.0).child(head);
                stepper = stepper.child(item.child(label.fill_width().prop(&format!("Step {step}"))));
            }
            stepper
        },
    );
    kit.set("Footer", "The end of a page.", &[("Columns", &["2", "3", "4"])], |_, pick| {
        let mut columns = row("Columns").fill_width().gap(32.0);
        for number in 1..=pick.number("Columns") {
            let mut list = column(&format!("Column {number}")).fill_width().gap(8.0);
            list = list.child(text("Title", LABEL, "Column").fill(INK).prop(&format!("Title {number}")));
            for link in 1..=3 {
                list = list.child(
                    text(&format!("Link {link}"), SMALL, "Link")
                        .fill(MUTED)
                        .prop(&format!("Link {number}.{link}")),
                );
            }
            columns = columns.child(list);
        }
        let small = text("Small print", CAPTION, "© Company").fill(MUTED).prop("Small print");
        column("")
            .wide(960.0)
            .pad(32.0, 40.0)
            .gap(24.0)
            .fill(SURFACE)
            .child(columns)
            .child(rule("Line", LINE, 1.0))
            .child(small)
    });
}

fn app_bar(kit: &Library, pick: &Pick) -> Node {
    let desktop = pick.is("Device", "Desktop");
    let bar = row("").sized(if desktop { 1440.0 } else { 390.0 }, if desktop { 64.0 } else { 56.0 });
    let mut bar = bar.pad(0.0, if desktop { 32.0 } else { 16.0 }).gap(16.0).middle().fill(PAPER);
    bar = bar.stroke(LINE, 1.0).sides([0.0, 0.0, 1.0, 0.0]);
    if pick.is("Kind", "Back") {
        bar = bar.child(icon(kit, "arrow-left", 24.0, INK));
    } else if desktop {
        bar = bar.child(rect("Logo", 32.0, 32.0).radius(8.0).fill(BLOCK));
    }
    if pick.is("Kind", "Search") {
        let search =
            row("Search").fill_width().tall(40.0).pad(0.0, 12.0).gap(8.0).middle().radius(20.0).fill(SURFACE);
        let words = text("Title", SMALL, "Search").fill(MUTED).fill_width().prop("Title");
        bar = bar.child(search.child(icon(kit, "search", 20.0, MUTED)).child(words));
    } else {
        let style = if desktop { H3 } else { H4 };
        bar = bar.child(text("Title", style, "Title").fill(INK).fill_width().lines(1).prop("Title"));
    }
    bar = bar.child(slot(kit, "Icon", 24.0, INK).shown_by("Show icon"));
    if desktop { bar.child(ellipse("Avatar", 32.0, 32.0).fill(BLOCK)) } else { bar }
}

fn side_nav(kit: &Library, pick: &Pick) -> Node {
    let expanded = pick.is("State", "Expanded");
    let mut nav = column("").sized(if expanded { 240.0 } else { 72.0 }, 640.0).pad(24.0, 12.0).gap(4.0);
    nav = nav.fill(SURFACE).stroke(LINE, 1.0).sides([0.0, 1.0, 0.0, 0.0]);
    let brand = row("Brand").fill_width().pads([0.0, 12.0, 20.0, 12.0]).gap(12.0).middle();
    let brand = brand.child(rect("Logo", 24.0, 24.0).radius(6.0).fill(INK));
    let name = text("Name", H4, "Product").fill(INK).fill_width().prop("Name");
    nav = nav.child(if expanded { brand.child(name) } else { brand });
    for item in 1..=pick.number("Items") {
        let here = item == 1;
        let line = row(&format!("Item {item}"))
            .fill_width()
            .tall(40.0)
            .pad(0.0, 12.0)
            .gap(12.0)
            .middle()
            .radius(8.0);
        let line = if here { line.fill(BLOCK) } else { line };
        let line = line.child(slot(kit, &format!("Icon {item}"), 20.0, if here { INK } else { MUTED }));
        let label = text("Label", LABEL, &format!("Item {item}")).fill(if here { INK } else { MUTED });
        let label = label.fill_width().prop(&format!("Item {item}"));
        nav = nav.child(if expanded { line.child(label) } else { line });
    }
    nav
}

fn tabs(kit: &mut Library) {
    kit.set(
        "Tabs",
        "Views of one thing.",
        &[("Kind", &["Underline", "Segmented"]), ("Items", &["2", "3", "4", "5"])],
        |_, pick| {
            let segmented = pick.is("Kind", "Segmented");
            let mut tabs = row("").wide(358.0);
            tabs = if segmented {
                tabs.pad(4.0, 4.0).gap(4.0).radius(10.0).fill(SURFACE)
            } else {
                tabs.stroke(LINE, 1.0).sides([0.0, 0.0, 1.0, 0.0])
            };
            for item in 1..=pick.number("Items") {
                let here = item == 1;
                let tab = row(&format!("Tab {item}")).fill_width().tall(if segmented { 32.0 } else { 44.0 });
                let mut tab = tab.align(Place::Center, Place::Center);
                if segmented && here {
                    tab = tab.fill(PAPER).radius(8.0).stroke(LINE, 1.0);
                } else if here {
                    tab = tab.stroke(INK, 2.0).sides([0.0, 0.0, 2.0, 0.0]);
                }
                let label = text("Label", LABEL, &format!("Tab {item}")).fill(if here { INK } else { MUTED });
                tabs = tabs.child(tab.child(label.prop(&format!("Tab {item}"))));
            }
            tabs
        },
    );
}

fn pagination(kit: &Library, pick: &Pick) -> Node {
    match pick.get("Kind") {
        "Dots" => {
            let dot = |at: usize| {
                ellipse(&format!("Dot {}", at + 1), 8.0, 8.0).fill(if at == 0 { INK } else { LINE })
            };
            row("").gap(8.0).middle().children((0..4).map(dot))
        }
        "Compact" => row("")
            .gap(12.0)
            .middle()
            .child(icon(kit, "chevron-left", 20.0, FAINT))
            .child(text("Label", SMALL, "1–10 of 48").fill(INK).prop("Label"))
            .child(icon(kit, "chevron-right", 20.0, INK)),
        _ => {
            let page = |at: usize| {
                let here = at == 1;
                let page = row(&format!("Page {at}"))
                    .sized(36.0, 36.0)
                    .radius(8.0)
                    .align(Place::Center, Place::Center);
                let label = text("Label", LABEL, &at.to_string()).fill(if here { PAPER } else { INK });
                (if here { page.fill(INK) } else { page }).child(label.prop(&format!("Page {at}")))
            };
            row("")
                .gap(4.0)
                .middle()
                .child(icon(kit, "chevron-left", 20.0, FAINT))
                .children((1..=5).map(page))
                .child(icon(kit, "chevron-right", 20.0, INK))
        }
    }
}

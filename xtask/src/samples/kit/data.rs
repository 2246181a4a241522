//! Tables and charts.

use super::style::{BLOCK, CAPTION, FAINT, H4, INK, LABEL, LINE, MUTED, PAPER, SMALL, SURFACE};
use crate::samples::library::{Library, Pick};
use crate::samples::node::{Node, Pin, Place, column, frame, rect, ring, row, text, vector};

/// Adds data.
pub fn add(kit: &mut Library) {
    let columns: &[&str] = &["3", "4", "5", "6"];
    kit.set(
        "Table row",
        "One line of a table.",
        &[("Kind", &["Header", "Body"]), ("Columns", columns)],
        |_, pick| {
            let header = pick.is("Kind", "Header");
            let mut line =
                row("").wide(720.0).pad(0.0, 16.0).gap(16.0).middle().tall(if header { 40.0 } else { 52.0 });
            line =
                line.fill(if header { SURFACE } else { PAPER }).stroke(LINE, 1.0).sides([0.0, 0.0, 1.0, 0.0]);
            for cell in 1..=pick.number("Columns") {
                let (style, tone) = if header { (LABEL, MUTED) } else { (SMALL, INK) };
                let words = if header { format!("Column {cell}") } else { "Cell".to_owned() };
                line = line.child(
                    text(&format!("Cell {cell}"), style, &words)
                        .fill(tone)
                        .fill_width()
                        .lines(1)
                        .prop(&format!("Cell {cell}")),
                );
            }
            line
        },
    );
    kit.set("Table", "Rows of facts.", &[("Columns", columns), ("Rows", &["3", "5"])], |kit, pick| {
        let columns = pick.get("Columns");
        let mut table = column("").wide(720.0).radius(12.0).clip().fill(PAPER).stroke(LINE, 1.0);
        let line = |kind: &str| kit.make("Table row").with("Kind", kind).with("Columns", columns).wide();
        table = table.child(line("Header").named("Header"));
        for number in 1..=pick.number("Rows") {
            table = table.child(line("Body").named(&format!("Row {number}")));
        }
        table
    });
    kit.set(
        "Chart",
        "Numbers as shapes.",
        &[("Kind", &["Line", "Bar", "Donut"]), ("Size", &["md", "lg"])],
        chart,
    );
    kit.set("Legend", "What a chart's shapes are.", &[("Items", &["2", "3", "4"])], |_, pick| {
        let tones = [INK, FAINT, LINE, BLOCK];
        let mut legend = row("").gap(16.0).middle();
        for item in 1..=pick.number("Items") {
            let swatch = rect("Swatch", 12.0, 12.0).radius(3.0).fill(tones[item - 1]);
            let label =
                text("Label", CAPTION, &format!("Series {item}")).fill(MUTED).prop(&format!("Series {item}"));
            legend = legend.child(row(&format!("Item {item}")).gap(6.0).middle().child(swatch).child(label));
        }
        legend
    });
    kit.set("Calendar", "A month.", &[("Weeks", &["5"])], |_, pick| {
        let mut month =
            column("").wide(320.0).pad(16.0, 16.0).gap(8.0).radius(12.0).fill(PAPER).stroke(LINE, 1.0);
        month =
            month.child(text("Month", H4, "Month").fill(INK).fill_width().text_align("CENTER").prop("Month"));
        let mut names = row("Days").fill_width();
        for (day, name) in ["M", "T", "W", "T", "F", "S", "S"].iter().enumerate() {
            names = names.child(
                text(&format!("Day {}", day + 1), CAPTION, name)
                    .fill(MUTED)
                    .fill_width()
                    .text_align("CENTER"),
            );
        }
        month = month.child(names);
        for week in 0..pick.number("Weeks") {
            let mut days = row(&format!("Week {}", week + 1)).fill_width();
            for day in 0..7 {
                let number = week * 7 + day + 1;
                let here = number == 12;
                let cell = row(&format!("Day {}", day + 1))
                    .fill_width()
                    .tall(36.0)
                    .align(Place::Center, Place::Center)
                    .radius(18.0);
                let cell = if here { cell.fill(INK) } else { cell };
                let tone = if here {
                    PAPER
                } else if number > 31 {
                    FAINT
                } else {
                    INK
                };
                days = days.child(
                    cell.child(text("Number", SMALL, &(((number - 1) % 31) + 1).to_string()).fill(tone)),
                );
            }
            month = month.child(days);
        }
        month
    });
}

fn chart(_: &Library, pick: &Pick) -> Node {
    let large = pick.is("Size", "lg");
    let (width, height) = if large { (640.0, 240.0) } else { (326.0, 160.0) };
    let plot = match pick.get("Kind") {
        "Line" => {
            let size = (320.0, 160.0);
            let line = "M0 120L46 96L92 108L138 64L184 76L230 40L276 52L320 20";
            frame("Plot", width, height)
                .children((0..4).map(|at| grid(f64::from(at) / 4.0)))
                .child(vector("Area", &format!("{line}L320 160L0 160Z"), size).fill(BLOCK))
                .child(vector("Line", line, size).line(INK, 2.0))
        }
        "Bar" => {
            let heights = [0.45, 0.6, 0.35, 0.8, 0.55, 0.9, 0.7];
            let bar = |(at, tall): (usize, &f64)| {
                let tone = if at == 5 { INK } else { FAINT };
                let bar =
                    rect(&format!("Bar {}", at + 1), 24.0, 100.0).corners([4.0, 4.0, 0.0, 0.0]).fill(tone);
                bar.pin(Pin::Scale(0.03 + at as f64 * 0.14, 0.09), Pin::Scale(1.0 - tall, *tall))
            };
            frame("Plot", width, height)
                .children((0..4).map(|at| grid(f64::from(at) / 4.0)))
                .children(heights.iter().enumerate().map(bar))
        }
        _ => {
            let part = |name: &str, from: f64, to: f64, tone| {
                let part = ring(name, height, from, to, 0.64).fill(tone);
                part.pin(Pin::Middle(0.0), Pin::Middle(0.0))
            };
            let parts = [
                part("Part 1", 0.0, 0.48, INK),
                part("Part 2", 0.49, 0.76, FAINT),
                part("Part 3", 0.77, 0.99, LINE),
            ];
            let label =
                text("Value", H4, "48%").fill(INK).prop("Value").pin(Pin::Middle(0.0), Pin::Middle(0.0));
            frame("Plot", width, height).children(parts).child(label)
        }
    };
    let title = text("Title", H4, "Chart").fill(INK).fill_width().prop("Title").shown_by("Show title");
    let chart =
        column("").wide(width + 32.0).pad(16.0, 16.0).gap(12.0).radius(12.0).fill(PAPER).stroke(LINE, 1.0);
    let chart = chart.child(title).child(plot.fill_width());
    if pick.is("Kind", "Donut") {
        return chart;
    }
    let mut axis = row("Axis").fill_width().align(Place::Between, Place::Min);
    for label in 1..=5 {
        axis = axis.child(
            text(&format!("Label {label}"), CAPTION, "00").fill(MUTED).prop(&format!("Label {label}")),
        );
    }
    chart.child(axis)
}

fn grid(at: f64) -> Node {
    rect("Grid", 320.0, 1.0).fill(BLOCK).pin(Pin::Both(0.0, 0.0), Pin::Scale(at, 0.005))
}

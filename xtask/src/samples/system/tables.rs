//! Tables and charts.

use std::fmt::Write;

use super::style::{
    BODY_S, CAPTION, EVERGREEN, INK, LABEL_M, LABEL_S, LINE, MIST, MOSS, PAPER, PERSIMMON, RICE, SLATE, SUN,
    TITLE_M,
};
use crate::samples::library::{Library, Pick};
use crate::samples::node::{Node, Pin, Place, column, ellipse, frame, rect, ring, row, text, vector};
use crate::samples::paint::vertical;

/// Adds tables and charts.
pub fn add(library: &mut Library) {
    library.set("Table/Head", "What the columns are.", &[("Columns", &["5"])], |_, pick| {
        let mut head =
            row("").wide(760.0).tall(40.0).pad(0.0, 16.0).gap(16.0).middle().radius(12.0).fill(RICE);
        for (at, words) in
            ["Guest", "Room", "Dates", "State", "Amount"].iter().take(pick.number("Columns")).enumerate()
        {
            let cell = text(&format!("Column {}", at + 1), LABEL_S, words)
                .fill(SLATE)
                .prop(&format!("Column {}", at + 1));
            head = head.child(match at {
                0 | 2 => cell.fill_width(),
                1 => cell.wide(112.0),
                3 => cell.wide(108.0),
                _ => cell.wide(84.0).text_align("RIGHT"),
            });
        }
        head
    });
    library.set("Table/Booking", "A booking in a table.", &[("Line", &["Yes", "No"])], |library, pick| {
        let line = row("").wide(760.0).tall(64.0).pad(0.0, 16.0).gap(16.0).middle();
        let line =
            if pick.is("Line", "Yes") { line.stroke(LINE, 1.0).sides([0.0, 0.0, 1.0, 0.0]) } else { line };
        let words = column("Words").fill_width();
        let words = words
            .child(text("Name", LABEL_M, "Guest").fill(INK).fill_width().lines(1).prop("Name"))
            .child(text("Note", CAPTION, "2 guests").fill(SLATE).fill_width().lines(1).prop("Note"));
        let portrait = library.make("Data/Portrait").with("Face", "Letters").with("Size", "S");
        let guest = row("Guest").fill_width().gap(12.0).middle().child(portrait).child(words);
        line.child(guest)
            .child(text("Room", BODY_S, "Cedar").fill(INK).wide(112.0).lines(1).prop("Room"))
            .child(text("Dates", BODY_S, "12 – 14 Nov").fill(INK).fill_width().lines(1).prop("Dates"))
            .child(
                row("State")
                    .wide(108.0)
                    .child(library.make("Data/Tag").with("Tone", "Success").text("Label", "Confirmed")),
            )
            .child(text("Amount", LABEL_M, "€296").fill(INK).wide(84.0).text_align("RIGHT").prop("Amount"))
    });
    library.set(
        "Table/Bookings",
        "The bookings of a house.",
        &[("Lines", &["3", "5", "6"])],
        |library, pick| {
            let lines = pick.number("Lines");
            let mut table = column("").wide(760.0).child(library.make("Table/Head").wide());
            for at in 1..=lines {
                let line = library.make("Table/Booking").with("Line", if at == lines { "No" } else { "Yes" });
                table = table.child(line.wide().named(&format!("Line {at}")));
            }
            table
        },
    );
    library.set("Chart/Area", "How something went.", &[("Points", &["7", "12"])], area);
    library.set("Chart/Bars", "How things compare.", &[("Bars", &["7", "12"])], bars);
    library.set("Chart/Ring", "Parts of a whole.", &[("Parts", &["2", "3"])], |_, pick| {
        let part = |name: &str, from: f64, to: f64, tone| {
            ring(name, 168.0, from, to, 0.72).fill(tone).pin(Pin::Middle(0.0), Pin::Middle(0.0))
        };
        let chart = frame("", 168.0, 168.0).child(part("Part 1", 0.0, 0.575, EVERGREEN));
        let chart = if pick.is("Parts", "2") {
            chart.child(part("Part 2", 0.59, 0.985, MOSS))
        } else {
            chart.child(part("Part 2", 0.59, 0.825, SUN)).child(part("Part 3", 0.84, 0.985, PERSIMMON))
        };
        let words = column("Words").align(Place::Center, Place::Center);
        let words = words
            .child(text("Number", TITLE_M, "128").fill(INK).prop("Number"))
            .child(text("Unit", CAPTION, "nights").fill(SLATE).prop("Unit"));
        chart.child(words.pin(Pin::Middle(0.0), Pin::Middle(0.0)))
    });
    library.set(
        "Chart/Key",
        "What a colour stands for.",
        &[("Tone", &["Evergreen", "Sun", "Persimmon", "Moss", "Mist"]), ("Value", &["No", "Yes"])],
        |_, pick| {
            let tone = match pick.get("Tone") {
                "Evergreen" => EVERGREEN,
                "Sun" => SUN,
                "Persimmon" => PERSIMMON,
                "Mist" => MIST,
                _ => MOSS,
            };
            let key = row("").gap(8.0).middle().child(rect("Swatch", 10.0, 10.0).radius(3.0).fill(tone));
            let words = text("Words", BODY_S, "Direct").fill(SLATE).prop("Words");
            if pick.is("Value", "No") {
                return key.child(words);
            }
            key.wide(180.0)
                .child(words.fill_width())
                .child(text("Value", LABEL_S, "58%").fill(INK).text_align("RIGHT").prop("Value"))
        },
    );
    library.set("Chart/Spark", "A drift in a word's space.", &[("Drift", &["Up", "Down"])], |_, pick| {
        let up = pick.is("Drift", "Up");
        let path = if up {
            "M0 24C10 22 14 26 24 18S42 20 52 12S68 8 80 2"
        } else {
            "M0 4C10 6 16 2 26 10S44 8 54 16S70 18 80 25"
        };
        frame("", 80.0, 28.0)
            .child(vector("Line", path, (80.0, 28.0)).line(if up { EVERGREEN } else { PERSIMMON }, 2.0))
    });
}

/// The labels of an axis.
fn axis(names: &[&str]) -> Node {
    let mut axis = row("Axis").fill_width().align(Place::Between, Place::Min);
    for (at, name) in names.iter().enumerate() {
        axis = axis.child(
            text(&format!("Label {}", at + 1), CAPTION, name).fill(MIST).prop(&format!("Label {}", at + 1)),
        );
    }
    axis
}

const DAYS: &[&str] = &["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: &[&str] = &["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

fn grid(at: usize) -> Node {
    rect(&format!("Grid {}", at + 1), 640.0, 1.0)
        .fill(LINE)
        .pin(Pin::Both(0.0, 0.0), Pin::Scale(at as f64 / 4.0, 1.0 / 220.0))
}

/// A smooth line through points of the unit square, in a box of 640 by 220.
fn curve(values: &[f64]) -> String {
    let step = 640.0 / (values.len() - 1) as f64;
    let mut path = format!("M0 {}", 220.0 * (1.0 - values[0]));
    for (at, pair) in values.windows(2).enumerate() {
        let (x, end) = (at as f64 * step, (at + 1) as f64 * step);
        let (from, to) = (220.0 * (1.0 - pair[0]), 220.0 * (1.0 - pair[1]));
        write!(path, "C{} {from} {} {to} {end} {to}", x + step * 0.45, end - step * 0.45)
            .expect("a string takes all");
    }
    path
}

fn area(_: &Library, pick: &Pick) -> Node {
    let (values, before, names): (&[f64], &[f64], _) = if pick.is("Points", "7") {
        (&[0.3, 0.38, 0.34, 0.48, 0.62, 0.74, 0.56], &[0.26, 0.28, 0.31, 0.38, 0.46, 0.56, 0.44], DAYS)
    } else {
        let year = &[0.3, 0.34, 0.52, 0.62, 0.55, 0.48, 0.66, 0.82, 0.7, 0.76, 0.92, 0.84];
        (year, &[0.24, 0.28, 0.4, 0.5, 0.46, 0.42, 0.52, 0.66, 0.58, 0.6, 0.7, 0.66], MONTHS)
    };
    let size = (640.0, 220.0);
    let line = curve(values);
    let wash = vertical(&[(0.0, EVERGREEN.color.alpha(0.22)), (1.0, EVERGREEN.color.alpha(0.0))]);
    let peak = if pick.is("Points", "7") { (5.0 / 6.0, 0.74) } else { (10.0 / 11.0, 0.92) };
    let dot = ellipse("Peak", 12.0, 12.0).fill(PAPER).stroke(EVERGREEN, 3.0);
    let dot = dot.pin(
        Pin::Scale(peak.0 - 6.0 / 640.0, 12.0 / 640.0),
        Pin::Scale(1.0 - peak.1 - 6.0 / 220.0, 12.0 / 220.0),
    );
    let plot = Node { clips: false, ..frame("Plot", 640.0, 220.0) }.fill_width().fill_height();
    let plot = plot
        .children((0..5).map(grid))
        .child(vector("Wash", &format!("{line}L640 220L0 220Z"), size).fill(wash))
        .child(vector("Before", &curve(before), size).line(MIST, 1.5).dashes(&[4.0, 4.0]))
        .child(vector("Now", &line, size).line(EVERGREEN, 2.5))
        .child(dot);
    column("").sized(640.0, 260.0).gap(12.0).child(plot).child(axis(names))
}

fn bars(_: &Library, pick: &Pick) -> Node {
    let count = pick.number("Bars");
    let heights = [0.42, 0.55, 0.48, 0.66, 0.86, 0.96, 0.7, 0.6, 0.64, 0.72, 0.88, 0.8];
    let names = if count == 7 { DAYS } else { MONTHS };
    let mut plot = row("Bars")
        .fill_width()
        .fill_height()
        .gap(if count == 7 { 14.0 } else { 8.0 })
        .align(Place::Min, Place::Max);
    for (at, height) in heights.iter().take(count).enumerate() {
        let slot = frame(&format!("Bar {}", at + 1), 20.0, 120.0).fill_width().fill_height();
        let bar = rect("Amount", 20.0, 100.0).radius(6.0).fill(if at == 5 { EVERGREEN } else { MOSS });
        plot = plot.child(slot.child(bar.pin(Pin::Both(0.0, 0.0), Pin::Scale(1.0 - height, *height))));
    }
    column("").sized(320.0, 180.0).gap(10.0).child(plot).child(axis(names))
}

//! Tables and lengths of time, as people read them.

use jiff::{SignedDuration, Timestamp};

use crate::terminal::one_line;

/// Rows under a head, in columns that are as wide as they have to be.
pub fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let rows: Vec<[String; N]> = std::iter::once(head.map(str::to_owned))
        .chain(rows.iter().map(|row| row.clone().map(|cell| one_line(&cell))))
        .collect();
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A length of time in its two largest units.
pub fn length(length: SignedDuration) -> String {
    let seconds = length.as_secs().unsigned_abs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) if seconds == 0 => match length.as_millis().unsigned_abs() {
            0 => "0s".to_owned(),
            milliseconds => format!("{milliseconds}ms"),
        },
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m {}s", seconds % 60),
        (0, _, _) => format!("{hours}h {minutes}m"),
        _ => format!("{days}d {hours}h"),
    }
}

/// When something was or will be, seen from now.
pub fn relative(at: Timestamp, now: Timestamp) -> String {
    let since = now.duration_since(at);
    if since.is_negative() { format!("in {}", length(since)) } else { format!("{} ago", length(since)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short() {
        for (milliseconds, text) in [
            (0, "0s"),
            (20, "20ms"),
            (-1_500, "1s"),
            (61_000, "1m 1s"),
            (7_260_000, "2h 1m"),
            (180_000_000, "2d 2h"),
        ] {
            assert_eq!(length(SignedDuration::from_millis(milliseconds)), text);
        }
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(relative(now + SignedDuration::from_mins(3), now), "in 3m 0s");
        assert_eq!(relative(now, now + SignedDuration::from_secs(3)), "3s ago");
    }

    #[test]
    fn columns_line_up() {
        let text = table(["A", "B"], &[["long one".to_owned(), "x\ny".to_owned()]]);
        assert_eq!(text, "A         B\nlong one  x y");
    }
}

//! The order in which people read.

use crate::library::Place;

/// Sorts for reading: in rows from the top, each from the left. Boxes share a row where their middles are near.
pub(crate) fn sort_for_reading<T: Copy>(items: &mut [T], place: impl Fn(&T) -> Place) {
    let middle = |p: Place| p.y + p.height / 2.0;
    items.sort_by(|a, b| middle(place(a)).total_cmp(&middle(place(b))));
    let mut start = 0;
    while start < items.len() {
        let first = place(&items[start]);
        let mut end = start + 1;
        while end < items.len() && middle(place(&items[end])) - middle(first) <= 0.5 * first.height {
            end += 1;
        }
        items[start..end].sort_by(|a, b| place(a).x.total_cmp(&place(b).x));
        start = end;
    }
}

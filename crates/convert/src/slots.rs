//! Which text goes into which slot of a row.

use heddle_figma::NodeIndex;

use crate::kit::Row;
use crate::lexicon::{Archetype, archetype_of};
use crate::library::{Nested, Place};
use crate::outline::Outline;
use crate::reading::sort_for_reading;
use crate::strings::rough_width;

/// Slots for the texts of a region.
pub(crate) struct Assignment {
    /// For each text, in document order, its slot.
    pub slots: Vec<usize>,
    /// How far places, sizes and lengths disagree, 0 (not at all) ..= 1.
    pub strain: f64,
}

/// Assigns texts to slots: the order of reading is kept, and among such assignments the one whose places and sizes
/// agree best is taken. The row has at least as many slots as there are texts.
pub(crate) fn assign(
    outline: &Outline<'_, '_>,
    region: NodeIndex,
    texts: &[NodeIndex],
    row: &Row,
) -> Assignment {
    if texts.is_empty() || row.slots.len() < texts.len() {
        return Assignment { slots: Vec::new(), strain: 0.0 };
    }
    let bounds = outline.node(region).bounds;
    let text_places: Vec<Place> = texts
        .iter()
        .map(|text| {
            let inner = outline.node(*text).bounds.translate(-bounds.x, -bounds.y);
            let place = Place { x: inner.x, y: inner.y, width: inner.width, height: inner.height };
            relative(place, bounds.width, bounds.height)
        })
        .collect();
    let slot_places: Vec<Place> =
        row.slots.iter().map(|slot| relative(slot.place, row.size.width, row.size.height)).collect();
    let sizes: Vec<f64> =
        texts.iter().map(|t| outline.node(*t).text.as_deref().map_or(12.0, |t| t.style.size)).collect();
    let in_control: Vec<bool> = texts.iter().map(|text| is_in_control(outline, *text, region)).collect();
    let slot_in_control: Vec<bool> =
        row.slots.iter().map(|slot| controls(row).any(|n| slot.path.starts_with(&n.path))).collect();
    let cost = |text: usize, slot: usize| {
        let (a, b) = (text_places[text], slot_places[slot]);
        let off = (a.y + a.height / 2.0 - b.y - b.height / 2.0).abs() + 0.6 * (a.x - b.x).abs();
        let scale = (sizes[text].max(1.0) / row.slots[slot].font_size.max(1.0)).ln().abs();
        let hidden = if row.slots[slot].shown { 0.0 } else { 0.35 };
        // A text is no button's label, and a button's label no text.
        let control = if in_control[text] == slot_in_control[slot] { 0.0 } else { 0.8 };
        off + 0.6 * scale + hidden + control
    };
    let (text_order, slot_order) = (read_order(&text_places), read_order(&slot_places));
    // best[t][s]: the cheapest way to place the first t texts in the first s slots.
    let (count, slots) = (text_order.len(), slot_order.len());
    let mut best = vec![vec![f64::INFINITY; slots + 1]; count + 1];
    best[0].fill(0.0);
    for t in 1..=count {
        for s in t..=slots {
            let taken = best[t - 1][s - 1] + cost(text_order[t - 1], slot_order[s - 1]);
            best[t][s] = best[t][s - 1].min(taken);
        }
    }
    let mut chosen = vec![0; count];
    let (mut t, mut s) = (count, slots);
    while t > 0 && s > 0 {
        if s > t && best[t][s] >= best[t][s - 1] {
            s -= 1;
        } else {
            chosen[text_order[t - 1]] = slot_order[s - 1];
            (t, s) = (t - 1, s - 1);
        }
    }
    let mean = best[count][slots] / count as f64;
    // What the texts take, set in the slots' sizes, of what the region has.
    let taken: f64 = texts
        .iter()
        .zip(&chosen)
        .map(|(text, slot)| {
            let size = row.slots[*slot].font_size.max(1.0);
            rough_width(outline.node(*text).characters().unwrap_or_default(), size) * size * 1.35
        })
        .sum();
    let crowded = (taken / bounds.area().max(1.0) - 0.75).clamp(0.0, 1.0);
    Assignment { slots: chosen, strain: (0.8 * mean + crowded).min(1.0) }
}

/// Layer paths to empty: shown slots that got no text; or the whole control that they are the label of.
pub(crate) fn cleared(row: &Row, used: &[usize]) -> Vec<Vec<String>> {
    let mut paths: Vec<Vec<String>> = Vec::new();
    for (at, slot) in row.slots.iter().enumerate() {
        if !slot.shown || used.contains(&at) {
            continue;
        }
        let control = controls(row).find(|n| slot.path.starts_with(&n.path));
        let unused = control.filter(|n| !used.iter().any(|u| row.slots[*u].path.starts_with(&n.path)));
        let path = unused.map_or(&slot.path, |n| &n.path);
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}

fn controls(row: &Row) -> impl Iterator<Item = &Nested> {
    row.nested.iter().filter(|n| archetype_of(&n.name).is_some_and(Archetype::is_control))
}

fn is_in_control(outline: &Outline<'_, '_>, text: NodeIndex, region: NodeIndex) -> bool {
    let mut above = outline.document.ancestors(text).take_while(|a| *a != region && a.0 > outline.frame.0);
    above.any(|a| outline.part(a).archetype.is_some_and(Archetype::is_control))
}

fn relative(place: Place, width: f64, height: f64) -> Place {
    let (width, height) = (width.max(1.0), height.max(1.0));
    Place {
        x: place.x / width,
        y: place.y / height,
        width: place.width / width,
        height: place.height / height,
    }
}

fn read_order(places: &[Place]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    sort_for_reading(&mut order, |at| places[*at]);
    order
}

//! `ds@1.0`: how a generated wireframe is scored, without a model. Matching is by provenance, never by guessing.
//!
//! The weights are a judgement and not calibrated to people. Scores are never compared across versions.

use std::collections::HashMap;

use heddle_figma::{NodeIndex, Rect};
use serde::Serialize;

use crate::assemble::Assembly;
use crate::graphics::Action;
use crate::kit::{Kit, Row};
use crate::library::Place;
use crate::number::round;
use crate::outline::{Outline, Role};
use crate::reading::sort_for_reading;
use crate::strings::{character_f1, normalized};
use crate::wireframe::{Node, NodeKind, SlotWrite};

/// Version of the formula.
pub const SCORE_VERSION: &str = "ds@1.0";

/// Coarse grade of a result; kept in the result document alone (D13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[expect(missing_docs, reason = "from best to worst")]
pub enum Band {
    A,
    B,
    C,
    D,
}

/// The parts; one with nothing to measure is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Parts {
    /// T: what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<f64>,
    /// L: where things are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<f64>,
    /// K: how much of the design's components the kit realises.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kit: Option<f64>,
    /// H: what is within what, and in which order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<f64>,
    /// G: artwork; self-consistency, until a labelled set stands behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graphics: Option<f64>,
}

/// A score with what it is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// 0..=1, four decimals.
    pub value: f64,
    /// [`SCORE_VERSION`].
    pub version: &'static str,
    /// The band.
    pub band: Band,
    /// The parts.
    pub parts: Parts,
    /// v: lost text writes over all text writes.
    pub violations: f64,
}

/// Weights of T, L, K, H, G.
const WEIGHTS: [f64; 5] = [0.30, 0.20, 0.20, 0.15, 0.15];
/// No part counts as less, so that one zero doesn't hide all else.
const FLOOR: f64 = 0.05;

/// Combines parts: the weighted geometric mean, less half of what was lost in writing.
pub fn combine(parts: Parts, violations: f64) -> Score {
    let values = [parts.text, parts.layout, parts.kit, parts.hierarchy, parts.graphics];
    let measured = || values.iter().zip(WEIGHTS).filter_map(|(value, weight)| Some(((*value)?, weight)));
    let total: f64 = measured().map(|(_, weight)| weight).sum();
    let product: f64 = if total > 0.0 {
        measured().map(|(value, weight)| value.clamp(FLOOR, 1.0).powf(weight / total)).product()
    } else {
        // Nothing measured is no success.
        0.0
    };
    let value = round((product * (1.0 - violations / 2.0)).clamp(0.0, 1.0));
    let text = parts.text.unwrap_or(1.0);
    let lowest = measured().map(|(value, _)| value).fold(1.0, f64::min);
    let band = if value >= 0.90 && lowest >= 0.85 && violations <= 0.0 {
        Band::A
    } else if value >= 0.80 && text >= 0.95 && lowest >= 0.50 {
        Band::B
    } else if value >= 0.60 && text >= 0.80 {
        Band::C
    } else {
        Band::D
    };
    let rounded = |v: Option<f64>| v.map(round);
    let parts = Parts {
        text: rounded(parts.text),
        layout: rounded(parts.layout),
        kit: rounded(parts.kit),
        hierarchy: rounded(parts.hierarchy),
        graphics: rounded(parts.graphics),
    };
    Score { value, version: SCORE_VERSION, band, parts, violations: round(violations) }
}

/// Scores an assembly against the outline that it was made from and the kit that it was made with.
pub fn score(outline: &Outline<'_, '_>, assembly: &Assembly, kit: &Kit) -> Score {
    let match_up = MatchUp::of(outline, assembly);
    let rows: HashMap<&str, &Row> = kit.rows.iter().map(|row| (row.key.as_str(), row)).collect();
    let parts = Parts {
        text: text(outline, &assembly.said()),
        layout: match_up.layout(),
        kit: realised(assembly),
        hierarchy: match_up.hierarchy(&rows),
        graphics: graphics(assembly),
    };
    combine(parts, violations(&assembly.wireframe.nodes, &rows))
}

/// Source and wireframe side by side, matched by provenance.
struct MatchUp<'m, 'd, 'a> {
    outline: &'m Outline<'d, 'a>,
    nodes: &'m [Node],
    /// Emitted node by the source id that it stands for.
    by_source: HashMap<&'m str, usize>,
    /// Source node by id; the first where an id is repeated.
    by_id: HashMap<&'d str, NodeIndex>,
    reading_order: &'m [String],
}

impl<'m, 'd, 'a> MatchUp<'m, 'd, 'a> {
    fn of(outline: &'m Outline<'d, 'a>, assembly: &'m Assembly) -> Self {
        let nodes = assembly.wireframe.nodes.as_slice();
        let mut by_source = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            for id in &node.source_ids {
                by_source.entry(id.as_str()).or_insert(at);
            }
        }
        let mut by_id = HashMap::new();
        for index in outline.document.subtree(outline.frame).map(NodeIndex) {
            by_id.entry(outline.node(index).id.as_ref()).or_insert(index);
        }
        Self { outline, nodes, by_source, by_id, reading_order: &assembly.wireframe.reading_order }
    }

    /// Source layers that a wireframe is expected to have something for.
    fn expected(&self) -> impl Iterator<Item = NodeIndex> + use<'_, 'm, 'd, 'a> {
        let range = self.outline.document.subtree(self.outline.frame);
        range.map(NodeIndex).filter(|i| {
            let part = self.outline.part(*i);
            let kind =
                matches!(part.role, Role::Text | Role::Image | Role::Graphic | Role::Divider | Role::Surface);
            part.seen && kind
        })
    }

    fn emitted(&self, index: NodeIndex) -> Option<usize> {
        self.by_source.get(self.outline.node(index).id.as_ref()).copied()
    }

    /// The kept layers above, nearest first.
    fn kept_above(&self, index: NodeIndex) -> impl Iterator<Item = (NodeIndex, usize)> + use<'_, 'm, 'd, 'a> {
        let above = self.outline.document.ancestors(index).take_while(|a| a.0 >= self.outline.frame.0);
        above.filter_map(|a| Some((a, self.emitted(a)?)))
    }

    /// The kit component that took the layer in with a layer above it.
    fn taken_in(&self, index: NodeIndex) -> Option<usize> {
        let mut above = self.kept_above(index).map(|(_, at)| at);
        above.find(|at| matches!(self.nodes[*at].kind, NodeKind::Instance(_)))
    }

    /// Σ√area·IoU / Σ√area over what was emitted, frames left out; what is missing or invented counts 0.
    fn layout(&self) -> Option<f64> {
        let origin = self.outline.node(self.outline.frame).bounds;
        let (mut sum, mut total) = (0.0, 0.0);
        let weight = |rect: &Rect| rect.area().max(1.0).sqrt();
        for node in self.nodes.iter().filter(|node| !matches!(node.kind, NodeKind::Frame { .. })) {
            let Place { x, y, width, height } = node.place;
            let place = Rect { x, y, width, height };
            let sources = node.source_ids.iter().filter_map(|id| self.by_id.get(id.as_str()));
            let source = sources.map(|i| self.outline.node(*i).bounds).reduce(|a, b| a.union(&b));
            let source = source.map(|r| r.translate(-origin.x, -origin.y));
            total += weight(source.as_ref().unwrap_or(&place));
            sum += source.map_or(0.0, |source| weight(&source) * source.iou(&place));
        }
        for index in self.expected() {
            if self.emitted(index).is_none() && self.taken_in(index).is_none() {
                total += weight(&self.outline.node(index).bounds);
            }
        }
        (total > 0.0).then(|| sum / total)
    }

    /// .7 · F1 of (nearest kept ancestor, layer) pairs + .3 · (1 − inversions of the reading order).
    fn hierarchy(&self, rows: &HashMap<&str, &Row>) -> Option<f64> {
        let (mut source, mut wireframe, mut shared) = (0_usize, 0_usize, 0_usize);
        for index in self.expected() {
            let Some((_, ancestor)) = self.kept_above(index).next() else { continue };
            source += 1;
            let parent = match self.emitted(index) {
                Some(own) => self.nodes[own].parent_at,
                // A layer that a kit component took in lies within that component.
                None => self.taken_in(index),
            };
            wireframe += usize::from(parent.is_some());
            shared += usize::from(parent == Some(ancestor));
        }
        if source == 0 {
            return None;
        }
        let f1 = 2.0 * shared as f64 / (source + wireframe) as f64;
        Some(0.7 * f1 + 0.3 * (1.0 - inversions(&self.reading(rows))))
    }

    /// For the source's texts in their reading order, where each comes in the wireframe's.
    fn reading(&self, rows: &HashMap<&str, &Row>) -> Vec<usize> {
        let by_id: HashMap<&str, &Node> = self.nodes.iter().map(|n| (n.id.as_str(), n)).collect();
        let mut position: HashMap<&str, usize> = HashMap::new();
        for node in self.reading_order.iter().filter_map(|id| by_id.get(id.as_str())) {
            let NodeKind::Instance(instance) = &node.kind else {
                for id in &node.source_ids {
                    position.insert(id, position.len());
                }
                continue;
            };
            let slots = rows.get(instance.row.as_str()).map(|row| row.slots.as_slice()).unwrap_or_default();
            let place = |write: &SlotWrite| {
                slots.iter().find(|slot| slot.path == write.path).map(|slot| slot.place).unwrap_or_default()
            };
            let mut writes: Vec<&SlotWrite> = instance.texts.iter().collect();
            sort_for_reading(&mut writes, |write| place(write));
            for id in writes.into_iter().flat_map(|write| &write.source_ids) {
                position.insert(id, position.len());
            }
        }
        let texts = self.outline.reading_order().into_iter();
        texts.filter_map(|t| position.get(self.outline.node(t).id.as_ref()).copied()).collect()
    }
}

fn text(outline: &Outline<'_, '_>, said: &HashMap<&str, Vec<&str>>) -> Option<f64> {
    let (mut sum, mut total) = (0.0, 0.0);
    for index in &outline.texts {
        let node = outline.node(*index);
        let says = node.characters().unwrap_or_default();
        let length = normalized(says).chars().count() as f64;
        let found = said.get(node.id.as_ref()).map(Vec::as_slice).unwrap_or_default();
        sum += length * found.iter().map(|said| character_f1(says, said)).fold(0.0, f64::max);
        total += length;
    }
    (total > 0.0).then(|| sum / total)
}

fn realised(assembly: &Assembly) -> Option<f64> {
    let total: f64 = assembly.regions.iter().map(|r| r.weight).sum();
    let sum: f64 = assembly.regions.iter().map(|r| r.weight * r.fit).sum();
    (total > 0.0).then(|| sum / total)
}

/// Share of pairs that stand the wrong way round, 0..=1, by merge sort.
fn inversions(order: &[usize]) -> f64 {
    fn count(items: &mut Vec<usize>) -> u64 {
        if items.len() < 2 {
            return 0;
        }
        let mut right = items.split_off(items.len() / 2);
        let mut found = count(items) + count(&mut right);
        let mut merged = Vec::with_capacity(items.len() + right.len());
        let (mut i, mut j) = (0, 0);
        while i < items.len() || j < right.len() {
            if j >= right.len() || i < items.len() && items[i] <= right[j] {
                merged.push(items[i]);
                i += 1;
            } else {
                found += (items.len() - i) as u64;
                merged.push(right[j]);
                j += 1;
            }
        }
        *items = merged;
        found
    }
    let n = order.len() as f64;
    if n < 2.0 { 0.0 } else { count(&mut order.to_vec()) as f64 / (n * (n - 1.0) / 2.0) }
}

fn graphics(assembly: &Assembly) -> Option<f64> {
    let (mut cost, mut total) = (0.0, 0.0);
    for appearance in &assembly.graphics {
        total += appearance.weight;
        if appearance.is_lost() {
            cost += appearance.weight;
        } else if appearance.action == Action::Simplify && appearance.is_preserved() {
            cost += 0.4 * appearance.weight;
        }
    }
    (total > 0.0).then(|| 1.0 - cost / total)
}

/// Text writes whose slot is not there, can't be seen, or is written twice, over all text writes.
fn violations(nodes: &[Node], rows: &HashMap<&str, &Row>) -> f64 {
    let (mut lost, mut all) = (0_usize, 0_usize);
    for node in nodes {
        match &node.kind {
            NodeKind::Text { .. } => all += 1,
            NodeKind::Instance(instance) => {
                all += instance.texts.len();
                let slots =
                    rows.get(instance.row.as_str()).map(|row| row.slots.as_slice()).unwrap_or_default();
                for (at, write) in instance.texts.iter().enumerate() {
                    let again = instance.texts[..at].iter().any(|before| before.path == write.path);
                    let cleared = instance.cleared.iter().any(|path| write.path.starts_with(path));
                    let seen = slots.iter().any(|slot| slot.path == write.path && slot.usable());
                    lost += usize::from(again || cleared || !seen);
                }
            }
            _ => {}
        }
    }
    if all == 0 { 0.0 } else { lost as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_geometric_and_the_bands_have_floors() {
        // proves D13
        let parts = |t, l, k, h, g| Parts {
            text: Some(t),
            layout: Some(l),
            kit: Some(k),
            hierarchy: Some(h),
            graphics: Some(g),
        };
        let perfect = combine(parts(1.0, 1.0, 1.0, 1.0, 1.0), 0.0);
        assert_eq!((perfect.value, perfect.band), (1.0, Band::A));
        // A wireframe without any kit component: an arithmetic mean of .80, and here .549.
        let bare = combine(parts(1.0, 1.0, 0.0, 1.0, 1.0), 0.0);
        assert_eq!((bare.value, bare.band), (0.5493, Band::D));
        // Lorem ipsum: .70 against .407.
        let lorem = combine(parts(0.0, 1.0, 1.0, 1.0, 1.0), 0.0);
        assert_eq!((lorem.value, lorem.band), (0.4071, Band::D));
        // A single lost write keeps a result out of A.
        assert_eq!(combine(parts(1.0, 1.0, 1.0, 1.0, 1.0), 0.01).band, Band::B);
        assert_eq!(combine(parts(0.94, 1.0, 1.0, 1.0, 1.0), 0.0).band, Band::A);
        assert_eq!(combine(parts(0.94, 0.7, 1.0, 1.0, 1.0), 0.0).band, Band::C);
        // A part with nothing to measure is left out, its weight shared among the rest.
        let some = combine(Parts { text: Some(0.9), ..Parts::default() }, 0.0);
        assert!((some.value - 0.9).abs() < 1e-9);
    }

    #[test]
    fn inversions_count_pairs() {
        assert!(inversions(&[1, 2, 3, 4]).abs() < 1e-12);
        assert!((inversions(&[4, 3, 2, 1]) - 1.0).abs() < 1e-12);
        assert!((inversions(&[1, 3, 2, 4]) - 1.0 / 6.0).abs() < 1e-12);
    }
}

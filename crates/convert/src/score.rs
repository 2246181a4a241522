//! `ds@1.0`: how a generated wireframe is scored, without a model. Matching is by provenance, never by guessing.
//!
//! The weights are a judgement and not calibrated to people. Scores are never compared across versions.

use std::collections::HashMap;

use serde::Serialize;

use crate::assemble::Assembly;
use crate::graphics::{Action, RenderedKind};
use crate::library::Place;
use crate::outline::{Outline, Role};
use crate::select::round;
use crate::strings::{character_f1, normalized};
use crate::wireframe::{Node, NodeKind};
use heddle_figma::NodeIndex;

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
        1.0
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

/// Scores an assembly against the outline that it was made from.
pub fn score(outline: &Outline<'_, '_>, assembly: &Assembly) -> Score {
    let emitted = Emitted::of(&assembly.wireframe.nodes);
    let parts = Parts {
        text: text(outline, &emitted),
        layout: layout(outline, &emitted),
        kit: kit(assembly),
        hierarchy: hierarchy(outline, &emitted),
        graphics: graphics(assembly),
    };
    combine(parts, violations(&assembly.wireframe.nodes))
}

/// What stands in the wireframe, by the source node that it stands for.
struct Emitted<'w> {
    nodes: &'w [Node],
    /// Node by source id; a text in a slot belongs to its instance.
    by_source: HashMap<&'w str, usize>,
    /// What is said for a source text.
    said: HashMap<&'w str, &'w str>,
}

impl<'w> Emitted<'w> {
    fn of(nodes: &'w [Node]) -> Self {
        let (mut by_source, mut said) = (HashMap::new(), HashMap::new());
        for (at, node) in nodes.iter().enumerate() {
            for id in &node.source_ids {
                by_source.entry(id.as_str()).or_insert(at);
                if let NodeKind::Text { characters, .. } = &node.kind {
                    said.insert(id.as_str(), characters.as_str());
                }
            }
            if let NodeKind::Instance(instance) = &node.kind {
                for write in &instance.texts {
                    for id in &write.source_ids {
                        by_source.entry(id.as_str()).or_insert(at);
                        said.insert(id.as_str(), write.characters.as_str());
                    }
                }
            }
        }
        Self { nodes, by_source, said }
    }
}

fn text(outline: &Outline<'_, '_>, emitted: &Emitted<'_>) -> Option<f64> {
    let (mut sum, mut total) = (0.0, 0.0);
    for index in &outline.texts {
        let node = outline.node(*index);
        let says = node.characters().unwrap_or_default();
        let length = normalized(says).chars().count() as f64;
        let found = emitted.said.get(node.id.as_ref());
        sum += length * found.map_or(0.0, |said| character_f1(says, said));
        total += length;
    }
    (total > 0.0).then(|| sum / total)
}

/// Source layers that a wireframe is expected to have something for.
fn expected(outline: &Outline<'_, '_>) -> impl Iterator<Item = NodeIndex> {
    let range = outline.document.subtree(outline.frame);
    range.map(NodeIndex).filter(|i| {
        let part = outline.part(*i);
        let kind =
            matches!(part.role, Role::Text | Role::Image | Role::Graphic | Role::Divider | Role::Surface);
        part.seen && kind
    })
}

fn layout(outline: &Outline<'_, '_>, emitted: &Emitted<'_>) -> Option<f64> {
    let origin = outline.node(outline.frame).bounds;
    let (mut sum, mut total) = (0.0, 0.0);
    for index in expected(outline) {
        let node = outline.node(index);
        let weight = node.bounds.area().max(1.0).sqrt();
        total += weight;
        let Some(at) = covering(outline, emitted, index) else { continue };
        let target = &emitted.nodes[at];
        let source = node.bounds.translate(-origin.x, -origin.y);
        let place = if target.source_ids.iter().any(|id| *id == node.id) {
            target.place
        } else {
            // Within an instance: it lies where the region has it, as far as the instance covers the region.
            let Place { x, y, width, height } = target.place;
            let inside = source.x >= x - 1.0
                && source.y >= y - 1.0
                && source.right() <= x + width + 1.0
                && source.bottom() <= y + height + 1.0;
            sum += if inside { weight * fit_of(target) } else { 0.0 };
            continue;
        };
        let place = heddle_figma::Rect { x: place.x, y: place.y, width: place.width, height: place.height };
        sum += weight * source.iou(&place);
    }
    (total > 0.0).then(|| sum / total)
}

fn fit_of(node: &Node) -> f64 {
    if let NodeKind::Instance(instance) = &node.kind { instance.fit } else { 1.0 }
}

/// The emitted node for a source node: its own, or the instance that took in a layer above.
fn covering(outline: &Outline<'_, '_>, emitted: &Emitted<'_>, index: NodeIndex) -> Option<usize> {
    let own = emitted.by_source.get(outline.node(index).id.as_ref()).copied();
    own.or_else(|| {
        outline.document.ancestors(index).take_while(|a| a.0 >= outline.frame.0).find_map(|above| {
            let at = *emitted.by_source.get(outline.node(above).id.as_ref())?;
            matches!(emitted.nodes[at].kind, NodeKind::Instance(_)).then_some(at)
        })
    })
}

fn kit(assembly: &Assembly) -> Option<f64> {
    let total: f64 = assembly.regions.iter().map(|r| r.weight).sum();
    let sum: f64 = assembly.regions.iter().map(|r| r.weight * r.fit).sum();
    (total > 0.0).then(|| sum / total)
}

fn hierarchy(outline: &Outline<'_, '_>, emitted: &Emitted<'_>) -> Option<f64> {
    // Pairs (nearest kept ancestor, node). A layer is kept where the outline gives it a role that matters.
    let kept = |index: NodeIndex| outline.part(index).seen && outline.part(index).role != Role::None;
    let (mut pairs, mut shared) = (0_usize, 0_usize);
    for index in expected(outline) {
        let ancestor = outline.document.ancestors(index).take_while(|a| a.0 >= outline.frame.0).find(|a| {
            // A wrapper with a single thing in it groups nothing.
            kept(*a)
                && (*a == outline.frame || outline.document.children(*a).filter(|c| kept(*c)).count() > 1)
        });
        let Some(ancestor) = ancestor else { continue };
        pairs += 1;
        let (Some(own), Some(above)) =
            (covering(outline, emitted, index), covering(outline, emitted, ancestor))
        else {
            continue;
        };
        let parent = emitted.nodes[own].parent_at;
        shared += usize::from(
            own == above || parent == Some(above) || parent.is_some_and(|p| within(emitted, p, above)),
        );
    }
    if pairs == 0 {
        return None;
    }
    let f1 = shared as f64 / pairs as f64;
    let order: Vec<usize> = outline.texts.iter().filter_map(|t| covering(outline, emitted, *t)).collect();
    Some(0.7 * f1 + 0.3 * (1.0 - inversions(&order)))
}

/// Whether `at` lies in the frame `above` through wrappers alone.
fn within(emitted: &Emitted<'_>, mut at: usize, above: usize) -> bool {
    for _ in 0..4 {
        if at == above {
            return true;
        }
        match emitted.nodes[at].parent_at {
            Some(parent) => at = parent,
            None => return false,
        }
    }
    false
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
        let preserved =
            matches!(appearance.rendered_kind, Some(RenderedKind::Preserved | RenderedKind::PreservedInKit));
        if appearance.must_preserve && !preserved {
            cost += appearance.weight;
        } else if appearance.action == Action::Simplify && preserved {
            cost += 0.4 * appearance.weight;
        }
    }
    (total > 0.0).then(|| 1.0 - cost / total)
}

/// Text writes whose slot is not there or is written twice, over all text writes.
fn violations(nodes: &[Node]) -> f64 {
    let (mut lost, mut all) = (0_usize, 0_usize);
    for node in nodes {
        match &node.kind {
            NodeKind::Text { .. } => all += 1,
            NodeKind::Instance(instance) => {
                all += instance.texts.len();
                for (at, write) in instance.texts.iter().enumerate() {
                    let again = instance.texts[..at].iter().any(|before| before.path == write.path);
                    lost += usize::from(again || write.path.is_empty());
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

//! Which row of the kit may stand for a component of the design: hard guards first, then a deterministic ranking
//! (D11). Ties fall to the default variant, then to the row's key.

use std::collections::{BTreeMap, HashMap};

use heddle_figma::{NodeIndex, Paint, PropertyValue};
use serde::Serialize;

use crate::kit::{Kit, Row};
use crate::lexicon::{Archetype, archetype_of, name_similarity, words};
use crate::number::round;
use crate::outline::Outline;
use crate::slots::assign;

/// Why a row may not stand for a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Guard {
    /// Fewer slots than strings.
    Capacity,
    /// Far from the region's size.
    Size,
    /// It would swallow controls that it doesn't have.
    Controls,
    /// It is something else.
    Meaning,
}

/// What a region asks of a row.
#[derive(Debug, Clone)]
pub struct Region {
    /// Its layer.
    pub index: NodeIndex,
    /// What it is.
    pub archetype: Option<Archetype>,
    /// How sure that is.
    pub confidence: f64,
    /// Words of its component's or layer's name.
    pub words: Vec<String>,
    /// Values of its variant axes, and what else names its state.
    pub values: Vec<String>,
    /// Strings to place.
    pub texts: usize,
    /// Icons in it.
    pub graphics: usize,
    /// Images in it.
    pub images: usize,
    /// Controls below it.
    pub controls: usize,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// A row chosen for a region.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// Its place in [`Kit::rows`].
    pub row: usize,
    /// How well it fits, 0..=1.
    pub fit: f64,
}

/// What was weighed for a region, for the audit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decision {
    /// The layer.
    pub node_id: String,
    /// Its name.
    pub name: String,
    /// What it was taken for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archetype: Option<Archetype>,
    /// The row chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// Fit of the row chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<f64>,
    /// The next best, with their fits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<(String, f64)>,
    /// How many rows each guard kept out.
    pub refused: BTreeMap<Guard, usize>,
}

/// Below this a row is no better than the layer itself.
const ACCEPT: f64 = 0.5;
/// Rows whose texts are tried out.
const SHORTLIST: usize = 16;

/// Chooses rows for one run: the same master gets the same answer throughout.
pub struct Selector<'k> {
    kit: &'k Kit,
    by_archetype: HashMap<Archetype, Vec<usize>>,
    controls: Vec<usize>,
    icon_buttons: Vec<usize>,
    pictures: Vec<usize>,
    icons: Vec<usize>,
    concepts: Vec<Vec<(Family, u8, bool)>>,
    demands: HashMap<String, Demand>,
    masters: HashMap<String, Option<Choice>>,
    /// What was decided, in the order of deciding.
    pub decisions: Vec<Decision>,
}

/// The most that the appearances of one master ask for, so that one answer serves them all.
#[derive(Debug, Clone, Default)]
struct Demand {
    /// Widths and heights of the appearances.
    sizes: Vec<(f64, f64)>,
    texts: usize,
    graphics: usize,
    images: usize,
    controls: usize,
}

impl Demand {
    /// The size in the middle, so that one odd appearance doesn't decide for all.
    fn median_size(&self) -> (f64, f64) {
        let middle = |of: fn(&(f64, f64)) -> f64| {
            let mut all: Vec<f64> = self.sizes.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied().unwrap_or(0.0)
        };
        (middle(|size| size.0), middle(|size| size.1))
    }
}

impl<'k> Selector<'k> {
    /// For this kit, and the masters that the frame shows.
    pub fn new(kit: &'k Kit, outline: &Outline<'_, '_>) -> Self {
        let mut demands: HashMap<String, Demand> = HashMap::new();
        for index in outline.document.subtree(outline.frame).map(NodeIndex) {
            let part = outline.part(index);
            let Some(id) = outline.node(index).component_id().filter(|_| part.seen) else { continue };
            let most = demands.entry(id.to_owned()).or_default();
            let bounds = outline.node(index).bounds;
            most.sizes.push((bounds.width, bounds.height));
            most.texts = most.texts.max(part.texts as usize);
            most.graphics = most.graphics.max(part.graphics as usize);
            most.images = most.images.max(part.images as usize);
            most.controls = most.controls.max(part.controls as usize);
        }
        let mut by_archetype: HashMap<Archetype, Vec<usize>> = HashMap::new();
        for (at, row) in kit.rows.iter().enumerate() {
            if let Some(archetype) = row.archetype {
                by_archetype.entry(archetype).or_default().push(at);
            }
        }
        let count = |of: fn(Archetype) -> bool| {
            let nested =
                |row: &Row| row.nested.iter().filter(|n| archetype_of(&n.name).is_some_and(of)).count();
            kit.rows.iter().map(nested).collect::<Vec<_>>()
        };
        Self {
            controls: count(Archetype::is_control),
            icon_buttons: count(|a| a == Archetype::IconButton),
            pictures: count(|a| matches!(a, Archetype::Image | Archetype::Avatar | Archetype::Chart)),
            icons: count(Archetype::is_artwork),
            concepts: kit.rows.iter().map(row_concepts).collect(),
            kit,
            by_archetype,
            demands,
            masters: HashMap::new(),
            decisions: Vec::new(),
        }
    }

    /// The row for a layer, or `None` where none may stand for it.
    pub fn choose(&mut self, outline: &Outline<'_, '_>, index: NodeIndex) -> Option<Choice> {
        let node = outline.node(index);
        let mut region = region(outline, index);
        let Some(master) = node.component_id() else {
            let (choice, decision) = self.decide(&region, outline);
            self.decisions.push(decision);
            return choice;
        };
        if let Some(known) = self.masters.get(master) {
            // The size of this appearance may still be out of range.
            return known.filter(|choice| self.guard(&region, choice.row).is_none());
        }
        let own = region.clone();
        if let Some(most) = self.demands.get(master) {
            region.texts = most.texts;
            region.graphics = most.graphics;
            region.images = most.images;
            region.controls = most.controls;
            (region.width, region.height) = most.median_size();
        }
        let (choice, decision) = self.decide(&region, outline);
        self.decisions.push(decision);
        self.masters.insert(master.to_owned(), choice);
        choice.filter(|choice| self.guard(&own, choice.row).is_none())
    }

    /// The best row of one archetype for a box, without texts: an image or an avatar.
    pub fn atom(&self, archetype: Archetype, width: f64, height: f64) -> Option<Choice> {
        self.atoms(archetype).fold(None, |best: Option<Choice>, at| {
            let row = &self.kit.rows[at];
            let fit = closeness(row, width, height) * 0.8 + if row.is_default { 0.2 } else { 0.1 };
            if fit > best.map_or(0.0, |b| b.fit) { Some(Choice { row: at, fit }) } else { best }
        })
    }

    /// The kit's chart of the kind that the names or the shape speak of.
    pub fn chart(&self, names: &[&str], is_ring: bool, width: f64, height: f64) -> Option<Choice> {
        const KINDS: [&[&str]; 3] = [
            &["line", "lines", "area", "trend", "sparkline", "spark"],
            &["bar", "bars", "column", "columns", "histogram"],
            &["donut", "doughnut", "ring", "pie", "arc", "radial"],
        ];
        let kind_of = |text: &str| {
            let words = words(text);
            KINDS.iter().position(|kind| words.iter().any(|word| kind.contains(&word.as_str())))
        };
        let wanted = if is_ring { Some(2) } else { names.iter().find_map(|name| kind_of(name)) };
        self.atoms(Archetype::Chart).fold(None, |best: Option<Choice>, at| {
            let row = &self.kit.rows[at];
            let shown = row.variant_props.values().find_map(|value| kind_of(value));
            let agrees = match (wanted, shown) {
                (Some(wanted), Some(shown)) => f64::from(u8::from(wanted == shown)),
                _ => 0.5,
            };
            let fit = 0.5 * agrees + 0.5 * closeness(row, width, height);
            if fit > best.map_or(0.0, |b| b.fit) { Some(Choice { row: at, fit }) } else { best }
        })
    }

    /// A kit icon that shows what the layer's name says, else one that says that it is a placeholder. Never just any
    /// icon: a wrong one would say something that the design doesn't.
    pub fn icon(&self, name: &str, width: f64, height: f64) -> Option<Choice> {
        const GENERAL: [&str; 12] = [
            "icon",
            "icons",
            "ico",
            "ic",
            "placeholder",
            "generic",
            "default",
            "outline",
            "solid",
            "filled",
            "24",
            "16",
        ];
        let said: Vec<String> = words(name).into_iter().filter(|w| !GENERAL.contains(&w.as_str())).collect();
        let mut best: Option<Choice> = None;
        for at in self.atoms(Archetype::Icon) {
            let row = &self.kit.rows[at];
            let shows: Vec<&String> = row.words.iter().filter(|w| !GENERAL.contains(&w.as_str())).collect();
            let shared = shows.iter().filter(|word| said.contains(word)).count();
            let meaning = if shared > 0 {
                shared as f64 / said.len().max(shows.len()) as f64
            } else if shows.is_empty() {
                0.2
            } else {
                continue;
            };
            let fit =
                0.6 * meaning + 0.3 * closeness(row, width, height) + if row.is_default { 0.1 } else { 0.0 };
            if fit > best.map_or(0.0, |b| b.fit) {
                best = Some(Choice { row: at, fit });
            }
        }
        best
    }

    fn atoms(&self, archetype: Archetype) -> impl Iterator<Item = usize> + use<'_> {
        let rows = self.by_archetype.get(&archetype).map(Vec::as_slice).unwrap_or_default();
        // A chart without its title is a chart still; other atoms have nothing to say.
        let silent = move |at: &usize| {
            archetype == Archetype::Chart || !self.kit.rows[*at].slots.iter().any(|slot| slot.shown)
        };
        rows.iter().copied().filter(silent)
    }

    fn decide(&self, region: &Region, outline: &Outline<'_, '_>) -> (Option<Choice>, Decision) {
        let mut refused: BTreeMap<Guard, usize> = BTreeMap::new();
        let mut ranked: Vec<Choice> = Vec::new();
        let wanted = concepts(&region.values);
        for at in 0..self.kit.rows.len() {
            match self.guard(region, at) {
                Some(guard) => *refused.entry(guard).or_default() += 1,
                None => ranked.push(Choice { row: at, fit: self.fit(region, at, &wanted) }),
            }
        }
        let rows = &self.kit.rows;
        let by_fit = |a: &Choice, b: &Choice| {
            let order = b.fit.total_cmp(&a.fit);
            order
                .then_with(|| rows[b.row].is_default.cmp(&rows[a.row].is_default))
                .then_with(|| rows[a.row].key.cmp(&rows[b.row].key))
        };
        ranked.sort_by(by_fit);
        // How well the texts would sit is dearer to know, so only of those in front.
        ranked.truncate(SHORTLIST);
        let texts = outline.texts_below(region.index);
        for choice in &mut ranked {
            choice.fit -= 0.35 * assign(outline, region.index, texts, &rows[choice.row]).strain;
        }
        ranked.sort_by(by_fit);
        let choice = ranked.first().copied().filter(|best| best.fit >= ACCEPT);
        let node = outline.node(region.index);
        let rest = ranked.iter().skip(usize::from(choice.is_some())).take(3);
        let decision = Decision {
            node_id: node.id.to_string(),
            name: node.name.to_string(),
            archetype: region.archetype,
            row: choice.map(|c| rows[c.row].key.clone()),
            fit: choice.map(|c| round(c.fit)),
            alternatives: rest.map(|c| (rows[c.row].key.clone(), round(c.fit))).collect(),
            refused,
        };
        (choice, decision)
    }

    /// The first guard that a row fails.
    fn guard(&self, region: &Region, at: usize) -> Option<Guard> {
        let row = &self.kit.rows[at];
        if meaning(region, row) <= 0.0 {
            return Some(Guard::Meaning);
        }
        if row.capacity() < region.texts {
            return Some(Guard::Capacity);
        }
        if region.controls > self.controls[at] {
            return Some(Guard::Controls);
        }
        let (low, high) = match row.archetype {
            Some(Archetype::Card | Archetype::Image | Archetype::Modal) => (0.4, 3.0),
            Some(Archetype::Divider | Archetype::SideNav | Archetype::Progress | Archetype::Slider) => {
                (0.1, 10.0)
            }
            _ => (0.7, 1.8),
        };
        // Components stretch sideways; upwards they have a size of their own.
        let (wide, tall) = (region.width / row.size.width.max(1.0), region.height / row.size.height.max(1.0));
        let wide_low = if row.archetype == Some(Archetype::Chart) { 0.7 } else { low * 0.3 };
        let in_range = (wide_low..=high * 3.0).contains(&wide) && (low..=high).contains(&tall);
        (!in_range).then_some(Guard::Size)
    }

    fn fit(&self, region: &Region, at: usize, wanted: &[(Family, u8)]) -> f64 {
        let row = &self.kit.rows[at];
        let shown = row.slots.iter().filter(|s| s.shown).count();
        let unused = shown.saturating_sub(region.texts) as f64;
        let icons = self.icons[at].abs_diff(region.graphics) as f64;
        let pictures = region.images.saturating_sub(self.pictures[at]) as f64
            + 0.3 * self.pictures[at].saturating_sub(region.images) as f64;
        let spare = 0.15 * self.controls[at].saturating_sub(region.controls + self.icon_buttons[at]) as f64;
        let structure = (1.0
            - spare
            - 0.3 * unused / (1.0 + 0.15 * shown as f64)
            - 0.12 * icons.min(4.0)
            - 0.3 * pictures.min(3.0))
        .max(0.0);
        let variant = agreement(&self.concepts[at], wanted);
        0.45 * meaning(region, row)
            + 0.22 * structure
            + 0.2 * closeness(row, region.width, region.height)
            + 0.13 * variant
    }
}

/// How far the row is what the region is, 0..=1.
fn meaning(region: &Region, row: &Row) -> f64 {
    if let (Some(asked), Some(given)) = (region.archetype, row.archetype) {
        return asked.affinity(given) * (0.6 + 0.4 * region.confidence);
    }
    let similar = name_similarity(&region.words, &row.words);
    if similar >= 0.5 { similar * 0.8 } else { 0.0 }
}

/// How near the row's size is, 0..=1; height counts more, since components stretch sideways.
fn closeness(row: &Row, width: f64, height: f64) -> f64 {
    let off = |a: f64, b: f64| (a.max(1.0) / b.max(1.0)).ln().abs();
    (-(0.6 * off(width, row.size.width) + 1.2 * off(height, row.size.height))).exp()
}

fn region(outline: &Outline<'_, '_>, index: NodeIndex) -> Region {
    let (node, part) = (outline.node(index), outline.part(index));
    let mut values: Vec<String> = Vec::new();
    for (key, value) in node.facts().map(|f| f.properties.as_slice()).unwrap_or_default() {
        match value {
            PropertyValue::Variant(value) => {
                values.push(format!("{key}={value}"));
                values.push(value.to_string());
            }
            PropertyValue::Boolean(on) => values.push(format!("{key}={on}")),
            _ => {}
        }
    }
    if let Some(meta) = node.component_id().and_then(|id| outline.document.components.get(id)) {
        values.push(meta.name.to_string());
    }
    values.push(node.name.to_string());
    if concepts(&values).iter().all(|(family, _)| *family != Family::Emphasis) {
        values.extend(emphasis(outline, index).map(str::to_owned));
    }
    let name = outline.component_name(node).unwrap_or(&node.name);
    Region {
        index,
        archetype: part.archetype,
        confidence: part.confidence,
        words: words(name),
        values,
        texts: part.texts as usize,
        graphics: part.graphics as usize,
        images: part.images as usize,
        controls: part.controls as usize,
        width: node.bounds.width,
        height: node.bounds.height,
    }
}

/// How loud a control looks, in the word for it, where its names don't say.
fn emphasis(outline: &Outline<'_, '_>, index: NodeIndex) -> Option<&'static str> {
    if !outline.part(index).archetype.is_some_and(Archetype::is_control) {
        return None;
    }
    let painted = outline.document.subtree(index).map(NodeIndex).take(8).find(|i| outline.stands_out(*i));
    let Some(node) = painted.map(|i| outline.node(i)) else { return Some("ghost") };
    let color = node.fills.iter().rev().find_map(Paint::solid).filter(|c| c.a > 0.5);
    Some(match color {
        Some(color) if color.luminance() < 0.4 => "primary",
        _ => "secondary",
    })
}

/// What axes of variants are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Size,
    Emphasis,
    State,
    Switched,
}

/// Words that say the same about a component, by family. General vocabulary, of no kit in particular.
const CONCEPTS: &[(Family, u8, &[&str])] = &[
    (Family::Size, 0, &["xs", "sm", "small", "s", "compact", "mini", "小"]),
    (Family::Size, 1, &["md", "medium", "m", "regular", "中"]),
    (Family::Size, 2, &["lg", "large", "l", "xl", "big", "大"]),
    (Family::Emphasis, 0, &["primary", "filled", "solid", "main", "contained", "strong", "brand"]),
    (Family::Emphasis, 1, &["secondary", "outlined", "outline", "stroke", "tonal", "soft", "subtle"]),
    (Family::Emphasis, 2, &["tertiary", "ghost", "text", "link", "plain", "quiet"]),
    (Family::State, 0, &["default", "rest", "enabled", "normal", "idle"]),
    (Family::State, 1, &["hover", "hovered"]),
    (Family::State, 2, &["focus", "focused", "filled in", "typing"]),
    (Family::State, 3, &["disabled", "inactive", "disable"]),
    (Family::State, 4, &["error", "invalid", "danger", "destructive", "negative"]),
    (Family::State, 5, &["pressed", "active"]),
    (Family::Switched, 0, &["off", "unchecked", "unselected", "false", "no"]),
    (Family::Switched, 1, &["on", "checked", "selected", "true", "yes", "current"]),
];

fn concepts(values: &[String]) -> Vec<(Family, u8)> {
    let mut found = Vec::new();
    for value in values {
        let words = words(value);
        for (family, rank, synonyms) in CONCEPTS {
            // `Has icon=true` speaks of the icon, not of being switched on.
            let about_part =
                words.iter().any(|w| matches!(w.as_str(), "icon" | "label" | "show" | "has" | "with"));
            if *family == Family::Switched && about_part {
                continue;
            }
            if synonyms.iter().any(|s| words.iter().any(|w| w == s)) && !found.contains(&(*family, *rank)) {
                found.push((*family, *rank));
            }
        }
    }
    found
}

fn row_concepts(row: &Row) -> Vec<(Family, u8, bool)> {
    let values: Vec<String> =
        row.variant_props.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
    concepts(&values).into_iter().map(|(family, rank)| (family, rank, row.is_default)).collect()
}

/// How far the row's variant says what the design's does, 0..=1; 0.5 where nothing can be compared.
fn agreement(row: &[(Family, u8, bool)], wanted: &[(Family, u8)]) -> f64 {
    let mut score: f64 = 0.5;
    for (family, rank, is_default) in row {
        let asked: Vec<u8> = wanted.iter().filter(|(f, _)| f == family).map(|(_, rank)| *rank).collect();
        if asked.contains(rank) {
            score += 0.25;
        } else if !asked.is_empty() {
            score -= 0.25;
        } else if !(*is_default || matches!(family, Family::State | Family::Switched) && *rank == 0) {
            score -= 0.1;
        }
    }
    score.clamp(0.0, 1.0)
}

//! Which artwork carries meaning and must be kept, and which may become a placeholder (D12). By simple evidence,
//! all of it kept in the result.

use std::collections::BTreeMap;

use heddle_figma::{NodeIndex, Rect};
use serde::Serialize;

use crate::lexicon::{Archetype, archetype_of};
use crate::outline::{Outline, Role};

/// What is to become of a graphic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Kept as drawn.
    Preserve,
    /// A placeholder is enough.
    Simplify,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RenderedKind {
    /// Drawn as in the source.
    Preserved,
    /// Drawn as in the source, where a kit component has its icon.
    PreservedInKit,
    /// A kit component's own artwork stands for it.
    Kit,
    /// An ink placeholder.
    Ink,
    /// A kit component covers it without any artwork of its own.
    Covered,
}

/// A reason for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Its name, or its component's, says logo.
    NamedLogo,
    /// A text stands beside it in the same control or row.
    LabelBeside,
    /// Nothing beside it says what it means.
    StandsAlone,
    /// It is large: an illustration.
    Illustration,
    /// It is tiny: decoration.
    Tiny,
}

/// One appearance of a graphic, with what was decided and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Appearance {
    /// Its node.
    pub node_id: String,
    /// Its name.
    pub name: String,
    /// The component that it shows, where it is an instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component_id: Option<String>,
    /// The decision.
    pub action: Action,
    /// Whether losing it would lose meaning.
    pub must_preserve: bool,
    /// Why.
    pub evidence: Vec<Evidence>,
    /// What became of it, once the kit is placed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rendered_kind: Option<RenderedKind>,
    /// The wireframe node that covers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered_by: Option<String>,
    /// √area, its weight in the score.
    #[serde(skip)]
    pub weight: f64,
}

impl Appearance {
    /// Whether it is drawn as in the source.
    pub fn is_preserved(&self) -> bool {
        matches!(self.rendered_kind, Some(RenderedKind::Preserved | RenderedKind::PreservedInKit))
    }

    /// Whether a meaning is gone.
    pub fn is_lost(&self) -> bool {
        self.must_preserve && !self.is_preserved()
    }
}

/// Decisions by graphic, in document order.
pub type Classification = BTreeMap<NodeIndex, Appearance>;

/// Decides on every graphic of the frame.
pub fn classify(outline: &Outline<'_, '_>) -> Classification {
    let document = outline.document;
    let graphics =
        document.subtree(outline.frame).map(NodeIndex).filter(|i| outline.part(*i).role == Role::Graphic);
    graphics.map(|index| (index, appearance(outline, index))).collect()
}

fn appearance(outline: &Outline<'_, '_>, index: NodeIndex) -> Appearance {
    let node = outline.node(index);
    let Rect { width, height, .. } = node.bounds;
    let long = width.max(height);
    let named = outline.component_name(node).and_then(archetype_of).or_else(|| archetype_of(&node.name));
    let mut evidence = Vec::new();
    let (action, must_preserve) = if named == Some(Archetype::Logo) {
        evidence.push(Evidence::NamedLogo);
        (Action::Preserve, true)
    } else if long > 96.0 {
        evidence.push(Evidence::Illustration);
        (Action::Simplify, false)
    } else if long < 6.0 {
        evidence.push(Evidence::Tiny);
        (Action::Simplify, false)
    } else if has_label(outline, index) {
        evidence.push(Evidence::LabelBeside);
        (Action::Simplify, false)
    } else {
        evidence.push(Evidence::StandsAlone);
        (Action::Preserve, true)
    };
    Appearance {
        node_id: node.id.to_string(),
        name: node.name.to_string(),
        component_id: node.component_id().map(str::to_owned),
        action,
        must_preserve,
        evidence,
        rendered_kind: None,
        covered_by: None,
        weight: node.bounds.area().max(1.0).sqrt(),
    }
}

/// Whether the control or row that it is part of says something: the nearest layers above that are no larger than a
/// row are asked.
fn has_label(outline: &Outline<'_, '_>, index: NodeIndex) -> bool {
    for above in outline.document.ancestors(index) {
        if above.0 < outline.frame.0 || above == outline.frame {
            return false;
        }
        let part = outline.part(above);
        if outline.node(above).bounds.height > 120.0 {
            return false;
        }
        if part.texts > 0 {
            return true;
        }
        // An icon that can be pressed by itself is its own control.
        if matches!(part.archetype, Some(Archetype::IconButton | Archetype::Fab)) {
            return false;
        }
    }
    false
}

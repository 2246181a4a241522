//! The edge des2wf, whole: a frame and a kit in, a wireframe with its score and its audit out.

use std::collections::HashMap;

use heddle_figma::{Document as Source, NodeIndex, Warnings};
use serde::{Serialize, Serializer};

use crate::assemble::{Assembly, assemble};
use crate::graphics::{Appearance, classify};
use crate::kit::{Kit, Summary};
use crate::lexicon::Archetype;
use crate::library::{DesignNames, Place};
use crate::number::round;
use crate::outline::{Outline, Role, UnseenText};
use crate::score::{Score, score};
use crate::select::Decision;
use crate::wireframe;

/// Schema of [`ResultDocument`].
pub const RESULT_SCHEMA: &str = "heddle.des2wf.result/v1";
/// Schema of [`ParseDocument`].
pub const PARSE_SCHEMA: &str = "heddle.des2wf.parse/v1";

/// Why a frame could not be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The kit has no row to choose from.
    #[error(
        "the kit has no usable component ({entries} entries read, {unreachable} unreachable); sweep the kit's file first"
    )]
    EmptyKit {
        /// Documents read.
        entries: usize,
        /// Dropped as unreachable.
        unreachable: usize,
    },
    /// The parsed tree can't be written as JSON.
    #[error("could not write the parsed tree: {0}")]
    Write(String),
    /// Nothing of the frame can be seen.
    #[error("nothing in {name:?} can be seen: every layer is hidden, transparent or empty")]
    NothingSeen {
        /// The frame's name.
        name: String,
    },
}

impl ConvertError {
    /// Stable code in snake case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::EmptyKit { .. } => "empty_kit",
            Self::Write(_) => "write_failed",
            Self::NothingSeen { .. } => "nothing_seen",
        }
    }
}

/// One part of the outline, as `parse.json` has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParsedNode<'d> {
    /// Its node.
    pub id: &'d str,
    /// Its parent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<&'d str>,
    /// The layer's name.
    pub name: &'d str,
    /// What it is for.
    pub role: Role,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archetype: Option<Archetype>,
    /// The component that it shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component: Option<&'d str>,
    /// Its box, from the frame's top left corner.
    #[serde(rename = "box")]
    pub place: Place,
    /// What it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub characters: Option<&'d str>,
}

/// The parsed tree that a run relies on (`parse.json`).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParseDocument<'d> {
    /// [`PARSE_SCHEMA`].
    pub schema: &'static str,
    /// The frame.
    pub node_id: &'d str,
    /// Its name.
    pub name: &'d str,
    /// What can be seen, in document order, parents first.
    pub nodes: Vec<ParsedNode<'d>>,
    /// Texts that can't be seen, and why.
    pub unseen_texts: &'d [UnseenText],
}

/// Where the frame's strings went (D10).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextLedger {
    /// Strings that can be seen.
    pub seen: usize,
    /// Of these, those that the wireframe says.
    pub kept: usize,
    /// Node ids of those that it doesn't say; always empty, or the conversion has a defect.
    pub lost: Vec<String>,
    /// Strings that can't be seen in the design, and why.
    pub unseen: Vec<UnseenText>,
}

/// How sure the result is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confidence {
    /// What a person should look at: components without a match, and meaning that a placeholder hides.
    pub flag_count: u32,
}

/// A warning in a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarningEntry(pub heddle_figma::Warning);

impl Serialize for WarningEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", self.0.code)?;
        map.serialize_entry("message", &self.0.message)?;
        if let Some(node_id) = &self.0.node_id {
            map.serialize_entry("node_id", node_id)?;
        }
        map.serialize_entry("count", &self.0.count)?;
        map.end()
    }
}

/// The run's own document (`result.json`).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResultDocument {
    /// [`RESULT_SCHEMA`].
    pub schema: &'static str,
    /// `des2wf`.
    pub edge: &'static str,
    /// The source frame.
    pub node_id: String,
    /// Its name.
    pub name: String,
    /// The score with its parts and band.
    pub score: Score,
    /// How sure it is.
    pub confidence: Confidence,
    /// Where the strings went.
    pub text: TextLedger,
    /// What the wireframe has.
    pub summary: wireframe::Summary,
    /// What was weighed for each component.
    pub selection: Vec<Decision>,
    /// Per appearance: evidence, decision, and what became of it (D12).
    pub graphic_classification: Vec<Appearance>,
    /// The kit that was chosen from.
    pub kit: Summary,
    /// What was skipped, mended or missing.
    pub warnings: Vec<WarningEntry>,
}

/// What a conversion makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversion {
    /// The wireframe, its `_id` still empty.
    pub wireframe: wireframe::Document,
    /// The result document.
    pub result: ResultDocument,
    /// `parse.json`.
    pub parse_json: Vec<u8>,
}

/// Converts one frame.
///
/// # Errors
/// See [`ConvertError`].
pub fn convert(
    source: &Source<'_>,
    frame: NodeIndex,
    kit: &Kit,
    design: &DesignNames,
) -> Result<Conversion, ConvertError> {
    if kit.rows.is_empty() {
        let Summary { entries, unreachable, .. } = kit.summary;
        return Err(ConvertError::EmptyKit { entries, unreachable });
    }
    let outline = Outline::of(source, frame, design);
    let node = source.node(frame);
    let has_content = outline.parts.iter().any(|p| p.seen && !matches!(p.role, Role::None | Role::Container));
    if !has_content {
        return Err(ConvertError::NothingSeen { name: node.name.to_string() });
    }
    let graphics = classify(&outline);
    let assembly = assemble(&outline, kit, graphics);
    let score = score(&outline, &assembly, kit);
    let text = ledger(&outline, &assembly.said());
    let parse_json =
        serde_json::to_vec(&parse(&outline)).map_err(|error| ConvertError::Write(error.to_string()))?;
    let Assembly { wireframe, graphics, decisions, regions, warnings } = assembly;
    let unmatched = regions.iter().filter(|r| r.fit <= 0.0).count();
    let hidden = graphics.iter().filter(|graphic| graphic.is_lost()).count();
    let mut all = Warnings::default();
    all.extend(&source.warnings);
    all.extend(&outline.warnings);
    all.extend(&warnings);
    if !text.lost.is_empty() {
        all.add("text_lost", text.lost.first().map(String::as_str), || {
            "a string that can be seen is not in the wireframe".to_owned()
        });
    }
    let result = ResultDocument {
        schema: RESULT_SCHEMA,
        edge: "des2wf",
        node_id: node.id.to_string(),
        name: node.name.to_string(),
        score,
        confidence: Confidence { flag_count: (unmatched + hidden) as u32 },
        text,
        summary: wireframe.summary.clone(),
        selection: decisions,
        graphic_classification: graphics,
        kit: kit.summary.clone(),
        warnings: all.iter().cloned().map(WarningEntry).collect(),
    };
    Ok(Conversion { wireframe, result, parse_json })
}

fn ledger(outline: &Outline<'_, '_>, said: &HashMap<&str, Vec<&str>>) -> TextLedger {
    let lost: Vec<String> = outline
        .texts
        .iter()
        .map(|index| outline.node(*index))
        .filter(|node| {
            let says = node.characters().unwrap_or_default();
            !said.get(node.id.as_ref()).is_some_and(|said| said.contains(&says))
        })
        .map(|node| node.id.to_string())
        .collect();
    let seen = outline.texts.len();
    TextLedger { seen, kept: seen - lost.len(), lost, unseen: outline.unseen.clone() }
}

fn parse<'o>(outline: &'o Outline<'_, '_>) -> ParseDocument<'o> {
    let document = outline.document;
    let frame = document.node(outline.frame);
    let seen = document.subtree(outline.frame).map(NodeIndex).filter(|i| {
        let part = outline.part(*i);
        part.seen && part.role != Role::None
    });
    let nodes = seen
        .map(|index| {
            let (node, part) = (document.node(index), outline.part(index));
            let bounds = node.bounds.translate(-frame.bounds.x, -frame.bounds.y);
            ParsedNode {
                id: &node.id,
                parent: node.parent.filter(|_| index != outline.frame).map(|p| document.node(p).id.as_ref()),
                name: &node.name,
                role: part.role,
                archetype: part.archetype,
                component: outline.component_name(node),
                place: Place {
                    x: round(bounds.x),
                    y: round(bounds.y),
                    width: round(bounds.width),
                    height: round(bounds.height),
                },
                characters: node.characters(),
            }
        })
        .collect();
    ParseDocument {
        schema: PARSE_SCHEMA,
        node_id: &frame.id,
        name: &frame.name,
        nodes,
        unseen_texts: &outline.unseen,
    }
}

//! What goes over the wire about workflows: the one place where they become JSON.

mod commands;
mod definitions;
mod instances;

use heddle_store::workflows::Morph;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) use commands::*;
pub(crate) use definitions::*;
pub(crate) use instances::*;

use crate::people::People;

/// A record of somebody's: its type and its key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordView {
    /// Its type.
    #[serde(rename = "type")]
    kind: String,
    /// Its key.
    id: String,
}

impl RecordView {
    fn of(morph: Morph, people: &People) -> Self {
        let Morph { kind, id } = people.shown(morph);
        Self { kind, id }
    }
}

/// What starts instances.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TriggerView {
    /// `manual` or `event`.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    /// The event's key.
    pub(super) key: Option<String>,
}

fn text(at: Option<Timestamp>) -> Option<String> {
    at.map(|at| at.to_string())
}

//! The workflow tables: their names and the types of their keys (W1, W2).

use std::collections::BTreeMap;

use heddle_store::workflows::{KeyType, KeyTypes, Schema, TableNames};

use super::field::Secret;
use super::file::WorkflowsEntry;
use super::{Join, parse_file};
use crate::failure::Failure;

/// What `heddle workflows install` sets by flags.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkflowKeys {
    /// `--primary-key`.
    pub primary: Option<KeyType>,
    /// `--owner-key`.
    pub owner: Option<KeyType>,
    /// `--subject-key`.
    pub subject: Option<KeyType>,
    /// `--key-type`.
    pub morph: Option<KeyType>,
}

/// Where workflows are, and their tables as the settings describe them.
pub struct Workflows {
    /// The connection string of a `PostgreSQL` database; `None`: a file in the data folder.
    pub database_url: Option<String>,
    /// The tables' names and types of keys.
    pub schema: Schema,
}

/// Joins the settings of workflows.
pub(super) fn workflows(
    file: WorkflowsEntry,
    flags: WorkflowKeys,
    join: &mut Join<'_>,
) -> Result<Workflows, Failure> {
    let WorkflowsEntry { database_url, primary_key_type, owner_key_type, subject_key_type, key_type, tables } =
        file;
    let database_url = join.optional(
        "workflows.database_url",
        "HEDDLE_WORKFLOWS_DATABASE_URL",
        None,
        database_url.map(Secret),
    )?;
    let mut key = |key, variable, flag, file: Option<String>| {
        let file = file.map(|text| parse_file(key, &text)).transpose()?;
        join.setting(key, variable, flag, file, KeyType::default())
    };
    let keys = KeyTypes {
        primary: key(
            "workflows.primary_key_type",
            "HEDDLE_WORKFLOWS_PRIMARY_KEY_TYPE",
            flags.primary,
            primary_key_type,
        )?,
        owner: key(
            "workflows.owner_key_type",
            "HEDDLE_WORKFLOWS_OWNER_KEY_TYPE",
            flags.owner,
            owner_key_type,
        )?,
        subject: key(
            "workflows.subject_key_type",
            "HEDDLE_WORKFLOWS_SUBJECT_KEY_TYPE",
            flags.subject,
            subject_key_type,
        )?,
        morph: key("workflows.key_type", "HEDDLE_WORKFLOWS_KEY_TYPE", flags.morph, key_type)?,
    };
    let tables = tables_of(tables.unwrap_or_default(), join)?;
    let schema =
        Schema::new(tables, keys).map_err(|error| Failure::usage(format!("workflows.tables: {error}")))?;
    Ok(Workflows { database_url: database_url.map(|secret| secret.0), schema })
}

fn tables_of(mut file: BTreeMap<String, String>, join: &mut Join<'_>) -> Result<TableNames, Failure> {
    let defaults = TableNames::default();
    let mut name = |table: &str, variable, default: String| {
        join.setting(&format!("workflows.tables.{table}"), variable, None, file.remove(table), default)
    };
    let tables = TableNames {
        definitions: name("definitions", "HEDDLE_WORKFLOWS_TABLE_DEFINITIONS", defaults.definitions)?,
        versions: name("versions", "HEDDLE_WORKFLOWS_TABLE_VERSIONS", defaults.versions)?,
        instances: name("instances", "HEDDLE_WORKFLOWS_TABLE_INSTANCES", defaults.instances)?,
        step_runs: name("step_runs", "HEDDLE_WORKFLOWS_TABLE_STEP_RUNS", defaults.step_runs)?,
        waits: name("waits", "HEDDLE_WORKFLOWS_TABLE_WAITS", defaults.waits)?,
        escalations: name("escalations", "HEDDLE_WORKFLOWS_TABLE_ESCALATIONS", defaults.escalations)?,
        idempotency_keys: name(
            "idempotency_keys",
            "HEDDLE_WORKFLOWS_TABLE_IDEMPOTENCY_KEYS",
            defaults.idempotency_keys,
        )?,
        dry_runs: name("dry_runs", "HEDDLE_WORKFLOWS_TABLE_DRY_RUNS", defaults.dry_runs)?,
    };
    match file.keys().next() {
        None => Ok(tables),
        Some(unknown) => {
            Err(Failure::usage(format!("there is no table {unknown:?} to be named in [workflows.tables]")))
        }
    }
}

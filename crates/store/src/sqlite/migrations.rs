//! The schema's numbered files, applied when somebody asks for it and never by themselves.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior, params};

use super::failed;
use crate::StoreError;
use crate::readers::prepared;
use crate::row::time_text;

/// Every file, ascending; a file's version is its place, from 1. New ones are added at the end.
const FILES: &[(&str, &str)] = &[
    ("runs", include_str!("../../migrations/sqlite/0001_runs.sql")),
    ("dead_messages", include_str!("../../migrations/sqlite/0002_dead_messages.sql")),
];

const NEEDED: u32 = FILES.len() as u32;

const VERSION_TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, \
     name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT";
const VERSION_TABLE_EXISTS: &str =
    "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version')";
const VERSION: &str = "SELECT coalesce(max(version), 0) FROM schema_version";
const NOTE: &str = "INSERT INTO schema_version (version, name, applied_at) VALUES (?1, ?2, ?3)";

/// From which version to which one a database was brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// Before; 0 for a database that was not there.
    pub from: u32,
    /// After.
    pub to: u32,
}

/// Brings the database at `path`, which is made if it is not there, to this program's schema: forward only, in one
/// transaction. Two processes that do it at once are safe. Blocks; not for an async thread.
pub fn migrate(path: &Path, now: Timestamp) -> Result<Migrated, StoreError> {
    const ATTEMPTED: &str = "migrate the database";
    let fail = |error| failed(ATTEMPTED, error);
    let mut connection = Connection::open(path).and_then(prepared).map_err(fail)?;
    // Kept by the file from here on; can't be set inside a transaction.
    connection.pragma_update(None, "journal_mode", "WAL").map_err(fail)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    transaction.execute_batch(VERSION_TABLE).map_err(fail)?;
    let from: u32 = transaction.query_row(VERSION, [], |row| row.get(0)).map_err(fail)?;
    if from > NEEDED {
        return Err(newer(from));
    }
    for (version, (name, statements)) in (1_u32..).zip(FILES).skip(from as usize) {
        transaction.execute_batch(statements).map_err(fail)?;
        transaction.execute(NOTE, params![version, name, time_text(now)]).map_err(fail)?;
    }
    transaction.commit().map_err(fail)?;
    Ok(Migrated { from, to: NEEDED })
}

/// Refuses a database that is not at this program's schema.
pub(super) fn check(connection: &Connection) -> Result<(), StoreError> {
    let fail = |error| failed("read the schema's version", error);
    let exists: bool = connection.query_row(VERSION_TABLE_EXISTS, [], |row| row.get(0)).map_err(fail)?;
    let found = if exists { connection.query_row(VERSION, [], |row| row.get(0)).map_err(fail)? } else { 0 };
    match found {
        NEEDED => Ok(()),
        found if found > NEEDED => Err(newer(found)),
        found => Err(StoreError::Schema { found, needed: NEEDED, remedy: "migrate it first" }),
    }
}

fn newer(found: u32) -> StoreError {
    StoreError::Schema { found, needed: NEEDED, remedy: "use the program that migrated it, or a later one" }
}

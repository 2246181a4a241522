//! `workflow_definitions` and `workflow_versions` on `SQLite`.

use async_trait::async_trait;
use heddle_workflow::{SCHEMA_VERSION, columns};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::codec::{key_value, morph, new_key, row_key};
use super::{WorkflowSqlite, failed};
use crate::StoreError;
use crate::row::time_text;
use crate::workflows::raw::RawVersion;
use crate::workflows::sql::definitions::sqlite as definitions;
use crate::workflows::sql::versions::sqlite as versions;
use crate::workflows::tables::Tables;
use crate::workflows::{Key, NewVersion, PublishError, Publishing, Version, owner_scope};

const READ: &str = "read a version";
const PUBLISH: &str = "publish a version";

#[async_trait]
impl Publishing for WorkflowSqlite {
    async fn publish(&self, version: &NewVersion, now: Timestamp) -> Result<Version, PublishError> {
        let version = version.clone();
        let published =
            self.write(PUBLISH, move |connection, tables| publish(connection, tables, &version, now));
        published.await?.map_err(|present| PublishError::Changed { present })
    }

    async fn current_key(&self, owner_scope: &str, key: &str) -> Result<Option<(Key, Key)>, StoreError> {
        let (scope, key) = (owner_scope.to_owned(), key.to_owned());
        self.read(move |connection, tables| {
            let found = find(connection, tables, &scope, &key)?;
            Ok(found
                .and_then(|(definition, current)| Some((Key(row_key(current?)), Key(row_key(definition))))))
        })
        .await
    }

    async fn version(&self, version: &Key) -> Result<Option<Version>, StoreError> {
        let version = version.clone();
        self.read(move |connection, tables| {
            let id = key_value("workflow_versions", "id", tables.schema.keys().primary, &version.0)?;
            get(connection, tables, &id)
        })
        .await
    }
}

/// A definition's key and that of its current version.
fn find(
    connection: &Connection,
    tables: &Tables,
    scope: &str,
    key: &str,
) -> Result<Option<(Value, Option<Value>)>, StoreError> {
    connection
        .prepare_cached(&tables.sql(definitions::FIND))
        .and_then(|mut statement| {
            statement.query_row(params![scope, key], |row| Ok((row.get(0)?, row.get(1)?))).optional()
        })
        .map_err(|error| failed("find a definition", error))
}

fn get(connection: &Connection, tables: &Tables, id: &Value) -> Result<Option<Version>, StoreError> {
    let raw = connection
        .prepare_cached(&tables.sql(versions::GET))
        .and_then(|mut statement| statement.query_row(params![id], raw).optional())
        .map_err(|error| failed(READ, error))?;
    raw.map(RawVersion::check).transpose()
}

fn raw(row: &Row<'_>) -> rusqlite::Result<RawVersion> {
    Ok(RawVersion {
        id: row_key(row.get(0)?),
        definition: row_key(row.get(1)?),
        number: row.get(2)?,
        graph: row.get(3)?,
        checksum: row.get(4)?,
        actor_mode: row.get(5)?,
    })
}

/// The version; or the current one's checksum, where it is not the expected one.
fn publish(
    connection: &Connection,
    tables: &Tables,
    version: &NewVersion,
    now: Timestamp,
) -> Result<Result<Version, String>, StoreError> {
    let fail = |error| failed(PUBLISH, error);
    let keys = tables.schema.keys();
    let scope = owner_scope(version.owner.as_ref());
    let found = find(connection, tables, &scope, &version.key)?;
    let current = match &found {
        Some((_, Some(id))) => get(connection, tables, id)?,
        _ => None,
    };
    let present = current.as_ref().map_or("", |current| current.checksum.as_str());
    if version.expected_checksum.as_deref().is_some_and(|expected| expected != present) {
        return Ok(Err(present.to_owned()));
    }
    if let Some(current) = current.as_ref().filter(|current| current.checksum == version.checksum) {
        return Ok(Ok(current.clone()));
    }
    let at = time_text(now);
    let definition: Value = if let Some((definition, _)) = found {
        definition
    } else {
        let id = new_key(keys.primary, tables.keys.next(keys.primary, now))?;
        let (owner_type, owner) =
            morph("workflow_definitions", "owner_id", keys.owner, version.owner.as_ref())?;
        connection
            .prepare_cached(&tables.sql(definitions::INSERT))
            .and_then(|mut statement| {
                let params = params![id, version.key, version.name, owner_type, owner, scope, at];
                statement.query_row(params, |row| row.get(0))
            })
            .map_err(fail)?
    };
    let number: u32 = connection
        .prepare_cached(&tables.sql(versions::LAST_NUMBER))
        .and_then(|mut statement| statement.query_row(params![definition], |row| row.get(0)))
        .map_err(fail)?;
    let id = new_key(keys.primary, tables.keys.next(keys.primary, now))?;
    let (publisher_type, publisher) =
        morph("workflow_versions", "publisher_id", keys.morph, version.publisher.as_ref())?;
    let (trigger, settings) = columns(&version.document);
    let id: Value = connection
        .prepare_cached(&tables.sql(versions::INSERT))
        .and_then(|mut statement| {
            let params = params![
                id,
                definition,
                number + 1,
                SCHEMA_VERSION,
                version.document.to_string(),
                trigger.to_string(),
                settings.to_string(),
                version.trigger.0,
                version.trigger.1,
                version.actor_mode.name(),
                version.checksum,
                publisher_type,
                publisher,
                at,
            ];
            statement.query_row(params, |row| row.get(0))
        })
        .map_err(fail)?;
    if let Some(before) = current {
        let before = key_value("workflow_versions", "id", keys.primary, &before.id.0)?;
        execute(connection, tables, versions::SUPERSEDE, params![before, at]).map_err(fail)?;
    }
    execute(connection, tables, definitions::SET_CURRENT, params![definition, id, at]).map_err(fail)?;
    let published = get(connection, tables, &id)?;
    published.map(Ok).ok_or(StoreError::Closed)
}

fn execute(
    connection: &Connection,
    tables: &Tables,
    statement: &'static str,
    params: impl rusqlite::Params,
) -> rusqlite::Result<usize> {
    connection.prepare_cached(&tables.sql(statement)).and_then(|mut statement| statement.execute(params))
}

//! From rows to [`Rows`].

use heddle_workflow::{ActorMode, InstanceId, Rows, StartRate, Subject};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use crate::StoreError;
use crate::row::time_text;
use crate::workflows::raw::{Place, RawInstance, RawStep, RawTime, RawWait, instance_id};
use crate::workflows::sql::instances::sqlite as instances;
use crate::workflows::sql::step_runs::sqlite as step_runs;
use crate::workflows::sql::waits::sqlite as waits;
use crate::workflows::sqlite::codec::{key_text, row_key};
use crate::workflows::sqlite::failed;
use crate::workflows::tables::Tables;
use crate::workflows::{Actors, Key, Loaded, Morph};

const LOAD: &str = "read an instance";

pub(in crate::workflows::sqlite) fn load(
    connection: &Connection,
    tables: &Tables,
    id: &InstanceId,
) -> Result<Option<Loaded>, StoreError> {
    let raw = connection
        .prepare_cached(&tables.sql(instances::GET))
        .and_then(|mut statement| statement.query_row(params![id.as_str()], raw_instance).optional())
        .map_err(|error| failed(LOAD, error))?;
    let Some((key, version, raw)) = raw else { return Ok(None) };
    let place = |table: &'static str| Place { table, id: id.to_string() };
    let version = place("workflow_instances").needed("version_id", key_text(version))?;
    let instance = raw.check(id)?;
    let steps = all(connection, tables, step_runs::OF_INSTANCE, params![key], raw_step)?
        .into_iter()
        .map(|step| step.check(&place("workflow_step_runs")))
        .collect::<Result<_, _>>()?;
    let waits = all(connection, tables, waits::OF_INSTANCE, params![key], raw_wait)?
        .into_iter()
        .map(|wait| wait.check(&place("workflow_waits")))
        .collect::<Result<_, _>>()?;
    Ok(Some(Loaded { version: Key(version), rows: Rows { instance, steps, waits } }))
}

/// The public ids that a statement finds in its first column.
pub(in crate::workflows::sqlite) fn ids(
    connection: &Connection,
    tables: &Tables,
    statement: &'static str,
    params: impl Params,
) -> Result<Vec<InstanceId>, StoreError> {
    let texts: Vec<String> = all(connection, tables, statement, params, |row| row.get(0))?;
    texts.into_iter().map(instance_id).collect()
}

/// When the last start but those that a rate lets be was, if it counts; its rate is used up then.
pub(in crate::workflows::sqlite) fn last_start(
    connection: &Connection,
    tables: &Tables,
    definition: &Value,
    rate: StartRate,
    now: Timestamp,
) -> Result<Option<Timestamp>, StoreError> {
    let params = params![definition, time_text(rate.since(now)), rate.count.saturating_sub(1)];
    let found: Option<String> =
        all(connection, tables, instances::LAST_START, params, |row| row.get(0))?.pop();
    Place { table: "workflow_instances", id: "the last start".to_owned() }
        .time("created_at", found.map(RawTime::Text))
}

/// As whom an instance's steps may act.
pub(in crate::workflows::sqlite) fn actors(
    connection: &Connection,
    tables: &Tables,
    id: &InstanceId,
) -> Result<Option<Actors>, StoreError> {
    type Half = (Option<String>, Value);
    let raw = |row: &Row<'_>| -> rusqlite::Result<(String, [Half; 3])> {
        let half = |place| Ok::<Half, rusqlite::Error>((row.get(place)?, row.get(place + 1)?));
        Ok((row.get(0)?, [half(1)?, half(3)?, half(5)?]))
    };
    let found = all(connection, tables, instances::ACTORS, params![id.as_str()], raw)?.pop();
    let Some((mode, [starter, owner, publisher])) = found else { return Ok(None) };
    let place = Place { table: "workflow_instances", id: id.to_string() };
    let mode = ActorMode::from_name(&mode).ok_or_else(|| place.bad("actor_mode", "is no mode"))?;
    let morph = |(kind, id): Half| kind.zip(key_text(id)).map(|(kind, id)| Morph { kind, id });
    Ok(Some(Actors { mode, starter: morph(starter), owner: morph(owner), publisher: morph(publisher) }))
}

pub(in crate::workflows::sqlite) fn all<T>(
    connection: &Connection,
    tables: &Tables,
    statement: &'static str,
    params: impl Params,
    row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    connection
        .prepare_cached(&tables.sql(statement))
        .and_then(|mut statement| statement.query_map(params, row)?.collect())
        .map_err(|error| failed(LOAD, error))
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<RawTime>> {
    Ok(row.get::<_, Option<String>>(column)?.map(RawTime::Text))
}

fn raw_instance(row: &Row<'_>) -> rusqlite::Result<(Value, Value, RawInstance)> {
    let raw = RawInstance {
        status: row.get(2)?,
        current_node: row.get(3)?,
        steps_count: row.get(4)?,
        depth: row.get(5)?,
        failure_code: row.get(6)?,
        failure_message: row.get(7)?,
        failed_node: row.get(8)?,
        ended_at: time(row, 9)?,
        lock_version: row.get(10)?,
        updated_at: RawTime::Text(row.get(11)?),
        trigger: row.get(12)?,
        subject: Subject { key: row.get(13)?, kind: row.get(14)?, id: key_text(row.get(15)?) },
    };
    Ok((row.get(0)?, row.get(1)?, raw))
}

fn raw_step(row: &Row<'_>) -> rusqlite::Result<RawStep> {
    Ok(RawStep {
        node: row.get(0)?,
        visit: row.get(1)?,
        attempt: row.get(2)?,
        node_type: row.get(3)?,
        status: row.get(4)?,
        idempotency_key: row.get(5)?,
        input: row.get(6)?,
        output: row.get(7)?,
        resume: row.get(8)?,
        outcome: row.get(9)?,
        error: (row.get(10)?, row.get(11)?, row.get(12)?),
        claim: (row.get(13)?, time(row, 14)?),
        scheduled_for: time(row, 15)?,
        started_at: time(row, 16)?,
        finished_at: time(row, 17)?,
    })
}

fn raw_wait(row: &Row<'_>) -> rusqlite::Result<RawWait> {
    Ok(RawWait {
        id: row_key(row.get(0)?),
        node: row.get(1)?,
        visit: row.get(2)?,
        attempt: row.get(3)?,
        kind: row.get(4)?,
        due_at: time(row, 5)?,
        event_key: row.get(6)?,
        matches: row.get(7)?,
        condition: row.get(8)?,
        payload: row.get(9)?,
        outcome: row.get(10)?,
        status: row.get(11)?,
        fired_at: time(row, 12)?,
    })
}

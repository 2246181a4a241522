//! What there is to do on `SQLite`, and effects.

use async_trait::async_trait;
use heddle_workflow::{InstanceId, Token};
use jiff::{SignedDuration, Timestamp};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value as Json;

use super::codec::{new_key, row_key};
use super::turns::read;
use super::{WorkflowSqlite, failed};
use crate::StoreError;
use crate::row::time_text;
use crate::workflows::raw::{Place, RawQueued, RawTime, instance_id};
use crate::workflows::sql::idempotency_keys::sqlite as idempotency_keys;
use crate::workflows::sql::step_runs::sqlite as step_runs;
use crate::workflows::sql::waits::sqlite as waits;
use crate::workflows::tables::Tables;
use crate::workflows::{Actors, ClaimRef, Claimed, Due, Effects, Work};

const CLAIM: &str = "claim steps";
const DUE: &str = "look for what is due";

#[async_trait]
impl Work for WorkflowSqlite {
    async fn claim(
        &self,
        tokens: &[Token],
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<Claimed>, StoreError> {
        let (tokens, limit) = (tokens.to_vec(), tokens.len());
        // Whether there is anything costs no commit.
        let found = self.read(move |connection, tables| queued(connection, tables, now, limit)).await?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        self.write(CLAIM, move |connection, tables| {
            let mut claimed = Vec::new();
            for (step, token) in queued(connection, tables, now, limit)?.into_iter().zip(tokens) {
                match take(connection, tables, step, token, until, now) {
                    Ok(step) => claimed.push(step),
                    // It stays taken, out of the others' way; whoever wakes it when its lease runs out says what it is.
                    Err(StoreError::BadRow { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(claimed)
        })
        .await
    }

    async fn heartbeat(&self, claim: &ClaimRef, until: Timestamp) -> Result<bool, StoreError> {
        self.held("prolong a claim", step_runs::HEARTBEAT, claim, until).await
    }

    async fn release(&self, claim: &ClaimRef, from: Timestamp) -> Result<bool, StoreError> {
        self.held("give a step back", step_runs::RELEASE, claim, from).await
    }

    async fn due(
        &self,
        now: Timestamp,
        again_after: SignedDuration,
        limit: u16,
    ) -> Result<Vec<Due>, StoreError> {
        let before = now.checked_sub(again_after).unwrap_or(Timestamp::MIN);
        let found =
            self.read(move |connection, tables| overdue(connection, tables, now, before, limit)).await?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        self.write(DUE, move |connection, tables| {
            let found = overdue(connection, tables, now, before, limit)?;
            for (row, statement, _) in &found {
                connection
                    .prepare_cached(&tables.sql(statement))
                    .and_then(|mut statement| statement.execute(params![row, time_text(now)]))
                    .map_err(|error| failed(DUE, error))?;
            }
            Ok(found.into_iter().map(|(_, _, due)| due).collect())
        })
        .await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.read(|connection, tables| {
            let found: Option<String> = connection
                .prepare_cached(&tables.sql(step_runs::NEXT_DUE))
                .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
                .map_err(|error| failed(DUE, error))?;
            Place { table: "workflow_waits", id: "next".to_owned() }.time("due_at", found.map(RawTime::Text))
        })
        .await
    }
}

#[async_trait]
impl Effects for WorkflowSqlite {
    async fn actors(&self, instance: &InstanceId) -> Result<Option<Actors>, StoreError> {
        let instance = instance.clone();
        self.read(move |connection, tables| read::actors(connection, tables, &instance)).await
    }

    async fn effect(&self, _instance: &InstanceId, digest: &str) -> Result<Option<Json>, StoreError> {
        let digest = digest.to_owned();
        self.read(move |connection, tables| effect(connection, tables, &digest)).await
    }

    async fn keep_effect(
        &self,
        instance: &InstanceId,
        digest: &str,
        result: &Json,
        now: Timestamp,
    ) -> Result<Json, StoreError> {
        const ATTEMPTED: &str = "keep an effect's result";
        let (instance, digest, result) = (instance.clone(), digest.to_owned(), result.clone());
        self.write(ATTEMPTED, move |connection, tables| {
            let primary = tables.schema.keys().primary;
            let id = new_key(primary, tables.keys.next(primary, now))?;
            connection
                .prepare_cached(&tables.sql(idempotency_keys::KEEP_EFFECT))
                .and_then(|mut statement| {
                    let (result, now) = (result.to_string(), time_text(now));
                    statement.execute(params![id, digest, instance.as_str(), result, now])
                })
                .map_err(|error| failed(ATTEMPTED, error))?;
            Ok(effect(connection, tables, &digest)?.unwrap_or(result))
        })
        .await
    }
}

impl WorkflowSqlite {
    /// Changes a step that is still held under a claim's token; whether it was.
    async fn held(
        &self,
        attempted: &'static str,
        statement: &'static str,
        claim: &ClaimRef,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let claim = claim.clone();
        self.write(attempted, move |connection, tables| {
            let ClaimRef { instance, step, token } = &claim;
            let changed = connection
                .prepare_cached(&tables.sql(statement))
                .and_then(|mut statement| {
                    statement.execute(params![
                        instance.as_str(),
                        step.node.as_str(),
                        step.visit,
                        step.attempt,
                        token.as_str(),
                        time_text(at),
                    ])
                })
                .map_err(|error| failed(attempted, error))?;
            Ok(changed == 1)
        })
        .await
    }
}

/// A queued step, and its row.
type Queued = (Value, RawQueued);

fn queued(
    connection: &Connection,
    tables: &Tables,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<Queued>, StoreError> {
    let raw = |row: &Row<'_>| {
        let queued = RawQueued {
            instance: row.get(1)?,
            version: row_key(row.get(2)?),
            node: row.get(3)?,
            visit: row.get(4)?,
            attempt: row.get(5)?,
            idempotency_key: row.get(6)?,
            input: row.get(7)?,
            resume: row.get(8)?,
        };
        Ok((row.get(0)?, queued))
    };
    read::all(
        connection,
        tables,
        step_runs::QUEUED,
        params![time_text(now), i64::try_from(limit).unwrap_or(i64::MAX)],
        raw,
    )
}

fn take(
    connection: &Connection,
    tables: &Tables,
    (row, step): Queued,
    token: Token,
    until: Timestamp,
    now: Timestamp,
) -> Result<Claimed, StoreError> {
    connection
        .prepare_cached(&tables.sql(step_runs::CLAIM))
        .and_then(|mut statement| {
            statement.execute(params![row, token.as_str(), time_text(until), time_text(now)])
        })
        .map_err(|error| failed(CLAIM, error))?;
    step.taken(token)
}

/// What is overdue: its row, the statement that notes that it was handed out, and what it is.
type Overdue = (Value, &'static str, Due);

fn overdue(
    connection: &Connection,
    tables: &Tables,
    now: Timestamp,
    before: Timestamp,
    limit: u16,
) -> Result<Vec<Overdue>, StoreError> {
    let (now, before) = (time_text(now), time_text(before));
    let pair = |row: &Row<'_>| Ok((row.get::<_, Value>(0)?, row.get::<_, String>(1)?));
    let leases = read::all(connection, tables, step_runs::EXPIRED, params![now, before, limit], pair)?;
    let due = read::all(connection, tables, waits::DUE, params![now, before, limit, false], pair)?;
    let deadlines = read::all(connection, tables, waits::DUE, params![now, before, limit, true], pair)?;
    let mut all = Vec::new();
    for (row, id) in leases {
        all.push((row, step_runs::HAND_OUT, Due::Lease(instance_id(id)?)));
    }
    for (row, id) in due {
        all.push((row, waits::HAND_OUT, Due::Wait(instance_id(id)?)));
    }
    for (row, id) in deadlines {
        all.push((row, waits::HAND_OUT, Due::Deadline(instance_id(id)?)));
    }
    Ok(all)
}

fn effect(connection: &Connection, tables: &Tables, digest: &str) -> Result<Option<Json>, StoreError> {
    let found: Option<Option<String>> = connection
        .prepare_cached(&tables.sql(idempotency_keys::EFFECT))
        .and_then(|mut statement| statement.query_row(params![digest], |row| row.get(0)).optional())
        .map_err(|error| failed("read an effect's result", error))?;
    let place = Place { table: "workflow_idempotency_keys", id: digest.to_owned() };
    place.json("result", found.flatten())
}

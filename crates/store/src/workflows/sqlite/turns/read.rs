//! From rows to [`Rows`].

use std::sync::Arc;

use heddle_workflow::{
    ActorMode, Failure, InstanceId, InstanceRow, NodeId, Rows, SignalId, StartRate, Status, StepKey, StepRow,
    StepStatus, Subject, Token, WaitKind, WaitRecord, WaitRow, WaitStatus, Waits,
};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde_json::Value as Json;

use crate::StoreError;
use crate::row::time_text;
use crate::workflows::sql::instances::sqlite as instances;
use crate::workflows::sql::step_runs::sqlite as step_runs;
use crate::workflows::sql::waits::sqlite as waits;
use crate::workflows::sqlite::codec::{Place, key_text};
use crate::workflows::sqlite::{Tables, failed};
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
    let Some(raw) = raw else { return Ok(None) };
    let (key, version) = (raw.key.clone(), raw.version.clone());
    let instance = raw.check(id)?;
    let place = |table: &'static str| Place { table, id: id.to_string() };
    let version = place("workflow_instances").needed("version_id", key_text(version))?;
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

pub(in crate::workflows::sqlite) fn instance_id(text: String) -> Result<InstanceId, StoreError> {
    InstanceId::parse(&text)
        .ok_or_else(|| Place { table: "workflow_instances", id: text }.bad("ulid", "is no ULID"))
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
    Place { table: "workflow_instances", id: "the last start".to_owned() }.time("created_at", found)
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

struct RawInstance {
    key: Value,
    version: Value,
    status: String,
    current_node: Option<String>,
    steps_count: u32,
    depth: u8,
    failure_code: Option<String>,
    failure_message: Option<String>,
    failed_node: Option<String>,
    ended_at: Option<String>,
    lock_version: u32,
    updated_at: String,
    trigger: Option<String>,
    subject: (Option<String>, Option<String>, Value),
}

fn raw_instance(row: &Row<'_>) -> rusqlite::Result<RawInstance> {
    Ok(RawInstance {
        key: row.get(0)?,
        version: row.get(1)?,
        status: row.get(2)?,
        current_node: row.get(3)?,
        steps_count: row.get(4)?,
        depth: row.get(5)?,
        failure_code: row.get(6)?,
        failure_message: row.get(7)?,
        failed_node: row.get(8)?,
        ended_at: row.get(9)?,
        lock_version: row.get(10)?,
        updated_at: row.get(11)?,
        trigger: row.get(12)?,
        subject: (row.get(13)?, row.get(14)?, row.get(15)?),
    })
}

impl RawInstance {
    fn check(self, id: &InstanceId) -> Result<InstanceRow, StoreError> {
        let place = Place { table: "workflow_instances", id: id.to_string() };
        let failure = self.failure_code.map(|code| {
            let message = self.failure_message.unwrap_or_default();
            Ok::<_, StoreError>(Failure::new(place.code("failure_code", code)?, &message, false))
        });
        let (key, kind, subject) = self.subject;
        let subject = Subject { key, kind, id: key_text(subject) };
        let node = |column, node: Option<String>| node.map(|node| place.node(column, node)).transpose();
        Ok(InstanceRow {
            id: id.clone(),
            status: Status::from_name(&self.status).ok_or_else(|| place.bad("status", "is no status"))?,
            current_node: node("current_node_id", self.current_node)?,
            steps_count: self.steps_count,
            depth: self.depth,
            failure: failure.transpose()?,
            failed_node: node("failed_node_id", self.failed_node)?,
            ended_at: place.time("ended_at", self.ended_at)?,
            lock_version: self.lock_version,
            updated_at: place.needed("updated_at", place.time("updated_at", Some(self.updated_at))?)?,
            trigger: Arc::new(place.json("trigger_payload", self.trigger)?.unwrap_or_default()),
            subject: Arc::new(subject.to_json()),
        })
    }
}

struct RawStep {
    node: String,
    visit: u32,
    attempt: u16,
    node_type: String,
    status: String,
    idempotency_key: String,
    input: Option<String>,
    output: Option<String>,
    resume: Option<String>,
    outcome: Option<String>,
    error: (Option<String>, Option<String>, Option<bool>),
    claim: (Option<String>, Option<String>),
    scheduled_for: Option<String>,
    started_at: Option<String>,
    finished_at: Option<String>,
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
        claim: (row.get(13)?, row.get(14)?),
        scheduled_for: row.get(15)?,
        started_at: row.get(16)?,
        finished_at: row.get(17)?,
    })
}

impl RawStep {
    fn check(self, place: &Place) -> Result<StepRow, StoreError> {
        let (code, message, retryable) = self.error;
        let failure = code.map(|code| {
            let code = place.code("error_code", code)?;
            Ok::<_, StoreError>(Failure::new(code, &message.unwrap_or_default(), retryable.unwrap_or(false)))
        });
        let claim = match self.claim {
            (Some(token), until) => {
                let until = place.needed("lease_until", place.time("lease_until", until)?)?;
                Some((Token::new(token), until))
            }
            (None, _) => None,
        };
        Ok(StepRow {
            key: StepKey {
                node: place.node("node_id", self.node)?,
                visit: self.visit,
                attempt: self.attempt,
            },
            node_type: self.node_type,
            status: StepStatus::from_name(&self.status).ok_or_else(|| place.bad("status", "is no status"))?,
            idempotency_key: self.idempotency_key,
            input: place.shared("input", self.input)?,
            output: place.json("output", self.output)?,
            resume: place.shared("resume_signal", self.resume)?,
            outcome: place.outcome(self.outcome)?,
            failure: failure.transpose()?,
            claim,
            scheduled_for: place.time("scheduled_for", self.scheduled_for)?,
            started_at: place.time("started_at", self.started_at)?,
            finished_at: place.time("finished_at", self.finished_at)?,
        })
    }
}

struct RawWait {
    id: Value,
    node: String,
    visit: u32,
    attempt: u16,
    kind: String,
    due_at: Option<String>,
    event_key: Option<String>,
    matches: Option<String>,
    condition: Option<String>,
    payload: Option<String>,
    outcome: Option<String>,
    status: String,
    fired_at: Option<String>,
}

fn raw_wait(row: &Row<'_>) -> rusqlite::Result<RawWait> {
    Ok(RawWait {
        id: row.get(0)?,
        node: row.get(1)?,
        visit: row.get(2)?,
        attempt: row.get(3)?,
        kind: row.get(4)?,
        due_at: row.get(5)?,
        event_key: row.get(6)?,
        matches: row.get(7)?,
        condition: row.get(8)?,
        payload: row.get(9)?,
        outcome: row.get(10)?,
        status: row.get(11)?,
        fired_at: row.get(12)?,
    })
}

impl RawWait {
    fn check(self, place: &Place) -> Result<WaitRecord, StoreError> {
        let status =
            WaitStatus::from_name(&self.status).ok_or_else(|| place.bad("status", "is no status"))?;
        let due_at = place.time("due_at", self.due_at)?;
        let payload = place.shared("payload", self.payload)?;
        let key = |event_key: Option<String>| place.needed("event_key", event_key);
        let kind = match self.kind.as_str() {
            "delay" => Some(WaitKind::Delay),
            "event" => Some(WaitKind::Event { key: self.event_key.clone() }),
            "handler" => Some(WaitKind::Handler { key: key(self.event_key.clone())? }),
            "deadline" | "signal" | "command" => None,
            _ => return Err(place.bad("kind", "is no kind")),
        };
        let what = match (kind, self.kind.as_str()) {
            (Some(kind), _) => {
                let condition = place.json("condition", self.condition)?.unwrap_or_default();
                let part = |name: &str| condition.get(name).and_then(Json::as_str).map(str::to_owned);
                let matches = place.json("match", self.matches)?;
                let row = WaitRow {
                    kind,
                    due_at,
                    timeout_at: place.time("condition", part("timeout_at"))?,
                    matches: matches.as_ref().and_then(Json::as_str).map(str::to_owned),
                    condition: part("expression"),
                    outcome: place.outcome(self.outcome)?,
                    paused: false,
                };
                Waits::Step { row, payload }
            }
            (None, "deadline") => Waits::Deadline { due_at: place.needed("due_at", due_at)? },
            (None, "command") => {
                Waits::Command { name: key(self.event_key)?, payload: place.needed("payload", payload)? }
            }
            (None, _) => {
                Waits::Signal { event_key: key(self.event_key)?, payload: place.needed("payload", payload)? }
            }
        };
        let node: NodeId = place.node("step_run_id", self.node)?;
        Ok(WaitRecord {
            id: SignalId::new(place.needed("id", key_text(self.id))?),
            step: StepKey { node, visit: self.visit, attempt: self.attempt },
            status,
            fired_at: place.time("fired_at", self.fired_at)?,
            what,
        })
    }
}

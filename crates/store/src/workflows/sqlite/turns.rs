//! Turns on `SQLite`: `workflow_instances`, and what a plan writes of `workflow_step_runs` and `workflow_waits`.

pub(super) mod read;

use async_trait::async_trait;
use heddle_workflow::{
    EndStatus, InstanceId, InstanceRow, NodeId, Outcome, Plan, StepChange, StepEnded, StepKey, StepMove,
    StepRow, StepSeen, StepStatus, WaitEnd, WaitRow, Write,
};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Params, params};
use serde_json::json;

use super::codec::{json, key_value, morph, new_key, time};
use super::{Tables, WorkflowSqlite, failed};
use crate::StoreError;
use crate::row::time_text;
use crate::workflows::sql::idempotency_keys::sqlite as idempotency_keys;
use crate::workflows::sql::instances::sqlite as instances;
use crate::workflows::sql::step_runs::sqlite as step_runs;
use crate::workflows::sql::waits::sqlite as waits;
use crate::workflows::{Committed, Loaded, Morph, NewInstance, Turn, Turns};

const COMMIT: &str = "commit turns";

/// Why a turn is not done: others were there, or the database failed.
enum Undone {
    Conflict,
    Existing(InstanceId),
    Failed(StoreError),
}

impl From<StoreError> for Undone {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

#[async_trait]
impl Turns for WorkflowSqlite {
    async fn load(&self, id: &InstanceId) -> Result<Option<Loaded>, StoreError> {
        let id = id.clone();
        self.read(move |connection, tables| read::load(connection, tables, &id)).await
    }

    async fn commit(&self, turns: Vec<Turn>) -> Result<Vec<Committed>, StoreError> {
        self.write(COMMIT, move |connection, tables| {
            turns.iter().map(|turn| perform(connection, tables, turn)).collect()
        })
        .await
    }

    async fn waiting_for(
        &self,
        owner: Option<&Morph>,
        event_key: &str,
        after: Option<&InstanceId>,
        limit: u16,
    ) -> Result<Vec<InstanceId>, StoreError> {
        let (owner, event_key) = (owner.cloned(), event_key.to_owned());
        let after = after.map_or_else(String::new, ToString::to_string);
        self.read(move |connection, tables| {
            let key_type = tables.schema.keys().owner;
            let (owner_type, owner) = morph("workflow_instances", "owner_id", key_type, owner.as_ref())?;
            let params = params![event_key, after, limit, owner_type, owner];
            read::ids(connection, tables, waits::WAITING_FOR, params)
        })
        .await
    }
}

/// Performs a turn, all of it or nothing, within the commit.
fn perform(connection: &Connection, tables: &Tables, turn: &Turn) -> Result<Committed, StoreError> {
    let fail = |error| failed(COMMIT, error);
    connection.execute_batch("SAVEPOINT turn").map_err(fail)?;
    let work = Work { connection, tables, now: turn.plan.at };
    let (answer, end) = match work.turn(turn) {
        Ok(()) => (Committed::Done, "RELEASE turn"),
        Err(Undone::Conflict) => (Committed::Conflict, "ROLLBACK TO turn; RELEASE turn"),
        Err(Undone::Existing(id)) => (Committed::Existing(id), "ROLLBACK TO turn; RELEASE turn"),
        Err(Undone::Failed(error)) => return Err(error),
    };
    connection.execute_batch(end).map_err(fail)?;
    Ok(answer)
}

/// A turn's writes.
struct Work<'a> {
    connection: &'a Connection,
    tables: &'a Tables,
    now: Timestamp,
}

impl Work<'_> {
    fn turn(&self, Turn { new, plan }: &Turn) -> Result<(), Undone> {
        let instance = match new {
            Some(new) => self.start(new, plan)?,
            None => self.instance(&plan.row)?,
        };
        plan.writes.iter().try_for_each(|write| self.write(&instance, write))
    }

    fn execute(&self, statement: &'static str, params: impl Params) -> Result<usize, StoreError> {
        self.connection
            .prepare_cached(&self.tables.sql(statement))
            .and_then(|mut statement| statement.execute(params))
            .map_err(|error| failed(COMMIT, error))
    }

    /// Runs a statement that changes exactly one row, or else finds that others have been there.
    fn one(&self, statement: &'static str, params: impl Params) -> Result<(), Undone> {
        match self.execute(statement, params)? {
            1 => Ok(()),
            _ => Err(Undone::Conflict),
        }
    }

    /// Runs a statement that answers with one row's key, or else finds that others have been there.
    fn returning(&self, statement: &'static str, params: impl Params) -> Result<Value, Undone> {
        self.connection
            .prepare_cached(&self.tables.sql(statement))
            .and_then(|mut statement| statement.query_row(params, |row| row.get(0)).optional())
            .map_err(|error| failed(COMMIT, error))?
            .ok_or(Undone::Conflict)
    }

    fn new_key(&self) -> Result<Value, StoreError> {
        let primary = self.tables.schema.keys().primary;
        new_key(primary, self.tables.keys.next(primary, self.now))
    }

    fn start(&self, new: &NewInstance, plan: &Plan) -> Result<Value, Undone> {
        const TABLE: &str = "workflow_instances";
        let keys = self.tables.schema.keys();
        if let Some((digest, _)) = &new.idempotency
            && let Some(first) = self.started(digest)?
        {
            return Err(Undone::Existing(first));
        }
        let row = &plan.row;
        let definition = key_value(TABLE, "definition_id", keys.primary, &new.definition.0)?;
        let version = key_value(TABLE, "version_id", keys.primary, &new.version.0)?;
        let (owner_type, owner) = morph(TABLE, "owner_id", keys.owner, new.owner.as_ref())?;
        let (starter_type, starter) = morph(TABLE, "starter_id", keys.morph, new.starter.as_ref())?;
        let part = |name: &str| row.subject.get(name).and_then(|part| part.as_str());
        let subject = part("id").map(|id| key_value(TABLE, "subject_id", keys.subject, id)).transpose()?;
        let (code, message, failed_node, ended_at) = end_columns(row);
        let id = self.new_key()?;
        let params = params![
            id,
            row.id.as_str(),
            definition,
            version,
            owner_type,
            owner,
            part("key"),
            part("type"),
            subject,
            new.trigger.0,
            new.trigger.1,
            row.trigger.to_string(),
            new.idempotency.as_ref().map(|(digest, _)| digest),
            new.actor_mode.name(),
            starter_type,
            starter,
            row.depth,
            row.status.name(),
            row.current_node.as_ref().map(NodeId::as_str),
            row.steps_count,
            code,
            message,
            failed_node,
            ended_at,
            time_text(self.now),
        ];
        let instance = self.returning(instances::INSERT, params)?;
        if let Some((digest, until)) = &new.idempotency {
            let params = params![
                self.new_key()?,
                digest,
                definition,
                instance,
                time_text(*until),
                time_text(self.now)
            ];
            self.one(idempotency_keys::START, params)?;
        }
        Ok(instance)
    }

    /// The first instance of a start key that still counts.
    fn started(&self, digest: &str) -> Result<Option<InstanceId>, StoreError> {
        let params = params![digest, time_text(self.now)];
        Ok(read::ids(self.connection, self.tables, idempotency_keys::STARTED, params)?.pop())
    }

    fn instance(&self, row: &InstanceRow) -> Result<Value, Undone> {
        let (code, message, failed_node, ended_at) = end_columns(row);
        let guard = row.lock_version.checked_sub(1).ok_or(Undone::Conflict)?;
        let params = params![
            row.id.as_str(),
            guard,
            row.status.name(),
            row.current_node.as_ref().map(NodeId::as_str),
            row.steps_count,
            code,
            message,
            failed_node,
            ended_at,
            time_text(self.now),
        ];
        self.returning(instances::TURN, params)
    }

    fn write(&self, instance: &Value, write: &Write) -> Result<(), Undone> {
        let now = time_text(self.now);
        match write {
            Write::Step { key, change } => match StepRow::opened(key, change, self.now) {
                Some(row) => self.open_step(instance, &row),
                None => self.move_step(instance, key, change),
            },
            Write::OpenWait { key, row } => self.open_wait(instance, key, row),
            Write::LookAgain { key, due_at } => {
                self.change_wait(instance, key, None, Some(*due_at), None, None)
            }
            Write::PauseWait { key, paused } => {
                let status = if *paused { "paused" } else { "pending" };
                self.change_wait(instance, key, Some(status), None, None, None)
            }
            Write::CloseWait { key, how } => match how {
                WaitEnd::Fired { payload } => {
                    let payload = json(payload.as_deref());
                    self.change_wait(instance, key, Some("fired"), None, payload.as_deref(), Some(self.now))
                }
                WaitEnd::Cancelled => self.change_wait(instance, key, Some("cancelled"), None, None, None),
            },
            Write::OpenDeadline { key, due_at } => {
                self.insert_wait(instance, key, &WaitColumns::of("deadline", "pending", Some(*due_at)))
            }
            Write::KeepSignal { key, event_key, payload } => {
                let columns = WaitColumns {
                    event_key: Some(event_key),
                    payload: json(Some(payload)),
                    ..WaitColumns::of("signal", "kept", None)
                };
                self.insert_wait(instance, key, &columns)
            }
            Write::UseSignal { id } => {
                let id = key_value("workflow_waits", "id", self.tables.schema.keys().primary, id.as_str())?;
                self.one(waits::USE_SIGNAL, params![id, instance, now])
            }
            Write::CloseWaits => {
                self.execute(waits::CLOSE, params![instance, now])?;
                Ok(())
            }
        }
    }

    fn open_step(&self, instance: &Value, row: &StepRow) -> Result<(), Undone> {
        let failure = row.failure.as_ref();
        let params = params![
            self.new_key()?,
            instance,
            row.key.node.as_str(),
            row.key.visit,
            row.key.attempt,
            row.node_type,
            row.status.name(),
            row.idempotency_key,
            json(row.input.as_deref()),
            json(row.output.as_ref()),
            json(row.resume.as_deref()),
            row.outcome.as_ref().map(Outcome::as_str),
            failure.map(|failure| failure.code.as_str()),
            failure.map(|failure| &failure.message),
            failure.map(|failure| failure.retryable),
            row.claim.as_ref().map(|(token, _)| token.as_str()),
            row.claim.as_ref().map(|(_, until)| time_text(*until)),
            time(row.scheduled_for),
            time(row.started_at),
            time(row.finished_at),
            time_text(self.now),
        ];
        self.one(step_runs::INSERT, params)
    }

    fn move_step(&self, instance: &Value, key: &StepKey, change: &StepChange) -> Result<(), Undone> {
        let StepChange::Move { from, to } = change else { return Err(Undone::Conflict) };
        let (seen, token) = match from {
            StepSeen::Queued => (StepStatus::Queued, None),
            StepSeen::Held(token) => (StepStatus::Running, Some(token.as_str())),
            StepSeen::Waiting => (StepStatus::Waiting, None),
            StepSeen::Paused => (StepStatus::Paused, None),
        };
        let nothing = StepEnded { status: EndStatus::Cancelled, outcome: None, output: None, failure: None };
        let (status, scheduled_for, resume, ended) = match to {
            StepMove::Queued { from, resume } => (StepStatus::Queued, Some(*from), resume.clone(), &nothing),
            StepMove::Waiting => (StepStatus::Waiting, None, None, &nothing),
            StepMove::Paused => (StepStatus::Paused, None, None, &nothing),
            StepMove::Ended(ended) => (ended.status.into(), None, None, ended),
        };
        let failure = ended.failure.as_ref();
        let params = params![
            instance,
            key.node.as_str(),
            key.visit,
            key.attempt,
            seen.name(),
            token,
            status.name(),
            time(scheduled_for),
            json(resume.as_deref()),
            ended.outcome.as_ref().map(Outcome::as_str),
            json(ended.output.as_ref()),
            failure.map(|failure| failure.code.as_str()),
            failure.map(|failure| &failure.message),
            failure.map(|failure| failure.retryable),
            status.is_ended().then(|| time_text(self.now)),
            time_text(self.now),
        ];
        self.one(step_runs::MOVE, params)
    }

    fn open_wait(&self, instance: &Value, key: &StepKey, row: &WaitRow) -> Result<(), Undone> {
        let condition = (row.condition.is_some() || row.timeout_at.is_some())
            .then(|| json!({"expression": row.condition, "timeout_at": time(row.timeout_at)}).to_string());
        let columns = WaitColumns {
            event_key: row.kind.event_key(),
            matches: row.matches.as_ref().map(|source| json!(source).to_string()),
            condition,
            outcome: row.outcome.as_ref().map(Outcome::as_str),
            ..WaitColumns::of(row.kind.name(), if row.paused { "paused" } else { "pending" }, row.due_at)
        };
        self.insert_wait(instance, key, &columns)
    }

    fn insert_wait(&self, instance: &Value, key: &StepKey, row: &WaitColumns<'_>) -> Result<(), Undone> {
        let params = params![
            self.new_key()?,
            instance,
            key.node.as_str(),
            key.visit,
            key.attempt,
            row.kind,
            time(row.due_at),
            row.event_key,
            row.matches,
            row.condition,
            row.payload,
            row.outcome,
            row.status,
            time_text(self.now),
        ];
        self.one(waits::INSERT, params)
    }

    fn change_wait(
        &self,
        instance: &Value,
        key: &StepKey,
        status: Option<&str>,
        due_at: Option<Timestamp>,
        payload: Option<&str>,
        fired_at: Option<Timestamp>,
    ) -> Result<(), Undone> {
        let params = params![
            instance,
            key.node.as_str(),
            key.visit,
            key.attempt,
            status,
            time(due_at),
            payload,
            time(fired_at),
            time_text(self.now),
        ];
        self.one(waits::CHANGE, params)
    }
}

/// What a row of `workflow_waits` begins with.
struct WaitColumns<'a> {
    kind: &'static str,
    status: &'static str,
    due_at: Option<Timestamp>,
    event_key: Option<&'a str>,
    matches: Option<String>,
    condition: Option<String>,
    payload: Option<String>,
    outcome: Option<&'a str>,
}

impl WaitColumns<'_> {
    const fn of(kind: &'static str, status: &'static str, due_at: Option<Timestamp>) -> Self {
        Self {
            kind,
            status,
            due_at,
            event_key: None,
            matches: None,
            condition: None,
            payload: None,
            outcome: None,
        }
    }
}

/// The columns of an instance's end: failure's code and message, failed node, time.
fn end_columns(row: &InstanceRow) -> (Option<&str>, Option<&str>, Option<&str>, Option<String>) {
    let failure = row.failure.as_ref();
    (
        failure.map(|failure| failure.code.as_str()),
        failure.map(|failure| failure.message.as_str()),
        row.failed_node.as_ref().map(NodeId::as_str),
        time(row.ended_at),
    )
}

//! Turns on `SQLite`: `workflow_instances`, and what a plan writes of `workflow_step_runs` and `workflow_waits`.

pub(super) mod read;

use async_trait::async_trait;
use heddle_workflow::{InstanceId, InstanceRow, NodeId, Outcome, Plan, StepRow, Write};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Params, params};

use super::codec::{key_value, morph, new_key, time};
use super::{WorkflowSqlite, failed};
use crate::StoreError;
use crate::row::time_text;
use crate::workflows::columns::{
    AddWait, Change, ChangeWait, MoveStep, check_keys, failure, shared_text, subject, text,
};
use crate::workflows::sql::idempotency_keys::sqlite as idempotency_keys;
use crate::workflows::sql::instances::sqlite as instances;
use crate::workflows::sql::step_runs::sqlite as step_runs;
use crate::workflows::sql::waits::sqlite as waits;
use crate::workflows::tables::Tables;
use crate::workflows::{Committed, Loaded, Morph, NewInstance, Turn, Turns};

const COMMIT: &str = "commit turns";

/// Why a turn is not done: others were there, or the database failed.
enum Undone {
    Conflict,
    Existing(InstanceId),
    Limited(Timestamp),
    Failed(StoreError),
}

impl From<StoreError> for Undone {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

#[async_trait]
impl Turns for WorkflowSqlite {
    async fn load_all(
        &self,
        ids: &[InstanceId],
    ) -> Result<Vec<Result<Option<Loaded>, StoreError>>, StoreError> {
        let ids = ids.to_vec();
        self.read(move |connection, tables| {
            Ok(ids.iter().map(|id| read::load(connection, tables, id)).collect())
        })
        .await
    }

    async fn commit(&self, turns: Vec<Turn>) -> Result<Vec<Result<Committed, StoreError>>, StoreError> {
        self.write(COMMIT, move |connection, tables| {
            Ok(turns.iter().map(|turn| perform(connection, tables, turn)).collect())
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
    check_keys(turn, tables.schema.keys())?;
    let run =
        |statement| connection.prepare_cached(statement).and_then(|mut it| it.execute([])).map_err(fail);
    run("SAVEPOINT turn")?;
    let work = Work { connection, tables, now: turn.plan.at };
    let answer = match work.turn(turn) {
        Ok(()) => Ok(Committed::Done),
        Err(Undone::Conflict) => Ok(Committed::Conflict),
        Err(Undone::Existing(id)) => Ok(Committed::Existing(id)),
        Err(Undone::Limited(again_at)) => Ok(Committed::Limited { again_at }),
        Err(Undone::Failed(error)) => Err(error),
    };
    if !matches!(answer, Ok(Committed::Done)) {
        run("ROLLBACK TO turn")?;
    }
    run("RELEASE turn")?;
    answer
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
        // The commit is the only one that writes: nobody starts another one before this one is in.
        if let Some(rate) = new.rate
            && let Some(last) = read::last_start(self.connection, self.tables, &definition, rate, self.now)?
        {
            return Err(Undone::Limited(rate.again_at(last)));
        }
        let version = key_value(TABLE, "version_id", keys.primary, &new.version.0)?;
        let (owner_type, owner) = morph(TABLE, "owner_id", keys.owner, new.owner.as_ref())?;
        let (starter_type, starter) = morph(TABLE, "starter_id", keys.morph, new.starter.as_ref())?;
        let [subject_key, subject_type, subject_id] = subject(row);
        let subject_id = subject_id.map(|id| key_value(TABLE, "subject_id", keys.subject, id)).transpose()?;
        let (code, message, failed_node) = failure(row);
        let id = self.new_key()?;
        let params = params![
            id,
            row.id.as_str(),
            definition,
            version,
            owner_type,
            owner,
            subject_key,
            subject_type,
            subject_id,
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
            time(row.ended_at),
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
        let (code, message, failed_node) = failure(row);
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
            time(row.ended_at),
            time_text(self.now),
        ];
        self.returning(instances::TURN, params)
    }

    fn write(&self, instance: &Value, write: &Write) -> Result<(), Undone> {
        match Change::of(write, self.now) {
            Change::Move(step) => self.move_step(instance, &step),
            Change::Open(row) => self.open_step(instance, &row),
            Change::AddWait(row) => self.add_wait(instance, &row),
            Change::ChangeWait(row) => self.change_wait(instance, &row),
            Change::UseSignal(id) => {
                let id = key_value("workflow_waits", "id", self.tables.schema.keys().primary, id.as_str())?;
                self.one(waits::USE_SIGNAL, params![id, instance, time_text(self.now)])
            }
            Change::CloseWaits => {
                self.execute(waits::CLOSE, params![instance, time_text(self.now)])?;
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
            shared_text(row.input.as_ref()),
            text(row.output.as_ref()),
            shared_text(row.resume.as_ref()),
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

    fn move_step(&self, instance: &Value, step: &MoveStep<'_>) -> Result<(), Undone> {
        let params = params![
            instance,
            step.key.node.as_str(),
            step.key.visit,
            step.key.attempt,
            step.seen.name(),
            step.token,
            step.status.name(),
            time(step.scheduled_for),
            step.resume,
            step.outcome,
            step.output,
            step.failure.map(|failure| failure.code.as_str()),
            step.failure.map(|failure| &failure.message),
            step.failure.map(|failure| failure.retryable),
            time(step.finished_at),
            time_text(self.now),
        ];
        self.one(step_runs::MOVE, params)
    }

    fn add_wait(&self, instance: &Value, row: &AddWait<'_>) -> Result<(), Undone> {
        let params = params![
            self.new_key()?,
            instance,
            row.key.node.as_str(),
            row.key.visit,
            row.key.attempt,
            row.kind,
            time(row.due_at),
            row.event_key,
            row.matches,
            row.condition,
            row.payload,
            row.outcome,
            row.status,
            time(row.fired_at),
            time_text(self.now),
        ];
        self.one(waits::INSERT, params)
    }

    fn change_wait(&self, instance: &Value, row: &ChangeWait<'_>) -> Result<(), Undone> {
        let params = params![
            instance,
            row.key.node.as_str(),
            row.key.visit,
            row.key.attempt,
            row.status,
            time(row.due_at),
            row.payload,
            time(row.fired_at),
            time_text(self.now),
        ];
        self.one(waits::CHANGE, params)
    }
}

//! The rows in a `SQLite` file: write-ahead log, every commit on disk before it is answered, foreign keys on.
//! One connection writes, on a thread of its own; a few read beside it.

mod connections;
mod migrations;
mod tenants;
mod wf2des;

use std::path::Path;

use async_trait::async_trait;
use heddle_generation::{Command, Opening, OrganizationId, ProjectId, Run, RunId, UserSub};
use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior, params};

use crate::row::time_text;
use crate::sql::outbox::sqlite as sql;
use crate::{
    CreateError, JobRows, Outbox, Outgoing, OutgoingId, Page, PageRequest, RunFilter, RunRows, StoreError,
    TenantSeed, Tenants, Transition, TransitionError,
};
use connections::Connections;

pub use migrations::{Migrated, migrate};

/// The adapter. One per process and file; wrap it in an `Arc` to share it.
pub struct SqliteStore {
    connections: Connections,
}

impl SqliteStore {
    /// Opens a database that [`migrate`] has brought to this program's schema; any other is refused.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connections = Connections::open(path)?;
        Ok(Self { connections })
    }

    /// Runs `work` in one transaction that commits if it succeeds.
    async fn write<T, E>(
        &self,
        attempted: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let in_transaction = move |connection: &mut Connection| {
            let transaction = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(|error| failed(attempted, error))?;
            // Dropped on the way out, a transaction rolls back.
            let answer = work(&transaction)?;
            transaction.commit().map_err(|error| failed(attempted, error))?;
            Ok(answer)
        };
        self.connections.write(in_transaction).await?
    }
}

impl SqliteStore {
    /// Changes one message of the outbox, if it is still pending.
    async fn mark(
        &self,
        attempted: &'static str,
        statement: &'static str,
        params: impl rusqlite::Params + Send + 'static,
    ) -> Result<bool, StoreError> {
        let work = move |connection: &Connection| {
            let changed = connection
                .prepare_cached(statement)
                .and_then(|mut statement| statement.execute(params))
                .map_err(|error| failed(attempted, error))?;
            Ok::<_, StoreError>(changed == 1)
        };
        self.write(attempted, work).await
    }
}

/// The database's failure while something was attempted.
fn failed(attempted: &'static str, error: rusqlite::Error) -> StoreError {
    StoreError::Backend { attempted, source: Box::new(error) }
}

#[async_trait]
impl RunRows for SqliteStore {
    async fn create(&self, opening: &Opening) -> Result<Run, CreateError> {
        let opening = opening.clone();
        self.write("create a run", move |connection| wf2des::create(connection, &opening)).await
    }

    async fn get(&self, organization: OrganizationId, id: RunId) -> Result<Option<Run>, StoreError> {
        self.connections.read(move |connection| wf2des::get(connection, organization, id)).await?
    }

    async fn list(
        &self,
        organization: OrganizationId,
        filter: &RunFilter,
        page: PageRequest,
    ) -> Result<Page, StoreError> {
        let filter = filter.clone();
        self.connections.read(move |connection| wf2des::list(connection, organization, &filter, page)).await?
    }

    async fn transition(
        &self,
        organization: OrganizationId,
        id: RunId,
        command: &Command,
        by: &UserSub,
        now: Timestamp,
    ) -> Result<Transition, TransitionError> {
        let (command, by) = (command.clone(), by.clone());
        let work = move |connection: &Connection| {
            wf2des::transition(connection, organization, id, &command, &by, now)
        };
        self.write("change a run", work).await
    }
}

#[async_trait]
impl JobRows for SqliteStore {
    async fn by_job(&self, id: RunId) -> Result<Option<Run>, StoreError> {
        self.connections.read(move |connection| wf2des::by_job(connection, id)).await?
    }
}

#[async_trait]
impl Outbox for SqliteStore {
    async fn pending(&self, after: Option<OutgoingId>, limit: u16) -> Result<Vec<Outgoing>, StoreError> {
        self.connections.read(move |connection| pending(connection, after, limit)).await?
    }

    async fn mark_sent(&self, id: OutgoingId, now: Timestamp) -> Result<bool, StoreError> {
        self.mark("note that a message was sent", sql::MARK_SENT, (id.0, time_text(now))).await
    }

    async fn mark_dead(&self, id: OutgoingId, reason: &str, now: Timestamp) -> Result<bool, StoreError> {
        let params = (id.0, time_text(now), reason.to_owned());
        self.mark("note that a message is dead", sql::MARK_DEAD, params).await
    }
}

#[async_trait]
impl Tenants for SqliteStore {
    async fn ensure_tenant(&self, tenant: &TenantSeed, now: Timestamp) -> Result<(), StoreError> {
        let tenant = tenant.clone();
        self.write("seed a tenant", move |connection| tenants::ensure(connection, &tenant, now)).await
    }

    async fn has_project(
        &self,
        organization: OrganizationId,
        project: ProjectId,
    ) -> Result<bool, StoreError> {
        self.connections
            .read(move |connection| tenants::has_project(connection, organization, project))
            .await?
    }
}

fn pending(
    connection: &Connection,
    after: Option<OutgoingId>,
    limit: u16,
) -> Result<Vec<Outgoing>, StoreError> {
    const ATTEMPTED: &str = "read the outbox";
    let mut statement = connection.prepare_cached(sql::PENDING).map_err(|error| failed(ATTEMPTED, error))?;
    let after = after.map_or(0, |id| id.0);
    let raw = statement
        .query_map(params![after, limit], |row| Ok((row.get(0)?, row.get::<_, String>(1)?, row.get(2)?)))
        .and_then(Iterator::collect::<Result<Vec<(i64, String, String)>, _>>)
        .map_err(|error| failed(ATTEMPTED, error))?;
    raw.into_iter()
        .map(|(id, run, body)| {
            let run = RunId::parse(&run).ok_or_else(|| StoreError::BadRow {
                table: "outbox",
                column: "run_id",
                id: id.to_string(),
                reason: "is no UUID".to_owned(),
            })?;
            Ok(Outgoing { id: OutgoingId(id), run, body })
        })
        .collect()
}

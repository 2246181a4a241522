//! The workflow rows in `PostgreSQL`, for any number of processes.
//!
//! A commit is made of a few statements, each over all of its turns at once (`turns.rs`). Claims skip what others are
//! just taking. `LISTEN` and `NOTIFY` carry probes between processes.

mod connections;
#[cfg(test)]
mod plans;
mod probes;
mod publishing;
mod read;
mod reading;
mod turns;
mod work;

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use deadpool_postgres::Object;
use jiff::Timestamp;
use tokio::task::AbortHandle;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::probes::LocalProbes;
use super::schema::compare;
use super::tables::Tables;
use super::{Dialect, Schema};
use crate::StoreError;
use connections::Connections;
use probes::Outbox;

/// The adapter. One per process and database; wrap it in an `Arc` to share it. Needs a tokio runtime.
pub struct WorkflowPostgres {
    database: Arc<Database>,
    local: Arc<LocalProbes>,
    outbox: Arc<Outbox>,
    messenger: AbortHandle,
}

/// Makes the first schema of the search path where no schema of the path is there.
const MAKE_SCHEMA: &str = "DO $$ BEGIN IF current_schema() IS NULL THEN \
     EXECUTE 'CREATE SCHEMA ' || split_part(current_setting('search_path'), ',', 1); END IF; END $$";

/// How long an answer is waited for. The server's own limits are shorter: this is for one that has none, being frozen or
/// out of reach.
const ANSWER: Duration = Duration::from_secs(30);

/// What every call needs.
struct Database {
    connections: Connections,
    tables: Tables,
}

impl WorkflowPostgres {
    /// Makes the tables, and the schema for them where the connection's `search_path` names one that isn't there.
    /// Whoever wants them asks for it: no program of ours does by itself. [`StoreError::Installed`] where they are
    /// there. For `url` see [`connect`](Self::connect).
    pub async fn install(url: &str, schema: &Schema) -> Result<(), StoreError> {
        const ATTEMPTED: &str = "make the workflow tables";
        let connections = Connections::open(url)?;
        let mut client = connections.lend().await?;
        let transaction = client.transaction().await.map_err(failed(ATTEMPTED))?;
        transaction.batch_execute(MAKE_SCHEMA).await.map_err(failed(ATTEMPTED))?;
        // By its code, since what it says depends on the server's language.
        transaction.batch_execute(&schema.migration(Dialect::Postgres)).await.map_err(|error| {
            if error.code() == Some(&tokio_postgres::error::SqlState::DUPLICATE_TABLE) {
                StoreError::Installed
            } else {
                failed(ATTEMPTED)(error)
            }
        })?;
        transaction.commit().await.map_err(failed(ATTEMPTED))
    }

    /// Opens a database that has the tables, all of them and with these types of keys; any other is refused.
    ///
    /// `url` is a connection string as libpq has it, `postgresql://user@host/database?sslmode=require` or
    /// `host=… user=…`. With TLS the server's certificate is checked, by the public roots or by those in the file that
    /// `sslrootcert` names.
    pub async fn connect(url: &str, schema: Schema) -> Result<Self, StoreError> {
        let connections = Connections::open(url)?;
        check(&*connections.lend().await?, &schema).await?;
        let (local, outbox) = (Arc::new(LocalProbes::default()), Arc::new(Outbox::default()));
        let channel = schema.channel();
        let messenger = probes::carry(connections.clone(), channel, Arc::clone(&local), Arc::clone(&outbox));
        let database = Arc::new(Database { connections, tables: Tables::new(schema, Dialect::Postgres) });
        Ok(Self { database, local, outbox, messenger: tokio::spawn(messenger).abort_handle() })
    }

    /// Does something to its end, whether or not the caller waits for it: a transaction is never left half way. A database
    /// that doesn't answer is not waited for without end.
    async fn apart<T, F>(&self, work: impl FnOnce(Arc<Database>) -> F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let work = answered(work(Arc::clone(&self.database)));
        tokio::spawn(work).await.map_err(failed("go through with a call of the database"))?
    }
}

impl Drop for WorkflowPostgres {
    fn drop(&mut self) {
        self.messenger.abort();
    }
}

impl Database {
    /// Runs one statement on a connection of its own.
    async fn query(
        &self,
        attempted: &'static str,
        statement: &'static str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        answered(async {
            let client = self.connections.reserve().await?;
            let rows = query(&client, &self.tables, attempted, statement, params).await;
            client.release();
            rows
        })
        .await
    }

    /// The same; how many rows it changed.
    async fn execute(
        &self,
        attempted: &'static str,
        statement: &'static str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, StoreError> {
        answered(async {
            let client = self.connections.reserve().await?;
            let changed = execute(&client, &self.tables, attempted, statement, params).await;
            client.release();
            changed
        })
        .await
    }
}

/// Waits for an answer, and not for ever. A connection that has none to give is given up.
async fn answered<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    tokio::time::timeout(ANSWER, work).await.map_err(failed("get an answer from the database"))?
}

async fn query(
    client: &Object,
    tables: &Tables,
    attempted: &'static str,
    statement: &'static str,
    params: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, StoreError> {
    let statement = client.prepare_cached(&tables.sql(statement)).await.map_err(failed(attempted))?;
    client.query(&statement, params).await.map_err(failed(attempted))
}

async fn execute(
    client: &Object,
    tables: &Tables,
    attempted: &'static str,
    statement: &'static str,
    params: &[&(dyn ToSql + Sync)],
) -> Result<u64, StoreError> {
    let statement = client.prepare_cached(&tables.sql(statement)).await.map_err(failed(attempted))?;
    client.execute(&statement, params).await.map_err(failed(attempted))
}

/// Refuses a database whose tables are not the schema's.
async fn check(client: &tokio_postgres::Client, schema: &Schema) -> Result<(), StoreError> {
    const COLUMNS: &str = "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute \
         WHERE attrelid = to_regclass($1::text) AND attnum > 0 AND NOT attisdropped";
    for (table, columns) in schema.key_columns() {
        let rows = client.query(COLUMNS, &[&table]).await.map_err(failed("read the workflow tables"))?;
        let mut found: HashMap<String, String> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        compare(Dialect::Postgres, &mut found, columns)?;
    }
    Ok(())
}

/// A time as the driver takes it.
fn system_time(at: Timestamp) -> SystemTime {
    let distance = Duration::from_micros(at.as_microsecond().unsigned_abs());
    if at < Timestamp::UNIX_EPOCH {
        SystemTime::UNIX_EPOCH - distance
    } else {
        SystemTime::UNIX_EPOCH + distance
    }
}

/// The database's failure while something was attempted.
fn failed<E>(attempted: &'static str) -> impl Fn(E) -> StoreError
where
    E: std::error::Error + Send + Sync + 'static,
{
    move |error| StoreError::Backend { attempted, source: Box::new(error) }
}

//! The workflow rows in a `SQLite` file: write-ahead log, every commit on disk before it is answered, foreign keys
//! on. One connection writes, on a thread of its own, as many jobs to a commit as have come in; a few read beside it.

mod codec;
mod connections;
#[cfg(test)]
mod plans;
mod publishing;
mod reading;
mod turns;
mod work;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use heddle_workflow::InstanceId;
use rusqlite::{Connection, TransactionBehavior};

use super::probes::LocalProbes;
use super::schema::compare;
use super::tables::Tables;
use super::{Dialect, Probe, Probes, Schema, Watch};
use crate::StoreError;
use connections::Connections;

/// The adapter. One per process and file; wrap it in an `Arc` to share it.
pub struct WorkflowSqlite {
    connections: Connections,
    tables: Arc<Tables>,
    /// Processes that share a file tell each other nothing.
    probes: LocalProbes,
}

impl WorkflowSqlite {
    /// Makes the tables in the file at `path`, which is made if it is not there. Whoever wants them asks for it: no
    /// program of ours does by itself. [`StoreError::Installed`] where they are there. Blocks; not for an async thread.
    pub fn install(path: &Path, schema: &Schema) -> Result<(), StoreError> {
        let fail = |error| failed("make the workflow tables", error);
        let mut connection = Connection::open(path).and_then(connections::prepared).map_err(fail)?;
        // Kept by the file from here on; can't be set inside a transaction.
        connection.pragma_update(None, "journal_mode", "WAL").map_err(fail)?;
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        if is_installed(&transaction, schema).map_err(fail)? {
            return Err(StoreError::Installed);
        }
        transaction.execute_batch(&schema.migration(Dialect::Sqlite)).map_err(fail)?;
        transaction.commit().map_err(fail)
    }

    /// Opens a file that has the tables, all of them and with these types of keys; any other is refused, and one that
    /// isn't there is not made: see [`install`](Self::install). Blocks; not for an async thread.
    pub fn open(path: &Path, schema: Schema) -> Result<Self, StoreError> {
        let connections = Connections::open(path, |connection| check(connection, &schema))?;
        let tables = Tables::new(schema, Dialect::Sqlite);
        Ok(Self { connections, tables: Arc::new(tables), probes: LocalProbes::default() })
    }

    /// Runs a job in a commit, and answers when it is on disk.
    async fn write<T: Send + 'static>(
        &self,
        attempted: &'static str,
        work: impl FnOnce(&Connection, &Tables) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let tables = Arc::clone(&self.tables);
        self.connections.write(attempted, move |connection| work(connection, &tables)).await
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &Tables) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let tables = Arc::clone(&self.tables);
        self.connections.read(move |connection| work(connection, &tables)).await?
    }
}

#[async_trait]
impl Probes for WorkflowSqlite {
    fn push(&self, probe: Probe) {
        self.probes.push(probe);
    }

    async fn work(&self) {
        self.probes.work().await;
    }

    fn watch(&self, id: &InstanceId) -> Watch {
        self.probes.watch(id)
    }
}

/// Whether something has the name of a table or, whatever the tables are called, of the first index.
fn is_installed(connection: &Connection, schema: &Schema) -> rusqlite::Result<bool> {
    // SQLite takes names for the same whatever their case.
    let mut named = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE")?;
    let columns = schema.key_columns();
    for name in columns.iter().map(|(table, _)| *table).chain(["wdef_key_unique"]) {
        if named.exists([name])? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Refuses a database whose tables are not the schema's.
fn check(connection: &Connection, schema: &Schema) -> Result<(), StoreError> {
    for (table, columns) in schema.key_columns() {
        let mut found: HashMap<String, String> = connection
            .prepare("SELECT name, type FROM pragma_table_info(?1)")
            .and_then(|mut statement| {
                statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
            })
            .map_err(|error| failed("read the workflow tables", error))?;
        compare(Dialect::Sqlite, &mut found, columns)?;
    }
    Ok(())
}

/// The database's failure while something was attempted.
fn failed(attempted: &'static str, error: rusqlite::Error) -> StoreError {
    StoreError::Backend { attempted, source: Box::new(error) }
}

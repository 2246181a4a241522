//! The workflow rows in a `SQLite` file: write-ahead log, every commit on disk before it is answered, foreign keys
//! on. One connection writes, on a thread of its own, as many jobs to a commit as have come in; a few read beside it.

mod codec;
mod connections;
mod publishing;
mod reading;
mod turns;
mod work;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, TransactionBehavior};

use super::Schema;
use super::keys::KeySource;
use super::schema;
use crate::StoreError;
use connections::Connections;

/// The adapter. One per process and file; wrap it in an `Arc` to share it.
pub struct WorkflowSqlite {
    connections: Connections,
    tables: Arc<Tables>,
}

/// What every job needs: the installation's names and types, and its source of keys.
struct Tables {
    schema: Schema,
    keys: KeySource,
    /// The statements that have been used, with their names in.
    rendered: Mutex<HashMap<&'static str, Arc<str>>>,
}

impl Tables {
    fn sql(&self, statement: &'static str) -> Arc<str> {
        let mut rendered = self.rendered.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(rendered.entry(statement).or_insert_with(|| self.schema.render(statement).into()))
    }
}

impl WorkflowSqlite {
    /// Makes the tables in the file at `path`, which is made if it is not there. Whoever wants them asks for it: no
    /// program of ours does by itself. Blocks; not for an async thread.
    pub fn install(path: &Path, schema: &Schema) -> Result<(), StoreError> {
        let fail = |error| failed("make the workflow tables", error);
        let mut connection = Connection::open(path).and_then(connections::prepared).map_err(fail)?;
        // Kept by the file from here on; can't be set inside a transaction.
        connection.pragma_update(None, "journal_mode", "WAL").map_err(fail)?;
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        transaction.execute_batch(&schema.sqlite_migration()).map_err(fail)?;
        transaction.commit().map_err(fail)
    }

    /// Opens a file that has the tables, all of them and with these types of keys; any other is refused.
    pub fn open(path: &Path, schema: Schema) -> Result<Self, StoreError> {
        let connections = Connections::open(path, |connection| check(connection, &schema))?;
        let tables = Tables { schema, keys: KeySource::default(), rendered: Mutex::default() };
        Ok(Self { connections, tables: Arc::new(tables) })
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

/// Refuses a database whose tables are not the schema's.
fn check(connection: &Connection, schema: &Schema) -> Result<(), StoreError> {
    let refused = |remedy| Err(StoreError::Schema { found: 0, needed: 1, remedy });
    for (table, columns) in schema.key_columns() {
        let mut found: HashMap<String, String> = connection
            .prepare("SELECT name, type FROM pragma_table_info(?1)")
            .and_then(|mut statement| {
                statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
            })
            .map_err(|error| failed("read the workflow tables", error))?;
        if found.is_empty() {
            return refused("apply the migrations that install the workflow tables first");
        }
        for (column, key_type) in columns {
            if found.remove(column).as_deref() != Some(schema::column(key_type)) {
                return refused("set the key types that the workflow tables were made with");
            }
        }
    }
    Ok(())
}

/// The database's failure while something was attempted.
fn failed(attempted: &'static str, error: rusqlite::Error) -> StoreError {
    StoreError::Backend { attempted, source: Box::new(error) }
}

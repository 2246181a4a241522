//! Reading `SQLite`: the settings of every connection, and a pool of connections that only read.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;
use tokio::task;

use crate::StoreError;

const READERS: usize = 4;
/// How long one process waits for another one's commit.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection with the settings that hold for every one of them.
pub(crate) fn prepared(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // A plan doesn't depend on what is bound: else a comparison that a partial index might serve has its statement
    // prepared again with every value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// A few connections that only read, lent to one caller at a time each.
pub(crate) struct Readers {
    connections: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    /// Opens them, each as `prepare` says.
    pub(crate) fn open(
        path: &Path,
        prepare: impl Fn(Connection) -> rusqlite::Result<Connection>,
    ) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_READ_ONLY;
        let open = |_| Connection::open_with_flags(path, flags).and_then(&prepare);
        let connections = (0..READERS).map(open).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            connections: Arc::new(Mutex::new(connections)),
            permits: Arc::new(Semaphore::new(READERS)),
        })
    }

    /// Runs `work` on one of them.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let connections = Arc::clone(&self.connections);
        let read = move || {
            let _permit = permit;
            let lent = Lent::take(&connections);
            lent.connection.as_ref().map(work).ok_or(StoreError::Closed)
        };
        task::spawn_blocking(read).await.map_err(|_| StoreError::Closed)?
    }
}

/// A reader on loan, which comes back even from work that panics.
struct Lent<'a> {
    connection: Option<Connection>,
    connections: &'a Mutex<Vec<Connection>>,
}

impl<'a> Lent<'a> {
    fn take(connections: &'a Mutex<Vec<Connection>>) -> Self {
        let connection = connections.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Self { connection, connections }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.connections.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }
}

//! Who holds which connection: one writer on its own thread, fed through a bounded queue, and a pool of readers.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task;

use super::{failed, migrations};
use crate::StoreError;

const READERS: usize = 4;
/// How many writes may wait; a caller beyond that waits to be let in.
const WRITE_QUEUE: usize = 256;
/// How long one process waits for another one's write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

type Write = Box<dyn FnOnce(&mut Connection) + Send>;

pub(super) struct Connections {
    writes: mpsc::Sender<Write>,
    readers: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Connections {
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        const ATTEMPTED: &str = "open the database";
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut writer = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)
            .and_then(prepared)
            .map_err(|error| failed(ATTEMPTED, error))?;
        migrations::check(&writer)?;
        let readers = (0..READERS)
            .map(|_| {
                Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_ONLY).and_then(prepared)
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| failed(ATTEMPTED, error))?;
        let (writes, mut queue) = mpsc::channel::<Write>(WRITE_QUEUE);
        thread::Builder::new()
            .name("heddle-store-writer".to_owned())
            .spawn(move || {
                while let Some(write) = queue.blocking_recv() {
                    write(&mut writer);
                }
            })
            .map_err(|error| StoreError::Backend {
                attempted: "start the writer's thread",
                source: Box::new(error),
            })?;
        Ok(Self {
            writes,
            readers: Arc::new(Mutex::new(readers)),
            permits: Arc::new(Semaphore::new(READERS)),
        })
    }

    /// Runs `work` on the writer. Once it is in the queue it is done even if the caller goes away.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let write: Write = Box::new(move |connection| {
            // The caller may be gone; the work stands.
            let _ = answer.send(work(connection));
        });
        self.writes.send(write).await.map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)
    }

    /// Runs `work` on a reader.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let readers = Arc::clone(&self.readers);
        let read = move || {
            let _permit = permit;
            let lent = Lent::take(&readers);
            lent.connection.as_ref().map(work).ok_or(StoreError::Closed)
        };
        task::spawn_blocking(read).await.map_err(|_| StoreError::Closed)?
    }
}

/// A reader on loan, which comes back even from work that panics.
struct Lent<'a> {
    connection: Option<Connection>,
    readers: &'a Mutex<Vec<Connection>>,
}

impl<'a> Lent<'a> {
    fn take(readers: &'a Mutex<Vec<Connection>>) -> Self {
        let connection = readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Self { connection, readers }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.readers.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }
}

/// A connection with the settings that hold for every one of them.
pub(super) fn prepared(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

//! Who holds which connection: one writer on its own thread, fed through a bounded queue, and a pool of readers.

use std::path::Path;
use std::thread;

use rusqlite::{Connection, OpenFlags};
use tokio::sync::{mpsc, oneshot};

use super::{failed, migrations};
use crate::StoreError;
use crate::readers::{Readers, prepared};

/// How many writes may wait; a caller beyond that waits to be let in.
const WRITE_QUEUE: usize = 256;

type Write = Box<dyn FnOnce(&mut Connection) + Send>;

pub(super) struct Connections {
    writes: mpsc::Sender<Write>,
    readers: Readers,
}

impl Connections {
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        const ATTEMPTED: &str = "open the database";
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut writer = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)
            .and_then(prepared)
            .map_err(|error| failed(ATTEMPTED, error))?;
        migrations::check(&writer)?;
        let readers = Readers::open(path, prepared).map_err(|error| failed(ATTEMPTED, error))?;
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
        Ok(Self { writes, readers })
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
        self.readers.read(work).await
    }
}

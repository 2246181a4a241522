//! Who holds which connection: one writer on its own thread, fed through a bounded queue, and a pool of readers.

use std::path::Path;
use std::thread;

use rusqlite::{Connection, OpenFlags};
use tokio::sync::{mpsc, oneshot};

use super::failed;
use crate::StoreError;
use crate::readers::{self, Readers};

/// How many jobs may wait for the writer; a caller beyond that waits to be let in.
const QUEUE: usize = 1_024;
/// How many jobs share a commit at most.
const BATCH: usize = 128;
/// How many statements a connection keeps prepared: all of them, and some room.
const STATEMENTS: usize = 64;

/// A job for the writer.
trait Job: Send {
    /// Does it, in the commit that is open; all of it or nothing.
    fn perform(&mut self, connection: &Connection);

    /// Answers, once it is known what became of the commit.
    fn answer(self: Box<Self>, committed: bool);
}

struct Asked<T, W> {
    attempted: &'static str,
    work: Option<W>,
    result: Option<Result<T, StoreError>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> Job for Asked<T, W>
where
    T: Send,
    W: FnOnce(&Connection) -> Result<T, StoreError> + Send,
{
    fn perform(&mut self, connection: &Connection) {
        let Some(work) = self.work.take() else { return };
        let fail = |error| failed(self.attempted, error);
        let begun = connection.execute_batch("SAVEPOINT job").map_err(fail);
        self.result = Some(begun.and_then(|()| {
            let result = work(connection);
            let undo = if result.is_err() { "ROLLBACK TO job; RELEASE job" } else { "RELEASE job" };
            connection.execute_batch(undo).map_err(fail)?;
            result
        }));
    }

    fn answer(self: Box<Self>, committed: bool) {
        let result = match self.result {
            Some(result) if committed || result.is_err() => result,
            _ => Err(StoreError::Backend {
                attempted: self.attempted,
                source: "the commit failed; nothing is written".into(),
            }),
        };
        // The caller may be gone; the work stands.
        let _ = self.answer.send(result);
    }
}

pub(super) struct Connections {
    jobs: mpsc::Sender<Box<dyn Job>>,
    readers: Readers,
}

impl Connections {
    /// Opens the file, if `check` has nothing against what is in it.
    pub(super) fn open(
        path: &Path,
        check: impl FnOnce(&Connection) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let fail = |error| failed("open the database", error);
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let writer = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)
            .and_then(prepared)
            .map_err(fail)?;
        check(&writer)?;
        let readers = Readers::open(path, prepared).map_err(fail)?;
        let (jobs, queue) = mpsc::channel(QUEUE);
        thread::Builder::new()
            .name("heddle-workflow-writer".to_owned())
            .spawn(move || keep_writing(&writer, queue))
            .map_err(|error| StoreError::Backend {
                attempted: "start the writer's thread",
                source: Box::new(error),
            })?;
        Ok(Self { jobs, readers })
    }

    /// Runs `work` on the writer, in a commit that others may share. Once it is in the queue it is done even if the
    /// caller goes away.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        attempted: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let job = Asked { attempted, work: Some(work), result: None, answer };
        self.jobs.send(Box::new(job)).await.map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }

    /// Runs `work` on a reader, which sees the rows as of one moment.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let read = |connection: &Connection| {
            let fail = |error| failed("read", error);
            let moment = connection.unchecked_transaction().map_err(fail)?;
            let answer = work(&moment);
            moment.finish().map_err(fail)?;
            Ok(answer)
        };
        self.readers.read(read).await?
    }
}

fn keep_writing(writer: &Connection, mut queue: mpsc::Receiver<Box<dyn Job>>) {
    let mut batch = Vec::new();
    while queue.blocking_recv_many(&mut batch, BATCH) > 0 {
        let begun = writer.execute_batch("BEGIN IMMEDIATE").is_ok();
        if begun {
            for job in &mut batch {
                job.perform(writer);
            }
        }
        let committed = begun && writer.execute_batch("COMMIT").is_ok();
        if begun && !committed && !writer.is_autocommit() {
            // Whatever went wrong, the next batch begins anew.
            let _ = writer.execute_batch("ROLLBACK");
        }
        batch.drain(..).for_each(|job| job.answer(committed));
    }
}

/// A connection with the settings that hold for every one of them.
pub(super) fn prepared(connection: Connection) -> rusqlite::Result<Connection> {
    let connection = readers::prepared(connection)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

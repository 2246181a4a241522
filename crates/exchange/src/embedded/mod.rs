//! The embedded exchange: one folder on one machine, for one process or several at a time.
//!
//! ```text
//! {dir}/exchange.lmdb/   queue, documents and the fences of objects, in one LMDB environment
//! {dir}/objects/{key}    each object as a plain file
//! {dir}/objects/.tmp/    objects on their way in
//! {dir}/objects/.locks/  what keeps two writers of one object apart
//! ```
//!
//! Every change is one LMDB transaction, synced before it is reported: a process killed at any moment leaves the
//! state from before or after a change. LMDB's own locks are released when their holder dies. The folder must be on
//! a local disk, since neither memory maps nor locks hold on network file systems.

mod documents;
mod objects;
mod queue;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use heed::types::Bytes;
use heed::{CommitOrAbort, Env, EnvOpenOptions, RwTxn, WithoutTls};
use tokio::sync::Notify;

use crate::{Exchange, ExchangeError};

/// Address space for the environment's file, which grows as needed and never beyond.
const MAP_BYTES: usize = if cfg!(target_pointer_width = "64") { 64 << 30 } else { 1 << 30 };
/// More than Tokio's blocking threads, so that no read ever lacks a slot.
const MAX_READERS: u32 = 2048;
const FORMAT: &[u8] = b"heddle.exchange/1";
/// Slots of readers that died are reclaimed once per so many writes.
const WRITES_PER_CLEANING: u32 = 256;

type Table = heed::Database<'static, Bytes, Bytes>;

/// Opens the exchange in `dir`, which is made where it is absent. Opening one folder twice in a process gives the
/// same exchange. Blocks for a moment; call it before serving or inside `spawn_blocking`.
pub fn open(dir: impl AsRef<Path>) -> Result<Exchange, ExchangeError> {
    let dir = dir.as_ref();
    fs::create_dir_all(dir.join("exchange.lmdb")).map_err(failed("make the exchange's folder"))?;
    let dir = dir.canonicalize().map_err(failed("find the exchange's folder"))?;
    let stores = Stores::open(&dir)?;
    Ok(Exchange {
        queue: Arc::new(queue::EmbeddedQueue(Arc::clone(&stores))),
        documents: Arc::new(documents::EmbeddedDocuments(Arc::clone(&stores))),
        objects: Arc::new(objects::EmbeddedObjects::open(stores, dir.join("objects"))?),
    })
}

/// The environment and its tables.
struct Stores {
    env: Env<WithoutTls>,
    /// `seq` → state of a message ([`queue`]).
    messages: Table,
    /// `seq` → its body.
    bodies: Table,
    /// `visible_at`, `seq` → nothing.
    order: Table,
    /// collection, 0, id → attempt and JSON ([`documents`]).
    documents: Table,
    /// SHA-256 of an object key → its fence ([`objects`]).
    fences: Table,
    /// Told of each message sent by this process.
    sent: Notify,
    writes: AtomicU32,
}

/// The environments open in this process: LMDB allows each only once.
static OPEN: Mutex<Option<HashMap<PathBuf, Weak<Stores>>>> = Mutex::new(None);

impl Stores {
    fn open(dir: &Path) -> Result<Arc<Self>, ExchangeError> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.get_or_insert_default();
        open.retain(|_, stores| stores.strong_count() > 0);
        if let Some(stores) = open.get(dir).and_then(Weak::upgrade) {
            return Ok(stores);
        }
        let stores = Arc::new(Self::open_anew(&dir.join("exchange.lmdb"))?);
        open.insert(dir.to_owned(), Arc::downgrade(&stores));
        Ok(stores)
    }

    fn open_anew(path: &Path) -> Result<Self, ExchangeError> {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(MAP_BYTES).max_readers(MAX_READERS).max_dbs(8);
        let mut tries = 0;
        let env = loop {
            // The last holder in this process may be closing its environment right now.
            match open_env(&options, path) {
                Err(heed::Error::EnvAlreadyOpened) if tries < 100 => {
                    tries += 1;
                    std::thread::sleep(Duration::from_millis(10));
                }
                opened => break opened.map_err(failed("open the exchange's environment"))?,
            }
        };
        env.clear_stale_readers().map_err(failed("clear the slots of dead readers"))?;
        let writing = env.write_txn().map_err(failed("open the exchange's tables"))?;
        let (meta, messages, bodies, order, documents, fences) = env
            .create_databases_and_commit(writing, |opener, writing| {
                let mut table = |name| opener.create_database::<Bytes, Bytes>(writing, Some(name));
                let tables = (
                    table("meta")?,
                    table("queue_messages")?,
                    table("queue_bodies")?,
                    table("queue_order")?,
                    table("documents")?,
                    table("object_fences")?,
                );
                Ok::<_, heed::Error>(CommitOrAbort::<_, std::convert::Infallible>::Commit(tables))
            })
            .map_err(failed("open the exchange's tables"))?
            .unwrap_commit();
        let stores = Self {
            env,
            messages,
            bodies,
            order,
            documents,
            fences,
            sent: Notify::new(),
            writes: AtomicU32::new(0),
        };
        stores.write("check the exchange's format", |writing| match meta.get(writing, b"format")? {
            None => Ok(meta.put(writing, b"format", FORMAT)?),
            Some(found) if found == FORMAT => Ok(()),
            Some(found) => Err(ExchangeError::Damaged {
                what: "the exchange".to_owned(),
                reason: format!(
                    "its format is {:?}, and this program reads {:?}",
                    String::from_utf8_lossy(found),
                    String::from_utf8_lossy(FORMAT)
                ),
            }
            .into()),
        })?;
        Ok(stores)
    }

    /// One write transaction: committed and synced where `act` succeeds, undone where it fails.
    fn write<T>(
        &self,
        attempted: &str,
        act: impl FnOnce(&mut RwTxn<'_>) -> Result<T, Failure>,
    ) -> Result<T, ExchangeError> {
        if self.writes.fetch_add(1, Ordering::Relaxed) % WRITES_PER_CLEANING == WRITES_PER_CLEANING - 1 {
            let _ = self.env.clear_stale_readers();
        }
        let mut writing = self.env.write_txn().map_err(failed(attempted))?;
        let value = act(&mut writing).map_err(|failure| failure.while_trying_to(attempted))?;
        writing.commit().map_err(failed(attempted))?;
        Ok(value)
    }

    /// One read transaction.
    fn read<T>(
        &self,
        attempted: &str,
        act: impl FnOnce(&heed::RoTxn<'_, WithoutTls>) -> Result<T, Failure>,
    ) -> Result<T, ExchangeError> {
        let reading = match self.env.read_txn() {
            Err(heed::Error::Mdb(heed::MdbError::ReadersFull)) => {
                self.env.clear_stale_readers().map_err(failed(attempted))?;
                self.env.read_txn()
            }
            reading => reading,
        }
        .map_err(failed(attempted))?;
        act(&reading).map_err(|failure| failure.while_trying_to(attempted))
    }
}

#[expect(unsafe_code, reason = "a memory map is only sound while nobody else changes its file")]
fn open_env(options: &EnvOpenOptions<WithoutTls>, path: &Path) -> heed::Result<Env<WithoutTls>> {
    // SAFETY: the file lies in a folder of our own, every access to it goes through LMDB with its locks on, and the
    // documentation asks for a local disk.
    unsafe { options.open(path) }
}

/// Why a transaction failed: the store's own failure, or a refusal made inside it.
enum Failure {
    Store(heed::Error),
    Own(ExchangeError),
}

impl Failure {
    fn while_trying_to(self, attempted: &str) -> ExchangeError {
        match self {
            Self::Store(source) => failed(attempted)(source),
            Self::Own(error) => error,
        }
    }
}

impl From<heed::Error> for Failure {
    fn from(error: heed::Error) -> Self {
        Self::Store(error)
    }
}

impl From<ExchangeError> for Failure {
    fn from(error: ExchangeError) -> Self {
        Self::Own(error)
    }
}

fn failed<E: std::error::Error + Send + Sync + 'static>(
    attempted: impl Into<String>,
) -> impl FnOnce(E) -> ExchangeError {
    let attempted = attempted.into();
    move |source| ExchangeError::Backend { attempted, source: Box::new(source) }
}

/// Runs blocking work on Tokio's threads for it. Work that has begun ends, even if nobody waits for it any more.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ExchangeError> + Send + 'static,
) -> Result<T, ExchangeError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(failed("finish the store's work")(error)),
    }
}

//! The objects: plain files, and for each fenced one a record of who wrote it.
//!
//! A fenced write first commits its record (attempt, SHA-256 of the bytes), then renames the finished file into
//! place; both under one lock of the file system, which dies with its holder. Killed between the two, it leaves a
//! record that the file doesn't match: an older attempt is refused from then on, and the same attempt, delivered
//! again, sees the mismatch and writes the file.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sha2::{Digest, Sha256};

use super::{Stores, blocking, failed};
use crate::{ExchangeError, Fenced, Objects, limits};

const STRIPES: u8 = 64;
/// A file on its way in that is older than this was left by a process that died.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

pub(super) struct EmbeddedObjects(Arc<Folder>);

struct Folder {
    stores: Arc<Stores>,
    root: PathBuf,
}

/// Who wrote an object, and what.
struct Fence {
    attempt: u32,
    sha256: [u8; 32],
}

impl EmbeddedObjects {
    pub(super) fn open(stores: Arc<Stores>, root: PathBuf) -> Result<Self, ExchangeError> {
        let folder = Folder { stores, root };
        for name in [".tmp", ".locks"] {
            fs::create_dir_all(folder.root.join(name)).map_err(failed("make the objects' folder"))?;
        }
        sync_folder(&folder.root).map_err(failed("make the objects' folder"))?;
        folder.clear_abandoned();
        Ok(Self(Arc::new(folder)))
    }
}

impl Folder {
    fn clear_abandoned(&self) {
        let entries = fs::read_dir(self.root.join(".tmp")).into_iter().flatten().flatten();
        for entry in entries {
            let modified = entry.metadata().and_then(|metadata| metadata.modified()).ok();
            if modified.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn path(&self, key: &str) -> PathBuf {
        key.split('/').fold(self.root.clone(), |path, part| path.join(part))
    }

    fn fence(&self, key: &str) -> Result<Option<Fence>, ExchangeError> {
        self.stores.read("read an object's fence", |reading| {
            let Some(stored) = self.stores.fences.get(reading, &Sha256::digest(key.as_bytes()))? else {
                return Ok(None);
            };
            let fence = stored.split_first_chunk().and_then(|(attempt, rest)| {
                Some(Fence { attempt: u32::from_be_bytes(*attempt), sha256: *rest.first_chunk()? })
            });
            fence.map(Some).ok_or_else(|| {
                let what = format!("the fence of the object {key}");
                ExchangeError::Damaged { what, reason: "too short".to_owned() }.into()
            })
        })
    }

    /// The record ends with the key in clear, for whoever looks at the store.
    fn set_fence(&self, key: &str, fence: &Fence) -> Result<(), ExchangeError> {
        let record = [&fence.attempt.to_be_bytes()[..], &fence.sha256, key.as_bytes()].concat();
        self.stores.write("fence an object", |writing| {
            Ok(self.stores.fences.put(writing, &Sha256::digest(key.as_bytes()), &record)?)
        })
    }

    /// Excludes every other writer of this key, in this process and any other, until it is dropped.
    fn lock(&self, key: &str) -> Result<File, ExchangeError> {
        let stripe = Sha256::digest(key.as_bytes())[0] % STRIPES;
        let path = self.root.join(".locks").join(format!("{stripe:02}"));
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(failed("open an object's lock"))?;
        file.lock().map_err(failed("lock an object"))?;
        Ok(file)
    }

    /// Writes the bytes to a file of their own, synced, ready to be renamed.
    fn stage(&self, bytes: &[u8]) -> Result<Staged, ExchangeError> {
        let staged = Staged(self.root.join(".tmp").join(uuid::Uuid::new_v4().to_string()));
        let write = || -> io::Result<()> {
            let mut file = File::create_new(&staged.0)?;
            file.write_all(bytes)?;
            file.sync_all()
        };
        write().map_err(failed("write an object"))?;
        Ok(staged)
    }

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, ExchangeError> {
        let read = || -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            File::open(self.path(key))?.take(limits::MAX_OBJECT_BYTES as u64 + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        match read() {
            Ok(bytes) if bytes.len() > limits::MAX_OBJECT_BYTES => Err(ExchangeError::Damaged {
                what: format!("the object {key}"),
                reason: format!("longer than {} bytes", limits::MAX_OBJECT_BYTES),
            }),
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(format!("read the object {key}"))(error)),
        }
    }

    fn put_once(&self, key: &str, bytes: &[u8]) -> Result<(), ExchangeError> {
        let path = self.path(key);
        let exists = || path.try_exists().map_err(failed("look for an object"));
        if exists()? {
            return Ok(());
        }
        let staged = self.stage(bytes)?;
        let _lock = self.lock(key)?;
        if exists()? {
            return Ok(());
        }
        self.place(&staged, &path)
    }

    fn put_fenced(&self, key: &str, attempt: u32, bytes: &[u8]) -> Result<Fenced, ExchangeError> {
        let path = self.path(key);
        let staged = self.stage(bytes)?;
        let _lock = self.lock(key)?;
        match self.fence(key)? {
            None if path.try_exists().map_err(failed("look for an object"))? => {
                return limits::refused(format!("the object {key} is content-addressed and never changes"));
            }
            None => {}
            Some(fence) => match Fenced::judge(Some(fence.attempt), attempt) {
                Fenced::Unchanged if self.holds(key, &fence)? => return Ok(Fenced::Unchanged),
                // Unchanged: the same attempt's write was cut off between its record and its file.
                Fenced::Written | Fenced::Unchanged => {}
                superseded @ Fenced::Superseded { .. } => return Ok(superseded),
            },
        }
        self.set_fence(key, &Fence { attempt, sha256: Sha256::digest(bytes).into() })?;
        self.place(&staged, &path)?;
        Ok(Fenced::Written)
    }

    fn holds(&self, key: &str, fence: &Fence) -> Result<bool, ExchangeError> {
        Ok(self.get(key)?.is_some_and(|bytes| <[u8; 32]>::from(Sha256::digest(&bytes)) == fence.sha256))
    }

    /// Renames a finished file into place, durably.
    fn place(&self, staged: &Staged, path: &Path) -> Result<(), ExchangeError> {
        let folder = path.parent().unwrap_or(&self.root);
        let place = || {
            make_folders(&self.root, folder)?;
            fs::rename(&staged.0, path)?;
            sync_folder(folder)
        };
        place().map_err(failed("put an object in place"))
    }
}

/// A file on its way in; gone when dropped, unless it was renamed.
struct Staged(PathBuf);

impl Drop for Staged {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Makes the folders between `root` and `folder`, each durably in the one above it.
fn make_folders(root: &Path, folder: &Path) -> io::Result<()> {
    if folder == root || folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().unwrap_or(root);
    make_folders(root, above)?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    sync_folder(above)
}

/// Makes the entries of a folder durable, on systems where that is asked of a folder.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[async_trait]
impl Objects for EmbeddedObjects {
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, ExchangeError> {
        limits::check_object_key(key)?;
        let (folder, key) = (Arc::clone(&self.0), key.to_owned());
        blocking(move || folder.get(&key)).await
    }

    async fn put_once(&self, key: &str, bytes: &[u8], _media_type: &str) -> Result<(), ExchangeError> {
        limits::check_object_key(key)?;
        limits::check_object(bytes)?;
        let (folder, key, bytes) = (Arc::clone(&self.0), key.to_owned(), bytes.to_vec());
        blocking(move || folder.put_once(&key, &bytes)).await
    }

    async fn put_fenced(
        &self,
        key: &str,
        attempt: u32,
        bytes: &[u8],
        _media_type: &str,
    ) -> Result<Fenced, ExchangeError> {
        limits::check_object_key(key)?;
        limits::check_object(bytes)?;
        limits::check_attempt(attempt)?;
        let (folder, key, bytes) = (Arc::clone(&self.0), key.to_owned(), bytes.to_vec());
        blocking(move || folder.put_fenced(&key, attempt, &bytes)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(dir: &Path) -> Arc<Folder> {
        fs::create_dir_all(dir.join("exchange.lmdb")).unwrap();
        let stores = Stores::open(&dir.canonicalize().unwrap()).unwrap();
        EmbeddedObjects::open(stores, dir.join("objects")).unwrap().0
    }

    // proves D2
    #[test]
    fn a_write_cut_off_between_record_and_file_is_finished_by_its_own_attempt_only() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        assert_eq!(folder.put_fenced("a/b.json", 1, b"one").unwrap(), Fenced::Written);
        // What a kill between the record and the rename leaves:
        folder.set_fence("a/b.json", &Fence { attempt: 3, sha256: Sha256::digest(b"three").into() }).unwrap();

        assert_eq!(folder.put_fenced("a/b.json", 2, b"two").unwrap(), Fenced::Superseded { by: 3 });
        assert_eq!(folder.get("a/b.json").unwrap().unwrap(), b"one");
        assert_eq!(folder.put_fenced("a/b.json", 3, b"three").unwrap(), Fenced::Written);
        assert_eq!(folder.put_fenced("a/b.json", 3, b"other").unwrap(), Fenced::Unchanged);
        assert_eq!(folder.get("a/b.json").unwrap().unwrap(), b"three");
    }

    #[test]
    fn nothing_stays_in_the_staging_folder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        folder.put_fenced("a/b.json", 2, b"two").unwrap();
        folder.put_fenced("a/b.json", 1, b"one").unwrap();
        folder.put_once("a/c.json", b"once").unwrap();
        folder.put_once("a/c.json", b"twice").unwrap();
        assert!(folder.put_fenced("a/c.json", 1, b"never").is_err());
        assert_eq!(fs::read_dir(dir.path().join("objects/.tmp")).unwrap().count(), 0);
    }
}

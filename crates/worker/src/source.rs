//! Where a job's Figma document comes from.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use heddle_exchange::keys::{self, Tenant};
use heddle_exchange::{ExchangeError, Objects};
use heddle_figma::Limits;
use heddle_generation::message::{Job, Source};

/// A Figma document, unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceBytes {
    /// Its JSON.
    pub bytes: Vec<u8>,
    /// What it is called in messages to people: a file's name, or that it was uploaded.
    pub origin: String,
}

/// Why a document could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It isn't there, isn't what was promised, or is beyond the limits: asking again is no use. The text is fit for
    /// designers.
    #[error("{message}")]
    Unusable {
        /// What is wrong, and what to do.
        message: String,
    },
    /// It can't be had just now.
    #[error("could not read the source")]
    Unavailable {
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// The one seam through which a worker gets documents.
#[async_trait]
pub trait Sources: Send + Sync {
    /// The document that a job asks for.
    async fn document(&self, job: &Job) -> Result<SourceBytes, SourceError>;
}

/// A folder of Figma JSON (`{file_key}.json` or `{file_key}.json.gz`), and uploaded objects.
pub struct LocalSources {
    /// The folder; `None`: only uploads are served.
    pub folder: Option<PathBuf>,
    /// Where uploads are.
    pub objects: Arc<dyn Objects>,
    /// Most bytes of a document, unpacked.
    pub max_bytes: u64,
}

fn unusable<T>(message: impl Into<String>) -> Result<T, SourceError> {
    Err(SourceError::Unusable { message: message.into() })
}

fn unpack(bytes: Vec<u8>, origin: String, max_bytes: u64) -> Result<SourceBytes, SourceError> {
    let limits = Limits { bytes: max_bytes, ..Limits::default() };
    match heddle_figma::decompress(&bytes, &limits) {
        Ok(std::borrow::Cow::Borrowed(whole)) if whole.len() == bytes.len() => {
            Ok(SourceBytes { bytes, origin })
        }
        Ok(unpacked) => Ok(SourceBytes { bytes: unpacked.into_owned(), origin }),
        Err(error) => unusable(format!("{origin} can't be read: {error}.")),
    }
}

/// Reads a file of Figma JSON, gzip accepted as it is; `None` where there is none.
pub(crate) fn read_file(path: &Path, max_bytes: u64) -> Result<Option<SourceBytes>, SourceError> {
    let origin = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let read = || -> io::Result<Option<Vec<u8>>> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(max_bytes + 1).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    };
    match read() {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) if bytes.len() as u64 > max_bytes => {
            unusable(format!("{origin} is larger than {max_bytes} bytes, the most that is read."))
        }
        Ok(Some(bytes)) => unpack(bytes, origin, max_bytes).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SourceError::Unavailable { source: error.into() }),
    }
}

impl LocalSources {
    /// The file's key is one component of the path, whatever is in it.
    async fn in_folder(&self, file_key: &str) -> Result<SourceBytes, SourceError> {
        let Some(folder) = self.folder.clone() else {
            return unusable(
                "This installation reads no Figma files by key; upload the frame's document instead.",
            );
        };
        let (name, max_bytes) = (keys::component(file_key), self.max_bytes);
        let read = move || {
            for ending in ["json", "json.gz"] {
                if let Some(source) = read_file(&folder.join(format!("{name}.{ending}")), max_bytes)? {
                    return Ok(Some(source));
                }
            }
            Ok(None)
        };
        let found = tokio::task::spawn_blocking(read)
            .await
            .map_err(|error| SourceError::Unavailable { source: error.into() })??;
        match found {
            Some(source) => Ok(source),
            None => unusable(format!(
                "The Figma file {:?} is not among the files that this installation can read.",
                file_key.chars().take(80).collect::<String>()
            )),
        }
    }

    async fn uploaded(&self, job: &Job, object_key: &str, sha256: &str) -> Result<SourceBytes, SourceError> {
        // A message is not above the tenant's walls.
        if !object_key.starts_with(&Tenant::of(job).prefix()) {
            return unusable("The uploaded document belongs to another project.");
        }
        let bytes = match self.objects.get(object_key).await {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return unusable("The uploaded document is no longer there; upload it again."),
            Err(ExchangeError::Refused { .. }) => {
                return unusable("The uploaded document's key is not one of ours.");
            }
            Err(error) => return Err(SourceError::Unavailable { source: error.into() }),
        };
        let (promised, max_bytes) = (sha256.to_owned(), self.max_bytes);
        let check = move || {
            if keys::sha256_hex(&bytes) != promised {
                return unusable("The uploaded document is not the one that was promised; upload it again.");
            }
            unpack(bytes, "The uploaded document".to_owned(), max_bytes)
        };
        tokio::task::spawn_blocking(check)
            .await
            .map_err(|error| SourceError::Unavailable { source: error.into() })?
    }
}

#[async_trait]
impl Sources for LocalSources {
    async fn document(&self, job: &Job) -> Result<SourceBytes, SourceError> {
        match &job.source {
            Source::Figma => self.in_folder(&job.figma_file_key).await,
            Source::Upload { object_key, sha256 } => self.uploaded(job, object_key, sha256).await,
        }
    }
}

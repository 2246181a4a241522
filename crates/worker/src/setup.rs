//! A worker on the built-in converter, local sources and the HTTP webhook, as settings describe it: for every program
//! that runs one.

use std::path::PathBuf;
use std::sync::Arc;

use heddle_exchange::{Collections, Exchange};
use heddle_figma::Limits;
use heddle_generation::signature::WebhookSecret;

use crate::conversion::Des2wf;
use crate::{HttpReporter, LocalSources, Settings, Worker};

/// What such a worker is told.
pub struct Setup {
    /// Base URL of the server that it reports to.
    pub backend: String,
    /// The secret that it shares with that server.
    pub secret: WebhookSecret,
    /// A folder of Figma JSON, by file key; `None`: only uploads are served.
    pub figma_files: Option<PathBuf>,
    /// Most bytes of a Figma document, unpacked.
    pub max_source_bytes: u64,
    /// The collections' names.
    pub collections: Collections,
    /// Its bounds.
    pub settings: Settings,
}

/// A folder of Figma files that isn't there.
#[derive(Debug, thiserror::Error)]
#[error("the folder of Figma files {} is not there", .0.display())]
pub struct NoSuchFolder(pub PathBuf);

impl Setup {
    /// What is read at most.
    fn limits(&self) -> Limits {
        Limits { bytes: self.max_source_bytes, ..Limits::default() }
    }

    /// The worker.
    pub fn worker(self, exchange: Exchange) -> Result<Worker, NoSuchFolder> {
        if let Some(folder) = self.figma_files.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(NoSuchFolder(folder.clone()));
        }
        let converter = Des2wf { limits: self.limits() };
        let sources = LocalSources {
            folder: self.figma_files,
            objects: Arc::clone(&exchange.objects),
            max_bytes: self.max_source_bytes,
        };
        let reporter = HttpReporter::new(&self.backend, self.secret);
        let (converter, sources, reporter) = (Arc::new(converter), Arc::new(sources), Arc::new(reporter));
        Ok(Worker::new(exchange, self.collections, converter, sources, reporter, self.settings))
    }
}

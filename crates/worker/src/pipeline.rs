//! The seam to the conversion: everything that a worker asks of it, and nothing of how it is done.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use heddle_convert::library::PROCESSOR_VERSION;
use heddle_convert::score::SCORE_VERSION;
use heddle_exchange::registry::Target;
use heddle_generation::message::Job;
use serde_json::Value;

use crate::SourceBytes;

/// What a conversion is made from.
pub struct ConversionInput<'a> {
    /// The job.
    pub job: &'a Job,
    /// The Figma document, unpacked.
    pub source: &'a SourceBytes,
    /// The current entries of the project's wireframe kit (D7), by `_id`.
    pub kit_documents: Vec<Value>,
    /// The current entries of its design registry, by `_id`.
    pub design_documents: Vec<Value>,
    /// The library files that those came from, for drawing their masters.
    pub libraries: &'a dyn Libraries,
    /// Set once nobody waits for the conversion any more.
    pub cancel: &'a Cancel,
}

/// Says to a conversion that nobody waits for it any more: it took too long, or its job is someone else's now. A
/// thread can't be stopped from outside, so that a conversion has to look at this between its stages.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Says so.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether that was said.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Library files by the hash in an entry's `lineage.source_hash`.
pub trait Libraries: Send + Sync {
    /// The file's bytes, unpacked; `None` where it isn't kept. May take a while: call it from blocking code.
    fn library(&self, source_hash: &str) -> Result<Option<Arc<[u8]>>, ConversionError>;
}

/// A file that a conversion makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactFile {
    /// `parse.json`, `result.json`, `wireframe.json`, `preview.svg` …: `a-z 0-9 _ -`, one dot.
    pub file_name: String,
    /// Its bytes. The same input gives the same bytes: no times and no counters of this process in them.
    pub bytes: Vec<u8>,
    /// Its media type.
    pub media_type: &'static str,
}

/// What a conversion makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversion {
    /// The artifacts of the run; `result.json` is among them.
    pub artifacts: Vec<ArtifactFile>,
    /// Content hash of the snapshot, in lower-case hex.
    pub source_hash: String,
    /// The snapshot (D9).
    pub snapshot: Vec<u8>,
    /// The result document (D2); `_id` and `attempt` are the worker's to set.
    pub result_document: Value,
    /// The wireframe document, where the edge makes one; `_id` is the worker's to set.
    pub wireframe_document: Option<Value>,
    /// The run's score and the version of its formula, where the edge has one.
    pub score: Option<(f64, String)>,
    /// `confidence.flag_count`, where the edge has one.
    pub flag_count: Option<u32>,
    /// Milliseconds by stage, no stage within another; names of `a-z 0-9 _`.
    pub timings_ms: BTreeMap<String, f64>,
    /// How many warnings the result has, for the log.
    pub warnings: usize,
}

/// What a sweep is made from.
pub struct SweepInput<'a> {
    /// For which registry.
    pub target: Target,
    /// Whose.
    pub project_id: i64,
    /// The library file's key.
    pub file_key: &'a str,
    /// Hash of its bytes, in lower-case hex.
    pub source_hash: &'a str,
    /// Its bytes, unpacked.
    pub bytes: &'a [u8],
}

/// What a sweep makes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Swept {
    /// Registry documents (D7), complete: `_id` by the target's identity rule, `project_id`, and a `lineage` that
    /// names the file, its hash and [`Converter::sweep_version`]. The worker checks these and changes nothing.
    pub entries: Vec<Value>,
    /// What was skipped or is odd.
    pub warnings: Vec<Value>,
}

/// Why a conversion or sweep came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum ConversionError {
    /// It can't be done from this input, now or later. The text is fit for designers.
    #[error("{message}")]
    Refused {
        /// Stable code in snake case, for logs and counts.
        code: &'static str,
        /// What is wrong, and what to do: one sentence.
        message: String,
        /// What it came from, for the log.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// Something that it needs can't be had just now.
    #[error("could not {attempted}")]
    Unavailable {
        /// What was attempted, as a verb phrase.
        attempted: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// The conversion. Called on a blocking thread, one call at a time for each job.
pub trait Converter: Send + Sync {
    /// Converts one frame.
    fn convert(&self, input: ConversionInput<'_>) -> Result<Conversion, ConversionError>;
    /// Makes registry documents of a library file.
    fn sweep(&self, input: SweepInput<'_>) -> Result<Swept, ConversionError>;
    /// Which conversion this is: two with one version make the same of the same inputs.
    fn version(&self) -> String {
        format!("heddle {} {SCORE_VERSION}", env!("CARGO_PKG_VERSION"))
    }
    /// Which sweep this is: two with one version make the same of the same file.
    fn sweep_version(&self) -> String {
        PROCESSOR_VERSION.to_owned()
    }
}

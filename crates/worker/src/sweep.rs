//! The registry sweep (D6, D7): a library file becomes the documents of a registry.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use heddle_exchange::keys::{ContentHash, Tenant};
use heddle_exchange::registry::{FileVersion, MAX_ENTRIES, Registry, Target};
use heddle_exchange::{Collections, Exchange, ExchangeError};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::pipeline::{ConversionError, Converter, SweepInput, Swept};
use crate::source::{SourceBytes, SourceError, read_file};

/// What to sweep.
pub struct SweepRequest {
    /// Into which registry.
    pub target: Target,
    /// Whose.
    pub tenant: Tenant,
    /// The library file's key in Figma.
    pub file_key: String,
    /// Its bytes, unpacked.
    pub bytes: Vec<u8>,
    /// Whether this file takes the place of every other one of this registry: the kit is swapped.
    pub alone: bool,
    /// Whether to sweep a file again that hasn't changed since the last sweep.
    pub again: bool,
}

/// An entry, as reports name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Named {
    /// `_id`.
    pub id: String,
    /// Display name.
    pub name: String,
}

/// What a sweep did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepReport {
    /// `kit` or `design`.
    pub target: &'static str,
    /// Whose registry.
    pub project_id: i64,
    /// The file.
    pub file_key: String,
    /// Hash of its bytes.
    pub source_hash: String,
    /// Whether the file was registered with this hash by this version of the sweep already, so that nothing was done.
    pub unchanged_file: bool,
    /// Entries found in the file.
    pub entries: usize,
    /// Entries that were not there before.
    pub added: Vec<Named>,
    /// Entries that say something else than before.
    pub changed: Vec<Named>,
    /// How many say the same.
    pub unchanged: usize,
    /// Entries that were current before and are stale now.
    pub stale: Vec<Named>,
    /// What was skipped or is odd.
    pub warnings: Vec<Value>,
}

/// Why a sweep came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The file can't be read.
    #[error("the library file can't be read")]
    File(#[from] SourceError),
    /// The file can't be made into entries.
    #[error("the library file can't be swept")]
    Conversion(#[from] ConversionError),
    /// More entries than a registry takes, or none.
    #[error("the library file has {found} components; a registry takes 1 to {MAX_ENTRIES}")]
    Entries {
        /// How many.
        found: usize,
    },
    /// A converter that doesn't keep its promise: see [`Swept::entries`].
    #[error("the sweep made the entry {id:?}, which is not one of this registry, file and version")]
    Entry {
        /// Its `_id`.
        id: String,
    },
    /// The registry can't be written.
    #[error("the registry can't be written")]
    Exchange(#[from] ExchangeError),
    /// The sweep itself broke down.
    #[error("the sweep broke down")]
    Defect(#[source] tokio::task::JoinError),
}

/// Reads a library file for a sweep, gzip accepted as it is.
pub fn read_library(path: &Path, max_bytes: u64) -> Result<SourceBytes, SweepError> {
    let absent =
        || SourceError::Unusable { message: format!("{} is not there, or is no file", path.display()) };
    Ok(read_file(path, max_bytes)?.ok_or_else(absent)?)
}

/// Sweeps a file. Runs that are under way see the old entries and the new ones side by side until it is done; cut
/// off, it can simply be run again.
pub async fn sweep(
    exchange: &Exchange,
    collections: &Collections,
    converter: Arc<dyn Converter>,
    request: SweepRequest,
    now: Timestamp,
) -> Result<SweepReport, SweepError> {
    let SweepRequest { target, tenant, file_key, bytes, alone, again } = request;
    let registry =
        Registry { documents: &*exchange.documents, collections, target, project_id: tenant.project_id };
    let hash = ContentHash::of(&bytes);
    let mut report = SweepReport {
        target: target.name(),
        project_id: tenant.project_id,
        file_key: file_key.clone(),
        source_hash: hash.to_string(),
        unchanged_file: false,
        entries: 0,
        added: Vec::new(),
        changed: Vec::new(),
        unchanged: 0,
        stale: Vec::new(),
        warnings: Vec::new(),
    };
    let processor = converter.sweep_version();
    let version = FileVersion { key: &file_key, hash: hash.as_str(), processor: &processor };
    if !again && !alone && registry.is_registered(version).await? {
        report.unchanged_file = true;
        report.entries =
            registry.load().await?.entries.iter().filter(|entry| is_of(entry, &file_key)).count();
        report.unchanged = report.entries;
        return Ok(report);
    }

    let (bytes, swept) = convert(converter, target, tenant.project_id, &file_key, &hash, bytes).await?;
    report.warnings = swept.warnings;
    let entries = checked(tenant.project_id, version, swept.entries)?;
    if entries.is_empty() || entries.len() > MAX_ENTRIES {
        return Err(SweepError::Entries { found: entries.len() });
    }
    report.entries = entries.len();
    // The file first: an entry must never name a library that isn't there.
    exchange.objects.put_once(&tenant.library(&hash), &bytes, "application/json").await?;

    let by_id = |entries: Vec<Value>| -> BTreeMap<String, Value> {
        entries.into_iter().filter_map(|entry| Some((entry["_id"].as_str()?.to_owned(), entry))).collect()
    };
    let known = by_id(registry.all().await?);
    let current = by_id(registry.load().await?.entries);
    registry.begin_sweep(version).await?;
    for (id, entry) in &entries {
        let named = || Named { id: id.clone(), name: entry["name"].as_str().unwrap_or_default().to_owned() };
        match known.get(id) {
            None => report.added.push(named()),
            Some(before) if without_lineage(before) == content(entry) => report.unchanged += 1,
            Some(_) => report.changed.push(named()),
        }
        exchange.documents.put(target.collection(collections), id, entry.clone()).await?;
    }
    registry.finish_sweep(version, entries.len(), &now.to_string(), alone).await?;
    let still = by_id(registry.load().await?.entries);
    report.stale = current
        .iter()
        .filter(|(id, _)| !still.contains_key(*id))
        .map(|(id, entry)| Named {
            id: id.clone(),
            name: entry["name"].as_str().unwrap_or_default().to_owned(),
        })
        .collect();
    Ok(report)
}

fn is_of(entry: &Value, file_key: &str) -> bool {
    entry["lineage"]["source_file"].as_str() == Some(file_key)
}

/// An entry without where it comes from.
fn without_lineage(entry: &Value) -> Value {
    let mut entry = entry.clone();
    if let Some(fields) = entry.as_object_mut() {
        fields.remove("lineage");
    }
    entry
}

/// What a stored entry is compared with to tell a change. That one has been through text, which may cost a number its
/// last bit; so this one goes the same way.
fn content(entry: &Value) -> Value {
    let text = serde_json::to_vec(entry).unwrap_or_default();
    without_lineage(&serde_json::from_slice(&text).unwrap_or_default())
}

async fn convert(
    converter: Arc<dyn Converter>,
    target: Target,
    project_id: i64,
    file_key: &str,
    hash: &ContentHash,
    bytes: Vec<u8>,
) -> Result<(Vec<u8>, Swept), SweepError> {
    let (file_key, hash) = (file_key.to_owned(), hash.clone());
    let converting = tokio::task::spawn_blocking(move || {
        let input =
            SweepInput { target, project_id, file_key: &file_key, source_hash: hash.as_str(), bytes: &bytes };
        let swept = converter.sweep(input);
        (bytes, swept)
    });
    let (bytes, swept) = converting.await.map_err(SweepError::Defect)?;
    Ok((bytes, swept?))
}

/// The entries by `_id`, each checked to be one of this registry, file and sweep.
fn checked(
    project_id: i64,
    version: FileVersion<'_>,
    entries: Vec<Value>,
) -> Result<BTreeMap<String, Value>, SweepError> {
    let check = |entry: Value| {
        let lineage = &entry["lineage"];
        let sound = entry["project_id"].as_i64() == Some(project_id)
            && lineage["source_file"].as_str() == Some(version.key)
            && lineage["source_hash"].as_str() == Some(version.hash)
            && lineage["processor_version"].as_str() == Some(version.processor);
        match entry["_id"].as_str().map(str::to_owned) {
            Some(id) if sound => Ok((id, entry)),
            id => Err(SweepError::Entry { id: id.unwrap_or_default() }),
        }
    };
    entries.into_iter().map(check).collect()
}

impl fmt::Display for SweepReport {
    /// For people: a line of numbers, then the names, at most twenty of each kind.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, project_id, file_key, entries, unchanged, .. } = self;
        if self.unchanged_file {
            return write!(
                formatter,
                "{file_key} has not changed since its last sweep into the {target} of project {project_id}: {entries} entries"
            );
        }
        write!(
            formatter,
            "{file_key} → {target} of project {project_id}: {entries} entries, {} added, {} changed, {unchanged} unchanged, {} left stale",
            self.added.len(),
            self.changed.len(),
            self.stale.len()
        )?;
        for (word, named) in [("added", &self.added), ("changed", &self.changed), ("stale", &self.stale)] {
            for one in named.iter().take(20) {
                write!(formatter, "\n  {word:8} {} ({})", one.name, one.id)?;
            }
            if named.len() > 20 {
                write!(formatter, "\n  {word:8} … and {} more", named.len() - 20)?;
            }
        }
        for warning in self.warnings.iter().take(20) {
            let text = warning["message"].as_str().map_or_else(|| warning.to_string(), str::to_owned);
            write!(formatter, "\n  warning  {text}")?;
        }
        if self.warnings.len() > 20 {
            write!(formatter, "\n  warning  … and {} more", self.warnings.len() - 20)?;
        }
        Ok(())
    }
}

//! `heddle.toml`.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::failure::Failure;

/// The file's values, and its path where there is one.
pub struct FileConfig {
    pub values: Values,
    pub path: Option<String>,
}

/// What may stand in it. Anything else is a mistake.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    pub data: Option<PathBuf>,
    pub listen: Option<String>,
    pub backend: Option<String>,
    pub figma_files: Option<PathBuf>,
    pub default_organization_id: Option<i64>,
    pub pages: Option<String>,
    pub secure_cookie: Option<bool>,
    pub webhook_secret: Option<String>,
    pub token: Option<String>,
    pub projects: Option<Vec<ProjectEntry>>,
    pub callers: Option<Vec<CallerEntry>>,
    pub worker: Option<WorkerEntry>,
    pub collections: Option<BTreeMap<String, String>>,
    pub workflows: Option<WorkflowsEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectEntry {
    pub id: i64,
    pub name: Option<String>,
    pub organization_id: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallerEntry {
    pub token: String,
    pub user: String,
    pub organization_id: Option<i64>,
    pub surface: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerEntry {
    pub concurrency: Option<usize>,
    pub visibility_seconds: Option<u64>,
    pub max_deliveries: Option<u32>,
    pub conversion_timeout_seconds: Option<u64>,
    pub memory_mib: Option<u32>,
    pub max_source_bytes: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowsEntry {
    pub database_url: Option<String>,
    pub primary_key_type: Option<String>,
    pub owner_key_type: Option<String>,
    pub subject_key_type: Option<String>,
    pub key_type: Option<String>,
    pub tables: Option<BTreeMap<String, String>>,
}

impl FileConfig {
    /// Reads the named file, which must be there, or `heddle.toml`, which may be. Paths in it are relative to it.
    pub fn read(named: Option<PathBuf>) -> Result<Self, Failure> {
        let is_named = named.is_some();
        let path = named.unwrap_or_else(|| "heddle.toml".into());
        let shown = path.display().to_string();
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound && !is_named => {
                return Ok(Self { values: Values::default(), path: None });
            }
            read => read.map_err(|error| Failure::usage(format!("could not read {shown}")).because(error))?,
        };
        let mut values: Values = toml::from_str(&text).map_err(|error| mistake(&shown, &text, &error))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for relative in [&mut values.data, &mut values.figma_files].into_iter().flatten() {
            *relative = folder.join(&relative);
        }
        Ok(Self { values, path: Some(shown) })
    }
}

/// Where the mistake is, and what. The line itself stays out of it, since there may be a secret on it.
fn mistake(path: &str, text: &str, error: &toml::de::Error) -> Failure {
    let place = error.span().map_or_else(String::new, |span| {
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        format!(", line {line}, column {column}")
    });
    Failure::usage(format!("{path}{place}: {}", error.message()))
}

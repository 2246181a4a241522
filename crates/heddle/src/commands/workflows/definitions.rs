//! `heddle workflows publish`, `definitions` and `overlay`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use heddle_workflow::read_json;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::generations::{Server, path_segment, text};
use super::validate::read;
use crate::config::ConfigArgs;
use crate::failure::Failure;
use crate::table::{relative, table};
use crate::terminal::Terminal;

/// Publish a graph.
#[derive(Args)]
pub struct Publish {
    /// The graph, as JSON.
    file: PathBuf,
    /// The workflow's key [default: the file's name without .json].
    #[arg(long, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    key: Option<String>,
    /// What the workflow is called; said when it is first published.
    #[arg(long)]
    name: Option<String>,
    /// The checksum that the current version must have, empty for none, so that nobody overwrites another's work.
    #[arg(long, value_name = "CHECKSUM")]
    expected_checksum: Option<String>,
    #[command(flatten)]
    server: Server,
}

/// The request, with the graph as it is written.
#[derive(Serialize)]
struct Body<'a> {
    document: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_checksum: Option<String>,
}

impl Publish {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let Self { file, key, name, expected_checksum, server } = self;
        let graph = read(&file)?;
        let unreadable = |error: String| {
            Failure::new(format!("{} is no graph: {error}", file.display()))
                .hint(format!("`heddle workflows validate {}` says more.", file.display()))
        };
        read_json(&graph).map_err(|error| unreadable(error.to_string()))?;
        let document = serde_json::from_str(&graph).map_err(|error| unreadable(error.to_string()))?;
        let key = match key {
            Some(key) => key,
            None => file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned(),
        };
        let body = serde_json::to_vec(&Body { document, name, expected_checksum })
            .map_err(|error| unreadable(error.to_string()))?;
        let path = format!("/v1/workflows/{}", path_segment(&key));
        let published = server.client(config)?.put(&path, &[], &body)?;
        terminal.result(&published, || {
            let mut lines = vec![format!(
                "{} is at version {}\nchecksum {}",
                text(&published, "key"),
                published["version"],
                text(&published, "checksum")
            )];
            for finding in published["findings"].as_array().into_iter().flatten() {
                lines.push(format!("warning[{}]: {}", text(finding, "code"), text(finding, "message")));
            }
            lines.join("\n")
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// List what is published.
#[derive(Args)]
pub struct Definitions {
    /// How many.
    #[arg(long, value_name = "N", default_value_t = 25)]
    limit: u16,
    /// Continue after a page: its `next_cursor`.
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    server: Server,
}

impl Definitions {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let mut query = vec![("limit", self.limit.to_string())];
        query.extend(self.cursor.map(|cursor| ("cursor", cursor)));
        let page = self.server.client(config)?.get("/v1/workflows", &query)?;
        terminal.result(&page, || definitions(&page, Timestamp::now()))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn definitions(page: &Value, now: Timestamp) -> String {
    let rows: Vec<_> = page["items"].as_array().into_iter().flatten().collect();
    if rows.is_empty() {
        return "no workflows".to_owned();
    }
    let row = |it: &&Value| {
        let updated: Option<Timestamp> = text(it, "updated_at").parse().ok();
        [
            text(it, "key").to_owned(),
            it["version"].to_string(),
            text(it, "checksum").chars().take(12).collect(),
            updated.map(|at| relative(at, now)).unwrap_or_default(),
            text(it, "name").to_owned(),
        ]
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    with_more(table(["KEY", "VERSION", "CHECKSUM", "UPDATED", "NAME"], &rows), page)
}

/// With how to go on, where there is more.
pub(super) fn with_more(list: String, page: &Value) -> String {
    match page["next_cursor"].as_str() {
        Some(cursor) => format!("{list}\nmore: --cursor {cursor}"),
        None => list,
    }
}

/// See where the live instances of a version stand.
#[derive(Args)]
pub struct Overlay {
    /// The workflow's key.
    key: String,
    /// The version's number [default: the current one's].
    #[arg(long, value_name = "N")]
    number: Option<u32>,
    #[command(flatten)]
    server: Server,
}

impl Overlay {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let client = self.server.client(config)?;
        let path = format!("/v1/workflows/{}", path_segment(&self.key));
        let version = match self.number {
            Some(number) => number.to_string(),
            None => client.get(&path, &[])?["version"].to_string(),
        };
        let overlay = client.get(&format!("{path}/versions/{version}/overlay"), &[])?;
        terminal.result(&overlay, || {
            let counts = overlay["counts"].as_array().into_iter().flatten();
            let rows: Vec<_> = counts
                .map(|it| {
                    [text(it, "node").to_owned(), text(it, "status").to_owned(), it["count"].to_string()]
                })
                .collect();
            if rows.is_empty() {
                return format!("version {version} of {} has no live instances", self.key);
            }
            table(["NODE", "STATUS", "INSTANCES"], &rows)
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

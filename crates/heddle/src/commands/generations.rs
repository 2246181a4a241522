//! `heddle generations`: a small client of a running server.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use heddle_generation::{Edge, RunId, Status};
use serde_json::{Value, json};

use crate::client::Client;
use crate::config::{ConfigArgs, Overrides};
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Ask a running server for generations.
#[derive(Subcommand)]
pub enum Generations {
    /// Ask for a run.
    Create(Create),
    /// Look at a run.
    Show(Show),
    /// List runs, newest first.
    List(List),
    /// Cancel a run.
    Cancel(Cancel),
}

/// Where the server is.
#[derive(Args)]
pub(super) struct Server {
    /// The server [env: `HEDDLE_BACKEND`] [default: where `heddle serve` listens].
    #[arg(long, value_name = "URL")]
    server: Option<String>,
}

impl Server {
    /// A client of it.
    pub(super) fn client(&self, config: &ConfigArgs) -> Result<Client, Failure> {
        let overrides = Overrides { backend: self.server.clone(), ..Overrides::default() };
        Client::new(&config.with(overrides).load()?)
    }
}

/// Waiting for a run's end.
#[derive(Args)]
struct Waiting {
    /// Wait until the run has ended; exit 1 unless it is completed.
    #[arg(long)]
    wait: bool,
    /// How long to wait, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "wait")]
    timeout: u64,
}

/// A value that is given by its name.
pub(super) fn named<T: Clone + Send + Sync + 'static>(
    all: &[T],
    name: fn(T) -> &'static str,
    from_name: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(all.iter().cloned().map(name));
    names.try_map(move |given: String| from_name(&given).ok_or("no such name"))
}

fn edge() -> impl TypedValueParser<Value = Edge> {
    named(Edge::ALL, Edge::name, Edge::from_name)
}

fn status() -> impl TypedValueParser<Value = Status> {
    named(Status::ALL, Status::name, Status::from_name)
}

/// Ask for a run.
#[derive(Args)]
pub struct Create {
    /// The project.
    #[arg(long, value_name = "ID", default_value_t = 1)]
    project: i64,
    /// The Figma file's key.
    #[arg(long, value_name = "KEY")]
    file_key: String,
    /// The input node, as 12:345 or 12-345.
    #[arg(long, value_name = "ID")]
    node: String,
    /// Which way: des2wf makes a wireframe of a design, wf2des a design of a wireframe.
    #[arg(long, default_value = "des2wf", value_parser = edge())]
    edge: Edge,
    /// Bring the document along: Figma REST JSON, plain or gzip.
    #[arg(long, value_name = "FILE")]
    upload: Option<PathBuf>,
    /// The screen's id; only wf2des needs one.
    #[arg(long, value_name = "ID")]
    screen_id: Option<String>,
    /// What to mind, in words.
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// The node at which to place the result.
    #[arg(long, value_name = "ID")]
    placement_target: Option<String>,
    /// Parse and assemble in one call, without a stop for confirmation.
    #[arg(long)]
    auto_confirm: bool,
    #[command(flatten)]
    waiting: Waiting,
    #[command(flatten)]
    server: Server,
}

/// Look at a run.
#[derive(Args)]
pub struct Show {
    /// The run's id.
    id: String,
    #[command(flatten)]
    waiting: Waiting,
    #[command(flatten)]
    server: Server,
}

/// List runs.
#[derive(Args)]
pub struct List {
    /// In this project.
    #[arg(long, value_name = "ID")]
    project: Option<i64>,
    /// Of this Figma file.
    #[arg(long, value_name = "KEY")]
    file_key: Option<String>,
    /// On this edge.
    #[arg(long, value_parser = edge())]
    edge: Option<Edge>,
    /// In this status.
    #[arg(long, value_parser = status())]
    status: Option<Status>,
    /// How many.
    #[arg(long, value_name = "N", default_value_t = 25)]
    limit: u16,
    /// Continue after a page: its `next_cursor`.
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    server: Server,
}

/// Cancel a run.
#[derive(Args)]
pub struct Cancel {
    /// The run's id.
    id: String,
    #[command(flatten)]
    server: Server,
}

impl Generations {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let client = |server: &Server| server.client(config);
        match self {
            Self::Create(command) => {
                let client = client(&command.server)?;
                let run = command.ask(&client)?;
                let id = text(&run, "id").to_owned();
                terminal.say(&format!("Run {id} is under way."));
                command.waiting.end(&client, terminal, run)
            }
            Self::Show(command) => {
                let client = client(&command.server)?;
                let run = client.get(&run_path(&command.id)?, &[])?;
                command.waiting.end(&client, terminal, run)
            }
            Self::List(command) => {
                let page = command.ask(&client(&command.server)?)?;
                terminal.result(&page, || table(&page))?;
                Ok(ExitCode::SUCCESS)
            }
            Self::Cancel(command) => {
                let path = format!("{}/cancel", run_path(&command.id)?);
                let run = client(&command.server)?.post(&path, None)?;
                terminal.result(&run, || describe(&run))?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

/// An id goes into a path, so that it must be one.
fn run_path(id: &str) -> Result<String, Failure> {
    match RunId::parse(id.trim()) {
        Some(id) => Ok(format!("/v1/generations/{id}")),
        None => Err(Failure::usage(format!("{id:?} is not a run's id"))),
    }
}

impl Create {
    fn ask(&self, client: &Client) -> Result<Value, Failure> {
        let mut body = json!({
            "edge": self.edge.name(),
            "project_id": self.project,
            "figma_file_key": self.file_key,
            "wf_node_id": self.node,
            "auto_confirm": self.auto_confirm,
        });
        for (field, value) in [
            ("screen_id", &self.screen_id),
            ("prompt", &self.prompt),
            ("placement_target", &self.placement_target),
        ] {
            if let Some(value) = value {
                body[field] = json!(value);
            }
        }
        if let Some(file) = &self.upload {
            let bytes = std::fs::read(file)
                .map_err(|error| Failure::new(format!("could not read {}", file.display())).because(error))?;
            let path = format!("/v1/uploads/{}", path_segment(&self.file_key));
            let upload = client.put(&path, &[("project_id", self.project.to_string())], &bytes)?;
            body["source"] =
                json!({ "upload": { "object_key": upload["object_key"], "sha256": upload["sha256"] } });
        }
        client.post("/v1/generations", Some(&body))
    }
}

/// Percent-encoded as a path's segment.
pub(super) fn path_segment(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut segment, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') {
            segment.push(char::from(byte));
        } else {
            let _ = write!(segment, "%{byte:02X}");
        }
        segment
    })
}

impl List {
    fn ask(&self, client: &Client) -> Result<Value, Failure> {
        let mut query = vec![("limit", self.limit.to_string())];
        query.extend(self.project.map(|id| ("project_id", id.to_string())));
        query.extend(self.file_key.clone().map(|key| ("figma_file_key", key)));
        query.extend(self.edge.map(|edge| ("edge", edge.name().to_owned())));
        query.extend(self.status.map(|status| ("status", status.name().to_owned())));
        query.extend(self.cursor.clone().map(|cursor| ("cursor", cursor)));
        client.get("/v1/generations", &query)
    }
}

impl Waiting {
    /// Prints the run, at its end where that is waited for.
    fn end(&self, client: &Client, terminal: Terminal, mut run: Value) -> Result<ExitCode, Failure> {
        if self.wait {
            run = self.wait_for(client, terminal, run)?;
        }
        terminal.result(&run, || describe(&run))?;
        let ended_badly = self.wait && text(&run, "status") != "completed";
        Ok(if ended_badly { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    fn wait_for(&self, client: &Client, terminal: Terminal, mut run: Value) -> Result<Value, Failure> {
        let path = run_path(text(&run, "id"))?;
        let deadline = Instant::now() + Duration::from_secs(self.timeout);
        let mut pause = Duration::from_millis(100);
        let mut progress = terminal.progress();
        while text(&run, "status") == "processing" {
            progress.at(&format!("{}, attempt {}", text(&run, "phase"), run["attempt"]));
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(progress);
                return Err(Failure::new(format!("the run has not ended within {} seconds", self.timeout))
                    .hint(format!("It goes on: heddle generations show {} --wait", text(&run, "id"))));
            }
            std::thread::sleep(pause.min(left));
            pause = (pause * 3 / 2).min(Duration::from_secs(2));
            run = client.get(&path, &[])?;
        }
        Ok(run)
    }
}

pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// A run for people.
fn describe(run: &Value) -> String {
    let mut lines = Vec::new();
    for (label, field) in [
        ("run", "id"),
        ("edge", "edge"),
        ("status", "status"),
        ("phase", "phase"),
        ("attempt", "attempt"),
        ("project", "project_id"),
        ("file", "figma_file_key"),
        ("node", "wf_node_id"),
        ("score", "score"),
        ("formula", "score_version"),
        ("flags", "flag_count"),
        ("error", "error_message"),
        ("result", "result_url"),
        ("created", "created_at"),
        ("updated", "updated_at"),
    ] {
        match &run[field] {
            Value::Null => {}
            Value::String(text) => lines.push(format!("{label:8} {text}")),
            value => lines.push(format!("{label:8} {value}")),
        }
    }
    lines.join("\n")
}

/// A page of runs for people.
fn table(page: &Value) -> String {
    let mut rows =
        vec![["RUN", "EDGE", "STATUS", "SCORE", "FLAGS", "FILE", "NODE", "CREATED"].map(str::to_owned)];
    for run in page["items"].as_array().into_iter().flatten() {
        let number = |field: &str| match &run[field] {
            Value::Null => "—".to_owned(),
            value => value.to_string(),
        };
        let status = match text(run, "phase") {
            "" => text(run, "status").to_owned(),
            phase => format!("{}/{phase}", text(run, "status")),
        };
        rows.push([
            text(run, "id").to_owned(),
            text(run, "edge").to_owned(),
            status,
            number("score"),
            number("flag_count"),
            text(run, "figma_file_key").to_owned(),
            text(run, "wf_node_id").to_owned(),
            text(run, "created_at").split('.').next().unwrap_or_default().to_owned(),
        ]);
    }
    if rows.len() == 1 {
        return "no runs".to_owned();
    }
    let mut widths = [0; 8];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &[String; 8]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut lines: Vec<_> = rows.iter().map(line).collect();
    if let Some(cursor) = page["next_cursor"].as_str() {
        lines.push(format!("more: --cursor {cursor}"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_into_a_path_stays_in_its_segment() {
        assert_eq!(path_segment("a/../b?c#d é"), "a%2F%2E%2E%2Fb%3Fc%23d%20%C3%A9");
        assert!(run_path("../../internal").is_err());
    }

    #[test]
    fn a_table_lines_up() {
        let page = json!({ "items": [
            { "id": "x", "edge": "des2wf", "status": "processing", "phase": "parse", "figma_file_key": "f",
              "wf_node_id": "1:2", "score": null, "flag_count": null, "created_at": "2026-01-02T03:04:05.678Z" },
            { "id": "y", "edge": "des2wf", "status": "completed", "figma_file_key": "long key", "wf_node_id": "1:2",
              "score": 0.9, "flag_count": 2, "created_at": "2026-01-02T03:04:05Z" } ],
            "next_cursor": "abc" });
        let text = table(&page);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[1].contains("processing/parse  —      —"), "{text}");
        assert_eq!(lines[0].find("FILE"), lines[2].find("long key"));
        assert_eq!(lines[3], "more: --cursor abc");
        assert_eq!(table(&json!({ "items": [] })), "no runs");
    }
}

//! What people do to instances: one by its id, or all that a filter finds.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::super::generations::{Server, text};
use super::instances::Filter;
use super::{instance_path, json_argument};
use crate::client::Client;
use crate::config::ConfigArgs;
use crate::failure::Failure;
use crate::table::table;
use crate::terminal::Terminal;

/// Which instances, and where.
#[derive(Args)]
pub struct Act {
    /// The instance's id. Without one, every instance that the options find; where one of them is refused, say because
    /// it has ended, the exit code is 1. `--status running,waiting` leaves out what has ended.
    #[arg(required_unless_present_any = FILTERS)]
    id: Option<String>,
    /// The version that you saw: refused where the instance has changed since.
    #[arg(long, value_name = "N", requires = "id")]
    expected_version: Option<u32>,
    #[command(flatten)]
    filter: Filter,
    /// Every instance of the organization.
    #[arg(long, conflicts_with = "id")]
    all: bool,
    #[command(flatten)]
    server: Server,
}

/// What says which instances, where no id does.
const FILTERS: [&str; 6] = ["all", "workflow", "status", "subject_type", "started_from", "started_before"];

/// Go on without a step.
#[derive(Args)]
pub struct Skip {
    #[command(flatten)]
    act: Act,
    /// By which outcome of the node [default: default].
    #[arg(long)]
    outcome: Option<String>,
    /// What is to be the step's output: JSON, or @FILE.
    #[arg(long, value_name = "JSON", value_parser = json_argument)]
    output: Option<Value>,
}

/// Send an instance a signal.
#[derive(Args)]
pub struct Signal {
    /// The instance's id.
    id: String,
    /// The event's key: the `event` of the graph's wait.
    event: String,
    /// What it carries: JSON, or @FILE. Where the wait has a `match`, this has to meet it.
    #[arg(long, value_name = "JSON", value_parser = json_argument)]
    payload: Option<Value>,
    /// The version that you saw: refused where the instance has changed since.
    #[arg(long, value_name = "N")]
    expected_version: Option<u32>,
    #[command(flatten)]
    server: Server,
}

/// Publish an event.
#[derive(Args)]
pub struct Emit {
    /// The event's key.
    event: String,
    /// What it carries: JSON, or @FILE.
    #[arg(long, value_name = "JSON", value_parser = json_argument)]
    payload: Option<Value>,
    #[command(flatten)]
    server: Server,
}

impl Act {
    pub fn run(self, command: &str, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        self.act(command, json!({}), terminal, config)
    }

    fn act(
        self,
        command: &str,
        mut body: Value,
        terminal: Terminal,
        config: &ConfigArgs,
    ) -> Result<ExitCode, Failure> {
        let Self { id, expected_version, filter, all: _, server } = self;
        let Some(id) = id else {
            return batch(&server.client(config)?, command, body, &filter, terminal);
        };
        if !filter.is_empty() {
            return Err(Failure::usage("say an id or which instances, not both"));
        }
        if let Some(version) = expected_version {
            body["expected_version"] = json!(version);
        }
        one(&server, &id, command, &body, terminal, config)
    }
}

impl Skip {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let mut body = json!({});
        for (field, value) in [("outcome", self.outcome.map(Value::from)), ("output", self.output)] {
            if let Some(value) = value {
                body[field] = value;
            }
        }
        self.act.act("skip", body, terminal, config)
    }
}

impl Signal {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let mut body = json!({"key": self.event, "payload": self.payload});
        if let Some(version) = self.expected_version {
            body["expected_version"] = json!(version);
        }
        one(&self.server, &self.id, "signal", &body, terminal, config)
    }
}

impl Emit {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let body = json!({"key": self.event, "payload": self.payload});
        let emitted = self.server.client(config)?.post("/v1/events", Some(&body))?;
        terminal.result(&emitted, || match emitted["taken"].as_u64() {
            Some(1) => format!("1 instance took {}", self.event),
            Some(taken) => format!("{taken} instances took {}", self.event),
            None => emitted.to_string(),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Commands one instance, and says what has changed.
fn one(
    server: &Server,
    id: &str,
    command: &str,
    body: &Value,
    terminal: Terminal,
    config: &ConfigArgs,
) -> Result<ExitCode, Failure> {
    let path = instance_path(id)?;
    let client = server.client(config)?;
    let before = client.get(&path, &[])?;
    let after = client.post(&format!("{path}/{command}"), Some(body))?;
    terminal.result(&after, || changed(command, &before, &after))?;
    Ok(ExitCode::SUCCESS)
}

fn changed(command: &str, before: &Value, after: &Value) -> String {
    let place = |instance: &Value| match instance["current_node"].as_str() {
        Some(node) => format!("{} at {node}", text(instance, "status")),
        None => text(instance, "status").to_owned(),
    };
    let (was, is) = (place(before), place(after));
    let id = text(after, "id");
    let change = if was == is { format!("is {is}, as before") } else { format!("was {was}, is {is}") };
    // Whatever takes a signal goes on by it.
    let is_kept = command == "signal" && was == is && before["steps_count"] == after["steps_count"];
    let kept = if is_kept { "; the signal is kept until something waits for it" } else { "" };
    format!("{id} {change}{kept}; version {}", after["lock_version"])
}

/// Commands all that a filter finds, a page at a time. Exit 1 where one was refused.
fn batch(
    client: &Client,
    command: &str,
    mut body: Value,
    filter: &Filter,
    terminal: Terminal,
) -> Result<ExitCode, Failure> {
    body["command"] = json!(command);
    body["filter"] = Value::Object(filter.fields());
    let mut results = Vec::new();
    loop {
        let page = client.post("/v1/instances/batch", Some(&body))?;
        results.extend(page["results"].as_array().into_iter().flatten().cloned());
        match &page["next_cursor"] {
            Value::Null => break,
            cursor => body["cursor"] = cursor.clone(),
        }
    }
    let refused = results.iter().filter(|result| result["done"] != true).count();
    let whole = json!({"done": results.len() - refused, "refused": refused, "results": results});
    terminal.result(&whole, || {
        let row = |result: &Value| {
            let said = if result["done"] == true {
                ["done".to_owned(), text(result, "status").to_owned()]
            } else {
                ["refused".to_owned(), text(result, "message").to_owned()]
            };
            let [done, what] = said;
            [text(result, "id").to_owned(), done, what]
        };
        let rows: Vec<_> = results.iter().map(row).collect();
        let list =
            if rows.is_empty() { String::new() } else { table(["INSTANCE", "RESULT", "NOW"], &rows) + "\n" };
        format!("{list}{} done, {refused} refused", results.len() - refused)
    })?;
    Ok(if refused == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

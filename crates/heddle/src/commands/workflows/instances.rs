//! `heddle workflows start`, `list` and `show`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use heddle_workflow::Status;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::super::generations::{Server, named, text};
use super::definitions::with_more;
use super::{instance_path, json_argument, timeline};
use crate::client::Client;
use crate::config::ConfigArgs;
use crate::failure::Failure;
use crate::table::{relative, table};
use crate::terminal::Terminal;

/// How long one call waits for an instance's end.
const WAIT_SECONDS: u64 = 30;
/// How many entries of a timeline are asked for at a time.
const TIMELINE_PAGE: &str = "100";

/// Waiting for an instance's end.
#[derive(Args)]
pub struct Waiting {
    /// Wait until the instance has ended; exit 1 unless it is completed.
    #[arg(long)]
    wait: bool,
    /// How long to wait, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "wait")]
    timeout: u64,
}

/// Start an instance.
#[derive(Args)]
pub struct Start {
    /// The workflow's key.
    key: String,
    /// What the instance is given: JSON, or @FILE.
    #[arg(long, value_name = "JSON", value_parser = json_argument)]
    trigger: Option<Value>,
    /// The kind of record that it is about, in your registry of subjects.
    #[arg(long, value_name = "KEY")]
    subject_key: Option<String>,
    /// The type of the record that it is about.
    #[arg(long, value_name = "TYPE")]
    subject_type: Option<String>,
    /// The key of the record that it is about.
    #[arg(long, value_name = "ID")]
    subject_id: Option<String>,
    /// A key under which there is one instance, however often this is run within a day. Where there is one already, it is
    /// shown, whatever the trigger says.
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    #[command(flatten)]
    waiting: Waiting,
    #[command(flatten)]
    server: Server,
}

impl Start {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let mut body = json!({"key": self.key});
        let subject: Map<String, Value> =
            [("key", self.subject_key), ("type", self.subject_type), ("id", self.subject_id)]
                .into_iter()
                .filter_map(|(part, value)| Some((part.to_owned(), json!(value?))))
                .collect();
        if !subject.is_empty() {
            body["subject"] = Value::Object(subject);
        }
        for (field, value) in
            [("trigger", self.trigger), ("idempotency_key", self.idempotency_key.map(Value::from))]
        {
            if let Some(value) = value {
                body[field] = value;
            }
        }
        let client = self.server.client(config)?;
        let started = client.post("/v1/instances", Some(&body))?;
        let path = instance_path(text(&started, "id"))?;
        terminal.say(&format!("Instance {} is {}.", text(&started, "id"), text(&started, "status")));
        self.waiting.end(&client, terminal, &path)
    }
}

/// Which instances.
#[derive(Args, Default)]
pub struct Filter {
    /// Of this workflow.
    #[arg(long, value_name = "KEY", visible_alias = "key")]
    workflow: Option<String>,
    /// In this status; more than one with commas.
    #[arg(long, value_delimiter = ',', value_parser = named(&Status::ALL, Status::name, Status::from_name))]
    status: Vec<Status>,
    /// About a record of this type.
    #[arg(long, value_name = "TYPE", requires = "subject_id")]
    subject_type: Option<String>,
    /// About the record with this key.
    #[arg(long, value_name = "ID", requires = "subject_type")]
    subject_id: Option<String>,
    /// Started then or later.
    #[arg(long, value_name = "TIME")]
    started_from: Option<Timestamp>,
    /// Started before.
    #[arg(long, value_name = "TIME")]
    started_before: Option<Timestamp>,
}

impl Filter {
    /// Whether it says anything.
    pub fn is_empty(&self) -> bool {
        self.fields().is_empty()
    }

    /// What it says, as the API names it.
    pub fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        let texts = [
            ("key", self.workflow.clone()),
            ("subject_type", self.subject_type.clone()),
            ("subject_id", self.subject_id.clone()),
            ("started_from", self.started_from.map(|at| at.to_string())),
            ("started_before", self.started_before.map(|at| at.to_string())),
        ];
        for (field, value) in texts {
            if let Some(value) = value {
                fields.insert(field.to_owned(), Value::from(value));
            }
        }
        if !self.status.is_empty() {
            let names: Vec<_> = self.status.iter().map(|status| status.name()).collect();
            fields.insert("status".to_owned(), json!(names));
        }
        fields
    }
}

/// List instances.
#[derive(Args)]
pub struct List {
    #[command(flatten)]
    filter: Filter,
    /// How many.
    #[arg(long, value_name = "N", default_value_t = 25)]
    limit: u16,
    /// Continue after a page: its `next_cursor`.
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    server: Server,
}

impl List {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let fields = self.filter.fields();
        let mut query = vec![("limit", self.limit.to_string())];
        query.extend(fields.iter().map(|(field, value)| {
            let names = value
                .as_array()
                .map(|names| names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","));
            (field.as_str(), names.unwrap_or_else(|| value.as_str().unwrap_or_default().to_owned()))
        }));
        query.extend(self.cursor.map(|cursor| ("cursor", cursor)));
        let page = self.server.client(config)?.get("/v1/instances", &query)?;
        terminal.result(&page, || list(&page, Timestamp::now()))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn list(page: &Value, now: Timestamp) -> String {
    let row = |it: &Value| {
        let started: Option<Timestamp> = text(it, "started_at").parse().ok();
        let failure = text(&it["failure"], "code");
        [
            text(it, "id").to_owned(),
            text(it, "key").to_owned(),
            it["version"].to_string(),
            if failure.is_empty() {
                text(it, "status").to_owned()
            } else {
                format!("{}/{failure}", text(it, "status"))
            },
            it["current_node"].as_str().unwrap_or("—").to_owned(),
            it["steps_count"].to_string(),
            timeline::subject(&it["subject"]).unwrap_or_else(|| "—".to_owned()),
            started.map(|at| relative(at, now)).unwrap_or_default(),
        ]
    };
    let rows: Vec<_> = page["items"].as_array().into_iter().flatten().map(row).collect();
    let list = if rows.is_empty() {
        "no instances".to_owned()
    } else {
        let head = ["INSTANCE", "KEY", "VERSION", "STATUS", "NODE", "STEPS", "SUBJECT", "STARTED"];
        table(head, &rows)
    };
    with_more(list, page)
}

/// Look at an instance.
#[derive(Args)]
pub struct Show {
    /// The instance's id.
    id: String,
    #[command(flatten)]
    waiting: Waiting,
    #[command(flatten)]
    server: Server,
}

impl Show {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let path = instance_path(&self.id)?;
        self.waiting.end(&self.server.client(config)?, terminal, &path)
    }
}

impl Waiting {
    /// Prints an instance and its life, at its end where that is waited for.
    fn end(&self, client: &Client, terminal: Terminal, path: &str) -> Result<ExitCode, Failure> {
        let mut instance = client.get(path, &[])?;
        if self.wait {
            instance = self.wait_for(client, terminal, path, instance)?;
        }
        let status = text(&instance, "status").to_owned();
        instance["timeline"] = Value::Array(whole_timeline(client, path)?);
        terminal.result(&instance, || timeline::describe(&instance, Timestamp::now()))?;
        Ok(if self.wait && status != Status::Completed.name() {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }

    fn wait_for(
        &self,
        client: &Client,
        terminal: Terminal,
        path: &str,
        mut instance: Value,
    ) -> Result<Value, Failure> {
        let deadline = Instant::now() + Duration::from_secs(self.timeout);
        let mut progress = terminal.progress();
        while !has_ended(&instance) {
            progress.at(&format!(
                "{} at {}",
                text(&instance, "status"),
                instance["current_node"].as_str().unwrap_or("no node")
            ));
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(progress);
                let message = format!("the instance has not ended within {} seconds", self.timeout);
                return Err(Failure::new(message)
                    .hint(format!("It goes on: heddle workflows show {} --wait", text(&instance, "id"))));
            }
            let begun = Instant::now();
            let wait = left.as_secs().clamp(1, WAIT_SECONDS);
            instance = client.get(path, &[("wait", format!("{wait}s"))])?;
            if !has_ended(&instance) {
                // Where too many wait already, the server answers at once.
                std::thread::sleep(Duration::from_secs(1).saturating_sub(begun.elapsed()));
            }
        }
        Ok(instance)
    }
}

fn has_ended(instance: &Value) -> bool {
    Status::from_name(text(instance, "status")).is_some_and(Status::is_ended)
}

fn whole_timeline(client: &Client, path: &str) -> Result<Vec<Value>, Failure> {
    let path = format!("{path}/timeline");
    let (mut entries, mut cursor) = (Vec::new(), None);
    loop {
        let mut query = vec![("limit", TIMELINE_PAGE.to_owned())];
        query.extend(cursor.map(|cursor| ("cursor", cursor)));
        let page = client.get(&path, &query)?;
        entries.extend(page["items"].as_array().into_iter().flatten().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return Ok(entries),
        }
    }
}

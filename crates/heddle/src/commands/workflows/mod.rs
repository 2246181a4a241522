//! `heddle workflows`: install, check, and a client of a running server.

mod act;
mod definitions;
mod install;
mod instances;
mod timeline;
mod validate;

use std::process::ExitCode;

use clap::Subcommand;
use heddle_workflow::{InstanceId, read_json};
use serde_json::Value;

use crate::config::ConfigArgs;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Workflows: graphs that run step by step and survive anything.
#[derive(Subcommand)]
pub enum Workflows {
    /// Publish the migration that makes the workflow tables; with --apply, run it.
    Install(install::Install),
    /// Check a graph, offline: everything that there is to say of it. Exit 1 where there are errors.
    Validate(validate::Validate),
    /// Publish a graph: from here on new instances run it.
    Publish(definitions::Publish),
    /// List what is published.
    Definitions(definitions::Definitions),
    /// See at which nodes the live instances of a version stand.
    Overlay(definitions::Overlay),
    /// Start an instance.
    Start(instances::Start),
    /// List instances, newest first.
    List(instances::List),
    /// Look at an instance and at what has happened to it.
    Show(instances::Show),
    /// Send an instance a signal, which is kept until something waits for it.
    Signal(act::Signal),
    /// Stop instances until they are resumed.
    Pause(act::Act),
    /// Let paused instances go on.
    Resume(act::Act),
    /// Call instances off for good.
    Cancel(act::Act),
    /// Try the failed step of instances again.
    Retry(act::Act),
    /// Go on without the step that instances stand or failed at.
    Skip(act::Skip),
    /// Publish an event to whatever waits for it.
    Emit(act::Emit),
}

impl Workflows {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        match self {
            Self::Install(command) => command.run(terminal, config),
            Self::Validate(command) => command.run(terminal),
            Self::Publish(command) => command.run(terminal, config),
            Self::Definitions(command) => command.run(terminal, config),
            Self::Overlay(command) => command.run(terminal, config),
            Self::Start(command) => command.run(terminal, config),
            Self::List(command) => command.run(terminal, config),
            Self::Show(command) => command.run(terminal, config),
            Self::Signal(command) => command.run(terminal, config),
            Self::Pause(command) => command.run("pause", terminal, config),
            Self::Resume(command) => command.run("resume", terminal, config),
            Self::Cancel(command) => command.run("cancel", terminal, config),
            Self::Retry(command) => command.run("retry", terminal, config),
            Self::Skip(command) => command.run(terminal, config),
            Self::Emit(command) => command.run(terminal, config),
        }
    }
}

/// An id goes into a path, so that it must be one.
fn instance_path(id: &str) -> Result<String, Failure> {
    match InstanceId::parse(id.trim()) {
        Some(id) => Ok(format!("/v1/instances/{id}")),
        None => Err(Failure::usage(format!("{id:?} is not an instance's id"))),
    }
}

/// JSON as an argument: the text itself, or `@` and the file that it is in.
fn json_argument(text: &str) -> Result<Value, String> {
    let text = match text.strip_prefix('@') {
        None => text.to_owned(),
        Some(path) => std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?,
    };
    read_json(&text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_comes_as_text_or_in_a_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "{\"n\": 1}").unwrap();
        let named = format!("@{}", file.path().display());
        assert_eq!(json_argument(&named).unwrap(), serde_json::json!({"n": 1}));
        assert_eq!(json_argument("\"x\"").unwrap(), serde_json::json!("x"));
        assert!(json_argument("x").is_err() && json_argument("@nowhere").is_err());
        assert!(instance_path("../workflows").is_err());
    }
}

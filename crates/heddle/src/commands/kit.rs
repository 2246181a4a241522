//! `heddle kit`.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use heddle_convert::kit::{Kit, Summary};
use heddle_exchange::registry::{Loaded, Registry, Target};
use serde::Serialize;

use crate::config::{Config, ConfigArgs};
use crate::failure::Failure;
use crate::local;
use crate::terminal::Terminal;

/// Look at a project's wireframe kit.
#[derive(Subcommand)]
pub enum KitCommand {
    /// Sum up what is registered: what wireframes can be built of, and what is left out of it.
    Summary(Summarise),
}

/// Sum up what is registered.
#[derive(Args)]
pub struct Summarise {
    /// Whose kit.
    #[arg(long, value_name = "ID")]
    project: i64,
}

/// The setup view (D7).
#[derive(Serialize)]
struct View {
    project_id: i64,
    #[serde(flatten)]
    summary: Summary,
}

impl KitCommand {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let Self::Summary(Summarise { project }) = self;
        let view = local::runtime()?.block_on(view(&config.load()?, project))?;
        terminal.result(&view, || describe(&view))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What a run of the project would choose from, by the same reading; what no run reads any more counts as stale.
async fn view(config: &Config, project_id: i64) -> Result<View, Failure> {
    let exchange = local::exchange(&config.data)?;
    let registry = Registry {
        documents: &*exchange.documents,
        collections: &config.collections,
        target: Target::Kit,
        project_id,
    };
    let loaded = registry.load().await;
    let Loaded { entries, stale } =
        loaded.map_err(|error| Failure::new("could not read the registry").because(error))?;
    let summary = Kit::load(&entries).summary;
    Ok(View { project_id, summary: Summary { stale: summary.stale + stale, ..summary } })
}

fn describe(view: &View) -> String {
    let View { project_id, summary } = view;
    let mut lines = vec![format!("wireframe kit of project {project_id}")];
    for (label, count) in [
        ("entries", summary.entries),
        ("rows to choose from", summary.rows),
        ("with node id", summary.with_node_id),
        ("with publish key", summary.with_publish_key),
        ("with variant axes", summary.with_variant_axes),
        ("with text slots", summary.with_text_slots),
        ("dropped as unreachable", summary.unreachable),
        ("conflicting variants", summary.conflicting),
        ("values not enumerated", summary.unenumerated),
        ("unreadable", summary.unreadable),
        ("stale", summary.stale),
    ] {
        lines.push(format!("  {label:24} {count}"));
    }
    if summary.entries == 0 {
        lines.push(format!("  register one: heddle sweep KIT.json --target kit --project {project_id}"));
    }
    lines.join("\n")
}

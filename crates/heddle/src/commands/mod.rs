//! The commands, one module each.

mod completions;
mod convert;
mod demo;
mod eval;
mod generations;
mod kit;
mod render;
mod serve;
mod settings;
mod snapshot;
mod sweep;
mod work;
mod workflows;

use std::process::ExitCode;

use clap::Subcommand;

use crate::config::ConfigArgs;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Start Heddle on the built-in samples and turn their screens into wireframes.
    Demo(demo::Demo),
    /// Convert a frame of a Figma file, offline.
    Convert(convert::Convert),
    /// Draw a frame of a Figma file as SVG or PNG, without Figma.
    Render(render::Render),
    /// Cut one frame out of a Figma file, with the components and styles that it uses.
    Snapshot(snapshot::Snapshot),
    /// Convert the frames of many files and sum up how well it went.
    Eval(eval::Eval),
    /// Run the server, and a worker with it, on stores in the data folder.
    Serve(serve::Serve),
    /// Run a worker of its own, beside `heddle serve --no-worker` on the same data folder.
    Worker(work::Work),
    /// Register the components of a Figma library: a wireframe kit or a design system.
    Sweep(sweep::Sweep),
    /// Look at a project's wireframe kit.
    #[command(subcommand)]
    Kit(kit::KitCommand),
    /// Ask a running server for generations, look at them, cancel them.
    #[command(subcommand)]
    Generations(generations::Generations),
    /// Install workflows, check and publish graphs; start instances on a running server, look at them, command them.
    #[command(subcommand)]
    Workflows(workflows::Workflows),
    /// Look at the settings.
    #[command(subcommand)]
    Config(settings::Settings),
    /// Print completions for a shell.
    Completions(completions::Completions),
}

impl Command {
    /// What is logged unless the flags say otherwise.
    pub const fn default_log_level(&self) -> &'static str {
        match self {
            Self::Serve(_) | Self::Worker(_) => "info",
            _ => "warn",
        }
    }

    /// Does it.
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        match self {
            Self::Demo(command) => command.run(terminal, config),
            Self::Convert(command) => command.run(terminal, config),
            Self::Render(command) => command.run(terminal, config),
            Self::Snapshot(command) => command.run(terminal, config),
            Self::Eval(command) => command.run(terminal, config),
            Self::Serve(command) => command.run(terminal, config),
            Self::Worker(command) => command.run(terminal, config),
            Self::Sweep(command) => command.run(terminal, config),
            Self::Kit(command) => command.run(terminal, config),
            Self::Generations(command) => command.run(terminal, config),
            Self::Workflows(command) => command.run(terminal, config),
            Self::Config(command) => command.run(terminal, config),
            Self::Completions(command) => command.run(terminal),
        }
    }
}

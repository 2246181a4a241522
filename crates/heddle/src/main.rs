//! Heddle: wireframes from designs. The one program for people: it parses, decides which parts to join, and reports.
//!
//! Data goes to stdout, everything else to stderr. Exit 0: fine; 1: it failed, or found something; 2: wrong usage.

mod client;
mod commands;
mod config;
mod failure;
mod figma;
mod local;
mod output;
mod samples;
mod secrets;
mod table;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use commands::Command;
use config::ConfigArgs;
use terminal::Terminal;

/// Heading of the options that every command has.
const EVERYWHERE: &str = "Options of every command";

/// Turn Figma designs into wireframes.
#[derive(Parser)]
#[command(name = "heddle", version, about, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Settings come from heddle.toml, then the environment, then flags; see `heddle config show`."
)]
struct Cli {
    /// Print results as JSON.
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    json: bool,
    /// Say nothing on stderr but errors.
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = EVERYWHERE)]
    quiet: bool,
    /// Say more on stderr; twice for everything.
    #[arg(long, short, global = true, action = clap::ArgAction::Count, help_heading = EVERYWHERE)]
    verbose: u8,
    #[command(flatten)]
    config: ConfigArgs,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let Cli { json, quiet, verbose, config, command } = Cli::parse();
    let terminal = Terminal::new(json, quiet);
    terminal.log(verbose, command.default_log_level());
    match command.run(terminal, &config) {
        Ok(code) => code,
        Err(failure) => {
            terminal.fail(&failure);
            failure.exit_code()
        }
    }
}

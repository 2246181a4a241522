//! `heddle completions`.

use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Cli;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Print completions for a shell.
#[derive(Args)]
pub struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub fn run(self, terminal: Terminal) -> Result<ExitCode, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "heddle", &mut script);
        terminal.data(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}

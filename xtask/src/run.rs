//! Running other programs, step by step, so that a person sees what goes on and where it stopped.

use std::process::{Command, ExitCode};
use std::time::Instant;

/// The workspace's root.
pub fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Into::into).unwrap_or_default()
}

/// Cargo, in the workspace's root.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Steps in order; the first that fails ends the run.
pub struct Steps {
    total: usize,
    done: usize,
    started: Instant,
}

impl Steps {
    /// For so many steps.
    pub fn new(total: usize) -> Self {
        Self { total, done: 0, started: Instant::now() }
    }

    /// Runs one; its output goes straight to the terminal.
    ///
    /// # Errors
    /// The exit code to end with, where the step failed or could not be started.
    pub fn run(&mut self, name: &str, command: &mut Command) -> Result<(), ExitCode> {
        self.done += 1;
        eprintln!("\n[{}/{}] {name}", self.done, self.total);
        let start = Instant::now();
        let status = command.status();
        let took = start.elapsed().as_secs_f64();
        match status {
            Ok(status) if status.success() => {
                eprintln!("[{}/{}] {name}: fine, {took:.1} s", self.done, self.total);
                Ok(())
            }
            Ok(status) => {
                eprintln!(
                    "[{}/{}] {name}: failed ({status}) after {took:.1} s: {command:?}",
                    self.done, self.total
                );
                Err(ExitCode::FAILURE)
            }
            Err(error) => {
                let program = command.get_program().to_string_lossy().into_owned();
                eprintln!("[{}/{}] {name}: {program} could not be started: {error}", self.done, self.total);
                Err(ExitCode::FAILURE)
            }
        }
    }

    /// Seconds since the first.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}

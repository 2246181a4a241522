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
        self.work(name, || match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{status}: {command:?}")),
            Err(error) => {
                Err(format!("{} could not be started: {error}", command.get_program().to_string_lossy()))
            }
        })
    }

    /// Does one that is no program.
    ///
    /// # Errors
    /// The exit code to end with, where it failed.
    pub fn work<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T, String>) -> Result<T, ExitCode> {
        self.done += 1;
        let place = format!("[{}/{}] {name}", self.done, self.total);
        eprintln!("\n{place}");
        let start = Instant::now();
        let result = work();
        let took = start.elapsed().as_secs_f64();
        match result {
            Ok(made) => {
                eprintln!("{place}: fine, {took:.1} s");
                Ok(made)
            }
            Err(error) => {
                eprintln!("{place}: failed after {took:.1} s: {error}");
                Err(ExitCode::FAILURE)
            }
        }
    }

    /// Seconds since the first.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}

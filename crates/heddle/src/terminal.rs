//! What people and scripts see: data on stdout, everything else on stderr.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::time::FormatTime;

use crate::failure::Failure;

/// The two streams, and how much to say on them.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    json: bool,
    quiet: bool,
}

impl Terminal {
    /// As the flags say.
    pub const fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet }
    }

    /// Starts logging to stderr. `HEDDLE_LOG` (`info`, `heddle_worker=debug` …) goes before the flags.
    pub fn log(self, verbose: u8, default: &str) {
        let level = match (self.quiet, verbose) {
            (true, _) => "error",
            (_, 0) => default,
            (_, 1) => "debug",
            _ => "trace",
        };
        let wanted = std::env::var("HEDDLE_LOG").ok().filter(|filter| !filter.trim().is_empty());
        // Verbosity is about Heddle; the libraries below it only speak up when something is wrong.
        let filter = wanted.unwrap_or_else(|| {
            let ours = [
                "heddle",
                "heddle_server",
                "heddle_worker",
                "heddle_engine",
                "heddle_store",
                "heddle_exchange",
            ];
            let ours: Vec<_> = ours.iter().map(|target| format!("{target}={level}")).collect();
            format!("warn,{}", ours.join(","))
        });
        let (filter, mistake) = match filter.parse::<EnvFilter>() {
            Ok(filter) => (filter, None),
            Err(error) => (EnvFilter::new("info"), Some(error)),
        };
        let started = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(io::stderr)
            .with_ansi(has_colour())
            .with_target(false)
            .with_timer(Now)
            .try_init();
        if let (Ok(()), Some(error)) = (started, mistake) {
            tracing::warn!(%error, "HEDDLE_LOG can't be read; logging at info");
        }
    }

    /// Writes a result: JSON where that is wanted, else the text.
    pub fn result(self, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
        let line = if self.json {
            serde_json::to_string_pretty(value)
                .map_err(|error| Failure::new("could not write the result as JSON").because(error))?
        } else {
            printable(&text())
        };
        self.data(line.trim_end_matches('\n').as_bytes())?;
        self.data(b"\n")
    }

    /// Writes bytes to stdout. Where nobody reads them any more (`heddle … | head`), the program has nothing left to
    /// do and ends well.
    #[expect(clippy::unused_self, reason = "whoever writes has a terminal")]
    pub fn data(self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
            written => written.map_err(|error| Failure::new("could not write to stdout").because(error)),
        }
    }

    /// Says something to whoever watches.
    pub fn say(self, text: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr(), "{}", printable(text));
        }
    }

    /// Says why the program ends.
    #[expect(clippy::unused_self, reason = "whoever fails has a terminal")]
    pub fn fail(self, failure: &Failure) {
        let (red, plain) = if has_colour() { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
        let mut error = io::stderr().lock();
        let _ = writeln!(error, "{red}error{plain}: {}", printable(&failure.to_string()));
        for hint in failure.hints() {
            let _ = writeln!(error, "  {}", printable(hint));
        }
    }

    /// Shows that something is under way: a spinner where someone watches, a line for each change where not.
    pub fn progress(self) -> Progress {
        let watched = !self.quiet && io::stderr().is_terminal();
        let target = if watched { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        if watched {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Progress { bar, terminal: self, watched, last: String::new() }
    }
}

/// Something under way. Its spinner is gone once it is dropped.
pub struct Progress {
    bar: ProgressBar,
    terminal: Terminal,
    watched: bool,
    last: String,
}

impl Progress {
    /// Says what it is at.
    pub fn at(&mut self, text: &str) {
        if text == self.last {
            return;
        }
        text.clone_into(&mut self.last);
        if self.watched {
            self.bar.set_message(self.last.clone());
        } else {
            self.terminal.say(text);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The text without what would steer a terminal: names of layers come from files, and files from anywhere.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if (c.is_control() && c != '\n' && c != '\t') || turns_text(c) { '\u{fffd}' } else { c })
        .collect()
}

/// The text on one line, for tables.
pub fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control() || c == '\u{2028}' || turns_text(c)).collect::<Vec<_>>().join(" ")
}

/// Whether a character turns the text around it about, so that it reads as something else.
const fn turns_text(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Colour only for eyes (<https://no-color.org>).
fn has_colour() -> bool {
    io::stderr().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// UTC, to the millisecond.
struct Now;

impl FormatTime for Now {
    fn format_time(&self, writer: &mut tracing_subscriber::fmt::format::Writer<'_>) -> std::fmt::Result {
        write!(writer, "{:.3}", jiff::Timestamp::now())
    }
}

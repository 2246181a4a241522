//! An end for tests under paused time, where a broken rule may spin for ever without any time passing.

use std::io::Write as _;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Far longer, in real time, than any of these tests takes.
const LIMIT: Duration = Duration::from_secs(120);

/// Ends the test program, as a failure, unless it is dropped in time. From a thread of its own, since a spinning test
/// never gives its own thread up.
pub struct Watchdog(#[expect(dead_code, reason = "its drop is the word")] mpsc::Sender<()>);

impl Watchdog {
    pub fn start() -> Self {
        let (alive, watched) = mpsc::channel();
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        std::thread::spawn(move || {
            if watched.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
                // Past the capture of a test's output.
                let _ = writeln!(std::io::stderr(), "{test} has not ended within {LIMIT:?}: it hangs");
                std::process::exit(101);
            }
        });
        Self(alive)
    }
}

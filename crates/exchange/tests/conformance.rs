//! The suite on both adapters.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use heddle_exchange::Exchange;
use heddle_exchange::conformance::Settings;

const SETTINGS: Settings = Settings { tick: Duration::from_millis(60) };

// proves D2
mod embedded {
    use super::*;

    fn open() -> (Exchange, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        (heddle_exchange::embedded::open(dir.path()).unwrap(), dir)
    }

    heddle_exchange::conformance_tests!(open, SETTINGS);
}

// proves D2
mod memory {
    use super::*;

    fn open() -> (Exchange, ()) {
        (heddle_exchange::memory::open(), ())
    }

    heddle_exchange::conformance_tests!(open, SETTINGS);
}

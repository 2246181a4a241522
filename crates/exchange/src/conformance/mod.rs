//! The suite that every adapter passes. Each function is one property over the traits alone; it fails by panicking.
//! It works in names of its own, so that a shared backend can be used, except that the queue must be its alone.

#![allow(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a check fails by panicking")]

mod documents;
mod objects;
mod queue;

use std::time::Duration;

pub use documents::*;
pub use objects::*;
pub use queue::*;

/// What differs between backends.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The shortest visibility timeout that the backend tells from none; whole seconds on SQS.
    pub tick: Duration,
}

fn unique(name: &str) -> String {
    format!("{name}_{}", uuid::Uuid::new_v4().simple())
}

/// Makes one test of each property for an adapter: `conformance_tests!(opener, settings)`, where `opener` is a
/// function that returns the exchange and whatever has to live as long as it.
#[macro_export]
macro_rules! conformance_tests {
    ($open:path, $settings:expr) => {
        $crate::conformance_tests!(@each $open, $settings,
            a_message_comes_back_as_sent, a_delayed_message_waits, a_held_message_is_hidden_then_comes_again,
            extending_keeps_a_message, a_stale_receipt_holds_nothing, an_acknowledged_message_is_gone,
            a_waiting_receiver_is_woken, concurrent_receivers_never_hold_the_same_message, messages_are_bounded,
            documents_are_kept_as_written, an_older_attempt_never_overwrites_a_newer_document,
            racing_attempts_leave_the_newest_document,
            an_earlier_writer_never_overwrites_a_later_document, racing_writers_leave_the_last_document, documents_are_found_by_field_and_page, documents_are_bounded,
            content_is_written_once, an_older_attempt_never_overwrites_a_newer_object,
            racing_attempts_leave_the_newest_object, objects_are_bounded);
    };
    (@each $open:path, $settings:expr, $($name:ident),*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $name() {
                let (exchange, _alive) = $open();
                $crate::conformance::$name(&exchange, $settings).await;
            }
        )*
    };
}

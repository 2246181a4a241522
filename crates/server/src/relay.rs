//! The relay: outbox to queue, at least once (G5). Woken when a run is created, and by itself every so often, so
//! that a message outlives the end of any process between the two.

use std::sync::Arc;
use std::time::Duration;

use heddle_exchange::{ExchangeError, Queue};
use heddle_store::{Outbox, Outgoing, StoreError};
use tokio::sync::{Notify, watch};
use tracing::Instrument as _;

use crate::clock::Clock;

/// How many messages are read at one time.
const PAGE: u16 = 64;
/// Longest pause after failures.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

pub(crate) struct Relay {
    pub(crate) outbox: Arc<dyn Outbox>,
    pub(crate) queue: Arc<dyn Queue>,
    pub(crate) clock: Clock,
    pub(crate) wake: Arc<Notify>,
    pub(crate) poll: Duration,
}

#[derive(Debug, thiserror::Error)]
enum RelayError {
    #[error("the outbox is out of reach")]
    Outbox(#[from] StoreError),
    #[error("the queue is out of reach")]
    Queue(#[source] ExchangeError),
}

impl Relay {
    /// Relays until `stop` says so; a message on its way is seen through.
    pub(crate) async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut failures = 0_u32;
        loop {
            failures = match self.sweep(&stop).await {
                Ok(()) => 0,
                Err(error) => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::warn!(failures, cause, "relay: {error}");
                    failures.saturating_add(1)
                }
            };
            let pause = pause(self.poll, failures);
            tokio::select! {
                // While the queue is away, new messages are no reason to try it more often.
                () = self.wake.notified(), if failures == 0 => {}
                () = tokio::time::sleep(pause) => {}
                stopped = stop.wait_for(|stop| *stop) => {
                    // An error means that whoever could say stop is gone.
                    drop(stopped);
                    return;
                }
            }
        }
    }

    /// Sends what is pending, page by page, until `stop` says so. A message that the queue will never take is noted
    /// as dead: it holds up no other, and is not tried again.
    async fn sweep(&self, stop: &watch::Receiver<bool>) -> Result<(), RelayError> {
        let mut after = None;
        loop {
            let page = self.outbox.pending(after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.id);
            for message in &page {
                if *stop.borrow() {
                    return Ok(());
                }
                let span = tracing::info_span!("relay", run = %message.run);
                self.send(message).instrument(span).await?;
            }
        }
    }

    async fn send(&self, message: &Outgoing) -> Result<(), RelayError> {
        match self.queue.send(message.body.as_bytes(), Duration::ZERO).await {
            // A crash between these two lines sends the message once more: at least once, and never not at all.
            Ok(()) => {
                self.outbox.mark_sent(message.id, self.clock.now()).await?;
                tracing::debug!("sent");
            }
            Err(error @ (ExchangeError::Refused { .. } | ExchangeError::Damaged { .. })) => {
                let reason = error.to_string();
                if self.outbox.mark_dead(message.id, &reason, self.clock.now()).await? {
                    tracing::error!(
                        reason,
                        "the queue refuses the message for good: it is dead, and its run waits"
                    );
                }
            }
            Err(error @ ExchangeError::Backend { .. }) => return Err(RelayError::Queue(error)),
        }
        Ok(())
    }
}

/// How long to wait for a ring: the poll, and doubling while things fail.
fn pause(poll: Duration, failures: u32) -> Duration {
    let factor = 2_u32.saturating_pow(failures.min(16));
    poll.saturating_mul(factor).min(LONGEST_PAUSE.max(poll))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_are_bounded() {
        let poll = Duration::from_millis(500);
        assert_eq!(pause(poll, 0), poll);
        assert_eq!(pause(poll, 1), 2 * poll);
        assert_eq!(pause(poll, 4), 16 * poll);
        assert_eq!(pause(poll, u32::MAX), LONGEST_PAUSE);
        assert_eq!(pause(Duration::from_secs(60), 3), Duration::from_secs(60));
    }
}

//! Holding a message for as long as the work on it takes.

use std::sync::Arc;
use std::time::Duration;

use heddle_exchange::{Delivery, ExchangeError, Queue};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

/// A message that this worker holds. A task of its own extends it at a third of its visibility, until the lease is
/// given up, acknowledged, dropped, or lost.
///
/// It is lost when the queue says so, and also when no extension got through for a whole visibility: then another
/// worker may hold the message, whatever the queue would say.
pub struct Lease {
    queue: Arc<dyn Queue>,
    receipt: String,
    lost: watch::Receiver<bool>,
    keeper: JoinHandle<()>,
}

impl Lease {
    /// Starts keeping a message alive that was received just now for `visibility`.
    pub fn keep(queue: Arc<dyn Queue>, delivery: &Delivery, visibility: Duration) -> Self {
        let (lose, lost) = watch::channel(false);
        let receipt = delivery.receipt.clone();
        let keeper =
            tokio::spawn(keep(Arc::clone(&queue), receipt.clone(), visibility, Instant::now(), lose));
        Self { queue, receipt, lost, keeper }
    }

    /// Whether it is lost.
    pub fn is_lost(&self) -> bool {
        *self.lost.borrow()
    }

    /// Ends when it is lost, else never.
    pub async fn lost(&self) {
        let mut lost = self.lost.clone();
        // The sender is gone only when the keeper was stopped, and then nothing is lost any more.
        if lost.wait_for(|lost| *lost).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Removes the message for good. `false`: it was held by someone else already.
    pub async fn acknowledge(self) -> Result<bool, ExchangeError> {
        self.keeper.abort();
        self.queue.acknowledge(&self.receipt).await
    }

    /// Gives the message back, to come again after `delay`.
    pub async fn give_back(self, delay: Duration) -> Result<bool, ExchangeError> {
        self.keeper.abort();
        self.queue.extend(&self.receipt, delay).await
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

async fn keep(
    queue: Arc<dyn Queue>,
    receipt: String,
    visibility: Duration,
    received: Instant,
    lose: watch::Sender<bool>,
) {
    // A little before the queue's own end, so that this side stops first.
    let margin = visibility / 10;
    let mut held_until = received + visibility - margin;
    let mut next = received + visibility / 3;
    loop {
        sleep_until(next.min(held_until)).await;
        let asked = Instant::now();
        match timeout_at(held_until, queue.extend(&receipt, visibility)).await {
            Ok(Ok(true)) => {
                held_until = asked + visibility - margin;
                next = asked + visibility / 3;
            }
            Ok(Err(error)) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "a message could not be kept alive; trying again"
                );
                let pause = (visibility / 20).max(Duration::from_millis(5));
                if Instant::now() + pause >= held_until {
                    sleep(held_until.saturating_duration_since(Instant::now())).await;
                    break;
                }
                next = Instant::now() + pause;
            }
            // The queue said so, or didn't answer in time.
            Ok(Ok(false)) | Err(_) => break,
        }
    }
    let _ = lose.send(true);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use async_trait::async_trait;

    use super::*;
    use crate::watchdog::Watchdog;

    const VISIBILITY: Duration = Duration::from_secs(30);

    async fn held(queue: &Arc<dyn Queue>) -> Lease {
        queue.send(b"work", Duration::ZERO).await.unwrap();
        let delivery = queue.receive(VISIBILITY, Duration::ZERO).await.unwrap().unwrap();
        Lease::keep(Arc::clone(queue), &delivery, VISIBILITY)
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_takes_long_keeps_its_message() {
        let _watchdog = Watchdog::start();
        let queue = heddle_exchange::memory::open().queue;
        let lease = held(&queue).await;
        sleep(VISIBILITY * 20).await;
        assert!(!lease.is_lost());
        assert!(queue.receive(VISIBILITY, Duration::ZERO).await.unwrap().is_none());
        assert!(lease.acknowledge().await.unwrap());
        assert_eq!(queue.depth().await.unwrap(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_that_is_given_back_or_dropped_comes_again() {
        let _watchdog = Watchdog::start();
        let queue = heddle_exchange::memory::open().queue;
        assert!(held(&queue).await.give_back(Duration::from_secs(3)).await.unwrap());
        assert!(queue.receive(VISIBILITY, Duration::from_secs(2)).await.unwrap().is_none());
        let again = queue.receive(VISIBILITY, Duration::from_secs(2)).await.unwrap().unwrap();
        assert_eq!(again.receive_count, 2);
        drop(Lease::keep(Arc::clone(&queue), &again, VISIBILITY));
        assert!(queue.receive(VISIBILITY, Duration::from_secs(20)).await.unwrap().is_none());
        assert_eq!(
            queue.receive(VISIBILITY, Duration::from_secs(20)).await.unwrap().unwrap().receive_count,
            3
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_that_someone_else_removed_is_lost() {
        let _watchdog = Watchdog::start();
        let queue = heddle_exchange::memory::open().queue;
        let lease = held(&queue).await;
        assert!(queue.acknowledge(&lease.receipt).await.unwrap());
        tokio::time::timeout(VISIBILITY / 2, lease.lost()).await.unwrap();
        assert!(lease.is_lost());
    }

    /// A queue that can't be reached.
    struct Gone(AtomicU32);

    #[async_trait]
    impl Queue for Gone {
        async fn send(&self, _: &[u8], _: Duration) -> Result<(), ExchangeError> {
            unreachable!()
        }
        async fn receive(&self, _: Duration, _: Duration) -> Result<Option<Delivery>, ExchangeError> {
            unreachable!()
        }
        async fn extend(&self, _: &str, _: Duration) -> Result<bool, ExchangeError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err(ExchangeError::Backend { attempted: "extend".to_owned(), source: "gone".into() })
        }
        async fn acknowledge(&self, _: &str) -> Result<bool, ExchangeError> {
            unreachable!()
        }
        async fn depth(&self) -> Result<u64, ExchangeError> {
            unreachable!()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_queue_a_message_is_lost_before_its_time_is_up() {
        let _watchdog = Watchdog::start();
        let gone = Arc::new(Gone(AtomicU32::new(0)));
        let delivery = Delivery { body: Vec::new(), receipt: "r".to_owned(), receive_count: 1 };
        let begun = Instant::now();
        let lease = Lease::keep(gone.clone(), &delivery, VISIBILITY);
        tokio::time::timeout(VISIBILITY, lease.lost()).await.unwrap();
        assert!(begun.elapsed() < VISIBILITY);
        assert!(begun.elapsed() > VISIBILITY / 2, "a passing failure must not cost the lease");
        assert!((3..=50).contains(&gone.0.load(Ordering::Relaxed)));
    }
}

//! Waking: whatever is due and nobody has seen to. Every probe may be lost, and this still brings it home (W17).

use std::future::{Future, poll_fn};
use std::task::Poll;

use heddle_store::workflows::Due;
use heddle_workflow::Event;
use jiff::SignedDuration;

use crate::engine::is_seen_to;
use crate::{Engine, EngineError};

/// After how long something that went wrong is tried again.
const AGAIN_AFTER: SignedDuration = SignedDuration::from_secs(5);

impl Engine {
    /// Sees to what is due, a bounded batch of each kind; how much there was.
    pub async fn wake_once(&self) -> Result<usize, EngineError> {
        let due = self.store.work.due(self.now(), AGAIN_AFTER, self.config.wake_batch).await?;
        // At the same time, so that their turns share commits.
        for result in together(due.iter().map(|due| self.wake(due))).await {
            result?;
        }
        Ok(due.len())
    }

    async fn wake(&self, due: &Due) -> Result<(), EngineError> {
        let (id, event) = match due {
            Due::Lease(id) => (id, Event::LeaseExpired),
            Due::Wait(id) => (id, Event::WaitDue),
            Due::Deadline(id) => (id, Event::DeadlineDue),
        };
        match self.turn(id, &event).await {
            Ok(_) => Ok(()),
            Err(EngineError::Refused(refusal)) if is_seen_to(&refusal) => Ok(()),
            // One that can't be read must not keep the others waiting.
            Err(
                error @ (EngineError::Refused(_)
                | EngineError::Damaged { .. }
                | EngineError::BadVersion(_)
                | EngineError::Busy(_)),
            ) => {
                tracing::error!(instance = %id, error = &error as &dyn std::error::Error, "could not wake it");
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Runs futures side by side; their results, in their order.
async fn together<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    poll_fn(|context| {
        let mut pending = false;
        for (future, result) in &mut running {
            if result.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(ready) => *result = Some(ready),
                    Poll::Pending => pending = true,
                }
            }
        }
        if pending { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    running.into_iter().filter_map(|(_, result)| result).collect()
}

//! Waking: whatever is due and nobody has seen to. Every probe may be lost, and this still brings it home (W17).

use futures_util::future::join_all;
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
        let due = self.due().await?;
        self.wake_all(&due).await?;
        Ok(due.len())
    }

    /// What is due and nobody has seen to, a bounded batch of each kind.
    pub(crate) async fn due(&self) -> Result<Vec<Due>, EngineError> {
        Ok(self.store.work.due(self.now(), AGAIN_AFTER, self.config.wake_batch).await?)
    }

    /// Sees to all of it at the same time, so that the turns share commits.
    pub(crate) async fn wake_all(&self, due: &[Due]) -> Result<(), EngineError> {
        join_all(due.iter().map(|due| self.wake(due))).await.into_iter().collect()
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
            Err(error) if error.is_of_one_instance() || matches!(error, EngineError::Refused(_)) => {
                tracing::error!(instance = %id, error = &error as &dyn std::error::Error, "could not wake it");
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

//! Commits: many turns share one while the engine runs.

use std::sync::Arc;

use heddle_store::StoreError;
use heddle_store::workflows::{Committed, Turn};
use tokio::sync::{mpsc, oneshot};

use crate::{Engine, EngineError};

/// How many turns share a commit at most.
const BATCH: usize = 64;

/// A turn on its way, and who waits for it.
pub(crate) type Waiting = (Turn, oneshot::Sender<Result<Committed, StoreError>>);

impl Engine {
    pub(crate) async fn commit(&self, turn: Turn) -> Result<Committed, EngineError> {
        let plan = turn.plan.clone();
        let committed = match self.committer.get() {
            Some(committer) => {
                let (answer, answered) = oneshot::channel();
                committer.send((turn, answer)).await.map_err(|_| StoreError::Closed)?;
                answered.await.map_err(|_| StoreError::Closed)??
            }
            None => only(self.store.turns.commit(vec![turn]).await?)?,
        };
        if committed == Committed::Done {
            self.tell(&plan);
        }
        Ok(committed)
    }

    /// Commits what comes in, as much at a time as there is, until nobody can send any more.
    pub(crate) async fn commit_together(self: Arc<Self>, mut queue: mpsc::Receiver<Waiting>) {
        let mut batch = Vec::new();
        while queue.recv_many(&mut batch, BATCH).await > 0 {
            let (turns, answers): (Vec<_>, Vec<_>) = batch.drain(..).unzip();
            match self.store.turns.commit(turns).await {
                Ok(committed) => {
                    for (answer, committed) in answers.into_iter().zip(committed) {
                        // Whoever has gone away reads the rows when they come back.
                        let _ = answer.send(committed);
                    }
                }
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "could not commit turns");
                    // Dropped, the answers say that nothing is known.
                    drop(answers);
                }
            }
        }
    }
}

fn only(mut committed: Vec<Result<Committed, StoreError>>) -> Result<Committed, StoreError> {
    committed.pop().unwrap_or(Err(StoreError::Closed))
}

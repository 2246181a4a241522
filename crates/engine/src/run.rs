//! An engine node at work, until it is told to stop.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::{Engine, EngineError};

/// How many turns may wait for their commit; whoever comes then waits to be let in.
const COMMIT_QUEUE: usize = 1_024;

impl Engine {
    /// Works until `stop` comes back, and then ends what it has begun. Needs a tokio runtime.
    pub async fn run(self: Arc<Self>, stop: impl Future<Output = ()>) {
        let (committer, queue) = mpsc::channel(COMMIT_QUEUE);
        // A second run of the same node shares the first one's.
        if self.committer.set(committer).is_ok() {
            tokio::spawn(Arc::clone(&self).commit_together(queue));
        }
        let waker = tokio::spawn(Arc::clone(&self).keep_waking());
        let free = Arc::new(Semaphore::new(self.config.concurrency));
        let mut steps = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            while steps.try_join_next().is_some() {}
            let took = self.take(&free, &mut steps).await;
            let idle = match took {
                Ok(took) => took == 0,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "could not look for work");
                    true
                }
            };
            let probed = async {
                if idle {
                    tokio::select! {
                        () = self.store.probes.work() => {}
                        () = self.clock.sleep(self.config.poll) => {}
                    }
                }
            };
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = probed => {}
            }
        }
        waker.abort();
        while steps.join_next().await.is_some() {}
    }

    /// Takes as many steps as there is room for.
    async fn take(
        self: &Arc<Self>,
        free: &Arc<Semaphore>,
        steps: &mut JoinSet<()>,
    ) -> Result<usize, EngineError> {
        // A closed semaphore, which this one never is, has no room.
        let Ok(first) = Arc::clone(free).acquire_owned().await else { return Ok(0) };
        let room = free.available_permits() + 1;
        let claimed = self.claim(room.min(64)).await?;
        let count = claimed.len();
        let mut permits = vec![first];
        for claimed in claimed {
            let permit = permits.pop().or_else(|| Arc::clone(free).try_acquire_owned().ok());
            let engine = Arc::clone(self);
            steps.spawn(async move {
                let _permit = permit;
                if let Err(error) = engine.perform(claimed).await {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a step was left to its lease");
                }
            });
        }
        Ok(count)
    }

    async fn keep_waking(self: Arc<Self>) {
        loop {
            match self.wake_once().await {
                // There may be more of it.
                Ok(woken) if woken >= usize::from(self.config.wake_batch) => continue,
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "could not wake what is due");
                }
            }
            self.clock.sleep(self.config.wake).await;
        }
    }
}

//! Calls of the store that are made together: whoever comes while others are under way shares the next one.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use heddle_store::StoreError;
use tokio::sync::{Semaphore, mpsc, oneshot};

/// How many may wait to be let in.
const QUEUE: usize = 4_096;

/// What is asked, and who waits for the answer.
type Asked<Q, A> = (Q, oneshot::Sender<Result<A, StoreError>>);
/// The answers of one call, in the order of what was asked.
type Answers<A> = Pin<Box<dyn Future<Output = Result<Vec<Result<A, StoreError>>, StoreError>> + Send>>;

/// A way to the store. It ends with the last of those who may ask.
pub(crate) struct Gather<Q, A> {
    queue: mpsc::Sender<Asked<Q, A>>,
}

impl<Q: Send + 'static, A: Send + 'static> Gather<Q, A> {
    /// A way on which `most` go together, in up to `calls` calls at a time. Needs a tokio runtime.
    pub(crate) fn new(
        most: usize,
        calls: usize,
        call: impl Fn(Vec<Q>) -> Answers<A> + Send + Sync + 'static,
    ) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        tokio::spawn(keep_calling(waiting, most, calls, Arc::new(call)));
        Self { queue }
    }

    /// Asks, and waits for the answer.
    pub(crate) async fn ask(&self, what: Q) -> Result<A, StoreError> {
        let (answer, answered) = oneshot::channel();
        self.queue.send((what, answer)).await.map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }
}

async fn keep_calling<Q: Send + 'static, A: Send + 'static>(
    mut waiting: mpsc::Receiver<Asked<Q, A>>,
    most: usize,
    calls: usize,
    call: Arc<dyn Fn(Vec<Q>) -> Answers<A> + Send + Sync>,
) {
    let free = Arc::new(Semaphore::new(calls));
    loop {
        // The line grows while nothing is free.
        let Ok(permit) = Arc::clone(&free).acquire_owned().await else { return };
        let mut batch = Vec::new();
        if waiting.recv_many(&mut batch, most).await == 0 {
            return;
        }
        let call = Arc::clone(&call);
        tokio::spawn(async move {
            let _permit = permit;
            let (asked, answers): (Vec<Q>, Vec<_>) = batch.into_iter().unzip();
            match call(asked).await {
                Ok(results) => {
                    for (answer, result) in answers.into_iter().zip(results) {
                        // Whoever has gone away reads the rows when they come back.
                        let _ = answer.send(result);
                    }
                }
                Err(error) => {
                    let error = Arc::new(error);
                    for answer in answers {
                        let source = Box::new(Arc::clone(&error));
                        let _ =
                            answer.send(Err(StoreError::Backend { attempted: "do it with others", source }));
                    }
                }
            }
        });
    }
}

//! An engine node at work, until it is told to stop.

use std::future::Future;
use std::sync::{Arc, PoisonError};

use heddle_store::workflows::{Claimed, Committed, Loaded, Turn, WorkflowStore};
use heddle_workflow::{InstanceId, State};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;

use crate::gather::Gather;
use crate::work::Following;
use crate::{Config, Engine, EngineError};

/// How many turns share a commit at most.
const COMMIT_TOGETHER: usize = 256;
/// How many commits are under way at a time.
const COMMITS: usize = 3;
/// How many instances are read together at most.
const LOAD_TOGETHER: usize = 128;
/// How many readings are under way at a time.
const LOADS: usize = 2;
/// How many steps are claimed at a time.
const CLAIM_TOGETHER: usize = 64;
/// How many batches of what is due are woken at a time.
const WAKES: usize = 4;

/// What a node has while it works.
pub(crate) struct Running {
    pub(crate) commits: Gather<(Turn, Option<(Hand, Following)>), Committed>,
    pub(crate) loads: Gather<InstanceId, Option<Loaded>>,
    free: Arc<Semaphore>,
    taken: mpsc::UnboundedSender<Taken>,
}

/// A step in this node's hands, and the state that its instance was left in, if that is known.
struct Taken {
    claimed: Claimed,
    known: Option<State>,
    permit: OwnedSemaphorePermit,
}

/// Room for one more step.
pub(crate) struct Hand {
    running: Arc<Running>,
    permit: OwnedSemaphorePermit,
}

impl Hand {
    /// Performs a step that this node has taken.
    pub(crate) fn perform(self, claimed: Claimed, known: Option<State>) {
        // Nobody performs it once the node has stopped; its lease tells the others.
        let _ = self.running.taken.send(Taken { claimed, known, permit: self.permit });
    }
}

impl Running {
    fn new(store: &WorkflowStore, config: &Config, taken: mpsc::UnboundedSender<Taken>) -> Self {
        let (committing, loading) = (Arc::clone(&store.turns), Arc::clone(&store.turns));
        let commits =
            Gather::new(COMMIT_TOGETHER, COMMITS, move |asked: Vec<(Turn, Option<(Hand, Following)>)>| {
                let store = Arc::clone(&committing);
                Box::pin(async move {
                    let (turns, next): (Vec<Turn>, Vec<_>) = asked.into_iter().unzip();
                    let committed = store.commit(turns).await?;
                    for (committed, next) in committed.iter().zip(next) {
                        if let (Ok(Committed::Done), Some((hand, (claimed, known)))) = (committed, next) {
                            hand.perform(claimed, known);
                        }
                    }
                    Ok(committed)
                })
            });
        let loads = Gather::new(LOAD_TOGETHER, LOADS, move |ids: Vec<InstanceId>| {
            let store = Arc::clone(&loading);
            Box::pin(async move { store.load_all(&ids).await })
        });
        Self { commits, loads, free: Arc::new(Semaphore::new(config.concurrency)), taken }
    }
}

/// Takes what a node had while it worked away again, however its work ends.
struct Working {
    engine: Arc<Engine>,
    running: Arc<Running>,
    /// Tells the waker to stop.
    stopped: watch::Sender<bool>,
}

impl Drop for Working {
    fn drop(&mut self) {
        self.running.free.close();
        self.stopped.send_replace(true);
        let mut running = self.engine.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.take_if(|running| Arc::ptr_eq(running, &self.running));
    }
}

impl Engine {
    pub(crate) fn running(&self) -> Option<Arc<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Room for one more step, if this node is at work and has it.
    pub(crate) fn hand(&self) -> Option<Hand> {
        let running = self.running()?;
        let permit = Arc::clone(&running.free).try_acquire_owned().ok()?;
        Some(Hand { running, permit })
    }

    /// Works until `stop` comes back, and then ends the steps that it has begun, however long they take; those that follow are
    /// for others. Needs a tokio runtime. A store that fails for a while is asked again; it is said by `tracing` alone. A run
    /// that is dropped takes nothing new either, but nobody waits for what it has begun.
    pub async fn run(self: Arc<Self>, stop: impl Future<Output = ()>) {
        let (taken, waiting) = mpsc::unbounded_channel();
        let running = Arc::new(Running::new(&self.store, &self.config, taken));
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&running));
        let (stopped, stop_waking) = watch::channel(false);
        let free = Arc::clone(&running.free);
        let working = Working { engine: Arc::clone(&self), running, stopped };
        let performer = tokio::spawn(Arc::clone(&self).keep_performing(free, waiting));
        let waker = tokio::spawn(Arc::clone(&self).keep_waking(stop_waking));
        let mut stop = std::pin::pin!(stop);
        loop {
            // Nothing new is begun once somebody has asked to stop, however full the node is.
            let room = tokio::select! {
                biased;
                () = &mut stop => break,
                room = Arc::clone(&working.running.free).acquire_owned() => room,
            };
            let Ok(first) = room else { break };
            let idle = match self.take(&working.running, first).await {
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
        drop(working);
        // Turns that are under way may still take a step. It ends with the last of them.
        let _ = waker.await;
        let _ = performer.await;
    }

    /// Takes as many steps as there is room for; how many.
    async fn take(&self, running: &Arc<Running>, first: OwnedSemaphorePermit) -> Result<usize, EngineError> {
        let mut permits = vec![first];
        let more = running.free.available_permits().min(CLAIM_TOGETHER - 1);
        permits.extend((0..more).map_while(|_| Arc::clone(&running.free).try_acquire_owned().ok()));
        let claimed = self.claim(permits.len()).await?;
        let count = claimed.len();
        for (claimed, permit) in claimed.into_iter().zip(permits) {
            Hand { running: Arc::clone(running), permit }.perform(claimed, None);
        }
        Ok(count)
    }

    /// Performs what is taken, until nobody can take any more.
    async fn keep_performing(
        self: Arc<Self>,
        free: Arc<Semaphore>,
        mut waiting: mpsc::UnboundedReceiver<Taken>,
    ) {
        let mut steps = JoinSet::new();
        loop {
            tokio::select! {
                taken = waiting.recv() => {
                    let Some(Taken { claimed, known, permit }) = taken else { break };
                    let (engine, free) = (Arc::clone(&self), Arc::clone(&free));
                    steps.spawn(async move {
                        let _permit = permit;
                        if let Err(error) = engine.perform(claimed, known, || free.is_closed()).await {
                            tracing::warn!(
                                error = &error as &dyn std::error::Error,
                                "a step was left to its lease"
                            );
                        }
                    });
                }
                Some(_) = steps.join_next() => {}
            }
        }
        while steps.join_next().await.is_some() {}
    }

    /// Wakes what is due, until it is told to stop. While there is more of it, a few batches are under way at a time.
    async fn keep_waking(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        let (free, mut batches) = (Arc::new(Semaphore::new(WAKES)), JoinSet::new());
        loop {
            let Ok(permit) = Arc::clone(&free).acquire_owned().await else { break };
            while batches.try_join_next().is_some() {}
            if *stopped.borrow() {
                break;
            }
            match self.due().await {
                Ok(due) => {
                    let more = due.len() >= usize::from(self.config.wake_batch);
                    let engine = Arc::clone(&self);
                    batches.spawn(async move {
                        let _permit = permit;
                        if let Err(error) = engine.wake_all(&due).await {
                            tracing::warn!(
                                error = &error as &dyn std::error::Error,
                                "could not wake all that is due"
                            );
                        }
                    });
                    if more {
                        continue;
                    }
                }
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "could not look for what is due"
                    );
                }
            }
            tokio::select! {
                _ = stopped.changed() => {}
                () = self.clock.sleep(self.config.wake) => {}
            }
        }
        while batches.join_next().await.is_some() {}
    }
}

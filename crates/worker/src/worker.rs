//! The loop: hands that take jobs, and the bounds on them.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use heddle_exchange::{Collections, Exchange};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use crate::library::LibraryCache;
use crate::run::{Ended, handle};
use crate::{Breakpoints, Converter, Reporter, Sources};

/// How long one look into the queue waits; also how soon a hand sees that it should stop.
const LOOK: Duration = Duration::from_secs(1);
/// Longest pause after the queue failed.
const MAX_PAUSE: Duration = Duration::from_secs(30);
const MIB: usize = 1024 * 1024;
/// A conversion is reckoned to need this many times the source's bytes, and at least [`LEAST_ROOM_MIB`]. That is what
/// reading and converting take of ordinary files. It says nothing of what is drawn: pictures are bounded by
/// `heddle_render`, at 64 MiB of SVG and 128 MB of pixels each, whatever the source's size.
const ROOM_FACTOR: usize = 6;
const LEAST_ROOM_MIB: u32 = 32;

/// The bounds of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Jobs at one time, from 1. A conversion that nobody waits for any more counts until its thread has ended.
    pub concurrency: usize,
    /// For how long a message is held without an extension; extensions come at a third of it.
    pub visibility: Duration,
    /// How often a message is tried before its run fails.
    pub max_deliveries: u32,
    /// Longest conversion. Its run fails then; its thread ends at the next stage.
    pub conversion_timeout: Duration,
    /// Memory that all conversions together are reckoned to stay within, in MiB, by their sources' sizes. A job that is
    /// reckoned to need more than all of it runs alone. This is a reckoning and no limit: a process that must not pass
    /// a limit is given one by the system, and where it ends by that, every job in hand has lost a try.
    pub memory_mib: u32,
    /// How long jobs may go on after the worker was asked to stop; what isn't done then comes again.
    pub grace: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            concurrency: 2,
            visibility: Duration::from_secs(60),
            max_deliveries: 5,
            conversion_timeout: Duration::from_secs(300),
            memory_mib: 1024,
            grace: Duration::from_secs(20),
        }
    }
}

/// A worker: everything that jobs need.
pub struct Worker {
    pub(crate) exchange: Exchange,
    pub(crate) collections: Collections,
    pub(crate) converter: Arc<dyn Converter>,
    pub(crate) sources: Arc<dyn Sources>,
    pub(crate) reporter: Arc<dyn Reporter>,
    pub(crate) settings: Settings,
    pub(crate) breakpoints: Breakpoints,
    pub(crate) libraries: Arc<LibraryCache>,
    memory: Arc<Semaphore>,
    places: Arc<Semaphore>,
}

/// One of the places that [`Settings::concurrency`] counts; given back once the job's thread has let go of it too.
pub(crate) type Place = Arc<OwnedSemaphorePermit>;

impl Worker {
    /// A worker with these parts.
    pub fn new(
        exchange: Exchange,
        collections: Collections,
        converter: Arc<dyn Converter>,
        sources: Arc<dyn Sources>,
        reporter: Arc<dyn Reporter>,
        settings: Settings,
    ) -> Self {
        Self {
            exchange,
            collections,
            converter,
            sources,
            reporter,
            settings,
            breakpoints: Breakpoints::default(),
            libraries: Arc::default(),
            memory: Arc::new(Semaphore::new(settings.memory_mib.max(1) as usize)),
            places: Arc::new(Semaphore::new(settings.concurrency.max(1))),
        }
    }

    /// The same with planned failures, for tests.
    #[must_use]
    pub fn with_breakpoints(self, breakpoints: Breakpoints) -> Self {
        Self { breakpoints, ..self }
    }

    /// Takes jobs until `stop` ends, then lets those in hand finish within the grace period.
    pub async fn run(self: Arc<Self>, stop: impl Future<Output = ()>) {
        let (stopping, stopped) = watch::channel(false);
        let mut hands = JoinSet::new();
        for _ in 0..self.settings.concurrency.max(1) {
            hands.spawn(Arc::clone(&self).hand(stopped.clone()));
        }
        stop.await;
        let _ = stopping.send(true);
        let finished = async { while hands.join_next().await.is_some() {} };
        if tokio::time::timeout(self.settings.grace + LOOK, finished).await.is_err() {
            tracing::warn!("stopped with jobs in hand; their messages will come again");
        }
    }

    async fn hand(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        let mut pause = Duration::from_millis(250);
        while !*stopped.borrow() {
            // Before a message is taken: one that is in hand already would wait for its place in vain.
            let place = tokio::select! {
                place = self.place() => place,
                _ = stopped.changed() => continue,
            };
            let Some(place) = place else { return };
            // Never cut short: a message that was taken and then dropped would stay hidden for its whole visibility.
            match self.exchange.queue.receive(self.settings.visibility, LOOK).await {
                Ok(None) => {}
                Ok(Some(delivery)) => {
                    handle(&self, &delivery, &place).await;
                }
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "the queue failed");
                    let _ = tokio::time::timeout(pause, stopped.changed()).await;
                    pause = (pause * 2).min(MAX_PAUSE);
                    continue;
                }
            }
            pause = Duration::from_millis(250);
        }
    }

    /// Takes and works on one message; `None`: there was none within `wait`.
    pub async fn step(&self, wait: Duration) -> Result<Option<Ended>, heddle_exchange::ExchangeError> {
        let Some(place) = self.place().await else { return Ok(None) };
        match self.exchange.queue.receive(self.settings.visibility, wait).await? {
            Some(delivery) => Ok(Some(handle(self, &delivery, &place).await)),
            None => Ok(None),
        }
    }

    /// Waits for a place; the semaphore is never closed, so that it is always `Some`.
    async fn place(&self) -> Option<Place> {
        Arc::clone(&self.places).acquire_owned().await.ok().map(Arc::new)
    }

    /// Waits until there is memory for converting a source of this size, and reserves it.
    pub(crate) async fn room_for(&self, source_bytes: usize) -> Option<OwnedSemaphorePermit> {
        let wanted = (source_bytes * ROOM_FACTOR / MIB) as u32;
        let room = wanted.max(LEAST_ROOM_MIB).min(self.settings.memory_mib.max(1));
        // The semaphore is never closed, so that it is always `Some`.
        Arc::clone(&self.memory).acquire_many_owned(room).await.ok()
    }
}

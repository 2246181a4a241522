//! The engine in memory, on a clock that is moved by hand: a wait of thirty days takes a millisecond.

use std::sync::Arc;

use heddle_store::workflows::{WorkflowMemory, WorkflowStore};
use heddle_workflow::{InstanceId, State};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;

use crate::{Clock, Config, Engine, EngineError, Registry, Request, SeededDraw, VirtualClock};

/// How often it looks for more before it says that something never comes to rest.
const MAX_ROUNDS: usize = 100_000;
/// How many steps it takes at a time.
const BATCH: usize = 16;

/// A test's engine.
pub struct Harness {
    engine: Engine,
    clock: VirtualClock,
    store: WorkflowStore,
}

impl Harness {
    /// An engine with these handlers, at a fixed time.
    pub fn new(registry: Registry) -> Self {
        let clock = VirtualClock::new(Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * 365 * 60));
        let store = WorkflowStore::of(Arc::new(WorkflowMemory::new()));
        let (timer, draw) = (Arc::new(clock.clone()), Arc::new(SeededDraw::new(1)));
        let engine = Engine::new(store.clone(), registry, timer, draw, Config::default());
        Self { engine, clock, store }
    }

    /// The engine.
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The rows.
    pub const fn store(&self) -> &WorkflowStore {
        &self.store
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Publishes a definition, under the key `test`, and starts an instance of it. Nothing of it is done yet.
    pub async fn start(&self, document: &Json, trigger: Json) -> Result<InstanceId, EngineError> {
        self.engine.publish("test", document).await?;
        self.engine.start(Request::new("test", trigger)).await
    }

    /// Does all that can be done without moving the clock.
    pub async fn settle(&self) -> Result<(), EngineError> {
        for _ in 0..MAX_ROUNDS {
            if self.engine.work_once(BATCH).await? + self.engine.wake_once().await? == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Moves the clock, stopping wherever something is due.
    pub async fn advance(&self, length: SignedDuration) -> Result<(), EngineError> {
        let until = self.clock.now().checked_add(length).unwrap_or(Timestamp::MAX);
        self.settle().await?;
        for _ in 0..MAX_ROUNDS {
            match self.store.work.next_due().await? {
                Some(due) if due <= until => self.clock.set(due),
                _ => break,
            }
            self.settle().await?;
        }
        self.clock.set(until);
        self.settle().await
    }

    /// Moves the clock as far as it takes for an instance to end; where nothing more would come by itself, gives it
    /// as it is.
    pub async fn finish(&self, id: &InstanceId) -> Result<State, EngineError> {
        for _ in 0..MAX_ROUNDS {
            self.settle().await?;
            let state = self.engine.state(id).await?;
            if state.life.status().is_ended() {
                return Ok(state);
            }
            match self.store.work.next_due().await? {
                Some(due) => self.clock.set(due),
                None => return Ok(state),
            }
        }
        self.engine.state(id).await
    }
}

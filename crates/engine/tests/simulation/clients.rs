//! Those outside: they start instances, each under its key, and give commands, again until told that it went well.
//! Whoever was told so relies on it.

use std::sync::Arc;

use heddle_engine::{Engine, EngineError, Request};
use heddle_workflow::{Actor, Command, InstanceId, Refusal, Status};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::faults::Node;
use crate::{INSTANCES, Task, World, engine, pass};

/// What somebody outside may count on.
#[derive(Debug, Default, Clone)]
pub struct Known {
    /// How many commands were tried, whatever came of them.
    pub tried: usize,
    /// How many of them were said to be accepted.
    pub accepted: usize,
    /// Whether it is being called off.
    pub cancelled: bool,
}

struct Client {
    world: Arc<World>,
    engine: Engine,
    by: Actor,
}

impl Client {
    fn new(world: &Arc<World>, name: &str) -> Self {
        let engine = engine(world, &Arc::new(Node::steady()), SignedDuration::ZERO);
        let by = Actor::Named { kind: "client".to_owned(), id: name.to_owned() };
        Self { world: Arc::clone(world), engine, by }
    }

    /// Starts the instance of a key, which is the same one for everybody.
    async fn start(&self, n: usize) -> InstanceId {
        let key = Some(n.to_string());
        let request = Request { idempotency_key: key, ..Request::new("test", json!(n)) };
        loop {
            pass(self.world.up_to(5)).await;
            if let Ok(id) = self.engine.start(request.clone()).await {
                let mut started = self.world.started.lock().unwrap();
                let first = started.entry(n).or_insert_with(|| id.clone());
                assert_eq!(*first, id, "one start key, one instance");
                return id;
            }
        }
    }

    /// Gives a command once.
    async fn give(&self, id: &InstanceId, command: Command) -> Result<Status, EngineError> {
        self.note(id, |known| known.tried += 1);
        let state = self.engine.command(id, command, self.by.clone(), None).await?;
        self.note(id, |known| known.accepted += 1);
        Ok(state.life.status())
    }

    /// Gives a command until it is said to be accepted; `false`: the instance has ended.
    async fn insist(&self, id: &InstanceId, command: Command) -> bool {
        loop {
            match self.give(id, command.clone()).await {
                Ok(_) => return true,
                Err(EngineError::Refused(Refusal::Ended { .. })) => return false,
                Err(_) => pass(1).await,
            }
        }
    }

    fn note(&self, id: &InstanceId, what: impl FnOnce(&mut Known)) {
        what(self.world.known.lock().unwrap().entry(id.clone()).or_default());
    }

    /// Makes sure that an instance goes on which this one has paused, or may have.
    async fn let_go(&self, id: &InstanceId) {
        loop {
            match self.engine.state(id).await.map(|state| state.life.status()) {
                Ok(Status::Paused) | Err(_) => drop(self.give(id, Command::Resume).await),
                Ok(_) => return,
            }
        }
    }
}

/// Starts all of them, sends each the word that it waits for, and calls a few off.
pub fn owner(world: &Arc<World>) -> Task {
    let it = Client::new(world, "owner");
    Box::pin(async move {
        let mut ids = Vec::new();
        for n in 0..INSTANCES {
            ids.push(it.start(n).await);
        }
        for id in ids {
            pass(it.world.up_to(120)).await;
            if it.world.chance(80) {
                // It can't end but by this: nobody sends it its word.
                it.note(&id, |known| known.cancelled = true);
                it.insist(&id, Command::Cancel).await;
                continue;
            }
            if it.world.chance(300) {
                let _ = it.give(&id, Command::Pause).await;
                pass(it.world.up_to(60)).await;
            }
            let word = Command::Signal { key: "word".to_owned(), payload: json!({"n": 1}) };
            assert!(it.insist(&id, word).await, "it can't have ended without its word");
            it.let_go(&id).await;
            if it.world.chance(500) {
                let _ = it.engine.emit(None, "answer", &json!(7), &it.by).await;
            }
        }
        std::future::pending::<()>().await;
    })
}

/// Asks for the same ones under the same keys, stops them now and then, and sends what nobody waits for.
pub fn meddler(world: &Arc<World>) -> Task {
    let it = Client::new(world, "meddler");
    Box::pin(async move {
        for n in 0..INSTANCES {
            pass(it.world.up_to(200)).await;
            let id = it.start(n).await;
            if it.world.chance(300) {
                let noise = Command::Signal { key: "noise".to_owned(), payload: Value::Null };
                let _ = it.give(&id, noise).await;
            }
            if it.world.chance(300) {
                let _ = it.give(&id, Command::Pause).await;
                pass(it.world.up_to(100)).await;
                it.let_go(&id).await;
            }
        }
        std::future::pending::<()>().await;
    })
}

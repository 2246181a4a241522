//! The workflow engine that the server is given, or what to do where there is none.

use std::sync::Arc;

use heddle_engine::Engine;
use heddle_store::workflows::KeyTypes;
use tokio::sync::watch;

/// What there is of workflows.
#[derive(Clone)]
pub enum Workflows {
    /// All of it.
    Ready {
        /// The engine node that works while the server serves.
        engine: Arc<Engine>,
        /// The types of its rows' keys.
        keys: KeyTypes,
    },
    /// The store has no tables for them. Nothing makes them by itself: they are somebody's decision.
    NotInstalled {
        /// What to do about it, for whoever is told.
        remedy: String,
    },
}

impl Workflows {
    pub(crate) fn keys(&self) -> KeyTypes {
        match self {
            Self::Ready { keys, .. } => *keys,
            Self::NotInstalled { .. } => KeyTypes::default(),
        }
    }

    /// Works until it is told to stop.
    pub(crate) async fn run(self, mut stopped: watch::Receiver<bool>) {
        if let Self::Ready { engine, .. } = self {
            // An error means that whoever could say stop is gone, and that is the end too.
            engine.run(async move { drop(stopped.wait_for(|stopped| *stopped).await) }).await;
        }
    }
}

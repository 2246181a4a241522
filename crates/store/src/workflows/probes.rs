//! Probes within one process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use heddle_workflow::InstanceId;
use tokio::sync::Notify;

use super::{Probe, Probes};

/// What an adapter tells whoever works on it in this process.
#[derive(Default)]
pub(super) struct LocalProbes {
    work: Notify,
    watched: Watched,
}

/// Who waits for the end of which instance.
type Watched = Arc<Mutex<HashMap<InstanceId, Vec<Arc<Notify>>>>>;

#[async_trait]
impl Probes for LocalProbes {
    fn push(&self, probe: Probe) {
        match probe {
            Probe::Work => self.work.notify_one(),
            Probe::Ended(id) => {
                let watched = lock(&self.watched);
                watched.get(&id).into_iter().flatten().for_each(|watcher| watcher.notify_one());
            }
        }
    }

    async fn work(&self) {
        self.work.notified().await;
    }

    fn watch(&self, id: &InstanceId) -> Watch {
        let told = Arc::new(Notify::new());
        lock(&self.watched).entry(id.clone()).or_default().push(Arc::clone(&told));
        Watch { id: id.clone(), told, watched: Arc::clone(&self.watched) }
    }
}

fn lock(watched: &Watched) -> MutexGuard<'_, HashMap<InstanceId, Vec<Arc<Notify>>>> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Somebody who waits for the end of an instance, from the moment this was made.
pub struct Watch {
    id: InstanceId,
    told: Arc<Notify>,
    watched: Watched,
}

impl Watch {
    /// Comes back when the instance is said to be over.
    pub async fn told(&self) {
        self.told.notified().await;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut watched = lock(&self.watched);
        if let Some(watchers) = watched.get_mut(&self.id) {
            watchers.retain(|told| !Arc::ptr_eq(told, &self.told));
            if watchers.is_empty() {
                watched.remove(&self.id);
            }
        }
    }
}

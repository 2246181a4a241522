//! Probes within one process.

use async_trait::async_trait;
use heddle_workflow::InstanceId;
use tokio::sync::{Notify, broadcast};

use super::{Probe, Probes};

/// How many ends are remembered for those who wait for one.
const ENDS: usize = 1_024;

/// What an adapter tells whoever works on it in this process.
pub(super) struct LocalProbes {
    work: Notify,
    ended: broadcast::Sender<InstanceId>,
}

impl Default for LocalProbes {
    fn default() -> Self {
        Self { work: Notify::new(), ended: broadcast::Sender::new(ENDS) }
    }
}

#[async_trait]
impl Probes for LocalProbes {
    fn push(&self, probe: Probe) {
        match probe {
            Probe::Work => self.work.notify_one(),
            // Whether anybody listens is none of its business.
            Probe::Ended(id) => drop(self.ended.send(id)),
        }
    }

    async fn work(&self) {
        self.work.notified().await;
    }

    fn ends(&self) -> broadcast::Receiver<InstanceId> {
        self.ended.subscribe()
    }
}

//! Probes between processes: one connection that listens, and tells. It waits for no disk: a probe that is lost costs
//! time only (W17).

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use heddle_workflow::InstanceId;
use tokio::sync::Notify;
use tokio_postgres::AsyncMessage;
use uuid::Uuid;

use super::WorkflowPostgres;
use super::connections::Connections;
use super::failed;
use crate::StoreError;
use crate::workflows::probes::LocalProbes;
use crate::workflows::{Probe, Probes, Watch};

/// After how long a lost connection is made again.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// How many ends one message tells of: a payload has fewer than 8,000 bytes.
const ENDS: usize = 250;
/// How many ends may wait to be told of; older ones are left to whoever looks.
const WAITING: usize = 10_000;

/// What is to be told. However often there is work before it is sent, it is told once.
#[derive(Default)]
pub(super) struct Outbox {
    waiting: Mutex<Waiting>,
    filled: Notify,
}

#[derive(Default)]
struct Waiting {
    work: bool,
    ended: VecDeque<InstanceId>,
}

impl Outbox {
    fn push(&self, probe: Probe) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match probe {
            Probe::Work => waiting.work = true,
            Probe::Ended(id) => {
                if waiting.ended.len() == WAITING {
                    waiting.ended.pop_front();
                }
                waiting.ended.push_back(id);
            }
        }
        drop(waiting);
        self.filled.notify_one();
    }

    /// The next message; `None` where there is none.
    fn next(&self, sender: &str) -> Option<String> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let count = waiting.ended.len().min(ENDS);
        if count == 0 && !waiting.work {
            return None;
        }
        let mut message = sender.to_owned();
        if std::mem::take(&mut waiting.work) {
            message.push_str(" work");
        }
        for id in waiting.ended.drain(..count) {
            message.push(' ');
            message.push_str(id.as_str());
        }
        Some(message)
    }
}

#[async_trait]
impl Probes for WorkflowPostgres {
    fn push(&self, probe: Probe) {
        self.local.push(probe.clone());
        self.outbox.push(probe);
    }

    async fn work(&self) {
        self.local.work().await;
    }

    fn watch(&self, id: &InstanceId) -> Watch {
        self.local.watch(id)
    }
}

/// Carries probes to and fro, for ever.
pub(super) async fn carry(
    connections: Connections,
    channel: String,
    local: Arc<LocalProbes>,
    outbox: Arc<Outbox>,
) {
    let sender = Uuid::new_v4().simple().to_string();
    loop {
        if let Err(error) = connected(&connections, &channel, &sender, &local, &outbox).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the connection that carries probes is lost"
            );
        }
        tokio::time::sleep(AGAIN_AFTER).await;
    }
}

/// The same, as long as one connection holds.
async fn connected(
    connections: &Connections,
    channel: &str,
    sender: &str,
    local: &LocalProbes,
    outbox: &Outbox,
) -> Result<(), StoreError> {
    let (client, mut connection) = connections.apart().await?;
    let hear = async {
        loop {
            match poll_fn(|context| connection.poll_message(context)).await {
                Some(Ok(AsyncMessage::Notification(notification))) => {
                    heard(notification.payload(), sender, local);
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(failed("listen for probes")(error)),
                None => return Ok(()),
            }
        }
    };
    let tell = async {
        const ATTEMPTED: &str = "tell of probes";
        let settings = format!("SET synchronous_commit = off; LISTEN \"{channel}\"");
        client.batch_execute(&settings).await.map_err(failed(ATTEMPTED))?;
        let notify = client.prepare("SELECT pg_notify($1, $2)").await.map_err(failed(ATTEMPTED))?;
        loop {
            while let Some(message) = outbox.next(sender) {
                client.execute(&notify, &[&channel, &message]).await.map_err(failed(ATTEMPTED))?;
            }
            outbox.filled.notified().await;
        }
    };
    tokio::select! {
        end = hear => end,
        end = tell => end,
    }
}

fn heard(message: &str, sender: &str, local: &LocalProbes) {
    let mut words = message.split(' ');
    // What this process told itself it knows.
    if words.next() == Some(sender) {
        return;
    }
    for word in words {
        match InstanceId::parse(word) {
            Some(id) => local.push(Probe::Ended(id)),
            None => local.push(Probe::Work),
        }
    }
}

//! What there is to do on `PostgreSQL`, and effects.

use std::time::SystemTime;

use async_trait::async_trait;
use heddle_workflow::{ActorMode, InstanceId, Token};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;

use super::read::time;
use super::{Database, WorkflowPostgres, system_time};
use crate::StoreError;
use crate::workflows::raw::{Place, RawQueued, instance_id};
use crate::workflows::sql::idempotency_keys::postgres as idempotency_keys;
use crate::workflows::sql::instances::postgres as instances;
use crate::workflows::sql::step_runs::postgres as step_runs;
use crate::workflows::sql::waits::postgres as waits;
use crate::workflows::{Actors, ClaimRef, Claimed, Due, Effects, Morph, Work};

const DUE: &str = "look for what is due";

#[async_trait]
impl Work for WorkflowPostgres {
    async fn claim(
        &self,
        tokens: &[Token],
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<Claimed>, StoreError> {
        let tokens = tokens.to_vec();
        self.apart(move |database| async move { claim(&database, &tokens, until, now).await }).await
    }

    async fn heartbeat(&self, claim: &ClaimRef, until: Timestamp) -> Result<bool, StoreError> {
        self.held("prolong a claim", step_runs::HEARTBEAT, claim, until).await
    }

    async fn release(&self, claim: &ClaimRef, from: Timestamp) -> Result<bool, StoreError> {
        self.held("give a step back", step_runs::RELEASE, claim, from).await
    }

    async fn due(
        &self,
        now: Timestamp,
        again_after: SignedDuration,
        limit: u16,
    ) -> Result<Vec<Due>, StoreError> {
        let before = now.checked_sub(again_after).unwrap_or(Timestamp::MIN);
        let (now, before, limit) = (system_time(now), system_time(before), i64::from(limit));
        self.apart(move |database| async move {
            let leases = database.query(DUE, step_runs::EXPIRED, &[&now, &before, &limit]).await?;
            let dues = database.query(DUE, waits::DUE, &[&now, &before, &limit, &false]).await?;
            let deadlines = database.query(DUE, waits::DUE, &[&now, &before, &limit, &true]).await?;
            let mut all = Vec::new();
            for (mut rows, due) in
                [(leases, Due::Lease as fn(_) -> _), (dues, Due::Wait), (deadlines, Due::Deadline)]
            {
                rows.sort_by_key(|row| row.get::<_, SystemTime>(0));
                for row in rows {
                    all.push(due(instance_id(row.get(1))?));
                }
            }
            Ok(all)
        })
        .await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.apart(|database| async move {
            let rows = database.query(DUE, step_runs::NEXT_DUE, &[]).await?;
            let found = rows.first().and_then(|row| time(row, 0));
            Place { table: "workflow_waits", id: "next".to_owned() }.time("due_at", found)
        })
        .await
    }
}

#[async_trait]
impl Effects for WorkflowPostgres {
    async fn actors(&self, instance: &InstanceId) -> Result<Option<Actors>, StoreError> {
        let id = instance.clone();
        self.apart(move |database| async move {
            let rows = database.query("read as whom steps act", instances::ACTORS, &[&id.as_str()]).await?;
            let Some(row) = rows.first() else { return Ok(None) };
            let place = Place { table: "workflow_instances", id: id.to_string() };
            let mode: String = row.get(0);
            let mode = ActorMode::from_name(&mode).ok_or_else(|| place.bad("actor_mode", "is no mode"))?;
            let morph = |at: usize| {
                let (kind, id): (Option<String>, Option<String>) = (row.get(at), row.get(at + 1));
                kind.zip(id).map(|(kind, id)| Morph { kind, id })
            };
            Ok(Some(Actors { mode, starter: morph(1), owner: morph(3), publisher: morph(5) }))
        })
        .await
    }

    async fn effect(&self, _instance: &InstanceId, digest: &str) -> Result<Option<Json>, StoreError> {
        let digest = digest.to_owned();
        self.apart(move |database| async move { effect(&database, &digest).await }).await
    }

    async fn keep_effect(
        &self,
        instance: &InstanceId,
        digest: &str,
        result: &Json,
        now: Timestamp,
    ) -> Result<Json, StoreError> {
        let (instance, digest, result) = (instance.clone(), digest.to_owned(), result.clone());
        self.apart(move |database| async move {
            let id = database.tables.keys.next(database.tables.schema.keys().primary, now).map(|key| key.0);
            let (text, at) = (result.to_string(), system_time(now));
            database
                .execute(
                    "keep an effect's result",
                    idempotency_keys::KEEP_EFFECT,
                    &[&id, &digest, &instance.as_str(), &text, &at],
                )
                .await?;
            Ok(effect(&database, &digest).await?.unwrap_or(result))
        })
        .await
    }
}

impl WorkflowPostgres {
    /// Changes a step that is still held under a claim's token; whether it was.
    async fn held(
        &self,
        attempted: &'static str,
        statement: &'static str,
        claim: &ClaimRef,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let claim = claim.clone();
        self.apart(move |database| async move {
            let ClaimRef { instance, step, token } = &claim;
            let (visit, attempt) = (i64::from(step.visit), i64::from(step.attempt));
            let changed = database
                .execute(
                    attempted,
                    statement,
                    &[
                        &instance.as_str(),
                        &step.node.as_str(),
                        &visit,
                        &attempt,
                        &token.as_str(),
                        &system_time(at),
                    ],
                )
                .await?;
            Ok(changed == 1)
        })
        .await
    }
}

async fn claim(
    database: &Database,
    tokens: &[Token],
    until: Timestamp,
    now: Timestamp,
) -> Result<Vec<Claimed>, StoreError> {
    let texts: Vec<&str> = tokens.iter().map(Token::as_str).collect();
    let limit = i64::try_from(tokens.len()).unwrap_or(i64::MAX);
    let mut rows = database
        .query("claim steps", step_runs::CLAIM, &[&texts, &system_time(until), &system_time(now), &limit])
        .await?;
    rows.sort_by_key(|row| row.get::<_, i64>(0));
    let mut claimed = Vec::new();
    for row in rows {
        let place = usize::try_from(row.get::<_, i64>(0) - 1).unwrap_or(usize::MAX);
        let Some(token) = tokens.get(place).cloned() else { continue };
        let step = RawQueued {
            instance: row.get(1),
            version: row.get(2),
            node: row.get(3),
            visit: row.get(4),
            attempt: row.get(5),
            idempotency_key: row.get(6),
            input: row.get(7),
            resume: row.get(8),
        };
        match step.taken(token) {
            Ok(step) => claimed.push(step),
            // It stays taken, out of the others' way; whoever wakes it when its lease runs out says what it is.
            Err(StoreError::BadRow { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(claimed)
}

async fn effect(database: &Database, digest: &str) -> Result<Option<Json>, StoreError> {
    let rows = database.query("read an effect's result", idempotency_keys::EFFECT, &[&digest]).await?;
    let found: Option<String> = rows.first().and_then(|row| row.get(0));
    Place { table: "workflow_idempotency_keys", id: digest.to_owned() }.json("result", found)
}

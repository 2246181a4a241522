//! Rows as a database gives them, and what they must be: every adapter with SQL reads through here, so that a damaged
//! row is found the same way and named by table, column and id.

mod reading;

use std::sync::Arc;

use heddle_workflow::{
    ActorMode, Code, Failure, InstanceId, InstanceRow, NodeId, Outcome, SignalId, Status, StepKey, StepRow,
    StepStatus, Subject, Token, WaitKind, WaitRecord, WaitRow, WaitStatus, Waits, read_json,
};
use jiff::Timestamp;
use serde_json::Value as Json;

use super::{ClaimRef, Claimed, Key, Version};
use crate::StoreError;

pub(super) use reading::*;

/// The place of a value that is not what it should be.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) table: &'static str,
    pub(super) id: String,
}

impl Place {
    pub(super) fn bad(&self, column: &'static str, reason: impl Into<String>) -> StoreError {
        StoreError::BadRow { table: self.table, column, id: self.id.clone(), reason: reason.into() }
    }

    pub(super) fn time(
        &self,
        column: &'static str,
        time: Option<RawTime>,
    ) -> Result<Option<Timestamp>, StoreError> {
        time.map(|time| time.check().ok_or_else(|| self.bad(column, "is no time"))).transpose()
    }

    pub(super) fn needed<T>(&self, column: &'static str, value: Option<T>) -> Result<T, StoreError> {
        value.ok_or_else(|| self.bad(column, "is missing"))
    }

    pub(super) fn json(
        &self,
        column: &'static str,
        text: Option<String>,
    ) -> Result<Option<Json>, StoreError> {
        text.map(|text| read_json(&text).map_err(|error| self.bad(column, error.to_string()))).transpose()
    }

    pub(super) fn shared(
        &self,
        column: &'static str,
        text: Option<String>,
    ) -> Result<Option<Arc<Json>>, StoreError> {
        Ok(self.json(column, text)?.map(Arc::new))
    }

    pub(super) fn node(&self, column: &'static str, text: String) -> Result<NodeId, StoreError> {
        NodeId::new(text).map_err(|error| self.bad(column, error.to_string()))
    }

    pub(super) fn outcome(&self, text: Option<String>) -> Result<Option<Outcome>, StoreError> {
        text.map(|text| Outcome::new(text).map_err(|error| self.bad("outcome", error.to_string())))
            .transpose()
    }

    pub(super) fn code(&self, column: &'static str, text: String) -> Result<Code, StoreError> {
        Code::new(text).map_err(|error| self.bad(column, error.to_string()))
    }

    fn number<T: TryFrom<i64>>(&self, column: &'static str, number: i64) -> Result<T, StoreError> {
        T::try_from(number).map_err(|_| self.bad(column, "is out of range"))
    }
}

/// A time as a database has it.
pub(super) enum RawTime {
    /// Text, as `SQLite` has it.
    Text(String),
    /// A time, as `PostgreSQL` has it.
    Time(std::time::SystemTime),
}

impl RawTime {
    fn check(self) -> Option<Timestamp> {
        match self {
            Self::Text(text) => text.parse().ok(),
            Self::Time(time) => time.try_into().ok(),
        }
    }
}

impl From<String> for RawTime {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<std::time::SystemTime> for RawTime {
    fn from(time: std::time::SystemTime) -> Self {
        Self::Time(time)
    }
}

pub(super) fn instance_id(text: String) -> Result<InstanceId, StoreError> {
    InstanceId::parse(&text)
        .ok_or_else(|| Place { table: "workflow_instances", id: text }.bad("ulid", "is no ULID"))
}

/// A row of `workflow_versions`.
pub(super) struct RawVersion {
    pub(super) id: String,
    pub(super) definition: String,
    pub(super) number: i64,
    pub(super) graph: String,
    pub(super) checksum: String,
    pub(super) actor_mode: String,
}

impl RawVersion {
    pub(super) fn check(self) -> Result<Version, StoreError> {
        let place = Place { table: "workflow_versions", id: self.id.clone() };
        let document = place.json("graph", Some(self.graph))?;
        Ok(Version {
            id: Key(self.id),
            definition: Key(self.definition),
            number: place.number("number", self.number)?,
            document: Arc::new(place.needed("graph", document)?),
            checksum: self.checksum,
            actor_mode: ActorMode::from_name(&self.actor_mode)
                .ok_or_else(|| place.bad("actor_mode", "is no mode"))?,
        })
    }
}

/// The part of a row of `workflow_instances` that turns need.
pub(super) struct RawInstance {
    pub(super) status: String,
    pub(super) current_node: Option<String>,
    pub(super) steps_count: i64,
    pub(super) depth: i64,
    pub(super) failure_code: Option<String>,
    pub(super) failure_message: Option<String>,
    pub(super) failed_node: Option<String>,
    pub(super) ended_at: Option<RawTime>,
    pub(super) lock_version: i64,
    pub(super) updated_at: RawTime,
    pub(super) trigger: Option<String>,
    pub(super) subject: Subject,
}

impl RawInstance {
    pub(super) fn check(self, id: &InstanceId) -> Result<InstanceRow, StoreError> {
        let place = Place { table: "workflow_instances", id: id.to_string() };
        let failure = self.failure_code.map(|code| {
            let message = self.failure_message.unwrap_or_default();
            Ok::<_, StoreError>(Failure::new(place.code("failure_code", code)?, &message, false))
        });
        let node = |column, node: Option<String>| node.map(|node| place.node(column, node)).transpose();
        Ok(InstanceRow {
            id: id.clone(),
            status: Status::from_name(&self.status).ok_or_else(|| place.bad("status", "is no status"))?,
            current_node: node("current_node_id", self.current_node)?,
            steps_count: place.number("steps_count", self.steps_count)?,
            depth: place.number("depth", self.depth)?,
            failure: failure.transpose()?,
            failed_node: node("failed_node_id", self.failed_node)?,
            ended_at: place.time("ended_at", self.ended_at)?,
            lock_version: place.number("lock_version", self.lock_version)?,
            updated_at: place.needed("updated_at", place.time("updated_at", Some(self.updated_at))?)?,
            trigger: Arc::new(place.json("trigger_payload", self.trigger)?.unwrap_or_default()),
            subject: Arc::new(self.subject.to_json()),
        })
    }
}

/// A row of `workflow_step_runs`.
pub(super) struct RawStep {
    pub(super) node: String,
    pub(super) visit: i64,
    pub(super) attempt: i64,
    pub(super) node_type: String,
    pub(super) status: String,
    pub(super) idempotency_key: String,
    pub(super) input: Option<String>,
    pub(super) output: Option<String>,
    pub(super) resume: Option<String>,
    pub(super) outcome: Option<String>,
    pub(super) error: (Option<String>, Option<String>, Option<bool>),
    pub(super) claim: (Option<String>, Option<RawTime>),
    pub(super) scheduled_for: Option<RawTime>,
    pub(super) started_at: Option<RawTime>,
    pub(super) finished_at: Option<RawTime>,
}

impl RawStep {
    pub(super) fn check(self, place: &Place) -> Result<StepRow, StoreError> {
        let (code, message, retryable) = self.error;
        let failure = code.map(|code| {
            let code = place.code("error_code", code)?;
            Ok::<_, StoreError>(Failure::new(code, &message.unwrap_or_default(), retryable.unwrap_or(false)))
        });
        let claim = match self.claim {
            (Some(token), until) => {
                let until = place.needed("lease_until", place.time("lease_until", until)?)?;
                Some((Token::new(token), until))
            }
            (None, _) => None,
        };
        Ok(StepRow {
            key: step_key(place, self.node, self.visit, self.attempt)?,
            node_type: self.node_type,
            status: StepStatus::from_name(&self.status).ok_or_else(|| place.bad("status", "is no status"))?,
            idempotency_key: self.idempotency_key,
            input: place.shared("input", self.input)?,
            output: place.json("output", self.output)?,
            resume: place.shared("resume_signal", self.resume)?,
            outcome: place.outcome(self.outcome)?,
            failure: failure.transpose()?,
            claim,
            scheduled_for: place.time("scheduled_for", self.scheduled_for)?,
            started_at: place.time("started_at", self.started_at)?,
            finished_at: place.time("finished_at", self.finished_at)?,
        })
    }
}

fn step_key(place: &Place, node: String, visit: i64, attempt: i64) -> Result<StepKey, StoreError> {
    Ok(StepKey {
        node: place.node("node_id", node)?,
        visit: place.number("visit", visit)?,
        attempt: place.number("attempt", attempt)?,
    })
}

/// A row of `workflow_waits`, with its step's.
pub(super) struct RawWait {
    pub(super) id: String,
    pub(super) node: String,
    pub(super) visit: i64,
    pub(super) attempt: i64,
    pub(super) kind: String,
    pub(super) due_at: Option<RawTime>,
    pub(super) event_key: Option<String>,
    pub(super) matches: Option<String>,
    pub(super) condition: Option<String>,
    pub(super) payload: Option<String>,
    pub(super) outcome: Option<String>,
    pub(super) status: String,
    pub(super) fired_at: Option<RawTime>,
}

impl RawWait {
    pub(super) fn check(self, place: &Place) -> Result<WaitRecord, StoreError> {
        let status =
            WaitStatus::from_name(&self.status).ok_or_else(|| place.bad("status", "is no status"))?;
        let due_at = place.time("due_at", self.due_at)?;
        let payload = place.shared("payload", self.payload)?;
        let key = |event_key: Option<String>| place.needed("event_key", event_key);
        let kind = match self.kind.as_str() {
            "delay" => Some(WaitKind::Delay),
            "event" => Some(WaitKind::Event { key: self.event_key.clone() }),
            "handler" => Some(WaitKind::Handler { key: key(self.event_key.clone())? }),
            "deadline" | "signal" | "command" => None,
            _ => return Err(place.bad("kind", "is no kind")),
        };
        let what = match (kind, self.kind.as_str()) {
            (Some(kind), _) => {
                let condition = place.json("condition", self.condition)?.unwrap_or_default();
                let part = |name: &str| condition.get(name).and_then(Json::as_str).map(str::to_owned);
                let matches = place.json("match", self.matches)?;
                let row = WaitRow {
                    kind,
                    due_at,
                    timeout_at: place.time("condition", part("timeout_at").map(RawTime::Text))?,
                    matches: matches.as_ref().and_then(Json::as_str).map(str::to_owned),
                    condition: part("expression"),
                    outcome: place.outcome(self.outcome)?,
                    paused: false,
                };
                Waits::Step { row, payload }
            }
            (None, "deadline") => Waits::Deadline { due_at: place.needed("due_at", due_at)? },
            (None, "command") => {
                Waits::Command { name: key(self.event_key)?, payload: place.needed("payload", payload)? }
            }
            (None, _) => {
                Waits::Signal { event_key: key(self.event_key)?, payload: place.needed("payload", payload)? }
            }
        };
        Ok(WaitRecord {
            id: SignalId::new(self.id),
            step: step_key(place, self.node, self.visit, self.attempt)?,
            status,
            fired_at: place.time("fired_at", self.fired_at)?,
            what,
        })
    }
}

/// A queued step, with what its handler is given.
pub(super) struct RawQueued {
    pub(super) instance: String,
    pub(super) version: String,
    pub(super) node: String,
    pub(super) visit: i64,
    pub(super) attempt: i64,
    pub(super) idempotency_key: String,
    pub(super) input: Option<String>,
    pub(super) resume: Option<String>,
}

impl RawQueued {
    /// The step, taken under a token.
    pub(super) fn taken(self, token: Token) -> Result<Claimed, StoreError> {
        let place = Place { table: "workflow_step_runs", id: self.idempotency_key.clone() };
        let step = step_key(&place, self.node, self.visit, self.attempt)?;
        Ok(Claimed {
            claim: ClaimRef { instance: instance_id(self.instance)?, step, token },
            version: Key(self.version),
            idempotency_key: self.idempotency_key,
            input: place.shared("input", self.input)?,
            resume: place.shared("resume_signal", self.resume)?,
        })
    }
}

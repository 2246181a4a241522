//! Rows as people look at them.

use heddle_workflow::{ActorMode, Failure, Status, StepKey, StepStatus, Subject, WaitStatus};
use serde_json::Value as Json;

use super::{Place, RawTime, instance_id};
use crate::StoreError;
use crate::workflows::{
    CurrentVersion, DefinitionSummary, Happening, InstanceSummary, Key, Morph, OverlayCount, Payloads,
    PublishStatus, TimelineEntry, VersionSummary, WaitName,
};

/// The kind of a row of `workflow_waits` that says who did what.
const COMMAND: &str = "command";

/// The two halves of a morph pair.
pub(in crate::workflows) type RawMorph = (Option<String>, Option<String>);

fn morph((kind, id): RawMorph) -> Option<Morph> {
    kind.zip(id).map(|(kind, id)| Morph { kind, id })
}

/// A row of `workflow_definitions`, with its current version's.
pub(in crate::workflows) struct DefinitionView {
    pub(in crate::workflows) id: String,
    pub(in crate::workflows) key: String,
    pub(in crate::workflows) name: String,
    pub(in crate::workflows) status: String,
    pub(in crate::workflows) current: (Option<String>, Option<i64>, Option<String>),
    pub(in crate::workflows) updated_at: RawTime,
}

impl DefinitionView {
    pub(in crate::workflows) fn check(self) -> Result<DefinitionSummary, StoreError> {
        let place = Place { table: "workflow_definitions", id: self.id.clone() };
        let (current, number, checksum) = self.current;
        let current = current.zip(number).zip(checksum).map(|((id, number), checksum)| {
            let number = place.number("current_version_id", number)?;
            Ok::<_, StoreError>(CurrentVersion { id: Key(id), number, checksum })
        });
        Ok(DefinitionSummary {
            id: Key(self.id),
            key: self.key,
            name: self.name,
            status: status(&place, &self.status)?,
            current: current.transpose()?,
            updated_at: place.needed("updated_at", place.time("updated_at", Some(self.updated_at))?)?,
        })
    }
}

fn status(place: &Place, name: &str) -> Result<PublishStatus, StoreError> {
    PublishStatus::from_name(name).ok_or_else(|| place.bad("status", "is no status"))
}

/// A row of `workflow_versions`, without its graph.
pub(in crate::workflows) struct VersionView {
    pub(in crate::workflows) id: String,
    pub(in crate::workflows) number: i64,
    pub(in crate::workflows) status: String,
    pub(in crate::workflows) checksum: String,
    pub(in crate::workflows) actor_mode: String,
    pub(in crate::workflows) trigger: (Option<String>, Option<String>),
    pub(in crate::workflows) published_at: Option<RawTime>,
    pub(in crate::workflows) publisher: RawMorph,
}

impl VersionView {
    pub(in crate::workflows) fn check(self) -> Result<VersionSummary, StoreError> {
        let place = Place { table: "workflow_versions", id: self.id.clone() };
        let actor_mode = ActorMode::from_name(&self.actor_mode);
        Ok(VersionSummary {
            id: Key(self.id),
            number: place.number("number", self.number)?,
            status: status(&place, &self.status)?,
            checksum: self.checksum,
            actor_mode: actor_mode.ok_or_else(|| place.bad("actor_mode", "is no mode"))?,
            trigger: (place.needed("trigger_type", self.trigger.0)?, self.trigger.1),
            published_at: place.time("published_at", self.published_at)?,
            publisher: morph(self.publisher),
        })
    }
}

/// A row of `workflow_instances`, without what it carries.
pub(in crate::workflows) struct InstanceView {
    pub(in crate::workflows) ulid: String,
    pub(in crate::workflows) owner: RawMorph,
    pub(in crate::workflows) definition: String,
    pub(in crate::workflows) version: (String, i64),
    pub(in crate::workflows) status: String,
    pub(in crate::workflows) current_node: Option<String>,
    pub(in crate::workflows) steps_count: i64,
    pub(in crate::workflows) depth: i64,
    pub(in crate::workflows) trigger: (Option<String>, Option<String>),
    pub(in crate::workflows) starter: RawMorph,
    pub(in crate::workflows) subject: Subject,
    pub(in crate::workflows) failure: (Option<String>, Option<String>, Option<String>),
    pub(in crate::workflows) created_at: RawTime,
    pub(in crate::workflows) ended_at: Option<RawTime>,
    pub(in crate::workflows) updated_at: RawTime,
    pub(in crate::workflows) lock_version: i64,
}

impl InstanceView {
    pub(in crate::workflows) fn check(self) -> Result<InstanceSummary, StoreError> {
        let place = Place { table: "workflow_instances", id: self.ulid.clone() };
        let node = |column, node: Option<String>| node.map(|node| place.node(column, node)).transpose();
        let time = |column, at| place.needed(column, place.time(column, Some(at))?);
        let (code, message, failed_node) = self.failure;
        let failure = code.map(|code| {
            let code = place.code("failure_code", code)?;
            Ok::<_, StoreError>(Failure::new(code, &message.unwrap_or_default(), false))
        });
        Ok(InstanceSummary {
            id: instance_id(self.ulid)?,
            owner: morph(self.owner),
            definition: self.definition,
            version: Key(self.version.0),
            version_number: place.number("version_id", self.version.1)?,
            status: Status::from_name(&self.status).ok_or_else(|| place.bad("status", "is no status"))?,
            current_node: node("current_node_id", self.current_node)?,
            steps_count: place.number("steps_count", self.steps_count)?,
            depth: place.number("depth", self.depth)?,
            trigger: self.trigger,
            starter: morph(self.starter),
            subject: self.subject,
            failure: failure.transpose()?,
            failed_node: node("failed_node_id", failed_node)?,
            started_at: time("created_at", self.created_at)?,
            ended_at: place.time("ended_at", self.ended_at)?,
            updated_at: time("updated_at", self.updated_at)?,
            lock_version: place.number("lock_version", self.lock_version)?,
        })
    }
}

/// What an instance carries: `trigger_payload`, and its end's `output`.
pub(in crate::workflows) fn payloads(
    id: &str,
    trigger: Option<String>,
    output: Option<String>,
) -> Result<Payloads, StoreError> {
    let place = Place { table: "workflow_instances", id: id.to_owned() };
    Ok(Payloads {
        trigger: place.json("trigger_payload", trigger)?.unwrap_or_default(),
        output: place.json("output", output)?,
    })
}

/// A count of a version's live instances: status, node, how many.
pub(in crate::workflows) fn overlay_count(
    version: &Key,
    (status, node, count): (String, String, i64),
) -> Result<OverlayCount, StoreError> {
    let place = Place { table: "workflow_instances", id: version.0.clone() };
    let status = Status::from_name(&status).ok_or_else(|| place.bad("status", "is no status"))?;
    let count = place.number("count", count)?;
    Ok(OverlayCount { node: place.node("current_node_id", node)?, status, count })
}

/// What every entry of a timeline has, and what it is.
pub(in crate::workflows) struct EntryView<T> {
    pub(in crate::workflows) id: String,
    pub(in crate::workflows) step: (String, i64, i64),
    pub(in crate::workflows) created_at: RawTime,
    pub(in crate::workflows) what: T,
}

impl<T> EntryView<T> {
    fn entry(
        self,
        place: &Place,
        what: impl FnOnce(T) -> Result<Happening, StoreError>,
    ) -> Result<TimelineEntry, StoreError> {
        let (node, visit, attempt) = self.step;
        let step = StepKey {
            node: place.node("node_id", node)?,
            visit: place.number("visit", visit)?,
            attempt: place.number("attempt", attempt)?,
        };
        let at = place.needed("created_at", place.time("created_at", Some(self.created_at))?)?;
        Ok(TimelineEntry { row: Key(self.id), at, step, what: what(self.what)? })
    }
}

/// A row of `workflow_step_runs`, without what it carries.
pub(in crate::workflows) struct StepView {
    pub(in crate::workflows) node_type: String,
    pub(in crate::workflows) status: String,
    pub(in crate::workflows) outcome: Option<String>,
    pub(in crate::workflows) error: (Option<String>, Option<String>, Option<bool>),
    /// `scheduled_for`, `started_at`, `finished_at`.
    pub(in crate::workflows) times: [Option<RawTime>; 3],
}

impl EntryView<StepView> {
    pub(in crate::workflows) fn check(self, instance: &str) -> Result<TimelineEntry, StoreError> {
        let place = Place { table: "workflow_step_runs", id: instance.to_owned() };
        self.entry(
            &place,
            |StepView { node_type, status, outcome, error: (code, message, retryable), times }| {
                let failure = code.map(|code| {
                    let code = place.code("error_code", code)?;
                    let retryable = retryable.unwrap_or(false);
                    Ok::<_, StoreError>(Failure::new(code, &message.unwrap_or_default(), retryable))
                });
                let [scheduled_for, started_at, finished_at] = times;
                Ok(Happening::Step {
                    node_type,
                    status: StepStatus::from_name(&status)
                        .ok_or_else(|| place.bad("status", "is no status"))?,
                    outcome: place.outcome(outcome)?,
                    failure: failure.transpose()?,
                    scheduled_for: place.time("scheduled_for", scheduled_for)?,
                    started_at: place.time("started_at", started_at)?,
                    finished_at: place.time("finished_at", finished_at)?,
                })
            },
        )
    }
}

/// A row of `workflow_waits`.
pub(in crate::workflows) struct WaitView {
    pub(in crate::workflows) kind: String,
    pub(in crate::workflows) event_key: Option<String>,
    pub(in crate::workflows) due_at: Option<RawTime>,
    pub(in crate::workflows) status: String,
    pub(in crate::workflows) fired_at: Option<RawTime>,
    /// Of a command: who gave it, and what it was about.
    pub(in crate::workflows) payload: Option<String>,
}

impl EntryView<WaitView> {
    pub(in crate::workflows) fn check(self, instance: &str) -> Result<TimelineEntry, StoreError> {
        let place = Place { table: "workflow_waits", id: instance.to_owned() };
        self.entry(&place, |WaitView { kind, event_key, due_at, status, fired_at, payload }| {
            if kind == COMMAND {
                let record = place.json("payload", payload)?.unwrap_or_default();
                let part = |of: &Json, name: &str| of[name].as_str().map(str::to_owned);
                return Ok(Happening::Command {
                    name: place.needed("event_key", event_key)?,
                    by: morph((part(&record["by"], "type"), part(&record["by"], "id"))),
                    event_key: part(&record, "key"),
                    outcome: part(&record, "outcome"),
                });
            }
            Ok(Happening::Wait {
                kind: WaitName::from_name(&kind).ok_or_else(|| place.bad("kind", "is no kind"))?,
                event_key,
                due_at: place.time("due_at", due_at)?,
                status: WaitStatus::from_name(&status).ok_or_else(|| place.bad("status", "is no status"))?,
                fired_at: place.time("fired_at", fired_at)?,
            })
        })
    }
}

//! What people look at, on `SQLite`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use async_trait::async_trait;
use heddle_workflow::{ActorMode, Failure, InstanceId, Status, StepKey, StepStatus, Subject, WaitStatus};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params};
use serde_json::Value as Json;

use super::codec::{Place, key_text, key_value};
use super::turns::read::{all, instance_id};
use super::{Tables, WorkflowSqlite};
use crate::StoreError;
use crate::row::time_text;
use crate::workflows::sql::definitions::sqlite as definitions;
use crate::workflows::sql::instances::sqlite as instances;
use crate::workflows::sql::step_runs::sqlite as step_runs;
use crate::workflows::sql::versions::sqlite as versions;
use crate::workflows::sql::waits::sqlite as waits;
use crate::workflows::{
    CurrentVersion, DefinitionSummary, Happening, InstanceCursor, InstanceFilter, InstanceSummary, Key,
    MOST_LOOKED_AT, Morph, OverlayCount, Page, Payloads, PublishStatus, Reading, TimelineCursor,
    TimelineEntry, VersionSummary, WaitName, owner_scope,
};

/// The kind of a row that says who did what.
const COMMAND: &str = "command";
/// How many instances of a definition are read at a time.
const CHUNK: u32 = 100;

#[async_trait]
impl Reading for WorkflowSqlite {
    async fn definitions(
        &self,
        owner_scope: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<Page<DefinitionSummary, String>, StoreError> {
        let (scope, after) = (owner_scope.to_owned(), after.unwrap_or_default().to_owned());
        self.read(move |connection, tables| {
            let params = params![scope, after, u32::from(limit) + 1];
            let rows = all(connection, tables, definitions::LIST, params, raw_definition)?;
            let definitions = rows.into_iter().map(RawDefinition::check).collect::<Result<_, _>>()?;
            Ok(Page::cut(definitions, limit, |last: &DefinitionSummary| last.key.clone()))
        })
        .await
    }

    async fn definition(
        &self,
        owner_scope: &str,
        key: &str,
    ) -> Result<Option<DefinitionSummary>, StoreError> {
        let (scope, key) = (owner_scope.to_owned(), key.to_owned());
        self.read(move |connection, tables| {
            let rows = all(connection, tables, definitions::SUMMARY, params![scope, key], raw_definition)?;
            rows.into_iter().next().map(RawDefinition::check).transpose()
        })
        .await
    }

    async fn versions(
        &self,
        definition: &Key,
        before: Option<u32>,
        limit: u16,
    ) -> Result<Page<VersionSummary, u32>, StoreError> {
        let definition = definition.clone();
        self.read(move |connection, tables| {
            let keys = tables.schema.keys();
            let definition = key_value("workflow_definitions", "id", keys.primary, &definition.0)?;
            let params = params![definition, before.map_or(i64::MAX, i64::from), u32::from(limit) + 1];
            let rows = all(connection, tables, versions::LIST, params, raw_version)?;
            let versions = rows.into_iter().map(RawVersion::check).collect::<Result<_, _>>()?;
            Ok(Page::cut(versions, limit, |last: &VersionSummary| last.number))
        })
        .await
    }

    async fn instances(
        &self,
        filter: &InstanceFilter,
        after: Option<&InstanceCursor>,
        limit: u16,
    ) -> Result<Page<InstanceSummary, InstanceCursor>, StoreError> {
        let (filter, after) = (filter.clone(), after.cloned());
        self.read(move |connection, tables| list(connection, tables, &filter, after.as_ref(), limit)).await
    }

    async fn instance(&self, id: &InstanceId) -> Result<Option<InstanceSummary>, StoreError> {
        let id = id.to_string();
        self.read(move |connection, tables| {
            let rows = all(connection, tables, instances::SUMMARY, params![id], raw_instance)?;
            rows.into_iter().next().map(RawInstance::check).transpose()
        })
        .await
    }

    async fn payloads(&self, id: &InstanceId) -> Result<Option<Payloads>, StoreError> {
        let id = id.to_string();
        self.read(move |connection, tables| {
            let raw = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let rows = all(connection, tables, instances::PAYLOADS, params![id], raw)?;
            let Some((trigger, output)) = rows.into_iter().next() else { return Ok(None) };
            let place = Place { table: "workflow_instances", id };
            Ok(Some(Payloads {
                trigger: place.json("trigger_payload", trigger)?.unwrap_or_default(),
                output: place.json("output", output)?,
            }))
        })
        .await
    }

    async fn overlay(&self, version: &Key) -> Result<Vec<OverlayCount>, StoreError> {
        let version = version.clone();
        self.read(move |connection, tables| {
            let keys = tables.schema.keys();
            let id = key_value("workflow_versions", "id", keys.primary, &version.0)?;
            let place = Place { table: "workflow_instances", id: version.0 };
            let raw = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get::<_, i64>(2)?));
            let rows = all(connection, tables, instances::OVERLAY, params![id], raw)?;
            let counts = rows.into_iter().map(|(status, node, count)| {
                let status = Status::from_name(&status).ok_or_else(|| place.bad("status", "is no status"))?;
                let count = count.unsigned_abs();
                Ok(OverlayCount { node: place.node("current_node_id", node)?, status, count })
            });
            let mut counts = counts.collect::<Result<Vec<_>, StoreError>>()?;
            counts.sort();
            Ok(counts)
        })
        .await
    }

    async fn timeline(
        &self,
        id: &InstanceId,
        after: Option<&TimelineCursor>,
        limit: u16,
    ) -> Result<Page<TimelineEntry, TimelineCursor>, StoreError> {
        let (id, after) = (id.to_string(), after.cloned());
        self.read(move |connection, tables| timeline(connection, tables, &id, after.as_ref(), limit)).await
    }
}

/// One definition's instances, newest first, a chunk at a time.
struct Walk {
    definition: Value,
    ahead: VecDeque<RawInstance>,
}

/// The newest instance that a walk has ahead of it, and which walk that is.
type Head = (String, String, Reverse<usize>);

impl Walk {
    /// Reads on from after a place.
    fn read(
        &mut self,
        connection: &Connection,
        tables: &Tables,
        from: &str,
        after: (&str, &str),
        count: u32,
    ) -> Result<(), StoreError> {
        let params = params![self.definition, from, after.0, after.1, count];
        self.ahead.extend(all(connection, tables, instances::LIST, params, raw_instance)?);
        Ok(())
    }

    fn head(&self, place: usize) -> Option<Head> {
        self.ahead.front().map(|row| (row.created_at.clone(), row.ulid.clone(), Reverse(place)))
    }
}

/// Merges the walks over an owner's definitions.
fn list(
    connection: &Connection,
    tables: &Tables,
    filter: &InstanceFilter,
    after: Option<&InstanceCursor>,
    limit: u16,
) -> Result<Page<InstanceSummary, InstanceCursor>, StoreError> {
    let params = params![owner_scope(filter.owner.as_ref()), filter.definition];
    let definitions: Vec<Value> = all(connection, tables, definitions::IDS, params, |row| row.get(0))?;
    let from = filter.started_from.map_or_else(String::new, time_text);
    let after = after.map(|after| (time_text(after.started_at), after.id.to_string()));
    let before = (time_text(filter.started_before.unwrap_or(Timestamp::MAX)), String::new());
    let begin = after.map_or_else(|| before.clone(), |after| after.min(before.clone()));
    // One of each to begin with: of most of an owner's definitions, a page shows nothing.
    let first = if definitions.len() == 1 { CHUNK } else { 1 };
    let mut walks: Vec<Walk> =
        definitions.into_iter().map(|definition| Walk { definition, ahead: VecDeque::new() }).collect();
    let mut heads = BinaryHeap::new();
    for (place, walk) in walks.iter_mut().enumerate() {
        walk.read(connection, tables, &from, (&begin.0, &begin.1), first)?;
        heads.extend(walk.head(place));
    }
    let (mut items, mut next, mut looked_at) = (Vec::new(), None, 0);
    while let Some((created_at, ulid, Reverse(place))) = heads.pop() {
        let walk = &mut walks[place];
        let Some(row) = walk.ahead.pop_front() else { continue };
        if walk.ahead.is_empty() {
            walk.read(connection, tables, &from, (&created_at, &ulid), CHUNK)?;
        }
        heads.extend(walk.head(place));
        looked_at += 1;
        let instance = row.check()?;
        let cursor = instance.cursor();
        if filter.wants(&instance) {
            items.push(instance);
        }
        if items.len() >= usize::from(limit) || looked_at >= MOST_LOOKED_AT {
            next = (!heads.is_empty()).then_some(cursor);
            break;
        }
    }
    Ok(Page { items, next })
}

fn timeline(
    connection: &Connection,
    tables: &Tables,
    id: &str,
    after: Option<&TimelineCursor>,
    limit: u16,
) -> Result<Page<TimelineEntry, TimelineCursor>, StoreError> {
    let primary = tables.schema.keys().primary;
    let row = |cursor: &TimelineCursor| key_value("workflow_step_runs", "id", primary, &cursor.row.0);
    let at = after.map_or_else(String::new, |after| time_text(after.at));
    let most = u32::from(limit) + 1;
    // Of the cursor's own moment: steps after a step; after a wait no steps, and the waits after it.
    let after_step = after.filter(|after| after.is_step).map(row).transpose()?;
    let after_wait = after.filter(|after| !after.is_step).map(row).transpose()?;
    let params = params![id, at, false, after_step, most];
    let steps = all(connection, tables, step_runs::TIMELINE, params, raw_step)?;
    let params = params![id, at, after_step.is_some(), after_wait, most];
    let waits = all(connection, tables, waits::TIMELINE, params, raw_wait)?;
    let steps = steps.into_iter().map(|row| row.check(id));
    let entries = steps.chain(waits.into_iter().map(|row| row.check(id)));
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(TimelineEntry::rank);
    Ok(Page::cut(entries, limit, TimelineEntry::cursor))
}

fn morph(kind: Option<String>, id: Value) -> Option<Morph> {
    Some(Morph { kind: kind?, id: key_text(id)? })
}

fn named(table: &'static str, id: Value) -> Result<(Key, Place), StoreError> {
    let place = Place { table, id: String::new() };
    let id = place.needed("id", key_text(id))?;
    Ok((Key(id.clone()), Place { id, ..place }))
}

struct RawDefinition {
    id: Value,
    key: String,
    name: String,
    status: String,
    current: (Value, Option<u32>, Option<String>),
    updated_at: String,
}

fn raw_definition(row: &Row<'_>) -> rusqlite::Result<RawDefinition> {
    Ok(RawDefinition {
        id: row.get(0)?,
        key: row.get(1)?,
        name: row.get(2)?,
        status: row.get(3)?,
        current: (row.get(4)?, row.get(5)?, row.get(6)?),
        updated_at: row.get(7)?,
    })
}

impl RawDefinition {
    fn check(self) -> Result<DefinitionSummary, StoreError> {
        let (id, place) = named("workflow_definitions", self.id)?;
        let (current, number, checksum) = self.current;
        let current = key_text(current).zip(number).zip(checksum);
        Ok(DefinitionSummary {
            id,
            key: self.key,
            name: self.name,
            status: status(&place, &self.status)?,
            current: current.map(|((id, number), checksum)| CurrentVersion { id: Key(id), number, checksum }),
            updated_at: place.needed("updated_at", place.time("updated_at", Some(self.updated_at))?)?,
        })
    }
}

fn status(place: &Place, name: &str) -> Result<PublishStatus, StoreError> {
    PublishStatus::from_name(name).ok_or_else(|| place.bad("status", "is no status"))
}

struct RawVersion {
    id: Value,
    number: u32,
    status: String,
    checksum: String,
    actor_mode: String,
    trigger: (Option<String>, Option<String>),
    published_at: Option<String>,
    publisher: (Option<String>, Value),
}

fn raw_version(row: &Row<'_>) -> rusqlite::Result<RawVersion> {
    Ok(RawVersion {
        id: row.get(0)?,
        number: row.get(1)?,
        status: row.get(2)?,
        checksum: row.get(3)?,
        actor_mode: row.get(4)?,
        trigger: (row.get(5)?, row.get(6)?),
        published_at: row.get(7)?,
        publisher: (row.get(8)?, row.get(9)?),
    })
}

impl RawVersion {
    fn check(self) -> Result<VersionSummary, StoreError> {
        let (id, place) = named("workflow_versions", self.id)?;
        let actor_mode = ActorMode::from_name(&self.actor_mode);
        Ok(VersionSummary {
            id,
            number: self.number,
            status: status(&place, &self.status)?,
            checksum: self.checksum,
            actor_mode: actor_mode.ok_or_else(|| place.bad("actor_mode", "is no mode"))?,
            trigger: (place.needed("trigger_type", self.trigger.0)?, self.trigger.1),
            published_at: place.time("published_at", self.published_at)?,
            publisher: morph(self.publisher.0, self.publisher.1),
        })
    }
}

struct RawInstance {
    ulid: String,
    owner: (Option<String>, Value),
    definition: String,
    version: (Value, u32),
    status: String,
    current_node: Option<String>,
    steps_count: u32,
    depth: u8,
    trigger: (Option<String>, Option<String>),
    starter: (Option<String>, Value),
    subject: (Option<String>, Option<String>, Value),
    failure: (Option<String>, Option<String>, Option<String>),
    created_at: String,
    ended_at: Option<String>,
    updated_at: String,
    lock_version: u32,
}

fn raw_instance(row: &Row<'_>) -> rusqlite::Result<RawInstance> {
    Ok(RawInstance {
        ulid: row.get(0)?,
        owner: (row.get(1)?, row.get(2)?),
        definition: row.get(3)?,
        version: (row.get(4)?, row.get(5)?),
        status: row.get(6)?,
        current_node: row.get(7)?,
        steps_count: row.get(8)?,
        depth: row.get(9)?,
        trigger: (row.get(10)?, row.get(11)?),
        starter: (row.get(12)?, row.get(13)?),
        subject: (row.get(14)?, row.get(15)?, row.get(16)?),
        failure: (row.get(17)?, row.get(18)?, row.get(19)?),
        created_at: row.get(20)?,
        ended_at: row.get(21)?,
        updated_at: row.get(22)?,
        lock_version: row.get(23)?,
    })
}

impl RawInstance {
    fn check(self) -> Result<InstanceSummary, StoreError> {
        let place = Place { table: "workflow_instances", id: self.ulid.clone() };
        let node = |column, node: Option<String>| node.map(|node| place.node(column, node)).transpose();
        let time = |column, text| place.needed(column, place.time(column, text)?);
        let (code, message, failed_node) = self.failure;
        let failure = code.map(|code| {
            let code = place.code("failure_code", code)?;
            Ok::<_, StoreError>(Failure::new(code, &message.unwrap_or_default(), false))
        });
        let (key, kind, subject) = self.subject;
        Ok(InstanceSummary {
            id: instance_id(self.ulid)?,
            owner: morph(self.owner.0, self.owner.1),
            definition: self.definition,
            version: Key(place.needed("version_id", key_text(self.version.0))?),
            version_number: self.version.1,
            status: Status::from_name(&self.status).ok_or_else(|| place.bad("status", "is no status"))?,
            current_node: node("current_node_id", self.current_node)?,
            steps_count: self.steps_count,
            depth: self.depth,
            trigger: self.trigger,
            starter: morph(self.starter.0, self.starter.1),
            subject: Subject { key, kind, id: key_text(subject) },
            failure: failure.transpose()?,
            failed_node: node("failed_node_id", failed_node)?,
            started_at: time("created_at", Some(self.created_at))?,
            ended_at: place.time("ended_at", self.ended_at)?,
            updated_at: time("updated_at", Some(self.updated_at))?,
            lock_version: self.lock_version,
        })
    }
}

/// A step, and what every entry of a timeline has.
struct RawEntry<T> {
    id: Value,
    step: (String, u32, u16),
    created_at: String,
    what: T,
}

impl<T> RawEntry<T> {
    fn entry(
        self,
        place: &Place,
        what: impl FnOnce(T) -> Result<Happening, StoreError>,
    ) -> Result<TimelineEntry, StoreError> {
        let (node, visit, attempt) = self.step;
        Ok(TimelineEntry {
            row: Key(place.needed("id", key_text(self.id))?),
            at: place.needed("created_at", place.time("created_at", Some(self.created_at))?)?,
            step: StepKey { node: place.node("node_id", node)?, visit, attempt },
            what: what(self.what)?,
        })
    }
}

struct RawStep {
    node_type: String,
    status: String,
    outcome: Option<String>,
    error: (Option<String>, Option<String>, Option<bool>),
    times: [Option<String>; 3],
}

fn raw_step(row: &Row<'_>) -> rusqlite::Result<RawEntry<RawStep>> {
    let what = RawStep {
        node_type: row.get(4)?,
        status: row.get(5)?,
        outcome: row.get(6)?,
        error: (row.get(7)?, row.get(8)?, row.get(9)?),
        times: [row.get(10)?, row.get(11)?, row.get(12)?],
    };
    let step = (row.get(1)?, row.get(2)?, row.get(3)?);
    Ok(RawEntry { id: row.get(0)?, step, created_at: row.get(13)?, what })
}

impl RawEntry<RawStep> {
    fn check(self, instance: &str) -> Result<TimelineEntry, StoreError> {
        let place = Place { table: "workflow_step_runs", id: instance.to_owned() };
        self.entry(
            &place,
            |RawStep { node_type, status, outcome, error: (code, message, retryable), times }| {
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

struct RawWait {
    kind: String,
    event_key: Option<String>,
    due_at: Option<String>,
    status: String,
    fired_at: Option<String>,
    /// Of a command.
    payload: Option<String>,
}

fn raw_wait(row: &Row<'_>) -> rusqlite::Result<RawEntry<RawWait>> {
    let what = RawWait {
        kind: row.get(4)?,
        event_key: row.get(5)?,
        due_at: row.get(6)?,
        status: row.get(7)?,
        fired_at: row.get(8)?,
        payload: row.get(10)?,
    };
    let step = (row.get(1)?, row.get(2)?, row.get(3)?);
    Ok(RawEntry { id: row.get(0)?, step, created_at: row.get(9)?, what })
}

impl RawEntry<RawWait> {
    fn check(self, instance: &str) -> Result<TimelineEntry, StoreError> {
        let place = Place { table: "workflow_waits", id: instance.to_owned() };
        self.entry(&place, |RawWait { kind, event_key, due_at, status, fired_at, payload }| {
            if kind == COMMAND {
                let record = place.json("payload", payload)?.unwrap_or_default();
                let part = |of: &Json, name: &str| of[name].as_str().map(str::to_owned);
                let by = part(&record["by"], "type").zip(part(&record["by"], "id"));
                return Ok(Happening::Command {
                    name: place.needed("event_key", event_key)?,
                    by: by.map(|(kind, id)| Morph { kind, id }),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflows::Schema;

    /// proves W29: every query that people's looking makes has its index, and none goes through a table.
    #[test]
    fn reading_goes_by_indexes() {
        let schema = Schema::default();
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&schema.sqlite_migration()).unwrap();
        for (statement, index) in [
            (definitions::LIST, "wdef_key_unique (owner_scope=? AND key>?)"),
            (definitions::SUMMARY, "wdef_key_unique (owner_scope=? AND key=?)"),
            (definitions::IDS, "wdef_key_unique (owner_scope=?)"),
            (versions::LIST, "wver_number_unique (definition_id=? AND number<?)"),
            (instances::LIST, "winst_rate_idx (definition_id=? AND created_at>? AND created_at<?)"),
            (instances::SUMMARY, "(ulid=?)"),
            (instances::PAYLOADS, "(ulid=?)"),
            (instances::OVERLAY, "COVERING INDEX winst_overlay_idx (version_id=? AND status=?"),
            (step_runs::TIMELINE, "wstep_attempt_unique (instance_id=?)"),
            (waits::TIMELINE, "wwait_instance_idx (instance_id=?)"),
            (waits::WAITING_FOR, "wwait_event_idx (status=? AND event_key=?)"),
        ] {
            let explain = format!("EXPLAIN QUERY PLAN {}", schema.render(statement));
            let mut explained = connection.prepare(&explain).unwrap();
            let plan: Vec<String> =
                explained.raw_query().mapped(|row| row.get(3)).collect::<Result<_, _>>().unwrap();
            assert!(plan[0].contains(index), "{statement}: {plan:?}");
            assert!(plan.iter().all(|step| !step.starts_with("SCAN")), "{statement}: {plan:?}");
            // A page is taken from the index as it is, but for the instances of one microsecond.
            let sorts = plan.iter().any(|step| step == "USE TEMP B-TREE FOR ORDER BY");
            assert!(
                !sorts || statement.contains("instance_id") || statement.contains("DISTINCT"),
                "{plan:?}"
            );
        }
    }
}

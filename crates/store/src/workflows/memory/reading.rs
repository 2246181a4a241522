//! What people look at, in memory.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use heddle_workflow::{
    Failure, InstanceId, Status, StepRow, StepStatus, Subject, WaitKind, WaitRecord, Waits,
};
use serde_json::Value as Json;

use super::{Definition, Instance, Published, Tables, WorkflowMemory};
use crate::StoreError;
use crate::workflows::{
    CurrentVersion, DefinitionSummary, Happening, InstanceCursor, InstanceFilter, InstanceSummary, Key,
    MOST_LOOKED_AT, MOST_MERGED, Morph, OverlayCount, Page, Payloads, PublishStatus, Reading, TimelineCursor,
    TimelineEntry, VersionSummary, WaitName, owner_scope,
};

#[async_trait]
impl Reading for WorkflowMemory {
    async fn definitions(
        &self,
        owner_scope: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<Page<DefinitionSummary, String>, StoreError> {
        let tables = self.tables();
        let of_owner = tables.definitions.iter().filter(|((scope, _), _)| scope == owner_scope);
        let found = of_owner.filter(|((_, key), _)| after.is_none_or(|after| key.as_str() > after));
        let found = found.map(|((_, key), definition)| tables.definition(key, definition));
        let found = found.take(usize::from(limit) + 1).collect();
        Ok(Page::cut(found, limit, |last: &DefinitionSummary| last.key.clone()))
    }

    async fn definition(
        &self,
        owner_scope: &str,
        key: &str,
    ) -> Result<Option<DefinitionSummary>, StoreError> {
        let tables = self.tables();
        let definition = tables.definitions.get(&(owner_scope.to_owned(), key.to_owned()));
        Ok(definition.map(|definition| tables.definition(key, definition)))
    }

    async fn versions(
        &self,
        definition: &Key,
        before: Option<u32>,
        limit: u16,
    ) -> Result<Page<VersionSummary, u32>, StoreError> {
        let tables = self.tables();
        let wanted = |published: &&Published| {
            let version = &published.version;
            version.definition == *definition && before.is_none_or(|before| version.number < before)
        };
        let mut found: Vec<_> =
            tables.versions.values().filter(wanted).map(|published| tables.summary(published)).collect();
        found.sort_by_key(|version| Reverse(version.number));
        Ok(Page::cut(found, limit, |last: &VersionSummary| last.number))
    }

    async fn instances(
        &self,
        filter: &InstanceFilter,
        after: Option<&InstanceCursor>,
        limit: u16,
    ) -> Result<Page<InstanceSummary, InstanceCursor>, StoreError> {
        let tables = self.tables();
        let scope = owner_scope(filter.owner.as_ref());
        let of_owner = tables.definitions.iter().filter(|((of, key), _)| {
            *of == scope && filter.definition.as_ref().is_none_or(|wanted| key == wanted)
        });
        let of_owner = of_owner.take(usize::from(MOST_MERGED)).map(|(_, definition)| &definition.id);
        let definitions: BTreeSet<&Key> = of_owner.collect();
        let in_reach = |instance: &InstanceSummary| {
            filter.started_from.is_none_or(|from| instance.started_at >= from)
                && filter.started_before.is_none_or(|before| instance.started_at < before)
                && after.is_none_or(|after| instance.cursor() < *after)
        };
        let merged =
            tables.instances.iter().filter(|(_, instance)| definitions.contains(&instance.new.definition));
        let all = merged.filter_map(|(id, instance)| tables.instance(id, instance));
        let mut all: Vec<_> = all.filter(in_reach).collect();
        all.sort_by_key(|instance| Reverse(instance.cursor()));
        let (mut items, mut next) = (Vec::new(), None);
        let count = all.len();
        for (looked_at, instance) in all.into_iter().enumerate() {
            let cursor = instance.cursor();
            if filter.wants(&instance) {
                items.push(instance);
            }
            if items.len() >= usize::from(limit) || looked_at + 1 >= MOST_LOOKED_AT {
                next = (looked_at + 1 < count).then_some(cursor);
                break;
            }
        }
        Ok(Page { items, next })
    }

    async fn instance(&self, id: &InstanceId) -> Result<Option<InstanceSummary>, StoreError> {
        let tables = self.tables();
        Ok(tables.instances.get(id).and_then(|instance| tables.instance(id, instance)))
    }

    async fn payloads(&self, id: &InstanceId) -> Result<Option<Payloads>, StoreError> {
        let tables = self.tables();
        Ok(tables.instances.get(id).map(|instance| {
            let rows = &instance.rows;
            let is_end = |step: &&StepRow| step.node_type == "end" && step.status == StepStatus::Completed;
            let end = rows.steps.iter().rev().find(is_end);
            let completed = rows.instance.status == Status::Completed;
            Payloads {
                trigger: rows.instance.trigger.as_ref().clone(),
                output: end.filter(|_| completed).and_then(|step| step.output.clone()),
            }
        }))
    }

    async fn overlay(&self, version: &Key) -> Result<Vec<OverlayCount>, StoreError> {
        let tables = self.tables();
        let mut counts = BTreeMap::new();
        for instance in tables.instances.values().filter(|instance| instance.new.version == *version) {
            let row = &instance.rows.instance;
            if let Some(node) = row.current_node.clone().filter(|_| !row.status.is_ended()) {
                *counts.entry((node, row.status)).or_insert(0) += 1;
            }
        }
        let count = |((node, status), count)| OverlayCount { node, status, count };
        Ok(counts.into_iter().map(count).collect())
    }

    async fn timeline(
        &self,
        id: &InstanceId,
        after: Option<&TimelineCursor>,
        limit: u16,
    ) -> Result<Page<TimelineEntry, TimelineCursor>, StoreError> {
        let tables = self.tables();
        let mut entries = tables.instances.get(id).map(entries).unwrap_or_default();
        let place = after.and_then(|after| entries.iter().position(|entry| entry.cursor() == *after));
        entries.drain(..place.map_or(0, |place| place + 1));
        Ok(Page::cut(entries, limit, TimelineEntry::cursor))
    }
}

impl Tables {
    fn definition(&self, key: &str, definition: &Definition) -> DefinitionSummary {
        let current = self.versions.get(&definition.current).map(|published| CurrentVersion {
            id: published.version.id.clone(),
            number: published.version.number,
            checksum: published.version.checksum.clone(),
        });
        DefinitionSummary {
            id: definition.id.clone(),
            key: key.to_owned(),
            name: definition.name.clone(),
            status: PublishStatus::Published,
            current,
            updated_at: definition.updated_at,
        }
    }

    fn summary(&self, published: &Published) -> VersionSummary {
        let version = &published.version;
        let is_current = self.definitions.values().any(|definition| definition.current == version.id);
        VersionSummary {
            id: version.id.clone(),
            number: version.number,
            status: if is_current { PublishStatus::Published } else { PublishStatus::Superseded },
            checksum: version.checksum.clone(),
            actor_mode: version.actor_mode,
            trigger: published.trigger.clone(),
            published_at: Some(published.at),
            publisher: published.publisher.clone(),
        }
    }

    fn instance(&self, id: &InstanceId, instance: &Instance) -> Option<InstanceSummary> {
        let Instance { new, rows, created_at, .. } = instance;
        let (_, definition) =
            self.definitions.iter().find(|(_, it)| it.id == new.definition).map(|(place, _)| place)?;
        let row = &rows.instance;
        let part = |name: &str| row.subject.get(name).and_then(Json::as_str).map(str::to_owned);
        Some(InstanceSummary {
            id: id.clone(),
            owner: new.owner.clone(),
            definition: definition.clone(),
            version: new.version.clone(),
            version_number: self.versions.get(&new.version)?.version.number,
            status: row.status,
            current_node: row.current_node.clone(),
            steps_count: row.steps_count,
            depth: row.depth,
            trigger: (Some(new.trigger.0.clone()), new.trigger.1.clone()),
            starter: new.starter.clone(),
            subject: Subject { key: part("key"), kind: part("type"), id: part("id") },
            // Whether it could be tried again is not kept.
            failure: row.failure.clone().map(|failure| Failure { retryable: false, ..failure }),
            failed_node: row.failed_node.clone(),
            started_at: *created_at,
            ended_at: row.ended_at,
            updated_at: row.updated_at,
            lock_version: row.lock_version,
        })
    }
}

/// An instance's life, in order.
fn entries(instance: &Instance) -> Vec<TimelineEntry> {
    let Instance { rows, made, .. } = instance;
    let steps = rows.steps.iter().zip(&made.0).enumerate().map(|(place, (step, at))| TimelineEntry {
        row: Key(place.to_string()),
        at: *at,
        step: step.key.clone(),
        what: Happening::Step {
            node_type: step.node_type.clone(),
            status: step.status,
            outcome: step.outcome.clone(),
            failure: step.failure.clone(),
            scheduled_for: step.scheduled_for,
            started_at: step.started_at,
            finished_at: step.finished_at,
        },
    });
    let waits = rows.waits.iter().zip(&made.1).map(|(wait, at)| TimelineEntry {
        row: Key(wait.id.as_str().to_owned()),
        at: *at,
        step: wait.step.clone(),
        what: happening(wait),
    });
    let mut entries: Vec<_> = steps.chain(waits).collect();
    entries.sort_by_key(TimelineEntry::rank);
    entries
}

fn happening(wait: &WaitRecord) -> Happening {
    let kind = match &wait.what {
        Waits::Command { name, payload } => {
            let part = |of: &Json, name: &str| of[name].as_str().map(str::to_owned);
            let by = part(&payload["by"], "type").zip(part(&payload["by"], "id"));
            return Happening::Command {
                name: name.clone(),
                by: by.map(|(kind, id)| Morph { kind, id }),
                event_key: part(payload, "key"),
                outcome: part(payload, "outcome"),
            };
        }
        Waits::Step { row, .. } => match row.kind {
            WaitKind::Delay => WaitName::Delay,
            WaitKind::Event { .. } => WaitName::Event,
            WaitKind::Handler { .. } => WaitName::Handler,
        },
        Waits::Deadline { .. } => WaitName::Deadline,
        Waits::Signal { .. } => WaitName::Signal,
    };
    Happening::Wait {
        kind,
        event_key: wait.event_key().map(str::to_owned),
        due_at: wait.what.due_at(),
        status: wait.status,
        fired_at: wait.fired_at,
    }
}

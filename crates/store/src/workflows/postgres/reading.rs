//! What people look at, on `PostgreSQL`.

use std::collections::HashMap;
use std::time::SystemTime;

use async_trait::async_trait;
use heddle_workflow::{InstanceId, Subject};
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::read::time;
use super::{WorkflowPostgres, system_time};
use crate::StoreError;
use crate::workflows::raw::{
    DefinitionView, EntryView, InstanceView, RawTime, StepView, VersionView, WaitView, overlay_count,
    payloads,
};
use crate::workflows::reading::{CHUNK, Merge, Sieve};
use crate::workflows::sql::definitions::postgres as definitions;
use crate::workflows::sql::instances::postgres as instances;
use crate::workflows::sql::step_runs::postgres as step_runs;
use crate::workflows::sql::versions::postgres as versions;
use crate::workflows::sql::waits::postgres as waits;
use crate::workflows::{
    DefinitionSummary, InstanceCursor, InstanceFilter, InstanceSummary, Key, MOST_MERGED, OverlayCount, Page,
    Payloads, Reading, TimelineCursor, TimelineEntry, VersionSummary, owner_scope,
};

const LOOK: &str = "look at workflows";

/// A statement's parameters.
type Params<'a, const N: usize> = [&'a (dyn ToSql + Sync); N];

#[async_trait]
impl Reading for WorkflowPostgres {
    async fn definitions(
        &self,
        owner_scope: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<Page<DefinitionSummary, String>, StoreError> {
        let most = i64::from(limit) + 1;
        let params: Params<'_, 3> = [&owner_scope, &after.unwrap_or_default(), &most];
        let rows = self.database.query(LOOK, definitions::LIST, &params).await?;
        let found = rows.iter().map(|row| raw_definition(row).check()).collect::<Result<_, _>>()?;
        Ok(Page::cut(found, limit, |last: &DefinitionSummary| last.key.clone()))
    }

    async fn definition(
        &self,
        owner_scope: &str,
        key: &str,
    ) -> Result<Option<DefinitionSummary>, StoreError> {
        let rows = self.database.query(LOOK, definitions::SUMMARY, &[&owner_scope, &key]).await?;
        rows.first().map(|row| raw_definition(row).check()).transpose()
    }

    async fn versions(
        &self,
        definition: &Key,
        before: Option<u32>,
        limit: u16,
    ) -> Result<Page<VersionSummary, u32>, StoreError> {
        let (before, most) = (before.map_or(i64::MAX, i64::from), i64::from(limit) + 1);
        let rows = self.database.query(LOOK, versions::LIST, &[&definition.0, &before, &most]).await?;
        let found = rows.iter().map(|row| raw_version(row).check()).collect::<Result<_, _>>()?;
        Ok(Page::cut(found, limit, |last: &VersionSummary| last.number))
    }

    async fn instances(
        &self,
        filter: &InstanceFilter,
        after: Option<&InstanceCursor>,
        limit: u16,
    ) -> Result<Page<InstanceSummary, InstanceCursor>, StoreError> {
        let scope = owner_scope(filter.owner.as_ref());
        let params: Params<'_, 3> = [&scope, &filter.definition, &i64::from(MOST_MERGED)];
        let rows = self.database.query(LOOK, definitions::IDS, &params).await?;
        let definitions: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let places: HashMap<&str, usize> =
            definitions.iter().enumerate().map(|(place, id)| (id.as_str(), place)).collect();
        let from = filter.started_from.unwrap_or(Timestamp::UNIX_EPOCH);
        let before = (filter.started_before.unwrap_or(Timestamp::MAX), String::new());
        let place = |cursor: &InstanceCursor| (cursor.started_at, cursor.id.to_string());
        let begin = after.map_or_else(|| before.clone(), |after| place(after).min(before.clone()));
        // One of each to begin with: of most of an owner's definitions, a page shows nothing.
        let first = if definitions.len() == 1 { CHUNK } else { 1 };
        let mut walks = vec![Vec::new(); definitions.len()];
        for (definition, instance) in self.chunk(&definitions, from, &begin, first).await? {
            if let Some(walk) = places.get(definition.as_str()) {
                walks[*walk].push(instance);
            }
        }
        let (mut merge, mut sieve) = (Merge::new(walks), Sieve::new(filter, limit));
        while let Some((instance, walk)) = merge.pop() {
            let cursor = instance.cursor();
            if merge.is_dry(walk) {
                let definition = std::slice::from_ref(&definitions[walk]);
                let more = self.chunk(definition, from, &place(&cursor), CHUNK).await?;
                merge.add(walk, more.into_iter().map(|(_, instance)| instance).collect());
            }
            if sieve.look(instance) {
                return Ok(sieve.page((!merge.is_over()).then_some(cursor)));
            }
        }
        Ok(sieve.page(None))
    }

    async fn instance(&self, id: &InstanceId) -> Result<Option<InstanceSummary>, StoreError> {
        let rows = self.database.query(LOOK, instances::SUMMARY, &[&id.as_str()]).await?;
        rows.first().map(|row| raw_instance(row).check()).transpose()
    }

    async fn payloads(&self, id: &InstanceId) -> Result<Option<Payloads>, StoreError> {
        let rows = self.database.query(LOOK, instances::PAYLOADS, &[&id.as_str()]).await?;
        rows.first().map(|row| payloads(id.as_str(), row.get(0), row.get(1))).transpose()
    }

    async fn overlay(&self, version: &Key) -> Result<Vec<OverlayCount>, StoreError> {
        let rows = self.database.query(LOOK, instances::OVERLAY, &[&version.0]).await?;
        let count = |row: &Row| overlay_count(version, (row.get(0), row.get(1), row.get(2)));
        let mut counts = rows.iter().map(count).collect::<Result<Vec<_>, _>>()?;
        counts.sort();
        Ok(counts)
    }

    async fn timeline(
        &self,
        id: &InstanceId,
        after: Option<&TimelineCursor>,
        limit: u16,
    ) -> Result<Page<TimelineEntry, TimelineCursor>, StoreError> {
        let (ulid, most) = (id.as_str(), i64::from(limit) + 1);
        let at = system_time(after.map_or(Timestamp::UNIX_EPOCH, |after| after.at));
        // Of the cursor's own moment: steps after a step; after a wait no steps, and the waits after it.
        let after_step = after.filter(|after| after.is_step).map(|after| after.row.0.as_str());
        let after_wait = after.filter(|after| !after.is_step).map(|after| after.row.0.as_str());
        let params: Params<'_, 5> = [&ulid, &at, &false, &after_step, &most];
        let steps = self.database.query(LOOK, step_runs::TIMELINE, &params).await?;
        let whole = after_step.is_some();
        let params: Params<'_, 5> = [&ulid, &at, &whole, &after_wait, &most];
        let waits = self.database.query(LOOK, waits::TIMELINE, &params).await?;
        let steps = steps.iter().map(|row| raw_step(row).check(ulid));
        let entries = steps.chain(waits.iter().map(|row| raw_wait(row).check(ulid)));
        let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(TimelineEntry::rank);
        Ok(Page::cut(entries, limit, TimelineEntry::cursor))
    }
}

impl WorkflowPostgres {
    /// Up to `count` instances of each definition, with the definition, newest first, from after a place on.
    async fn chunk(
        &self,
        definitions: &[String],
        from: Timestamp,
        after: &(Timestamp, String),
        count: u16,
    ) -> Result<Vec<(String, InstanceSummary)>, StoreError> {
        let (from, at, count) = (system_time(from), system_time(after.0), i64::from(count));
        let params: Params<'_, 5> = [&definitions, &from, &at, &after.1, &count];
        let rows = self.database.query(LOOK, instances::LIST, &params).await?;
        rows.iter().map(|row| Ok((row.get(24), raw_instance(row).check()?))).collect()
    }
}

fn at(row: &Row, column: usize) -> RawTime {
    RawTime::Time(row.get::<_, SystemTime>(column))
}

fn raw_definition(row: &Row) -> DefinitionView {
    DefinitionView {
        id: row.get(0),
        key: row.get(1),
        name: row.get(2),
        status: row.get(3),
        current: (row.get(4), row.get(5), row.get(6)),
        updated_at: at(row, 7),
    }
}

fn raw_version(row: &Row) -> VersionView {
    VersionView {
        id: row.get(0),
        number: row.get(1),
        status: row.get(2),
        checksum: row.get(3),
        actor_mode: row.get(4),
        trigger: (row.get(5), row.get(6)),
        published_at: time(row, 7),
        publisher: (row.get(8), row.get(9)),
    }
}

fn raw_instance(row: &Row) -> InstanceView {
    InstanceView {
        ulid: row.get(0),
        owner: (row.get(1), row.get(2)),
        definition: row.get(3),
        version: (row.get(4), row.get(5)),
        status: row.get(6),
        current_node: row.get(7),
        steps_count: row.get(8),
        depth: row.get(9),
        trigger: (row.get(10), row.get(11)),
        starter: (row.get(12), row.get(13)),
        subject: Subject { key: row.get(14), kind: row.get(15), id: row.get(16) },
        failure: (row.get(17), row.get(18), row.get(19)),
        created_at: at(row, 20),
        ended_at: time(row, 21),
        updated_at: at(row, 22),
        lock_version: row.get(23),
    }
}

fn raw_step(row: &Row) -> EntryView<StepView> {
    let what = StepView {
        node_type: row.get(4),
        status: row.get(5),
        outcome: row.get(6),
        error: (row.get(7), row.get(8), row.get(9)),
        times: [time(row, 10), time(row, 11), time(row, 12)],
    };
    EntryView { id: row.get(0), step: (row.get(1), row.get(2), row.get(3)), created_at: at(row, 13), what }
}

fn raw_wait(row: &Row) -> EntryView<WaitView> {
    let what = WaitView {
        kind: row.get(4),
        event_key: row.get(5),
        due_at: time(row, 6),
        status: row.get(7),
        fired_at: time(row, 8),
        payload: row.get(10),
    };
    EntryView { id: row.get(0), step: (row.get(1), row.get(2), row.get(3)), created_at: at(row, 9), what }
}

//! What people look at, on `SQLite`.

use async_trait::async_trait;
use heddle_workflow::{InstanceId, Subject};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params};

use super::WorkflowSqlite;
use super::codec::{key_text, key_value, row_key};
use super::turns::read::all;
use crate::StoreError;
use crate::row::time_text;
use crate::workflows::raw::{
    DefinitionView, EntryView, InstanceView, RawTime, StepView, VersionView, WaitView, overlay_count,
    payloads,
};
use crate::workflows::reading::{CHUNK, Merge, Sieve};
use crate::workflows::sql::definitions::sqlite as definitions;
use crate::workflows::sql::instances::sqlite as instances;
use crate::workflows::sql::step_runs::sqlite as step_runs;
use crate::workflows::sql::versions::sqlite as versions;
use crate::workflows::sql::waits::sqlite as waits;
use crate::workflows::tables::Tables;
use crate::workflows::{
    DefinitionSummary, InstanceCursor, InstanceFilter, InstanceSummary, Key, MOST_MERGED, OverlayCount, Page,
    Payloads, Reading, TimelineCursor, TimelineEntry, VersionSummary, owner_scope,
};

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
            let definitions = rows.into_iter().map(DefinitionView::check).collect::<Result<_, _>>()?;
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
            rows.into_iter().next().map(DefinitionView::check).transpose()
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
            let versions = rows.into_iter().map(VersionView::check).collect::<Result<_, _>>()?;
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
            rows.into_iter().next().map(InstanceView::check).transpose()
        })
        .await
    }

    async fn payloads(&self, id: &InstanceId) -> Result<Option<Payloads>, StoreError> {
        let id = id.to_string();
        self.read(move |connection, tables| {
            let raw = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let rows = all(connection, tables, instances::PAYLOADS, params![id], raw)?;
            rows.into_iter().next().map(|(trigger, output)| payloads(&id, trigger, output)).transpose()
        })
        .await
    }

    async fn overlay(&self, version: &Key) -> Result<Vec<OverlayCount>, StoreError> {
        let version = version.clone();
        self.read(move |connection, tables| {
            let keys = tables.schema.keys();
            let id = key_value("workflow_versions", "id", keys.primary, &version.0)?;
            let raw = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            let rows = all(connection, tables, instances::OVERLAY, params![id], raw)?;
            let counts = rows.into_iter().map(|row| overlay_count(&version, row));
            let mut counts = counts.collect::<Result<Vec<_>, _>>()?;
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

/// Merges an owner's definitions.
fn list(
    connection: &Connection,
    tables: &Tables,
    filter: &InstanceFilter,
    after: Option<&InstanceCursor>,
    limit: u16,
) -> Result<Page<InstanceSummary, InstanceCursor>, StoreError> {
    let params = params![owner_scope(filter.owner.as_ref()), filter.definition, MOST_MERGED];
    let definitions: Vec<Value> = all(connection, tables, definitions::IDS, params, |row| row.get(0))?;
    let from = filter.started_from.map_or_else(String::new, time_text);
    let read = |definition: &Value, after: (String, String), count: u16| {
        let params = params![definition, from, after.0, after.1, count];
        let rows = all(connection, tables, instances::LIST, params, raw_instance)?;
        rows.into_iter().map(InstanceView::check).collect::<Result<Vec<_>, _>>()
    };
    let before = (time_text(filter.started_before.unwrap_or(Timestamp::MAX)), String::new());
    let begin = after.map_or_else(|| before.clone(), |after| place(after).min(before.clone()));
    // One of each to begin with: of most of an owner's definitions, a page shows nothing.
    let first = if definitions.len() == 1 { CHUNK } else { 1 };
    let walks = definitions.iter().map(|definition| read(definition, begin.clone(), first));
    let mut merge = Merge::new(walks.collect::<Result<Vec<_>, _>>()?);
    let mut sieve = Sieve::new(filter, limit);
    while let Some((instance, walk)) = merge.pop() {
        let cursor = instance.cursor();
        if merge.is_dry(walk) {
            merge.add(walk, read(&definitions[walk], place(&cursor), CHUNK)?);
        }
        if sieve.look(instance) {
            return Ok(sieve.page((!merge.is_over()).then_some(cursor)));
        }
    }
    Ok(sieve.page(None))
}

/// A place in a list, as the columns have it.
fn place(cursor: &InstanceCursor) -> (String, String) {
    (time_text(cursor.started_at), cursor.id.to_string())
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

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<RawTime> {
    row.get(column).map(RawTime::Text)
}

fn maybe_time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<RawTime>> {
    Ok(row.get::<_, Option<String>>(column)?.map(RawTime::Text))
}

fn key(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    row.get(column).map(key_text)
}

fn raw_definition(row: &Row<'_>) -> rusqlite::Result<DefinitionView> {
    Ok(DefinitionView {
        id: row_key(row.get(0)?),
        key: row.get(1)?,
        name: row.get(2)?,
        status: row.get(3)?,
        current: (key(row, 4)?, row.get(5)?, row.get(6)?),
        updated_at: time(row, 7)?,
    })
}

fn raw_version(row: &Row<'_>) -> rusqlite::Result<VersionView> {
    Ok(VersionView {
        id: row_key(row.get(0)?),
        number: row.get(1)?,
        status: row.get(2)?,
        checksum: row.get(3)?,
        actor_mode: row.get(4)?,
        trigger: (row.get(5)?, row.get(6)?),
        published_at: maybe_time(row, 7)?,
        publisher: (row.get(8)?, key(row, 9)?),
    })
}

fn raw_instance(row: &Row<'_>) -> rusqlite::Result<InstanceView> {
    Ok(InstanceView {
        ulid: row.get(0)?,
        owner: (row.get(1)?, key(row, 2)?),
        definition: row.get(3)?,
        version: (row_key(row.get(4)?), row.get(5)?),
        status: row.get(6)?,
        current_node: row.get(7)?,
        steps_count: row.get(8)?,
        depth: row.get(9)?,
        trigger: (row.get(10)?, row.get(11)?),
        starter: (row.get(12)?, key(row, 13)?),
        subject: Subject { key: row.get(14)?, kind: row.get(15)?, id: key(row, 16)? },
        failure: (row.get(17)?, row.get(18)?, row.get(19)?),
        created_at: time(row, 20)?,
        ended_at: maybe_time(row, 21)?,
        updated_at: time(row, 22)?,
        lock_version: row.get(23)?,
    })
}

fn raw_step(row: &Row<'_>) -> rusqlite::Result<EntryView<StepView>> {
    let what = StepView {
        node_type: row.get(4)?,
        status: row.get(5)?,
        outcome: row.get(6)?,
        error: (row.get(7)?, row.get(8)?, row.get(9)?),
        times: [maybe_time(row, 10)?, maybe_time(row, 11)?, maybe_time(row, 12)?],
    };
    let step = (row.get(1)?, row.get(2)?, row.get(3)?);
    Ok(EntryView { id: row_key(row.get(0)?), step, created_at: time(row, 13)?, what })
}

fn raw_wait(row: &Row<'_>) -> rusqlite::Result<EntryView<WaitView>> {
    let what = WaitView {
        kind: row.get(4)?,
        event_key: row.get(5)?,
        due_at: maybe_time(row, 6)?,
        status: row.get(7)?,
        fired_at: maybe_time(row, 8)?,
        payload: row.get(10)?,
    };
    let step = (row.get(1)?, row.get(2)?, row.get(3)?);
    Ok(EntryView { id: row_key(row.get(0)?), step, created_at: time(row, 9)?, what })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflows::{Dialect, Schema};

    /// proves W29: every query that people's looking makes has its index, and none goes through a table.
    #[test]
    fn reading_goes_by_indexes() {
        let schema = Schema::default();
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&schema.migration(Dialect::Sqlite)).unwrap();
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
            let explain = format!("EXPLAIN QUERY PLAN {}", schema.render(statement, Dialect::Sqlite));
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

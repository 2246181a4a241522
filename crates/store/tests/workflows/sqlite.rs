//! What holds on `SQLite` alone, and the suite on it.

use std::path::Path;
use std::sync::Arc;

use heddle_store::StoreError;
use heddle_store::workflows::{
    Happening, InstanceFilter, KeyType, MOST_LOOKED_AT, Morph, NewVersion, Schema, WorkflowSqlite,
    WorkflowStore,
};
use heddle_workflow::Status;
use rusqlite::Connection;

use crate::suite::{self, at, version};
use crate::{keyed, race_for_a_step, renamed, schemas};

pub fn store(folder: &Path, schema: Schema) -> WorkflowStore {
    let path = folder.join("workflows.sqlite");
    WorkflowSqlite::install(&path, &schema).unwrap();
    WorkflowStore::of(Arc::new(WorkflowSqlite::open(&path, schema).unwrap()))
}

/// proves W1, W2
#[tokio::test]
async fn sqlite_conforms() {
    for schema in schemas() {
        let folder = tempfile::tempdir().unwrap();
        let keys = schema.keys();
        suite::conforms(&store(folder.path(), schema), keys).await;
    }
}

/// proves W5, W6: what is published is frozen in the database too, and an instance's version never changes.
#[tokio::test]
async fn what_is_published_is_frozen() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path(), Schema::default());
    store.publishing.publish(&version("a"), at(0)).await.unwrap();
    let id = suite::id(1);
    let published = suite::current(&store, "a").await.unwrap();
    suite::start(&store, &published, &id, None, at(1)).await.unwrap();
    let rows = Connection::open(folder.path().join("workflows.sqlite")).unwrap();
    for column in
        ["graph", "\"trigger\"", "settings", "checksum", "actor_mode", "publisher_id", "published_at"]
    {
        let error = rows.execute(&format!("UPDATE workflow_versions SET {column} = NULL"), []).unwrap_err();
        assert!(error.to_string().contains("frozen"), "{column}: {error}");
    }
    rows.execute("UPDATE workflow_versions SET schedule_cursor_at = 'x'", []).unwrap();
    assert!(rows.execute("UPDATE workflow_instances SET version_id = 2", []).is_err());
    assert!(rows.execute("DELETE FROM workflow_definitions", []).is_err(), "restrict");
}

/// proves W5, W6, W9, W29: each query that runs all day long has its index.
#[tokio::test]
async fn queries_have_their_index() {
    let folder = tempfile::tempdir().unwrap();
    drop(store(folder.path(), Schema::default()));
    let rows = Connection::open(folder.path().join("workflows.sqlite")).unwrap();
    for (query, index) in [
        (
            "SELECT status, current_node_id, count(*) FROM workflow_instances WHERE version_id = 1 GROUP BY 1, 2",
            "winst_overlay_idx",
        ),
        (
            "SELECT count(*) FROM workflow_instances WHERE definition_id = 1 AND created_at > 'x'",
            "winst_rate_idx",
        ),
        (
            "SELECT id FROM workflow_instances WHERE status = 'running' AND updated_at < 'x'",
            "winst_status_idx",
        ),
        (
            "SELECT id FROM workflow_versions WHERE status = 'published' AND trigger_type = 'event' AND trigger_key = 'k'",
            "wver_trigger_idx",
        ),
        ("SELECT id FROM workflow_escalations WHERE status = 'pending' AND due_at < 'x'", "wesc_due_idx"),
    ] {
        let plan: Vec<String> = rows
            .prepare(&format!("EXPLAIN QUERY PLAN {query}"))
            .unwrap()
            .query_map([], |row| row.get(3))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert!(plan[0].contains(index), "{query}: {plan:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_race_for_a_step_has_one_winner() {
    let folder = tempfile::tempdir().unwrap();
    let first = store(folder.path(), Schema::default());
    let path = folder.path().join("workflows.sqlite");
    let other = WorkflowStore::of(Arc::new(WorkflowSqlite::open(&path, Schema::default()).unwrap()));
    race_for_a_step(first, other).await;
}

/// proves W1, W2: a file without the tables, or with other ones, is refused, and nothing is made in it.
#[test]
fn a_file_without_the_tables_is_refused() {
    use KeyType::{Bigint, Ulid};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workflows.sqlite");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE other (id INTEGER)").unwrap();
    let refused = |schema: Schema| WorkflowSqlite::open(&path, schema).err().unwrap().to_string();
    assert!(refused(Schema::default()).contains("apply the migrations"));
    let tables: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .unwrap();
    assert_eq!(tables, 1);
    WorkflowSqlite::install(&path, &Schema::default()).unwrap();
    assert!(refused(renamed()).contains("apply the migrations"));
    for schema in [
        keyed(Ulid, Bigint, Bigint, Bigint),
        keyed(Bigint, Ulid, Bigint, Bigint),
        keyed(Bigint, Bigint, Ulid, Bigint),
        keyed(Bigint, Bigint, Bigint, Ulid),
    ] {
        assert!(refused(schema).contains("key types"));
    }
    assert!(WorkflowSqlite::open(&path, Schema::default()).is_ok());
    // Of other names too, since the indexes have no others.
    for schema in [Schema::default(), keyed(Ulid, Bigint, Bigint, Bigint), renamed()] {
        let again = WorkflowSqlite::install(&path, &schema);
        assert!(matches!(again, Err(StoreError::Installed)), "made once: {again:?}");
    }
}

/// proves W2: an owner's key has to be of the owner's type.
#[tokio::test]
async fn a_key_of_another_type_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path(), Schema::default());
    let owner = Some(Morph { kind: "team".to_owned(), id: "seven".to_owned() });
    assert!(store.publishing.publish(&NewVersion { owner, ..version("a") }, at(0)).await.is_err());
}

/// proves W29: a list that finds nothing among very many says so a piece at a time.
#[tokio::test]
async fn a_list_looks_at_so_many_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path(), Schema::default());
    let published = store.publishing.publish(&version("a"), at(0)).await.unwrap();
    suite::start(&store, &published, &suite::id(1), None, at(0)).await.unwrap();
    let rows = Connection::open(folder.path().join("workflows.sqlite")).unwrap();
    let columns = "definition_id, version_id, status, actor_mode, created_at";
    let more = MOST_LOOKED_AT + 5;
    rows.execute_batch(&format!(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {more}) \
         INSERT INTO workflow_instances (ulid, updated_at, {columns}) \
         SELECT '01ARZ3NDEKTSV4RRFG' || printf('%08d', n), created_at, {columns} FROM n, workflow_instances"
    ))
    .unwrap();
    rows.execute("UPDATE workflow_instances SET status = 'paused' WHERE id = 1", []).unwrap();
    let filter = InstanceFilter { statuses: [Status::Paused].into(), ..InstanceFilter::of(None) };
    let first = store.reading.instances(&filter, None, 10).await.unwrap();
    assert_eq!((first.items.len(), first.next.is_some()), (0, true));
    let second = store.reading.instances(&filter, first.next.as_ref(), 10).await.unwrap();
    assert_eq!((second.items[0].id.clone(), second.next), (suite::id(1), None));
}

/// proves W31: who did what is part of an instance's life, as its row says it.
#[tokio::test]
async fn commands_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path(), Schema::default());
    let published = store.publishing.publish(&version("a"), at(0)).await.unwrap();
    suite::start(&store, &published, &suite::id(1), None, at(0)).await.unwrap();
    let rows = Connection::open(folder.path().join("workflows.sqlite")).unwrap();
    let by = r#"{"by": {"type": "user", "id": "7"}, "key": "reply"}"#;
    rows.execute(
        "INSERT INTO workflow_waits (instance_id, step_run_id, kind, event_key, payload, status, created_at, \
         updated_at) SELECT instance_id, id, 'command', 'signal', ?1, 'fired', '2030-01-01T00:00:00.000000Z', '' \
         FROM workflow_step_runs WHERE node_id = 'work'",
        [by],
    )
    .unwrap();
    let life = store.reading.timeline(&suite::id(1), None, 10).await.unwrap();
    let by = Some(Morph { kind: "user".to_owned(), id: "7".to_owned() });
    let (name, event_key) = ("signal".to_owned(), Some("reply".to_owned()));
    let command = Happening::Command { name, by, event_key, outcome: None };
    assert_eq!(life.items.last().unwrap().what, command);
}

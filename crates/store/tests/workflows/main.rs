//! The workflow rows: one suite on every adapter and every type of key, and the adapters against each other.
#![allow(clippy::unwrap_used, reason = "tests")]

mod differential;
mod suite;

use std::path::Path;
use std::sync::Arc;

use heddle_store::workflows::{
    Happening, InstanceFilter, KeyType, KeyTypes, MOST_LOOKED_AT, Morph, NewVersion, Schema, TableNames,
    WorkflowMemory, WorkflowSqlite, WorkflowStore,
};
use heddle_workflow::Status;
use proptest::prelude::*;
use rusqlite::Connection;
use suite::{at, version};
use tokio::runtime::Builder;

fn memory() -> WorkflowStore {
    WorkflowStore::of(Arc::new(WorkflowMemory::new()))
}

fn sqlite(folder: &Path, schema: Schema) -> WorkflowStore {
    let path = folder.join("workflows.sqlite");
    WorkflowSqlite::install(&path, &schema).unwrap();
    WorkflowStore::of(Arc::new(WorkflowSqlite::open(&path, schema).unwrap()))
}

fn keyed(primary: KeyType, owner: KeyType, subject: KeyType, morph: KeyType) -> Schema {
    Schema::new(TableNames::default(), KeyTypes { primary, owner, subject, morph }).unwrap()
}

fn renamed() -> Schema {
    let tables = TableNames {
        definitions: "flows".to_owned(),
        step_runs: "flow_steps".to_owned(),
        ..TableNames::default()
    };
    Schema::new(tables, KeyTypes::default()).unwrap()
}

#[tokio::test]
async fn memory_conforms() {
    suite::conforms(&memory(), KeyTypes::default()).await;
}

/// proves W1, W2: every type of primary key with every other type, and other names of tables, through one suite.
#[tokio::test]
async fn sqlite_conforms() {
    use KeyType::{Bigint, Ulid, Uuid};
    for schema in [
        keyed(Bigint, Bigint, Uuid, Ulid),
        keyed(Bigint, Ulid, Bigint, Uuid),
        keyed(Uuid, Uuid, Ulid, Bigint),
        keyed(Uuid, Bigint, Bigint, Bigint),
        keyed(Ulid, Ulid, Ulid, Ulid),
        keyed(Ulid, Uuid, Bigint, Bigint),
        renamed(),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let keys = schema.keys();
        suite::conforms(&sqlite(folder.path(), schema), keys).await;
    }
}

/// proves W1: names that are none, or none of their own, are refused.
#[test]
fn table_names_are_checked() {
    for bad in ["", "Flows", "1flows", "flows; drop table x", "workflow_waits", &"x".repeat(49)] {
        let tables = TableNames { definitions: bad.to_owned(), ..TableNames::default() };
        assert!(Schema::new(tables, KeyTypes::default()).is_err(), "{bad:?}");
    }
}

/// proves W5, W6: what is published is frozen in the database too, and an instance's version never changes.
#[tokio::test]
async fn what_is_published_is_frozen() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path(), Schema::default());
    store.publishing.publish(&version("a"), at(0)).await.unwrap();
    let id = suite::id(1);
    let published = store.publishing.current("*", "a").await.unwrap().unwrap();
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

/// proves W3, W29: each query that runs all day long has its index.
#[tokio::test]
async fn queries_have_their_index() {
    let folder = tempfile::tempdir().unwrap();
    drop(sqlite(folder.path(), Schema::default()));
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

/// proves W29: a list that finds nothing among very many says so a piece at a time.
#[tokio::test]
async fn a_list_looks_at_so_many_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path(), Schema::default());
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
    let store = sqlite(folder.path(), Schema::default());
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

/// proves W2: a key is written one way, whichever database keeps it.
#[test]
fn keys_are_known_by_their_type() {
    for (key_type, text, is_one) in [
        (KeyType::Bigint, "-7", true),
        (KeyType::Bigint, "007", false),
        (KeyType::Bigint, "ann", false),
        (KeyType::Uuid, "0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6", true),
        (KeyType::Uuid, "0192F0C1-2B3C-7D4E-8F90-A1B2C3D4E5F6", false),
        (KeyType::Ulid, "01ARZ3NDEKTSV4RRFFQ69G5FAV", true),
        (KeyType::Ulid, "7", false),
    ] {
        assert_eq!(key_type.takes(text), is_one, "{key_type} {text}");
    }
}

/// proves W16: many at one time for one step: one gets it. Two stores on one file stand for two processes.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_race_for_a_step_has_one_winner() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path(), Schema::default());
    let path = folder.path().join("workflows.sqlite");
    let other = WorkflowStore::of(Arc::new(WorkflowSqlite::open(&path, Schema::default()).unwrap()));
    let published = store.publishing.publish(&version("a"), at(0)).await.unwrap();
    for round in 1..=10 {
        suite::start(&store, &published, &suite::id(round), None, at(1)).await.unwrap();
        let racers: Vec<_> = (0..8)
            .map(|racer| {
                let store = if racer % 2 == 0 { store.clone() } else { other.clone() };
                let token = suite::token(round * 100 + racer);
                tokio::spawn(async move { store.work.claim(&[token], at(60), at(2)).await.unwrap().len() })
            })
            .collect();
        let mut winners = 0;
        for racer in racers {
            winners += racer.await.unwrap();
        }
        assert_eq!(winners, 1);
    }
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
    assert!(WorkflowSqlite::install(&path, &Schema::default()).is_err(), "made once");
}

/// proves W2: an owner's key has to be of the owner's type.
#[tokio::test]
async fn a_key_of_another_type_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path(), Schema::default());
    let owner = Some(Morph { kind: "team".to_owned(), id: "seven".to_owned() });
    assert!(store.publishing.publish(&NewVersion { owner, ..version("a") }, at(0)).await.is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// proves W6, W7, W8, W16: on SQLite and in memory the same calls have the same answers and leave the same rows.
    #[test]
    fn sqlite_and_memory_agree(calls in differential::calls(), primary in 0..3_usize) {
        let folder = tempfile::tempdir().unwrap();
        Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let schema = keyed(KeyType::ALL[primary], KeyType::Bigint, KeyType::Bigint, KeyType::Bigint);
            differential::agree(&memory(), &sqlite(folder.path(), schema), &calls).await;
        });
    }
}

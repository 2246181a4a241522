//! What lies in the file: idempotency keys, commands; and how many may start.

use std::sync::Arc;

use heddle_store::workflows::{Committed, Schema, Turn, WorkflowSqlite, WorkflowStore};
use heddle_workflow::{Actor, Command, Event};
use rusqlite::{Connection, Row};
use serde_json::json;

use crate::race_of_starts;
use crate::suite::{at, commit, id, load, plan, start, version};

type KeyRow = (String, String, Option<i64>, Option<i64>, Option<String>, Option<String>);

fn rows(connection: &Connection) -> Vec<KeyRow> {
    let read =
        |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?));
    connection
        .prepare("SELECT scope, key, definition_id, instance_id, result, expires_at FROM workflow_idempotency_keys ORDER BY id")
        .unwrap()
        .query_map([], read)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

/// proves W10: one row for each scope and digest; start keys expire, and effect keys never do; both go with their
/// instance, and a definition that goes leaves them behind.
#[tokio::test]
async fn idempotency_keys_are_rows_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workflows.sqlite");
    WorkflowSqlite::install(&path, &Schema::default()).unwrap();
    let store = WorkflowStore::of(Arc::new(WorkflowSqlite::open(&path, Schema::default()).unwrap()));
    let published = store.publishing.publish(&version("flow"), at(0)).await.unwrap();
    let digest = "a".repeat(64);
    start(&store, &published, &id(1), Some(("a", at(100))), at(0)).await.unwrap();
    start(&store, &published, &id(2), None, at(0)).await.unwrap();
    // The same digest in the other scope is another key.
    store.effects.keep_effect(&id(1), &digest, &json!(1), at(1)).await.unwrap();
    store.effects.keep_effect(&id(2), &"b".repeat(64), &json!({"n": 2}), at(1)).await.unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "foreign_keys", true).unwrap();
    let digests = |letter: &str| letter.repeat(64);
    let until = Some("2027-01-15T08:01:40.000000Z".to_owned());
    let kept = [
        ("start".to_owned(), digests("a"), Some(1), Some(1), None, until),
        ("effect".to_owned(), digests("a"), Some(1), Some(1), Some("1".to_owned()), None),
        ("effect".to_owned(), digests("b"), Some(1), Some(2), Some("{\"n\":2}".to_owned()), None),
    ];
    assert_eq!(rows(&connection), kept);
    for (column, value) in [("key", "'too short'"), ("scope", "'other'")] {
        let change = format!("UPDATE workflow_idempotency_keys SET {column} = {value}");
        assert!(connection.execute(&change, []).unwrap_err().to_string().contains("CHECK"), "{column}");
    }
    let twice = "INSERT INTO workflow_idempotency_keys (scope, key, created_at) \
                 SELECT scope, key, created_at FROM workflow_idempotency_keys LIMIT 1";
    assert!(connection.execute(twice, []).unwrap_err().to_string().contains("UNIQUE"));
    // A start key whose time has passed is taken over, not doubled.
    start(&store, &published, &id(3), Some(("a", at(300))), at(100)).await.unwrap();
    let starts: Vec<_> = rows(&connection).into_iter().filter(|row| row.0 == "start").collect();
    assert_eq!(starts.len(), 1);
    assert_eq!(starts[0].3, Some(3));

    connection.execute("DELETE FROM workflow_instances WHERE id = 2", []).unwrap();
    assert!(rows(&connection).iter().all(|row| row.1 != digests("b")), "it went with its instance");
    // A definition can go when nothing runs it any longer; a key without an instance stays.
    connection
        .execute("UPDATE workflow_idempotency_keys SET instance_id = NULL WHERE scope = 'start'", [])
        .unwrap();
    for table in ["instances", "versions", "definitions"] {
        connection.execute(&format!("DELETE FROM workflow_{table}"), []).unwrap();
    }
    let left: Vec<_> = rows(&connection).into_iter().map(|row| (row.0, row.2, row.3)).collect();
    assert_eq!(left, [("start".to_owned(), None, None)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_race_of_starts_keeps_the_rate() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workflows.sqlite");
    WorkflowSqlite::install(&path, &Schema::default()).unwrap();
    let open = || WorkflowStore::of(Arc::new(WorkflowSqlite::open(&path, Schema::default()).unwrap()));
    race_of_starts([open(), open()]).await;
}

/// proves W3, W31: what was done by command lies in the file in the order in which it was done.
#[tokio::test]
async fn commands_lie_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workflows.sqlite");
    WorkflowSqlite::install(&path, &Schema::default()).unwrap();
    let store = WorkflowStore::of(Arc::new(WorkflowSqlite::open(&path, Schema::default()).unwrap()));
    let published = store.publishing.publish(&version("flow"), at(0)).await.unwrap();
    start(&store, &published, &id(1), None, at(0)).await.unwrap();
    for (second, command) in [(1, Command::Pause), (2, Command::Cancel)] {
        let by = Actor::Named { kind: "user".to_owned(), id: "7".to_owned() };
        let event = Event::Command { command, by, expected: None };
        let turn = Turn { new: None, plan: plan(&store, &id(1), &event, at(second)).await };
        assert_eq!(commit(&store, turn).await, Committed::Done);
    }
    assert_eq!(load(&store, &id(1)).await.rows.waits.len(), 3, "and the instance's time");
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let lie: Vec<(String, String, String, String)> = Connection::open(&path)
        .unwrap()
        .prepare(
            "SELECT event_key, status, payload, fired_at FROM workflow_waits WHERE kind = 'command' ORDER BY fired_at",
        )
        .unwrap()
        .query_map([], read)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let by = r#"{"by":{"id":"7","type":"user"}}"#;
    let row = |name: &str, second: u8| {
        (name.to_owned(), "fired".to_owned(), by.to_owned(), format!("2027-01-15T08:00:0{second}.000000Z"))
    };
    assert_eq!(lie, [row("pause", 1), row("cancel", 2)]);
}

//! The suite on every adapter, and the adapters against each other.
#![allow(clippy::unwrap_used, reason = "tests")]

mod suite;

use std::path::Path;
use std::sync::Arc;

use heddle_generation::{Command, Edge};
use heddle_store::{
    CreateError, MemoryStore, Migrated, PageRequest, RunFilter, SqliteStore, Store, StoreError, Transition,
    migrate,
};
use proptest::prelude::*;
use suite::{ONE, at, opening, request, sub};
use tokio::runtime::Builder;

fn memory() -> Store {
    Store::of(Arc::new(MemoryStore::new()))
}

fn sqlite(folder: &Path) -> Store {
    let path = folder.join("rows.sqlite");
    migrate(&path, at(0)).unwrap();
    Store::of(Arc::new(SqliteStore::open(&path).unwrap()))
}

#[tokio::test]
async fn memory_conforms() {
    suite::conforms(&memory()).await;
}

#[tokio::test]
async fn sqlite_conforms() {
    let folder = tempfile::tempdir().unwrap();
    suite::conforms(&sqlite(folder.path())).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// proves G2, G4, G6, G13: on SQLite and in memory the same calls have the same answers, and the rules hold.
    #[test]
    fn sqlite_and_memory_agree(calls in suite::differential::calls()) {
        let folder = tempfile::tempdir().unwrap();
        Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let (left, right) = (sqlite(folder.path()), memory());
            suite::seed(&left).await;
            suite::seed(&right).await;
            suite::differential::agree(&left, &right, &calls).await;
        });
    }
}

/// proves G2: of many triggers at one time for one node, exactly one gets through, and the others learn its id.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_race_for_the_fence_has_one_winner() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    // A second store on the same file stands for another process.
    let other = Store::of(Arc::new(SqliteStore::open(&folder.path().join("rows.sqlite")).unwrap()));
    suite::seed(&store).await;
    let racers: Vec<_> = (1..=32_u128)
        .map(|number| {
            let store = if number % 2 == 0 { store.clone() } else { other.clone() };
            tokio::spawn(async move {
                let opening = opening(request(Edge::Des2wf, 10, "race", "1:1"), number, 0);
                (opening.run.id, store.runs.create(&opening).await)
            })
        })
        .collect();
    let (mut winners, mut told) = (Vec::new(), Vec::new());
    for racer in racers {
        match racer.await.unwrap() {
            (id, Ok(_)) => winners.push(id),
            (_, Err(CreateError::AlreadyLive { id })) => told.push(id),
            (_, Err(error)) => panic!("{error}"),
        }
    }
    assert_eq!((winners.len(), told.len()), (1, 31));
    assert!(told.iter().all(|id| *id == winners[0]));
    assert_eq!(store.outbox.pending(None, 100).await.unwrap().len(), 1);
}

/// proves G6: of many words at one time about one run, exactly one is applied.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_race_to_end_a_run_has_one_winner() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    suite::seed(&store).await;
    let opening = opening(request(Edge::Des2wf, 10, "race", "1:1"), 1, 0);
    store.runs.create(&opening).await.unwrap();
    let racers: Vec<_> = (0..24)
        .map(|racer| {
            let (store, id) = (store.clone(), opening.run.id);
            let command = if racer % 3 == 0 { Command::Cancel } else { suite::done(None, 1) };
            tokio::spawn(async move { store.runs.transition(ONE, id, &command, &sub("bo"), at(1)).await })
        })
        .collect();
    let mut applied = 0;
    for racer in racers {
        if let Ok(Transition::Applied(_)) = racer.await.unwrap() {
            applied += 1;
        }
    }
    assert_eq!(applied, 1);
}

/// proves G5: a row and its message survive the end of the process together.
#[tokio::test]
async fn rows_outlive_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let opening = opening(request(Edge::Des2wf, 10, "kept", "1:1"), 1, 0);
    {
        let store = sqlite(folder.path());
        suite::seed(&store).await;
        store.runs.create(&opening).await.unwrap();
    }
    let store = sqlite(folder.path());
    assert_eq!(store.runs.get(ONE, opening.run.id).await.unwrap(), Some(opening.run));
    assert_eq!(store.outbox.pending(None, 10).await.unwrap().len(), 1);
}

/// A database of the first schema keeps its rows and pending messages when it is brought to this one.
#[tokio::test]
async fn an_older_database_is_brought_forward() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.sqlite");
    let (version, opening) = (1, opening(request(Edge::Des2wf, 10, "kept", "1:1"), 1, 0));
    {
        let older = rusqlite::Connection::open(&path).unwrap();
        older.execute_batch(include_str!("../migrations/sqlite/0001_runs.sql")).unwrap();
        let rest = "CREATE TABLE schema_version (version INTEGER PRIMARY KEY, name TEXT NOT NULL, \
                    applied_at TEXT NOT NULL) STRICT; INSERT INTO schema_version VALUES (1, 'runs', '')";
        older.execute_batch(rest).unwrap();
        older
            .execute_batch(
                "INSERT INTO organization VALUES (1, '', ''); INSERT INTO project VALUES (10, 1, '', ''); \
                 INSERT INTO \"user\" VALUES ('ann', '')",
            )
            .unwrap();
        let id = opening.run.id.to_string();
        let row = "INSERT INTO wf2des (id, organization_id, project_id, figma_file_key, wf_node_id, screen_id, \
                   trigger_surface, phase, edge, created_at, updated_at, created_by, updated_by) VALUES \
                   (?1, 1, 10, 'kept', '1:1', '1:1', '0', '0', '1', ?2, ?2, 'ann', 'ann')";
        older.execute(row, [&id, "2027-01-15T08:00:00.000000Z"]).unwrap();
        let message = "INSERT INTO outbox (run_id, body, created_at) VALUES (?1, '{}', '')";
        older.execute(message, [&id]).unwrap();
    }
    assert_eq!(migrate(&path, at(1)).unwrap().from, version);
    let store = Store::of(Arc::new(SqliteStore::open(&path).unwrap()));
    assert!(store.runs.get(ONE, opening.run.id).await.unwrap().is_some());
    let pending = store.outbox.pending(None, 10).await.unwrap();
    assert_eq!(pending.len(), 1);
    assert!(store.outbox.mark_dead(pending[0].id, "because", at(2)).await.unwrap());
    let reason: String = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("SELECT dead_reason FROM outbox", [], |row| row.get(0))
        .unwrap();
    assert_eq!(reason, "because");
}

#[tokio::test]
async fn migrations_go_forward_and_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.sqlite");
    assert!(matches!(SqliteStore::open(&path), Err(StoreError::Backend { .. })), "there is no file");
    rusqlite::Connection::open(&path).unwrap().execute_batch("VACUUM").unwrap();
    let refused = SqliteStore::open(&path).err().unwrap();
    assert!(matches!(refused, StoreError::Schema { found: 0, .. }), "{refused}");

    let first = migrate(&path, at(0)).unwrap();
    assert_eq!(first.from, 0);
    assert_eq!(migrate(&path, at(1)).unwrap(), Migrated { from: first.to, to: first.to });
    let store = Store::of(Arc::new(SqliteStore::open(&path).unwrap()));
    let page = PageRequest { after: None, limit: 1 };
    assert_eq!(store.runs.list(ONE, &RunFilter::default(), page).await.unwrap().runs, []);

    let later = rusqlite::Connection::open(&path).unwrap();
    later.execute("INSERT INTO schema_version VALUES (99, 'later', '')", []).unwrap();
    assert!(matches!(SqliteStore::open(&path), Err(StoreError::Schema { found: 99, .. })));
    assert!(matches!(migrate(&path, at(2)), Err(StoreError::Schema { found: 99, .. })));
}

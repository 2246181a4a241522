//! The workflow rows: one suite on every adapter and every type of key, and the adapters against each other.
#![allow(clippy::unwrap_used, reason = "tests")]

mod differential;
mod keys;
mod postgres;
mod sqlite;
mod suite;

use std::sync::Arc;

use heddle_store::workflows::{
    Committed, KeyType, KeyTypes, Schema, TableNames, WorkflowMemory, WorkflowStore,
};
use heddle_workflow::StartRate;
use jiff::SignedDuration;
use proptest::prelude::*;
use suite::{at, version};
use tokio::runtime::Builder;

fn memory() -> WorkflowStore {
    WorkflowStore::of(Arc::new(WorkflowMemory::new()))
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

/// Every type of primary key with every other type, and other names of tables.
fn schemas() -> [Schema; 7] {
    use KeyType::{Bigint, Ulid, Uuid};
    [
        keyed(Bigint, Bigint, Uuid, Ulid),
        keyed(Bigint, Ulid, Bigint, Uuid),
        keyed(Uuid, Uuid, Ulid, Bigint),
        keyed(Uuid, Bigint, Bigint, Bigint),
        keyed(Ulid, Ulid, Ulid, Ulid),
        keyed(Ulid, Uuid, Bigint, Bigint),
        renamed(),
    ]
}

#[tokio::test]
async fn memory_conforms() {
    suite::conforms(&memory(), KeyTypes::default()).await;
}

/// proves W1: names that are none, or none of their own, are refused.
#[test]
fn table_names_are_checked() {
    for bad in ["", "Flows", "1flows", "flows; drop table x", "workflow_waits", &"x".repeat(49)] {
        let tables = TableNames { definitions: bad.to_owned(), ..TableNames::default() };
        assert!(Schema::new(tables, KeyTypes::default()).is_err(), "{bad:?}");
    }
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

/// proves W16: many at one time for one step: one gets it. Two stores on one database stand for two processes.
async fn race_for_a_step(store: WorkflowStore, other: WorkflowStore) {
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

/// proves W21, W29: two processes at one time start no more than the rate says, and one key has one instance, which those
/// get who come too late for the rate. Two stores on one database stand for the processes.
async fn race_of_starts(stores: [WorkflowStore; 2]) {
    let published = stores[0].publishing.publish(&version("flow"), at(0)).await.unwrap();
    let race = async |first: u32, count: u32, key: Option<&'static str>, second: i64| {
        let rate = StartRate { count, per: SignedDuration::from_secs(60) };
        let racers: Vec<_> = (0..24_u32)
            .map(|racer| {
                let store = stores[racer as usize % 2].clone();
                let now = at(second + i64::from(racer % 3));
                let key = key.map(|key| (key, at(second + 1_000)));
                let mut turn = suite::starting(&published, &suite::id(first + racer), key, now);
                turn.new.as_mut().unwrap().rate = Some(rate);
                tokio::spawn(async move { suite::commit(&store, turn).await })
            })
            .collect();
        let mut answers = Vec::new();
        for racer in racers {
            answers.push(racer.await.unwrap());
        }
        answers
    };
    let started = |answers: &[Committed]| answers.iter().filter(|it| **it == Committed::Done).count();
    let answers = race(0, 5, None, 0).await;
    assert_eq!(started(&answers), 5);
    assert_eq!(answers.iter().filter(|it| matches!(it, Committed::Limited { .. })).count(), 19);
    let answers = race(100, 1, Some("k"), 500).await;
    assert_eq!(started(&answers), 1);
    assert_eq!(answers.iter().filter(|it| matches!(it, Committed::Existing(_))).count(), 23, "{answers:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// proves W6, W7, W8, W16: on PostgreSQL, on SQLite and in memory the same calls have the same answers and leave the
    /// same rows.
    #[test]
    fn the_stores_agree(calls in differential::calls(), primary in 0..3_usize) {
        let folder = tempfile::tempdir().unwrap();
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            let schema = keyed(KeyType::ALL[primary], KeyType::Bigint, KeyType::Bigint, KeyType::Bigint);
            let stores = [
                memory(),
                sqlite::store(folder.path(), schema.clone()),
                postgres::store(schema).await,
            ];
            differential::agree(&stores, &calls).await;
        });
    }
}

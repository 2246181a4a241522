//! What holds on `PostgreSQL` alone, and the suite on it. `HEDDLE_TEST_POSTGRES` says where a server is in which tests
//! may make schemas; `cargo xtask test` starts one.

use std::sync::Arc;
use std::time::Duration;

use heddle_store::StoreError;
use heddle_store::workflows::{
    Committed, Key, KeyType, Morph, NewVersion, Probe, Schema, Turn, WorkflowPostgres, WorkflowStore,
};
use heddle_workflow::{Actor, Command, Event};
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

use crate::suite::{self, at, version};
use crate::{keyed, race_for_a_step, race_of_starts, renamed, schemas};

/// The connection string of a schema that nobody else has.
pub fn fresh() -> String {
    let server = std::env::var("HEDDLE_TEST_POSTGRES")
        .expect("HEDDLE_TEST_POSTGRES names a PostgreSQL server for tests: `cargo xtask test` starts one");
    format!("{server} options='-c search_path=test_{}'", Uuid::new_v4().simple())
}

pub async fn store(schema: Schema) -> WorkflowStore {
    opened(&fresh(), schema).await
}

async fn opened(url: &str, schema: Schema) -> WorkflowStore {
    WorkflowPostgres::install(url, &schema).await.unwrap();
    WorkflowStore::of(Arc::new(WorkflowPostgres::connect(url, schema).await.unwrap()))
}

/// A store of its own on tables that are there, as another process would have it.
async fn store_at(url: &str) -> WorkflowStore {
    WorkflowStore::of(Arc::new(WorkflowPostgres::connect(url, Schema::default()).await.unwrap()))
}

async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// proves W1, W2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_conforms() {
    for schema in schemas() {
        let keys = schema.keys();
        suite::conforms(&store(schema).await, keys).await;
    }
}

/// proves W5, W6: what is published is frozen in the database too, and an instance's version never changes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_published_is_frozen() {
    let url = fresh();
    let store = opened(&url, Schema::default()).await;
    let published = store.publishing.publish(&version("a"), at(0)).await.unwrap();
    suite::start(&store, &published, &suite::id(1), None, at(1)).await.unwrap();
    let rows = client(&url).await;
    for column in
        ["graph", "\"trigger\"", "settings", "checksum", "actor_mode", "publisher_id", "published_at"]
    {
        let error =
            rows.execute(&format!("UPDATE workflow_versions SET {column} = NULL"), &[]).await.unwrap_err();
        let message = error.as_db_error().unwrap().message();
        assert!(message.contains("frozen"), "{column}: {message}");
    }
    rows.execute("UPDATE workflow_versions SET schedule_cursor_at = now()", &[]).await.unwrap();
    assert!(rows.execute("UPDATE workflow_instances SET version_id = 2", &[]).await.is_err());
    assert!(rows.execute("DELETE FROM workflow_definitions", &[]).await.is_err(), "restrict");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_race_for_a_step_has_one_winner() {
    let url = fresh();
    let first = opened(&url, Schema::default()).await;
    race_for_a_step(first, store_at(&url).await).await;
}

/// proves W1, W2: a database without the tables, or with other ones, is refused, and nothing is made in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_without_the_tables_is_refused() {
    use KeyType::{Bigint, Ulid, Uuid};
    let url = fresh();
    let refused = async |schema: Schema| {
        WorkflowPostgres::connect(&url, schema).await.err().expect("refused").to_string()
    };
    assert!(refused(Schema::default()).await.contains("apply the migrations"));
    WorkflowPostgres::install(&url, &Schema::default()).await.unwrap();
    assert!(refused(renamed()).await.contains("apply the migrations"));
    for schema in [
        keyed(Ulid, Bigint, Bigint, Bigint),
        keyed(Uuid, Bigint, Bigint, Bigint),
        keyed(Bigint, Ulid, Bigint, Bigint),
        keyed(Bigint, Bigint, Uuid, Bigint),
        keyed(Bigint, Bigint, Bigint, Ulid),
    ] {
        assert!(refused(schema).await.contains("key types"));
    }
    assert!(WorkflowPostgres::connect(&url, Schema::default()).await.is_ok());
    for schema in [Schema::default(), keyed(Ulid, Bigint, Bigint, Bigint)] {
        let again = WorkflowPostgres::install(&url, &schema).await;
        assert!(matches!(again, Err(StoreError::Installed)), "made once: {again:?}");
    }
}

/// proves W2: an owner's key has to be of the owner's type.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_another_type_is_refused() {
    let store = store(Schema::default()).await;
    let owner = Some(Morph { kind: "team".to_owned(), id: "seven".to_owned() });
    assert!(store.publishing.publish(&NewVersion { owner, ..version("a") }, at(0)).await.is_err());
}

/// proves W17: connections that the server ends are made again, those for rows and the one for probes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_connections_are_made_again() {
    let url = format!("{} application_name=lost_{}", fresh(), Uuid::new_v4().simple());
    let (store, other) = (opened(&url, Schema::default()).await, store_at(&url).await);
    let published = store.publishing.publish(&version("a"), at(0)).await.unwrap();
    suite::start(&store, &published, &suite::id(1), None, at(1)).await.unwrap();
    let patience = Duration::from_secs(30);
    told(&store, &other).await;
    let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
         WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()";
    let ended: i64 = client(&url).await.query_one(others, &[]).await.unwrap().get(0);
    assert!(ended >= 4, "two for rows, two for probes: {ended}");
    let again = async {
        // What is under way when a connection ends fails.
        while store.turns.load(&suite::id(1)).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(patience, again).await.unwrap();
    suite::start(&store, &published, &suite::id(2), None, at(1)).await.unwrap();
    tokio::time::timeout(patience, told(&store, &other)).await.unwrap();
}

/// Comes back when one store has heard the other.
async fn told(teller: &WorkflowStore, listener: &WorkflowStore) {
    let watch = listener.probes.watch(&suite::id(9));
    loop {
        teller.probes.push(Probe::Ended(suite::id(9)));
        if tokio::time::timeout(Duration::from_millis(50), watch.told()).await.is_ok() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_race_of_starts_keeps_the_rate() {
    let url = fresh();
    race_of_starts([opened(&url, Schema::default()).await, store_at(&url).await]).await;
}

/// proves W16: what the database refuses of one turn spoils no other in its commit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_the_database_refuses_spoils_no_other() {
    let store = store(Schema::default()).await;
    let published = store.publishing.publish(&version("a"), at(0)).await.unwrap();
    let mut unfit = suite::starting(&published, &suite::id(2), None, at(0));
    unfit.new.as_mut().unwrap().version = Key("999".to_owned());
    let [first, last] = [1, 3].map(|number| suite::starting(&published, &suite::id(number), None, at(0)));
    let answers = store.turns.commit(vec![first, unfit, last]).await.unwrap();
    assert!(
        matches!(answers[..], [Ok(Committed::Done), Err(StoreError::Backend { .. }), Ok(Committed::Done)]),
        "{answers:?}"
    );
    assert_eq!(store.turns.load(&suite::id(2)).await.unwrap(), None);
}

/// proves W16: whoever holds a row and doesn't let go of it is waited for by nobody but its own turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_is_held_is_in_nobodys_way() {
    let url = fresh();
    let store = opened(&url, Schema::default()).await;
    let published = store.publishing.publish(&version("a"), at(0)).await.unwrap();
    for number in [1, 2] {
        suite::start(&store, &published, &suite::id(number), None, at(0)).await.unwrap();
    }
    let other = client(&url).await;
    let hold = "BEGIN; UPDATE workflow_instances SET updated_at = updated_at WHERE id = 1";
    other.batch_execute(hold).await.unwrap();
    let pause = Event::Command { command: Command::Pause, by: Actor::System, expected: None };
    let mut turns = vec![suite::starting(&published, &suite::id(3), None, at(1))];
    for number in [1, 2] {
        turns.push(Turn { new: None, plan: suite::plan(&store, &suite::id(number), &pause, at(1)).await });
    }
    let answers = store.turns.commit(turns.clone()).await.unwrap();
    assert!(
        matches!(answers[..], [Ok(Committed::Done), Ok(Committed::Conflict), Ok(Committed::Done)]),
        "{answers:?}"
    );
    other.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(suite::commit(&store, turns.swap_remove(1)).await, Committed::Done);
}

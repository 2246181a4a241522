//! Every statement that runs all day long finds its rows by an index, with 100,000 of them there.

use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

use super::WorkflowPostgres;
use super::connections::SETTINGS;
use crate::workflows::sql::definitions::postgres as definitions;
use crate::workflows::sql::idempotency_keys::postgres as idempotency_keys;
use crate::workflows::sql::instances::postgres as instances;
use crate::workflows::sql::step_runs::postgres as step_runs;
use crate::workflows::sql::versions::postgres as versions;
use crate::workflows::sql::waits::postgres as waits;
use crate::workflows::{Dialect, Schema};

/// 20,000 instances, most of them over; 100,000 step runs, most of them over; waits.
const ROWS: &str = "
INSERT INTO workflow_definitions (key, name, owner_scope, status, created_at, updated_at)
    SELECT 'flow-' || n, 'A flow', 'team:' || n % 100, 'published', now(), now() FROM generate_series(1, 1000) n;
INSERT INTO workflow_versions (definition_id, number, status, schema_version, graph, \"trigger\", settings, trigger_type,
    actor_mode, checksum, published_at, created_at, updated_at)
    SELECT n, 1, 'published', 'x', '{}', '{}', '{}', 'manual', 'system', repeat('0', 64), now(), now(), now()
    FROM generate_series(1, 1000) n;
INSERT INTO workflow_instances (ulid, definition_id, version_id, actor_mode, status, current_node_id, created_at, updated_at)
    SELECT lpad(n::text, 26, '0'), n % 1000 + 1, n % 1000 + 1, 'system',
    CASE WHEN n % 50 = 0 THEN 'waiting' ELSE 'completed' END, 'wait', now() - n * interval '1 minute', now()
    FROM generate_series(1, 20000) n;
INSERT INTO workflow_step_runs (instance_id, node_id, node_type, visit, attempt, status, idempotency_key, claim_token,
    lease_until, scheduled_for, created_at, updated_at)
    SELECT n / 5 + 1, 'node-' || n % 5, 'action', 1, 1,
    CASE WHEN n % 100 = 0 THEN 'queued' WHEN n % 100 = 1 THEN 'running' ELSE 'completed' END, 'x',
    CASE WHEN n % 100 = 1 THEN 'token' END, CASE WHEN n % 100 = 1 THEN now() END, now(), now(), now()
    FROM generate_series(0, 99994) n;
INSERT INTO workflow_waits (instance_id, step_run_id, kind, due_at, event_key, status, created_at, updated_at)
    SELECT n, n * 5, 'event', now() + n * interval '1 minute', 'key-' || n % 1000,
    CASE WHEN n % 50 = 0 THEN 'pending' ELSE 'fired' END, now(), now() FROM generate_series(1, 19000) n;
INSERT INTO workflow_idempotency_keys (scope, key, instance_id, expires_at, created_at)
    SELECT 'start', lpad(n::text, 64, '0'), n, now(), now() FROM generate_series(1, 20000) n;
ANALYZE workflow_definitions, workflow_versions, workflow_instances, workflow_step_runs, workflow_waits,
    workflow_idempotency_keys";

/// proves W6, W7, W8, W10, W29: their indexes are there and are what the planner takes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_have_their_index() {
    let server = std::env::var("HEDDLE_TEST_POSTGRES")
        .expect("HEDDLE_TEST_POSTGRES names a PostgreSQL server for tests: `cargo xtask test` starts one");
    let url = format!("{server} options='-c search_path=test_{}'", Uuid::new_v4().simple());
    WorkflowPostgres::install(&url, &Schema::default()).await.unwrap();
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    // Each in a transaction of its own: all in one may want more locks than a server has room for.
    for rows in ROWS.split(
        ";
",
    ) {
        client.batch_execute(rows).await.unwrap();
    }
    // With the planner's own mind, and with the settings of our connections.
    for settings in ["SET plan_cache_mode = force_generic_plan", SETTINGS] {
        client.batch_execute(settings).await.unwrap();
        for (statement, parameters, indexes) in statements() {
            let plan = plan(&client, statement, parameters).await;
            for index in indexes {
                assert!(plan.contains(index), "{index}: {statement}\n{plan}");
            }
            let whole = plan.lines().find(|line| line.contains("Seq Scan on workflow_"));
            // The planner may read a table of a few rows whole.
            let small = |line: &str| line.contains("definitions") || line.contains("versions");
            assert!(whole.is_none_or(|line| small(line) && settings != SETTINGS), "{statement}\n{plan}");
        }
    }
}

/// Statements, how many parameters each has, and the indexes that it has to use.
fn statements() -> Vec<(&'static str, usize, &'static [&'static str])> {
    vec![
        (definitions::HOLD, 2, &[]),
        (definitions::INSERT, 7, &["wdef_key_unique"]),
        (definitions::SET_CURRENT, 3, &[]),
        (definitions::COUNTING, 1, &[]),
        (definitions::CURRENT_KEY, 2, &[]),
        (versions::INSERT, 13, &["wver_number_unique"]),
        (versions::SUPERSEDE, 2, &[]),
        (versions::GET, 1, &[]),
        (instances::INSERT, 25, &["workflow_instances_ulid_key"]),
        (instances::GET, 1, &["workflow_instances_ulid_key"]),
        (instances::HOLD_FREE, 1, &["workflow_instances_ulid_key"]),
        (instances::LAST_START, 3, &["winst_rate_idx"]),
        (instances::ACTORS, 1, &["workflow_instances_ulid_key"]),
        (instances::TURN, 10, &["workflow_instances_ulid_key"]),
        (step_runs::OF_INSTANCES, 1, &["wstep_attempt_unique", "workflow_instances_ulid_key"]),
        (step_runs::MOVE, 16, &["wstep_attempt_unique"]),
        (step_runs::CLAIM, 4, &["wstep_queue_idx", "workflow_instances_pkey"]),
        (step_runs::HEARTBEAT, 6, &["wstep_attempt_unique", "workflow_instances_ulid_key"]),
        (step_runs::RELEASE, 6, &["wstep_attempt_unique", "workflow_instances_ulid_key"]),
        (step_runs::EXPIRED, 3, &["wstep_lease_idx"]),
        (step_runs::NEXT_DUE, 0, &["wstep_queue_idx", "wstep_lease_idx", "wwait_due_idx"]),
        (waits::OF_INSTANCES, 1, &["wwait_instance_idx"]),
        (waits::INSERT, 15, &["wstep_attempt_unique"]),
        (waits::CHANGE, 9, &["wstep_attempt_unique", "wwait_step_idx"]),
        // By its key, or by being one of the few that are kept.
        (waits::USE_SIGNAL, 3, &[]),
        (waits::CLOSE, 2, &["wwait_instance_idx"]),
        (waits::DUE, 4, &["wwait_due_idx"]),
        (waits::WAITING_FOR, 5, &["wwait_event_idx"]),
        (definitions::LIST, 3, &[]),
        (definitions::SUMMARY, 2, &[]),
        (definitions::IDS, 3, &[]),
        (versions::LIST, 3, &[]),
        (instances::SUMMARY, 1, &["workflow_instances_ulid_key"]),
        (instances::LIST, 5, &["winst_rate_idx"]),
        (instances::PAYLOADS, 1, &["workflow_instances_ulid_key", "wstep_attempt_unique"]),
        (instances::OVERLAY, 1, &["winst_overlay_idx"]),
        (step_runs::TIMELINE, 5, &["wstep_attempt_unique"]),
        (waits::TIMELINE, 5, &["wwait_instance_idx"]),
        (idempotency_keys::START, 6, &["widem_unique"]),
        (idempotency_keys::STARTED, 2, &["widem_unique", "workflow_instances_pkey"]),
        (idempotency_keys::EFFECT, 1, &["widem_unique"]),
        (idempotency_keys::KEEP_EFFECT, 5, &["widem_unique", "workflow_instances_ulid_key"]),
    ]
}

async fn plan(client: &Client, statement: &str, parameters: usize) -> String {
    let statement = Schema::default().render(statement, Dialect::Postgres);
    client.batch_execute(&format!("PREPARE asked AS {statement}")).await.unwrap();
    let nulls = vec!["NULL"; parameters].join(", ");
    let execute = if parameters == 0 { "asked".to_owned() } else { format!("asked({nulls})") };
    let rows = client.query(&format!("EXPLAIN EXECUTE {execute}"), &[]).await.unwrap();
    client.batch_execute("DEALLOCATE asked").await.unwrap();
    rows.iter().map(|row| row.get::<_, String>(0) + "\n").collect()
}

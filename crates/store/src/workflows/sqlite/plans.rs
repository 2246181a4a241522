//! Every statement that runs all day long finds its rows by an index, with 100,000 of them there.

use rusqlite::Connection;

use super::WorkflowSqlite;
use crate::workflows::sql::definitions::sqlite as definitions;
use crate::workflows::sql::idempotency_keys::sqlite as idempotency_keys;
use crate::workflows::sql::instances::sqlite as instances;
use crate::workflows::sql::step_runs::sqlite as step_runs;
use crate::workflows::sql::versions::sqlite as versions;
use crate::workflows::sql::waits::sqlite as waits;
use crate::workflows::{Dialect, Schema};

/// 20,000 instances, most of them over; 100,000 step runs, most of them over; waits.
const ROWS: &str = "
WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1000)
INSERT INTO workflow_definitions (key, name, owner_scope, status, created_at, updated_at)
    SELECT 'flow-' || n, 'A flow', '*', 'published', 'x', 'x' FROM n;
INSERT INTO workflow_versions (definition_id, number, status, schema_version, graph, \"trigger\", settings, trigger_type,
    actor_mode, checksum, published_at, created_at, updated_at)
    SELECT id, 1, 'published', 'x', '{}', '{}', '{}', 'manual', 'system', printf('%064d', 0), 'x', 'x', 'x'
    FROM workflow_definitions;
WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20000)
INSERT INTO workflow_instances (ulid, definition_id, version_id, actor_mode, status, current_node_id, created_at, updated_at)
    SELECT printf('%026d', n), n % 1000 + 1, n % 1000 + 1, 'system', iif(n % 50 = 0, 'waiting', 'completed'), 'wait', 'x', 'x' FROM n;
WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 99994)
INSERT INTO workflow_step_runs (instance_id, node_id, node_type, visit, attempt, status, idempotency_key, claim_token,
    lease_until, scheduled_for, created_at, updated_at)
    SELECT n / 5 + 1, 'node-' || (n % 5), 'action', 1, 1,
    CASE n % 100 WHEN 0 THEN 'queued' WHEN 1 THEN 'running' ELSE 'completed' END, 'x',
    iif(n % 100 = 1, 'token', NULL), iif(n % 100 = 1, 'x', NULL), 'x', 'x', 'x' FROM n;
WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 19000)
INSERT INTO workflow_waits (instance_id, step_run_id, kind, due_at, event_key, status, created_at, updated_at)
    SELECT n, n * 5, 'event', printf('%08d', n), 'key-' || (n % 1000), iif(n % 50 = 0, 'pending', 'fired'), 'x', 'x' FROM n;
ANALYZE";

/// proves W6, W7, W8, W10, W29: their indexes are there and are what the planner takes.
#[test]
fn statements_have_their_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workflows.sqlite");
    WorkflowSqlite::install(&path, &Schema::default()).unwrap();
    let rows = Connection::open(path).unwrap();
    // Once before anything is known of the tables, and once after.
    for content in ["", ROWS] {
        rows.execute_batch(content).unwrap();
        for (statement, indexes) in statements() {
            let plan = plan(&rows, statement);
            for index in indexes {
                assert!(plan.contains(index), "{index}: {statement}\n{plan}");
            }
            assert!(
                !plan.lines().any(|line| line.starts_with("SCAN ") && !line.contains("INDEX")),
                "{statement}\n{plan}"
            );
        }
    }
}

/// Statements, and the indexes that each has to use. What `SQLite` does to insert values it doesn't say.
fn statements() -> Vec<(&'static str, &'static [&'static str])> {
    vec![
        (definitions::FIND, &["wdef_key_unique"]),
        (definitions::SET_CURRENT, &["PRIMARY KEY"]),
        (definitions::LIST, &["wdef_key_unique"]),
        (definitions::SUMMARY, &["wdef_key_unique"]),
        (definitions::IDS, &["wdef_key_unique"]),
        (versions::SUPERSEDE, &["PRIMARY KEY"]),
        (versions::LIST, &["wver_number_unique"]),
        (versions::GET, &["PRIMARY KEY"]),
        (versions::LAST_NUMBER, &["wver_number_unique"]),
        (instances::GET, &["sqlite_autoindex_workflow_instances_1"]),
        (instances::LAST_START, &["winst_rate_idx"]),
        (instances::ACTORS, &["sqlite_autoindex_workflow_instances_1"]),
        (instances::TURN, &["sqlite_autoindex_workflow_instances_1"]),
        (instances::SUMMARY, &["sqlite_autoindex_workflow_instances_1"]),
        (instances::LIST, &["winst_rate_idx"]),
        (instances::PAYLOADS, &["sqlite_autoindex_workflow_instances_1"]),
        (instances::OVERLAY, &["winst_overlay_idx"]),
        (step_runs::OF_INSTANCE, &["wstep_attempt_unique"]),
        (step_runs::MOVE, &["wstep_attempt_unique"]),
        (step_runs::QUEUED, &["wstep_queue_idx"]),
        (step_runs::CLAIM, &["PRIMARY KEY"]),
        (step_runs::HEARTBEAT, &["wstep_attempt_unique"]),
        (step_runs::RELEASE, &["wstep_attempt_unique"]),
        (step_runs::EXPIRED, &["wstep_lease_idx"]),
        (step_runs::HAND_OUT, &["PRIMARY KEY"]),
        (step_runs::TIMELINE, &["wstep_attempt_unique"]),
        (step_runs::NEXT_DUE, &["wstep_queue_idx", "wstep_lease_idx", "wwait_due_idx"]),
        (waits::OF_INSTANCE, &["wwait_instance_idx"]),
        (waits::INSERT, &["wstep_attempt_unique"]),
        (waits::CHANGE, &["wstep_attempt_unique"]),
        (waits::USE_SIGNAL, &["PRIMARY KEY"]),
        (waits::CLOSE, &[]),
        (waits::DUE, &["wwait_due_idx"]),
        (waits::HAND_OUT, &["PRIMARY KEY"]),
        (waits::TIMELINE, &["wwait_instance_idx"]),
        (waits::WAITING_FOR, &["wwait_event_idx"]),
        (idempotency_keys::STARTED, &["widem_unique"]),
        (idempotency_keys::EFFECT, &["widem_unique"]),
        (idempotency_keys::KEEP_EFFECT, &["sqlite_autoindex_workflow_instances_1"]),
    ]
}

fn plan(rows: &Connection, statement: &str) -> String {
    let statement = Schema::default().render(statement, Dialect::Sqlite);
    let mut explained = rows.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
    // What isn't bound is null, which a plan doesn't depend on.
    let mut lines = explained.raw_query();
    let mut plan = String::new();
    while let Some(line) = lines.next().unwrap() {
        plan += &line.get::<_, String>(3).unwrap();
        plan.push('\n');
    }
    plan
}

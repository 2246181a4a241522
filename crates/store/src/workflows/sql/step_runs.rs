//! `workflow_step_runs` (W7).

pub(in crate::workflows) mod sqlite {
    pub(in crate::workflows) const CREATE: &str = "CREATE TABLE {step_runs} (
    id               {primary_key},
    instance_id      {key} NOT NULL REFERENCES {instances} (id) ON DELETE CASCADE,
    node_id          TEXT NOT NULL CHECK (length(node_id) <= 64),
    node_type        TEXT NOT NULL CHECK (length(node_type) <= 64),
    visit            INTEGER NOT NULL CHECK (visit > 0),
    attempt          INTEGER NOT NULL CHECK (attempt BETWEEN 1 AND 65535),
    status           TEXT NOT NULL CHECK (length(status) <= 16),
    idempotency_key  TEXT NOT NULL CHECK (length(idempotency_key) <= 100),
    input            TEXT,
    output           TEXT,
    resume_signal    TEXT,
    outcome          TEXT CHECK (length(outcome) <= 32),
    error_code       TEXT CHECK (length(error_code) <= 64),
    error_message    TEXT,
    error_retryable  INTEGER CHECK (error_retryable IN (0, 1)),
    claim_token      TEXT CHECK (length(claim_token) <= 26),
    lease_until      TEXT,
    scheduled_for    TEXT,
    dispatched_at    TEXT,
    started_at       TEXT,
    finished_at      TEXT,
    probe_pushed_at  TEXT,
    created_at       TEXT NOT NULL,
    updated_at       TEXT NOT NULL,
    CHECK ((status = 'running') = (claim_token IS NOT NULL)),
    CHECK ((claim_token IS NULL) = (lease_until IS NULL)),
    CHECK (status <> 'queued' OR scheduled_for IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX wstep_attempt_unique ON {step_runs} (instance_id, node_id, visit, attempt);
CREATE INDEX wstep_lease_idx ON {step_runs} (lease_until) WHERE claim_token IS NOT NULL;
CREATE INDEX wstep_queue_idx ON {step_runs} (scheduled_for) WHERE status = 'queued';
";

    /// An instance's, in the order in which they were made. `?1` instance.
    pub(in crate::workflows) const OF_INSTANCE: &str = "SELECT node_id, visit, attempt, node_type, status, \
         idempotency_key, input, output, resume_signal, outcome, error_code, error_message, error_retryable, \
         claim_token, lease_until, scheduled_for, started_at, finished_at FROM {step_runs} \
         WHERE instance_id = ?1 ORDER BY rowid";

    /// `?1` id, `?2` instance, `?3` to `?5` node, visit and attempt, `?6` node type, `?7` status, `?8` idempotency key,
    /// `?9` input, `?10` output, `?11` resume, `?12` outcome, `?13` to `?15` error, `?16` token, `?17` lease,
    /// `?18` scheduled for, `?19` started at, `?20` finished at, `?21` now.
    pub(in crate::workflows) const INSERT: &str = "INSERT INTO {step_runs} \
         (id, instance_id, node_id, visit, attempt, node_type, status, idempotency_key, input, output, \
         resume_signal, outcome, error_code, error_message, error_retryable, claim_token, lease_until, \
         scheduled_for, started_at, finished_at, dispatched_at, created_at, updated_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, \
         iif(?16 IS NULL, NULL, ?21), ?21, ?21) ON CONFLICT DO NOTHING";

    /// A change of a row that is still as its turn saw it. `?1` instance, `?2` to `?4` node, visit and attempt, `?5` and
    /// `?6` status and token as seen, `?7` status, `?8` scheduled for, `?9` resume, `?10` outcome, `?11` output, `?12` to
    /// `?14` error, `?15` finished at, `?16` now.
    pub(in crate::workflows) const MOVE: &str = "UPDATE {step_runs} SET status = ?7, claim_token = NULL, \
         lease_until = NULL, scheduled_for = coalesce(?8, scheduled_for), \
         resume_signal = coalesce(?9, resume_signal), outcome = ?10, output = ?11, error_code = ?12, \
         error_message = ?13, error_retryable = ?14, finished_at = ?15, updated_at = ?16 \
         WHERE instance_id = ?1 AND node_id = ?2 AND visit = ?3 AND attempt = ?4 AND status = ?5 \
         AND claim_token IS ?6";

    /// `?1` now, `?2` limit.
    pub(in crate::workflows) const QUEUED: &str = "SELECT s.id, i.ulid, i.version_id, s.node_id, s.visit, s.attempt, \
         s.idempotency_key, s.input, s.resume_signal FROM {step_runs} s INDEXED BY wstep_queue_idx \
         JOIN {instances} i ON i.id = s.instance_id WHERE s.status = 'queued' AND s.scheduled_for <= ?1 \
         ORDER BY s.scheduled_for LIMIT ?2";

    /// `?1` id, `?2` token, `?3` lease, `?4` now.
    pub(in crate::workflows) const CLAIM: &str = "UPDATE {step_runs} SET status = 'running', claim_token = ?2, \
         lease_until = ?3, started_at = ?4, dispatched_at = coalesce(dispatched_at, ?4), probe_pushed_at = NULL, \
         updated_at = ?4 WHERE id = ?1 AND status = 'queued'";

    /// `?1` ulid, `?2` to `?4` node, visit and attempt, `?5` token, `?6` lease.
    pub(in crate::workflows) const HEARTBEAT: &str = "UPDATE {step_runs} SET lease_until = ?6 \
         WHERE instance_id = (SELECT id FROM {instances} WHERE ulid = ?1) AND node_id = ?2 AND visit = ?3 \
         AND attempt = ?4 AND claim_token = ?5";

    /// `?1` ulid, `?2` to `?4` node, visit and attempt, `?5` token, `?6` scheduled for.
    pub(in crate::workflows) const RELEASE: &str = "UPDATE {step_runs} SET status = 'queued', claim_token = NULL, \
         lease_until = NULL, scheduled_for = ?6 \
         WHERE instance_id = (SELECT id FROM {instances} WHERE ulid = ?1) AND node_id = ?2 AND visit = ?3 \
         AND attempt = ?4 AND claim_token = ?5";

    /// `?1` now, `?2` not handed out after, `?3` limit.
    pub(in crate::workflows) const EXPIRED: &str = "SELECT s.id, i.ulid FROM {step_runs} s \
         INDEXED BY wstep_lease_idx JOIN {instances} i ON i.id = s.instance_id \
         WHERE s.claim_token IS NOT NULL AND s.lease_until <= ?1 \
         AND (s.probe_pushed_at IS NULL OR s.probe_pushed_at <= ?2) ORDER BY s.lease_until LIMIT ?3";

    /// `?1` id, `?2` now.
    pub(in crate::workflows) const HAND_OUT: &str =
        "UPDATE {step_runs} SET probe_pushed_at = ?2 WHERE id = ?1";

    pub(in crate::workflows) const NEXT_DUE: &str = "SELECT min(at) FROM ( \
         SELECT min(scheduled_for) AS at FROM {step_runs} INDEXED BY wstep_queue_idx WHERE status = 'queued' \
         UNION ALL SELECT min(lease_until) FROM {step_runs} INDEXED BY wstep_lease_idx \
         WHERE claim_token IS NOT NULL \
         UNION ALL SELECT min(due_at) FROM {waits} INDEXED BY wwait_due_idx \
         WHERE status = 'pending' AND due_at IS NOT NULL)";

    /// An instance's for people, without what they carry. `?1` ulid, `?2` made then or later, `?3` whether all of that
    /// moment's, `?4` or else those after this id, `?5` limit.
    pub(in crate::workflows) const TIMELINE: &str = "SELECT s.id, s.node_id, s.visit, s.attempt, s.node_type, s.status, \
         s.outcome, s.error_code, s.error_message, s.error_retryable, s.scheduled_for, s.started_at, s.finished_at, \
         s.created_at FROM {step_runs} s INDEXED BY wstep_attempt_unique \
         WHERE s.instance_id = (SELECT id FROM {instances} WHERE ulid = ?1) \
         AND (s.created_at > ?2 OR s.created_at = ?2 AND (?3 OR s.id > ?4)) ORDER BY s.created_at, s.id LIMIT ?5";
}

pub(in crate::workflows) mod postgres {
    pub(in crate::workflows) const CREATE: &str = "CREATE TABLE {step_runs} (
    id               {primary_key},
    instance_id      {key} NOT NULL REFERENCES {instances} (id) ON DELETE CASCADE,
    node_id          varchar(64) COLLATE \"C\" NOT NULL,
    node_type        varchar(64) NOT NULL,
    visit            bigint NOT NULL CHECK (visit > 0),
    attempt          bigint NOT NULL CHECK (attempt BETWEEN 1 AND 65535),
    status           varchar(16) COLLATE \"C\" NOT NULL,
    idempotency_key  varchar(100) NOT NULL,
    input            json,
    output           json,
    resume_signal    json,
    outcome          varchar(32),
    error_code       varchar(64),
    error_message    text,
    error_retryable  boolean,
    claim_token      varchar(26) COLLATE \"C\",
    lease_until      timestamptz,
    scheduled_for    timestamptz,
    dispatched_at    timestamptz,
    started_at       timestamptz,
    finished_at      timestamptz,
    probe_pushed_at  timestamptz,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    CHECK ((status = 'running') = (claim_token IS NOT NULL)),
    CHECK ((claim_token IS NULL) = (lease_until IS NULL)),
    CHECK (status <> 'queued' OR scheduled_for IS NOT NULL)
);
CREATE UNIQUE INDEX wstep_attempt_unique ON {step_runs} (instance_id, node_id, visit, attempt);
CREATE INDEX wstep_lease_idx ON {step_runs} (lease_until) WHERE claim_token IS NOT NULL;
CREATE INDEX wstep_queue_idx ON {step_runs} (scheduled_for) WHERE status = 'queued';
";

    /// Some instances', each one's in the order in which they were made. `$1` ulids.
    pub(in crate::workflows) const OF_INSTANCES: &str = "SELECT i.ulid, s.node_id, s.visit, s.attempt, s.node_type, \
         s.status, s.idempotency_key, s.input::text, s.output::text, s.resume_signal::text, s.outcome, s.error_code, \
         s.error_message, s.error_retryable, s.claim_token, s.lease_until, s.scheduled_for, s.started_at, \
         s.finished_at FROM {instances} i JOIN {step_runs} s ON s.instance_id = i.id \
         WHERE i.ulid = ANY($1::text[]) ORDER BY s.created_at, s.id";

    /// New step runs, each a place in the arrays: `$1` ids, `$2` instances, `$3` to `$5` node, visit and attempt, `$6`
    /// node type, `$7` status, `$8` idempotency key, `$9` input, `$10` output, `$11` resume, `$12` outcome, `$13` to
    /// `$15` error, `$16` token, `$17` lease, `$18` scheduled for, `$19` started at, `$20` finished at, `$21` now.
    pub(in crate::workflows) const INSERT: &str = "INSERT INTO {step_runs} \
         (id, instance_id, node_id, visit, attempt, node_type, status, idempotency_key, input, output, \
         resume_signal, outcome, error_code, error_message, error_retryable, claim_token, lease_until, \
         scheduled_for, started_at, finished_at, dispatched_at, created_at, updated_at) \
         SELECT {next:step_runs}, t.instance::{key}, t.node, t.visit, t.attempt, t.node_type, t.status, \
         t.idempotency_key, t.input::json, t.output::json, t.resume::json, t.outcome, t.code, t.message, \
         t.retryable, t.token, t.lease, t.scheduled_for, t.started_at, t.finished_at, \
         CASE WHEN t.token IS NOT NULL THEN t.at END, t.at, t.at \
         FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], \
         $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::boolean[], \
         $16::text[], $17::timestamptz[], $18::timestamptz[], $19::timestamptz[], $20::timestamptz[], \
         $21::timestamptz[]) \
         AS t(id, instance, node, visit, attempt, node_type, status, idempotency_key, input, output, resume, \
         outcome, code, message, retryable, token, lease, scheduled_for, started_at, finished_at, at) \
         ON CONFLICT DO NOTHING RETURNING instance_id::text";

    /// Changes of rows that are still as their turns saw them, each a place in the arrays: `$1` instance, `$2` to `$4`
    /// node, visit and attempt, `$5` and `$6` status and token as seen, `$7` status, `$8` scheduled for, `$9` resume,
    /// `$10` outcome, `$11` output, `$12` to `$14` error, `$15` finished at, `$16` now.
    pub(in crate::workflows) const MOVE: &str = "UPDATE {step_runs} s SET status = t.status, claim_token = NULL, \
         lease_until = NULL, scheduled_for = coalesce(t.scheduled_for, s.scheduled_for), \
         resume_signal = coalesce(t.resume::json, s.resume_signal), outcome = t.outcome, output = t.output::json, \
         error_code = t.code, error_message = t.message, error_retryable = t.retryable, \
         finished_at = t.finished_at, updated_at = t.at \
         FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], \
         $8::timestamptz[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::boolean[], \
         $15::timestamptz[], $16::timestamptz[]) \
         AS t(instance, node, visit, attempt, seen, token, status, scheduled_for, resume, outcome, output, code, \
         message, retryable, finished_at, at) \
         WHERE s.instance_id = t.instance::{key} AND s.node_id = t.node AND s.visit = t.visit \
         AND s.attempt = t.attempt AND s.status = t.seen AND s.claim_token IS NOT DISTINCT FROM t.token \
         RETURNING s.instance_id::text";

    /// Queued steps that nobody else is just taking, the longest due first, each with its place. `$1` tokens, `$2` lease,
    /// `$3` now, `$4` limit.
    pub(in crate::workflows) const CLAIM: &str = "WITH due AS ( \
         SELECT id, scheduled_for FROM {step_runs} WHERE status = 'queued' AND scheduled_for <= $3 \
         ORDER BY scheduled_for LIMIT $4 FOR UPDATE SKIP LOCKED), \
         placed AS (SELECT id, row_number() OVER (ORDER BY scheduled_for) AS place FROM due) \
         UPDATE {step_runs} s SET status = 'running', claim_token = ($1::text[])[p.place], lease_until = $2, \
         started_at = $3, dispatched_at = coalesce(s.dispatched_at, $3), probe_pushed_at = NULL, updated_at = $3 \
         FROM placed p, {instances} i WHERE s.id = p.id AND i.id = s.instance_id \
         RETURNING p.place, i.ulid, i.version_id::text, s.node_id, s.visit, s.attempt, s.idempotency_key, \
         s.input::text, s.resume_signal::text";

    /// `$1` ulid, `$2` to `$4` node, visit and attempt, `$5` token, `$6` lease.
    pub(in crate::workflows) const HEARTBEAT: &str = "UPDATE {step_runs} SET lease_until = $6 \
         WHERE instance_id = (SELECT id FROM {instances} WHERE ulid = $1) AND node_id = $2 AND visit = $3 \
         AND attempt = $4 AND claim_token = $5";

    /// `$1` ulid, `$2` to `$4` node, visit and attempt, `$5` token, `$6` scheduled for.
    pub(in crate::workflows) const RELEASE: &str = "UPDATE {step_runs} SET status = 'queued', claim_token = NULL, \
         lease_until = NULL, scheduled_for = $6 \
         WHERE instance_id = (SELECT id FROM {instances} WHERE ulid = $1) AND node_id = $2 AND visit = $3 \
         AND attempt = $4 AND claim_token = $5";

    /// Hands out claims whose lease has run out. `$1` now, `$2` not handed out after, `$3` limit.
    pub(in crate::workflows) const EXPIRED: &str = "WITH due AS ( \
         SELECT id, lease_until FROM {step_runs} WHERE claim_token IS NOT NULL AND lease_until <= $1 \
         AND (probe_pushed_at IS NULL OR probe_pushed_at <= $2) \
         ORDER BY lease_until LIMIT $3 FOR UPDATE SKIP LOCKED) \
         UPDATE {step_runs} s SET probe_pushed_at = $1 FROM due d, {instances} i \
         WHERE s.id = d.id AND i.id = s.instance_id RETURNING d.lease_until, i.ulid";

    pub(in crate::workflows) const NEXT_DUE: &str = "SELECT least( \
         (SELECT min(scheduled_for) FROM {step_runs} WHERE status = 'queued'), \
         (SELECT min(lease_until) FROM {step_runs} WHERE claim_token IS NOT NULL), \
         (SELECT min(due_at) FROM {waits} WHERE status = 'pending'))";

    /// An instance's for people, without what they carry. `$1` ulid, `$2` made then or later, `$3` whether all of that
    /// moment's, `$4` or else those after this id, `$5` limit.
    pub(in crate::workflows) const TIMELINE: &str = "SELECT s.id::text, s.node_id, s.visit, s.attempt, s.node_type, \
         s.status, s.outcome, s.error_code, s.error_message, s.error_retryable, s.scheduled_for, s.started_at, \
         s.finished_at, s.created_at FROM {step_runs} s \
         WHERE s.instance_id = (SELECT id FROM {instances} WHERE ulid = $1) \
         AND (s.created_at > $2 OR s.created_at = $2 AND ($3 OR s.id > $4::text::{key})) \
         ORDER BY s.created_at, s.id LIMIT $5";
}

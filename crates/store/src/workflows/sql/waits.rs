//! `workflow_waits` (W8): steps' waits, instances' time limits (`deadline`), signals that came before their wait
//! (`signal`, status `kept`), and the commands that were accepted (`command`, always `fired`), which nothing but the
//! record of who did what reads (W31).

pub(in crate::workflows) mod sqlite {
    pub(in crate::workflows) const CREATE: &str = "CREATE TABLE {waits} (
    id           {primary_key},
    instance_id  {key} NOT NULL REFERENCES {instances} (id) ON DELETE CASCADE,
    step_run_id  {key} NOT NULL REFERENCES {step_runs} (id) ON DELETE CASCADE,
    kind         TEXT NOT NULL CHECK (length(kind) <= 16),
    due_at       TEXT,
    event_key    TEXT CHECK (length(event_key) <= 191),
    \"match\"      TEXT,
    condition    TEXT,
    payload      TEXT,
    outcome      TEXT CHECK (length(outcome) <= 32),
    status       TEXT NOT NULL CHECK (length(status) <= 16),
    claim_token  TEXT CHECK (length(claim_token) <= 26),
    claimed_at   TEXT,
    fired_at     TEXT,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
) STRICT;
CREATE INDEX wwait_due_idx ON {waits} (status, due_at);
CREATE INDEX wwait_event_idx ON {waits} (status, event_key);
CREATE INDEX wwait_instance_idx ON {waits} (instance_id);
CREATE INDEX wwait_step_idx ON {waits} (step_run_id);
";

    /// An instance's, in the order in which they were made. `?1` instance.
    pub(in crate::workflows) const OF_INSTANCE: &str = "SELECT w.id, s.node_id, s.visit, s.attempt, w.kind, w.due_at, \
         w.event_key, w.\"match\", w.condition, w.payload, w.outcome, w.status, w.fired_at FROM {waits} w \
         JOIN {step_runs} s ON s.id = w.step_run_id WHERE w.instance_id = ?1 ORDER BY w.rowid";

    /// `?1` id, `?2` instance, `?3` to `?5` node, visit and attempt, `?6` kind, `?7` due at, `?8` event key, `?9` match,
    /// `?10` condition, `?11` payload, `?12` outcome, `?13` status, `?14` fired at, `?15` now.
    pub(in crate::workflows) const INSERT: &str = "INSERT INTO {waits} (id, instance_id, step_run_id, kind, due_at, \
         event_key, \"match\", condition, payload, outcome, status, fired_at, created_at, updated_at) \
         SELECT ?1, ?2, id, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?15 FROM {step_runs} \
         WHERE instance_id = ?2 AND node_id = ?3 AND visit = ?4 AND attempt = ?5";

    /// The open wait of a step. `?1` instance, `?2` to `?4` node, visit and attempt, `?5` status or null, `?6` due at or
    /// null, `?7` payload, `?8` fired at, `?9` now.
    pub(in crate::workflows) const CHANGE: &str = "UPDATE {waits} SET status = coalesce(?5, status), \
         due_at = coalesce(?6, due_at), claimed_at = CASE WHEN ?6 IS NULL THEN claimed_at END, \
         payload = coalesce(?7, payload), fired_at = ?8, updated_at = ?9 \
         WHERE step_run_id = (SELECT id FROM {step_runs} WHERE instance_id = ?1 AND node_id = ?2 AND visit = ?3 \
         AND attempt = ?4) AND kind NOT IN ('deadline', 'signal') AND status IN ('pending', 'paused')";

    /// A kept signal has found its wait. `?1` id, `?2` instance, `?3` now.
    pub(in crate::workflows) const USE_SIGNAL: &str = "UPDATE {waits} SET status = 'fired', fired_at = ?3, \
         updated_at = ?3 WHERE id = ?1 AND instance_id = ?2 AND status = 'kept'";

    /// Whatever is still open. `?1` instance, `?2` now.
    pub(in crate::workflows) const CLOSE: &str = "UPDATE {waits} SET status = 'cancelled', updated_at = ?2 \
         WHERE instance_id = ?1 AND status IN ('pending', 'paused', 'kept')";

    /// `?1` now, `?2` not handed out after, `?3` limit, `?4` whether it's deadlines.
    pub(in crate::workflows) const DUE: &str = "SELECT w.id, i.ulid FROM {waits} w INDEXED BY wwait_due_idx \
         JOIN {instances} i ON i.id = w.instance_id WHERE w.status = 'pending' AND w.due_at <= ?1 \
         AND (w.claimed_at IS NULL OR w.claimed_at <= ?2) AND (w.kind = 'deadline') = ?4 \
         ORDER BY w.due_at LIMIT ?3";

    /// `?1` id, `?2` now.
    pub(in crate::workflows) const HAND_OUT: &str = "UPDATE {waits} SET claimed_at = ?2 WHERE id = ?1";

    /// `?1` event key, `?2` after, `?3` limit, `?4` and `?5` owner.
    pub(in crate::workflows) const WAITING_FOR: &str = "SELECT DISTINCT i.ulid FROM {waits} w \
         INDEXED BY wwait_event_idx JOIN {instances} i ON i.id = w.instance_id \
         WHERE w.status = 'pending' AND w.event_key = ?1 AND i.ulid > ?2 AND i.owner_type IS ?4 \
         AND i.owner_id IS ?5 ORDER BY i.ulid LIMIT ?3";

    /// An instance's for people, without what they carry, but for who gave a command. `?1` ulid, `?2` made then or later, `?3` whether all of that
    /// moment's, `?4` or else those after this id, `?5` limit.
    pub(in crate::workflows) const TIMELINE: &str = "SELECT w.id, s.node_id, s.visit, s.attempt, w.kind, w.event_key, \
         w.due_at, w.status, w.fired_at, w.created_at, CASE WHEN w.kind = 'command' THEN w.payload END \
         FROM {waits} w INDEXED BY wwait_instance_idx \
         CROSS JOIN {step_runs} s ON s.id = w.step_run_id \
         WHERE w.instance_id = (SELECT id FROM {instances} WHERE ulid = ?1) \
         AND (w.created_at > ?2 OR w.created_at = ?2 AND (?3 OR w.id > ?4)) ORDER BY w.created_at, w.id LIMIT ?5";
}

pub(in crate::workflows) mod postgres {
    pub(in crate::workflows) const CREATE: &str = "CREATE TABLE {waits} (
    id           {primary_key},
    instance_id  {key} NOT NULL REFERENCES {instances} (id) ON DELETE CASCADE,
    step_run_id  {key} NOT NULL REFERENCES {step_runs} (id) ON DELETE CASCADE,
    kind         varchar(16) COLLATE \"C\" NOT NULL,
    due_at       timestamptz,
    event_key    varchar(191) COLLATE \"C\",
    \"match\"      json,
    condition    json,
    payload      json,
    outcome      varchar(32),
    status       varchar(16) COLLATE \"C\" NOT NULL,
    claim_token  varchar(26),
    claimed_at   timestamptz,
    fired_at     timestamptz,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL
);
CREATE INDEX wwait_due_idx ON {waits} (status, due_at);
CREATE INDEX wwait_event_idx ON {waits} (status, event_key);
CREATE INDEX wwait_instance_idx ON {waits} (instance_id);
CREATE INDEX wwait_step_idx ON {waits} (step_run_id);
";

    /// Some instances', each one's in the order in which they were made. `$1` ulids.
    pub(in crate::workflows) const OF_INSTANCES: &str = "SELECT i.ulid, w.id::text, s.node_id, s.visit, s.attempt, \
         w.kind, w.due_at, w.event_key, w.\"match\"::text, w.condition::text, w.payload::text, w.outcome, w.status, \
         w.fired_at FROM {instances} i JOIN {waits} w ON w.instance_id = i.id \
         JOIN {step_runs} s ON s.id = w.step_run_id WHERE i.ulid = ANY($1::text[]) ORDER BY w.created_at, w.id";

    /// New rows, each a place in the arrays: `$1` ids, `$2` instances, `$3` to `$5` node, visit and attempt, `$6` kind,
    /// `$7` due at, `$8` event key, `$9` match, `$10` condition, `$11` payload, `$12` outcome, `$13` status, `$14` fired
    /// at, `$15` now.
    pub(in crate::workflows) const INSERT: &str = "INSERT INTO {waits} (id, instance_id, step_run_id, kind, due_at, \
         event_key, \"match\", condition, payload, outcome, status, fired_at, created_at, updated_at) \
         SELECT {next:waits}, t.instance::{key}, s.id, t.kind, t.due_at, t.event_key, t.matches::json, \
         t.condition::json, t.payload::json, t.outcome, t.status, t.fired_at, t.at, t.at \
         FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::timestamptz[], \
         $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::timestamptz[], \
         $15::timestamptz[]) WITH ORDINALITY AS t(id, instance, node, visit, attempt, kind, due_at, event_key, \
         matches, condition, payload, outcome, status, fired_at, at, place) JOIN {step_runs} s ON s.instance_id = t.instance::{key} \
         AND s.node_id = t.node AND s.visit = t.visit AND s.attempt = t.attempt ORDER BY t.place \
         RETURNING instance_id::text";

    /// The open waits of steps, each a place in the arrays: `$1` instance, `$2` to `$4` node, visit and attempt, `$5`
    /// status or null, `$6` due at or null, `$7` payload, `$8` fired at, `$9` now.
    pub(in crate::workflows) const CHANGE: &str = "UPDATE {waits} w SET status = coalesce(t.status, w.status), \
         due_at = coalesce(t.due_at, w.due_at), claimed_at = CASE WHEN t.due_at IS NULL THEN w.claimed_at END, \
         payload = coalesce(t.payload::json, w.payload), fired_at = t.fired_at, updated_at = t.at \
         FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::timestamptz[], $7::text[], \
         $8::timestamptz[], $9::timestamptz[]) \
         AS t(instance, node, visit, attempt, status, due_at, payload, fired_at, at) \
         JOIN {step_runs} s ON s.instance_id = t.instance::{key} AND s.node_id = t.node AND s.visit = t.visit \
         AND s.attempt = t.attempt \
         WHERE w.step_run_id = s.id AND w.kind NOT IN ('deadline', 'signal') AND w.status IN ('pending', 'paused') \
         RETURNING w.instance_id::text";

    /// Kept signals that have found their waits, each a place in the arrays: `$1` id, `$2` instance, `$3` now.
    pub(in crate::workflows) const USE_SIGNAL: &str = "UPDATE {waits} w SET status = 'fired', fired_at = t.at, \
         updated_at = t.at FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS t(id, instance, at) \
         WHERE w.id = t.id::{key} AND w.instance_id = t.instance::{key} AND w.status = 'kept' \
         RETURNING w.instance_id::text";

    /// Whatever is still open of some instances', each a place in the arrays: `$1` instance, `$2` now.
    pub(in crate::workflows) const CLOSE: &str = "UPDATE {waits} w SET status = 'cancelled', updated_at = t.at \
         FROM unnest($1::text[], $2::timestamptz[]) AS t(instance, at) \
         WHERE w.instance_id = t.instance::{key} AND w.status IN ('pending', 'paused', 'kept')";

    /// Hands out what is due. `$1` now, `$2` not handed out after, `$3` limit, `$4` whether it's deadlines.
    pub(in crate::workflows) const DUE: &str = "WITH due AS ( \
         SELECT id, due_at FROM {waits} WHERE status = 'pending' AND due_at <= $1 \
         AND (claimed_at IS NULL OR claimed_at <= $2) AND (kind = 'deadline') = $4 \
         ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED) \
         UPDATE {waits} w SET claimed_at = $1 FROM due d, {instances} i \
         WHERE w.id = d.id AND i.id = w.instance_id RETURNING d.due_at, i.ulid";

    /// `$1` event key, `$2` after, `$3` limit, `$4` and `$5` owner.
    pub(in crate::workflows) const WAITING_FOR: &str = "SELECT DISTINCT i.ulid FROM {waits} w \
         JOIN {instances} i ON i.id = w.instance_id \
         WHERE w.status = 'pending' AND w.event_key = $1 AND i.ulid > $2 \
         AND i.owner_type IS NOT DISTINCT FROM $4::text AND i.owner_id::text IS NOT DISTINCT FROM $5::text \
         ORDER BY i.ulid LIMIT $3";

    /// An instance's for people, without what they carry, but for who gave a command. `$1` ulid, `$2` made then or later,
    /// `$3` whether all of that moment's, `$4` or else those after this id, `$5` limit.
    pub(in crate::workflows) const TIMELINE: &str = "SELECT w.id::text, s.node_id, s.visit, s.attempt, w.kind, \
         w.event_key, w.due_at, w.status, w.fired_at, w.created_at, \
         CASE WHEN w.kind = 'command' THEN w.payload::text END FROM {waits} w \
         JOIN {step_runs} s ON s.id = w.step_run_id \
         WHERE w.instance_id = (SELECT id FROM {instances} WHERE ulid = $1) \
         AND (w.created_at > $2 OR w.created_at = $2 AND ($3 OR w.id > $4::text::{key})) \
         ORDER BY w.created_at, w.id LIMIT $5";
}

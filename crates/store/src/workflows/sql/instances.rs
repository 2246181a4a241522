//! `workflow_instances` (W6).

pub(in crate::workflows) mod sqlite {
    pub(in crate::workflows) const CREATE: &str = "CREATE TABLE {instances} (
    id                  {primary_key},
    ulid                TEXT NOT NULL UNIQUE CHECK (length(ulid) = 26),
    definition_id       {key} NOT NULL REFERENCES {definitions} (id),
    version_id          {key} NOT NULL REFERENCES {versions} (id),
    owner_type          TEXT,
    owner_id            {owner_key},
    subject_key         TEXT CHECK (length(subject_key) <= 100),
    subject_type        TEXT,
    subject_id          {subject_key},
    trigger_type        TEXT CHECK (length(trigger_type) <= 16),
    trigger_key         TEXT CHECK (length(trigger_key) <= 191),
    trigger_payload     TEXT,
    idempotency_digest  TEXT CHECK (length(idempotency_digest) = 64),
    status              TEXT NOT NULL CHECK (length(status) <= 16),
    current_node_id     TEXT CHECK (length(current_node_id) <= 64),
    steps_count         INTEGER NOT NULL DEFAULT 0 CHECK (steps_count >= 0),
    depth               INTEGER NOT NULL DEFAULT 0 CHECK (depth BETWEEN 0 AND 255),
    parent_instance_id  {key} REFERENCES {instances} (id) ON DELETE SET NULL,
    parent_step_run_id  {key},
    root_instance_id    {key},
    actor_mode          TEXT NOT NULL CHECK (length(actor_mode) <= 16),
    starter_type        TEXT,
    starter_id          {morph_key},
    failure_code        TEXT CHECK (length(failure_code) <= 64),
    failure_message     TEXT,
    failed_node_id      TEXT CHECK (length(failed_node_id) <= 64),
    started_at          TEXT,
    ended_at            TEXT,
    lock_version        INTEGER NOT NULL DEFAULT 0 CHECK (lock_version >= 0),
    created_at          TEXT NOT NULL,
    updated_at          TEXT NOT NULL
) STRICT;
CREATE INDEX winst_overlay_idx ON {instances} (version_id, status, current_node_id);
CREATE INDEX winst_rate_idx ON {instances} (definition_id, created_at);
CREATE INDEX winst_status_idx ON {instances} (status, updated_at);
CREATE INDEX winst_idempotency_idx ON {instances} (idempotency_digest) WHERE idempotency_digest IS NOT NULL;
CREATE INDEX winst_parent_idx ON {instances} (parent_instance_id) WHERE parent_instance_id IS NOT NULL;
CREATE TRIGGER winst_version_frozen BEFORE UPDATE OF version_id, ulid ON {instances}
    BEGIN SELECT RAISE(ABORT, 'the version of an instance never changes'); END;
";

    /// `?1` ulid.
    pub(in crate::workflows) const GET: &str = "SELECT id, version_id, status, current_node_id, steps_count, depth, \
         failure_code, failure_message, failed_node_id, ended_at, lock_version, updated_at, trigger_payload, \
         subject_key, subject_type, subject_id FROM {instances} WHERE ulid = ?1";

    /// `?1` id, `?2` ulid, `?3` definition, `?4` version, `?5` and `?6` owner, `?7` to `?9` subject, `?10` and `?11`
    /// trigger, `?12` payload, `?13` digest, `?14` actor mode, `?15` and `?16` starter, `?17` depth, `?18` status,
    /// `?19` node, `?20` steps, `?21` to `?23` failure, `?24` ended at, `?25` now.
    pub(in crate::workflows) const INSERT: &str = "INSERT INTO {instances} \
         (id, ulid, definition_id, version_id, owner_type, owner_id, subject_key, subject_type, subject_id, \
         trigger_type, trigger_key, trigger_payload, idempotency_digest, actor_mode, starter_type, starter_id, \
         depth, status, current_node_id, steps_count, failure_code, failure_message, failed_node_id, ended_at, \
         started_at, created_at, updated_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, \
         ?22, ?23, ?24, ?25, ?25, ?25) ON CONFLICT (ulid) DO NOTHING RETURNING id";

    /// The last but so many starts of a definition: where there is one, its rate is used up. `?1` definition, `?2` since,
    /// `?3` how many to leave out.
    pub(in crate::workflows) const LAST_START: &str = "SELECT created_at FROM {instances} INDEXED BY winst_rate_idx \
         WHERE definition_id = ?1 AND created_at > ?2 ORDER BY created_at DESC LIMIT 1 OFFSET ?3";

    /// As whom its steps may act. `?1` ulid.
    pub(in crate::workflows) const ACTORS: &str = "SELECT i.actor_mode, i.starter_type, i.starter_id, i.owner_type, \
         i.owner_id, v.publisher_type, v.publisher_id FROM {instances} i JOIN {versions} v ON v.id = i.version_id \
         WHERE i.ulid = ?1";

    /// A turn, under the guard of the version it was decided on. `?1` ulid, `?2` that version, `?3` status, `?4` node,
    /// `?5` steps, `?6` to `?8` failure, `?9` ended at, `?10` now.
    pub(in crate::workflows) const TURN: &str = "UPDATE {instances} SET status = ?3, current_node_id = ?4, \
         steps_count = ?5, failure_code = ?6, failure_message = ?7, failed_node_id = ?8, ended_at = ?9, \
         updated_at = ?10, lock_version = lock_version + 1 WHERE ulid = ?1 AND lock_version = ?2 RETURNING id";

    /// One for people. `?1` ulid.
    pub(in crate::workflows) const SUMMARY: &str = "SELECT i.ulid, i.owner_type, i.owner_id, d.key, v.id, v.number, \
         i.status, i.current_node_id, i.steps_count, i.depth, i.trigger_type, i.trigger_key, i.starter_type, \
         i.starter_id, i.subject_key, i.subject_type, i.subject_id, i.failure_code, i.failure_message, \
         i.failed_node_id, i.created_at, i.ended_at, i.updated_at, i.lock_version \
         FROM {instances} i CROSS JOIN {definitions} d ON d.id = i.definition_id \
         CROSS JOIN {versions} v ON v.id = i.version_id WHERE i.ulid = ?1";

    /// A definition's, newest first. `?1` definition, `?2` started then or later, `?3` and `?4` after this place,
    /// `?5` limit.
    pub(in crate::workflows) const LIST: &str = "SELECT i.ulid, i.owner_type, i.owner_id, d.key, v.id, v.number, \
         i.status, i.current_node_id, i.steps_count, i.depth, i.trigger_type, i.trigger_key, i.starter_type, \
         i.starter_id, i.subject_key, i.subject_type, i.subject_id, i.failure_code, i.failure_message, \
         i.failed_node_id, i.created_at, i.ended_at, i.updated_at, i.lock_version \
         FROM {instances} i INDEXED BY winst_rate_idx CROSS JOIN {definitions} d ON d.id = i.definition_id \
         CROSS JOIN {versions} v ON v.id = i.version_id \
         WHERE i.definition_id = ?1 AND i.created_at >= ?2 AND i.created_at <= ?3 \
         AND (i.created_at < ?3 OR i.ulid < ?4) ORDER BY i.created_at DESC, i.ulid DESC LIMIT ?5";

    /// `?1` ulid.
    pub(in crate::workflows) const PAYLOADS: &str = "SELECT i.trigger_payload, CASE WHEN i.status = 'completed' THEN \
         (SELECT s.output FROM {step_runs} s WHERE s.instance_id = i.id AND s.node_type = 'end' \
         AND s.status = 'completed' ORDER BY s.created_at DESC LIMIT 1) END FROM {instances} i WHERE i.ulid = ?1";

    /// `?1` version.
    pub(in crate::workflows) const OVERLAY: &str = "SELECT status, current_node_id, count(*) \
         FROM {instances} INDEXED BY winst_overlay_idx \
         WHERE version_id = ?1 AND status IN ('running', 'waiting', 'paused') AND current_node_id IS NOT NULL \
         GROUP BY status, current_node_id";
}

pub(in crate::workflows) mod postgres {
    pub(in crate::workflows) const CREATE: &str = "CREATE TABLE {instances} (
    id                  {primary_key},
    ulid                varchar(26) COLLATE \"C\" NOT NULL UNIQUE CHECK (length(ulid) = 26),
    definition_id       {key} NOT NULL REFERENCES {definitions} (id),
    version_id          {key} NOT NULL REFERENCES {versions} (id),
    owner_type          text,
    owner_id            {owner_key},
    subject_key         varchar(100),
    subject_type        text,
    subject_id          {subject_key},
    trigger_type        varchar(16),
    trigger_key         varchar(191),
    trigger_payload     json,
    idempotency_digest  varchar(64) COLLATE \"C\" CHECK (length(idempotency_digest) = 64),
    status              varchar(16) COLLATE \"C\" NOT NULL,
    current_node_id     varchar(64) COLLATE \"C\",
    steps_count         bigint NOT NULL DEFAULT 0 CHECK (steps_count >= 0),
    depth               bigint NOT NULL DEFAULT 0 CHECK (depth BETWEEN 0 AND 255),
    parent_instance_id  {key} REFERENCES {instances} (id) ON DELETE SET NULL,
    parent_step_run_id  {key},
    root_instance_id    {key},
    actor_mode          varchar(16) NOT NULL,
    starter_type        text,
    starter_id          {morph_key},
    failure_code        varchar(64),
    failure_message     text,
    failed_node_id      varchar(64),
    started_at          timestamptz,
    ended_at            timestamptz,
    lock_version        bigint NOT NULL DEFAULT 0 CHECK (lock_version >= 0),
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL
);
CREATE INDEX winst_overlay_idx ON {instances} (version_id, status, current_node_id);
CREATE INDEX winst_rate_idx ON {instances} (definition_id, created_at);
CREATE INDEX winst_status_idx ON {instances} (status, updated_at);
CREATE INDEX winst_idempotency_idx ON {instances} (idempotency_digest) WHERE idempotency_digest IS NOT NULL;
CREATE INDEX winst_parent_idx ON {instances} (parent_instance_id) WHERE parent_instance_id IS NOT NULL;
CREATE FUNCTION {instances}_frozen() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the version of an instance never changes' USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER winst_version_frozen BEFORE UPDATE OF version_id, ulid ON {instances}
    FOR EACH ROW EXECUTE FUNCTION {instances}_frozen();
";

    /// `$1` ulids.
    pub(in crate::workflows) const GET: &str = "SELECT ulid, version_id::text, status, current_node_id, steps_count, \
         depth, failure_code, failure_message, failed_node_id, ended_at, lock_version, updated_at, \
         trigger_payload::text, subject_key, subject_type, subject_id::text FROM {instances} \
         WHERE ulid = ANY($1::text[])";

    /// New instances, each a place in the arrays: `$1` ids, `$2` ulids, `$3` definitions, `$4` versions, `$5` and `$6`
    /// owners, `$7` to `$9` subjects, `$10` and `$11` triggers, `$12` payloads, `$13` digests, `$14` actor modes, `$15`
    /// and `$16` starters, `$17` depths, `$18` statuses, `$19` nodes, `$20` steps, `$21` to `$23` failures, `$24` ended
    /// at, `$25` now.
    pub(in crate::workflows) const INSERT: &str = "INSERT INTO {instances} \
         (id, ulid, definition_id, version_id, owner_type, owner_id, subject_key, subject_type, subject_id, \
         trigger_type, trigger_key, trigger_payload, idempotency_digest, actor_mode, starter_type, starter_id, \
         depth, status, current_node_id, steps_count, failure_code, failure_message, failed_node_id, ended_at, \
         started_at, created_at, updated_at) \
         SELECT {next:instances}, t.ulid, t.definition::{key}, t.version::{key}, t.owner_type, t.owner::{owner_key}, \
         t.subject_key, t.subject_type, t.subject::{subject_key}, t.trigger_type, t.trigger_key, t.payload::json, \
         t.digest, t.actor_mode, t.starter_type, t.starter::{morph_key}, t.depth, t.status, t.node, t.steps, \
         t.code, t.message, t.failed_node, t.ended_at, t.at, t.at, t.at \
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], \
         $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], \
         $17::bigint[], $18::text[], $19::text[], $20::bigint[], $21::text[], $22::text[], $23::text[], \
         $24::timestamptz[], $25::timestamptz[]) \
         AS t(id, ulid, definition, version, owner_type, owner, subject_key, subject_type, subject, trigger_type, \
         trigger_key, payload, digest, actor_mode, starter_type, starter, depth, status, node, steps, code, message, \
         failed_node, ended_at, at) ON CONFLICT (ulid) DO NOTHING RETURNING ulid, id::text";

    /// The last but so many starts of a definition: where there is one, its rate is used up. `$1` definition, `$2` since,
    /// `$3` how many to leave out.
    pub(in crate::workflows) const LAST_START: &str = "SELECT created_at FROM {instances} \
         WHERE definition_id = $1::text::{key} AND created_at > $2 ORDER BY created_at DESC LIMIT 1 OFFSET $3";

    /// As whom its steps may act. `$1` ulid.
    pub(in crate::workflows) const ACTORS: &str = "SELECT i.actor_mode, i.starter_type, i.starter_id::text, \
         i.owner_type, i.owner_id::text, v.publisher_type, v.publisher_id::text FROM {instances} i \
         JOIN {versions} v ON v.id = i.version_id WHERE i.ulid = $1";

    /// Those that nobody holds, held from here on. `$1` ulids.
    pub(in crate::workflows) const HOLD_FREE: &str = "SELECT ulid FROM {instances} WHERE ulid = ANY($1::text[]) \
         FOR NO KEY UPDATE SKIP LOCKED";

    /// Turns, each a place in the arrays, under the guard of the version that it was decided on. `$1` ulids, `$2` those
    /// versions, `$3` statuses, `$4` nodes, `$5` steps, `$6` to `$8` failures, `$9` ended at, `$10` now.
    pub(in crate::workflows) const TURN: &str = "UPDATE {instances} i SET status = t.status, \
         current_node_id = t.node, steps_count = t.steps, failure_code = t.code, failure_message = t.message, \
         failed_node_id = t.failed_node, ended_at = t.ended_at, updated_at = t.at, \
         lock_version = i.lock_version + 1 \
         FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], \
         $8::text[], $9::timestamptz[], $10::timestamptz[]) \
         AS t(ulid, guard, status, node, steps, code, message, failed_node, ended_at, at) \
         WHERE i.ulid = t.ulid AND i.lock_version = t.guard RETURNING i.ulid, i.id::text";

    /// One for people. `$1` ulid.
    pub(in crate::workflows) const SUMMARY: &str = "SELECT i.ulid, i.owner_type, i.owner_id::text, d.key, v.id::text, \
         v.number, i.status, i.current_node_id, i.steps_count, i.depth, i.trigger_type, i.trigger_key, \
         i.starter_type, i.starter_id::text, i.subject_key, i.subject_type, i.subject_id::text, i.failure_code, \
         i.failure_message, i.failed_node_id, i.created_at, i.ended_at, i.updated_at, i.lock_version \
         FROM {instances} i JOIN {definitions} d ON d.id = i.definition_id \
         JOIN {versions} v ON v.id = i.version_id WHERE i.ulid = $1";

    /// Some definitions', of each so many, newest first. `$1` definitions, `$2` started then or later, `$3` and `$4` after
    /// this place, `$5` how many.
    pub(in crate::workflows) const LIST: &str = "SELECT i.ulid, i.owner_type, i.owner_id::text, d.key, v.id::text, \
         v.number, i.status, i.current_node_id, i.steps_count, i.depth, i.trigger_type, i.trigger_key, \
         i.starter_type, i.starter_id::text, i.subject_key, i.subject_type, i.subject_id::text, i.failure_code, \
         i.failure_message, i.failed_node_id, i.created_at, i.ended_at, i.updated_at, i.lock_version, \
         d.id::text FROM unnest($1::text[]) t(id) JOIN {definitions} d ON d.id = t.id::{key} \
         CROSS JOIN LATERAL (SELECT * FROM {instances} i WHERE i.definition_id = d.id AND i.created_at >= $2 \
         AND i.created_at <= $3 AND (i.created_at < $3 OR i.ulid < $4) \
         ORDER BY i.created_at DESC, i.ulid DESC LIMIT $5) i \
         JOIN {versions} v ON v.id = i.version_id ORDER BY i.created_at DESC, i.ulid DESC";

    /// `$1` ulid.
    pub(in crate::workflows) const PAYLOADS: &str = "SELECT i.trigger_payload::text, \
         CASE WHEN i.status = 'completed' THEN (SELECT s.output::text FROM {step_runs} s WHERE s.instance_id = i.id \
         AND s.node_type = 'end' AND s.status = 'completed' ORDER BY s.created_at DESC LIMIT 1) END \
         FROM {instances} i WHERE i.ulid = $1";

    /// `$1` version.
    pub(in crate::workflows) const OVERLAY: &str = "SELECT status, current_node_id, count(*) FROM {instances} \
         WHERE version_id = $1::text::{key} AND status IN ('running', 'waiting', 'paused') \
         AND current_node_id IS NOT NULL GROUP BY status, current_node_id";
}

//! `workflow_idempotency_keys` (W10).

pub(in crate::workflows) mod sqlite {
    pub(in crate::workflows) const CREATE: &str = "CREATE TABLE {idempotency_keys} (
    id             {primary_key},
    scope          TEXT NOT NULL CHECK (scope IN ('start', 'effect')),
    key            TEXT NOT NULL CHECK (length(key) = 64),
    definition_id  {key} REFERENCES {definitions} (id) ON DELETE SET NULL,
    instance_id    {key} REFERENCES {instances} (id) ON DELETE CASCADE,
    result         TEXT,
    expires_at     TEXT,
    created_at     TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX widem_unique ON {idempotency_keys} (scope, key);
CREATE INDEX widem_expires_idx ON {idempotency_keys} (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX widem_instance_idx ON {idempotency_keys} (instance_id);
";

    /// The instance of a start key that still counts. `?1` key, `?2` now.
    pub(in crate::workflows) const STARTED: &str = "SELECT i.ulid FROM {idempotency_keys} k \
         INDEXED BY widem_unique JOIN {instances} i ON i.id = k.instance_id \
         WHERE k.scope = 'start' AND k.key = ?1 AND k.expires_at > ?2";

    /// `?1` id, `?2` key, `?3` definition, `?4` instance, `?5` expires at, `?6` now. One that no longer counts makes way.
    pub(in crate::workflows) const START: &str = "INSERT INTO {idempotency_keys} \
         (id, scope, key, definition_id, instance_id, expires_at, created_at) \
         VALUES (?1, 'start', ?2, ?3, ?4, ?5, ?6) ON CONFLICT (scope, key) DO UPDATE SET \
         definition_id = excluded.definition_id, instance_id = excluded.instance_id, \
         expires_at = excluded.expires_at, created_at = excluded.created_at";

    /// `?1` key.
    pub(in crate::workflows) const EFFECT: &str =
        "SELECT result FROM {idempotency_keys} INDEXED BY widem_unique WHERE scope = 'effect' AND key = ?1";

    /// `?1` id, `?2` key, `?3` ulid, `?4` result, `?5` now.
    pub(in crate::workflows) const KEEP_EFFECT: &str = "INSERT INTO {idempotency_keys} \
         (id, scope, key, definition_id, instance_id, result, created_at) \
         SELECT ?1, 'effect', ?2, definition_id, id, ?4, ?5 FROM {instances} WHERE ulid = ?3 \
         ON CONFLICT (scope, key) DO NOTHING";
}

pub(in crate::workflows) mod postgres {
    pub(in crate::workflows) const CREATE: &str = "CREATE TABLE {idempotency_keys} (
    id             {primary_key},
    scope          varchar(16) COLLATE \"C\" NOT NULL CHECK (scope IN ('start', 'effect')),
    key            varchar(64) COLLATE \"C\" NOT NULL CHECK (length(key) = 64),
    definition_id  {key} REFERENCES {definitions} (id) ON DELETE SET NULL,
    instance_id    {key} REFERENCES {instances} (id) ON DELETE CASCADE,
    result         json,
    expires_at     timestamptz,
    created_at     timestamptz NOT NULL
);
CREATE UNIQUE INDEX widem_unique ON {idempotency_keys} (scope, key);
CREATE INDEX widem_expires_idx ON {idempotency_keys} (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX widem_instance_idx ON {idempotency_keys} (instance_id);
";

    /// The instances of start keys that still count. `$1` keys, `$2` now, each a place in the arrays.
    pub(in crate::workflows) const STARTED: &str = "SELECT k.key, i.ulid \
         FROM unnest($1::text[], $2::timestamptz[]) AS t(key, at) \
         JOIN {idempotency_keys} k ON k.scope = 'start' AND k.key = t.key AND k.expires_at > t.at \
         JOIN {instances} i ON i.id = k.instance_id";

    /// Start keys, each a place in the arrays: `$1` id, `$2` key, `$3` definition, `$4` instance, `$5` expires at, `$6`
    /// now. One that no longer counts makes way.
    pub(in crate::workflows) const START: &str = "INSERT INTO {idempotency_keys} AS k \
         (id, scope, key, definition_id, instance_id, expires_at, created_at) \
         SELECT {next:idempotency_keys}, 'start', t.key, t.definition::{key}, t.instance::{key}, t.expires_at, t.at \
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[]) \
         AS t(id, key, definition, instance, expires_at, at) ON CONFLICT (scope, key) DO UPDATE SET \
         definition_id = excluded.definition_id, instance_id = excluded.instance_id, \
         expires_at = excluded.expires_at, created_at = excluded.created_at \
         WHERE k.expires_at <= excluded.created_at RETURNING instance_id::text";

    /// `$1` key.
    pub(in crate::workflows) const EFFECT: &str =
        "SELECT result::text FROM {idempotency_keys} WHERE scope = 'effect' AND key = $1";

    /// `$1` id, `$2` key, `$3` ulid, `$4` result, `$5` now.
    pub(in crate::workflows) const KEEP_EFFECT: &str = "INSERT INTO {idempotency_keys} \
         (id, scope, key, definition_id, instance_id, result, created_at) \
         SELECT {next:idempotency_keys}, 'effect', $2, i.definition_id, i.id, $4::text::json, $5::timestamptz \
         FROM (SELECT $1::text AS id) t, {instances} i WHERE i.ulid = $3 ON CONFLICT (scope, key) DO NOTHING";
}

//! `workflow_definitions` (W4).

pub(in crate::workflows) mod sqlite {
    pub(in crate::workflows) const CREATE: &str = "CREATE TABLE {definitions} (
    id                  {primary_key},
    key                 TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 100),
    name                TEXT NOT NULL CHECK (length(name) <= 200),
    description         TEXT,
    owner_type          TEXT,
    owner_id            {owner_key},
    owner_scope         TEXT NOT NULL CHECK (length(owner_scope) <= 191),
    subject_key         TEXT CHECK (length(subject_key) <= 100),
    status              TEXT NOT NULL CHECK (length(status) <= 16),
    current_version_id  {key},
    webhook_id          TEXT UNIQUE CHECK (length(webhook_id) = 26),
    created_at          TEXT NOT NULL,
    updated_at          TEXT NOT NULL,
    deleted_at          TEXT,
    CHECK ((owner_type IS NULL) = (owner_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX wdef_key_unique ON {definitions} (owner_scope, key);
CREATE INDEX wdef_current_idx ON {definitions} (current_version_id);
";

    /// `?1` scope, `?2` key.
    pub(in crate::workflows) const FIND: &str = "SELECT id, current_version_id FROM {definitions} WHERE owner_scope = ?1 AND key = ?2 AND deleted_at IS NULL";

    /// `?1` id, `?2` key, `?3` name, `?4` owner's type, `?5` owner's id, `?6` scope, `?7` now.
    pub(in crate::workflows) const INSERT: &str = "INSERT INTO {definitions} \
         (id, key, name, owner_type, owner_id, owner_scope, status, created_at, updated_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'published', ?7, ?7) RETURNING id";

    /// `?1` id, `?2` the current version, `?3` now.
    pub(in crate::workflows) const SET_CURRENT: &str =
        "UPDATE {definitions} SET current_version_id = ?2, updated_at = ?3 WHERE id = ?1";

    /// `?1` scope, `?2` after the key, `?3` limit.
    pub(in crate::workflows) const LIST: &str = "SELECT d.id, d.key, d.name, d.status, v.id, v.number, v.checksum, \
         d.updated_at FROM {definitions} d INDEXED BY wdef_key_unique \
         LEFT JOIN {versions} v ON v.id = d.current_version_id \
         WHERE d.owner_scope = ?1 AND d.key > ?2 AND d.deleted_at IS NULL ORDER BY d.key LIMIT ?3";

    /// `?1` scope, `?2` key.
    pub(in crate::workflows) const SUMMARY: &str = "SELECT d.id, d.key, d.name, d.status, v.id, v.number, \
         v.checksum, d.updated_at FROM {definitions} d INDEXED BY wdef_key_unique \
         LEFT JOIN {versions} v ON v.id = d.current_version_id \
         WHERE d.owner_scope = ?1 AND d.key = ?2 AND d.deleted_at IS NULL";

    /// The first of those that an owner's instances may be of, removed ones included. `?1` scope, `?2` key or null,
    /// `?3` limit.
    pub(in crate::workflows) const IDS: &str = "SELECT id FROM {definitions} INDEXED BY wdef_key_unique \
         WHERE owner_scope = ?1 AND (?2 IS NULL OR key = ?2) ORDER BY key LIMIT ?3";
}

pub(in crate::workflows) mod postgres {
    pub(in crate::workflows) const CREATE: &str = "CREATE TABLE {definitions} (
    id                  {primary_key},
    key                 varchar(100) COLLATE \"C\" NOT NULL CHECK (length(key) >= 1),
    name                varchar(200) NOT NULL,
    description         text,
    owner_type          text,
    owner_id            {owner_key},
    owner_scope         varchar(191) COLLATE \"C\" NOT NULL,
    subject_key         varchar(100),
    status              varchar(16) NOT NULL,
    current_version_id  {key},
    webhook_id          varchar(26) UNIQUE CHECK (length(webhook_id) = 26),
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    deleted_at          timestamptz,
    CHECK ((owner_type IS NULL) = (owner_id IS NULL))
);
CREATE UNIQUE INDEX wdef_key_unique ON {definitions} (owner_scope, key);
CREATE INDEX wdef_current_idx ON {definitions} (current_version_id);
";

    /// The keys of the current version and of its definition. `$1` scope, `$2` key.
    pub(in crate::workflows) const CURRENT_KEY: &str = "SELECT current_version_id::text, id::text FROM {definitions} \
         WHERE owner_scope = $1 AND key = $2 AND deleted_at IS NULL AND current_version_id IS NOT NULL";

    /// The definition, held until the transaction ends. `$1` scope, `$2` key.
    pub(in crate::workflows) const HOLD: &str = "SELECT id::text, current_version_id::text FROM {definitions} \
         WHERE owner_scope = $1 AND key = $2 AND deleted_at IS NULL FOR UPDATE";

    /// Whoever starts instances of these, counting them, comes one after the other. `$1` ids.
    pub(in crate::workflows) const COUNTING: &str = "SELECT 1 FROM {definitions} \
         WHERE id = ANY($1::text[]::{key}[]) ORDER BY id FOR NO KEY UPDATE";

    /// `$1` id, `$2` key, `$3` name, `$4` owner's type, `$5` owner's id, `$6` scope, `$7` now. One that is there stays.
    pub(in crate::workflows) const INSERT: &str = "INSERT INTO {definitions} \
         (id, key, name, owner_type, owner_id, owner_scope, status, created_at, updated_at) \
         SELECT {next:definitions}, $2, $3, $4, $5::text::{owner_key}, $6, 'published', $7::timestamptz, $7::timestamptz \
         FROM (SELECT $1::text AS id) t ON CONFLICT (owner_scope, key) DO NOTHING";

    /// `$1` id, `$2` the current version, `$3` now.
    pub(in crate::workflows) const SET_CURRENT: &str = "UPDATE {definitions} \
         SET current_version_id = $2::text::{key}, updated_at = $3 WHERE id = $1::text::{key}";

    /// `$1` scope, `$2` after the key, `$3` limit.
    pub(in crate::workflows) const LIST: &str = "SELECT d.id::text, d.key, d.name, d.status, v.id::text, v.number, \
         v.checksum, d.updated_at FROM {definitions} d LEFT JOIN {versions} v ON v.id = d.current_version_id \
         WHERE d.owner_scope = $1 AND d.key > $2 AND d.deleted_at IS NULL ORDER BY d.key LIMIT $3";

    /// `$1` scope, `$2` key.
    pub(in crate::workflows) const SUMMARY: &str = "SELECT d.id::text, d.key, d.name, d.status, v.id::text, v.number, \
         v.checksum, d.updated_at FROM {definitions} d LEFT JOIN {versions} v ON v.id = d.current_version_id \
         WHERE d.owner_scope = $1 AND d.key = $2 AND d.deleted_at IS NULL";

    /// The first of those that an owner's instances may be of, removed ones included. `$1` scope, `$2` key or null,
    /// `$3` limit.
    pub(in crate::workflows) const IDS: &str = "SELECT id::text FROM {definitions} \
         WHERE owner_scope = $1 AND ($2::text IS NULL OR key = $2) ORDER BY key LIMIT $3";
}

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

    /// Those that an owner's instances may be of, removed ones included. `?1` scope, `?2` key or null.
    pub(in crate::workflows) const IDS: &str = "SELECT id FROM {definitions} INDEXED BY wdef_key_unique \
         WHERE owner_scope = ?1 AND (?2 IS NULL OR key = ?2)";
}

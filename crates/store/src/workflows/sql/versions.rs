//! `workflow_versions` (W5) and `workflow_dry_runs` (W11).

pub(in crate::workflows) mod sqlite {
    pub(in crate::workflows) const CREATE: &str = "CREATE TABLE {versions} (
    id                  {primary_key},
    definition_id       {key} NOT NULL REFERENCES {definitions} (id) ON DELETE RESTRICT,
    number              INTEGER NOT NULL CHECK (number > 0),
    status              TEXT NOT NULL CHECK (length(status) <= 16),
    schema_version      TEXT NOT NULL CHECK (length(schema_version) <= 32),
    graph               TEXT NOT NULL,
    \"trigger\"           TEXT NOT NULL,
    settings            TEXT NOT NULL,
    trigger_type        TEXT CHECK (length(trigger_type) <= 16),
    trigger_key         TEXT CHECK (length(trigger_key) <= 191),
    actor_mode          TEXT NOT NULL CHECK (length(actor_mode) <= 16),
    checksum            TEXT NOT NULL CHECK (length(checksum) = 64),
    review_flags        TEXT,
    published_at        TEXT,
    publisher_type      TEXT,
    publisher_id        {morph_key},
    schedule_cursor_at  TEXT,
    created_at          TEXT NOT NULL,
    updated_at          TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX wver_number_unique ON {versions} (definition_id, number);
CREATE INDEX wver_trigger_idx ON {versions} (status, trigger_type, trigger_key);
CREATE TRIGGER wver_frozen BEFORE UPDATE OF definition_id, number, schema_version, graph, \"trigger\", settings,
    trigger_type, trigger_key, actor_mode, checksum, published_at, publisher_type, publisher_id
    ON {versions} WHEN OLD.published_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a published version is frozen'); END;
";

    pub(in crate::workflows) const CREATE_DRY_RUNS: &str = "CREATE TABLE {dry_runs} (
    id              {primary_key},
    definition_id   {key} NOT NULL REFERENCES {definitions} (id) ON DELETE CASCADE,
    version_id      {key} REFERENCES {versions} (id) ON DELETE SET NULL,
    owner_type      TEXT,
    owner_id        {owner_key},
    subject_type    TEXT,
    subject_id      {subject_key},
    requester_type  TEXT,
    requester_id    {morph_key},
    input           TEXT NOT NULL,
    result          TEXT NOT NULL,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL,
    deleted_at      TEXT
) STRICT;
CREATE INDEX wdry_definition_idx ON {dry_runs} (definition_id, created_at);
";

    /// `?1` id.
    pub(in crate::workflows) const GET: &str =
        "SELECT id, definition_id, number, graph, checksum, actor_mode FROM {versions} WHERE id = ?1";

    /// `?1` definition.
    pub(in crate::workflows) const LAST_NUMBER: &str =
        "SELECT coalesce(max(number), 0) FROM {versions} WHERE definition_id = ?1";

    /// `?1` id, `?2` definition, `?3` number, `?4` schema, `?5` graph, `?6` trigger, `?7` settings, `?8` trigger's type,
    /// `?9` its key, `?10` actor mode, `?11` checksum, `?12` publisher's type, `?13` publisher's id, `?14` now.
    pub(in crate::workflows) const INSERT: &str = "INSERT INTO {versions} \
         (id, definition_id, number, status, schema_version, graph, \"trigger\", settings, trigger_type, \
         trigger_key, actor_mode, checksum, publisher_type, publisher_id, published_at, created_at, updated_at) \
         VALUES (?1, ?2, ?3, 'published', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14, ?14) RETURNING id";

    /// The version before the current one. `?1` id, `?2` now.
    pub(in crate::workflows) const SUPERSEDE: &str =
        "UPDATE {versions} SET status = 'superseded', updated_at = ?2 WHERE id = ?1";

    /// `?1` definition, `?2` less than this number, `?3` limit.
    pub(in crate::workflows) const LIST: &str = "SELECT id, number, status, checksum, actor_mode, trigger_type, \
         trigger_key, published_at, publisher_type, publisher_id FROM {versions} INDEXED BY wver_number_unique \
         WHERE definition_id = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3";
}

pub(in crate::workflows) mod postgres {
    pub(in crate::workflows) const CREATE: &str = "CREATE TABLE {versions} (
    id                  {primary_key},
    definition_id       {key} NOT NULL REFERENCES {definitions} (id) ON DELETE RESTRICT,
    number              bigint NOT NULL CHECK (number > 0),
    status              varchar(16) COLLATE \"C\" NOT NULL,
    schema_version      varchar(32) NOT NULL,
    graph               json NOT NULL,
    \"trigger\"           json NOT NULL,
    settings            json NOT NULL,
    trigger_type        varchar(16) COLLATE \"C\",
    trigger_key         varchar(191) COLLATE \"C\",
    actor_mode          varchar(16) NOT NULL,
    checksum            varchar(64) NOT NULL CHECK (length(checksum) = 64),
    review_flags        json,
    published_at        timestamptz,
    publisher_type      text,
    publisher_id        {morph_key},
    schedule_cursor_at  timestamptz,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL
);
CREATE UNIQUE INDEX wver_number_unique ON {versions} (definition_id, number);
CREATE INDEX wver_trigger_idx ON {versions} (status, trigger_type, trigger_key);
CREATE FUNCTION {versions}_frozen() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'a published version is frozen' USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER wver_frozen BEFORE UPDATE OF definition_id, number, schema_version, graph, \"trigger\", settings,
    trigger_type, trigger_key, actor_mode, checksum, published_at, publisher_type, publisher_id
    ON {versions} FOR EACH ROW WHEN (OLD.published_at IS NOT NULL) EXECUTE FUNCTION {versions}_frozen();
";

    pub(in crate::workflows) const CREATE_DRY_RUNS: &str = "CREATE TABLE {dry_runs} (
    id              {primary_key},
    definition_id   {key} NOT NULL REFERENCES {definitions} (id) ON DELETE CASCADE,
    version_id      {key} REFERENCES {versions} (id) ON DELETE SET NULL,
    owner_type      text,
    owner_id        {owner_key},
    subject_type    text,
    subject_id      {subject_key},
    requester_type  text,
    requester_id    {morph_key},
    input           json NOT NULL,
    result          json NOT NULL,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    deleted_at      timestamptz
);
CREATE INDEX wdry_definition_idx ON {dry_runs} (definition_id, created_at);
";

    /// `$1` id.
    pub(in crate::workflows) const GET: &str = "SELECT id::text, definition_id::text, number, graph::text, checksum, \
         actor_mode FROM {versions} WHERE id = $1::text::{key}";

    /// `$1` id, `$2` definition, `$3` schema, `$4` graph, `$5` trigger, `$6` settings, `$7` trigger's type, `$8` its key,
    /// `$9` actor mode, `$10` checksum, `$11` publisher's type, `$12` publisher's id, `$13` now.
    pub(in crate::workflows) const INSERT: &str = "INSERT INTO {versions} \
         (id, definition_id, number, status, schema_version, graph, \"trigger\", settings, trigger_type, \
         trigger_key, actor_mode, checksum, publisher_type, publisher_id, published_at, created_at, updated_at) \
         SELECT {next:versions}, $2::text::{key}, \
         (SELECT coalesce(max(number), 0) + 1 FROM {versions} WHERE definition_id = $2::text::{key}), 'published', \
         $3, $4::text::json, $5::text::json, $6::text::json, $7, $8, $9, $10, $11, $12::text::{morph_key}, $13::timestamptz, \
         $13::timestamptz, $13::timestamptz \
         FROM (SELECT $1::text AS id) t RETURNING id::text";

    /// The version before the current one. `$1` id, `$2` now.
    pub(in crate::workflows) const SUPERSEDE: &str =
        "UPDATE {versions} SET status = 'superseded', updated_at = $2 WHERE id = $1::text::{key}";

    /// `$1` definition, `$2` less than this number, `$3` limit.
    pub(in crate::workflows) const LIST: &str = "SELECT id::text, number, status, checksum, actor_mode, trigger_type, \
         trigger_key, published_at, publisher_type, publisher_id::text FROM {versions} \
         WHERE definition_id = $1::text::{key} AND number < $2 ORDER BY number DESC LIMIT $3";
}

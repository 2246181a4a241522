//! The statements, named, one file per table, each with its dialects side by side. Names of tables and types of keys
//! stand in braces until an installation is known (`Schema::render`). Rules are not here: a plan says what to write.

pub(super) mod definitions;
pub(super) mod escalations;
pub(super) mod idempotency_keys;
pub(super) mod instances;
pub(super) mod step_runs;
pub(super) mod versions;
pub(super) mod waits;

/// The tables on `SQLite`, in the order in which to make them.
pub(super) const SQLITE_TABLES: [&str; 8] = [
    definitions::sqlite::CREATE,
    versions::sqlite::CREATE,
    instances::sqlite::CREATE,
    step_runs::sqlite::CREATE,
    waits::sqlite::CREATE,
    escalations::sqlite::CREATE,
    idempotency_keys::sqlite::CREATE,
    versions::sqlite::CREATE_DRY_RUNS,
];

/// The tables on `PostgreSQL`, in the order in which to make them.
pub(super) const POSTGRES_TABLES: [&str; 8] = [
    definitions::postgres::CREATE,
    versions::postgres::CREATE,
    instances::postgres::CREATE,
    step_runs::postgres::CREATE,
    waits::postgres::CREATE,
    escalations::postgres::CREATE,
    idempotency_keys::postgres::CREATE,
    versions::postgres::CREATE_DRY_RUNS,
];

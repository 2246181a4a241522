//! What several tests need.

/// The connection string of a schema that nobody else has, which `WorkflowPostgres::install` makes.
pub fn fresh_database() -> String {
    let server = std::env::var("HEDDLE_TEST_POSTGRES")
        .expect("HEDDLE_TEST_POSTGRES names a PostgreSQL server for tests: `cargo xtask test` starts one");
    format!("{server} options='-c search_path=test_{}'", uuid::Uuid::new_v4().simple())
}

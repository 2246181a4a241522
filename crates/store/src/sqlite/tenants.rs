//! `organization`, `project` and `user` on `SQLite`.

use heddle_generation::{OrganizationId, ProjectId, UserSub};
use jiff::Timestamp;
use rusqlite::{Connection, Params, params};

use super::failed;
use crate::row::time_text;
use crate::sql::tenant::sqlite as sql;
use crate::{StoreError, TenantSeed};

pub(super) fn ensure(connection: &Connection, tenant: &TenantSeed, now: Timestamp) -> Result<(), StoreError> {
    let now = time_text(now);
    let organization = tenant.organization.0;
    execute(connection, sql::ENSURE_ORGANIZATION, params![organization, tenant.name, now])?;
    for (project, name) in &tenant.projects {
        execute(connection, sql::ENSURE_PROJECT, params![project.0, organization, name, now])?;
        if !has_project(connection, tenant.organization, *project)? {
            return Err(StoreError::BadRow {
                table: "project",
                column: "organization_id",
                id: project.to_string(),
                reason: format!("is not {organization}: the project belongs to another organization"),
            });
        }
    }
    for user in &tenant.users {
        execute(connection, sql::ENSURE_USER, params![user.as_str(), now])?;
    }
    Ok(())
}

pub(super) fn has_project(
    connection: &Connection,
    organization: OrganizationId,
    project: ProjectId,
) -> Result<bool, StoreError> {
    exists(connection, sql::HAS_PROJECT, params![organization.0, project.0])
}

pub(super) fn has_user(connection: &Connection, user: &UserSub) -> Result<bool, StoreError> {
    exists(connection, sql::HAS_USER, params![user.as_str()])
}

fn execute(connection: &Connection, statement: &str, params: impl Params) -> Result<usize, StoreError> {
    connection.execute(statement, params).map_err(|error| failed("seed a tenant", error))
}

fn exists(connection: &Connection, statement: &str, params: impl Params) -> Result<bool, StoreError> {
    connection
        .prepare_cached(statement)
        .and_then(|mut statement| statement.query_row(params, |row| row.get(0)))
        .map_err(|error| failed("look for a tenant's record", error))
}

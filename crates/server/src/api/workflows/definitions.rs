//! `/v1/workflows`: graphs, looked at, published, seen again.

use axum::extract::State;
use heddle_engine::Publication;
use heddle_store::workflows::{DefinitionSummary, VersionSummary};
use heddle_workflow::{MAX_KEY_CHARS, MAX_NAME_CHARS, check_text, checksum};

use super::views::{
    Overlay, PublishWorkflow, PublishedWorkflow, ValidateWorkflow, Validation, Workflow, WorkflowDetail,
    WorkflowPage, WorkflowVersion, WorkflowVersionDetail, WorkflowVersionPage,
};
use super::{Tenant, check_key, limit, misfit, opened, sealed};
use crate::app::App;
use crate::auth::Caller;
use crate::extract::{ExactJson, QueryFields, VersionPath, WorkflowPath, unknown_fields};
use crate::problem::{FindingBody, Problem, ProblemBody};

/// Look at a graph without publishing it: everything that there is to say of it.
#[utoipa::path(
    post, path = "/v1/workflows/validate", tag = "workflows", operation_id = "validateWorkflow",
    request_body = ValidateWorkflow,
    responses(
        (status = 200, description = "What there is to say; nothing, of a sound graph", body = Validation),
        (status = 400, description = "Not JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Fields at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn validate(
    State(app): State<App>,
    Caller(caller): Caller,
    ExactJson(body): ExactJson<ValidateWorkflow>,
) -> Result<axum::Json<Validation>, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    let errors = unknown_fields("", &body.unknown);
    if !errors.is_empty() {
        return Err(Problem::invalid(errors));
    }
    let checked = tenant.engine.check(&body.document);
    Ok(axum::Json(Validation {
        sound: checked.graph.is_some(),
        checksum: checksum(&body.document).ok(),
        findings: checked.findings.into_iter().map(FindingBody::from).collect(),
    }))
}

/// Publish a graph: from here on new instances run it. Those that are under way go on with their own version.
#[utoipa::path(
    put, path = "/v1/workflows/{key}", tag = "workflows", operation_id = "publishWorkflow",
    params(("key" = String, Path, description = "The workflow's key")),
    request_body = PublishWorkflow,
    responses(
        (status = 200, description = "The version, and warnings", body = PublishedWorkflow),
        (status = 400, description = "Not JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "You may not do this: `forbidden`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "Somebody else has published meanwhile: `present_checksum`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "The graph has errors: `findings`; or fields at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn publish(
    State(app): State<App>,
    Caller(caller): Caller,
    WorkflowPath(key): WorkflowPath,
    ExactJson(body): ExactJson<PublishWorkflow>,
) -> Result<axum::Json<PublishedWorkflow>, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    let mut errors = unknown_fields("", &body.unknown);
    errors.extend(check_key(&key).err());
    let named = body.name.as_ref().map_or(Ok(()), |name| check_text("a name", name, MAX_NAME_CHARS));
    errors.extend(misfit("name", named));
    if !errors.is_empty() {
        return Err(Problem::invalid(errors));
    }
    let publication = Publication {
        owner: Some(tenant.owner.clone()),
        name: body.name.unwrap_or_else(|| key.clone()),
        publisher: Some(app.people.user(&caller.user)),
        expected_checksum: body.expected_checksum,
        ..Publication::new(&key, &body.document)
    };
    let (version, findings) = tenant.engine.publish_as(publication).await?;
    tracing::info!(key, version = version.number, "workflow published");
    Ok(axum::Json(PublishedWorkflow {
        key,
        version: version.number,
        checksum: version.checksum,
        findings: findings.into_iter().map(FindingBody::from).collect(),
    }))
}

/// List workflows, by their keys.
#[utoipa::path(
    get, path = "/v1/workflows", tag = "workflows", operation_id = "listWorkflows",
    params(
        ("limit" = Option<u16>, Query, description = "Workflows in a page, 1 to 100; 25 where it is left out"),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before"),
    ),
    responses(
        (status = 200, description = "One page", body = WorkflowPage),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Parameters at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(caller): Caller,
    mut query: QueryFields,
) -> Result<axum::Json<WorkflowPage>, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    let limit = limit(&mut query);
    let after = query.take("cursor", "the next_cursor of a page", |text| {
        opened(text).map(|[key]| key).filter(|key| is_key(key))
    });
    query.finish()?;
    let page = tenant.engine.reading().definitions(&tenant.scope(), after.as_deref(), limit).await?;
    Ok(axum::Json(WorkflowPage {
        items: page.items.into_iter().map(Workflow::from).collect(),
        next_cursor: page.next.map(|key| sealed(&[&key])),
    }))
}

/// Whether some workflow may have this key, whoever has published it and by which rules.
fn is_key(key: &str) -> bool {
    check_text("a workflow's key", key, MAX_KEY_CHARS).is_ok()
}

impl Tenant<'_> {
    async fn definition(&self, key: &str) -> Result<DefinitionSummary, Problem> {
        if !is_key(key) {
            return Err(Problem::no_such_workflow());
        }
        let found = self.engine.reading().definition(&self.scope(), key).await?;
        found.ok_or_else(Problem::no_such_workflow)
    }

    async fn version(&self, key: &str, number: &str) -> Result<VersionSummary, Problem> {
        let definition = self.definition(key).await?;
        let number = number.parse().map_err(|_| Problem::no_such_version())?;
        let found = self.engine.reading().numbered(&definition.id, number).await?;
        found.ok_or_else(Problem::no_such_version)
    }
}

/// Look at a workflow, with the graph that new instances run.
#[utoipa::path(
    get, path = "/v1/workflows/{key}", tag = "workflows", operation_id = "getWorkflow",
    params(("key" = String, Path, description = "The workflow's key")),
    responses(
        (status = 200, description = "The workflow", body = WorkflowDetail),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such workflow", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    Caller(caller): Caller,
    WorkflowPath(key): WorkflowPath,
) -> Result<axum::Json<WorkflowDetail>, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    let definition = tenant.definition(&key).await?;
    let document = match &definition.current {
        Some(current) => Some(tenant.engine.document(&current.id).await?.as_ref().clone()),
        None => None,
    };
    Ok(axum::Json(WorkflowDetail { workflow: definition.into(), document }))
}

/// List a workflow's versions, newest first.
#[utoipa::path(
    get, path = "/v1/workflows/{key}/versions", tag = "workflows", operation_id = "listWorkflowVersions",
    params(
        ("key" = String, Path, description = "The workflow's key"),
        ("limit" = Option<u16>, Query, description = "Versions in a page, 1 to 100; 25 where it is left out"),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before"),
    ),
    responses(
        (status = 200, description = "One page", body = WorkflowVersionPage),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such workflow", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Parameters at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn versions(
    State(app): State<App>,
    Caller(caller): Caller,
    WorkflowPath(key): WorkflowPath,
    mut query: QueryFields,
) -> Result<axum::Json<WorkflowVersionPage>, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    let limit = limit(&mut query);
    let read = |text: &str| opened(text).and_then(|[number]| number.parse().ok());
    let before = query.take("cursor", "the next_cursor of a page", read);
    query.finish()?;
    let definition = tenant.definition(&key).await?;
    let page = tenant.engine.reading().versions(&definition.id, before, limit).await?;
    Ok(axum::Json(WorkflowVersionPage {
        items: page.items.into_iter().map(|version| WorkflowVersion::of(version, &app.people)).collect(),
        next_cursor: page.next.map(|number| sealed(&[&number.to_string()])),
    }))
}

/// Look at a version, with its graph.
#[utoipa::path(
    get, path = "/v1/workflows/{key}/versions/{number}", tag = "workflows", operation_id = "getWorkflowVersion",
    params(
        ("key" = String, Path, description = "The workflow's key"),
        ("number" = u32, Path, description = "The version's number"),
    ),
    responses(
        (status = 200, description = "The version", body = WorkflowVersionDetail),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such workflow or version", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn version(
    State(app): State<App>,
    Caller(caller): Caller,
    VersionPath(key, number): VersionPath,
) -> Result<axum::Json<WorkflowVersionDetail>, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    let version = tenant.version(&key, &number).await?;
    let document = tenant.engine.document(&version.id).await?.as_ref().clone();
    let version = WorkflowVersion::of(version, &app.people);
    Ok(axum::Json(WorkflowVersionDetail { version, document }))
}

/// See where the live instances of a version stand.
#[utoipa::path(
    get, path = "/v1/workflows/{key}/versions/{number}/overlay", tag = "workflows", operation_id = "getWorkflowOverlay",
    params(
        ("key" = String, Path, description = "The workflow's key"),
        ("number" = u32, Path, description = "The version's number"),
    ),
    responses(
        (status = 200, description = "How many at which node", body = Overlay),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such workflow or version", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn overlay(
    State(app): State<App>,
    Caller(caller): Caller,
    VersionPath(key, number): VersionPath,
) -> Result<axum::Json<Overlay>, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    let version = tenant.version(&key, &number).await?;
    Ok(axum::Json(tenant.engine.reading().overlay(&version.id).await?.into()))
}

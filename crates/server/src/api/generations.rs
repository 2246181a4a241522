//! `/v1/generations`: runs, asked for, looked at, called off, removed.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use heddle_exchange::keys::{ContentHash, Tenant, is_sha256};
use heddle_generation::message::Source;
use heddle_generation::{
    Command, Edge, FieldError, ProjectId, Requester, RunId, RunRequest, ScoreValue, Status, open,
};
use heddle_store::{MAX_PAGE, PageRequest, RunFilter, Transition};
use jiff::Timestamp;

use super::views::{CreateGeneration, Generation, GenerationPage, SourceBody, read_cursor};
use crate::app::{App, Shared, about};
use crate::auth::Caller;
use crate::extract::{Json, QueryFields, RunPath, unknown_fields};
use crate::problem::{Problem, ProblemBody};

/// How many runs a page has when nobody says.
pub(crate) const DEFAULT_PAGE: u16 = 25;

/// Ask for a run. The row is there to be polled before any worker hears of it.
#[utoipa::path(
    post, path = "/v1/generations", tag = "generations", operation_id = "createGeneration",
    request_body = CreateGeneration,
    responses(
        (status = 201, description = "The run", body = Generation, headers(("Location" = String, description = "Where to poll it"))),
        (status = 400, description = "Not JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "A run of this node is alive on this edge: `existing_id`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 415, description = "Not called JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Fields at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn create(
    State(app): State<App>,
    Caller(caller): Caller,
    Json(body): Json<CreateGeneration>,
) -> Result<Response, Problem> {
    let request = requested(body, &app.config.edges, &caller)?;
    let now = app.clock.now();
    let opening = open(request, &caller, new_run_id(now), now);
    about(opening.run.id);
    let run = app.store.runs.create(&opening).await?;
    app.wake_relay.notify_one();
    tracing::info!(edge = run.edge.name(), file = run.figma_file_key, node = run.wf_node_id, "run created");
    let mut response = (StatusCode::CREATED, axum::Json(Generation::from(&run))).into_response();
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/generations/{}", run.id)) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// An id for a new run. Ids of version 7 grow with time, which keeps their index compact.
fn new_run_id(now: Timestamp) -> RunId {
    let seconds = u64::try_from(now.as_second()).unwrap_or(0);
    let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or(0);
    RunId::new(uuid::Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanoseconds)))
}

/// Checks a body, and says everything that is wrong with it at once.
fn requested(
    body: CreateGeneration,
    served: &[Edge],
    caller: &Requester,
) -> Result<heddle_generation::NewRun, Problem> {
    let mut errors = unknown_fields("", &body.unknown);
    // What else is wrong depends on the edge; where it is none at all, the one that asks for less is taken.
    let edge = Edge::from_name(&body.edge).unwrap_or(Edge::Des2wf);
    errors.extend(check_edge(&body.edge, served).err());
    let source = match body.source {
        None => Source::Figma,
        Some(source) => {
            let tenant = Tenant { organization_id: caller.organization_id.0, project_id: body.project_id };
            uploaded(source, tenant, &mut errors)
        }
    };
    let request = RunRequest {
        edge,
        project_id: body.project_id,
        figma_file_key: body.figma_file_key,
        wf_node_id: body.wf_node_id,
        screen_id: body.screen_id,
        prompt: body.prompt,
        placement_target: body.placement_target,
        auto_confirm: body.auto_confirm,
        source,
    };
    match request.validate() {
        Ok(request) if errors.is_empty() => Ok(request),
        Ok(_) => Err(Problem::invalid(errors)),
        Err(more) => {
            errors.extend(more);
            Err(Problem::invalid(errors))
        }
    }
}

fn check_edge(name: &str, served: &[Edge]) -> Result<(), FieldError> {
    let names: Vec<&str> = served.iter().map(|edge| edge.name()).collect();
    let names = names.join(" or ");
    match Edge::from_name(name) {
        Some(edge) if served.contains(&edge) => Ok(()),
        Some(edge) => Err(FieldError::new(
            "edge",
            "edge_not_served",
            format!("nobody works on {edge} here; this server takes {names}"),
        )),
        None => Err(FieldError::new("edge", "bad_value", format!("expected {names}"))),
    }
}

/// An uploaded document must be the caller's own: of the same organization and project (G4).
fn uploaded(source: SourceBody, tenant: Tenant, errors: &mut Vec<FieldError>) -> Source {
    errors.extend(unknown_fields("source.", &source.unknown));
    errors.extend(unknown_fields("source.upload.", &source.upload.unknown));
    let upload = source.upload;
    // A hash that is none is reported by the request's own check.
    if is_sha256(&upload.sha256)
        && let Ok(hash) = ContentHash::parse(&upload.sha256)
        && tenant.upload(&hash).as_str() != upload.object_key
    {
        errors.push(FieldError::new(
            "source.upload.object_key",
            "foreign_key",
            "this is not the key of an upload with this hash to this project; give both as the upload's answer does",
        ));
    }
    Source::Upload { object_key: upload.object_key, sha256: upload.sha256 }
}

/// List runs, newest first.
#[utoipa::path(
    get, path = "/v1/generations", tag = "generations", operation_id = "listGenerations",
    params(
        ("project_id" = Option<i64>, Query, description = "In this project"),
        ("figma_file_key" = Option<String>, Query, description = "Of this Figma file"),
        ("edge" = Option<super::views::EdgeName>, Query, description = "On this edge"),
        ("status" = Option<super::views::StatusName>, Query, description = "In this status"),
        ("materialized" = Option<bool>, Query, description = "Placed in Figma, or not"),
        ("score_min" = Option<f64>, Query, description = "With a score of at least this, 0 to 1"),
        ("score_max" = Option<f64>, Query, description = "With a score of at most this, 0 to 1"),
        ("score_version" = Option<String>, Query, description = "With a score of this version; scores of two versions are not to be compared"),
        ("limit" = Option<u16>, Query, description = "Runs in a page, 1 to 100; 25 where it is left out"),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before"),
    ),
    responses(
        (status = 200, description = "One page", body = GenerationPage),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Parameters at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(caller): Caller,
    query: QueryFields,
) -> Result<axum::Json<GenerationPage>, Problem> {
    let (filter, page) = read_query(query)?;
    let page = app.store.runs.list(caller.organization_id, &filter, page).await?;
    Ok(axum::Json(page.into()))
}

/// Reads the filter and the page that a query asks for; the pages use it too.
pub(crate) fn read_query(mut query: QueryFields) -> Result<(RunFilter, PageRequest), Problem> {
    let score = |text: &str| ScoreValue::new(text.parse().ok()?);
    let (edges, statuses) = (names(Edge::ALL, Edge::name), names(Status::ALL, Status::name));
    let filter = RunFilter {
        project: query.take("project_id", "a whole number", |text| text.parse().ok()).map(ProjectId),
        file: query.take("figma_file_key", "a key", |text| (!text.is_empty()).then(|| text.to_owned())),
        edge: query.take("edge", &edges, Edge::from_name),
        status: query.take("status", &statuses, Status::from_name),
        materialized: query.take("materialized", "true or false", |text| text.parse().ok()),
        score_min: query.take("score_min", "a number from 0 to 1", score),
        score_max: query.take("score_max", "a number from 0 to 1", score),
        score_version: query.take("score_version", "a version", |text| Some(text.to_owned())),
    };
    let limit = |text: &str| text.parse().ok().filter(|limit| (1..=MAX_PAGE).contains(limit));
    let page = PageRequest {
        limit: query.take("limit", &format!("1 to {MAX_PAGE}"), limit).unwrap_or(DEFAULT_PAGE),
        after: query.take("cursor", "the next_cursor of a page", read_cursor),
    };
    if filter.score_min > filter.score_max && filter.score_max.is_some() {
        query.refuse(FieldError::new("score_min", "out_of_range", "it is more than score_max"));
    }
    query.finish()?;
    Ok((filter, page))
}

fn names<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> String {
    all.iter().map(|value| name(*value)).collect::<Vec<_>>().join(", ")
}

/// Look at a run.
#[utoipa::path(
    get, path = "/v1/generations/{id}", tag = "generations", operation_id = "getGeneration",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 200, description = "The run", body = Generation),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such run", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    Caller(caller): Caller,
    RunPath(id): RunPath,
) -> Result<axum::Json<Generation>, Problem> {
    let run = app.store.runs.get(caller.organization_id, id).await?.ok_or_else(Problem::no_such_run)?;
    Ok(axum::Json(Generation::from(&run)))
}

/// Call a run off. On des2wf in any phase, on wf2des while it awaits confirmation.
#[utoipa::path(
    post, path = "/v1/generations/{id}/cancel", tag = "generations", operation_id = "cancelGeneration",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 200, description = "The run, cancelled", body = Generation),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "Its state forbids it: `run_status`, `run_phase`", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    Caller(caller): Caller,
    RunPath(id): RunPath,
) -> Result<axum::Json<Generation>, Problem> {
    let run = command(&app, &caller, id, &Command::Cancel).await?;
    tracing::info!("run cancelled");
    Ok(axum::Json(run))
}

/// Remove a run from sight. One that is alive is cancelled by it.
#[utoipa::path(
    delete, path = "/v1/generations/{id}", tag = "generations", operation_id = "deleteGeneration",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 204, description = "It is gone"),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such run", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn delete(
    State(app): State<App>,
    Caller(caller): Caller,
    RunPath(id): RunPath,
) -> Result<StatusCode, Problem> {
    command(&app, &caller, id, &Command::Delete).await?;
    tracing::info!("run deleted");
    Ok(StatusCode::NO_CONTENT)
}

async fn command(
    app: &Shared,
    caller: &Requester,
    id: RunId,
    command: &Command,
) -> Result<Generation, Problem> {
    let now = app.clock.now();
    let done = app.store.runs.transition(caller.organization_id, id, command, &caller.user, now).await?;
    let (Transition::Applied(run) | Transition::Ignored { run, .. }) = done;
    Ok(Generation::from(&run))
}

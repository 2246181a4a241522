//! `/v1/generations/{id}/artifacts`: what a run has made.

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use heddle_generation::message::Artifact;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

use crate::app::App;
use crate::artifacts::{self, MANIFEST};
use crate::auth::Caller;
use crate::extract::RunPath;
use crate::problem::{Problem, ProblemBody};

/// What a run has made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ArtifactList {
    /// The attempt that made it.
    attempt: u32,
    /// The artifacts, by name.
    items: Vec<ArtifactView>,
    /// Milliseconds by stage of the work.
    timings_ms: BTreeMap<String, f64>,
    /// When the worker was done.
    #[schema(format = DateTime)]
    written_at: String,
}

/// One artifact.
#[derive(Debug, Serialize, ToSchema)]
struct ArtifactView {
    /// Its name.
    #[schema(example = "result")]
    name: String,
    /// Its media type.
    media_type: String,
    /// Its length in bytes.
    bytes: u64,
    /// The SHA-256 of its bytes, in lower-case hex.
    sha256: String,
    /// Its key in the object store.
    key: String,
    /// Where to read it here.
    href: String,
}

/// List a run's artifacts.
#[utoipa::path(
    get, path = "/v1/generations/{id}/artifacts", tag = "artifacts", operation_id = "listArtifacts",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 200, description = "Its artifacts", body = ArtifactList),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such run, or it has no artifacts", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(caller): Caller,
    RunPath(id): RunPath,
) -> Result<axum::Json<ArtifactList>, Problem> {
    let run = app.store.runs.get(caller.organization_id, id).await?.ok_or_else(Problem::no_such_run)?;
    let index = artifacts::index(&app.exchange.objects, &run).await?;
    let view = |name: &str, artifact: &Artifact| ArtifactView {
        name: name.to_owned(),
        media_type: artifact.media_type.clone(),
        bytes: artifact.bytes,
        sha256: artifact.sha256.clone(),
        key: artifact.key.clone(),
        href: format!("/v1/generations/{id}/artifacts/{name}"),
    };
    let mut items: Vec<_> =
        index.manifest.artifacts.iter().map(|(name, artifact)| view(name, artifact)).collect();
    items.push(view(MANIFEST, &index.own));
    Ok(axum::Json(ArtifactList {
        attempt: index.manifest.attempt,
        items,
        timings_ms: index.manifest.timings_ms,
        written_at: index.manifest.written_at.to_string(),
    }))
}

/// Read one artifact.
#[utoipa::path(
    get, path = "/v1/generations/{id}/artifacts/{name}", tag = "artifacts", operation_id = "getArtifact",
    params(
        ("id" = String, Path, description = "The run's id"),
        ("name" = String, Path, description = "The artifact's name: `result`, `wireframe`, `preview_svg`, `manifest` …"),
    ),
    responses(
        (status = 200, description = "Its bytes, in its own media type"),
        (status = 304, description = "The `If-None-Match` still holds"),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such run or artifact", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    Caller(caller): Caller,
    RunPath(id): RunPath,
    path: Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let run = app.store.runs.get(caller.organization_id, id).await?.ok_or_else(Problem::no_such_run)?;
    let objects = &app.exchange.objects;
    let index = artifacts::index(objects, &run).await?;
    let (artifact, bytes) = artifacts::read(objects, &run, &index, &path.1).await?;
    Ok(artifacts::answer(&headers, &artifact, bytes))
}

//! `/internal/ai-status`: the worker's word that an attempt has ended, and the only way to completion (G6).

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use heddle_exchange::keys::sha256_hex;
use heddle_generation::message::Report;
use heddle_generation::{
    Command, FieldError, Ignored, Run, RunEnd, RunId, check_manifest, check_report, deaf_to, read_manifest,
};
use heddle_store::{Transition, TransitionError};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::{App, Shared, about};
use crate::extract::{MAX_JSON_BYTES, parse_json, read_body};
use crate::problem::{Problem, ProblemBody};
use crate::webhook;

/// What became of a report.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ReportAnswer {
    /// Whether the row changed.
    applied: bool,
    /// Why it didn't: `superseded`, `repeat`, `late` or `run_not_found`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// The same for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl ReportAnswer {
    const APPLIED: Self = Self { applied: true, reason: None, detail: None };

    fn ignored(why: Ignored) -> Self {
        Self { applied: false, reason: Some(why.code()), detail: Some(why.to_string()) }
    }

    /// The run was deleted, or never was here: nobody can tell (G13). A late word for a deleted run is an everyday
    /// thing, so the worker is not to try again.
    fn no_such_run() -> Self {
        Self {
            applied: false,
            reason: Some("run_not_found"),
            detail: Some("there is no such run; it may have been deleted".to_owned()),
        }
    }
}

/// Report that an attempt has ended. The body points at the manifest; nothing but the manifest is believed.
#[utoipa::path(
    post, path = "/internal/ai-status", tag = "internal", operation_id = "reportStatus",
    request_body(content = Object, description = "`heddle.generation.report/v1`", content_type = "application/json"),
    params(
        ("webhook-id" = String, Header, description = "The message's id"),
        ("webhook-timestamp" = i64, Header, description = "Seconds since 1970; at most five minutes from the server's"),
        ("webhook-signature" = String, Header, description = "`v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`"),
    ),
    responses(
        (status = 200, description = "It was applied, or no longer matters", body = ReportAnswer),
        (status = 401, description = "The signature is not believed", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "The run's state, or another manifest in this one's place, forbids it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "The report or the manifest has errors: `errors`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Something that is needed is away; try again", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn report(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<axum::Json<ReportAnswer>, Problem> {
    let body = read_body(body, MAX_JSON_BYTES).await?;
    webhook::check(&app.config.webhook_secrets, &headers, &body, app.clock.now())?;
    let report: Report = parse_json(&body)?;
    about(&report.job_id);
    let answer = hear(&app, &report).await?;
    tracing::info!(
        attempt = report.attempt,
        applied = answer.applied,
        reason = answer.reason,
        "report heard"
    );
    Ok(axum::Json(answer))
}

async fn hear(app: &Shared, report: &Report) -> Result<ReportAnswer, Problem> {
    let Some(id) = RunId::parse(&report.job_id) else { return Ok(ReportAnswer::no_such_run()) };
    let Some(run) = app.store.jobs.by_job(id).await? else { return Ok(ReportAnswer::no_such_run()) };
    check_report(report, &run).map_err(Problem::invalid)?;
    if let Some(why) = deaf_to(&run, report.attempt)? {
        return Ok(ReportAnswer::ignored(why));
    }
    let end = end_of(app, report, &run).await?;
    let command = Command::Report { attempt: report.attempt, end };
    let by = &app.config.service_account;
    let now = app.clock.now();
    match app.store.runs.transition(run.organization_id, run.id, &command, by, now).await {
        Ok(Transition::Applied(_)) => Ok(ReportAnswer::APPLIED),
        Ok(Transition::Ignored { why, .. }) => Ok(ReportAnswer::ignored(why)),
        Err(TransitionError::NotFound) => Ok(ReportAnswer::no_such_run()),
        Err(error) => Err(error.into()),
    }
}

/// What the manifest, once it is believed, says of the run's end.
async fn end_of(app: &Shared, report: &Report, run: &Run) -> Result<RunEnd, Problem> {
    let Some(bytes) = app.exchange.objects.get(&report.manifest_key).await? else {
        return Err(Problem::invalid(vec![FieldError::new(
            "manifest_key",
            "manifest_missing",
            "there is no such object; write the manifest before reporting it",
        )]));
    };
    if sha256_hex(&bytes) != report.manifest_sha256 {
        return Err(Problem::new(
            StatusCode::CONFLICT,
            "manifest_changed",
            "The manifest is not the one that the report speaks of",
        )
        .detail("its hash differs; another attempt may have written it since"));
    }
    let in_manifest = |errors: Vec<FieldError>| {
        let located = errors.into_iter().map(|error| FieldError {
            field: format!("manifest.{}", error.field).trim_end_matches('.').to_owned(),
            ..error
        });
        Problem::invalid(located.collect())
    };
    let manifest = read_manifest(&bytes).map_err(|error| in_manifest(vec![error]))?;
    check_manifest(&manifest, report, run).map_err(in_manifest)
}

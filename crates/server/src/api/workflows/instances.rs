//! `/v1/instances`: walks through workflows, started and looked at.

use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use heddle_engine::Request;
use heddle_generation::FieldError;
use heddle_store::workflows::InstanceSummary;
use heddle_workflow::{
    InstanceId, MAX_IDEMPOTENCY_CHARS, MAX_KEY_CHARS, MAX_TYPE_CHARS, Subject, check_text, parse_length,
};
use tokio::time::timeout;

use super::views::{
    Instance, InstanceDetail, InstanceFilterBody, InstancePage, StartInstance, SubjectBody, Timeline,
    TimelineView,
};
use super::{
    Tenant, instance_cursor, limit, misfit, read_instance_cursor, read_timeline_cursor, timeline_cursor,
};
use crate::app::{App, about_instance};
use crate::auth::Caller;
use crate::extract::{ExactJson, InstancePath, QueryFields, unknown_fields};
use crate::problem::{Problem, ProblemBody};

/// How long a call may wait for an instance's end.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Start an instance of a workflow's current version.
#[utoipa::path(
    post, path = "/v1/instances", tag = "instances", operation_id = "startInstance",
    params(("Idempotency-Key" = Option<String>, Header, description = "A key under which there is one instance, however often it is asked for")),
    request_body = StartInstance,
    responses(
        (status = 201, description = "The instance", body = Instance, headers(("Location" = String, description = "Where to look at it"))),
        (status = 200, description = "The instance that was started with this idempotency key before", body = Instance),
        (status = 400, description = "Not JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "You may not do this: `forbidden`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such workflow", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Fields at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many have started lately: `start_rate`", body = ProblemBody, content_type = "application/problem+json", headers(("Retry-After" = u32, description = "In how many seconds another one may start"))),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn start(
    State(app): State<App>,
    Caller(caller): Caller,
    headers: HeaderMap,
    ExactJson(body): ExactJson<StartInstance>,
) -> Result<Response, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    let mut errors = unknown_fields("", &body.unknown);
    errors.extend(misfit("key", check_text("a workflow's key", &body.key, MAX_KEY_CHARS)));
    let subject = body.subject.map_or_else(Subject::default, |body| tenant.subject(body, &mut errors));
    let idempotency_key = idempotency_key(&headers, body.idempotency_key, &mut errors);
    if !errors.is_empty() {
        return Err(Problem::invalid(errors));
    }
    let request = Request {
        owner: Some(tenant.owner.clone()),
        subject,
        idempotency_key,
        starter: Some(app.people.user(&caller.user)),
        ..Request::new(&body.key, body.trigger)
    };
    let started = tenant.engine.begin(request).await;
    let started = started.map_err(|error| Problem::of_start(error, tenant.engine.now()))?;
    about_instance(&started.id);
    let instance = tenant.instance(&started.id).await?;
    if started.is_new {
        tracing::info!(key = instance.definition, "instance started");
    }
    let status = if started.is_new { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = (status, axum::Json(tenant.view(instance))).into_response();
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/instances/{}", started.id)) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// The key of the header or the field; where there are both, they say the same.
fn idempotency_key(
    headers: &HeaderMap,
    field: Option<String>,
    errors: &mut Vec<FieldError>,
) -> Option<String> {
    let header = headers.get("idempotency-key").map(|value| value.to_str().map(str::to_owned));
    let key = match (header, field) {
        (Some(Err(_)), _) => {
            errors.push(FieldError::new("Idempotency-Key", "bad_value", "expected visible ASCII"));
            None
        }
        (Some(Ok(header)), Some(field)) if header != field => {
            let message = "it differs from the header Idempotency-Key; say one of them";
            errors.push(FieldError::new("idempotency_key", "conflicting", message));
            None
        }
        (Some(Ok(key)), _) | (None, Some(key)) => Some(key),
        (None, None) => None,
    }?;
    errors.extend(misfit("idempotency_key", check_text("an idempotency key", &key, MAX_IDEMPOTENCY_CHARS)));
    Some(key)
}

impl Tenant<'_> {
    /// Reads what an instance is to be about.
    fn subject(&self, body: SubjectBody, errors: &mut Vec<FieldError>) -> Subject {
        errors.extend(unknown_fields("subject.", &body.unknown));
        for (field, text, most) in
            [("subject.key", &body.key, MAX_KEY_CHARS), ("subject.type", &body.kind, MAX_TYPE_CHARS)]
        {
            errors.extend(text.as_ref().and_then(|text| misfit(field, check_text("it", text, most))));
        }
        let key_type = self.app.people.subject_key();
        if body.id.as_ref().is_some_and(|id| !key_type.takes(id)) {
            let message = format!("subjects have keys of the type {key_type} in this installation");
            errors.push(FieldError::new("subject.id", "bad_value", message));
        }
        Subject { key: body.key, kind: body.kind, id: body.id }
    }
}

/// List instances, newest first.
#[utoipa::path(
    get, path = "/v1/instances", tag = "instances", operation_id = "listInstances",
    params(
        ("key" = Option<String>, Query, description = "Of this workflow; where it is left out, of your organization's first 1,000 by their keys"),
        ("status" = Option<String>, Query, description = "In one of these statuses, with commas between them"),
        ("subject_type" = Option<String>, Query, description = "About a record of this type; goes with `subject_id`"),
        ("subject_id" = Option<String>, Query, description = "About the record with this key"),
        ("started_from" = Option<String>, Query, description = "Started then or later"),
        ("started_before" = Option<String>, Query, description = "Started before"),
        ("limit" = Option<u16>, Query, description = "Instances in a page, 1 to 100; 25 where it is left out"),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before"),
    ),
    responses(
        (status = 200, description = "One page, which may be short and still have a next one", body = InstancePage),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Parameters at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(caller): Caller,
    mut query: QueryFields,
) -> Result<axum::Json<InstancePage>, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    let limit = limit(&mut query);
    let after = query.take("cursor", "the next_cursor of a page", read_instance_cursor);
    let mut text = |name: &str| query.take(name, "a text", |text| Some(text.to_owned()));
    let body = InstanceFilterBody {
        key: text("key"),
        status: text("status").map(|names| names.split(',').map(str::to_owned).collect()).unwrap_or_default(),
        subject_type: text("subject_type"),
        subject_id: text("subject_id"),
        started_from: text("started_from"),
        started_before: text("started_before"),
        ..InstanceFilterBody::default()
    };
    let mut errors = Vec::new();
    let filter = tenant.filter(body, &mut errors);
    for error in errors {
        query.refuse(error);
    }
    query.finish()?;
    let page = tenant.engine.reading().instances(&filter, after.as_ref(), limit).await?;
    Ok(axum::Json(InstancePage {
        items: page.items.into_iter().map(|instance| tenant.view(instance)).collect(),
        next_cursor: page.next.as_ref().map(instance_cursor),
    }))
}

/// Look at an instance; with `wait`, at its end, if that comes soon enough.
#[utoipa::path(
    get, path = "/v1/instances/{id}", tag = "instances", operation_id = "getInstance",
    params(
        ("id" = String, Path, description = "The instance's id"),
        ("wait" = Option<String>, Query, description = "Answer when it has ended, or after this time: `30s`, at most `60s`. Where too many wait already, the answer comes at once."),
    ),
    responses(
        (status = 200, description = "The instance", body = InstanceDetail),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such instance", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Parameters at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    Caller(caller): Caller,
    InstancePath(id): InstancePath,
    mut query: QueryFields,
) -> Result<axum::Json<InstanceDetail>, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    let expected = format!("a time of at most {}s, such as 30s", MAX_WAIT.as_secs());
    let wait = query.take("wait", &expected, |text| {
        parse_length(text).ok().map(jiff::SignedDuration::unsigned_abs).filter(|wait| *wait <= MAX_WAIT)
    });
    query.finish()?;
    let mut instance = tenant.instance(&id).await?;
    if let Some(wait) = wait.filter(|_| !instance.status.is_ended()) {
        instance = tenant.end(&id, wait).await?.unwrap_or(instance);
    }
    let payloads = tenant.engine.reading().payloads(&id).await?.ok_or_else(Problem::no_such_instance)?;
    Ok(axum::Json(InstanceDetail {
        instance: tenant.view(instance),
        payload: payloads.trigger,
        output: payloads.output,
    }))
}

impl Tenant<'_> {
    /// Waits for an instance's end; how it is then, or when the time is over. `None`: there was no place to wait.
    async fn end(&self, id: &InstanceId, wait: Duration) -> Result<Option<InstanceSummary>, Problem> {
        let Ok(_place) = self.app.waiters.try_acquire() else { return Ok(None) };
        let mut stopped = self.app.stopped.clone();
        tokio::select! {
            ended = timeout(wait, self.engine.ended(id)) => {
                if let Ok(ended) = ended {
                    return Ok(Some(ended?));
                }
            }
            _ = stopped.wait_for(|stopped| *stopped) => {}
        }
        self.instance(id).await.map(Some)
    }
}

/// See what has happened to an instance, in order.
#[utoipa::path(
    get, path = "/v1/instances/{id}/timeline", tag = "instances", operation_id = "getInstanceTimeline",
    params(
        ("id" = String, Path, description = "The instance's id"),
        ("limit" = Option<u16>, Query, description = "Entries in a page, 1 to 100; 25 where it is left out"),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before"),
    ),
    responses(
        (status = 200, description = "One page", body = Timeline),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such instance", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Parameters at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn timeline(
    State(app): State<App>,
    Caller(caller): Caller,
    InstancePath(id): InstancePath,
    mut query: QueryFields,
) -> Result<axum::Json<Timeline>, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    let limit = limit(&mut query);
    let after = query
        .take("cursor", "the next_cursor of a page", |text| read_timeline_cursor(text, app.people.row_key()));
    query.finish()?;
    tenant.instance(&id).await?;
    let page = tenant.engine.reading().timeline(&id, after.as_ref(), limit).await?;
    Ok(axum::Json(Timeline {
        items: page.items.into_iter().map(|entry| TimelineView::of(entry, &app.people)).collect(),
        next_cursor: page.next.as_ref().map(timeline_cursor),
    }))
}

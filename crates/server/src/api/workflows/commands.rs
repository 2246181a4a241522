//! What people do to instances under way: one at a time, many at a time, and by events (W23).

use axum::extract::State;
use heddle_generation::FieldError;
use heddle_workflow::{Command, InstanceId, MAX_EVENT_KEY_CHARS, Outcome, check_text};
use serde_json::Value;

use super::views::{
    BatchBody, BatchCommand, BatchEntry, BatchResult, CommandBody, Emitted, EventBody, Instance, SignalBody,
    SkipBody,
};
use super::{MAX_PAGE, Tenant, instance_cursor, misfit, read_instance_cursor};
use crate::app::App;
use crate::auth::Caller;
use crate::extract::{ExactJson, InstancePath, MaybeJson, Unknown, unknown_fields};
use crate::problem::{Problem, ProblemBody};

impl Tenant<'_> {
    /// Gives a command to an instance of the caller's organization.
    async fn command(
        &self,
        id: &InstanceId,
        command: Command,
        expected: Option<u32>,
    ) -> Result<axum::Json<Instance>, Problem> {
        self.instance(id).await?;
        let by = self.app.people.actor(&self.caller.user);
        self.engine.command(id, command, by, expected).await?;
        Ok(axum::Json(self.view(self.instance(id).await?)))
    }
}

fn known(unknown: &Unknown) -> Result<(), Problem> {
    let errors = unknown_fields("", unknown);
    if errors.is_empty() { Ok(()) } else { Err(Problem::invalid(errors)) }
}

macro_rules! command {
    ($(#[$doc:meta])* $name:ident, $command:expr, $path:literal, $operation:literal) => {
        $(#[$doc])*
        #[utoipa::path(
            post, path = $path, tag = "instances", operation_id = $operation,
            params(("id" = String, Path, description = "The instance's id")),
            request_body(content = Option<CommandBody>),
            responses(
                (status = 200, description = "The instance after it", body = Instance),
                (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
                (status = 403, description = "You may not do this: `forbidden`", body = ProblemBody, content_type = "application/problem+json"),
                (status = 404, description = "No such instance", body = ProblemBody, content_type = "application/problem+json"),
                (status = 409, description = "Its state forbids it: `instance_status`; or it has changed: `present_version`", body = ProblemBody, content_type = "application/problem+json"),
                (status = 422, description = "Fields at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
                (status = 429, description = "It has too many waits and commands already", body = ProblemBody, content_type = "application/problem+json"),
                (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
            )
        )]
        pub(crate) async fn $name(
            State(app): State<App>,
            Caller(caller): Caller,
            InstancePath(id): InstancePath,
            MaybeJson(body): MaybeJson<CommandBody>,
        ) -> Result<axum::Json<Instance>, Problem> {
            let tenant = Tenant::new(&app, &caller)?;
            known(&body.unknown)?;
            tenant.command(&id, $command, body.expected_version).await
        }
    };
}

command! {
    /// Stop an instance until it is resumed. A step that is under way goes on to its end.
    pause, Command::Pause, "/v1/instances/{id}/pause", "pauseInstance"
}

command! {
    /// Let a paused instance go on.
    resume, Command::Resume, "/v1/instances/{id}/resume", "resumeInstance"
}

command! {
    /// Call an instance off for good.
    cancel, Command::Cancel, "/v1/instances/{id}/cancel", "cancelInstance"
}

command! {
    /// Try a failed instance's last step again, or at once the one that pauses before its next attempt.
    retry, Command::Retry, "/v1/instances/{id}/retry", "retryInstance"
}

/// Go on without the step that an instance stands at, or failed at.
#[utoipa::path(
    post, path = "/v1/instances/{id}/skip", tag = "instances", operation_id = "skipInstance",
    params(("id" = String, Path, description = "The instance's id")),
    request_body(content = Option<SkipBody>),
    responses(
        (status = 200, description = "The instance after it", body = Instance),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "You may not do this: `forbidden`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such instance", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "Its state forbids it: `instance_status`; or it has changed: `present_version`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Fields at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "It has too many waits and commands already", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn skip(
    State(app): State<App>,
    Caller(caller): Caller,
    InstancePath(id): InstancePath,
    MaybeJson(body): MaybeJson<SkipBody>,
) -> Result<axum::Json<Instance>, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    known(&body.unknown)?;
    let command = Command::Skip { outcome: outcome(body.outcome)?, output: body.output };
    tenant.command(&id, command, body.expected_version).await
}

fn outcome(name: Option<String>) -> Result<Outcome, Problem> {
    let Some(name) = name else { return Ok(Outcome::ordinary()) };
    Outcome::new(name)
        .map_err(|error| Problem::invalid(vec![FieldError::new("outcome", "bad_value", error.to_string())]))
}

/// Send an instance a signal. It is kept until something in the instance waits for it.
#[utoipa::path(
    post, path = "/v1/instances/{id}/signal", tag = "instances", operation_id = "signalInstance",
    params(("id" = String, Path, description = "The instance's id")),
    request_body = SignalBody,
    responses(
        (status = 200, description = "The instance after it", body = Instance),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "You may not do this: `forbidden`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such instance", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "Its state forbids it: `instance_status`; or it has changed: `present_version`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Fields at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many signals wait for their wait already, or it has too many waits and commands", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn signal(
    State(app): State<App>,
    Caller(caller): Caller,
    InstancePath(id): InstancePath,
    ExactJson(body): ExactJson<SignalBody>,
) -> Result<axum::Json<Instance>, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    known(&body.unknown)?;
    event_key(&body.key)?;
    let command = Command::Signal { key: body.key, payload: body.payload };
    tenant.command(&id, command, body.expected_version).await
}

fn event_key(key: &str) -> Result<(), Problem> {
    let misfit = misfit("key", check_text("an event's key", key, MAX_EVENT_KEY_CHARS));
    misfit.map_or(Ok(()), |error| Err(Problem::invalid(vec![error])))
}

/// Command every instance that a filter finds, up to 100 at a time; each answers for itself.
#[utoipa::path(
    post, path = "/v1/instances/batch", tag = "instances", operation_id = "commandInstances",
    request_body = BatchBody,
    responses(
        (status = 200, description = "What came of it for each", body = BatchResult),
        (status = 400, description = "Not JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Fields at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn batch(
    State(app): State<App>,
    Caller(caller): Caller,
    ExactJson(body): ExactJson<BatchBody>,
) -> Result<axum::Json<BatchResult>, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    let mut errors = unknown_fields("", &body.unknown);
    errors.extend(unknown_fields("filter.", &body.filter.unknown));
    let limit = body.limit.unwrap_or(MAX_PAGE);
    if !(1..=MAX_PAGE).contains(&limit) {
        errors.push(FieldError::new("limit", "bad_value", format!("expected 1 to {MAX_PAGE}")));
    }
    let after = body.cursor.as_deref().map(|text| {
        read_instance_cursor(text)
            .ok_or_else(|| FieldError::new("cursor", "bad_value", "expected the next_cursor of an answer"))
    });
    let after = after.transpose().map_err(|error| errors.push(error)).ok().flatten();
    let mut at_filter = Vec::new();
    let filter = tenant.filter(body.filter, &mut at_filter);
    errors.extend(
        at_filter.into_iter().map(|error| FieldError { field: format!("filter.{}", error.field), ..error }),
    );
    if body.command != BatchCommand::Signal && (body.key.is_some() || body.payload != Value::Null) {
        errors.push(FieldError::new("key", "not_allowed", "only a signal has a key and a payload"));
    }
    if body.command != BatchCommand::Skip && (body.outcome.is_some() || body.output != Value::Null) {
        errors.push(FieldError::new("outcome", "not_allowed", "only a skip has an outcome and an output"));
    }
    if body.command == BatchCommand::Signal && body.key.is_none() {
        errors.push(FieldError::new("key", "required", "a signal has a key"));
    }
    if !errors.is_empty() {
        return Err(Problem::invalid(errors));
    }
    let command = match body.command {
        BatchCommand::Pause => Command::Pause,
        BatchCommand::Resume => Command::Resume,
        BatchCommand::Cancel => Command::Cancel,
        BatchCommand::Retry => Command::Retry,
        BatchCommand::Skip => Command::Skip { outcome: outcome(body.outcome)?, output: body.output },
        BatchCommand::Signal => {
            let key = body.key.unwrap_or_default();
            event_key(&key)?;
            Command::Signal { key, payload: body.payload }
        }
    };
    let page = tenant.engine.reading().instances(&filter, after.as_ref(), limit).await?;
    let by = app.people.actor(&caller.user);
    let mut results = Vec::new();
    for instance in page.items {
        // As the filter found it or later: what has changed since answers for itself.
        let done = tenant.engine.command(&instance.id, command.clone(), by.clone(), None).await;
        results.push(entry(&instance.id, done.map(|state| state.life.status().name())));
    }
    let done = results.iter().filter(|entry| entry.done).count();
    Ok(axum::Json(BatchResult {
        done,
        refused: results.len() - done,
        results,
        next_cursor: page.next.as_ref().map(instance_cursor),
    }))
}

fn entry(id: &InstanceId, done: Result<&'static str, heddle_engine::EngineError>) -> BatchEntry {
    let id = id.to_string();
    match done {
        Ok(status) => BatchEntry { id, done: true, status: Some(status), code: None, message: None },
        Err(error) => {
            let (code, message) = Problem::from(error).in_short();
            BatchEntry { id, done: false, status: None, code: Some(code), message: Some(message) }
        }
    }
}

/// Publish an event to every instance of your organization that waits for it.
#[utoipa::path(
    post, path = "/v1/events", tag = "instances", operation_id = "emitEvent",
    request_body = EventBody,
    responses(
        (status = 200, description = "How many took it", body = Emitted),
        (status = 400, description = "Not JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "You may not do this: `forbidden`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Fields at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Workflows are not installed", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn emit(
    State(app): State<App>,
    Caller(caller): Caller,
    ExactJson(body): ExactJson<EventBody>,
) -> Result<axum::Json<Emitted>, Problem> {
    let tenant = Tenant::new(&app, &caller)?;
    known(&body.unknown)?;
    event_key(&body.key)?;
    let by = app.people.actor(&caller.user);
    let taken = tenant.engine.emit(Some(&tenant.owner), &body.key, &body.payload, &by).await?;
    Ok(axum::Json(Emitted { taken }))
}

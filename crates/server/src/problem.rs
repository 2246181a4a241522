//! Every error that a caller gets: RFC 9457 problem+json with a stable `code` (G17). The one place where the
//! errors of other crates become HTTP.

use std::error::Error;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use heddle_engine::EngineError;
use heddle_exchange::ExchangeError;
use heddle_generation::signature::SignatureError;
use heddle_generation::{FieldError, Phase, Refusal, RunId, Status};
use heddle_store::workflows::PublishError;
use heddle_store::{CreateError, StoreError, TransitionError};
use heddle_workflow::{Finding, Refusal as InstanceRefusal, Severity};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// An error. `detail` is for the caller's eyes; what only operators should see goes to the log.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    body: Box<ProblemBody>,
    retry_after_seconds: Option<u32>,
}

/// An RFC 9457 problem.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    /// `urn:heddle:problem:` and the code.
    #[serde(rename = "type")]
    kind: String,
    /// The HTTP status.
    status: u16,
    /// What is wrong, stable and short.
    code: &'static str,
    /// The same for people.
    title: &'static str,
    /// What is wrong this time, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// The fields at fault.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldProblem>,
    /// The live run that is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    existing_id: Option<String>,
    /// The run's present status, where that forbids what was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_status: Option<&'static str>,
    /// The run's present phase, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_phase: Option<&'static str>,
    /// The instance's present status, where that forbids what was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    instance_status: Option<&'static str>,
    /// The instance's present `lock_version`, where another one was expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    present_version: Option<u32>,
    /// The current version's checksum, where another one was expected; empty where there is no version.
    #[serde(skip_serializing_if = "Option::is_none")]
    present_checksum: Option<String>,
    /// What there is to say of a graph.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<FindingBody>,
}

/// Something to be said of a graph.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Finding)]
pub(crate) struct FindingBody {
    /// What it is, stable and short.
    code: &'static str,
    /// `error`, which forbids publishing, or `warning`.
    severity: &'static str,
    /// The node it is about.
    node: Option<String>,
    /// Where in the document, as a JSON pointer (RFC 6901).
    pointer: String,
    /// The same for people.
    message: String,
}

impl From<Finding> for FindingBody {
    fn from(finding: Finding) -> Self {
        Self {
            code: finding.code.name(),
            severity: match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            node: finding.node.map(|node| node.to_string()),
            pointer: finding.pointer,
            message: finding.message,
        }
    }
}

/// One field at fault.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FieldProblem {
    /// The field, as a dotted path; empty for the whole.
    field: String,
    /// What is wrong with it, stable and short.
    code: &'static str,
    /// The same for people, and what would be right.
    message: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, title: &'static str) -> Self {
        let body = ProblemBody {
            kind: format!("urn:heddle:problem:{code}"),
            status: status.as_u16(),
            code,
            title,
            detail: None,
            errors: Vec::new(),
            existing_id: None,
            run_status: None,
            run_phase: None,
            instance_status: None,
            present_version: None,
            present_checksum: None,
            findings: Vec::new(),
        };
        Self { status, body: Box::new(body), retry_after_seconds: None }
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.body.detail = Some(detail.into());
        self
    }

    /// The run that was asked for is not there, is another tenant's, or is deleted: nobody can tell (G4, G13).
    pub(crate) fn no_such_run() -> Self {
        Self::new(StatusCode::NOT_FOUND, "run_not_found", "There is no such run")
    }

    /// The workflow that was asked for is not there, or another tenant's: nobody can tell.
    pub(crate) fn no_such_workflow() -> Self {
        Self::new(StatusCode::NOT_FOUND, "workflow_not_found", "There is no such workflow")
    }

    pub(crate) fn no_such_version() -> Self {
        Self::new(StatusCode::NOT_FOUND, "version_not_found", "The workflow has no such version")
    }

    /// The instance that was asked for is not there, or another tenant's: nobody can tell.
    pub(crate) fn no_such_instance() -> Self {
        Self::new(StatusCode::NOT_FOUND, "instance_not_found", "There is no such instance")
    }

    /// The store lacks the workflow tables.
    pub(crate) fn workflows_not_installed(remedy: &str) -> Self {
        let code = StatusCode::SERVICE_UNAVAILABLE;
        Self::new(code, "workflows_not_installed", "Workflows are not installed here").detail(remedy)
    }

    pub(crate) fn no_such_page() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "There is nothing here")
            .detail("see /openapi.json for what there is")
    }

    pub(crate) fn wrong_method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "This can't be done here")
            .detail("the header Allow says what can")
    }

    pub(crate) fn unauthenticated() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", "Who are you?")
            .detail("send a known token in the header Authorization: Bearer …")
    }

    pub(crate) fn no_such_project(field: &str, project: i64) -> Self {
        Self::invalid(vec![FieldError::new(
            field,
            "unknown_project",
            format!("your organization has no project {project}"),
        )])
    }

    /// Fields at fault, every one of them.
    pub(crate) fn invalid(errors: Vec<FieldError>) -> Self {
        let mut problem =
            Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", "The request has errors");
        problem.body.detail = Some(match errors.len() {
            1 => "one field is at fault".to_owned(),
            count => format!("{count} fields are at fault"),
        });
        problem.body.errors = errors
            .into_iter()
            .map(|error| FieldProblem { field: error.field, code: error.code, message: error.message })
            .collect();
        problem
    }

    pub(crate) fn too_large(most: usize) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "The body is too large")
            .detail(format!("at most {most} bytes are taken"))
    }

    pub(crate) fn body_cut_off() -> Self {
        Self::new(StatusCode::BAD_REQUEST, "body_cut_off", "The body did not arrive whole")
    }

    pub(crate) fn body_too_slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", "The body took too long")
    }

    /// No room for an upload: of this organization's, or at all.
    pub(crate) fn uploads_busy() -> Self {
        let mut problem =
            Self::new(StatusCode::SERVICE_UNAVAILABLE, "uploads_busy", "Too much is being uploaded")
                .detail("try again once other uploads, yours among them, are done");
        problem.retry_after_seconds = Some(5);
        problem
    }

    /// Something broke on our side. The caller learns that much; the log learns the rest.
    pub(crate) fn internal(error: &dyn Error) -> Self {
        log(error);
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "Something broke on our side")
            .detail("the server's log says what")
    }

    /// Something that we need is away. The same call may go through later.
    pub(crate) fn unavailable(error: &dyn Error) -> Self {
        log(error);
        let mut problem =
            Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "Something that we need is away")
                .detail("try again in a moment");
        problem.retry_after_seconds = Some(2);
        problem
    }

    /// Why an instance was not started. `now`: by the engine's clock, which says when another one may.
    pub(crate) fn of_start(error: EngineError, now: Timestamp) -> Self {
        let again_at = match &error {
            EngineError::Refused(InstanceRefusal::StartRate { again_at }) => Some(*again_at),
            _ => None,
        };
        let mut problem = Self::from(error);
        problem.retry_after_seconds = again_at.map_or(problem.retry_after_seconds, |again_at| {
            // Rounded up: whoever comes again then is let in.
            let microseconds = again_at.duration_since(now).as_micros().max(1);
            Some(u32::try_from((microseconds + 999_999) / 1_000_000).unwrap_or(u32::MAX))
        });
        problem
    }

    /// Its code, and what a list of results says of it.
    pub(crate) fn in_short(self) -> (&'static str, String) {
        let body = *self.body;
        (body.code, body.detail.unwrap_or_else(|| body.title.to_owned()))
    }

    /// What a page shows of it.
    pub(crate) fn for_people(&self) -> (StatusCode, &'static str, Option<&str>) {
        (self.status, self.body.title, self.body.detail.as_deref())
    }
}

/// Logs an error with everything that caused it.
fn log(error: &dyn Error) {
    let mut causes = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        causes.push_str(": ");
        causes.push_str(&error.to_string());
        cause = error.source();
    }
    tracing::error!(error = causes, "request failed");
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"heddle\""));
        }
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Backend { .. } | StoreError::ChangedMeanwhile { .. } | StoreError::Closed => {
                Self::unavailable(&error)
            }
            StoreError::BadRow { .. } | StoreError::Schema { .. } | StoreError::Installed => {
                Self::internal(&error)
            }
        }
    }
}

impl From<CreateError> for Problem {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::AlreadyLive { id } => Self::already_live(id),
            CreateError::UnknownProject { project, .. } => Self::no_such_project("project_id", project.0),
            // The caller's own sub comes from the server's configuration, so this is no fault of the caller.
            CreateError::UnknownUser { .. } => Self::internal(&error),
            CreateError::Store(error) => error.into(),
        }
    }
}

impl Problem {
    fn already_live(id: RunId) -> Self {
        let mut problem =
            Self::new(StatusCode::CONFLICT, "already_live", "A run of this node is alive on this edge")
                .detail(format!("wait for run {id}, or cancel it"));
        problem.body.existing_id = Some(id.to_string());
        problem
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let mut problem = Self::new(StatusCode::CONFLICT, refusal.code(), "The run's state forbids it")
            .detail(refusal.to_string());
        let (status, phase) = match refusal {
            Refusal::Ended { status } => (Some(status), None),
            Refusal::NotAtCheckpoint { phase } | Refusal::NotConfirmed { phase } => {
                (Some(Status::Processing), Some(phase))
            }
            Refusal::AttemptAhead { .. } => (None, None),
        };
        problem.body.run_status = status.map(Status::name);
        problem.body.run_phase = phase.map(Phase::name);
        problem
    }
}

impl From<TransitionError> for Problem {
    fn from(error: TransitionError) -> Self {
        match error {
            TransitionError::NotFound => Self::no_such_run(),
            TransitionError::Refused(refusal) => refusal.into(),
            TransitionError::Store(error) => error.into(),
        }
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Invalid(findings) => {
                let code = StatusCode::UNPROCESSABLE_ENTITY;
                let mut problem = Self::new(code, "invalid_graph", "The graph has errors");
                let errors = findings.iter().filter(|it| it.severity == Severity::Error).count();
                problem.body.detail = Some(match errors {
                    1 => "one finding is an error; see `findings`".to_owned(),
                    count => format!("{count} findings are errors; see `findings`"),
                });
                problem.body.findings = findings.into_iter().map(FindingBody::from).collect();
                problem
            }
            EngineError::Checksum(error) => {
                Self::invalid(vec![FieldError::new("document", "no_checksum", error.to_string())])
            }
            EngineError::Publish(PublishError::Changed { present }) => {
                let title = "Somebody else has published meanwhile";
                let mut problem = Self::new(StatusCode::CONFLICT, "changed", title)
                    .detail("look at the current version, and publish with its checksum");
                problem.body.present_checksum = Some(present);
                problem
            }
            EngineError::Publish(PublishError::Store(error)) | EngineError::Store(error) => error.into(),
            EngineError::NoDefinition(_) => Self::no_such_workflow(),
            EngineError::NoInstance(_) => Self::no_such_instance(),
            EngineError::Refused(refusal) => refusal.into(),
            EngineError::BadText(error) => {
                Self::invalid(vec![FieldError::new("", "bad_value", error.to_string())])
            }
            EngineError::Forbidden { reason } => {
                Self::new(StatusCode::FORBIDDEN, "forbidden", "You may not do this").detail(reason)
            }
            EngineError::Permission(_) => Self::unavailable(&error),
            EngineError::Busy(_) => {
                let mut problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "The instance is busy")
                    .detail("it changes faster than this can be done; try again in a moment");
                problem.retry_after_seconds = Some(1);
                problem
            }
            EngineError::Damaged { .. } | EngineError::BadVersion(_) => Self::internal(&error),
        }
    }
}

impl From<InstanceRefusal> for Problem {
    fn from(refusal: InstanceRefusal) -> Self {
        use InstanceRefusal as R;
        let (status, title) = match refusal {
            R::PayloadTooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "The payload is too large"),
            R::PayloadTooNested { .. } | R::BadKey | R::BadText(_) | R::TooDeep { .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "The request is beyond a limit")
            }
            R::TooManySignals { .. } | R::SignalsTooLarge { .. } | R::TooManyWaits { .. } => {
                (StatusCode::TOO_MANY_REQUESTS, "The instance has too much to wait for already")
            }
            R::StartRate { .. } => (StatusCode::TOO_MANY_REQUESTS, "Too many have started lately"),
            _ => (StatusCode::CONFLICT, "The instance's state forbids it"),
        };
        let mut problem = Self::new(status, refusal.code(), title).detail(refusal.to_string());
        problem.body.instance_status = match &refusal {
            R::Ended { status } | R::NotPaused { status } | R::NothingToRetry { status } => {
                Some(status.name())
            }
            R::Paused => Some(heddle_workflow::Status::Paused.name()),
            _ => None,
        };
        problem.body.present_version = match refusal {
            R::Changed { present } => Some(present),
            _ => None,
        };
        problem
    }
}

impl From<ExchangeError> for Problem {
    fn from(error: ExchangeError) -> Self {
        match error {
            ExchangeError::Backend { .. } => Self::unavailable(&error),
            ExchangeError::Refused { .. } | ExchangeError::Damaged { .. } => Self::internal(&error),
        }
    }
}

impl From<SignatureError> for Problem {
    fn from(error: SignatureError) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, error.code(), "The webhook's signature is not believed")
            .detail(error.to_string())
    }
}

//! What the handlers share, and the routes.

use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post, put};
use heddle_exchange::Exchange;
use heddle_store::Store;
use heddle_workflow::InstanceId;
use tokio::sync::{Notify, Semaphore, watch};
use tracing::Instrument as _;

use crate::api::workflows::{commands, definitions, instances};
use crate::auth::Callers;
use crate::clock::Clock;
use crate::config::{Config, ConfigError};
use crate::intake::Intake;
use crate::people::People;
use crate::problem::Problem;
use crate::workflows::Workflows;
use crate::{api, pages};

pub(crate) type App = Arc<Shared>;

pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) callers: Callers,
    pub(crate) store: Store,
    pub(crate) exchange: Exchange,
    pub(crate) clock: Clock,
    /// Rings when something is in the outbox.
    pub(crate) wake_relay: Arc<Notify>,
    pub(crate) intake: Intake,
    pub(crate) workflows: Workflows,
    pub(crate) people: People,
    /// Places for calls that wait for an instance's end.
    pub(crate) waiters: Semaphore,
    /// Says when the server stops, so that nobody waits for longer.
    pub(crate) stopped: watch::Receiver<bool>,
}

impl Shared {
    pub(crate) fn new(
        config: Config,
        store: Store,
        exchange: Exchange,
        workflows: Workflows,
        clock: Clock,
        stopped: watch::Receiver<bool>,
    ) -> Result<Self, ConfigError> {
        if config.webhook_secrets.is_empty() {
            return Err(ConfigError::NoWebhookSecret);
        }
        if config.edges.is_empty() {
            return Err(ConfigError::NoEdge);
        }
        Ok(Self {
            callers: Callers::new(&config.callers)?,
            intake: Intake::new(config.bounds),
            people: People::new(&config, workflows.keys()),
            waiters: Semaphore::new(config.bounds.connections / 2),
            workflows,
            stopped,
            config,
            store,
            exchange,
            clock,
            wake_relay: Arc::new(Notify::new()),
        })
    }
}

/// Every route.
pub(crate) fn router(app: App) -> Router {
    let api = Router::new()
        .route("/v1/generations", post(api::generations::create).get(api::generations::list))
        .route("/v1/generations/{id}", get(api::generations::show).delete(api::generations::delete))
        .route("/v1/generations/{id}/cancel", post(api::generations::cancel))
        .route("/v1/generations/{id}/artifacts", get(api::artifacts::list))
        .route("/v1/generations/{id}/artifacts/{name}", get(api::artifacts::show))
        .route("/v1/uploads/{file_key}", put(api::uploads::upload))
        .route("/v1/workflows", get(definitions::list))
        .route("/v1/workflows/validate", post(definitions::validate))
        .route("/v1/workflows/{key}", get(definitions::show).put(definitions::publish))
        .route("/v1/workflows/{key}/versions", get(definitions::versions))
        .route("/v1/workflows/{key}/versions/{number}", get(definitions::version))
        .route("/v1/workflows/{key}/versions/{number}/overlay", get(definitions::overlay))
        .route("/v1/instances", post(instances::start).get(instances::list))
        .route("/v1/instances/batch", post(commands::batch))
        .route("/v1/instances/{id}", get(instances::show))
        .route("/v1/instances/{id}/timeline", get(instances::timeline))
        .route("/v1/instances/{id}/signal", post(commands::signal))
        .route("/v1/instances/{id}/pause", post(commands::pause))
        .route("/v1/instances/{id}/resume", post(commands::resume))
        .route("/v1/instances/{id}/cancel", post(commands::cancel))
        .route("/v1/instances/{id}/retry", post(commands::retry))
        .route("/v1/instances/{id}/skip", post(commands::skip))
        .route("/v1/events", post(commands::emit))
        .route("/internal/ai-status", post(api::status::report))
        .route("/healthz", get(api::health::alive))
        .route("/readyz", get(api::health::ready))
        .route("/openapi.json", get(api::openapi::show));
    let pages = Router::new()
        .route("/", get(pages::list))
        .route("/runs/{id}", get(pages::run))
        .route("/runs/{id}/artifacts/{name}", get(pages::artifact))
        .route("/sign-in", get(pages::sign_in_form).post(pages::sign_in))
        .route("/sign-out", post(pages::sign_out))
        .route("/style.css", get(pages::style));
    api.merge(pages)
        .fallback(async || Problem::no_such_page())
        .method_not_allowed_fallback(async || Problem::wrong_method())
        .layer(middleware::from_fn(around))
        .with_state(app)
}

/// What every request has around it: a span, and headers that hold for every answer.
async fn around(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    // The route and not the path, which may hold what is nobody's business; handlers fill in the run or instance.
    let none = tracing::field::Empty;
    let span = tracing::info_span!("request", method = %request.method(), route, run = none, instance = none);
    let mut response = async {
        let response = next.run(request).await;
        tracing::debug!(status = response.status().as_u16(), "answered");
        response
    }
    .instrument(span)
    .await;
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Notes in the request's span which run it is about.
pub(crate) fn about(run: impl std::fmt::Display) {
    tracing::Span::current().record("run", tracing::field::display(run));
}

/// Notes in the request's span which instance it is about.
pub(crate) fn about_instance(id: &InstanceId) {
    tracing::Span::current().record("instance", tracing::field::display(id));
}

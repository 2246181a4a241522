//! Whether the process lives, and whether it can work.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::problem::{Problem, ProblemBody};
use crate::workflows::Workflows;

/// Alive.
#[utoipa::path(
    get, path = "/healthz", tag = "health", operation_id = "alive", security(()),
    responses((status = 204, description = "The process lives"))
)]
pub(crate) async fn alive() -> StatusCode {
    StatusCode::NO_CONTENT
}

/// Able to work.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Readiness {
    /// Whether messages wait to go on the queue.
    outbox_waits: bool,
    /// How many messages are on the queue, held ones included.
    queue_depth: u64,
    /// Whether workflows can run: `ready`, or `not_installed`, in which case all the rest works.
    workflows: &'static str,
    /// What to do about workflows that are not installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    workflows_remedy: Option<String>,
}

/// Ready: rows and queue answer.
#[utoipa::path(
    get, path = "/readyz", tag = "health", operation_id = "ready", security(()),
    responses(
        (status = 200, description = "Rows and queue answer", body = Readiness),
        (status = 503, description = "One of them doesn't", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn ready(State(app): State<App>) -> Result<axum::Json<Readiness>, Problem> {
    let outbox_waits = !app.store.outbox.pending(None, 1).await?.is_empty();
    let queue_depth = app.exchange.queue.depth().await?;
    let (workflows, workflows_remedy) = match &app.workflows {
        Workflows::Ready { engine, .. } => {
            engine.reading().definitions("*", None, 1).await?;
            ("ready", None)
        }
        Workflows::NotInstalled { remedy } => ("not_installed", Some(remedy.clone())),
    };
    Ok(axum::Json(Readiness { outbox_waits, queue_depth, workflows, workflows_remedy }))
}

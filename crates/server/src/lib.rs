//! Heddle's server: the HTTP API, the `ai-status` webhook, the relay from outbox to queue, and the pages.
//!
//! [`serve`] is all there is to call. Rows come in as a [`Store`], what is shared with workers as an [`Exchange`], an
//! engine as [`Workflows`], the time as a [`Clock`]: whoever starts the server decides which.
//!
//! Absent on purpose: rules about runs (`heddle_generation`) and workflows (`heddle_workflow`), SQL (`heddle_store`), conversion (`heddle_worker`).

mod api;
mod app;
mod artifacts;
mod auth;
mod clock;
mod config;
mod connections;
mod extract;
mod intake;
mod pages;
mod people;
mod problem;
mod relay;
mod webhook;
mod workflows;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use heddle_exchange::Exchange;
use heddle_store::{Store, StoreError, TenantSeed};
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub use api::openapi::description as openapi_json;
pub use clock::Clock;
pub use config::{Bounds, CallerConfig, Config, ConfigError, Pages};
pub use heddle_generation::signature::WebhookSecret;

pub use workflows::Workflows;

use app::{Shared, router};
use relay::Relay;

/// How long requests under way may take once the server is told to stop.
const DRAIN: Duration = Duration::from_secs(20);

/// Why the server could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It was told something impossible.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store failed at the start.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The listener failed.
    #[error("could not serve")]
    Io(#[from] std::io::Error),
}

/// Makes sure that everyone who may call has a row to sign with. Their projects are whoever starts the server's to
/// seed ([`heddle_store::Tenants::ensure_tenant`]).
async fn know_callers(config: &Config, store: &Store, now: Timestamp) -> Result<(), StoreError> {
    for caller in &config.callers {
        let tenant = TenantSeed {
            organization: caller.organization_id,
            name: format!("organization {}", caller.organization_id),
            projects: Vec::new(),
            users: vec![caller.user.clone(), config.service_account.clone()],
        };
        store.tenants.ensure_tenant(&tenant, now).await?;
    }
    Ok(())
}

/// Serves until `shutdown` resolves; then requests under way are answered, the relay finishes its message, the engine its
/// steps, and it returns. Must be called on a tokio runtime.
pub async fn serve(
    config: Config,
    store: Store,
    exchange: Exchange,
    workflows: Workflows,
    clock: Clock,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let address = listener.local_addr()?;
    if matches!(config.pages, Pages::Open { .. }) && !address.ip().is_loopback() {
        return Err(ConfigError::OpenPagesBeyondLoopback { address }.into());
    }
    let (relay_poll, bounds) = (config.relay_poll, config.bounds);
    let (stop, stopped) = watch::channel(false);
    let app = Arc::new(Shared::new(config, store, exchange, workflows, clock, stopped.clone())?);
    know_callers(&app.config, &app.store, app.clock.now()).await?;
    let relay = Relay {
        outbox: Arc::clone(&app.store.outbox),
        queue: Arc::clone(&app.exchange.queue),
        clock: app.clock.clone(),
        wake: Arc::clone(&app.wake_relay),
        poll: relay_poll,
    };
    let relay = tokio::spawn(relay.run(stopped.clone()));
    let engine = tokio::spawn(app.workflows.clone().run(stopped.clone()));
    tracing::info!(%address, "serving");

    let mut server = tokio::spawn(connections::serve(listener, router(app), bounds, stopped));
    tokio::select! {
        () = shutdown => {}
        // The server ends by itself only by a fault.
        ended = &mut server => {
            stop.send_replace(true);
            return ended.map_err(|error| std::io::Error::other(error).into());
        }
    }
    tracing::info!("stopping");
    stop.send_replace(true);
    if let Ok(ended) = tokio::time::timeout(DRAIN, &mut server).await {
        ended.map_err(std::io::Error::other)?;
    } else {
        // Their connections end with the process.
        tracing::warn!("requests are still under way; they are left behind");
        server.abort();
    }
    relay.await.map_err(std::io::Error::other)?;
    engine.await.map_err(std::io::Error::other)?;
    Ok(())
}

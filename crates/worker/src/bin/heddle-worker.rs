//! A worker as a program of its own, for where nothing with an SQL driver may run (G12). It works beside
//! `heddle serve --no-worker` on the same data folder, as `heddle worker` does, and is told everything by variables:
//!
//! - `HEDDLE_DATA`: the data folder, which the server has made [heddle-data];
//! - `HEDDLE_BACKEND`: where the server is [<http://127.0.0.1:7345>];
//! - `HEDDLE_WEBHOOK_SECRET`: the secret that it shares with the server [the one in the data folder];
//! - `HEDDLE_FIGMA_FILES`: a folder of Figma files, `{file key}.json` or `.json.gz` [none: uploads only];
//! - `HEDDLE_WORKER_CONCURRENCY`: jobs at one time, 1 to 256 [2];
//! - `HEDDLE_LOG`: what is logged to stderr [warn, and info of Heddle];
//! - the collections' names, as for the server.
//!
//! Exit 0: it was asked to stop (SIGTERM, Ctrl-C); 1: it could not work; 2: a variable is wrong.

use std::error::Error;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use heddle_exchange::{Collections, embedded};
use heddle_figma::Limits;
use heddle_generation::signature::WebhookSecret;
use heddle_worker::Settings;
use heddle_worker::setup::Setup;

type Cause = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    let filter = std::env::var("HEDDLE_LOG").ok().filter(|filter| !filter.trim().is_empty());
    let filter = filter.unwrap_or_else(|| "warn,heddle_worker=info,heddle_exchange=info".to_owned());
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    let (data, setup) = match told(&|name| std::env::var(name).ok()) {
        Ok(told) => told,
        Err(message) => return failed(2, &*Cause::from(message)),
    };
    match work(&data, setup) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(1, &*error),
    }
}

fn failed(code: u8, error: &(dyn Error + 'static)) -> ExitCode {
    tracing::error!(error, "heddle-worker could not work");
    ExitCode::from(code)
}

/// The data folder and the rest, by variables; a blank one is unset.
fn told(variable: &dyn Fn(&str) -> Option<String>) -> Result<(PathBuf, Setup), String> {
    let set =
        |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let data = PathBuf::from(set("HEDDLE_DATA").unwrap_or_else(|| "heddle-data".to_owned()));
    if !data.is_dir() {
        return Err(format!(
            "HEDDLE_DATA: {} is not there; start `heddle serve` on it first",
            data.display()
        ));
    }
    let secret = match set("HEDDLE_WEBHOOK_SECRET") {
        Some(secret) => secret,
        None => std::fs::read_to_string(data.join("webhook-secret")).map_err(|error| {
            format!("HEDDLE_WEBHOOK_SECRET is not set, and the data folder has none: {error}")
        })?,
    };
    let mut settings = Settings::default();
    if let Some(text) = set("HEDDLE_WORKER_CONCURRENCY") {
        let concurrency = text.parse().ok().filter(|number| (1..=256).contains(number));
        settings.concurrency = concurrency.ok_or("HEDDLE_WORKER_CONCURRENCY takes 1 to 256")?;
    }
    let setup = Setup {
        backend: set("HEDDLE_BACKEND").unwrap_or_else(|| "http://127.0.0.1:7345".to_owned()),
        secret: WebhookSecret::parse(&secret).map_err(|error| error.to_string())?,
        figma_files: set("HEDDLE_FIGMA_FILES").map(PathBuf::from),
        max_source_bytes: Limits::default().bytes,
        collections: Collections::from_variables(variable).map_err(|error| error.to_string())?,
        settings,
    };
    Ok((data, setup))
}

fn work(data: &std::path::Path, setup: Setup) -> Result<(), Cause> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    tracing::info!(backend = setup.backend, data = %data.display(), "working");
    let worker = Arc::new(setup.worker(embedded::open(data)?)?);
    runtime.block_on(worker.run(asked_to_stop()));
    // A conversion that goes on ends with the process.
    runtime.shutdown_timeout(std::time::Duration::from_secs(3));
    Ok(())
}

async fn asked_to_stop() {
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
        return;
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

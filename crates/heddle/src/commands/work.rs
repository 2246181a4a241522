//! `heddle worker`, and the worker inside `heddle serve`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use heddle_exchange::Exchange;
use heddle_figma::Limits;
use heddle_generation::signature::WebhookSecret;
use heddle_worker::Worker;
use heddle_worker::setup::Setup;

use crate::config::{Config, ConfigArgs, Overrides};
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::{local, secrets};

/// Run a worker of its own.
#[derive(Args)]
pub struct Work {
    /// The server that this worker reports to [env: `HEDDLE_BACKEND`] [default: where `heddle serve` listens].
    #[arg(long, value_name = "URL")]
    backend: Option<String>,
    /// A folder of Figma files, `{file key}.json` or `.json.gz` [env: `HEDDLE_FIGMA_FILES`].
    #[arg(long, value_name = "DIR")]
    figma_files: Option<PathBuf>,
    /// How many jobs to work on at one time [env: `HEDDLE_WORKER_CONCURRENCY`].
    #[arg(long, value_name = "N")]
    concurrency: Option<usize>,
}

impl Work {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let Self { backend, figma_files, concurrency } = self;
        let config =
            config.with(Overrides { backend, figma_files, concurrency, ..Overrides::default() }).load()?;
        let secret = match &config.webhook_secret {
            Some(secret) => secret.clone(),
            None => secrets::read(&secrets::webhook_secret_path(&config.data))?.ok_or_else(|| {
                Failure::usage("there is no secret to sign reports with").hint(format!(
                    "Set HEDDLE_WEBHOOK_SECRET to the server's, or start `heddle serve` on {} first.",
                    config.data.display()
                ))
            })?,
        };
        let worker = worker(&config, local::exchange(&config.data)?, &config.server_url(), &secret)?;
        terminal.say(&format!("Working for {}; Ctrl-C stops.", config.server_url()));
        local::run(async {
            Arc::new(worker).run(local::asked_to_stop()).await;
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// A worker as the settings describe it.
pub fn worker(config: &Config, exchange: Exchange, backend: &str, secret: &str) -> Result<Worker, Failure> {
    let setup = Setup {
        backend: backend.to_owned(),
        secret: WebhookSecret::parse(secret).map_err(|error| Failure::usage(error.to_string()))?,
        figma_files: config.figma_files.clone(),
        max_source_bytes: config.max_source_bytes,
        collections: config.collections.clone(),
        settings: config.worker,
    };
    setup.worker(exchange).map_err(|error| Failure::usage(error.to_string()))
}

/// What is read at most.
pub fn limits(config: &Config) -> Limits {
    Limits { bytes: config.max_source_bytes, ..Limits::default() }
}

//! The embedded stores in the data folder, and the runtime that everything here runs on.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use heddle_exchange::{Exchange, embedded};
use tokio::runtime::Runtime;

use crate::failure::Failure;

/// A runtime for a command.
pub fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new("could not start the runtime").because(error))
}

/// How long threads that nothing can stop, conversions for the most part, are waited for at the end.
const LAST_WAIT: Duration = Duration::from_secs(3);

/// Runs a command that may leave threads behind; with it the process ends, whatever they still do.
pub fn run<T>(command: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = runtime()?;
    let ended = runtime.block_on(command);
    runtime.shutdown_timeout(LAST_WAIT);
    ended
}

/// Makes the data folder where it is absent.
pub fn folder(data: &Path) -> Result<(), Failure> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    // Designs and secrets are in it: it is its owner's alone.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(data)
        .map_err(|error| Failure::new(format!("could not make the folder {}", data.display())).because(error))
}

/// The file of the data folder that workflows are in, once they are installed.
pub fn workflows_path(data: &Path) -> PathBuf {
    data.join("workflows.sqlite")
}

/// The exchange of the data folder, which is made where it is absent.
pub fn exchange(data: &Path) -> Result<Exchange, Failure> {
    folder(data)?;
    embedded::open(data).map_err(|error| {
        Failure::new(format!("could not open the stores in {}", data.display()))
            .because(error)
            .hint("They need a folder on a local disk that this program may write to.")
    })
}

/// Keeps every other process from being the server of this folder, for as long as it is held.
pub fn be_the_server(data: &Path) -> Result<File, Failure> {
    let path = data.join("serve.lock");
    let cannot =
        |error: std::io::Error| Failure::new(format!("could not lock {}", path.display())).because(error);
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(cannot)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Failure::new(format!("another process serves {} already", data.display()))
                .hint("Stop it, or give this one a folder of its own with --data."))
        }
        Err(TryLockError::Error(error)) => Err(cannot(error)),
    }
}

/// Ends when the process is asked to stop: by Ctrl-C or, on Unix, by SIGTERM. Asked a second time, it stops at once.
pub async fn asked_to_stop() {
    asked().await;
    tokio::spawn(async {
        asked().await;
        std::process::exit(130);
    });
}

async fn asked() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

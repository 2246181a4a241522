//! Connections: where to, over what, and with which settings.

use std::ops::Deref;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failed;
use crate::StoreError;

/// How many connections one process has at most, but for the one that carries probes.
const CONNECTIONS: usize = 16;
/// How long somebody waits for one, new or not.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a server may be silent before its connections are given up: a machine that vanishes says no good-bye.
const SILENCE: Duration = Duration::from_secs(30);

/// The settings of every connection. Each statement has its index, and plans are made once: what the planner believes
/// of tables that have just been made, or have just grown, must not lead it to read them whole. Nothing waits for ever.
pub(super) const SETTINGS: &str = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; \
     SET plan_cache_mode = force_generic_plan; SET jit = off; SET lock_timeout = '1s'; \
     SET statement_timeout = '20s'; SET idle_in_transaction_session_timeout = '30s'";

/// A pool, cheap to clone.
#[derive(Clone)]
pub(super) struct Connections {
    pool: Pool,
    config: Config,
    tls: MakeRustlsConnect,
}

impl Connections {
    /// Reads a connection string. Nothing is connected yet.
    pub(super) fn open(url: &str) -> Result<Self, StoreError> {
        const ATTEMPTED: &str = "read the database's connection string";
        let (url, roots) = without_roots(url);
        let mut config = Config::from_str(&url).map_err(failed(ATTEMPTED))?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        config.keepalives_idle(SILENCE / 2).keepalives_interval(SILENCE / 6).keepalives_retries(3);
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        if config.get_application_name().is_none() {
            config.application_name("heddle");
        }
        let tls = match roots {
            None => MakeRustlsConnect::with_webpki_roots(),
            Some(file) => trusting(Path::new(&file))?,
        };
        let recycled = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(config.clone(), tls.clone(), recycled);
        let prepared = Hook::async_fn(|client: &mut deadpool_postgres::ClientWrapper, _| {
            Box::pin(async move { client.batch_execute(SETTINGS).await.map_err(HookError::Backend) })
        });
        let pool = Pool::builder(manager)
            .max_size(CONNECTIONS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(PATIENCE))
            .create_timeout(Some(PATIENCE))
            .recycle_timeout(Some(PATIENCE))
            .post_create(prepared)
            .build()
            .map_err(failed(ATTEMPTED))?;
        Ok(Self { pool, config, tls })
    }

    /// A connection on loan.
    pub(super) async fn lend(&self) -> Result<Object, StoreError> {
        self.pool.get().await.map_err(failed("connect to the database"))
    }

    /// A connection on loan that nobody else gets if the caller goes away before it is given back.
    pub(super) async fn reserve(&self) -> Result<Reserved, StoreError> {
        Ok(Reserved { client: Some(self.lend().await?) })
    }

    /// The same, with the transaction on it.
    pub(super) async fn begin(&self) -> Result<Reserved, StoreError> {
        let reserved = self.reserve().await?;
        reserved.batch_execute("BEGIN").await.map_err(failed("begin a transaction"))?;
        Ok(reserved)
    }

    /// A connection of its own, which has to be driven.
    pub(super) async fn apart(
        &self,
    ) -> Result<
        (
            tokio_postgres::Client,
            tokio_postgres::Connection<
                tokio_postgres::Socket,
                <MakeRustlsConnect as tokio_postgres::tls::MakeTlsConnect<tokio_postgres::Socket>>::Stream,
            >,
        ),
        StoreError,
    > {
        self.config.connect(self.tls.clone()).await.map_err(failed("connect to the database"))
    }
}

/// A connection on which something is under way, a transaction or a statement. If it is dropped before that has ended,
/// however this comes, nobody else gets it.
pub(super) struct Reserved {
    client: Option<Object>,
}

impl Reserved {
    pub(super) async fn commit(self) -> Result<(), StoreError> {
        self.batch_execute("COMMIT").await.map_err(failed("commit"))?;
        self.release();
        Ok(())
    }

    pub(super) async fn roll_back(self) -> Result<(), StoreError> {
        self.batch_execute("ROLLBACK").await.map_err(failed("roll back"))?;
        self.release();
        Ok(())
    }

    /// Gives it back to the others, its transaction over.
    pub(super) fn release(mut self) {
        drop(self.client.take());
    }
}

impl Deref for Reserved {
    type Target = Object;

    fn deref(&self) -> &Object {
        match &self.client {
            Some(client) => client,
            None => unreachable!("what was given back is gone"),
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}

/// The connection string without `sslrootcert`, which the driver doesn't know, and what that said.
fn without_roots(url: &str) -> (String, Option<String>) {
    const NAME: &str = "sslrootcert=";
    let separators = if url.contains("://") { ['?', '&'] } else { [' ', '\n'] };
    let mut roots = None;
    let mut kept = String::with_capacity(url.len());
    for part in url.split_inclusive(separators) {
        let value = part.trim_end_matches(separators);
        match value.strip_prefix(NAME) {
            Some(file) => roots = Some(file.trim_matches('\'').to_owned()),
            None => kept.push_str(part),
        }
    }
    if roots.is_some() {
        kept.truncate(kept.trim_end_matches(separators).len());
    }
    (kept, roots)
}

/// TLS that trusts the roots in a file.
fn trusting(file: &Path) -> Result<MakeRustlsConnect, StoreError> {
    const ATTEMPTED: &str = "read the certificates that sslrootcert names";
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(failed(ATTEMPTED))? {
        let certificate = certificate.map_err(failed(ATTEMPTED))?;
        roots.add(certificate).map_err(failed(ATTEMPTED))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed(ATTEMPTED))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roots_are_taken_out_of_the_connection_string() {
        for (url, kept, roots) in [
            ("host=a user=b", "host=a user=b", None),
            ("host=a sslrootcert=/x.pem user=b", "host=a user=b", Some("/x.pem")),
            ("host=a sslrootcert='/x.pem'", "host=a", Some("/x.pem")),
            ("postgresql://a/b?sslrootcert=/x.pem", "postgresql://a/b", Some("/x.pem")),
            (
                "postgresql://a/b?sslmode=require&sslrootcert=/x.pem",
                "postgresql://a/b?sslmode=require",
                Some("/x.pem"),
            ),
            (
                "postgresql://a/b?sslrootcert=/x.pem&sslmode=require",
                "postgresql://a/b?sslmode=require",
                Some("/x.pem"),
            ),
        ] {
            assert_eq!(without_roots(url), (kept.to_owned(), roots.map(str::to_owned)), "{url}");
            assert!(Config::from_str(kept).is_ok(), "{kept}");
        }
    }

    #[test]
    fn a_file_without_certificates_is_refused() {
        assert!(Connections::open("host=a sslrootcert=/nowhere.pem").is_err());
        assert!(Connections::open("nonsense").is_err());
    }
}

//! What the server is told at its start.

use std::time::Duration;

use heddle_generation::signature::WebhookSecret;
use heddle_generation::{Edge, OrganizationId, TriggerSurface, UserSub};

/// The whole of it.
#[derive(Debug, Clone)]
pub struct Config {
    /// Who may call the API, and as whom.
    pub callers: Vec<CallerConfig>,
    /// Secrets that the `ai-status` webhook is signed with; more than one while they are being changed.
    pub webhook_secrets: Vec<WebhookSecret>,
    /// As whom the system writes.
    pub service_account: UserSub,
    /// Who may see the pages.
    pub pages: Pages,
    /// The edges that somebody works on. A request for another one is refused, since it would wait for ever.
    pub edges: Vec<Edge>,
    /// How often the relay looks into the outbox when nobody wakes it.
    pub relay_poll: Duration,
    /// What it bears.
    pub bounds: Bounds,
}

/// What the server bears: numbers, and for how long it waits for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Connections at one time; who comes beyond waits to be accepted.
    pub connections: usize,
    /// How long a connection may be without a request, and how long a request's head may take.
    pub idle: Duration,
    /// How long a connection may take nothing of an answer.
    pub stalled: Duration,
    /// Bytes of uploads in memory at one time.
    pub upload_bytes: usize,
    /// The same for one organization; one upload of 64 MiB has to fit.
    pub upload_bytes_each: usize,
    /// How long an upload waits for room before it is refused.
    pub upload_wait: Duration,
    /// The time within which 64 KiB more of an upload, or its end, have to arrive.
    pub upload_pace: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            // Half of the file handles that systems commonly give a process: the rows and objects need some.
            connections: 512,
            idle: Duration::from_secs(30),
            stalled: Duration::from_secs(60),
            upload_bytes: 384 * 1024 * 1024,
            upload_bytes_each: 128 * 1024 * 1024,
            upload_wait: Duration::from_secs(10),
            upload_pace: Duration::from_secs(10),
        }
    }
}

/// A caller of the API: a token, and what whoever shows it is.
#[derive(Clone)]
pub struct CallerConfig {
    /// The bearer token: at least [`CallerConfig::MIN_TOKEN_BYTES`] of visible ASCII.
    pub token: String,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// The person.
    pub user: UserSub,
    /// The surface that runs are noted to come from (G10).
    pub surface: TriggerSurface,
}

impl CallerConfig {
    /// Shortest token, in bytes.
    pub const MIN_TOKEN_BYTES: usize = 16;
}

impl std::fmt::Debug for CallerConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The token stays out of logs.
        f.debug_struct("CallerConfig")
            .field("organization_id", &self.organization_id)
            .field("user", &self.user)
            .field("surface", &self.surface)
            .finish_non_exhaustive()
    }
}

/// Who may see the pages at `/` and `/runs/…`. They only ever read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// Whoever signs in with a caller's token. The browser then holds a cookie that was derived from the token:
    /// it opens that tenant's pages, never the API, and ends with the token.
    SignIn {
        /// Whether the cookie is for HTTPS only. Say `true` wherever TLS ends in front of the server.
        secure_cookie: bool,
    },
    /// Whoever is at this machine sees this tenant's pages: for the demo. Only with a loopback address, and only
    /// under a loopback host name, so that no web page elsewhere can read them through the visitor's browser.
    Open {
        /// The tenant to show.
        organization_id: OrganizationId,
    },
}

/// What is wrong with a [`Config`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A token that is too easy to guess, or can't be sent in a header.
    #[error(
        "the token of {user} is unusable: a token is at least {} visible ASCII characters",
        CallerConfig::MIN_TOKEN_BYTES
    )]
    WeakToken {
        /// Whose.
        user: UserSub,
    },
    /// Two callers with one token.
    #[error("{first} and {second} have the same token")]
    SharedToken {
        /// One of them.
        first: UserSub,
        /// The other.
        second: UserSub,
    },
    /// No secret to check webhooks with.
    #[error("there is no webhook secret; without one no run can be completed")]
    NoWebhookSecret,
    /// No edge to work on.
    #[error("no edge is served; name at least one")]
    NoEdge,
    /// Open pages where others could reach them.
    #[error(
        "pages are open, and {address} is not a loopback address: listen on 127.0.0.1, or let people sign in"
    )]
    OpenPagesBeyondLoopback {
        /// The address that was to be listened on.
        address: std::net::SocketAddr,
    },
}

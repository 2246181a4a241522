//! Who may ask what of the rows.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_generation::{
    Command, Edge, Ignored, Opening, OrganizationId, ProjectId, Run, RunId, ScoreValue, Status, UserSub,
};
use jiff::Timestamp;

use crate::{CreateError, StoreError, TransitionError};

/// Most runs in one page.
pub const MAX_PAGE: u16 = 100;

/// The runs of one tenant, for the API and the pages. Every call names the tenant; a run of another one, or a
/// deleted one, is not there (G4, G13).
#[async_trait]
pub trait RunRows: Send + Sync {
    /// Stores a new run's row and its first message, both or neither (G5), and gives the row as it is stored: later
    /// than every run of the same node and edge before it ([`Opening::later_than`]).
    async fn create(&self, opening: &Opening) -> Result<Run, CreateError>;

    /// The run, or `None`.
    async fn get(&self, organization: OrganizationId, id: RunId) -> Result<Option<Run>, StoreError>;

    /// The runs that pass `filter`, newest first, one page of them.
    async fn list(
        &self,
        organization: OrganizationId,
        filter: &RunFilter,
        page: PageRequest,
    ) -> Result<Page, StoreError>;

    /// Loads the run, lets [`heddle_generation::decide`] say what `command` does to it, and does it under the
    /// guard of the status, phase and attempt that were loaded: in one transaction.
    async fn transition(
        &self,
        organization: OrganizationId,
        id: RunId,
        command: &Command,
        by: &UserSub,
        now: Timestamp,
    ) -> Result<Transition, TransitionError>;
}

/// The runs by their job id alone, for the `ai-status` webhook: a worker belongs to no tenant. Whoever speaks for
/// a tenant has [`RunRows`] instead.
#[async_trait]
pub trait JobRows: Send + Sync {
    /// The run, or `None`.
    async fn by_job(&self, id: RunId) -> Result<Option<Run>, StoreError>;
}

/// The messages that have yet to reach the queue, for the relay.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Up to `limit` messages after the message `after` that are neither sent nor dead, oldest first.
    async fn pending(&self, after: Option<OutgoingId>, limit: u16) -> Result<Vec<Outgoing>, StoreError>;

    /// Notes that a message has been sent. `false`: it had been noted before.
    async fn mark_sent(&self, id: OutgoingId, now: Timestamp) -> Result<bool, StoreError>;

    /// Notes that the queue will never take a message, and why. `false`: it had been sent, or noted, before.
    async fn mark_dead(&self, id: OutgoingId, reason: &str, now: Timestamp) -> Result<bool, StoreError>;
}

/// The tenants, for start-up and for what needs a project and no run.
#[async_trait]
pub trait Tenants: Send + Sync {
    /// Makes sure that a tenant, its projects and these users are there. What is there already stays as it is.
    async fn ensure_tenant(&self, tenant: &TenantSeed, now: Timestamp) -> Result<(), StoreError>;

    /// Whether the tenant has that project.
    async fn has_project(&self, organization: OrganizationId, project: ProjectId)
    -> Result<bool, StoreError>;
}

/// The rows by caller, cheap to clone.
#[derive(Clone)]
pub struct Store {
    /// For the API and the pages.
    pub runs: Arc<dyn RunRows>,
    /// For the webhook.
    pub jobs: Arc<dyn JobRows>,
    /// For the relay.
    pub outbox: Arc<dyn Outbox>,
    /// For start-up.
    pub tenants: Arc<dyn Tenants>,
}

impl Store {
    /// All four from one adapter.
    pub fn of<T: RunRows + JobRows + Outbox + Tenants + 'static>(adapter: Arc<T>) -> Self {
        Self { runs: adapter.clone(), jobs: adapter.clone(), outbox: adapter.clone(), tenants: adapter }
    }
}

/// Which runs to list. What is `None` doesn't matter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFilter {
    /// In this project.
    pub project: Option<ProjectId>,
    /// Of this Figma file.
    pub file: Option<String>,
    /// On this edge.
    pub edge: Option<Edge>,
    /// In this status.
    pub status: Option<Status>,
    /// Placed in Figma, or not.
    pub materialized: Option<bool>,
    /// With a score of at least this.
    pub score_min: Option<ScoreValue>,
    /// With a score of at most this.
    pub score_max: Option<ScoreValue>,
    /// With a score of this version.
    pub score_version: Option<String>,
}

/// Which page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// After this place; `None` for the first page.
    pub after: Option<Cursor>,
    /// How many runs at most, 1 to [`MAX_PAGE`]; what is beyond counts as the nearer end.
    pub limit: u16,
}

impl PageRequest {
    /// The limit within its bounds.
    pub(crate) fn bounded(self) -> u16 {
        self.limit.clamp(1, MAX_PAGE)
    }
}

/// A place in the order of a list, which is by time of creation and then by id, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The last run's time of creation.
    pub created_at: Timestamp,
    /// The last run's id.
    pub id: RunId,
}

/// One page of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The runs.
    pub runs: Vec<Run>,
    /// Where the next page begins, if there is one.
    pub next: Option<Cursor>,
}

impl Page {
    /// A page of `limit` from as many runs and one more, if there were that many.
    pub(crate) fn cut(mut runs: Vec<Run>, limit: u16) -> Self {
        let limit = usize::from(limit);
        let more = runs.len() > limit;
        runs.truncate(limit);
        let last = runs.last().filter(|_| more);
        let next = last.map(|run| Cursor { created_at: run.created_at, id: run.id });
        Self { runs, next }
    }
}

/// What a command came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Transition {
    /// The row changed; this is the run now. After a delete it is the last that anyone sees of it.
    Applied(Run),
    /// Nothing changed.
    Ignored {
        /// Why.
        why: Ignored,
        /// The run as it is.
        run: Run,
    },
}

/// A message's place in the outbox; later messages have greater ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutgoingId(pub i64);

/// A message on its way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Its place.
    pub id: OutgoingId,
    /// The run that it speaks of.
    pub run: RunId,
    /// What goes on the queue.
    pub body: String,
}

/// A tenant to be sure of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantSeed {
    /// Its id.
    pub organization: OrganizationId,
    /// Its name.
    pub name: String,
    /// Its projects, with their names.
    pub projects: Vec<(ProjectId, String)>,
    /// People and service accounts.
    pub users: Vec<UserSub>,
}

//! The rows in memory: for tests and simulation. It keeps every promise of the traits but to last.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use heddle_generation::{
    Command, Decision, Edge, Opening, OrganizationId, ProjectId, Run, RunId, Score, State, UserSub, decide,
};
use jiff::Timestamp;

use crate::{
    CreateError, Cursor, JobRows, Outbox, Outgoing, OutgoingId, Page, PageRequest, RunFilter, RunRows,
    StoreError, TenantSeed, Tenants, Transition, TransitionError,
};

/// The adapter. Every call is one step under one lock.
#[derive(Default)]
pub struct MemoryStore {
    tables: Mutex<Tables>,
}

#[derive(Default)]
struct Tables {
    projects: BTreeMap<ProjectId, OrganizationId>,
    users: BTreeSet<UserSub>,
    /// The visible runs: a deleted one is gone.
    runs: BTreeMap<RunId, Run>,
    /// When the last run of each node was created, deleted ones included.
    latest: BTreeMap<Fence, Timestamp>,
    outbox: BTreeMap<OutgoingId, Sending>,
}

/// What only one live run holds (G2).
type Fence = (ProjectId, String, String, Edge);

fn fence(run: &Run) -> Fence {
    (run.project_id, run.figma_file_key.clone(), run.wf_node_id.clone(), run.edge)
}

struct Sending {
    message: Outgoing,
    /// Sent, or dead: nothing more is to be done with it.
    done: bool,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl RunRows for MemoryStore {
    async fn create(&self, opening: &Opening) -> Result<Run, CreateError> {
        let mut tables = self.tables();
        let latest = tables.latest.get(&fence(&opening.run)).copied();
        let opening = latest.map_or_else(|| opening.clone(), |latest| opening.clone().later_than(latest));
        let Opening { run, job } = &opening;
        if tables.projects.get(&run.project_id) != Some(&run.organization_id) {
            return Err(CreateError::UnknownProject {
                organization: run.organization_id,
                project: run.project_id,
            });
        }
        if !tables.users.contains(&run.created_by) {
            return Err(CreateError::UnknownUser { user: run.created_by.clone() });
        }
        if let Some(live) = tables.runs.values().find(|other| fences(other, run)) {
            return Err(CreateError::AlreadyLive { id: live.id });
        }
        let body = serde_json::to_string(job).map_err(|error| StoreError::Backend {
            attempted: "write a run's message",
            source: Box::new(error),
        })?;
        let id = OutgoingId(tables.outbox.last_key_value().map_or(0, |(last, _)| last.0) + 1);
        tables.outbox.insert(id, Sending { message: Outgoing { id, run: run.id, body }, done: false });
        tables.latest.insert(fence(run), run.created_at);
        tables.runs.insert(run.id, run.clone());
        Ok(opening.run)
    }

    async fn get(&self, organization: OrganizationId, id: RunId) -> Result<Option<Run>, StoreError> {
        let run = self.tables().runs.get(&id).cloned();
        Ok(run.filter(|run| run.organization_id == organization))
    }

    async fn list(
        &self,
        organization: OrganizationId,
        filter: &RunFilter,
        page: PageRequest,
    ) -> Result<Page, StoreError> {
        let limit = page.bounded();
        let tables = self.tables();
        let mut runs: Vec<&Run> = tables
            .runs
            .values()
            .filter(|run| run.organization_id == organization && passes(run, filter))
            .filter(|run| page.after.is_none_or(|after| (run.created_at, run.id) < place(after)))
            .collect();
        runs.sort_by_key(|run| std::cmp::Reverse((run.created_at, run.id)));
        Ok(Page::cut(runs.into_iter().take(usize::from(limit) + 1).cloned().collect(), limit))
    }

    async fn transition(
        &self,
        organization: OrganizationId,
        id: RunId,
        command: &Command,
        by: &UserSub,
        now: Timestamp,
    ) -> Result<Transition, TransitionError> {
        let mut tables = self.tables();
        let run = tables.runs.get(&id).filter(|run| run.organization_id == organization).cloned();
        let run = run.ok_or(TransitionError::NotFound)?;
        match decide(&run, command, by, now)? {
            Decision::Ignore(why) => Ok(Transition::Ignored { why, run }),
            Decision::Apply(change) => {
                let after = change.applied_to(&run);
                if change.deleted {
                    tables.runs.remove(&id);
                } else {
                    tables.runs.insert(id, after.clone());
                }
                Ok(Transition::Applied(after))
            }
        }
    }
}

#[async_trait]
impl JobRows for MemoryStore {
    async fn by_job(&self, id: RunId) -> Result<Option<Run>, StoreError> {
        Ok(self.tables().runs.get(&id).cloned())
    }
}

#[async_trait]
impl Outbox for MemoryStore {
    async fn pending(&self, after: Option<OutgoingId>, limit: u16) -> Result<Vec<Outgoing>, StoreError> {
        let after = after.unwrap_or(OutgoingId(0));
        let tables = self.tables();
        let pending = tables.outbox.values().filter(|sending| !sending.done && sending.message.id > after);
        Ok(pending.take(usize::from(limit)).map(|sending| sending.message.clone()).collect())
    }

    async fn mark_sent(&self, id: OutgoingId, _now: Timestamp) -> Result<bool, StoreError> {
        let mut tables = self.tables();
        let sending = tables.outbox.get_mut(&id);
        Ok(sending.is_some_and(|sending| !std::mem::replace(&mut sending.done, true)))
    }

    async fn mark_dead(&self, id: OutgoingId, _reason: &str, now: Timestamp) -> Result<bool, StoreError> {
        self.mark_sent(id, now).await
    }
}

#[async_trait]
impl Tenants for MemoryStore {
    async fn ensure_tenant(&self, tenant: &TenantSeed, _now: Timestamp) -> Result<(), StoreError> {
        let mut tables = self.tables();
        let foreign = |(project, _): &&(ProjectId, String)| {
            tables.projects.get(project).is_some_and(|owner| *owner != tenant.organization)
        };
        if let Some((project, _)) = tenant.projects.iter().find(foreign) {
            return Err(StoreError::BadRow {
                table: "project",
                column: "organization_id",
                id: project.to_string(),
                reason: format!(
                    "is not {}: the project belongs to another organization",
                    tenant.organization
                ),
            });
        }
        tables.projects.extend(tenant.projects.iter().map(|(project, _)| (*project, tenant.organization)));
        tables.users.extend(tenant.users.iter().cloned());
        Ok(())
    }

    async fn has_project(
        &self,
        organization: OrganizationId,
        project: ProjectId,
    ) -> Result<bool, StoreError> {
        Ok(self.tables().projects.get(&project) == Some(&organization))
    }
}

/// Whether a live run holds the fence that `run` needs (G2).
fn fences(live: &Run, run: &Run) -> bool {
    matches!(live.state, State::Processing { .. }) && fence(live) == fence(run)
}

fn place(cursor: Cursor) -> (Timestamp, RunId) {
    (cursor.created_at, cursor.id)
}

fn passes(run: &Run, filter: &RunFilter) -> bool {
    let score = run.state.score();
    let value = score.map(Score::value);
    filter.project.is_none_or(|project| run.project_id == project)
        && filter.file.as_ref().is_none_or(|file| run.figma_file_key == *file)
        && filter.edge.is_none_or(|edge| run.edge == edge)
        && filter.status.is_none_or(|status| run.state.status() == status)
        && filter.materialized.is_none_or(|wanted| run.state.materialized_at().is_some() == wanted)
        && filter.score_min.is_none_or(|least| value.is_some_and(|value| value >= least))
        && filter.score_max.is_none_or(|greatest| value.is_some_and(|value| value <= greatest))
        && filter.score_version.as_ref().is_none_or(|wanted| score.is_some_and(|s| s.version() == wanted))
}

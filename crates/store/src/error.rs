//! Why the rows could not do what was asked.

use heddle_generation::{OrganizationId, ProjectId, Refusal, RunId, UserSub};

/// A failure of the store itself.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database failed; the same call may go through later.
    #[error("could not {attempted}")]
    Backend {
        /// What was attempted, as a verb phrase.
        attempted: &'static str,
        /// The database's own error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A stored row that is not what it should be.
    #[error("the row {id} of {table} is damaged: {column} {reason}")]
    BadRow {
        /// Its table.
        table: &'static str,
        /// The column at fault.
        column: &'static str,
        /// The row's id.
        id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A row changed between its reading and its writing, inside what should have been one transaction.
    #[error("the row {id} of {table} changed while it was being written")]
    ChangedMeanwhile {
        /// Its table.
        table: &'static str,
        /// The row's id.
        id: String,
    },
    /// The database's schema is not this program's.
    #[error("the database's schema is at version {found}, and this program needs {needed}: {remedy}")]
    Schema {
        /// The version found; 0 for a database without any.
        found: u32,
        /// The version of this program.
        needed: u32,
        /// What to do.
        remedy: &'static str,
    },
    /// Tables were to be made, and there are some of these names.
    #[error("there are tables, or indexes, of these names already")]
    Installed,
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
}

/// Why a run was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// A live run holds the fence of the same node and edge (G2).
    #[error("run {id} is alive on the same node and edge")]
    AlreadyLive {
        /// That run.
        id: RunId,
    },
    /// The tenant has no such project.
    #[error("organization {organization} has no project {project}")]
    UnknownProject {
        /// The tenant.
        organization: OrganizationId,
        /// The project asked for.
        project: ProjectId,
    },
    /// Nobody has that sub.
    #[error("there is no user {user}")]
    UnknownUser {
        /// The sub.
        user: UserSub,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a run was not changed.
#[derive(Debug, thiserror::Error)]
pub enum TransitionError {
    /// The tenant has no such run, or it has been deleted (G4, G13).
    #[error("there is no such run")]
    NotFound,
    /// The run's state forbids it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

//! The rows of the workflow engine: eight tables, on any of the adapters (W1).
//!
//! Traits are narrow, one for each kind of caller: [`Publishing`] for whoever keeps definitions, [`Turns`] for
//! whoever moves instances, [`Work`] for whoever looks for something to do, [`Effects`] for handlers,
//! [`Probes`] for whoever waits for others, [`Reading`] for people. A [`WorkflowStore`] is all of them together.
//! [`WorkflowSqlite`] keeps them in a file, [`WorkflowPostgres`] in a database for many processes, [`WorkflowMemory`] in
//! memory, for tests and simulation; one conformance suite runs on all three.
//!
//! A turn is one commit, and many turns may share one: [`Turns::commit`] takes a batch, in which each turn is done
//! or isn't by itself. What a turn writes says [`heddle_workflow::decide`] in a plan, and nothing here adds to it.

mod columns;
mod keys;
mod memory;
mod postgres;
mod probes;
mod raw;
mod reading;
mod schema;
mod sql;
mod sqlite;
mod tables;
mod traits;

pub use memory::WorkflowMemory;
pub use postgres::WorkflowPostgres;
pub use probes::Watch;
pub use reading::*;
pub use schema::*;
pub use sqlite::WorkflowSqlite;
pub use traits::*;

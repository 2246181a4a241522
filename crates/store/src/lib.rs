//! The rows of Heddle. The only crate with SQL.
//!
//! Traits are narrow, one for each kind of caller ([`RunRows`], [`JobRows`], [`Outbox`], [`Tenants`]), and a
//! [`Store`] is the four together. [`SqliteStore`] keeps them in a file, [`MemoryStore`] in memory, for tests and
//! simulation; one conformance suite (`tests/`) runs on both.
//!
//! Absent on purpose: rules. What a command does to a run says [`heddle_generation::decide`]; an adapter loads,
//! asks, and writes under the guard of what it loaded, in one transaction.

mod error;
mod memory;
mod readers;
mod row;
mod sql;
mod sqlite;
mod traits;
pub mod workflows;

pub use error::*;
pub use memory::MemoryStore;
pub use sqlite::{Migrated, SqliteStore, migrate};
pub use traits::*;

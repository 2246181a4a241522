//! The conversion worker: a job becomes a snapshot, a conversion, artifacts, and a report.
//!
//! [`Worker`] takes jobs from the queue and keeps each alive with a [`lease`](crate::Lease) while it works on it.
//! What a job needs comes through three seams: [`Sources`] (the Figma document), [`Converter`] (the conversion
//! itself, pure), [`Reporter`] (the backend's webhook). Everything it makes is written under a fence or by content,
//! so that a worker killed at any line and started again ends the same.
//! [`sweep`] fills the registries.
//!
//! Absent on purpose: SQL and its credentials (G12). What a run's row becomes is the backend's word alone.

mod breakpoint;
pub mod conversion;
mod documents;
mod failure;
mod lease;
mod library;
mod message;
pub mod pipeline;
mod report;
mod run;
pub mod setup;
mod source;
pub mod sweep;
#[cfg(test)]
#[path = "../tests/common/watchdog.rs"]
mod watchdog;
mod worker;

pub use breakpoint::{Breakpoint, Breakpoints};
pub use lease::Lease;
pub use pipeline::Converter;
pub use report::{Answer, HttpReporter, ReportError, Reporter};
pub use run::Ended;
pub use source::{LocalSources, SourceBytes, SourceError, Sources};
pub use worker::{Settings, Worker};

//! Workflows: what a graph may look like, and what an instance of it does. Pure: no I/O, no clock, no randomness;
//! times, ids, tokens and chance are arguments.
//!
//! A document is read ([`read_json`]) and checked ([`check`]) once, into a [`Graph`]; its [`checksum`] is over
//! its canonical form. [`start`] makes an instance, and whatever happens to one goes through [`decide`]. Both give a
//! [`Plan`]: the rows to write, all of them in one transaction. [`restore`] makes the [`State`] from the rows again.
//!
//! Absent on purpose: handlers, stores, and when to look at what. A shell claims steps, calls handlers outside of
//! any transaction, and asks [`decide`] what their ends come to.

mod canonical;
mod expression;
mod graph;
mod instance;
mod json;
mod length;
mod name;
mod text;

pub use canonical::*;
pub use expression::*;
pub use graph::*;
pub use instance::*;
pub use json::*;
pub use length::*;
pub use name::*;
pub use text::*;

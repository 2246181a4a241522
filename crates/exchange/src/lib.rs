//! What server and workers hand each other: messages ([`Queue`]), documents ([`Documents`]) and objects
//! ([`Objects`]). Three narrow traits, their adapters, and one conformance suite for every adapter.
//!
//! - [`embedded`] keeps all three in one folder of one machine, for one process or several;
//! - [`memory`] keeps them in memory, for tests and simulation;
//! - [`keys`] builds every object key and document id, so that no outside id escapes its place;
//! - [`Collections`] names the collections, [`registry`] binds each registry's reads to its own collection.
//!
//! Absent on purpose: SQL. The rows belong to the server alone (G12); nothing in this crate can reach them.

mod collections;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod embedded;
pub mod limits;
pub mod memory;
pub mod registry;
mod traits;

pub use collections::Collections;
#[doc(inline)]
pub use heddle_generation::keys;
pub use traits::*;

//! The generation run: its row, its life and its words. Pure: no I/O, no clock, no randomness.
//!
//! A run is one request to generate, on one [`Edge`]. Its row ([`Run`]) is the only truth about it.
//! Who asks for a run is checked by [`RunRequest::validate`], and [`open`] makes the row and its first message.
//! Whoever wants to change a row asks [`decide`] what the change is; the store performs it.
//! Server and worker talk in the types of [`message`] and of nothing else; [`check_report`] and
//! [`check_manifest`] say what of it a row may believe, and [`signature`] whose report it is. [`keys`] names every
//! object and document, on both sides.

mod code;
mod decide;
mod field;
mod id;
pub mod keys;
mod manifest;
pub mod message;
mod request;
mod run;
pub mod signature;

pub use code::*;
pub use decide::*;
pub use field::FieldError;
pub use id::*;
pub use manifest::*;
pub use request::*;
pub use run::*;

//! Workflows: what a graph may look like and what an instance of it does. Pure: no I/O, no clock, no randomness.

mod canonical;
mod expression;
mod json;

pub use canonical::*;
pub use expression::*;
pub use json::*;

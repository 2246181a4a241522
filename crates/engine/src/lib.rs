//! The workflow engine as a library.
//!
//! An [`Engine`] claims steps, calls their handlers outside of any transaction, asks [`heddle_workflow::decide`]
//! what their ends come to, and commits each turn at once. Handlers are typed async functions in a [`Registry`].
//! [`Engine::run`] works until it is told to stop, beside as many others on the same store as there are;
//! a [`Harness`] does the same in memory, on a clock that is moved by hand.
//!
//! Absent on purpose: rules (those are `heddle-workflow`'s) and SQL (`heddle-store`'s).

mod clock;
mod draw;
mod engine;
mod error;
mod gather;
mod graphs;
mod handler;
mod harness;
mod permission;
mod publish;
mod run;
mod wake;
mod work;

pub use clock::{Clock, SystemClock, VirtualClock};
pub use draw::{Draw, SeededDraw, SystemDraw, ulid};
pub use engine::{Config, Engine, Request, Started};
pub use error::EngineError;
pub use graphs::Graphs;
pub use handler::{Context, Flow, Registry, Resume, StepError};
pub use harness::Harness;
pub use permission::{Act, NobodyKnows, Permission, Verdict};
pub use publish::Publication;

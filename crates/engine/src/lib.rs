//! The workflow engine as a library.
//!
//! A workflow is a graph in JSON. An instance of it is walked step by step, and each step is a row: whatever dies, the
//! walk goes on where it was. What a step does says a handler, a typed async function in a [`Registry`]. An
//! [`Engine`] claims steps, calls their handlers outside of any transaction, asks [`heddle_workflow::decide`] what
//! their ends come to, and commits each turn at once.
//!
//! ```
//! use std::sync::Arc;
//!
//! use heddle_engine::store::{Schema, WorkflowSqlite, WorkflowStore};
//! use heddle_engine::workflow::Actor;
//! use heddle_engine::{
//!     Config, Context, Engine, Flow, Registry, Request, StepError, SystemClock, SystemDraw,
//! };
//! use serde::Deserialize;
//! use serde_json::json;
//!
//! #[derive(Deserialize)]
//! struct Order {
//!     amount: u64,
//! }
//!
//! async fn charge(order: Order, call: Context) -> Result<Flow<String>, StepError> {
//!     if order.amount == 0 {
//!         return Err(StepError::fatal("nothing_to_charge", "the amount is 0"));
//!     }
//!     // What charges for real knows the charge by this key, and never does it twice.
//!     Ok(Flow::Done(call.idempotency_key))
//! }
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let graph = json!({
//!     "schema_version": "roundly.workflows.graph/v1",
//!     "nodes": [
//!         {"id": "start", "type": "trigger"},
//!         {"id": "charge", "type": "action", "config": {"handler": "charge", "input": "{{ trigger }}"},
//!          "retry": {"max_attempts": 3, "delay": "10s"}, "timeout": "1m"},
//!         {"id": "wait", "type": "wait_event", "config": {"event": "delivered", "timeout": "30 days"}},
//!         {"id": "end", "type": "end", "config": {"output": "{{ steps.charge.output }}"}},
//!         {"id": "lost", "type": "end", "config": {"status": "failed", "code": "lost"}}],
//!     "edges": [
//!         {"from": "start", "to": "charge"},
//!         {"from": "charge", "to": "wait"},
//!         {"from": "charge", "outcome": "error", "to": "lost"},
//!         {"from": "wait", "outcome": "event", "to": "end"},
//!         {"from": "wait", "outcome": "timeout", "to": "lost"}]});
//!
//! // The tables: once for each database. See "Which store".
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("workflows.sqlite");
//! WorkflowSqlite::install(&path, &Schema::default())?;
//! let store = WorkflowStore::of(Arc::new(WorkflowSqlite::open(&path, Schema::default())?));
//!
//! let registry = Registry::new().action("charge", charge);
//! let (clock, draw) = (Arc::new(SystemClock), Arc::new(SystemDraw));
//! let engine = Arc::new(Engine::new(store, registry, clock, draw, Config::default()));
//! engine.publish("order", &graph).await?;
//!
//! let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
//! let node = tokio::spawn(Arc::clone(&engine).run(async { drop(stopped.await) }));
//!
//! let mut request = Request::new("order", json!({"amount": 42}));
//! request.idempotency_key = Some("order 7".to_owned());
//! let id = engine.start(request).await?;
//! engine.signal(&id, "delivered", json!({"by": "post"}), Actor::System).await?;
//! let state = engine.end(&id).await?;
//! assert_eq!(state.life.status().name(), "completed");
//!
//! drop(stop);
//! node.await?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What a graph may say is in `docs/workflows.md`. [`Engine::check`] says all that is wrong with one, and
//! [`Engine::publish`] refuses it with the same findings.
//!
//! # One dependency
//!
//! The stores are in [`store`], and the words that engine and graphs share ([`State`](workflow::State),
//! [`Life`](workflow::Life), [`Actor`](workflow::Actor), [`Command`](workflow::Command)) in [`workflow`]. Both are
//! other crates under another name: who depends on the engine alone has the versions that fit it. So are
//! [`SignedDuration`] and [`Timestamp`], which are jiff's.
//!
//! # Which store
//!
//! | | for | processes | after a crash |
//! |---|---|---|---|
//! | [`WorkflowMemory`](store::WorkflowMemory) | tests | one | nothing is left |
//! | [`WorkflowSqlite`](store::WorkflowSqlite) | one machine, a file on a local disk | many, which look at the file every [`Config::poll`] | all that was committed |
//! | [`WorkflowPostgres`](store::WorkflowPostgres) | many machines | many, which tell each other of work | all that was committed |
//!
//! No store makes its tables when it is opened. `install` makes them, once: it fails where they are there already.
//! Opening fails where they aren't, or have other keys than the [`Schema`](store::Schema) says
//! ([`StoreError::Schema`]). Where migrations are files, [`Schema::migration`](store::Schema::migration) is the text
//! of one, and `heddle workflows install` writes it. `install` and `open` of a file block for a moment: call them
//! before the engine runs.
//!
//! # What happens once, and what at least once
//!
//! - A handler is called **at least once**. A process may die after the handler has done its work and before that is
//!   committed; the step's lease runs out ([`Config::lease`]), and somebody calls it again. That is another attempt, and
//!   none of those that the graph's `retry` counts; a step that has lost [`Limits::lost_leases`](workflow::Limits) of
//!   them fails as `lease_lost`. [`Context::idempotency_key`] is the same in all attempts of a visit, and what the
//!   outside should know an effect by.
//! - [`Context::once`] keeps an effect's first result, for the instance and for good. Between the effect and
//!   the keeping a process may still die; the outside needs the key there too.
//! - The end of a step is committed **once**, with the instance's move and whatever follows. An attempt whose lease has
//!   been lost writes nothing more.
//! - A start with an idempotency key makes **one** instance, as long as the key counts
//!   ([`Config::idempotency_ttl`]: a day). A second start with it gives the first one's id, whatever its trigger is;
//!   [`Engine::begin`] says which it was.
//! - A signal has no such key: sent twice, it is two signals. One that nothing waits for yet is kept.
//! - [`Engine::emit`] reaches the instances that wait at that time, and nobody later.
//!
//! Without a `retry` in the graph there is one attempt. A failure that no attempt is left for goes by the edge
//! `error`, or else the instance fails. An error that a handler passes on by `?` is one that may pass
//! ([`StepError::retryable`]); so is a panic. Input that doesn't fit the handler's type isn't.
//!
//! # Testing
//!
//! A [`Harness`] is an engine in memory on a clock that is moved by hand, without a task of its own.
//! [`Harness::settle`] does all that can be done now, [`Harness::advance`] moves the clock, and [`Harness::finish`]
//! moves it as far as it takes:
//!
//! ```
//! # use heddle_engine::{Harness, Registry};
//! # use serde_json::json;
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let graph = json!({
//!     "schema_version": "roundly.workflows.graph/v1",
//!     "nodes": [{"id": "start", "type": "trigger"},
//!               {"id": "rest", "type": "delay", "config": {"duration": "30 days"}},
//!               {"id": "end", "type": "end"}],
//!     "edges": [{"from": "start", "to": "rest"}, {"from": "rest", "to": "end"}]});
//! let harness = Harness::new(Registry::new());
//! let before = harness.now();
//! let id = harness.start(&graph, json!(null)).await?;
//! let state = harness.finish(&id).await?;
//! assert_eq!(state.life.status().name(), "completed");
//! assert_eq!(harness.now().duration_since(before).as_hours(), 30 * 24);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Harness::engine`] is the engine itself, for signals and commands; `settle` after them. The harness does not
//! run [`Engine::run`]: [`Engine::end`] on it would wait for ever.
//!
//! # Stopping
//!
//! [`Engine::run`] works until the future that it is given comes back, and then ends the steps that it has in hand. It
//! sets them no limit: a `timeout` in the graph limits one attempt, and a runtime that is shut down drops handlers where
//! they stand. Steps that follow are left to others, at once. What was dropped is called again when its lease has run
//! out, by this program or another. An instance that waits holds nothing, and needs no process.
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
mod lines;
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

// What is in the signatures above: an embedder needs this one dependency.
pub use heddle_store::{StoreError, workflows as store};
pub use heddle_workflow as workflow;
pub use jiff::{SignedDuration, Timestamp};

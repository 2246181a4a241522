//! The order of `reminder.rs` on a store that outlives the program: a file, or `PostgreSQL` where a connection string is
//! given. `cargo run -p heddle-engine --example durable -- orders.sqlite`, or `-- "postgresql://user@host/database"`.
//!
//! Run it twice: the second run finds the first one's instance by its idempotency key.

use std::path::Path;
use std::sync::Arc;

use heddle_engine::store::{Schema, WorkflowPostgres, WorkflowSqlite, WorkflowStore};
use heddle_engine::workflow::Actor;
use heddle_engine::{
    Config, Context, Engine, Flow, Registry, Request, StepError, StoreError, SystemClock, SystemDraw,
};
use serde_json::{Value, json};

async fn charge(order: Value, call: Context) -> Result<Flow<Value>, StepError> {
    // The first attempt fails, to show the second.
    if call.step.attempt == 1 {
        return Err(StepError::retryable("bank_closed", "the bank is closed"));
    }
    Ok(Flow::Done(json!({"amount": order["amount"], "number": call.idempotency_key})))
}

/// Opens the store; makes its tables where there are none. A program with migrations has them there.
async fn store(place: &str) -> Result<WorkflowStore, Box<dyn std::error::Error>> {
    let schema = Schema::default();
    if place.contains('=') || place.contains("://") {
        if let Err(StoreError::Schema { .. }) = WorkflowPostgres::connect(place, schema.clone()).await {
            WorkflowPostgres::install(place, &schema).await?;
        }
        return Ok(WorkflowStore::of(Arc::new(WorkflowPostgres::connect(place, schema).await?)));
    }
    if !Path::new(place).exists() {
        WorkflowSqlite::install(Path::new(place), &schema)?;
    }
    Ok(WorkflowStore::of(Arc::new(WorkflowSqlite::open(Path::new(place), schema)?)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let place = std::env::args().nth(1);
    let place = place.unwrap_or_else(|| folder.path().join("orders.sqlite").display().to_string());
    let order = json!({
        "schema_version": "roundly.workflows.graph/v1",
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "charge", "type": "action", "config": {"handler": "charge", "input": "{{ trigger }}"},
             "retry": {"max_attempts": 3, "delay": "500ms"}},
            {"id": "wait", "type": "wait_event", "config": {"event": "delivered", "timeout": "30 days"}},
            {"id": "end", "type": "end", "config": {"output": "{{ steps.charge.output }}"}},
            {"id": "unpaid", "type": "end", "config": {"status": "failed", "code": "unpaid"}},
            {"id": "lost", "type": "end", "config": {"status": "failed", "code": "lost"}}],
        "edges": [
            {"from": "start", "to": "charge"}, {"from": "charge", "to": "wait"},
            {"from": "charge", "outcome": "error", "to": "unpaid"},
            {"from": "wait", "outcome": "event", "to": "end"}, {"from": "wait", "outcome": "timeout", "to": "lost"}]});
    let registry = Registry::new().action("charge", charge);
    let (clock, draw) = (Arc::new(SystemClock), Arc::new(SystemDraw));
    let engine = Arc::new(Engine::new(store(&place).await?, registry, clock, draw, Config::default()));
    engine.publish("order", &order).await?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let node = tokio::spawn(Arc::clone(&engine).run(async { drop(stopped.await) }));

    let mut request = Request::new("order", json!({"amount": 42}));
    request.idempotency_key = Some("order 7".to_owned());
    let started = engine.begin(request).await?;
    println!("{} {}", if started.is_new { "started" } else { "found" }, started.id);
    if started.is_new {
        // It may come before the instance waits for it: it is kept.
        engine.signal(&started.id, "delivered", json!({"by": "post"}), Actor::System).await?;
    }
    println!("{:?}", engine.end(&started.id).await?.life);

    drop(stop); // What has begun is ended first.
    node.await?;
    Ok(())
}

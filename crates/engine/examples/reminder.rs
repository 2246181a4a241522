//! Charge an order, wait up to thirty days for word of its delivery, and remind somebody if none comes. In memory, on
//! a clock that is moved by hand; with a store on disk and `Engine::run` it is the same: see `durable.rs`.

use heddle_engine::{Context, Flow, Harness, Registry, StepError};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize)]
struct Charge {
    amount: u64,
}

#[derive(Serialize)]
struct Receipt {
    number: String,
}

async fn charge(input: Charge, call: Context) -> Result<Flow<Receipt>, StepError> {
    if input.amount == 0 {
        return Err(StepError::fatal("nothing_to_charge", "the amount is 0"));
    }
    // What charges for real knows the charge by this key, and never does it twice.
    Ok(Flow::Done(Receipt { number: call.idempotency_key }))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Registry::new().action("charge", charge).action("remind", |input: String, _| async move {
        println!("reminding: {input}");
        Ok(Flow::Done(()))
    });
    let order = json!({
        "schema_version": "roundly.workflows.graph/v1",
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "charge", "type": "action", "config": {"handler": "charge", "input": "{{ trigger }}"}},
            {"id": "wait", "type": "wait_event", "config": {"event": "delivered", "timeout": "30 days"}},
            {"id": "remind", "type": "action",
             "config": {"handler": "remind", "input": "no word of {{ steps.charge.output.number }}"}},
            {"id": "end", "type": "end"}],
        "edges": [
            {"from": "start", "to": "charge"}, {"from": "charge", "to": "wait"},
            {"from": "wait", "outcome": "event", "to": "end"},
            {"from": "wait", "outcome": "timeout", "to": "remind"}, {"from": "remind", "to": "end"}]});
    let harness = Harness::new(registry);
    let id = harness.start(&order, json!({"amount": 42})).await?;
    let state = harness.finish(&id).await?;
    println!("{} after {} steps, at {}", state.life.status(), state.steps_count, harness.now());
    Ok(())
}

//! What the endpoints of workflows refuse at the door: whatever callers make up is answered, and alike on both databases.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use heddle_engine::{Act, NobodyKnows, Permission, Verdict};
use heddle_server::Workflows;
use heddle_store::workflows::{KeyType, KeyTypes, WorkflowMemory, WorkflowStore};
use heddle_workflow::Actor;
use serde_json::{Value, json};

use crate::harness::{
    ANN, Answer, Call, Server, config, engine, seeded, workflows_in_postgres, workflows_in_sqlite,
};

/// Waits for the event `go`.
fn document(settings: &Value) -> Value {
    json!({"schema_version": "roundly.workflows.graph/v1",
        "nodes": [{"id": "start", "type": "trigger"}, {"id": "end", "type": "end"},
            {"id": "wait", "type": "wait_event", "config": {"event": "go"}}],
        "edges": [{"from": "start", "to": "wait"}, {"from": "wait", "outcome": "event", "to": "end"}],
        "settings": settings})
}

async fn served(workflows: Workflows) -> Server {
    Server::with_workflows(config(), seeded().await, heddle_exchange::memory::open(), workflows).await
}

async fn call(server: &Server, method: &str, path: &str, body: &Value) -> Answer {
    server.send(Call::new(method, path).token(ANN).json(body)).await
}

fn sealed(parts: &str) -> String {
    URL_SAFE_NO_PAD.encode(parts)
}

/// A server with a workflow and an instance of it.
async fn busy(workflows: Workflows) -> (Server, String) {
    let server = served(workflows).await;
    let body = json!({"document": document(&json!({}))});
    assert_eq!(call(&server, "PUT", "/v1/workflows/flow", &body).await.status, 200);
    let started = call(&server, "POST", "/v1/instances", &json!({"key": "flow"})).await;
    assert_eq!(started.status, 201, "{}", started.text());
    let id = started.json()["id"].as_str().unwrap().to_owned();
    (server, id)
}

/// Keys of each type, and what is none in a column of it.
fn rows(key_type: KeyType) -> (&'static str, [&'static str; 5]) {
    match key_type {
        KeyType::Bigint => ("7", ["x", "", "\0", "9223372036854775808", "7; SELECT 1"]),
        KeyType::Uuid => (
            "0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6",
            ["x", "", "\0", "7", "{0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6}"],
        ),
        KeyType::Ulid => {
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV", ["x", "", "\0", "7", "01ARZ3NDEKTSV4RRFFQ69G5FAV 01ARZ3NDEKTSV4"])
        }
    }
}

const BEFORE_EVERYTHING: &str = "-009999-01-02T01:59:59Z";

/// Cursors that nobody was given.
async fn cursors(server: &Server, id: &str, keys: KeyTypes) {
    let refused = async |path: String, cursor: &str| {
        let answer = server.get(&format!("{path}?cursor={}", sealed(cursor))).await;
        assert_eq!(answer.invalid(), ["cursor bad_value"], "{path} {cursor:?}");
    };
    let taken = async |path: String, cursor: &str| {
        let answer = server.get(&format!("{path}?cursor={}", sealed(cursor))).await;
        assert_eq!(answer.status, 200, "{path} {cursor:?}: {}", answer.text());
    };
    let (row, none) = rows(keys.primary);
    for kind in ["step", "wait"] {
        for at in ["0001-01-01T00:00:00Z", "9999-12-30T22:00:00.999999999Z"] {
            taken(format!("/v1/instances/{id}/timeline"), &format!("{at} {kind} {row}")).await;
        }
        for none in none {
            let cursor = format!("2030-01-31T08:00:00Z {kind} {none}");
            refused(format!("/v1/instances/{id}/timeline"), &cursor).await;
        }
        let cursor = format!("{BEFORE_EVERYTHING} {kind} {row}");
        refused(format!("/v1/instances/{id}/timeline"), &cursor).await;
    }
    for cursor in ["", "2030-01-31T08:00:00Z", "2030-01-31T08:00:00Z other 7"] {
        refused(format!("/v1/instances/{id}/timeline"), cursor).await;
    }
    for at in ["0001-01-01T00:00:00Z", "9999-12-30T22:00:00.999999999Z"] {
        taken("/v1/instances".to_owned(), &format!("{at} {id}")).await;
    }
    for cursor in [format!("{BEFORE_EVERYTHING} {id}"), "2030-01-31T08:00:00Z x".to_owned()] {
        refused("/v1/instances".to_owned(), &cursor).await;
        let body = json!({"command": "pause", "filter": {}, "cursor": sealed(&cursor)});
        let answer = call(server, "POST", "/v1/instances/batch", &body).await;
        assert_eq!(answer.invalid(), ["cursor bad_value"]);
    }
    for cursor in ["", "a\0", &"k".repeat(101)] {
        refused("/v1/workflows".to_owned(), cursor).await;
    }
    taken("/v1/workflows".to_owned(), "of an embedding host's / own rules").await;
    for cursor in ["x", "-1", "4294967296"] {
        refused("/v1/workflows/flow/versions".to_owned(), cursor).await;
    }
    taken("/v1/workflows/flow/versions".to_owned(), "4294967295").await;
}

/// What is no key is no workflow, and what is no text, no time or no record is a parameter at fault.
async fn parameters(server: &Server, id: &str) {
    for key in ["%00", "a%00", "%FF", "%0A", &"k".repeat(101)] {
        for tail in ["", "/versions", "/versions/1", "/versions/1/overlay"] {
            let path = format!("/v1/workflows/{key}{tail}");
            server.get(&path).await.problem(404, "workflow_not_found");
        }
        let body = json!({"document": document(&json!({}))});
        let put = call(server, "PUT", &format!("/v1/workflows/{key}"), &body).await;
        assert_eq!(put.invalid(), ["key bad_value"], "{key}");
    }
    for number in ["4294967295", "4294967296", "%00", "%FF"] {
        let answer = server.get(&format!("/v1/workflows/flow/versions/{number}")).await;
        assert_eq!(answer.status, 404, "{number}: {}", answer.text());
    }
    for (query, expected) in [
        ("key=%00", "key bad_value"),
        ("key=", "key bad_value"),
        ("subject_type=%00&subject_id=7", "subject_type bad_value"),
        ("subject_type=Page&subject_id=%00", "subject_id bad_value"),
        ("started_from=-009999-01-02T01:59:59Z", "started_from bad_value"),
        ("started_before=0000-12-31T23:59:59Z", "started_before bad_value"),
        ("status=%00", "status bad_value"),
    ] {
        assert_eq!(server.get(&format!("/v1/instances?{query}")).await.invalid(), [expected], "{query}");
    }
    for query in [
        "started_from=0001-01-01T00:00:00Z",
        "started_before=9999-12-30T22:00:00.999999999Z",
        "started_before=0001-01-01T00:00:00Z",
    ] {
        let answer = server.get(&format!("/v1/instances?{query}")).await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    }
    let batch = json!({"command": "pause", "filter": {"key": "\0", "started_from": BEFORE_EVERYTHING}});
    let answer = call(server, "POST", "/v1/instances/batch", &batch).await;
    assert_eq!(answer.invalid(), ["filter.key bad_value", "filter.started_from bad_value"]);
    for (body, expected) in [
        (json!({"key": "\0"}), "key bad_value"),
        (json!({"key": "flow", "idempotency_key": "\0"}), "idempotency_key bad_value"),
        (json!({"key": "flow", "subject": {"key": "\0"}}), "subject.key bad_value"),
        (json!({"key": "flow", "subject": {"type": "\0"}}), "subject.type bad_value"),
        (json!({"key": "flow", "subject": {"type": "T".repeat(101)}}), "subject.type bad_value"),
        (json!({"key": "flow", "subject": {"id": "\0"}}), "subject.id bad_value"),
    ] {
        assert_eq!(call(server, "POST", "/v1/instances", &body).await.invalid(), [expected], "{body}");
    }
    let named = json!({"document": document(&json!({})), "name": "a\0"});
    assert_eq!(call(server, "PUT", "/v1/workflows/flow", &named).await.invalid(), ["name bad_value"]);
    for key in ["", "\0", &"k".repeat(192)] {
        for path in ["/v1/events".to_owned(), format!("/v1/instances/{id}/signal")] {
            let answer = call(server, "POST", &path, &json!({"key": key})).await;
            assert_eq!(answer.invalid(), ["key bad_value"], "{path} {key:?}");
        }
    }
    let shown = server.get(&format!("/v1/instances/{id}")).await.json();
    assert_eq!((&shown["status"], &shown["lock_version"]), (&json!("waiting"), &json!(0)));
}

fn key_types() -> impl Iterator<Item = KeyTypes> {
    KeyType::ALL.into_iter().map(|one| KeyTypes { primary: one, owner: one, subject: one, morph: one })
}

/// proves W2, W32: nothing that a caller makes up reaches a column that can't hold it.
#[tokio::test]
async fn what_is_made_up_is_refused_on_sqlite() {
    for keys in key_types() {
        let folder = tempfile::tempdir().unwrap();
        let (server, id) = busy(workflows_in_sqlite(folder.path(), keys)).await;
        cursors(&server, &id, keys).await;
        parameters(&server, &id).await;
        server.stop().await;
    }
}

/// proves W2, W32: the same on the database that is strict with texts, times and keys.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_made_up_is_refused_on_postgres() {
    for keys in key_types() {
        let (server, id) = busy(workflows_in_postgres(keys).await).await;
        cursors(&server, &id, keys).await;
        parameters(&server, &id).await;
        server.stop().await;
    }
}

/// proves W21, W30: a start that comes too soon is told in how many seconds to come again.
#[tokio::test]
async fn too_many_starts_are_told_when_to_come_again() {
    let server = Server::start().await;
    let body = json!({"document": document(&json!({"start_rate": {"count": 1, "per": "1m"}}))});
    assert_eq!(call(&server, "PUT", "/v1/workflows/flow", &body).await.status, 200);
    let start = async || call(&server, "POST", "/v1/instances", &json!({"key": "flow"})).await;
    assert_eq!(start().await.status, 201);
    let limited = start().await;
    limited.problem(429, "start_rate");
    let seconds: u32 = limited.header("retry-after").parse().unwrap();
    assert!((50..=60).contains(&seconds), "{seconds}");
}

/// A host that lets nobody do anything.
struct Strict;

#[async_trait]
impl Permission for Strict {
    async fn may(&self, _: &Actor, act: Act<'_>) -> Result<Verdict, NobodyKnows> {
        let owner = match act {
            Act::Publish { owner, .. } | Act::Start { owner, .. } | Act::Emit { owner, .. } => owner,
            Act::Command { .. } | Act::Step { .. } => None,
        };
        let reason = owner.map_or_else(|| "not here".to_owned(), |owner| format!("not in {}", owner.id));
        Ok(Verdict::Denied { reason })
    }
}

/// proves W22: what the host denies is 403, with its reason.
#[tokio::test]
async fn what_is_denied_is_forbidden() {
    let rows = WorkflowStore::of(Arc::new(WorkflowMemory::new()));
    let of = |engine| Workflows::Ready { engine: Arc::new(engine), keys: KeyTypes::default() };
    let (before, id) = busy(of(engine(rows.clone()))).await;
    before.stop().await;
    let server = served(of(engine(rows).with_permission(Arc::new(Strict)))).await;
    for (method, path, body, reason) in [
        ("PUT", "/v1/workflows/flow".to_owned(), json!({"document": document(&json!({}))}), "not in 1"),
        ("POST", "/v1/instances".to_owned(), json!({"key": "flow"}), "not in 1"),
        ("POST", "/v1/events".to_owned(), json!({"key": "go"}), "not in 1"),
        ("POST", format!("/v1/instances/{id}/pause"), json!({}), "not here"),
        ("POST", format!("/v1/instances/{id}/skip"), json!({}), "not here"),
        ("POST", format!("/v1/instances/{id}/signal"), json!({"key": "go"}), "not here"),
    ] {
        let denied = call(&server, method, &path, &body).await.problem(403, "forbidden");
        assert_eq!(denied["detail"], reason, "{path}");
    }
    let batch = json!({"command": "pause", "filter": {}});
    let result = call(&server, "POST", "/v1/instances/batch", &batch).await.json();
    assert_eq!((&result["refused"], &result["results"][0]["code"]), (&json!(1), &json!("forbidden")));
}

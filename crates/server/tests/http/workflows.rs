//! Workflows over HTTP: published, started, commanded, looked at, and kept apart.

use std::sync::Arc;
use std::time::{Duration, Instant};

use heddle_server::Workflows;
use heddle_store::workflows::WorkflowMemory;
use serde_json::{Value, json};

use crate::harness::{ANN, ANN_PLUGIN, Answer, BO, Call, Server, config, seeded, workflows};

/// The sample.
fn review() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/workflows/review.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Breaks where the trigger has no `n`.
fn fragile() -> Value {
    json!({"schema_version": "roundly.workflows.graph/v1",
        "nodes": [{"id": "start", "type": "trigger"}, {"id": "end", "type": "end"},
            {"id": "check", "type": "condition", "config": {"expression": "trigger.n > 1"}}],
        "edges": [{"from": "start", "to": "check"}, {"from": "check", "outcome": "true", "to": "end"},
            {"from": "check", "outcome": "false", "to": "end"}]})
}

async fn call(server: &Server, token: &str, method: &str, path: &str, body: &Value) -> Answer {
    server.send(Call::new(method, path).token(token).json(body)).await
}

async fn publish(server: &Server, token: &str, key: &str, document: Value) {
    let path = format!("/v1/workflows/{key}");
    let answer = call(server, token, "PUT", &path, &json!({"document": document})).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

async fn start(server: &Server, token: &str, body: &Value) -> String {
    let answer = call(server, token, "POST", "/v1/instances", body).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(answer.header("location"), format!("/v1/instances/{id}"));
    id
}

async fn command(server: &Server, token: &str, id: &str, name: &str, body: &Value) -> Answer {
    call(server, token, "POST", &format!("/v1/instances/{id}/{name}"), body).await
}

fn ids(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

/// proves W12, W26, W32: what is wrong with a graph is said with code, node, pointer and severity; what is published is
/// seen again, and nobody overwrites another's work.
#[tokio::test]
async fn graphs_are_checked_published_and_seen_again() {
    let server = Server::start().await;
    let validate = async |document: Value| {
        let body = json!({"document": document});
        call(&server, ANN, "POST", "/v1/workflows/validate", &body).await.json()
    };
    let sound = validate(review()).await;
    assert_eq!((&sound["sound"], &sound["findings"]), (&json!(true), &json!([])));
    let mut broken = review();
    broken["nodes"][2]["config"]["expression"] = json!("trigger.changes <=");
    broken["nodes"][6] = json!({"id": "settle", "type": "action", "config": {"handler": "mail"}});
    let found = validate(broken.clone()).await;
    assert_eq!(found["sound"], false);
    let finding = |code: &str| {
        let findings = found["findings"].as_array().unwrap().iter();
        findings.clone().find(|it| it["code"] == code).unwrap_or_else(|| panic!("{found}")).clone()
    };
    let expression = finding("bad_expression");
    assert_eq!(
        (&expression["node"], &expression["pointer"], &expression["severity"]),
        (&json!("is_small"), &json!("/nodes/2/config/expression"), &json!("error"))
    );
    assert!(finding("unknown_handler")["message"].as_str().unwrap().contains("this server has none"));

    let put = async |body: Value| call(&server, ANN, "PUT", "/v1/workflows/review", &body).await;
    let refused = put(json!({"document": broken})).await.problem(422, "invalid_graph");
    assert_eq!(refused["findings"], found["findings"]);
    server.get("/v1/workflows/review").await.problem(404, "workflow_not_found");
    let first = put(json!({"document": review(), "name": "A review", "expected_checksum": ""})).await.json();
    assert_eq!((&first["version"], &first["checksum"]), (&json!(1), &sound["checksum"]));
    assert_eq!(put(json!({"document": review()})).await.json(), first, "the same graph is no new version");
    let mut changed = review();
    changed["settings"]["timeout"] = json!("31 days");
    let stale = put(json!({"document": changed, "expected_checksum": "0".repeat(64)})).await;
    assert_eq!(stale.problem(409, "changed")["present_checksum"], first["checksum"]);
    let second = put(json!({"document": changed, "expected_checksum": first["checksum"]})).await.json();
    assert_eq!(second["version"], 2);

    let shown = server.get("/v1/workflows/review").await.json();
    assert_eq!((&shown["name"], &shown["version"]), (&json!("A review"), &json!(2)));
    assert_eq!(shown["document"], changed);
    publish(&server, ANN, "another", fragile()).await;
    let page = server.get("/v1/workflows?limit=1").await.json();
    assert_eq!(page["items"][0]["key"], "another");
    let next = format!("/v1/workflows?limit=1&cursor={}", page["next_cursor"].as_str().unwrap());
    let page = server.get(&next).await.json();
    assert_eq!((&page["items"][0]["checksum"], &page["next_cursor"]), (&second["checksum"], &Value::Null));
    let versions = server.get("/v1/workflows/review/versions").await.json();
    assert_eq!(versions["items"][0]["status"], "published");
    assert_eq!(versions["items"][1]["status"], "superseded");
    assert_eq!(versions["items"][1]["publisher"], json!({"type": "user", "id": "ann"}));
    assert_eq!(server.get("/v1/workflows/review/versions/1").await.json()["document"], review());
    for number in ["3", "0", "x"] {
        let path = format!("/v1/workflows/review/versions/{number}");
        server.get(&path).await.problem(404, "version_not_found");
    }
}

/// proves W19, W29, W31, W32: an instance from its start to its end, as people see it.
#[tokio::test]
async fn an_instance_from_start_to_end() {
    let server = Server::start().await;
    publish(&server, ANN, "review", review()).await;
    let body = json!({"key": "review", "trigger": {"title": "Terms", "settle": "20ms"},
        "subject": {"key": "page", "type": "Page", "id": "17"}});
    let id = start(&server, ANN, &body).await;
    let path = format!("/v1/instances/{id}");
    let waiting = server.get(&path).await.json();
    assert_eq!((&waiting["status"], &waiting["current_node"]), (&json!("waiting"), &json!("review")));
    assert_eq!((&waiting["key"], &waiting["version"]), (&json!("review"), &json!(1)));
    assert_eq!(waiting["subject"], json!({"key": "page", "type": "Page", "id": "17"}));
    assert_eq!(waiting["starter"], json!({"type": "user", "id": "ann"}));
    assert_eq!((&waiting["payload"]["title"], &waiting["output"]), (&json!("Terms"), &Value::Null));
    let overlay = server.get("/v1/workflows/review/versions/1/overlay").await.json();
    assert_eq!(overlay, json!({"live": 1, "counts": [{"node": "review", "status": "waiting", "count": 1}]}));
    // Whoever waits is told of the end at once, and of the time's end where there is none.
    let begun = Instant::now();
    let same = server.get(&format!("{path}?wait=50ms")).await.json();
    assert!(begun.elapsed() >= Duration::from_millis(50) && same == waiting, "{same}");
    let wait = format!("{path}?wait=30s");
    let (ended, signalled) = tokio::join!(server.get(&wait), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let signal = json!({"key": "review", "payload": {"approved": true}});
        command(&server, ANN, &id, "signal", &signal).await
    });
    assert_eq!(signalled.status, 200, "{}", signalled.text());
    let ended = ended.json();
    assert_eq!(ended["status"], "completed");
    assert_eq!(ended["output"], json!({"title": "Terms", "published": true, "rounds": 1}));
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(server.get("/v1/workflows/review/versions/1/overlay").await.json()["live"], 0);

    let whole = server.get(&format!("{path}/timeline?limit=100")).await.json();
    let entries: Vec<_> = whole["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            let text = |field: &str| entry[field].as_str().unwrap_or("-").to_owned();
            format!("{} {} {} {}", text("kind"), text("node"), text("status"), text("outcome"))
        })
        .collect();
    assert_eq!(
        entries,
        [
            "step start completed default",
            "step prepare completed default",
            "step is_small completed false",
            "step review completed event",
            "event review fired -",
            "deadline start cancelled -",
            "step is_approved completed true",
            "step settle completed default",
            "command review done -",
            "delay settle fired -",
            "step published completed -",
        ]
    );
    assert_eq!(whole["items"][4]["event_key"], "review");
    let command = &whole["items"][8];
    assert_eq!((&command["command"], &command["by"]["id"]), (&json!("signal"), &json!("ann")));
    let mut paged = Vec::new();
    let mut next = format!("{path}/timeline?limit=3");
    loop {
        let page = server.get(&next).await.json();
        paged.extend(page["items"].as_array().unwrap().clone());
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        next = format!("{path}/timeline?limit=3&cursor={cursor}");
    }
    assert_eq!(&json!(paged), &whole["items"]);
}

/// proves W21: one key, one instance, said in the header or in the body.
#[tokio::test]
async fn a_start_is_idempotent() {
    let server = Server::start().await;
    publish(&server, ANN, "review", review()).await;
    publish(&server, BO, "review", review()).await;
    let id = start(&server, ANN, &json!({"key": "review", "idempotency_key": "once"})).await;
    let body = json!({"key": "review"});
    let keyed = |token: &str| {
        Call::new("POST", "/v1/instances").token(token).header("idempotency-key", "once").json(&body)
    };
    let again = server.send(keyed(ANN)).await;
    assert_eq!((again.status, again.json()["id"].as_str()), (200, Some(id.as_str())));
    let foreign = server.send(keyed(BO)).await;
    assert_eq!(foreign.status, 201, "another organization's keys are its own");
    let both = keyed(ANN).json(&json!({"key": "review", "idempotency_key": "twice"}));
    assert_eq!(server.send(both).await.invalid(), ["idempotency_key conflicting"]);
}

/// proves W23: each command, what it answers, and its refusals with stable codes.
#[tokio::test]
async fn commands_do_or_say_why_not() {
    let server = Server::start().await;
    publish(&server, ANN, "review", review()).await;
    publish(&server, ANN, "fragile", fragile()).await;
    let none = json!({});
    let id = start(&server, ANN, &json!({"key": "review"})).await;
    let seen = server.get(&format!("/v1/instances/{id}")).await.json()["lock_version"].clone();
    let paused = command(&server, ANN, &id, "pause", &json!({"expected_version": seen})).await.json();
    assert_eq!(paused["status"], "paused");
    let stale = command(&server, ANN, &id, "cancel", &json!({"expected_version": seen})).await;
    assert_eq!(stale.problem(409, "changed")["present_version"], paused["lock_version"]);
    let problem = command(&server, ANN, &id, "pause", &none).await.problem(409, "paused");
    assert_eq!(problem["instance_status"], "paused");
    command(&server, ANN, &id, "retry", &none).await.problem(409, "nothing_to_retry");
    // No body is as good as an empty one.
    let bare = Call::new("POST", &format!("/v1/instances/{id}/resume")).token(ANN_PLUGIN);
    assert_eq!(server.send(bare).await.json()["status"], "waiting");
    command(&server, ANN, &id, "resume", &none).await.problem(409, "not_paused");
    command(&server, ANN, &id, "skip", &none).await.problem(409, "no_such_outcome");
    let skip = json!({"outcome": "event", "output": {"approved": false}});
    let skipped = command(&server, ANN, &id, "skip", &skip).await.json();
    assert_eq!(skipped["status"], "completed");
    for name in ["pause", "resume", "cancel", "skip"] {
        let problem = command(&server, ANN, &id, name, &none).await.problem(409, "ended");
        assert_eq!(problem["instance_status"], "completed");
    }
    let id = start(&server, ANN, &json!({"key": "fragile"})).await;
    let failed = server.get(&format!("/v1/instances/{id}")).await.json();
    assert_eq!((&failed["status"], &failed["failure"]["code"]), (&json!("failed"), &json!("expression")));
    assert_eq!(failed["failure"]["node"], "check");
    let retried = command(&server, ANN, &id, "retry", &none).await.json();
    assert_eq!(retried["status"], "failed", "it is as wrong as before");
    let timeline = server.get(&format!("/v1/instances/{id}/timeline")).await.json();
    let mut steps = timeline["items"].as_array().unwrap().iter().filter(|entry| entry["kind"] == "step");
    let last = steps.next_back().unwrap();
    assert_eq!((&last["attempt"], &last["error"]["code"]), (&json!(2), &json!("expression")));
    let done = command(&server, ANN, &id, "skip", &json!({"outcome": "true"})).await.json();
    assert_eq!(done["status"], "completed");
    let id = start(&server, ANN, &json!({"key": "review"})).await;
    assert_eq!(command(&server, ANN, &id, "cancel", &none).await.json()["status"], "cancelled");
}

/// proves W23: many at a time, each with an answer of its own, and no more than asked for.
#[tokio::test]
async fn batches_answer_for_each() {
    let server = Server::start().await;
    publish(&server, ANN, "review", review()).await;
    publish(&server, BO, "review", review()).await;
    let foreign = start(&server, BO, &json!({"key": "review"})).await;
    let mut started = Vec::new();
    for _ in 0..5 {
        started.push(start(&server, ANN, &json!({"key": "review"})).await);
    }
    started.reverse();
    command(&server, ANN, &started[1], "pause", &json!({})).await;
    let batch = async |body: Value| call(&server, ANN, "POST", "/v1/instances/batch", &body).await;
    let body = json!({"command": "pause", "filter": {"key": "review"}, "limit": 3});
    let first = batch(body.clone()).await.json();
    assert_eq!((&first["done"], &first["refused"]), (&json!(2), &json!(1)));
    let result = &first["results"][1];
    assert_eq!((&result["id"], &result["done"]), (&json!(started[1]), &json!(false)));
    assert_eq!((&result["code"], &first["results"][0]["status"]), (&json!("paused"), &json!("paused")));
    let mut rest = body;
    rest["cursor"] = first["next_cursor"].clone();
    let second = batch(rest).await.json();
    assert_eq!((&second["done"], &second["next_cursor"]), (&json!(2), &Value::Null));
    let resumed = batch(json!({"command": "resume", "filter": {"status": ["paused"]}})).await.json();
    assert_eq!(resumed["done"], 5);
    let signal = json!({"command": "signal", "filter": {}, "key": "review", "payload": {"approved": false}});
    assert_eq!(batch(signal).await.json()["done"], 5);
    let cancelled = batch(json!({"command": "cancel", "filter": {}})).await.json();
    assert_eq!((&cancelled["done"], &cancelled["results"][0]["code"]), (&json!(0), &json!("ended")));
    let foreign = server.send(Call::new("GET", &format!("/v1/instances/{foreign}")).token(BO)).await;
    assert_eq!(foreign.json()["status"], "waiting", "another organization's are out of reach");
    for (body, expected) in [
        (json!({"command": "pause"}), "filter required"),
        (json!({"command": "pause", "filter": {"statuses": []}}), "filter.statuses unknown_field"),
        (json!({"command": "pause", "filter": {"status": ["done"]}}), "filter.status bad_value"),
        (json!({"command": "pause", "filter": {}, "limit": 101}), "limit bad_value"),
        (json!({"command": "signal", "filter": {}}), "key required"),
        (json!({"command": "pause", "filter": {}, "outcome": "x"}), "outcome not_allowed"),
        (json!({"command": "stop", "filter": {}}), "command bad_value"),
    ] {
        assert_eq!(batch(body).await.invalid(), [expected]);
    }
}

/// proves W32: another organization sees nothing, commands nothing, and its events are its own.
#[tokio::test]
async fn organizations_are_apart() {
    let server = Server::start().await;
    publish(&server, ANN, "review", review()).await;
    let id = start(&server, ANN, &json!({"key": "review"})).await;
    let absent = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for (method, tail) in [
        ("GET", ""),
        ("GET", "/timeline"),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("POST", "/cancel"),
        ("POST", "/retry"),
        ("POST", "/skip"),
        ("POST", "/signal"),
    ] {
        let send = async |id: &str, token: Option<&str>| {
            let body = if tail == "/signal" { json!({"key": "review"}) } else { json!({}) };
            let call = Call::new(method, &format!("/v1/instances/{id}{tail}")).json(&body);
            server.send(token.into_iter().fold(call, Call::token)).await
        };
        send(&id, None).await.problem(401, "unauthenticated");
        let foreign = send(&id, Some(BO)).await;
        foreign.problem(404, "instance_not_found");
        assert_eq!(foreign.body, send(absent, Some(BO)).await.body);
        assert_eq!(foreign.body, send("x", Some(BO)).await.body);
    }
    let get = async |path: &str| server.send(Call::new("GET", path).token(BO)).await;
    for path in [
        "/v1/workflows/review",
        "/v1/workflows/review/versions",
        "/v1/workflows/review/versions/1",
        "/v1/workflows/review/versions/1/overlay",
    ] {
        get(path).await.problem(404, "workflow_not_found");
    }
    assert_eq!(get("/v1/workflows").await.json()["items"], json!([]));
    for query in ["", "?key=review", "?status=waiting"] {
        assert_eq!(get(&format!("/v1/instances{query}")).await.json()["items"], json!([]));
    }
    let start = call(&server, BO, "POST", "/v1/instances", &json!({"key": "review"})).await;
    start.problem(404, "workflow_not_found");
    let event = json!({"key": "review", "payload": {"approved": true}});
    assert_eq!(call(&server, BO, "POST", "/v1/events", &event).await.json(), json!({"taken": 0}));
    let shown = server.get(&format!("/v1/instances/{id}")).await.json();
    assert_eq!((&shown["status"], &shown["lock_version"]), (&json!("waiting"), &json!(0)));
    assert_eq!(call(&server, ANN, "POST", "/v1/events", &event).await.json(), json!({"taken": 1}));
    // A workflow of the same key is another workflow.
    publish(&server, BO, "review", fragile()).await;
    assert_eq!(server.get("/v1/workflows/review").await.json()["document"], review());
}

/// proves W31: the list filters and pages.
#[tokio::test]
async fn instances_are_listed() {
    let server = Server::start().await;
    publish(&server, ANN, "review", review()).await;
    publish(&server, ANN, "fragile", fragile()).await;
    let about = |id: &str| json!({"key": "review", "subject": {"type": "Page", "id": id}});
    let one = start(&server, ANN, &about("1")).await;
    let two = start(&server, ANN, &json!({"key": "fragile"})).await;
    let three = start(&server, ANN, &about("2")).await;
    let middle = server.get(&format!("/v1/instances/{two}")).await.json()["started_at"].clone();
    let middle = middle.as_str().unwrap();
    for (query, expected) in [
        (String::new(), vec![&three, &two, &one]),
        ("?key=review".to_owned(), vec![&three, &one]),
        ("?key=nothing".to_owned(), vec![]),
        ("?status=failed,cancelled".to_owned(), vec![&two]),
        ("?subject_type=Page&subject_id=2".to_owned(), vec![&three]),
        (format!("?started_from={middle}"), vec![&three, &two]),
        (format!("?started_before={middle}"), vec![&one]),
    ] {
        let page = server.get(&format!("/v1/instances{query}")).await.json();
        assert_eq!(
            (ids(&page), &page["next_cursor"]),
            (expected.iter().map(|it| it.as_str()).collect(), &Value::Null),
            "{query}"
        );
    }
    let first = server.get("/v1/instances?limit=2").await.json();
    let next = format!("/v1/instances?limit=2&cursor={}", first["next_cursor"].as_str().unwrap());
    assert_eq!(ids(&server.get(&next).await.json()), [&one]);
    for (query, expected) in [
        ("limit=0", "limit bad_value"),
        ("cursor=x", "cursor bad_value"),
        ("status=done", "status bad_value"),
        ("subject_id=7", "subject_type required"),
        ("started_from=monday", "started_from bad_value"),
        ("sort=key", "sort unknown_parameter"),
    ] {
        assert_eq!(server.get(&format!("/v1/instances?{query}")).await.invalid(), [expected], "{query}");
    }
}

/// proves W30: each limit has its status and its code.
#[tokio::test]
async fn limits_are_typed_failures() {
    let server = Server::start().await;
    publish(&server, ANN, "review", review()).await;
    let start_with = async |body: Value| call(&server, ANN, "POST", "/v1/instances", &body).await;
    let large = "x".repeat(300 * 1024);
    start_with(json!({"key": "review", "trigger": large})).await.problem(413, "payload_too_large");
    start_with(json!({"key": "review", "trigger": "x".repeat(600 * 1024)})).await.problem(413, "too_large");
    let deep = format!("{{\"key\": \"review\", \"trigger\": {}1{}}}", "[".repeat(100), "]".repeat(100));
    let raw = |body: &str| {
        Call::new("POST", "/v1/instances").token(ANN).header("content-type", "application/json").body(body)
    };
    server.send(raw(&deep)).await.problem(422, "payload_too_nested");
    server.send(raw("{")).await.problem(400, "malformed_json");
    assert_eq!(server.send(raw("{\"key\": \"a\", \"key\": \"b\"}")).await.invalid(), [" bad_value"]);
    for (body, expected) in [
        (json!({}), "key required"),
        (json!({"key": "review", "owner": 1}), "owner unknown_field"),
        (json!({"key": "review", "subject": {"id": "seven"}}), "subject.id bad_value"),
        (json!({"key": "review", "subject": {"kind": "x"}}), "subject.kind unknown_field"),
        (json!({"key": "review", "subject": {"key": "x".repeat(101)}}), "subject.key bad_value"),
        (json!({"key": "review", "idempotency_key": ""}), "idempotency_key bad_value"),
    ] {
        assert_eq!(start_with(body).await.invalid(), [expected]);
    }
    let id = start(&server, ANN, &json!({"key": "review"})).await;
    let signal = async |key: &str| command(&server, ANN, &id, "signal", &json!({"key": key})).await;
    assert_eq!(signal("").await.invalid(), ["key bad_value"]);
    for _ in 0..100 {
        assert_eq!(signal("later").await.status, 200);
    }
    signal("later").await.problem(429, "too_many_signals");
    for path in ["/v1/workflows/a%20b", "/v1/workflows/-a", &format!("/v1/workflows/{}", "x".repeat(101))] {
        let answer = call(&server, ANN, "PUT", path, &json!({"document": review()})).await;
        assert_eq!(answer.invalid(), ["key bad_value"], "{path}");
    }
    let path = format!("/v1/instances/{id}?wait=61s");
    assert_eq!(server.get(&path).await.invalid(), ["wait bad_value"]);
}

/// proves W1: without the tables the endpoints say so and what to do, and everything else works.
#[tokio::test]
async fn without_tables_the_rest_works() {
    let remedy = "run `heddle workflows install --apply`".to_owned();
    let missing = Workflows::NotInstalled { remedy: remedy.clone() };
    let exchange = heddle_exchange::memory::open();
    let server = Server::with_workflows(config(), seeded().await, exchange, missing).await;
    let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for (method, path, body) in [
        ("GET", "/v1/workflows".to_owned(), json!({})),
        ("GET", "/v1/workflows/a/versions/1/overlay".to_owned(), json!({})),
        ("PUT", "/v1/workflows/a".to_owned(), json!({"document": {}})),
        ("POST", "/v1/workflows/validate".to_owned(), json!({"document": {}})),
        ("POST", "/v1/instances".to_owned(), json!({"key": "a"})),
        ("GET", format!("/v1/instances/{id}/timeline"), json!({})),
        ("POST", format!("/v1/instances/{id}/cancel"), json!({})),
        ("POST", "/v1/instances/batch".to_owned(), json!({"command": "pause", "filter": {}})),
        ("POST", "/v1/events".to_owned(), json!({"key": "a"})),
    ] {
        let answer = call(&server, ANN, method, &path, &body).await;
        assert_eq!(answer.problem(503, "workflows_not_installed")["detail"], remedy);
        server.send(Call::new(method, &path).json(&body)).await.problem(401, "unauthenticated");
    }
    let ready = server.send(Call::new("GET", "/readyz")).await;
    assert_eq!((ready.status, &ready.json()["workflows"]), (200, &json!("not_installed")));
    assert_eq!(ready.json()["workflows_remedy"], remedy);
    server.created(&crate::harness::des2wf("1:2")).await;
}

/// proves W17: a server that stops keeps nobody waiting, and whoever comes after it finds everything.
#[tokio::test]
async fn a_stop_ends_the_waiting() {
    let rows = Arc::new(WorkflowMemory::new());
    let serve = async || {
        let (store, exchange) = (seeded().await, heddle_exchange::memory::open());
        Server::with_workflows(config(), store, exchange, workflows(Arc::clone(&rows))).await
    };
    let first = serve().await;
    publish(&first, ANN, "review", review()).await;
    let id = start(&first, ANN, &json!({"key": "review", "trigger": {"settle": "50ms"}})).await;
    let begun = Instant::now();
    let address = first.address;
    let path = format!("/v1/instances/{id}?wait=60s");
    let waiting = tokio::spawn(async move {
        let mut answer = String::new();
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ANN}\r\nconnection: close\r\n\r\n"
        );
        tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.unwrap();
        tokio::io::AsyncReadExt::read_to_string(&mut stream, &mut answer).await.unwrap();
        answer
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    first.stop().await;
    assert!(waiting.await.unwrap().contains("\"status\":\"waiting\""));
    assert!(begun.elapsed() < Duration::from_secs(5));
    let second = serve().await;
    let signal = json!({"key": "review", "payload": {"approved": true}});
    command(&second, ANN, &id, "signal", &signal).await;
    let ended = second.get(&format!("/v1/instances/{id}?wait=20s")).await.json();
    assert_eq!(ended["status"], "completed");
    second.stop().await;
}

//! Runs over the API.

use std::sync::Arc;

use heddle_generation::{OrganizationId, ProjectId, RunId};
use heddle_store::{MemoryStore, Store, TenantSeed};
use serde_json::{Value, json};

use crate::harness::{ANN, ANN_PLUGIN, Answer, BO, Call, Server, config, des2wf, seeded};

async fn post(server: &Server, body: &Value) -> Answer {
    server.send(Call::new("POST", "/v1/generations").token(ANN).json(body)).await
}

/// proves G1, G5: a run answers 201 with its place, and can be polled there at once.
#[tokio::test]
async fn a_run_is_created_and_polled() {
    let server = Server::start().await;
    let answer = post(&server, &des2wf("12-345")).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let run = answer.json();
    let id = run["id"].as_str().unwrap();
    assert_eq!(answer.header("location"), format!("/v1/generations/{id}"));
    let polled = server.get(answer.header("location")).await;
    assert_eq!((polled.status, polled.json()), (200, run.clone()));
    let expected = json!({
        "id": id, "organization_id": 1, "project_id": 10, "figma_file_key": "FILE", "wf_node_id": "12:345",
        "screen_id": "12:345", "prompt": null, "placement_target": null, "auto_confirm": false,
        "trigger_surface": "api", "edge": "des2wf", "status": "processing", "phase": "parse", "attempt": 1,
        "error_message": null, "result_url": null, "flag_count": null, "score": null, "score_version": null,
        "materialized_at": null, "feedback_status": null, "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z", "created_by": "ann", "updated_by": "ann",
    });
    assert_eq!(run, expected);
    let jobs = server.jobs(1).await;
    assert_eq!((jobs[0].job_id.as_str(), jobs[0].wf_node_id.as_str()), (id, "12:345"));
    server.stop().await;
}

/// proves G2: a second trigger of a live node answers 409 with the id of the live run; the other edge is free, and
/// so is the node after the run has ended.
#[tokio::test]
async fn a_second_trigger_learns_the_live_run() {
    let server = Server::start().await;
    let id = server.created(&des2wf("1:2")).await;
    let problem = post(&server, &des2wf("1-2")).await.problem(409, "already_live");
    assert_eq!(problem["existing_id"], id);
    let mut other_edge = des2wf("1:2");
    other_edge["edge"] = "wf2des".into();
    other_edge["screen_id"] = "Home".into();
    server.created(&other_edge).await;
    let cancel = Call::new("POST", &format!("/v1/generations/{id}/cancel")).token(ANN);
    assert_eq!(server.send(cancel).await.status, 200);
    server.created(&des2wf("1:2")).await;
}

/// proves G10: the surface comes from the token. A body that names it, or the tenant, is refused by that name.
#[tokio::test]
async fn the_surface_is_the_tokens() {
    let server = Server::start().await;
    let call = Call::new("POST", "/v1/generations").token(ANN_PLUGIN).json(&des2wf("1:2"));
    assert_eq!(server.send(call).await.json()["trigger_surface"], "plugin");
    let mut body = des2wf("1:3");
    body["trigger_surface"] = "plugin".into();
    body["organization_id"] = 2.into();
    let answer = post(&server, &body).await;
    assert_eq!(answer.invalid(), ["organization_id not_allowed", "trigger_surface not_allowed"]);
    assert!(answer.text().contains("comes from your token"));
}

/// proves G17: what is wrong with a body is said by field, all at once, unknown fields at any depth included.
#[tokio::test]
async fn bad_bodies_are_refused_by_field() {
    let server = Server::start().await;
    let of = async |change: Value| {
        let mut body = des2wf("1:2");
        for (name, value) in change.as_object().unwrap() {
            body[name] = value.clone();
        }
        post(&server, &body).await.invalid()
    };
    assert_eq!(of(json!({"colour": "red"})).await, ["colour unknown_field"]);
    let upload = json!({"object_key": "k", "sha256": "x", "more": 1});
    assert_eq!(
        of(json!({"source": {"upload": upload, "url": "http://x"}})).await,
        ["source.url unknown_field", "source.upload.more unknown_field", "source.upload.sha256 not_a_hash"]
    );
    assert_eq!(of(json!({"source": {}})).await, ["source.upload required"]);
    assert_eq!(of(json!({"edge": "sideways"})).await, ["edge bad_value"]);
    assert_eq!(of(json!({"project_id": "ten"})).await, ["project_id bad_value"]);
    assert_eq!(of(json!({"project_id": 20})).await, ["project_id unknown_project"]);
    assert_eq!(of(json!({"prompt": "x".repeat(4001)})).await, ["prompt too_long"]);
    assert_eq!(
        of(json!({"wf_node_id": "", "figma_file_key": "../x", "a": 1, "b": 2})).await,
        ["a unknown_field", "b unknown_field", "figma_file_key bad_character", "wf_node_id required"]
    );
    assert_eq!(post(&server, &json!({"edge": "des2wf"})).await.invalid(), ["project_id required"]);
    assert_eq!(post(&server, &json!([])).await.status, 422);

    let call = || Call::new("POST", "/v1/generations").token(ANN);
    let raw = |body: &str| call().header("content-type", "application/json").body(body);
    server.send(raw("{")).await.problem(400, "malformed_json");
    server.send(raw(&format!("{}x", des2wf("1:2")))).await.problem(400, "malformed_json");
    server.send(raw("")).await.problem(400, "malformed_json");
    server.send(call().body("{}")).await.problem(415, "not_json");
    let big = format!("{{\"prompt\": \"{}\"}}", "x".repeat(70_000));
    server.send(raw(&big)).await.problem(413, "too_large");
    let nested = "[".repeat(60_000);
    server.send(raw(&format!("{{\"edge\": {nested}"))).await.problem(422, "invalid_request");
    assert!(server.store.outbox.pending(None, 10).await.unwrap().is_empty());
}

/// proves G4: without a known token nothing is shown; another tenant's run answers 404, as one that never was.
#[tokio::test]
async fn tenants_are_apart() {
    let server = Server::start().await;
    let id = server.created(&des2wf("1:2")).await;
    let paths = [
        ("GET", format!("/v1/generations/{id}")),
        ("DELETE", format!("/v1/generations/{id}")),
        ("POST", format!("/v1/generations/{id}/cancel")),
        ("GET", format!("/v1/generations/{id}/artifacts")),
        ("GET", format!("/v1/generations/{id}/artifacts/result")),
    ];
    for (method, path) in &paths {
        for call in [Call::new(method, path), Call::new(method, path).token("guess-guess-guess-guess")] {
            let answer = server.send(call).await;
            answer.problem(401, "unauthenticated");
            assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"heddle\"");
        }
        let foreign = server.send(Call::new(method, path).token(BO)).await;
        let absent_path = path.replace(&id, "0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6");
        let absent = server.send(Call::new(method, &absent_path).token(BO)).await;
        foreign.problem(404, "run_not_found");
        assert_eq!(foreign.body, absent.body);
    }
    assert_eq!(server.send(Call::new("GET", "/v1/generations").token(BO)).await.json()["items"], json!([]));
    assert_eq!(server.get(&format!("/v1/generations/{id}")).await.json()["status"], "processing");
    for odd in ["x", "..%2f..", &id.to_uppercase()] {
        server.get(&format!("/v1/generations/{odd}")).await.problem(404, "run_not_found");
    }
}

/// proves G8: des2wf is cancelled in any phase; wf2des not while a worker is at it, and nothing once it has ended:
/// 409 with the present state.
#[tokio::test]
async fn cancel_says_why_not() {
    let server = Server::start().await;
    let cancel = async |id: &str| {
        let call = Call::new("POST", &format!("/v1/generations/{id}/cancel")).token(ANN);
        server.send(call).await
    };
    let id = server.created(&des2wf("1:2")).await;
    server.wait_seconds(5);
    let run = cancel(&id).await.json();
    assert_eq!((&run["status"], &run["phase"]), (&json!("cancelled"), &Value::Null));
    assert_eq!(run["updated_at"], "2027-01-15T08:00:05Z");
    let problem = cancel(&id).await.problem(409, "run_ended");
    assert_eq!(problem["run_status"], "cancelled");

    let mut body = des2wf("1:2");
    body["edge"] = "wf2des".into();
    body["screen_id"] = "Home".into();
    let id = server.created(&body).await;
    let problem = cancel(&id).await.problem(409, "not_at_checkpoint");
    assert_eq!((&problem["run_status"], &problem["run_phase"]), (&json!("processing"), &json!("parse")));
}

/// proves G13: a deleted run is nowhere, and its node is free.
#[tokio::test]
async fn a_deleted_run_is_nowhere() {
    let server = Server::start().await;
    let id = server.created(&des2wf("1:2")).await;
    let path = format!("/v1/generations/{id}");
    assert_eq!(server.send(Call::new("DELETE", &path).token(ANN)).await.status, 204);
    server.send(Call::new("DELETE", &path).token(ANN)).await.problem(404, "run_not_found");
    server.get(&path).await.problem(404, "run_not_found");
    assert_eq!(server.get("/v1/generations").await.json()["items"], json!([]));
    server.created(&des2wf("1:2")).await;
}

/// proves G11: the list filters and pages by key.
/// proves G17: bad and unknown parameters are named.
#[tokio::test]
async fn the_list_filters_and_pages() {
    let server = Server::start().await;
    let mut ids = Vec::new();
    for node in 0..5 {
        ids.push(server.created(&des2wf(&format!("1:{node}"))).await);
        server.wait_seconds(1);
    }
    ids.reverse();
    let report = server.worked(&ids[0], 1).await;
    assert_eq!(server.report(&report).await.status, 200);
    let listed = async |query: &str| {
        let page = server.get(&format!("/v1/generations{query}")).await.json();
        let ids = page["items"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned());
        (ids.collect::<Vec<_>>(), page["next_cursor"].as_str().map(str::to_owned))
    };
    assert_eq!(listed("").await, (ids.clone(), None));
    let (first, cursor) = listed("?limit=2").await;
    let (second, cursor) = listed(&format!("?limit=2&cursor={}", cursor.unwrap())).await;
    let (third, end) = listed(&format!("?limit=2&cursor={}", cursor.unwrap())).await;
    assert_eq!(([first, second, third].concat(), end), (ids.clone(), None));
    for (query, expected) in [
        ("?status=completed", &ids[..1]),
        ("?status=processing&project_id=10&figma_file_key=FILE&edge=des2wf", &ids[1..]),
        ("?score_min=0.8742&score_max=0.8742&score_version=ds%401.0", &ids[..1]),
        ("?score_min=0.8743", &[]),
        ("?materialized=true", &[]),
        ("?project_id=11", &[]),
        ("?edge=wf2des", &[]),
    ] {
        assert_eq!(listed(query).await.0, expected, "{query}");
    }
    for (query, expected) in [
        ("limit=0", "limit bad_value"),
        ("limit=101", "limit bad_value"),
        ("cursor=x", "cursor bad_value"),
        ("status=done", "status bad_value"),
        ("score_min=2", "score_min bad_value"),
        ("score_min=NaN", "score_min bad_value"),
        ("score_min=0.9&score_max=0.1", "score_min out_of_range"),
        ("sort=score", "sort unknown_parameter"),
        ("edge=des2wf&edge=wf2des", "edge repeated"),
    ] {
        assert_eq!(server.get(&format!("/v1/generations?{query}")).await.invalid(), [expected], "{query}");
    }
}

/// proves G11: get and list show how a run ended without any read of the data plane.
#[tokio::test]
async fn a_runs_end_is_in_its_row() {
    let server = Server::start().await;
    let id = server.created(&des2wf("1:2")).await;
    let report = server.worked(&id, 1).await;
    server.report(&report).await;
    // The same rows beside an exchange in which nothing is.
    let bare = Server::with(config(), server.store.clone(), heddle_exchange::memory::open()).await;
    let run = bare.get(&format!("/v1/generations/{id}")).await.json();
    assert_eq!(bare.get("/v1/generations").await.json()["items"][0], run);
    assert_eq!((&run["status"], &run["phase"]), (&json!("completed"), &Value::Null));
    assert_eq!((&run["score"], &run["score_version"]), (&json!(0.8742), &json!("ds@1.0")));
    assert_eq!((&run["flag_count"], &run["updated_by"]), (&json!(2), &json!("service")));
    assert_eq!(run["result_url"], format!("1/10/des2wf/{id}/result.json"));
}

#[tokio::test]
async fn an_edge_that_nobody_works_on_is_refused() {
    let mut config = config();
    config.edges = vec![heddle_generation::Edge::Des2wf];
    let server = Server::with(config, seeded().await, heddle_exchange::memory::open()).await;
    let mut body = des2wf("1:2");
    body["edge"] = "wf2des".into();
    body["screen_id"] = "Home".into();
    assert_eq!(post(&server, &body).await.invalid(), ["edge edge_not_served"]);
    server.created(&des2wf("1:2")).await;
}

/// proves G17: what is not there and what can't be done there are problems too.
#[tokio::test]
async fn every_miss_is_a_problem() {
    let server = Server::start().await;
    server.get("/v2").await.problem(404, "not_found");
    let answer = server.send(Call::new("PATCH", "/v1/generations").token(ANN)).await;
    answer.problem(405, "method_not_allowed");
    assert_eq!(answer.header("allow"), "POST,GET,HEAD");
    assert_eq!(server.send(Call::new("GET", "/healthz")).await.status, 204);
    let ready = server.send(Call::new("GET", "/readyz")).await;
    assert_eq!((ready.status, &ready.json()["outbox_waits"]), (200, &json!(false)));
}

/// proves G13: whoever the configuration knows can sign a row, seeded or not.
#[tokio::test]
async fn a_configured_caller_can_sign() {
    let store = Store::of(Arc::new(MemoryStore::new()));
    let tenant = TenantSeed {
        organization: OrganizationId(1),
        name: String::new(),
        projects: vec![(ProjectId(10), String::new())],
        users: Vec::new(),
    };
    store.tenants.ensure_tenant(&tenant, jiff::Timestamp::UNIX_EPOCH).await.unwrap();
    let server = Server::with(config(), store, heddle_exchange::memory::open()).await;
    // The rows are seeded before the first connection is served.
    let id = server.created(&des2wf("1:2")).await;
    let report = server.worked(&id, 1).await;
    assert_eq!(server.report(&report).await.json(), json!({"applied": true}));
}

/// proves G13: who did it is in the row.
#[tokio::test]
async fn a_cancel_is_signed_by_its_caller() {
    let server = Server::start().await;
    let id = server.created(&des2wf("1:2")).await;
    let call = Call::new("POST", &format!("/v1/generations/{id}/cancel")).token(ANN_PLUGIN);
    server.send(call).await;
    let run = server.store.runs.get(OrganizationId(1), RunId::parse(&id).unwrap()).await.unwrap().unwrap();
    assert_eq!((run.created_by.as_str(), run.updated_by.as_str()), ("ann", "ann"));
}

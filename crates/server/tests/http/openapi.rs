//! The API's description.

use std::path::Path;

use serde_json::Value;

use crate::harness::{Call, Server};

/// The committed description is the handlers' own. `HEDDLE_UPDATE=1 cargo test -p heddle-server` writes it anew.
#[tokio::test]
async fn the_committed_description_is_the_present_one() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../api/openapi.json");
    let present = heddle_server::openapi_json().unwrap();
    if std::env::var_os("HEDDLE_UPDATE").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &present).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == present, "api/openapi.json is stale: HEDDLE_UPDATE=1 cargo test -p heddle-server");
    let server = Server::start().await;
    let served = server.send(Call::new("GET", "/openapi.json")).await;
    assert_eq!(served.text(), present);
}

/// What is said of the lengths of texts is what the rules say.
#[test]
fn the_description_has_the_rules_limits() {
    use heddle_workflow::{
        MAX_EVENT_KEY_CHARS, MAX_ID_CHARS, MAX_IDEMPOTENCY_CHARS, MAX_KEY_CHARS, MAX_NAME_CHARS,
        MAX_TYPE_CHARS,
    };
    let description: Value = serde_json::from_str(&heddle_server::openapi_json().unwrap()).unwrap();
    for (schema, field, most) in [
        ("PublishWorkflow", "name", MAX_NAME_CHARS),
        ("StartInstance", "key", MAX_KEY_CHARS),
        ("StartInstance", "idempotency_key", MAX_IDEMPOTENCY_CHARS),
        ("SubjectBody", "key", MAX_KEY_CHARS),
        ("SubjectBody", "type", MAX_TYPE_CHARS),
        ("SubjectBody", "id", MAX_ID_CHARS),
        ("InstanceFilterBody", "key", MAX_KEY_CHARS),
        ("InstanceFilterBody", "subject_type", MAX_TYPE_CHARS),
        ("InstanceFilterBody", "subject_id", MAX_ID_CHARS),
        ("SignalBody", "key", MAX_EVENT_KEY_CHARS),
        ("BatchBody", "key", MAX_EVENT_KEY_CHARS),
        ("EventBody", "key", MAX_EVENT_KEY_CHARS),
    ] {
        let said = &description["components"]["schemas"][schema]["properties"][field]["maxLength"];
        assert_eq!(said.as_u64(), Some(most as u64), "{schema}.{field}");
    }
    let list = description["paths"]["/v1/instances"]["get"]["parameters"][0]["description"].as_str().unwrap();
    let merged = heddle_store::workflows::MOST_MERGED;
    assert_eq!(merged, 1_000);
    assert!(list.contains("first 1,000"), "{list}");
}

/// Every path that is described is there, requests are closed to unknown fields, and every reference leads somewhere.
#[tokio::test]
async fn the_description_is_true() {
    let server = Server::start().await;
    let description: Value = serde_json::from_str(&heddle_server::openapi_json().unwrap()).unwrap();
    let mut operations = 0;
    for (path, methods) in description["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            operations += 1;
            let path = path.replace(['{', '}'], "");
            let answer = server.send(Call::new(&method.to_uppercase(), &path)).await;
            let routed =
                answer.status != 405 && (answer.status != 404 || answer.json()["code"] != "not_found");
            assert!(routed, "{method} {path} gave {}", answer.status);
        }
    }
    assert_eq!(operations, 30);
    let schemas = description["components"]["schemas"].as_object().unwrap();
    let is_request = |name: &&String| {
        name.ends_with("Body") || ["CreateGeneration", "UploadRef", "StartInstance"].contains(&name.as_str())
    };
    let requests: Vec<_> = schemas.keys().filter(is_request).collect();
    assert_eq!(requests.len(), 11);
    for name in requests.into_iter().map(String::as_str).chain(["PublishWorkflow", "ValidateWorkflow"]) {
        let schema = &schemas[name];
        assert_eq!(schema["additionalProperties"], false, "{name}: {schema}");
        assert!(schema["properties"].get("unknown").is_none());
    }
    let text = description.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(description["components"]["schemas"].get(name).is_some(), "{name}");
    }
}

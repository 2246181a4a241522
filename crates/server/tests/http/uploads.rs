//! Documents that callers bring.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use heddle_exchange::keys::sha256_hex;
use heddle_generation::message::Source;
use serde_json::json;

use crate::harness::{ANN, BO, Call, Server, des2wf};

const DOCUMENT: &[u8] = br#"{"name": "Home", "document": {"id": "0:0"}}"#;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn put(path: &str) -> Call {
    Call::new("PUT", &format!("/v1/uploads/{path}")).token(ANN)
}

/// proves D17: an upload is kept by its hash under its tenant, and a run of that tenant and project can name it.
#[tokio::test]
async fn an_upload_is_a_runs_source() {
    let server = Server::start().await;
    let sha256 = sha256_hex(DOCUMENT);
    let key = format!("1/10/uploads/{sha256}.json");
    for _ in 0..2 {
        let answer = server.send(put("FILE?project_id=10").body(DOCUMENT)).await;
        let expected = json!({
            "object_key": key, "sha256": sha256, "bytes": DOCUMENT.len(), "project_id": 10, "figma_file_key": "FILE",
        });
        assert_eq!((answer.status, answer.json()), (200, expected));
    }
    assert_eq!(server.exchange.objects.get(&key).await.unwrap().unwrap(), DOCUMENT);

    let mut body = des2wf("1:2");
    body["source"] = json!({"upload": {"object_key": key, "sha256": sha256}});
    server.created(&body).await;
    let job = server.jobs(1).await.remove(0);
    assert_eq!(job.source, Source::Upload { object_key: key.clone(), sha256: sha256.clone() });

    let gzip = server.send(put("FILE?project_id=10").body(gzip(DOCUMENT))).await;
    assert_eq!(gzip.status, 200);
}

/// proves G4: nobody names another tenant's, or another project's, upload.
#[tokio::test]
async fn an_upload_is_its_tenants_own() {
    let server = Server::start().await;
    let foreign = Call::new("PUT", "/v1/uploads/FILE?project_id=20").token(BO).body(DOCUMENT);
    let foreign = server.send(foreign).await.json();
    let own = server.send(put("FILE?project_id=10").body(DOCUMENT)).await.json();
    let with = |upload: &serde_json::Value, project: i64| {
        let mut body = des2wf("1:2");
        body["project_id"] = project.into();
        body["source"] = json!({"upload": {"object_key": upload["object_key"], "sha256": upload["sha256"]}});
        Call::new("POST", "/v1/generations").token(ANN).json(&body)
    };
    for call in [with(&foreign, 10), with(&own, 11)] {
        assert_eq!(server.send(call).await.invalid(), ["source.upload.object_key foreign_key"]);
    }
    let escape = json!({"object_key": "1/10/uploads/../../2/20/x.json", "sha256": own["sha256"]});
    assert_eq!(server.send(with(&escape, 10)).await.invalid(), ["source.upload.object_key foreign_key"]);
    let foreign = server.send(put("FILE?project_id=20").body(DOCUMENT)).await;
    assert_eq!(foreign.invalid(), ["project_id unknown_project"]);
}

/// proves G17: what is no document, too large or badly named is refused with the reason.
#[tokio::test]
async fn bad_uploads_are_refused() {
    let server = Server::start().await;
    let good = || put("FILE?project_id=10");
    for body in ["", "{", "[]", "\"x\"", "{} x", "not json", "\u{feff}{}"] {
        server.send(good().body(body)).await.problem(400, "not_a_document");
    }
    let problem = server.send(good().body("{\"a\": \n tru}")).await.problem(400, "not_a_document");
    assert!(problem["detail"].as_str().unwrap().contains("line 2"), "{problem}");
    // What only begins like gzip, is cut off in its beginning, or holds no object, is no document either.
    for body in [
        b"\x1f\x8b".to_vec(),
        b"\x1f\x8b\x08 and so on".to_vec(),
        b"\x1f\x8bnothing of the kind".to_vec(),
        gzip(b""),
        gzip(b" [1]"),
        gzip(&[0; 5_000]),
        gzip(&vec![b' '; 1_000_000]),
    ] {
        let problem = server.send(good().body(body)).await.problem(400, "not_a_document");
        assert!(problem["detail"].as_str().unwrap().contains("gzip"), "{problem}");
    }
    let problem = server.send(good().body(gzip(b" [1]"))).await.problem(400, "not_a_document");
    assert!(problem["detail"].as_str().unwrap().contains("byte 1"), "{problem}");

    let deep = format!("{{\"a\": {}{}}}", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(server.send(good().body(deep)).await.status, 200, "depth is the worker's to bound");
    server.send(good().body(vec![b' '; 64 * 1024 * 1024 + 1])).await.problem(413, "too_large");

    assert_eq!(server.send(put("FILE").body("{}")).await.invalid(), ["project_id required"]);
    assert_eq!(server.send(put("FILE?project_id=x").body("{}")).await.invalid()[0], "project_id bad_value");
    assert_eq!(
        server.send(put("a%2Fb?project_id=10").body("{}")).await.invalid(),
        ["file_key bad_character"]
    );
    assert_eq!(server.send(put("F?project_id=10&x=1").body("{}")).await.invalid(), ["x unknown_parameter"]);
    let call = Call::new("PUT", "/v1/uploads/FILE?project_id=10").body("{}");
    server.send(call).await.problem(401, "unauthenticated");
}

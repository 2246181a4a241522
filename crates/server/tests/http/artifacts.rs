//! What a run has made.

use serde_json::json;

use crate::harness::{ANN, Call, Server, des2wf};

/// proves D17, D18: artifacts are listed and read by the manifest's index, in their own media types; a script can
/// run in none of them.
#[tokio::test]
async fn artifacts_are_read_by_name() {
    let server = Server::start().await;
    let id = server.created(&des2wf("1:2")).await;
    let path = format!("/v1/generations/{id}/artifacts");
    server.get(&path).await.problem(404, "no_artifacts");
    let report = server.worked(&id, 1).await;
    server.get(&path).await.problem(404, "no_artifacts");
    server.report(&report).await;

    let list = server.get(&path).await.json();
    let names: Vec<_> = list["items"].as_array().unwrap().iter().map(|item| item["name"].clone()).collect();
    assert_eq!(names, ["page", "preview_svg", "result", "source_png", "manifest"]);
    assert_eq!((&list["attempt"], &list["timings_ms"]["convert"]), (&json!(1), &json!(12.5)));
    for item in list["items"].as_array().unwrap() {
        let answer = server.get(item["href"].as_str().unwrap()).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.body.len() as u64, item["bytes"].as_u64().unwrap());
        assert_eq!(answer.header("etag"), format!("\"{}\"", item["sha256"].as_str().unwrap()));
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert!(answer.header("content-security-policy").contains("sandbox"));
    }
    let svg = server.get(&format!("{path}/preview_svg")).await;
    assert_eq!(svg.header("content-type"), "image/svg+xml");
    assert!(svg.header("content-security-policy").starts_with("default-src 'none'"));
    let page = server.get(&format!("{path}/page")).await;
    assert_eq!(page.header("content-type"), "application/octet-stream");
    assert_eq!(page.header("content-disposition"), "attachment");
    assert_eq!(server.get(&format!("{path}/result")).await.json(), json!({"name": "Home"}));

    let again = Call::new("GET", &format!("{path}/preview_svg")).token(ANN);
    let again = server.send(again.header("if-none-match", svg.header("etag"))).await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    for odd in ["nothing", "..%2Fmanifest", "result.json"] {
        let problem = server.get(&format!("{path}/{odd}")).await.problem(404, "artifact_not_found");
        assert!(problem["detail"].as_str().unwrap().contains("preview_svg"));
    }
}

/// proves D18: bytes that are not what the manifest says are never passed on.
#[tokio::test]
async fn damaged_artifacts_are_not_served() {
    let server = Server::start().await;
    let id = server.created(&des2wf("1:2")).await;
    let report = server
        .worked_with(&id, 1, &json!({}), |manifest| {
            manifest.artifacts.get_mut("result").unwrap().sha256 = "ab".repeat(32);
            manifest.artifacts.get_mut("preview_svg").unwrap().key =
                format!("1/10/des2wf/{}/x.svg", manifest.job_id);
        })
        .await;
    server.report(&report).await;
    for name in ["result", "preview_svg"] {
        let answer = server.get(&format!("/v1/generations/{id}/artifacts/{name}")).await;
        let problem = answer.problem(500, "internal");
        assert_eq!(problem["detail"], "the server's log says what", "keys and reasons are for operators");
    }
}

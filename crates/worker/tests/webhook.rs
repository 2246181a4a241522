//! The report on the wire.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::time::Duration;

use common::FakeHttp;
use heddle_generation::Edge;
use heddle_generation::message::{REPORT_SCHEMA, Report};
use heddle_generation::signature::WebhookSecret;
use heddle_worker::{Answer, HttpReporter, ReportError, Reporter};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn report() -> Report {
    Report {
        schema: REPORT_SCHEMA.to_owned(),
        job_id: "0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6".to_owned(),
        attempt: 3,
        edge: Edge::Des2wf,
        manifest_key: "1/7/des2wf/0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6/manifest.json".to_owned(),
        manifest_sha256: "0".repeat(64),
    }
}

fn reporter(url: &str) -> HttpReporter {
    HttpReporter::new(url, WebhookSecret::parse(SECRET).unwrap()).with_pauses([Duration::from_millis(5); 3])
}

#[tokio::test]
async fn a_report_is_signed_and_its_id_is_stable() {
    let http = FakeHttp::start(vec![(500, "oh"), (200, r#"{"applied":true}"#)]).await;
    let answer = reporter(&format!("{}/", http.url)).report(&report()).await.unwrap();
    assert_eq!(answer, Answer { applied: true, reason: None });
    let requests = http.requests.lock().unwrap();
    assert_eq!(requests.len(), 2);
    let secret = WebhookSecret::parse(SECRET).unwrap();
    for request in &*requests {
        assert_eq!(request.line, "POST /internal/ai-status HTTP/1.1");
        assert_eq!(request.headers["content-type"], "application/json");
        let id = &request.headers["webhook-id"];
        assert_eq!(id, "run_0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6_3");
        let timestamp: i64 = request.headers["webhook-timestamp"].parse().unwrap();
        assert!((jiff::Timestamp::now().as_second() - timestamp).abs() < 5);
        assert_eq!(request.headers["webhook-signature"], secret.sign(id, timestamp, &request.body));
        assert_eq!(serde_json::from_slice::<Report>(&request.body).unwrap(), report());
        assert!(!request.headers.values().any(|value| value.contains("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")));
    }
}

#[tokio::test]
async fn what_the_backend_says_decides_whether_to_try_again() {
    let no = r#"{"applied":false,"reason":"superseded","detail":{"more":1}}"#;
    let http = FakeHttp::start(vec![(200, no)]).await;
    let answer = reporter(&http.url).report(&report()).await.unwrap();
    assert_eq!(answer, Answer { applied: false, reason: Some("superseded".to_owned()) });
    assert_eq!(http.requests.lock().unwrap().len(), 1);

    for (status, body) in [(404, "no such run"), (422, "bad manifest"), (400, ""), (409, ""), (413, "")] {
        let http = FakeHttp::start(vec![(status, body)]).await;
        let refused = reporter(&http.url).report(&report()).await;
        assert!(
            matches!(&refused, Err(ReportError::Refused { status: s, body: b }) if *s == status && b == body),
            "{refused:?}"
        );
        assert_eq!(http.requests.lock().unwrap().len(), 1, "status {status} is final");
    }
    for (status, body) in [(500, ""), (503, ""), (429, ""), (401, ""), (403, ""), (302, ""), (200, "<html>")]
    {
        let http = FakeHttp::start(vec![(status, body)]).await;
        let unreachable = reporter(&http.url).report(&report()).await;
        assert!(matches!(unreachable, Err(ReportError::Unreachable { .. })), "{status}: {unreachable:?}");
        assert_eq!(http.requests.lock().unwrap().len(), 4, "status {status} is worth four tries");
    }
    // Nobody listens.
    let unreachable = reporter("http://127.0.0.1:1").report(&report()).await;
    assert!(matches!(unreachable, Err(ReportError::Unreachable { .. })));
}

/// A signed report goes to the backend that was named, and nowhere else.
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = FakeHttp::start(vec![(200, r#"{"applied":true}"#)]).await;
    for status in [301, 302, 303, 307, 308] {
        let http = FakeHttp::start_pointing(vec![(status, "")], &elsewhere.url).await;
        let unreachable = reporter(&http.url).report(&report()).await;
        assert!(matches!(unreachable, Err(ReportError::Unreachable { .. })), "{status}: {unreachable:?}");
    }
    assert!(elsewhere.requests.lock().unwrap().is_empty());
}

//! The worker's word.

use heddle_exchange::keys::sha256_hex;
use heddle_generation::Edge;
use heddle_generation::message::{Outcome, Report};
use heddle_server::WebhookSecret;
use serde_json::{Value, json};

use crate::harness::{ANN, Answer, Call, SECRET, Server, des2wf};

fn ignored(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = answer.json();
    assert_eq!(answer["applied"], false);
    answer["reason"].clone()
}

/// proves G6: the webhook completes a run, once; a repeat answers 200, `applied: false` and why.
#[tokio::test]
async fn a_report_completes_a_run_once() {
    let server = Server::start().await;
    let id = server.created(&des2wf("1:2")).await;
    let report = server.worked(&id, 1).await;
    server.wait_seconds(3);
    let answer = server.report(&report).await;
    assert_eq!((answer.status, answer.json()), (200, json!({"applied": true})));
    let run = server.get(&format!("/v1/generations/{id}")).await.json();
    assert_eq!((&run["status"], &run["updated_by"]), (&json!("completed"), &json!("service")));
    server.wait_seconds(3);
    assert_eq!(ignored(&server.report(&report).await), "repeat");
    assert_eq!(server.get(&format!("/v1/generations/{id}")).await.json(), run);
}

/// proves G6: a failure's message is what the client may read of it.
#[tokio::test]
async fn a_report_fails_a_run() {
    let server = Server::start().await;
    let id = server.created(&des2wf("1:2")).await;
    let report = server
        .worked_with(&id, 1, &json!({}), |manifest| {
            let effects = &mut manifest.row_effects.wf2des;
            effects.outcome = Outcome::Failed;
            effects.error_message = Some("there is no node 1:2".to_owned());
            (effects.flag_count, effects.score, effects.score_version) = (None, None, None);
        })
        .await;
    assert_eq!(server.report(&report).await.json()["applied"], true);
    let run = server.get(&format!("/v1/generations/{id}")).await.json();
    assert_eq!((&run["status"], &run["error_message"]), (&json!("failed"), &json!("there is no node 1:2")));
    assert_eq!((&run["score"], &run["flag_count"]), (&Value::Null, &Value::Null));
}

/// proves G6: a late word for a cancelled run, and one for a deleted run, change nothing and are no errors; neither
/// reads the manifest, which may be gone by then.
#[tokio::test]
async fn a_late_word_changes_nothing() {
    let server = Server::start().await;
    let id = server.created(&des2wf("1:2")).await;
    let mut report = server.worked(&id, 1).await;
    server.send(Call::new("POST", &format!("/v1/generations/{id}/cancel")).token(ANN)).await;
    assert_eq!(ignored(&server.report(&report).await), "late");
    report.manifest_key = report.manifest_key.replace("manifest.json", "gone.json");
    assert_eq!(ignored(&server.report(&report).await), "late");
    server.send(Call::new("DELETE", &format!("/v1/generations/{id}")).token(ANN)).await;
    assert_eq!(ignored(&server.report(&report).await), "run_not_found");
    report.job_id = "no id at all".to_owned();
    assert_eq!(ignored(&server.report(&report).await), "run_not_found");
}

/// proves G6: an attempt that was never sent out is refused.
#[tokio::test]
async fn a_later_attempt_is_refused() {
    let server = Server::start().await;
    let id = server.created(&des2wf("1:2")).await;
    let report = server.worked(&id, 2).await;
    server.report(&report).await.problem(409, "attempt_ahead");
    assert_eq!(server.get(&format!("/v1/generations/{id}")).await.json()["status"], "processing");
}

/// proves G6: only who knows the secret is heard, and only lately.
#[tokio::test]
async fn only_a_signed_report_is_heard() {
    let server = Server::start().await;
    let id = server.created(&des2wf("1:2")).await;
    let report = server.worked(&id, 1).await;
    let at = server.now().as_second();
    let body = serde_json::to_vec(&report).unwrap();
    let other = WebhookSecret::parse("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD").unwrap();
    let own = WebhookSecret::parse(SECRET).unwrap();
    let mismatch = "webhook_signature_mismatch";
    for (call, code) in [
        (server.signed(&report).header("webhook-signature", &other.sign("msg_1", at, &body)), mismatch),
        (server.signed(&report).header("webhook-id", "msg_2"), mismatch),
        (server.signed(&report).header("webhook-timestamp", &(at + 1).to_string()), mismatch),
        (server.signed(&report).body("{}"), mismatch),
        (server.signed(&report).header("webhook-signature", ""), "webhook_header_missing"),
        (
            server
                .signed(&report)
                .header("webhook-timestamp", &(at - 301).to_string())
                .header("webhook-signature", &own.sign("msg_1", at - 301, &body)),
            "webhook_out_of_time",
        ),
        (Call::new("POST", "/internal/ai-status").token(ANN).json(&json!({})), "webhook_header_missing"),
    ] {
        server.send(call).await.problem(401, code);
    }
    let run = server.get(&format!("/v1/generations/{id}")).await.json();
    assert_eq!(run["status"], "processing");
}

/// proves D18: a report that is not the run's own, a manifest that is not there, is another one or says what it may
/// not, are refused by field, and the row stays as it is.
#[tokio::test]
async fn what_does_not_hold_is_refused() {
    let server = Server::start().await;
    let id = server.created(&des2wf("1:2")).await;
    let good = server.worked(&id, 1).await;
    let report = |change: fn(&mut Report)| {
        let mut report = good.clone();
        change(&mut report);
        report
    };
    for (report, expected) in [
        (report(|r| r.schema = "heddle.generation.report/v2".into()), "schema unknown_schema"),
        (report(|r| r.edge = Edge::Wf2des), "edge not_this_run"),
        (report(|r| r.manifest_key = "1/10/des2wf/other/manifest.json".into()), "manifest_key foreign_key"),
        (report(|r| r.manifest_key = "2/20/des2wf/x/manifest.json".into()), "manifest_key foreign_key"),
        (report(|r| r.manifest_sha256 = "x".into()), "manifest_sha256 not_a_hash"),
        (
            report(|r| r.manifest_key = r.manifest_key.replace("manifest.", "m.")),
            "manifest_key manifest_missing",
        ),
    ] {
        assert_eq!(server.report(&report).await.invalid(), [expected]);
    }
    let changed = report(|r| r.manifest_sha256 = sha256_hex(b"other"));
    server.report(&changed).await.problem(409, "manifest_changed");

    let other = server.created(&des2wf("1:3")).await;
    let wrong = server.worked_with(&other, 1, &json!({}), |m| m.row_effects.wf2des.score = Some(1.5)).await;
    assert_eq!(server.report(&wrong).await.invalid(), ["manifest.row_effects.wf2des.score out_of_range"]);
    let third = server.created(&des2wf("1:4")).await;
    let wrong = server.worked_with(&third, 1, &json!({}), |m| m.schema = "x".into()).await;
    assert_eq!(server.report(&wrong).await.invalid(), ["manifest.schema unknown_schema"]);
    for id in [id, other, third] {
        assert_eq!(server.get(&format!("/v1/generations/{id}")).await.json()["status"], "processing");
    }
    assert_eq!(server.report(&good).await.json()["applied"], true, "the good one still goes through");
}

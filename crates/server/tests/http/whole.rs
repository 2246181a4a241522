//! The same on the embedded stores: rows in `SQLite`, queue and objects in a folder.

use std::path::Path;
use std::sync::Arc;

use heddle_generation::{OrganizationId, ProjectId, UserSub};
use heddle_store::{SqliteStore, Store, TenantSeed, migrate};
use jiff::Timestamp;
use serde_json::json;

use crate::harness::{ANN, Call, Server, config, des2wf};

async fn server(folder: &Path) -> Server {
    let rows = folder.join("rows.sqlite");
    migrate(&rows, Timestamp::UNIX_EPOCH).unwrap();
    let store = Store::of(Arc::new(SqliteStore::open(&rows).unwrap()));
    let tenant = TenantSeed {
        organization: OrganizationId(1),
        name: "one".to_owned(),
        projects: vec![(ProjectId(10), "ten".to_owned())],
        users: vec![UserSub::new("ann"), UserSub::new("service")],
    };
    store.tenants.ensure_tenant(&tenant, Timestamp::UNIX_EPOCH).await.unwrap();
    Server::with(config(), store, heddle_exchange::embedded::open(folder.join("exchange")).unwrap()).await
}

/// proves G5, G6, G11, D17, D18 on the embedded stores, a restart in the middle included: request, row, queue,
/// artifacts, signed webhook, row, artifacts over HTTP.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_goes_the_whole_way() {
    let folder = tempfile::tempdir().unwrap();
    let first = server(folder.path()).await;
    let id = first.created(&des2wf("1:2")).await;
    let jobs = first.jobs(1).await;
    assert_eq!(jobs[0].job_id, id);
    let report = first.worked(&id, jobs[0].attempt).await;
    first.stop().await;

    let second = server(folder.path()).await;
    assert_eq!(second.report(&report).await.json(), json!({"applied": true}));
    assert_eq!(second.report(&report).await.json()["reason"], "repeat");
    let run = second.get(&format!("/v1/generations/{id}")).await.json();
    assert_eq!((&run["status"], &run["score"]), (&json!("completed"), &json!(0.8742)));
    let result = second.get(&format!("/v1/generations/{id}/artifacts/result")).await;
    assert_eq!(result.json(), json!({"name": "Home"}));
    let next = second.send(Call::new("POST", "/v1/generations").token(ANN).json(&des2wf("1:2"))).await;
    assert_eq!(next.status, 201, "the fence is free again");
    second.stop().await;
}

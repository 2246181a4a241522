//! The pages.

use heddle_generation::OrganizationId;
use heddle_server::{Clock, ConfigError, Pages, ServeError, serve};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::harness::{ANN, Answer, BO, Call, Server, config, des2wf, no_workflows, seeded};

async fn open_server() -> Server {
    let mut config = config();
    config.pages = Pages::Open { organization_id: OrganizationId(1) };
    Server::with(config, seeded().await, heddle_exchange::memory::open()).await
}

async fn page(server: &Server, path: &str) -> Answer {
    server.send(Call::new("GET", path)).await
}

fn result() -> Value {
    json!({
        "name": "Home & <b>away</b>",
        "score": {"value": 0.8742, "version": "ds@1.0", "band": "B", "violations": 0.0,
                  "parts": {"text": 1.0, "layout": 0.81, "kit": 0.7, "hierarchy": 0.95, "graphics": null}},
        "text": {"seen": 14, "kept": 14, "lost": [], "unseen": [{"node_id": "9:9"}]},
        "warnings": [{"code": "font_missing", "message": "a stand-in was used", "node_id": "3:4", "count": 7}],
        "selection": [{"node_id": "5:6", "name": "Save", "archetype": "icon_button", "row": "kit/Button", "fit": 0.77}],
    })
}

/// A run's page shows both pictures, the score with its band and parts, the warnings, the times and every artifact,
/// and what comes from outside is text on it.
#[tokio::test]
async fn a_runs_page_shows_everything() {
    let server = open_server().await;
    let mut body = des2wf("1:2");
    body["prompt"] = "<script>alert(1)</script>".into();
    let id = server.created(&body).await;
    let waiting = page(&server, &format!("/runs/{id}")).await.text();
    assert!(waiting.contains("http-equiv=\"refresh\""), "a live run's page looks again by itself");
    let report = server.worked_with(&id, 1, &result(), |_| ()).await;
    server.report(&report).await;

    let answer = page(&server, &format!("/runs/{id}")).await;
    let text = answer.text();
    assert_eq!(answer.status, 200);
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("script"), "{policy}");
    for expected in [
        "Home &amp; &lt;b&gt;away&lt;/b&gt;",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "band B",
        "0.8742",
        "ds@1.0",
        "nothing to measure",
        "font_missing",
        "a stand-in was used",
        "×7",
        "kit/Button",
        "icon button",
        "draw source",
        "12 ms",
        &format!("<img src=\"/runs/{id}/artifacts/source_png\""),
        &format!("<img src=\"/runs/{id}/artifacts/preview_svg\""),
        &format!("href=\"/runs/{id}/artifacts/manifest\""),
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(!text.contains("http-equiv=\"refresh\"") && !text.contains("<script"), "{text}");
    // The times add up, and stand as they came to pass.
    assert!(text.contains("<h2>Time<small>20 ms</small></h2>"), "{text}");
    let stages = ["source", "convert", "draw source", "writing", "another"];
    let places: Vec<_> =
        stages.iter().map(|stage| text.find(&format!("<dt>{stage}</dt>")).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    let picture = page(&server, &format!("/runs/{id}/artifacts/source_png")).await;
    assert_eq!((picture.status, picture.header("content-type")), (200, "image/png"));
    let style = text.split("href=\"/style.css").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(
        page(&server, &format!("/style.css{style}")).await.header("content-type"),
        "text/css; charset=utf-8"
    );
}

#[tokio::test]
async fn a_result_that_can_not_be_read_leaves_the_rest_of_the_page() {
    let server = open_server().await;
    let id = server.created(&des2wf("1:2")).await;
    let report = server.worked_with(&id, 1, &json!(["odd"]), |_| ()).await;
    server.report(&report).await;
    let answer = page(&server, &format!("/runs/{id}")).await;
    assert_eq!(answer.status, 200);
    assert!(answer.text().contains("0.8742") && answer.text().contains("source_png"));

    let lost = Server::with(
        {
            let mut config = config();
            config.pages = Pages::Open { organization_id: OrganizationId(1) };
            config
        },
        server.store.clone(),
        heddle_exchange::memory::open(),
    )
    .await;
    let answer = page(&lost, &format!("/runs/{id}")).await;
    assert_eq!(answer.status, 200);
    assert!(
        answer.text().contains("artifacts can&#39;t be read")
            || answer.text().contains("artifacts can't be read")
    );
}

#[tokio::test]
async fn the_list_shows_runs_and_pages_through_them() {
    let server = open_server().await;
    assert!(page(&server, "/").await.text().contains("No run yet"));
    for node in 0..27 {
        server.created(&des2wf(&format!("1:{node}"))).await;
        server.wait_seconds(1);
    }
    let first = page(&server, "/").await.text();
    assert_eq!(first.matches("class=\"run\"").count(), 25);
    let older = first.split("href=\"/?cursor=").nth(1).unwrap().split('"').next().unwrap();
    let second = page(&server, &format!("/?cursor={older}")).await.text();
    assert_eq!(second.matches("class=\"run\"").count(), 2);
    assert!(second.contains("1:0") && second.contains("1:1"));
    assert!(page(&server, "/?status=failed").await.text().contains("No run is like that"));
    let odd = page(&server, "/?status=odd").await;
    assert_eq!((odd.status, odd.header("content-type")), (422, "text/html; charset=utf-8"));
    assert_eq!(page(&server, "/runs/odd").await.status, 404);
}

/// proves G4: a signed-in visitor sees the token's tenant and no other; the cookie opens the pages and not the API.
#[tokio::test]
async fn visitors_sign_in() {
    let server = Server::start().await;
    let id = server.created(&des2wf("1:2")).await;
    for path in ["/", &format!("/runs/{id}"), &format!("/runs/{id}/artifacts/result")] {
        let answer = page(&server, path).await;
        assert_eq!((answer.status, answer.header("location")), (303, "/sign-in"), "{path}");
    }
    assert_eq!(page(&server, "/sign-in").await.status, 200);
    let sign_in = async |token: &str| {
        let call = Call::new("POST", "/sign-in").header("content-type", "application/x-www-form-urlencoded");
        server.send(call.body(format!("token={token}"))).await
    };
    let refused = sign_in("guess-guess-guess-guess").await;
    assert_eq!((refused.status, refused.header("set-cookie")), (401, ""));
    let answer = sign_in(ANN).await;
    assert_eq!(answer.status, 303);
    let cookie = answer.header("set-cookie");
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains(ANN),
        "{cookie}"
    );
    let cookie = cookie.split(';').next().unwrap();

    let with = |cookie: &str, path: &str| Call::new("GET", path).header("cookie", cookie);
    assert!(server.send(with(cookie, "/")).await.text().contains(&id));
    assert_eq!(server.send(with(&format!("a=b; {cookie}"), &format!("/runs/{id}"))).await.status, 200);
    server.send(with(cookie, "/v1/generations")).await.problem(401, "unauthenticated");
    let value = cookie.split_once('=').unwrap().1;
    server.send(Call::new("GET", "/v1/generations").token(value)).await.problem(401, "unauthenticated");

    let other = sign_in(BO).await;
    let other = other.header("set-cookie").split(';').next().unwrap().to_owned();
    assert_eq!(server.send(with(&other, &format!("/runs/{id}"))).await.status, 404);
    assert!(!server.send(with(&other, "/")).await.text().contains(&id));
    let out = server.send(Call::new("POST", "/sign-out").header("cookie", cookie)).await;
    assert!(out.header("set-cookie").contains("Max-Age=0"));
}

/// Open pages are for this machine: not under another host's name, not on another address.
#[tokio::test]
async fn open_pages_stay_on_this_machine() {
    let server = open_server().await;
    let call = |host: &str| Call::new("GET", "/").header("host", host);
    assert_eq!(server.send(call("localhost:8080")).await.status, 200);
    assert_eq!(server.send(call("evil.example")).await.status, 403);
    assert_eq!(page(&server, "/sign-in").await.status, 303);
    server.send(Call::new("GET", "/v1/generations")).await.problem(401, "unauthenticated");

    let mut config = config();
    config.pages = Pages::Open { organization_id: OrganizationId(1) };
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let refused = serve(
        config,
        seeded().await,
        heddle_exchange::memory::open(),
        no_workflows(),
        Clock::system(),
        listener,
        std::future::ready(()),
    )
    .await;
    assert!(matches!(refused, Err(ServeError::Config(ConfigError::OpenPagesBeyondLoopback { .. }))));
}

#[tokio::test]
async fn impossible_configurations_are_refused() {
    let refused = async |change: fn(&mut heddle_server::Config)| {
        let mut config = config();
        change(&mut config);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let exchange = heddle_exchange::memory::open();
        let ended = serve(
            config,
            seeded().await,
            exchange,
            no_workflows(),
            Clock::system(),
            listener,
            std::future::ready(()),
        )
        .await;
        match ended {
            Err(ServeError::Config(error)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert!(refused(|c| c.webhook_secrets.clear()).await.contains("no webhook secret"));
    assert!(refused(|c| c.edges.clear()).await.contains("no edge"));
    assert!(refused(|c| c.callers[0].token = "short".to_owned()).await.contains("ann is unusable"));
    assert!(refused(|c| c.callers[1].token = c.callers[0].token.clone()).await.contains("same token"));
    let shown = format!("{:?}", config());
    assert!(!shown.contains(ANN) && !shown.contains("MfKQ9"), "secrets stay out of logs: {shown}");
}

/// A request under way when the server is told to stop is answered, and then the server is gone.
#[tokio::test]
async fn a_stop_is_graceful() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let server = Server::start().await;
    let address = server.address;
    let mut slow = tokio::net::TcpStream::connect(address).await.unwrap();
    let body = des2wf("1:2").to_string();
    let head = format!(
        "POST /v1/generations HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {ANN}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    let store = server.store.clone();
    let stopping = tokio::spawn(server.stop());
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(!stopping.is_finished(), "it waits for what is under way");
    slow.write_all(body.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    slow.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 201"), "{}", String::from_utf8_lossy(&answer));
    stopping.await.unwrap();
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    let page = heddle_store::PageRequest { after: None, limit: 5 };
    let runs = store.runs.list(OrganizationId(1), &heddle_store::RunFilter::default(), page).await.unwrap();
    assert_eq!(runs.runs.len(), 1);
}

//! Who is slow, or does nothing at all, keeps nobody else waiting.

use std::time::{Duration, Instant};

use heddle_server::Bounds;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::{ANN, BO, Call, Server, config, seeded};

const MIB: usize = 1024 * 1024;

async fn server(bounds: Bounds) -> Server {
    let mut config = config();
    config.bounds = bounds;
    Server::with(config, seeded().await, heddle_exchange::memory::open()).await
}

/// Opens a connection and writes this much to it.
async fn begun(server: &Server, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream
}

/// What still comes until the server closes.
async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut bytes)).await;
    let _ = read.expect("the server closes the connection");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The head of an upload.
fn upload(token: &str, project: i64, length: usize) -> String {
    format!(
        "PUT /v1/uploads/FILE?project_id={project} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
         content-length: {length}\r\n\r\n"
    )
}

fn whole(token: &str, project: i64, body: impl Into<Vec<u8>>) -> Call {
    Call::new("PUT", &format!("/v1/uploads/FILE?project_id={project}")).token(token).body(body)
}

/// A document of this many bytes.
fn document(bytes: usize) -> Vec<u8> {
    let mut document = b"{}".to_vec();
    document.resize(bytes, b' ');
    document
}

/// Silent, half-said and idle connections are closed, and beyond the most that are served the next one waits for it.
#[tokio::test]
async fn idle_connections_are_closed() {
    let idle = Duration::from_millis(600);
    let server = server(Bounds { connections: 3, idle, ..Bounds::default() }).await;
    let begin = Instant::now();
    let silent = begun(&server, b"").await;
    let half = begun(&server, b"GET /healthz HTTP/1.1\r\nhost: loc").await;
    let mut kept = begun(&server, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let mut buffer = [0; 12];
    kept.read_exact(&mut buffer).await.unwrap();
    assert_eq!(&buffer, b"HTTP/1.1 204");
    // All places are taken: this one waits until they are given back, and then gets through.
    assert_eq!(server.get("/healthz").await.status, 204);
    assert!(begin.elapsed() >= idle, "{:?}", begin.elapsed());
    assert!(!rest(silent).await.contains(" 204"));
    assert!(!rest(half).await.contains(" 204"));
    rest(kept).await;
    assert!(begin.elapsed() < idle * 5, "{:?}", begin.elapsed());
    server.stop().await;
}

/// An answer that nobody takes ends its connection.
#[tokio::test]
async fn an_answer_that_is_not_taken_is_given_up() {
    let stalled = Duration::from_millis(300);
    let server = server(Bounds { connections: 1, stalled, ..Bounds::default() }).await;
    let one = format!("GET /openapi.json HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ANN}\r\n\r\n");
    let mut deaf = TcpStream::connect(server.address).await.unwrap();
    // More answers than the system holds for a reader who doesn't read.
    let requests = one.repeat(2_000);
    let _ = tokio::time::timeout(Duration::from_secs(2), deaf.write_all(requests.as_bytes())).await;
    let answer = tokio::time::timeout(Duration::from_secs(10), server.get("/healthz")).await;
    assert_eq!(answer.expect("the place is given back").status, 204);
    drop(deaf);
    server.stop().await;
}

/// Slow uploads hold no places; those that bring next to nothing are let go.
#[tokio::test]
async fn slow_uploads_block_nobody() {
    let pace = Duration::from_millis(800);
    let server = server(Bounds { upload_pace: pace, ..Bounds::default() }).await;
    let begin = Instant::now();
    let mut slow = Vec::new();
    for _ in 0..20 {
        slow.push(begun(&server, format!("{}{{", upload(ANN, 10, 64 * MIB)).as_bytes()).await);
    }
    for (token, project) in [(BO, 20), (ANN, 10)] {
        assert_eq!(server.send(whole(token, project, document(MIB))).await.status, 200);
    }
    assert!(begin.elapsed() < pace, "nobody had to wait for the slow ones: {:?}", begin.elapsed());
    for stream in slow {
        let answer = rest(stream).await;
        assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("body_too_slow"), "{answer}");
    }
    assert!(begin.elapsed() < pace * 5, "{:?}", begin.elapsed());
}

/// One organization's uploads leave room for another's, and are refused, not kept waiting, where theirs is used up.
#[tokio::test]
async fn an_organization_has_a_budget_of_its_own() {
    let bounds = Bounds {
        upload_bytes: 3 * MIB,
        upload_bytes_each: 2 * MIB,
        upload_wait: Duration::from_millis(200),
        ..Bounds::default()
    };
    let server = server(bounds).await;
    let mut greedy = begun(&server, upload(ANN, 10, 2 * MIB).as_bytes()).await;
    greedy.write_all(&document(2 * MIB - 1)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let refused = server.send(whole(ANN, 10, document(MIB))).await;
    refused.problem(503, "uploads_busy");
    assert_eq!(refused.header("retry-after"), "5");
    assert_eq!(server.send(whole(BO, 20, document(MIB))).await.status, 200);
    // The last byte comes: all of it is kept, and its room is given back.
    greedy.write_all(b" ").await.unwrap();
    let mut buffer = [0; 12];
    greedy.read_exact(&mut buffer).await.unwrap();
    assert_eq!(&buffer, b"HTTP/1.1 200");
    assert_eq!(server.send(whole(ANN, 10, document(2 * MIB))).await.status, 200);
}

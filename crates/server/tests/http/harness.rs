//! A server on a socket, with its rows and its exchange in memory and a clock that stands where it is put.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use heddle_engine::{Engine, Registry, SystemClock, SystemDraw};
use heddle_exchange::Exchange;
use heddle_exchange::keys::{Tenant as TenantKeys, sha256_hex};
use heddle_generation::message::{
    Artifact, Effects, Job, MANIFEST_SCHEMA, Manifest, Outcome, REPORT_SCHEMA, Report, RowEffects,
};
use heddle_generation::{Edge, OrganizationId, ProjectId, TriggerSurface, UserSub};
use heddle_server::{
    Bounds, CallerConfig, Clock, Config, Pages, ServeError, WebhookSecret, Workflows, serve,
};
use heddle_store::workflows::{
    KeyTypes, Schema, TableNames, WorkflowMemory, WorkflowPostgres, WorkflowSqlite, WorkflowStore,
};
use heddle_store::{MemoryStore, Store, TenantSeed};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use uuid::Uuid;

pub const ANN: &str = "token-of-ann-by-the-api";
pub const ANN_PLUGIN: &str = "token-of-ann-by-the-plugin";
pub const BO: &str = "token-of-bo-of-organization-2";
pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

pub struct Server {
    pub address: SocketAddr,
    pub store: Store,
    pub exchange: Exchange,
    now: Arc<Mutex<Timestamp>>,
    stop: Option<oneshot::Sender<()>>,
    pub task: JoinHandle<Result<(), ServeError>>,
}

pub fn config() -> Config {
    let caller = |token: &str, organization_id, user: &str, surface| CallerConfig {
        token: token.to_owned(),
        organization_id: OrganizationId(organization_id),
        user: UserSub::new(user),
        surface,
    };
    Config {
        callers: vec![
            caller(ANN, 1, "ann", TriggerSurface::Api),
            caller(ANN_PLUGIN, 1, "ann", TriggerSurface::Plugin),
            caller(BO, 2, "bo", TriggerSurface::Api),
        ],
        webhook_secrets: vec![WebhookSecret::parse(SECRET).unwrap()],
        service_account: UserSub::new("service"),
        pages: Pages::SignIn { secure_cookie: false },
        edges: vec![Edge::Des2wf, Edge::Wf2des],
        relay_poll: Duration::from_millis(20),
        bounds: Bounds::default(),
    }
}

/// A store with organization 1 (projects 10 and 11) and organization 2 (project 20).
pub async fn seeded() -> Store {
    let store = Store::of(Arc::new(MemoryStore::new()));
    for (organization, projects) in [(1, vec![10, 11]), (2, vec![20])] {
        let tenant = TenantSeed {
            organization: OrganizationId(organization),
            name: String::new(),
            projects: projects.into_iter().map(|id| (ProjectId(id), String::new())).collect(),
            users: ["ann", "bo", "service"].map(UserSub::new).to_vec(),
        };
        store.tenants.ensure_tenant(&tenant, Timestamp::UNIX_EPOCH).await.unwrap();
    }
    store
}

/// An engine without handlers on the machine's clock.
pub fn engine(rows: WorkflowStore) -> Engine {
    let (clock, draw) = (Arc::new(SystemClock), Arc::new(SystemDraw));
    Engine::new(rows, Registry::new(), clock, draw, heddle_engine::Config::default())
}

/// The same over rows in memory.
pub fn workflows(rows: Arc<WorkflowMemory>) -> Workflows {
    Workflows::Ready { engine: Arc::new(engine(WorkflowStore::of(rows))), keys: KeyTypes::default() }
}

/// The same over rows in a file.
pub fn workflows_in_sqlite(folder: &Path, keys: KeyTypes) -> Workflows {
    let path = folder.join("workflows.sqlite");
    let schema = Schema::new(TableNames::default(), keys).unwrap();
    WorkflowSqlite::install(&path, &schema).unwrap();
    let rows = WorkflowStore::of(Arc::new(WorkflowSqlite::open(&path, schema).unwrap()));
    Workflows::Ready { engine: Arc::new(engine(rows)), keys }
}

/// The same over rows in a schema that nobody else has, of the server that `HEDDLE_TEST_POSTGRES` names.
pub async fn workflows_in_postgres(keys: KeyTypes) -> Workflows {
    let server = std::env::var("HEDDLE_TEST_POSTGRES")
        .expect("HEDDLE_TEST_POSTGRES names a PostgreSQL server for tests: `cargo xtask test` starts one");
    let url = format!("{server} options='-c search_path=test_{}'", Uuid::new_v4().simple());
    let schema = Schema::new(TableNames::default(), keys).unwrap();
    WorkflowPostgres::install(&url, &schema).await.unwrap();
    let rows = WorkflowStore::of(Arc::new(WorkflowPostgres::connect(&url, schema).await.unwrap()));
    Workflows::Ready { engine: Arc::new(engine(rows)), keys }
}

pub fn no_workflows() -> Workflows {
    Workflows::NotInstalled { remedy: "install them".to_owned() }
}

impl Server {
    pub async fn start() -> Self {
        Self::with(config(), seeded().await, heddle_exchange::memory::open()).await
    }

    pub async fn with(config: Config, store: Store, exchange: Exchange) -> Self {
        Self::with_workflows(config, store, exchange, workflows(Arc::new(WorkflowMemory::new()))).await
    }

    pub async fn with_workflows(
        config: Config,
        store: Store,
        exchange: Exchange,
        workflows: Workflows,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let now = Arc::new(Mutex::new(Timestamp::from_second(1_800_000_000).unwrap()));
        let clock = Arc::clone(&now);
        let clock = Clock::new(move || *clock.lock().unwrap());
        let (stop, stopped) = oneshot::channel();
        let shutdown = async move { stopped.await.unwrap_or(()) };
        let (rows, objects) = (store.clone(), exchange.clone());
        let task = tokio::spawn(serve(config, rows, objects, workflows, clock, listener, shutdown));
        Self { address, store, exchange, now, stop: Some(stop), task }
    }

    pub async fn stop(mut self) {
        self.stop.take().unwrap().send(()).unwrap();
        tokio::time::timeout(Duration::from_secs(5), self.task).await.unwrap().unwrap().unwrap();
    }

    pub fn now(&self) -> Timestamp {
        *self.now.lock().unwrap()
    }

    pub fn wait_seconds(&self, seconds: i64) {
        let mut now = self.now.lock().unwrap();
        *now = Timestamp::from_microsecond(now.as_microsecond() + seconds * 1_000_000).unwrap();
    }

    pub async fn send(&self, call: Call) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!("{} {} HTTP/1.1\r\nconnection: close\r\n", call.method, call.path);
        if !call.headers.iter().any(|(name, _)| name == "host") {
            head.push_str("host: localhost\r\n");
        }
        for (name, value) in &call.headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        write!(head, "content-length: {}\r\n\r\n", call.body.len()).unwrap();
        let (mut read, mut write) = stream.split();
        let mut answer = Vec::new();
        // A server that refuses a body early closes while it is still being sent: that is no failure.
        let sending = async {
            let _ = write.write_all(head.as_bytes()).await;
            let _ = write.write_all(&call.body).await;
        };
        let receiving = async {
            let _ = read.read_to_end(&mut answer).await;
        };
        tokio::join!(sending, receiving);
        Answer::parse(&answer)
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Call::new("GET", path).token(ANN)).await
    }

    /// Asks for a run and returns its id.
    pub async fn created(&self, body: &Value) -> String {
        let answer = self.send(Call::new("POST", "/v1/generations").token(ANN).json(body)).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// What a worker does with a des2wf run: takes its job, writes artifacts and manifest; returns the report.
    pub async fn worked(&self, id: &str, attempt: u32) -> Report {
        self.worked_with(id, attempt, &json!({"name": "Home"}), |_| ()).await
    }

    pub async fn worked_with(
        &self,
        id: &str,
        attempt: u32,
        result: &Value,
        change: impl FnOnce(&mut Manifest),
    ) -> Report {
        let keys = TenantKeys { organization_id: 1, project_id: 10 }.edge(Edge::Des2wf).job(id);
        let objects = &self.exchange.objects;
        let mut artifacts = BTreeMap::new();
        let svg = br#"<svg xmlns="http://www.w3.org/2000/svg"/>"#.to_vec();
        for (name, file_name, media_type, bytes) in [
            ("result", "result.json", "application/json", result.to_string().into_bytes()),
            ("preview_svg", "preview.svg", "image/svg+xml", svg),
            ("source_png", "source.png", "image/png", b"\x89PNG".to_vec()),
            ("page", "page.html", "text/html", b"<script>alert(1)</script>".to_vec()),
        ] {
            let key = keys.artifact(file_name).unwrap();
            objects.put_fenced(&key, attempt, &bytes, media_type).await.unwrap();
            let artifact = Artifact {
                key: key.into_string(),
                sha256: sha256_hex(&bytes),
                bytes: bytes.len() as u64,
                media_type: media_type.to_owned(),
            };
            artifacts.insert(name.to_owned(), artifact);
        }
        let mut manifest = Manifest {
            schema: MANIFEST_SCHEMA.to_owned(),
            job_id: id.to_owned(),
            attempt,
            edge: Edge::Des2wf,
            artifacts,
            row_effects: Effects {
                wf2des: RowEffects {
                    outcome: Outcome::Completed,
                    result_url: Some(keys.result().into_string()),
                    error_message: None,
                    flag_count: Some(2),
                    score: Some(0.874_21),
                    score_version: Some("ds@1.0".to_owned()),
                },
            },
            timings_ms: [
                ("convert", 12.5),
                ("draw_source", 3.0),
                ("another", 1.0),
                ("writing", 2.0),
                ("source", 1.5),
            ]
            .map(|(stage, ms)| (stage.to_owned(), ms))
            .into(),
            written_at: self.now(),
        };
        change(&mut manifest);
        let bytes = serde_json::to_vec(&manifest).unwrap();
        objects.put_fenced(&keys.manifest(), attempt, &bytes, "application/json").await.unwrap();
        Report {
            schema: REPORT_SCHEMA.to_owned(),
            job_id: id.to_owned(),
            attempt,
            edge: Edge::Des2wf,
            manifest_key: keys.manifest().into_string(),
            manifest_sha256: sha256_hex(&bytes),
        }
    }

    /// Sends a report, signed as it should be.
    pub async fn report(&self, report: &Report) -> Answer {
        self.send(self.signed(report)).await
    }

    pub fn signed(&self, report: &Report) -> Call {
        let body = serde_json::to_vec(report).unwrap();
        let at = self.now().as_second();
        let signature = WebhookSecret::parse(SECRET).unwrap().sign("msg_1", at, &body);
        Call::new("POST", "/internal/ai-status")
            .header("content-type", "application/json")
            .header("webhook-id", "msg_1")
            .header("webhook-timestamp", &at.to_string())
            .header("webhook-signature", &signature)
            .body(body)
    }

    /// The jobs on the queue, taken off it, once there are `count`.
    pub async fn jobs(&self, count: usize) -> Vec<Job> {
        let mut jobs = Vec::new();
        while jobs.len() < count {
            let queue = &self.exchange.queue;
            let delivery = queue.receive(Duration::from_secs(60), Duration::from_secs(5)).await.unwrap();
            let delivery = delivery.expect("a job within five seconds");
            jobs.push(serde_json::from_slice(&delivery.body).unwrap());
            queue.acknowledge(&delivery.receipt).await.unwrap();
        }
        jobs
    }
}

/// A body that asks for a des2wf run in project 10.
pub fn des2wf(node: &str) -> Value {
    json!({"edge": "des2wf", "project_id": 10, "figma_file_key": "FILE", "wf_node_id": node})
}

pub struct Call {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Call {
    pub fn new(method: &str, path: &str) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
}

pub struct Answer {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("an answer with a head");
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        Self { status, headers, body: bytes[end + 4..].to_vec() }
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.text()))
    }

    /// Asserts a problem and returns it. proves G17: each has the media type, the status and a stable code.
    #[track_caller]
    pub fn problem(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem = self.json();
        assert_eq!((problem["status"].as_u64(), problem["code"].as_str()), (Some(status.into()), Some(code)));
        assert_eq!(problem["type"], format!("urn:heddle:problem:{code}"));
        assert!(problem["title"].is_string());
        problem
    }

    /// Asserts that the request was invalid, and returns `field code` of each error.
    #[track_caller]
    pub fn invalid(&self) -> Vec<String> {
        let problem = self.problem(422, "invalid_request");
        let errors = problem["errors"].as_array().unwrap().iter();
        errors.map(|e| format!("{} {}", e["field"].as_str().unwrap(), e["code"].as_str().unwrap())).collect()
    }
}

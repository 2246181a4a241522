//! What the tests stand a worker on: a converter whose source says what it does, a backend that keeps rows as the
//! real one does, and jobs.

#![allow(dead_code, clippy::unwrap_used, reason = "each test uses its part, and fails by panicking")]

mod watchdog;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use heddle_exchange::keys::{Tenant, sha256_hex};
use heddle_exchange::{Collections, Delivery, Exchange, ExchangeError, Queue};
use heddle_generation::message::{JOB_SCHEMA, Job, JobPhase, Manifest, Report, Source};
use heddle_generation::{Edge, read_manifest};
use heddle_worker::pipeline::{
    ArtifactFile, Conversion, ConversionError, ConversionInput, Converter, SweepInput, Swept,
};
use heddle_worker::{Answer, ReportError, Reporter, Settings, SourceBytes, SourceError, Sources, Worker};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

pub const TENANT: Tenant = Tenant { organization_id: 1, project_id: 7 };

pub fn job(job_id: &str, attempt: u32) -> Job {
    Job {
        schema: JOB_SCHEMA.to_owned(),
        job_id: job_id.to_owned(),
        attempt,
        edge: Edge::Des2wf,
        phase: JobPhase::Parse,
        organization_id: 1,
        project_id: 7,
        figma_file_key: "file".to_owned(),
        wf_node_id: "12:34".to_owned(),
        screen_id: "12:34".to_owned(),
        prompt: None,
        placement_target: None,
        auto_confirm: false,
        source: Source::Figma,
        run_created_at: None,
    }
}

pub async fn send(exchange: &Exchange, message: &impl serde::Serialize) {
    exchange.queue.send(&serde_json::to_vec(message).unwrap(), Duration::ZERO).await.unwrap();
}

/// Does what its source says: `{"do": "convert" | "refuse" | "unavailable" | "panic" | "sleep", …}`.
#[derive(Default)]
pub struct FakeConverter {
    pub calls: AtomicUsize,
    pub at_once: AtomicUsize,
    pub most_at_once: AtomicUsize,
    /// How many were told that nobody waits for them.
    pub cancelled: AtomicUsize,
    /// The version of both the conversion and the sweep.
    pub version: Mutex<u32>,
}

impl Converter for FakeConverter {
    fn convert(&self, input: ConversionInput<'_>) -> Result<Conversion, ConversionError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let at_once = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(at_once, Ordering::SeqCst);
        let source: Value = serde_json::from_slice(&input.source.bytes).unwrap();
        if let Some(ms) = source["sleep_ms"].as_u64() {
            std::thread::sleep(Duration::from_millis(ms));
        }
        if input.cancel.is_cancelled() {
            self.cancelled.fetch_add(1, Ordering::SeqCst);
        }
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        match source["do"].as_str() {
            Some("refuse") => {
                return Err(ConversionError::Refused {
                    code: "no_such_node",
                    message: format!("There is no node {} in this file.", input.job.wf_node_id),
                    source: Some("the reader's own words".into()),
                });
            }
            Some("unavailable") => {
                return Err(ConversionError::Unavailable {
                    attempted: "think".to_owned(),
                    source: "not now".into(),
                });
            }
            Some("panic") => panic!("a planned panic"),
            _ => {}
        }
        let kit: Vec<_> = input.kit_documents.iter().map(|entry| entry["name"].clone()).collect();
        let masters: Vec<_> = input
            .kit_documents
            .iter()
            .filter_map(|entry| entry["lineage"]["source_hash"].as_str())
            .map(|hash| input.libraries.library(hash).map(|found| found.map(|bytes| bytes.len())))
            .collect::<Result<_, _>>()?;
        let result =
            json!({ "kit": kit, "masters": masters, "node": input.job.wf_node_id, "source": source });
        let fill = source["fill"].as_u64().unwrap_or(0) as usize;
        let file = |file_name: &str, bytes: Vec<u8>, media_type| ArtifactFile {
            file_name: file_name.to_owned(),
            bytes,
            media_type,
        };
        Ok(Conversion {
            artifacts: vec![
                file("parse.json", b"{}".to_vec(), "application/json"),
                file("result.json", serde_json::to_vec(&result).unwrap(), "application/json"),
                file("preview.svg", b"<svg/>".to_vec(), "image/svg+xml"),
            ],
            source_hash: sha256_hex(&input.source.bytes),
            snapshot: input.source.bytes.clone(),
            result_document: result,
            wireframe_document: Some(json!({
                "based_on": 1, "type": 0, "memos": [], "fill": "x".repeat(fill),
            })),
            score: Some((0.875, "ds@1.0".to_owned())),
            flag_count: Some(2),
            timings_ms: BTreeMap::from([("parse".to_owned(), 1.5)]),
            warnings: 0,
        })
    }

    /// The library is a list of entries.
    fn sweep(&self, input: SweepInput<'_>) -> Result<Swept, ConversionError> {
        let refused = |message: &str| {
            let message = message.to_owned();
            ConversionError::Refused { code: "bad", message, source: None }
        };
        let entries: Vec<Value> =
            serde_json::from_slice(input.bytes).map_err(|error| refused(&error.to_string()))?;
        let entry = |mut entry: Value| {
            if !entry.is_object() {
                return Err(refused("an entry is an object"));
            }
            let node_id = entry["component_node_id"].as_str().unwrap_or_default();
            let key = entry["component_key"].as_str();
            let id = input.target.document_id(input.project_id, key, input.file_key, node_id);
            entry["_id"] = json!(id);
            entry["project_id"] = json!(input.project_id);
            entry["lineage"] = json!({
                "source_file": input.file_key, "source_hash": input.source_hash,
                "processor_version": self.sweep_version(),
            });
            Ok(entry)
        };
        let entries = entries.into_iter().map(entry).collect::<Result<_, _>>()?;
        Ok(Swept { entries, warnings: vec![json!({ "message": "odd" })] })
    }

    fn version(&self) -> String {
        format!("fake {}", self.version.lock().unwrap())
    }

    fn sweep_version(&self) -> String {
        format!("fake sweep {}", self.version.lock().unwrap())
    }
}

/// Documents by file key.
#[derive(Default)]
pub struct FakeSources(pub Mutex<HashMap<String, Value>>);

impl FakeSources {
    pub fn with(file_key: &str, document: Value) -> Arc<Self> {
        Arc::new(Self(Mutex::new(HashMap::from([(file_key.to_owned(), document)]))))
    }
}

#[async_trait]
impl Sources for FakeSources {
    async fn document(&self, job: &Job) -> Result<SourceBytes, SourceError> {
        match self.0.lock().unwrap().get(&job.figma_file_key) {
            Some(document) => {
                Ok(SourceBytes { bytes: serde_json::to_vec(document).unwrap(), origin: "a file".to_owned() })
            }
            None => Err(SourceError::Unusable { message: "There is no such file.".to_owned() }),
        }
    }
}

/// Keeps rows as the backend does: one end for each run, from the attempt that the row is at.
pub struct FakeBackend {
    pub exchange: Exchange,
    /// Run → its attempt.
    pub rows: Mutex<HashMap<String, u32>>,
    /// What was applied, in order.
    pub applied: Mutex<Vec<(String, Manifest)>>,
    pub reports: AtomicUsize,
    pub unreachable: Mutex<u32>,
}

impl FakeBackend {
    pub fn new(exchange: &Exchange) -> Arc<Self> {
        Arc::new(Self {
            exchange: exchange.clone(),
            rows: Mutex::default(),
            applied: Mutex::default(),
            reports: AtomicUsize::new(0),
            unreachable: Mutex::new(0),
        })
    }

    pub fn applied_once(&self) -> Manifest {
        let applied = self.applied.lock().unwrap();
        assert_eq!(applied.len(), 1, "exactly one application");
        applied[0].1.clone()
    }
}

#[async_trait]
impl Reporter for FakeBackend {
    async fn report(&self, report: &Report) -> Result<Answer, ReportError> {
        self.reports.fetch_add(1, Ordering::SeqCst);
        {
            let mut unreachable = self.unreachable.lock().unwrap();
            if *unreachable > 0 {
                *unreachable -= 1;
                return Err(ReportError::Unreachable { source: "down".into() });
            }
        }
        let manifest =
            self.exchange.objects.get(&report.manifest_key).await.unwrap().expect("the manifest is there");
        assert_eq!(sha256_hex(&manifest), report.manifest_sha256);
        let manifest = read_manifest(&manifest).unwrap();
        for artifact in manifest.artifacts.values() {
            let bytes =
                self.exchange.objects.get(&artifact.key).await.unwrap().expect("the artifact is there");
            assert_eq!((sha256_hex(&bytes), bytes.len() as u64), (artifact.sha256.clone(), artifact.bytes));
        }
        let expected = self.rows.lock().unwrap().get(&report.job_id).copied().unwrap_or(1);
        let mut applied = self.applied.lock().unwrap();
        if report.attempt != expected {
            return Ok(Answer { applied: false, reason: Some("superseded".to_owned()) });
        }
        if applied.iter().any(|(job_id, _)| *job_id == report.job_id) {
            return Ok(Answer { applied: false, reason: Some("repeat".to_owned()) });
        }
        applied.push((report.job_id.clone(), manifest));
        Ok(Answer { applied: true, reason: None })
    }
}

/// A queue from which messages can be stolen: their holders find them lost.
#[derive(Default)]
pub struct Thief(std::sync::OnceLock<Arc<dyn Queue>>, std::sync::atomic::AtomicBool);

impl Thief {
    pub fn steal(&self) {
        self.1.store(true, Ordering::SeqCst);
    }

    fn inner(&self) -> &Arc<dyn Queue> {
        self.0.get_or_init(|| heddle_exchange::memory::open().queue)
    }
}

#[async_trait]
impl Queue for Thief {
    async fn send(&self, body: &[u8], delay: Duration) -> Result<(), ExchangeError> {
        self.inner().send(body, delay).await
    }
    async fn receive(&self, visibility: Duration, wait: Duration) -> Result<Option<Delivery>, ExchangeError> {
        self.inner().receive(visibility, wait).await
    }
    async fn extend(&self, receipt: &str, visibility: Duration) -> Result<bool, ExchangeError> {
        Ok(!self.1.load(Ordering::SeqCst) && self.inner().extend(receipt, visibility).await?)
    }
    async fn acknowledge(&self, receipt: &str) -> Result<bool, ExchangeError> {
        Ok(!self.1.load(Ordering::SeqCst) && self.inner().acknowledge(receipt).await?)
    }
    async fn depth(&self) -> Result<u64, ExchangeError> {
        self.inner().depth().await
    }
}

pub struct House {
    _watchdog: watchdog::Watchdog,
    pub exchange: Exchange,
    pub converter: Arc<FakeConverter>,
    pub sources: Arc<FakeSources>,
    pub backend: Arc<FakeBackend>,
    pub settings: Settings,
}

impl House {
    /// In memory, with one file that says `document`, and a kit of one component.
    pub async fn new(document: Value) -> Self {
        Self::on(heddle_exchange::memory::open(), document).await
    }

    pub async fn on(exchange: Exchange, document: Value) -> Self {
        let kit = json!({ "project_id": 7, "name": "Button", "component_node_id": "1:1" });
        exchange.documents.put("wireframe_component", "7_button", kit).await.unwrap();
        Self {
            _watchdog: watchdog::Watchdog::start(),
            backend: FakeBackend::new(&exchange),
            converter: Arc::default(),
            sources: FakeSources::with("file", document),
            settings: Settings { visibility: Duration::from_secs(60), ..Settings::default() },
            exchange,
        }
    }

    pub fn worker(&self) -> Worker {
        Worker::new(
            self.exchange.clone(),
            Collections::default(),
            self.converter.clone(),
            self.sources.clone(),
            self.backend.clone(),
            self.settings,
        )
    }

    /// Everything that a run leaves behind, without the times in it.
    pub async fn left_behind(&self, job_id: &str) -> BTreeMap<String, Value> {
        let mut left = BTreeMap::new();
        let key = TENANT.edge(Edge::Des2wf).job(job_id).manifest();
        if let Some(bytes) = self.exchange.objects.get(&key).await.unwrap() {
            let manifest = read_manifest(&bytes).unwrap();
            for (name, artifact) in &manifest.artifacts {
                let bytes = self.exchange.objects.get(&artifact.key).await.unwrap().unwrap();
                left.insert(name.clone(), json!([artifact, String::from_utf8(bytes).unwrap()]));
            }
            let stages: Vec<_> = manifest.timings_ms.keys().collect();
            left.insert("manifest".to_owned(), json!([manifest.row_effects, manifest.attempt, stages]));
        }
        for (collection, id) in [("des2wf_generation_result", job_id), ("wireframe", "7_file_12:34~des2wf")] {
            if let Some(document) = self.exchange.documents.get(collection, id).await.unwrap() {
                left.insert(collection.to_owned(), document);
            }
        }
        left
    }
}

/// A minimal HTTP/1.1 server on a port of its own: one answer after another, the last one for ever.
pub struct FakeHttp {
    pub url: String,
    pub requests: Arc<Mutex<Vec<HttpRequest>>>,
}

#[derive(Debug, Clone)]
pub struct HttpRequest {
    pub line: String,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl FakeHttp {
    pub async fn start(answers: Vec<(u16, &'static str)>) -> Self {
        Self::start_pointing(answers, "http://127.0.0.1:1/elsewhere").await
    }

    /// The same with a `location` in every answer.
    pub async fn start_pointing(answers: Vec<(u16, &'static str)>, location: &str) -> Self {
        let location = location.to_owned();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<HttpRequest>>> = Arc::default();
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut answers = answers.into_iter().peekable();
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut bytes = Vec::new();
                let request = loop {
                    let mut buffer = [0; 4096];
                    let read = stream.read(&mut buffer).await.unwrap_or(0);
                    bytes.extend_from_slice(&buffer[..read]);
                    if let Some(request) = parse(&bytes) {
                        break Some(request);
                    }
                    if read == 0 {
                        break None;
                    }
                };
                let Some(request) = request else { continue };
                seen.lock().unwrap().push(request);
                let (status, body) = *answers.peek().unwrap();
                if answers.len() > 1 {
                    answers.next();
                }
                let answer = format!(
                    "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\nlocation: {location}\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self { url, requests }
    }
}

fn parse(bytes: &[u8]) -> Option<HttpRequest> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap().to_owned();
    let headers: HashMap<_, _> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let body = bytes[end + 4..].to_vec();
    (body.len() >= length).then_some(HttpRequest { line, headers, body })
}

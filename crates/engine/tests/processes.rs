//! Real processes on one file, killed at random with SIGKILL. `HEDDLE_KILL_SECONDS=120` does it for as long.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use heddle_engine::{
    Config, Context, Engine, Flow, Registry, Request, SeededDraw, StepError, SystemClock, SystemDraw,
};
use heddle_store::workflows::{Schema, WorkflowSqlite, WorkflowStore};
use heddle_workflow::{SCHEMA_VERSION, Status};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// Says to this same program, started again, that it is a node, and where its files are.
const NODE: &str = "HEDDLE_TEST_NODE";
const NODES: usize = 3;
const INSTANCES: usize = 40;
const STEPS: usize = 8;

fn engine(folder: &Path) -> Engine {
    let store = WorkflowSqlite::open(&folder.join("workflows.sqlite"), Schema::default()).unwrap();
    let effects = folder.join("effects");
    let registry = Registry::new().action("effect", move |n: u64, call: Context| {
        let file = effects.join(call.idempotency_key.replace(':', "_"));
        async move {
            tokio::time::sleep(Duration::from_millis(5 + n % 5)).await;
            // One line a run: what the outside would know the effect by is the file's name.
            let mut file = OpenOptions::new().create(true).append(true).open(file)?;
            writeln!(file, "{}", call.step.attempt)?;
            Ok::<_, StepError>(Flow::Done(n + 1))
        }
    });
    let config = Config { lease: SignedDuration::from_secs(2), concurrency: 8, ..Config::default() };
    Engine::new(
        WorkflowStore::of(Arc::new(store)),
        registry,
        Arc::new(SystemClock),
        Arc::new(SystemDraw),
        config,
    )
}

/// Not a test of its own: what a node's process does, for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node() {
    if let Some(folder) = std::env::var_os(NODE) {
        Arc::new(engine(&PathBuf::from(folder))).run(std::future::pending()).await;
    }
}

/// A node's process, which doesn't outlive the test.
struct Process(Child);

impl Process {
    fn start(folder: &Path) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_node", "--quiet"])
            .env(NODE, folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SIGKILL; one that is dead already is as dead as it needs to be.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn document() -> Value {
    let mut nodes = vec![json!({"id": "start", "type": "trigger"})];
    let mut edges = Vec::new();
    let (mut last, mut input) = ("start".to_owned(), "{{ trigger }}".to_owned());
    for step in 0..STEPS {
        let id = format!("step_{step}");
        nodes.push(json!({"id": id, "type": "action", "config": {"handler": "effect", "input": input}}));
        edges.push(json!({"from": last, "to": id}));
        input = format!("{{{{ steps.{id}.output }}}}");
        last = id;
        if step == STEPS / 2 {
            nodes.push(json!({"id": "nap", "type": "delay", "config": {"duration": "300ms"}}));
            edges.push(json!({"from": last, "to": "nap"}));
            "nap".clone_into(&mut last);
        }
    }
    nodes.push(json!({"id": "end", "type": "end", "config": {"output": input}}));
    edges.push(json!({"from": last, "to": "end"}));
    json!({"schema_version": SCHEMA_VERSION, "nodes": nodes, "edges": edges})
}

/// proves W16, W17, W33: whoever is killed, wherever it is, every instance ends well, no step is left out, and no more
/// runs twice than was in the hands of those who were killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_processes_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("effects")).unwrap();
    WorkflowSqlite::install(&folder.path().join("workflows.sqlite"), &Schema::default()).unwrap();
    // This one only starts and looks; it works on nothing.
    let client = engine(folder.path());
    client.publish("test", &document()).await.unwrap();
    let mut nodes: Vec<Process> = (0..NODES).map(|_| Process::start(folder.path())).collect();
    let mut ids = Vec::new();
    let seconds = std::env::var("HEDDLE_KILL_SECONDS").ok().map_or(4, |text| text.parse().expect("a number"));
    let (until, draw) = (Instant::now() + Duration::from_secs(seconds), SeededDraw::new(7));
    let mut killed = 0;
    while Instant::now() < until {
        // There is always enough to do.
        for _ in 0..INSTANCES {
            ids.push(client.start(Request::new("test", json!(ids.len()))).await.unwrap());
        }
        tokio::time::sleep(Duration::from_millis(100 + draw.next() % 400)).await;
        let node = draw.next() as usize % NODES;
        nodes[node] = Process::start(folder.path());
        killed += 1;
    }
    let wait = async {
        for (n, id) in ids.iter().enumerate() {
            let state = client.end(id).await.unwrap();
            assert_eq!(state.life.status(), Status::Completed, "{:?}", state.life);
            assert_eq!(state.steps[&format!("step_{}", STEPS - 1)]["output"], json!(n + STEPS));
        }
    };
    tokio::time::timeout(Duration::from_secs(90), wait).await.expect("every instance ends");
    let mut runs = BTreeMap::new();
    for entry in fs::read_dir(folder.path().join("effects")).unwrap() {
        let entry = entry.unwrap();
        let lines = fs::read_to_string(entry.path()).unwrap().lines().count();
        runs.insert(entry.file_name(), lines);
    }
    assert_eq!(runs.len(), ids.len() * STEPS, "one effect for each step, under its key");
    let repeats: usize = runs.values().map(|runs| runs - 1).sum();
    assert!(repeats <= killed * 8, "{repeats} repeats after {killed} kills of 8 steps in flight each");
    println!("{} instances, {killed} kills, {repeats} repeats", ids.len());
}

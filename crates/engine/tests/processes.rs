//! Real processes on one database, killed at random with SIGKILL. `HEDDLE_KILL_SECONDS=120` does it for as long.
//! `HEDDLE_TEST_POSTGRES` says where a server is in which tests may make schemas; `cargo xtask test` starts one.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use heddle_engine::{
    Config, Context, Engine, Flow, Registry, Request, SeededDraw, StepError, SystemClock, SystemDraw,
};
use heddle_store::workflows::{Schema, WorkflowPostgres, WorkflowSqlite, WorkflowStore};
use heddle_workflow::{SCHEMA_VERSION, Status, StepStatus};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// Says to this same program, started again, that it is a node, where its files are, and on which database it works.
const NODE: &str = "HEDDLE_TEST_NODE";
const DATABASE: &str = "HEDDLE_TEST_NODE_DATABASE";
const INSTANCES: usize = 40;
const STEPS: usize = 8;
/// How many steps a node has in its hands at most.
const HANDS: usize = 8;

/// Where nodes work.
struct Place {
    /// The outside: a file for every effect.
    folder: PathBuf,
    /// A connection string; where there is none, a file in the folder is the database.
    postgres: Option<String>,
}

impl Place {
    fn file(&self) -> PathBuf {
        self.folder.join("workflows.sqlite")
    }

    async fn install(&self) {
        fs::create_dir(self.folder.join("effects")).unwrap();
        match &self.postgres {
            Some(url) => WorkflowPostgres::install(url, &Schema::default()).await.unwrap(),
            None => WorkflowSqlite::install(&self.file(), &Schema::default()).unwrap(),
        }
    }

    async fn store(&self) -> WorkflowStore {
        match &self.postgres {
            Some(url) => {
                WorkflowStore::of(Arc::new(WorkflowPostgres::connect(url, Schema::default()).await.unwrap()))
            }
            None => {
                WorkflowStore::of(Arc::new(WorkflowSqlite::open(&self.file(), Schema::default()).unwrap()))
            }
        }
    }
}

async fn engine(place: &Place) -> Engine {
    let effects = place.folder.join("effects");
    let registry = Registry::new().action("effect", move |n: u64, call: Context| {
        let file = effects.join(call.idempotency_key.replace(':', "_"));
        async move {
            tokio::time::sleep(Duration::from_millis(5 + n % 5)).await;
            // One line a run: what the outside would know the effect by is the file's name.
            let mut file = OpenOptions::new().create(true).append(true).open(file)?;
            writeln!(file, "{}", call.step.attempt)?;
            // And one row, whoever writes it: all who come later get what the first one wrote.
            let attempt = call.step.attempt;
            let first: u16 = call.once(call.step.node.as_str(), || async move { Ok(attempt) }).await?;
            assert!(first <= attempt);
            Ok::<_, StepError>(Flow::Done(n + 1))
        }
    });
    let config = Config { lease: SignedDuration::from_secs(2), concurrency: HANDS, ..Config::default() };
    Engine::new(place.store().await, registry, Arc::new(SystemClock), Arc::new(SystemDraw), config)
}

/// Not a test of its own: what a node's process does, for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node() {
    if let Some(folder) = std::env::var_os(NODE) {
        let place = Place { folder: folder.into(), postgres: std::env::var(DATABASE).ok() };
        Arc::new(engine(&place).await).run(std::future::pending()).await;
    }
}

/// A node's process, which doesn't outlive the test.
struct Process(Child);

impl Process {
    fn start(place: &Place) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "a_node", "--quiet"]).env(NODE, &place.folder);
        command.env_remove(DATABASE).envs(place.postgres.iter().map(|url| (DATABASE, url)));
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
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

/// proves W16, W17, W33
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_processes_lose_nothing_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    killed(&Place { folder: folder.path().to_owned(), postgres: None }, 3).await;
}

/// proves W16, W17, W33
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_processes_lose_nothing_on_postgres() {
    let folder = tempfile::tempdir().unwrap();
    killed(&Place { folder: folder.path().to_owned(), postgres: Some(common::fresh_database()) }, 4).await;
}

/// Whoever is killed, wherever it is, every instance ends well, no step is left out, each effect has one row, and no more
/// runs twice than was in the hands of those who were killed.
async fn killed(place: &Place, count: usize) {
    place.install().await;
    // This one only starts and looks; it works on nothing.
    let client = engine(place).await;
    client.publish("test", &document()).await.unwrap();
    let mut nodes: Vec<Process> = (0..count).map(|_| Process::start(place)).collect();
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
        let node = draw.next() as usize % count;
        nodes[node] = Process::start(place);
        killed += 1;
    }
    let store = place.store().await;
    let wait = async {
        for (n, id) in ids.iter().enumerate() {
            let state = client.end(id).await.unwrap();
            assert_eq!(state.life.status(), Status::Completed, "{:?}", state.life);
            assert_eq!(state.steps[&format!("step_{}", STEPS - 1)]["output"], json!(n + STEPS));
        }
    };
    tokio::time::timeout(Duration::from_secs(90), wait).await.expect("every instance ends");
    let mut runs = BTreeMap::new();
    for entry in fs::read_dir(place.folder.join("effects")).unwrap() {
        let entry = entry.unwrap();
        let lines = fs::read_to_string(entry.path()).unwrap().lines().count();
        runs.insert(entry.file_name(), lines);
    }
    assert_eq!(runs.len(), ids.len() * STEPS, "one effect for each step, under its key");
    let repeats: usize = runs.values().map(|runs| runs - 1).sum();
    assert!(
        repeats <= killed * HANDS,
        "{repeats} repeats after {killed} kills of {HANDS} steps in flight each"
    );
    let mut steps = 0;
    for id in &ids {
        steps += store
            .turns
            .load(id)
            .await
            .unwrap()
            .unwrap()
            .rows
            .steps
            .iter()
            .filter(|step| step.node_type == "action" && step.status == StepStatus::Completed)
            .count();
    }
    assert_eq!(steps, ids.len() * STEPS, "each step has ended once");
    println!("{} instances, {killed} kills, {repeats} repeats", ids.len());
}

//! The program as people and scripts run it.

#![allow(dead_code, clippy::unwrap_used, reason = "each test uses its part, and fails by panicking")]

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The program, with none of this process's settings.
pub fn heddle(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("HEDDLE_") || name.ends_with("_TABLE_NAME") || name == "DEFAULT_ORGANIZATION_ID" {
            command.env_remove(name);
        }
    }
    command.current_dir(data).arg("--data").arg(data.join("data")).stdin(Stdio::null());
    command
}

pub fn run(data: &Path, args: &[&str]) -> Output {
    heddle(data).args(args).output().unwrap()
}

/// Runs it, expects this exit code, and gives its stdout.
pub fn expect(data: &Path, args: &[&str], code: i32) -> String {
    let output = run(data, args);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}\nstderr: {error}");
    String::from_utf8(output.stdout).unwrap()
}

pub fn json(data: &Path, args: &[&str]) -> Value {
    let mut args = args.to_vec();
    args.push("--json");
    serde_json::from_str(&expect(data, &args, 0)).unwrap()
}

pub fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(name).canonicalize().unwrap()
}

/// A process that is killed when the test is done with it.
pub struct Running {
    pub child: Child,
    pub url: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// `heddle serve` on a free port; returns once it says where it is.
    pub fn serve(data: &Path, args: &[&str]) -> Self {
        let mut child = heddle(data)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.is_empty() {
            let mut error = String::new();
            child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
            panic!("no server: {error}");
        }
        forward(child.stderr.take().unwrap());
        Self { child, url: line.trim().to_owned() }
    }

    /// `heddle worker` for a server.
    pub fn worker(data: &Path, url: &str, args: &[&str]) -> Self {
        let mut child = heddle(data)
            .args(["worker", "--backend", url])
            .args(args)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        forward(child.stderr.take().unwrap());
        Self { child, url: url.to_owned() }
    }

    pub fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    pub fn exit_code_within(&mut self, limit: Duration) -> Option<i32> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(begun.elapsed() < limit, "still running after {limit:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// What a process says, as part of what the test says.
fn forward(stderr: impl Read + Send + 'static) {
    std::thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            eprintln!("| {line}");
        }
    });
}

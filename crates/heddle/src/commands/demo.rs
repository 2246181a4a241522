//! `heddle demo`: the whole way, on this machine, with the samples that are built in.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use heddle_exchange::keys::Tenant;
use heddle_exchange::registry::Target;
use heddle_worker::conversion::Des2wf;
use heddle_worker::sweep::{SweepReport, SweepRequest, sweep};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::serve::House;
use super::work::limits;
use crate::client::Client;
use crate::config::{Config, ConfigArgs, Overrides, PagesMode, Project};
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::{figma, local, output, samples};

/// The project that the samples are registered for.
const PROJECT: i64 = 1;
/// File keys of the samples.
const SCREENS: &str = "screens";
/// Tells a folder that a demo may empty.
const MARKER: &str = ".heddle-demo";
/// A run of a sample takes well under a second; a slow machine may take a while.
const PATIENCE: Duration = Duration::from_secs(300);

/// Start Heddle on the built-in samples and turn their screens into wireframes.
///
/// Registers the sample wireframe kit and design system, asks over HTTP for a wireframe of every sample screen, writes
/// the pictures, and goes on serving the page on which all of it can be seen.
#[derive(Args)]
pub struct Demo {
    /// Stop when the runs are done.
    #[arg(long)]
    once: bool,
    /// Keep stores and pictures here; emptied at each start.
    #[arg(long, value_name = "DIR", default_value = "demo")]
    dir: PathBuf,
    /// Listen here [env: `HEDDLE_LISTEN`] [default: 127.0.0.1:7345]; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

/// A run of the demo, at its end.
#[derive(Debug, Serialize)]
struct Ended {
    id: String,
    name: String,
    node_id: String,
    status: String,
    score: Option<f64>,
    band: Option<String>,
    flag_count: Option<u64>,
    strings_seen: Option<u64>,
    strings_kept: Option<u64>,
    components: Option<u64>,
    milliseconds: u64,
    error: Option<String>,
    page: String,
    source_png: Option<PathBuf>,
    wireframe_png: Option<PathBuf>,
}

impl Demo {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let overrides =
            Overrides { listen: self.listen, pages: Some(PagesMode::Open), ..Overrides::default() };
        let mut config = config.with(overrides).load()?;
        if self.once && self.listen.is_none() {
            // Nobody is to look at it: any port will do.
            config.listen.set_port(0);
        }
        let folder = prepare(&self.dir)?;
        config.data = folder.join("data");
        config.figma_files = Some(folder.join("figma"));
        config.projects = vec![Project {
            id: PROJECT,
            name: "Samples".to_owned(),
            organization_id: config.default_organization_id,
        }];
        config.backend = None;
        config.callers = Vec::new();
        config.token = None;

        local::run(async {
            let mut progress = terminal.progress();
            progress.at("registering the wireframe kit and the design system");
            for report in register(&config).await? {
                terminal.say(&format!("Registered {} {} components.", report.entries, report.target));
            }
            let limits = limits(&config);
            let frames = figma::frames(&figma::document(Path::new(SCREENS), samples::SCREENS, &limits)?);
            let data = config.data.clone();
            let house = House::open(config).await?;
            let url = house.url.clone();
            let (stop, stopped) = oneshot::channel::<()>();
            let serving = tokio::spawn(house.run(true, async move {
                let _ = stopped.await;
            }));
            progress.at("asking for wireframes");
            let client = Client::at(&url, &data)?;
            let pictures = folder.join("pictures");
            let server = url.clone();
            let asking = tokio::task::spawn_blocking(move || {
                let ended = runs(&client, &server, &frames, &pictures, &mut progress);
                drop(progress);
                ended
            });
            let ended =
                asking.await.map_err(|error| Failure::new("the demo broke down").because(error))??;
            terminal.result(&json!({"url": url, "runs": ended}), || describe(&url, &ended))?;
            let all_well = ended.iter().all(|run| run.status == "completed");
            if !self.once {
                terminal.say(&format!("\nOpen {url} to see them side by side. Ctrl-C stops."));
                local::asked_to_stop().await;
            }
            let _ = stop.send(());
            serving.await.map_err(|error| Failure::new("the server broke down").because(error))??;
            Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        })
    }
}

/// An empty folder, with the samples as Figma files in it.
fn prepare(dir: &Path) -> Result<PathBuf, Failure> {
    let cannot =
        |error: std::io::Error| Failure::new(format!("could not set up {}", dir.display())).because(error);
    if dir.exists() {
        let is_empty = dir.read_dir().map_err(cannot)?.next().is_none();
        if !is_empty && !dir.join(MARKER).exists() {
            return Err(Failure::usage(format!("{} is not empty, and no demo made it", dir.display()))
                .hint("Name another folder with --dir."));
        }
        for name in ["data", "figma", "pictures"] {
            match std::fs::remove_dir_all(dir.join(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(cannot(error)),
                _ => {}
            }
        }
    }
    output::all(dir, &[(MARKER, b"Made by `heddle demo`, which empties this folder when it starts.\n")])?;
    output::all(&dir.join("figma"), &[("screens.json", samples::SCREENS)])?;
    dir.canonicalize().map_err(cannot)
}

async fn register(config: &Config) -> Result<Vec<SweepReport>, Failure> {
    let exchange = local::exchange(&config.data)?;
    let converter = Arc::new(Des2wf { limits: limits(config) });
    let mut reports = Vec::new();
    for (target, file_key, bytes) in [
        (Target::Kit, "wireframe-kit", samples::WIREFRAME_KIT),
        (Target::Design, "design-system", samples::DESIGN_SYSTEM),
    ] {
        let tenant = Tenant { organization_id: config.default_organization_id, project_id: PROJECT };
        let bytes = bytes.to_vec();
        let request =
            SweepRequest { target, tenant, file_key: file_key.to_owned(), bytes, alone: false, again: false };
        let converter = Arc::clone(&converter);
        let swept = sweep(&exchange, &config.collections, converter, request, Timestamp::now()).await;
        reports.push(
            swept.map_err(|error| Failure::new(format!("could not register {file_key}")).because(error))?,
        );
    }
    Ok(reports)
}

/// Asks for a wireframe of every frame, waits for the ends, and fetches the pictures.
fn runs(
    client: &Client,
    url: &str,
    frames: &[figma::FrameEntry],
    pictures: &Path,
    progress: &mut crate::terminal::Progress,
) -> Result<Vec<Ended>, Failure> {
    let mut asked = Vec::new();
    for frame in frames {
        let body = json!({
            "edge": "des2wf", "project_id": PROJECT, "figma_file_key": SCREENS, "wf_node_id": frame.id,
        });
        asked.push((frame, client.post("/v1/generations", Some(&body))?, Instant::now()));
    }
    let mut ended = Vec::new();
    for (at, (frame, mut run, since)) in asked.into_iter().enumerate() {
        let id = run["id"].as_str().unwrap_or_default().to_owned();
        let path = format!("/v1/generations/{id}");
        while run["status"] == "processing" {
            progress.at(&format!(
                "{}/{} {}: {}",
                at + 1,
                frames.len(),
                frame.name,
                run["phase"].as_str().unwrap_or("…")
            ));
            if since.elapsed() > PATIENCE {
                return Err(Failure::new(format!(
                    "the run of {} has not ended within {PATIENCE:?}",
                    frame.name
                ))
                .hint(format!("Its page: {url}/runs/{id}")));
            }
            std::thread::sleep(Duration::from_millis(60));
            run = client.get(&path, &[])?;
        }
        ended.push(finish(client, url, frame, &run, &path, pictures)?);
    }
    Ok(ended)
}

fn finish(
    client: &Client,
    url: &str,
    frame: &figma::FrameEntry,
    run: &Value,
    path: &str,
    pictures: &Path,
) -> Result<Ended, Failure> {
    let completed = run["status"] == "completed";
    let result = if completed { client.get(&format!("{path}/artifacts/result"), &[])? } else { Value::Null };
    let slug = frame.id.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let picture = |artifact: &str, kind: &str| -> Result<Option<PathBuf>, Failure> {
        if !completed {
            return Ok(None);
        }
        let bytes = client.bytes(&format!("{path}/artifacts/{artifact}"))?;
        let name = format!("{slug}.{kind}.png");
        output::all(pictures, &[(name.as_str(), bytes.as_slice())])?;
        Ok(Some(pictures.join(name)))
    };
    let time = |field: &str| run[field].as_str().and_then(|text| text.parse::<Timestamp>().ok());
    let took = time("updated_at")
        .zip(time("created_at"))
        .map_or(0, |(end, start)| u64::try_from(end.duration_since(start).as_millis()).unwrap_or(0));
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Ok(Ended {
        id: run["id"].as_str().unwrap_or_default().to_owned(),
        name: frame.name.clone(),
        node_id: frame.id.clone(),
        status: run["status"].as_str().unwrap_or_default().to_owned(),
        score: run["score"].as_f64(),
        band: text(&result["score"]["band"]),
        flag_count: run["flag_count"].as_u64(),
        strings_seen: result["text"]["seen"].as_u64(),
        strings_kept: result["text"]["kept"].as_u64(),
        components: result["summary"]["instances"].as_u64(),
        milliseconds: took,
        error: text(&run["error_message"]),
        page: format!("{url}/runs/{}", run["id"].as_str().unwrap_or_default()),
        source_png: picture("source_png", "design")?,
        wireframe_png: picture("preview_png", "wireframe")?,
    })
}

fn describe(url: &str, ended: &[Ended]) -> String {
    let mut lines = vec![format!("Heddle at {url}: {} screens", ended.len())];
    for run in ended {
        let number = |value: Option<u64>| value.map_or_else(|| "–".to_owned(), |v| v.to_string());
        lines.push(String::new());
        lines.push(format!("{} ({}): {} in {} ms", run.name, run.node_id, run.status, run.milliseconds));
        if let Some(error) = &run.error {
            lines.push(format!("  {error}"));
        }
        if let (Some(score), Some(band)) = (run.score, &run.band) {
            lines.push(format!(
                "  score {score:.4}, band {band}; {} of {} strings kept; {} kit components; {} flags",
                number(run.strings_kept),
                number(run.strings_seen),
                number(run.components),
                number(run.flag_count)
            ));
        }
        lines.push(format!("  {}", run.page));
        for picture in run.source_png.iter().chain(&run.wireframe_png) {
            lines.push(format!("  {}", picture.display()));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_no_demo_made_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("thesis.txt"), "years of work").unwrap();
        assert!(prepare(folder.path()).is_err());
        let own = folder.path().join("demo");
        prepare(&own).unwrap();
        std::fs::create_dir(own.join("pictures")).unwrap();
        std::fs::write(own.join("pictures/old.png"), "old").unwrap();
        std::fs::write(own.join("notes.txt"), "mine").unwrap();
        prepare(&own).unwrap();
        assert!(!own.join("pictures/old.png").exists() && own.join("notes.txt").exists());
    }
}

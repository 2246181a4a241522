//! `heddle convert`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use heddle_exchange::keys::{des2wf_wireframe_id, sha256_hex};
use heddle_worker::conversion::{Frame, Made, Pictures, convert};
use heddle_worker::pipeline::Cancel;
use serde_json::{Value, json};

use super::work::limits;
use crate::config::ConfigArgs;
use crate::failure::Failure;
use crate::terminal::{Terminal, one_line};
use crate::{figma, output};

/// Schema of the manifest beside the files of a conversion without a server.
const MANIFEST_SCHEMA: &str = "heddle.convert.manifest/v1";

/// Which way.
#[derive(Clone, Copy, ValueEnum)]
enum EdgeName {
    /// A wireframe of a design.
    Des2wf,
}

/// Convert a frame of a Figma file, offline.
///
/// Without --out it says what there is: the frames of the file, or of one frame what would come of it.
#[derive(Args)]
pub struct Convert {
    /// Figma REST JSON (a file or nodes answer, a bare node, a plugin's `JSON_REST_V1`), plain or gzip; `-` is stdin.
    file: PathBuf,
    /// The frame, as 12:345 or 12-345 [default: the only one there is].
    #[arg(long, value_name = "ID")]
    node: Option<String>,
    /// Which way.
    #[arg(long, value_enum, default_value = "des2wf")]
    edge: EdgeName,
    /// The wireframe kit, as a Figma file; may be given again [default: the sample kit].
    #[arg(long, value_name = "FILE")]
    kit: Vec<PathBuf>,
    /// The design system that the frame is made of, as a Figma file; may be given again.
    #[arg(long, value_name = "FILE")]
    design_system: Vec<PathBuf>,
    /// Write the files here.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write PNGs beside the SVGs.
    #[arg(long, requires = "out")]
    png: bool,
}

impl Convert {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let EdgeName::Des2wf = self.edge;
        let limits = limits(&config.load()?);
        let mut progress = terminal.progress();
        progress.at(&format!("reading {}", self.file.display()));
        let bytes = figma::load(&self.file, &limits)?;
        let node_id = {
            let document = figma::document(&self.file, &bytes, &limits)?;
            match figma::frame(&self.file, &document, self.node.as_deref())? {
                Ok(index) => document.node(index).id.to_string(),
                Err(frames) => {
                    drop(progress);
                    terminal.result(&frames, || figma::table(&frames))?;
                    terminal.say("Name one of these frames with --node.");
                    // Asked for a conversion, a list is not an answer.
                    return Ok(ExitCode::from(if self.out.is_some() { 2 } else { 0 }));
                }
            }
        };
        progress.at("reading the kit");
        let kit = figma::kits(&self.kit, &limits)?;
        let design = figma::design_systems(&self.design_system, &limits)?;
        progress.at(&format!("converting {node_id}"));
        let pictures = match (&self.out, self.png) {
            (None, _) => Pictures::None,
            (Some(_), false) => Pictures::Svg,
            (Some(_), true) => Pictures::Png,
        };
        let file_key = self.file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let made = convert(&Frame {
            source: &bytes,
            node_id: Some(&node_id),
            kit: &kit.entries,
            design: &design.entries,
            libraries: &kit.files,
            pictures,
            snapshot: false,
            limits,
            cancel: &Cancel::default(),
            wireframe_id: &|node| des2wf_wireframe_id(0, &file_key, node),
        })
        .map_err(|error| figma::unreadable(&self.file, error))?;
        if let Some(out) = &self.out {
            progress.at(&format!("writing {}", out.display()));
            let manifest = manifest(&made, &bytes)?;
            let mut files: Vec<(&str, &[u8])> =
                made.files.iter().map(|file| (file.file_name.as_str(), file.bytes.as_slice())).collect();
            files.push(("manifest.json", &manifest));
            output::all(out, &files)?;
            // Pictures of an earlier conversion would stand beside this one's result.
            for name in ["source.svg", "source.png", "preview.svg", "preview.png"] {
                if made.file(name).is_none() {
                    output::remove(&out.join(name))?;
                }
            }
        }
        drop(progress);
        let report = report(&made, self.out.as_deref());
        terminal.result(&report, || describe(&made, self.out.as_deref()))?;
        // A string that got lost is a defect of Heddle's, and must not go unseen.
        Ok(if made.result.text.lost.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn manifest(made: &Made, source: &[u8]) -> Result<Vec<u8>, Failure> {
    // The names are those of a run's manifest.
    let artifacts: BTreeMap<String, Value> = made
        .files
        .iter()
        .map(|file| {
            let entry = json!({
                "key": file.file_name, "sha256": sha256_hex(&file.bytes), "bytes": file.bytes.len(),
                "media_type": file.media_type,
            });
            let stem = file.file_name.strip_suffix(".json").unwrap_or(&file.file_name);
            (stem.replace('.', "_"), entry)
        })
        .collect();
    let manifest = json!({
        "schema": MANIFEST_SCHEMA,
        "edge": "des2wf",
        "source": {"sha256": sha256_hex(source), "node_id": made.node_id},
        "artifacts": artifacts,
        "timings_ms": made.timings_ms,
    });
    serde_json::to_vec_pretty(&manifest)
        .map_err(|error| Failure::new("could not write the manifest").because(error))
}

fn report(made: &Made, out: Option<&std::path::Path>) -> Value {
    let result = &made.result;
    json!({
        "node_id": made.node_id,
        "name": made.name,
        "score": result.score,
        "flag_count": result.confidence.flag_count,
        "text": {"seen": result.text.seen, "kept": result.text.kept, "unseen": result.text.unseen.len()},
        "summary": result.summary,
        "warnings": result.warnings,
        "timings_ms": made.timings_ms,
        "out": out,
    })
}

fn describe(made: &Made, out: Option<&std::path::Path>) -> String {
    let result = &made.result;
    let score = &result.score;
    let mut text = format!(
        "{} ({})\nscore    {:.4}, band {:?} ({})\n",
        one_line(&made.name),
        one_line(&made.node_id),
        score.value,
        score.band,
        score.version
    );
    let parts = [
        ("text", score.parts.text),
        ("layout", score.parts.layout),
        ("kit", score.parts.kit),
        ("hierarchy", score.parts.hierarchy),
        ("graphics", score.parts.graphics),
    ];
    for (name, value) in parts {
        let _ = match value {
            Some(value) => writeln!(text, "  {name:<10} {value:.4} {}", bar(value)),
            None => writeln!(text, "  {name:<10} nothing to measure"),
        };
    }
    let _ = writeln!(text, "strings  {} of {} kept", result.text.kept, result.text.seen);
    let components: Vec<String> =
        result.summary.components.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let _ = writeln!(text, "kit      {} components: {}", result.summary.instances, components.join(", "));
    let _ = writeln!(text, "flags    {}", result.confidence.flag_count);
    for warning in &result.warnings {
        let _ = writeln!(text, "warning  {} (×{}): {}", warning.0.code, warning.0.count, warning.0.message);
    }
    if let Some(out) = out {
        let names: Vec<&str> = made.files.iter().map(|file| file.file_name.as_str()).collect();
        let _ = writeln!(text, "written  {}: {}, manifest.json", out.display(), names.join(", "));
    }
    text
}

/// A bar of twenty cells.
pub(super) fn bar(value: f64) -> String {
    let full = (value * 20.0).round().clamp(0.0, 20.0) as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(20 - full))
}

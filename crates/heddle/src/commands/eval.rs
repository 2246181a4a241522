//! `heddle eval`: how good conversions are, over many files, and whether they got worse (D13).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use heddle_convert::score::{Band, SCORE_VERSION};
use heddle_figma::{Limits, NodeIndex};
use heddle_worker::conversion::{Frame, Pictures, convert};
use heddle_worker::pipeline::Cancel;
use serde::{Deserialize, Serialize};

use super::work::limits;
use crate::config::ConfigArgs;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::{figma, output};

/// Convert the frames of many files and sum up how well it went.
///
/// Of each file the frame with the most layers is taken, or every top-level frame with --all-frames.
#[derive(Args)]
pub struct Eval {
    /// A folder of Figma files (.json, .json.gz), or one file.
    path: PathBuf,
    /// The wireframe kit, as a Figma file; may be given again [default: the sample kit].
    #[arg(long, value_name = "FILE")]
    kit: Vec<PathBuf>,
    /// Every top-level frame, not only the largest.
    #[arg(long)]
    all_frames: bool,
    /// Fail where a case has a lower band than this file says.
    #[arg(long, value_name = "FILE")]
    ratchet: Option<PathBuf>,
    /// Write today's bands into the ratchet.
    #[arg(long, requires = "ratchet")]
    update: bool,
}

/// One conversion.
#[derive(Debug, Clone, Serialize)]
struct Case {
    /// File and node: `file.json#12:3`.
    #[serde(rename = "case")]
    id: String,
    /// The frame's name.
    name: String,
    layers: usize,
    score: f64,
    band: Band,
    parts: heddle_convert::score::Parts,
    strings_seen: usize,
    strings_kept: usize,
    instances: usize,
    flags: u32,
    ms: f64,
}

/// A file, or a frame of it, that could not be converted.
#[derive(Debug, Clone, Serialize)]
struct Refusal {
    case: String,
    error: String,
}

/// All of it.
#[derive(Debug, Serialize)]
struct Report {
    score_version: &'static str,
    files: usize,
    files_converted: usize,
    strings_seen: usize,
    strings_kept: usize,
    median_score: Option<f64>,
    bands: BTreeMap<String, usize>,
    cases: Vec<Case>,
    refused: Vec<Refusal>,
    dropped: Vec<String>,
}

/// Bands by case, as of one version of the formula.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Ratchet {
    score_version: String,
    bands: BTreeMap<String, String>,
}

impl Eval {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let limits = limits(&config.load()?);
        let kit = figma::kits(&self.kit, &limits)?;
        let files = files(&self.path)?;
        let before = self.ratchet.as_deref().map(read_ratchet).transpose()?.flatten();
        let mut progress = terminal.progress();
        let (mut cases, mut refused, mut converted) = (Vec::new(), Vec::new(), 0);
        for (at, file) in files.iter().enumerate() {
            let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            progress.at(&format!("{}/{} {name}", at + 1, files.len()));
            let before = cases.len();
            if let Err(error) = self.file(file, &name, &kit, &limits, &mut cases, &mut refused) {
                refused.push(Refusal { case: name, error: error.to_string() });
            }
            converted += usize::from(cases.len() > before);
        }
        drop(progress);
        let mut scores: Vec<f64> = cases.iter().map(|case: &Case| case.score).collect();
        scores.sort_by(f64::total_cmp);
        let mut bands: BTreeMap<String, usize> = BTreeMap::new();
        for case in &cases {
            *bands.entry(format!("{:?}", case.band)).or_default() += 1;
        }
        let report = Report {
            score_version: SCORE_VERSION,
            files: files.len(),
            files_converted: converted,
            strings_seen: cases.iter().map(|c| c.strings_seen).sum(),
            strings_kept: cases.iter().map(|c| c.strings_kept).sum(),
            median_score: scores.get(scores.len() / 2).copied(),
            bands,
            dropped: before.as_ref().map(|ratchet| dropped(ratchet, &cases)).unwrap_or_default(),
            cases,
            refused,
        };
        terminal.result(&report, || describe(&report))?;
        let lost = report.strings_kept < report.strings_seen || report.files_converted == 0;
        let Some(path) = &self.ratchet else { return Ok(code(!lost)) };
        if self.update {
            write_ratchet(path, &report.cases)?;
            terminal.say(&format!("{} has today's bands.", path.display()));
            return Ok(code(!lost));
        }
        if before.is_none() {
            return Err(Failure::usage(format!("{} is not there", path.display()))
                .hint("Write it from today's bands with --update."));
        }
        Ok(code(!lost && report.dropped.is_empty()))
    }

    fn file(
        &self,
        path: &Path,
        name: &str,
        kit: &figma::Libraries,
        limits: &Limits,
        cases: &mut Vec<Case>,
        refused: &mut Vec<Refusal>,
    ) -> Result<(), Failure> {
        let bytes = figma::load(path, limits)?;
        let document = figma::document(path, &bytes, limits)?;
        let mut frames = document.top_level_frames();
        if !self.all_frames {
            let largest =
                frames.iter().copied().max_by_key(|f| (document.subtree(*f).len(), std::cmp::Reverse(*f)));
            frames = largest.into_iter().collect();
        }
        if frames.is_empty() {
            return Err(Failure::new("it has no frame on any page"));
        }
        for frame in frames {
            let node = document.node(frame);
            let case = format!("{name}#{}", node.id);
            let start = Instant::now();
            let made = convert(&Frame {
                source: &bytes,
                node_id: Some(&node.id),
                kit: &kit.entries,
                design: &[],
                libraries: &kit.files,
                pictures: Pictures::None,
                snapshot: false,
                limits: *limits,
                cancel: &Cancel::default(),
                wireframe_id: &str::to_owned,
            });
            match made {
                Ok(made) => cases.push(Case {
                    id: case,
                    name: node.name.to_string(),
                    layers: document.subtree(NodeIndex(frame.0)).len(),
                    score: made.result.score.value,
                    band: made.result.score.band,
                    parts: made.result.score.parts,
                    strings_seen: made.result.text.seen,
                    strings_kept: made.result.text.kept,
                    instances: made.result.summary.instances,
                    flags: made.result.confidence.flag_count,
                    ms: start.elapsed().as_secs_f64() * 1000.0,
                }),
                Err(error) => refused.push(Refusal { case, error: error.to_string() }),
            }
        }
        Ok(())
    }
}

fn code(fine: bool) -> ExitCode {
    if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The file, or the Figma files of the folder by name.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let cannot =
        |error: std::io::Error| Failure::new(format!("could not list {}", path.display())).because(error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(cannot)? {
        let file = entry.map_err(cannot)?.path();
        let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let name = name.to_lowercase();
        if name.strip_suffix(".gz").unwrap_or(&name).strip_suffix(".json").is_some() {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Failure::usage(format!("{} has no .json or .json.gz file", path.display())));
    }
    Ok(files)
}

fn read_ratchet(path: &Path) -> Result<Option<Ratchet>, Failure> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(figma::unreadable(path, error)),
    };
    let ratchet: Ratchet = serde_json::from_slice(&bytes).map_err(|error| figma::unreadable(path, error))?;
    if ratchet.score_version != SCORE_VERSION {
        return Err(Failure::new(format!(
            "{} is of {}, this is {SCORE_VERSION}: scores are never compared across versions",
            path.display(),
            ratchet.score_version
        ))
        .hint("Write a new one with --update, and look at what changed."));
    }
    Ok(Some(ratchet))
}

fn write_ratchet(path: &Path, cases: &[Case]) -> Result<(), Failure> {
    let bands = cases.iter().map(|case| (case.id.clone(), format!("{:?}", case.band))).collect();
    let ratchet = Ratchet { score_version: SCORE_VERSION.to_owned(), bands };
    let mut bytes = serde_json::to_vec_pretty(&ratchet)
        .map_err(|error| Failure::new("could not write the ratchet").because(error))?;
    bytes.push(b'\n');
    output::write(path, &bytes)
}

/// Cases that were in a better band, or are gone.
fn dropped(ratchet: &Ratchet, cases: &[Case]) -> Vec<String> {
    let now: BTreeMap<&str, String> =
        cases.iter().map(|c| (c.id.as_str(), format!("{:?}", c.band))).collect();
    let mut dropped = Vec::new();
    for (case, band) in &ratchet.bands {
        match now.get(case.as_str()) {
            None => dropped.push(format!("{case}: was {band}, and does not convert any more")),
            // A is best, and first.
            Some(today) if today > band => dropped.push(format!("{case}: was {band}, is {today}")),
            Some(_) => {}
        }
    }
    dropped
}

fn describe(report: &Report) -> String {
    let mut text = String::new();
    let widest = report.cases.iter().map(|c| c.id.chars().count()).max().unwrap_or(4).min(60);
    let _ = writeln!(
        text,
        "{:<widest$}  {:>6}  {:>6}  BAND  {:>9}  {:>4}  {:>5}  TEXT  LAYOUT  KIT   HIER  GRAPH",
        "CASE", "LAYERS", "SCORE", "STRINGS", "KIT", "FLAGS"
    );
    let part = |value: Option<f64>| value.map_or_else(|| " –  ".to_owned(), |v| format!("{v:.2}"));
    for c in &report.cases {
        let _ = writeln!(
            text,
            "{:<widest$}  {:>6}  {:.4}  {:?}     {:>9}  {:>4}  {:>5}  {}  {}    {}  {}  {}",
            c.id,
            c.layers,
            c.score,
            c.band,
            format!("{}/{}", c.strings_kept, c.strings_seen),
            c.instances,
            c.flags,
            part(c.parts.text),
            part(c.parts.layout),
            part(c.parts.kit),
            part(c.parts.hierarchy),
            part(c.parts.graphics),
        );
    }
    for refusal in &report.refused {
        let _ = writeln!(text, "refused  {}: {}", refusal.case, refusal.error);
    }
    for dropped in &report.dropped {
        let _ = writeln!(text, "dropped  {dropped}");
    }
    let bands: Vec<String> = report.bands.iter().map(|(band, count)| format!("{band} {count}")).collect();
    let _ = write!(
        text,
        "{} of {} files converted, {} of {} strings kept, median score {}, bands {}",
        report.files_converted,
        report.files,
        report.strings_kept,
        report.strings_seen,
        report.median_score.map_or_else(|| "–".to_owned(), |score| format!("{score:.4}")),
        bands.join(", ")
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, band: Band) -> Case {
        Case {
            id: name.to_owned(),
            name: String::new(),
            layers: 1,
            score: 0.9,
            band,
            parts: heddle_convert::score::Parts::default(),
            strings_seen: 0,
            strings_kept: 0,
            instances: 0,
            flags: 0,
            ms: 0.0,
        }
    }

    #[test]
    fn a_lower_band_or_a_lost_case_is_a_drop_and_a_better_one_is_not() {
        // proves D13
        let bands = [("a", "B"), ("b", "B"), ("c", "B"), ("d", "B")];
        let ratchet = Ratchet {
            score_version: SCORE_VERSION.to_owned(),
            bands: bands.map(|(case, band)| (case.to_owned(), band.to_owned())).into(),
        };
        let cases = [case("a", Band::A), case("b", Band::B), case("c", Band::C), case("new", Band::D)];
        let found = dropped(&ratchet, &cases);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("c: was B, is C") && found[1].starts_with("d: "), "{found:?}");
    }

    #[test]
    fn ratchets_of_another_formula_are_refused() {
        // proves D13
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ratchet.json");
        assert!(read_ratchet(&path).unwrap().is_none());
        write_ratchet(&path, &[case("a", Band::B)]).unwrap();
        assert_eq!(read_ratchet(&path).unwrap().unwrap().bands["a"], "B");
        std::fs::write(&path, r#"{"score_version":"ds@0.9","bands":{}}"#).unwrap();
        assert!(read_ratchet(&path).unwrap_err().to_string().contains("never compared"));
    }
}

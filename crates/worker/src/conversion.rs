//! One conversion, from bytes to artifacts: the only place where reading, converting and drawing meet. The worker
//! comes here through [`Converter`] for a job, the command line through [`convert`] for a file.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use heddle_convert::des2wf::{self, ConvertError, WarningEntry};
use heddle_convert::kit::Kit;
use heddle_convert::library::{DesignNames, Entry};
use heddle_convert::preview::{self, preview};
use heddle_convert::score::Score;
use heddle_convert::sweep::{LibraryFile, sweep};
use heddle_exchange::keys::{des2wf_wireframe_id, sha256_hex};
use heddle_exchange::registry::Target;
use heddle_figma::{Document, Limits, NodeIndex, ReadError, Snapshot, Warnings, decompress, read, snapshot};
use heddle_generation::Edge;
use heddle_render::{Fonts, Options, PngLimits, png, svg};
use serde_json::Value;

use crate::pipeline::{
    ArtifactFile, Cancel, Conversion, ConversionError, ConversionInput, Converter, SweepInput, Swept,
};

/// Which pictures to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pictures {
    /// None.
    None,
    /// `source.svg` and `preview.svg`.
    Svg,
    /// These, and their PNGs.
    Png,
}

/// Library files, plain or gzip, by the SHA-256 that entries name in `lineage.source_hash`.
pub type LibraryFiles = HashMap<String, Vec<u8>>;

/// A frame and what it is converted with.
pub struct Frame<'i> {
    /// The Figma document, plain or gzip.
    pub source: &'i [u8],
    /// The frame; `None` takes the only one there is.
    pub node_id: Option<&'i str>,
    /// The kit's registry entries.
    pub kit: &'i [Value],
    /// The design system's registry entries.
    pub design: &'i [Value],
    /// Library files: the masters to draw.
    pub libraries: &'i LibraryFiles,
    /// Which pictures to make.
    pub pictures: Pictures,
    /// Whether to cut the frame out for keeping (D9).
    pub snapshot: bool,
    /// What is read at most.
    pub limits: Limits,
    /// `_id` of the wireframe document, from the frame's id.
    pub wireframe_id: &'i dyn Fn(&str) -> String,
    /// Looked at between the stages.
    pub cancel: &'i Cancel,
}

/// What a conversion makes.
#[derive(Debug, Clone)]
pub struct Made {
    /// The frame's id, as the file has it.
    pub node_id: String,
    /// The frame's name.
    pub name: String,
    /// The frame cut out of the source (D9), where it was asked for.
    pub snapshot: Option<Snapshot>,
    /// `result.json`, `wireframe.json`, `parse.json` and the pictures.
    pub files: Vec<ArtifactFile>,
    /// The result.
    pub result: des2wf::ResultDocument,
    /// Milliseconds by stage.
    pub timings_ms: BTreeMap<String, f64>,
}

impl Made {
    /// The file of this name.
    pub fn file(&self, file_name: &str) -> Option<&ArtifactFile> {
        self.files.iter().find(|file| file.file_name == file_name)
    }

    /// The score.
    pub fn score(&self) -> &Score {
        &self.result.score
    }
}

/// Why a conversion could not be made. All of these are final: the same input fails again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The document can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// No frame was named and there is more than one.
    #[error("the document has {} frames: name one of them, for example {}", .frames.len(), example(.frames))]
    ManyFrames {
        /// Id and name of each.
        frames: Vec<(String, String)>,
    },
    /// No frame was named and there is none.
    #[error("the document has no frame on any page; name a layer by its id")]
    NoFrames,
    /// The node is no frame.
    #[error("{id:?} is a page, not a frame: name one of the frames on it")]
    NotAFrame {
        /// Its id.
        id: String,
    },
    /// The frame can't be converted.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// A kit file can't be read.
    #[error("the library file {name:?} can't be read")]
    Library {
        /// Which one.
        name: String,
        /// Why.
        #[source]
        source: ReadError,
    },
    /// Nobody waits for it any more.
    #[error("the conversion was cancelled")]
    Cancelled,
    /// A result can't be written as JSON.
    #[error("could not write {what} as JSON")]
    Write {
        /// Which.
        what: &'static str,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}

fn example(frames: &[(String, String)]) -> String {
    frames.first().map(|(id, name)| format!("{id} ({name})")).unwrap_or_default()
}

impl Failure {
    /// Stable code in snake case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Read(error) => error.code(),
            Self::ManyFrames { .. } => "many_frames",
            Self::NoFrames => "no_frames",
            Self::NotAFrame { .. } => "not_a_frame",
            Self::Convert(error) => error.code(),
            Self::Library { .. } => "bad_library",
            Self::Cancelled => "cancelled",
            Self::Write { .. } => "write_failed",
        }
    }
}

impl From<Failure> for ConversionError {
    fn from(failure: Failure) -> Self {
        Self::Refused { code: failure.code(), message: failure.to_string(), source: Some(failure.into()) }
    }
}

/// The frame that was asked for, or the only one there is.
///
/// # Errors
/// [`ReadError::NoSuchNode`], [`Failure::ManyFrames`], [`Failure::NoFrames`], [`Failure::NotAFrame`].
pub fn choose_frame(document: &Document<'_>, node_id: Option<&str>) -> Result<NodeIndex, Failure> {
    if let Some(id) = node_id {
        let index = document.find(id).ok_or_else(|| ReadError::NoSuchNode { id: id.to_owned() })?;
        if document.node(index).kind.is_holder() {
            return Err(Failure::NotAFrame { id: id.to_owned() });
        }
        return Ok(index);
    }
    match document.top_level_frames().as_slice() {
        [] => Err(Failure::NoFrames),
        [only] => Ok(*only),
        many => {
            let name = |index: &NodeIndex| {
                let node = document.node(*index);
                (node.id.to_string(), node.name.to_string())
            };
            Err(Failure::ManyFrames { frames: many.iter().map(name).collect() })
        }
    }
}

/// Registry entries and library files of kit files that are at hand, without any registry: name and bytes of each.
///
/// # Errors
/// [`Failure::Library`], [`Failure::Write`].
pub fn kit_of_file(
    files: &[(String, Vec<u8>)],
    limits: &Limits,
) -> Result<(Vec<Value>, LibraryFiles), Failure> {
    let (mut entries, mut libraries) = (Vec::new(), HashMap::new());
    for (name, packed) in files {
        let library = |source| Failure::Library { name: name.clone(), source };
        let bytes = decompress(packed, limits).map_err(library)?;
        let hash = sha256_hex(&bytes);
        let document = read(&bytes, limits).map_err(library)?;
        let file = LibraryFile { project_id: 0, file_key: name, source_hash: &hash };
        let identity = |entry: &Entry| identity(Target::Kit, file, entry);
        for entry in sweep(&document, file, &identity).entries {
            let value = serde_json::to_value(&entry);
            entries.push(value.map_err(|source| Failure::Write { what: "a registry entry", source })?);
        }
        libraries.insert(hash, bytes.into_owned());
    }
    Ok((entries, libraries))
}

fn identity(target: Target, file: LibraryFile<'_>, entry: &Entry) -> String {
    let node = entry.component_node_id.as_deref().unwrap_or_default();
    target.document_id(file.project_id, entry.component_key.as_deref(), file.file_key, node)
}

/// Converts one frame on the edge des2wf.
///
/// # Errors
/// See [`Failure`]; nothing is half made.
pub fn convert(input: &Frame<'_>) -> Result<Made, Failure> {
    let mut clock = Stopwatch::start();
    let go_on = || if input.cancel.is_cancelled() { Err(Failure::Cancelled) } else { Ok(()) };
    go_on()?;
    let bytes = decompress(input.source, &input.limits)?;
    let document = read(&bytes, &input.limits)?;
    let frame = choose_frame(&document, input.node_id)?;
    let node = document.node(frame);
    clock.lap("read");
    go_on()?;
    let cut = input.snapshot.then(|| snapshot(&bytes, &document, frame)).transpose()?;
    clock.lap("snapshot");
    let kit = Kit::load(input.kit);
    let entries: Vec<Entry> = input.design.iter().filter_map(|value| Entry::read(value).ok()).collect();
    let names = DesignNames::from_entries(&entries);
    clock.lap("kit");
    go_on()?;
    let mut made = des2wf::convert(&document, frame, &kit, &names)?;
    made.wireframe.id = (input.wireframe_id)(&node.id);
    clock.lap("convert");
    go_on()?;
    let mut files = Vec::new();
    if input.pictures > Pictures::None {
        let mut studio = Studio {
            png: input.pictures == Pictures::Png,
            files: &mut files,
            warnings: Warnings::default(),
            cancel: input.cancel,
        };
        studio.draw(&document, frame, "source.svg", "source.png");
        clock.lap("draw_source");
        go_on()?;
        let libraries = unpacked(input.libraries, &input.limits, &mut studio.warnings);
        let mut masters: HashMap<&str, Document<'_>> = HashMap::new();
        for (hash, bytes) in &libraries {
            match read(bytes, &input.limits) {
                Ok(document) => _ = masters.insert(hash, document),
                Err(error) => library_warning(&mut studio.warnings, &error),
            }
        }
        let masters: preview::Libraries<'_, '_> =
            masters.iter().map(|(hash, document)| (*hash, document)).collect();
        let drawn = preview(&made.wireframe, &document, &masters);
        studio.warnings.extend(&drawn.warnings);
        go_on()?;
        studio.draw(&drawn, Document::ROOT, "preview.svg", "preview.png");
        go_on()?;
        let warnings = studio.warnings;
        made.result.warnings.extend(warnings.iter().cloned().map(WarningEntry));
        clock.lap("draw_wireframe");
    }
    files.push(json_file("result.json", to_json("result.json", &made.result)?));
    files.push(json_file("wireframe.json", to_json("wireframe.json", &made.wireframe)?));
    files.push(json_file("parse.json", made.parse_json));
    clock.lap("write");
    Ok(Made {
        node_id: node.id.to_string(),
        name: node.name.to_string(),
        snapshot: cut,
        files,
        result: made.result,
        timings_ms: clock.laps,
    })
}

/// Draws pictures. They are there to be looked at: one that can't be drawn is a warning, and the result stands.
struct Studio<'f> {
    png: bool,
    files: &'f mut Vec<ArtifactFile>,
    warnings: Warnings,
    cancel: &'f Cancel,
}

impl Studio<'_> {
    fn draw(&mut self, document: &Document<'_>, node: NodeIndex, svg_name: &str, png_name: &str) {
        let picture = svg(document, node, Fonts::bundled(), &Options::default());
        self.warnings.extend(&picture.warnings);
        if self.png && !self.cancel.is_cancelled() {
            match png(&picture, 1.0, &PngLimits::default()) {
                Ok(drawn) => {
                    let file_name = png_name.to_owned();
                    self.files.push(ArtifactFile { file_name, bytes: drawn.bytes, media_type: "image/png" });
                }
                Err(error) => self
                    .warnings
                    .add("picture_failed", None, || format!("{png_name} could not be drawn: {error}")),
            }
        }
        let (file_name, bytes) = (svg_name.to_owned(), picture.svg.into_bytes());
        self.files.push(ArtifactFile { file_name, bytes, media_type: "image/svg+xml" });
    }
}

fn unpacked<'l>(
    files: &'l LibraryFiles,
    limits: &Limits,
    warnings: &mut Warnings,
) -> HashMap<&'l str, Cow<'l, [u8]>> {
    let mut unpacked = HashMap::new();
    for (hash, packed) in files {
        match decompress(packed, limits) {
            Ok(bytes) => _ = unpacked.insert(hash.as_str(), bytes),
            Err(error) => library_warning(warnings, &error),
        }
    }
    unpacked
}

fn library_warning(warnings: &mut Warnings, error: &ReadError) {
    warnings.add("library_unreadable", None, || {
        format!("a kit's file can't be read, so its masters are not drawn: {error}")
    });
}

fn json_file(name: &str, bytes: Vec<u8>) -> ArtifactFile {
    ArtifactFile { file_name: name.to_owned(), bytes, media_type: "application/json" }
}

fn to_json(what: &'static str, value: &impl serde::Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(value).map_err(|source| Failure::Write { what, source })
}

/// The worker's converter: the edge des2wf, with SVG and PNG pictures.
#[derive(Debug, Clone, Copy, Default)]
pub struct Des2wf {
    /// What is read at most.
    pub limits: Limits,
}

impl Converter for Des2wf {
    fn convert(&self, input: ConversionInput<'_>) -> Result<Conversion, ConversionError> {
        if input.job.edge != Edge::Des2wf {
            let message = format!("this worker does not build the edge {} yet", input.job.edge.name());
            return Err(ConversionError::Refused { code: "edge_not_built", message, source: None });
        }
        let mut libraries = HashMap::new();
        let hashes = input.kit_documents.iter().filter_map(|entry| entry["lineage"]["source_hash"].as_str());
        for hash in hashes {
            if !libraries.contains_key(hash)
                && let Some(bytes) = input.libraries.library(hash)?
            {
                libraries.insert(hash.to_owned(), bytes.to_vec());
            }
        }
        let made = convert(&Frame {
            source: &input.source.bytes,
            node_id: Some(&input.job.wf_node_id),
            kit: &input.kit_documents,
            design: &input.design_documents,
            libraries: &libraries,
            pictures: Pictures::Png,
            snapshot: true,
            limits: self.limits,
            wireframe_id: &|node| des2wf_wireframe_id(input.job.project_id, &input.job.figma_file_key, node),
            cancel: input.cancel,
        })?;
        let document = |name: &'static str| {
            let bytes = made.file(name).map(|file| file.bytes.as_slice()).unwrap_or_default();
            serde_json::from_slice::<Value>(bytes).map_err(|source| Failure::Write { what: name, source })
        };
        let (result_document, wireframe_document) = (document("result.json")?, document("wireframe.json")?);
        let Some(cut) = made.snapshot else {
            let message = "the frame was converted without a snapshot: a defect of Heddle's".to_owned();
            return Err(ConversionError::Refused { code: "no_snapshot", message, source: None });
        };
        Ok(Conversion {
            result_document,
            wireframe_document: Some(wireframe_document),
            source_hash: cut.hash,
            snapshot: cut.bytes,
            score: Some((made.result.score.value, made.result.score.version.to_owned())),
            flag_count: Some(made.result.confidence.flag_count),
            warnings: made.result.warnings.len(),
            timings_ms: made.timings_ms,
            artifacts: made.files,
        })
    }

    fn sweep(&self, input: SweepInput<'_>) -> Result<Swept, ConversionError> {
        let document = read(input.bytes, &self.limits).map_err(Failure::from)?;
        let SweepInput { target, project_id, file_key, source_hash, .. } = input;
        let file = LibraryFile { project_id, file_key, source_hash };
        let swept = sweep(&document, file, &|entry: &Entry| identity(target, file, entry));
        let mut entries = Vec::with_capacity(swept.entries.len());
        for entry in &swept.entries {
            let value = serde_json::to_value(entry);
            entries.push(value.map_err(|source| Failure::Write { what: "a registry entry", source })?);
        }
        let warnings = swept.warnings.iter().cloned().map(WarningEntry);
        let warnings: Result<Vec<Value>, _> = warnings.map(serde_json::to_value).collect();
        Ok(Swept {
            entries,
            warnings: warnings.map_err(|source| Failure::Write { what: "a warning", source })?,
        })
    }
}

/// Time by stage.
struct Stopwatch {
    since: Instant,
    laps: BTreeMap<String, f64>,
}

impl Stopwatch {
    fn start() -> Self {
        Self { since: Instant::now(), laps: BTreeMap::new() }
    }

    fn lap(&mut self, stage: &str) {
        let now = Instant::now();
        let ms = now.duration_since(self.since).as_secs_f64() * 1000.0;
        self.laps.insert(stage.to_owned(), (ms * 1000.0).round() / 1000.0);
        self.since = now;
    }
}

//! One conversion, from bytes to artifacts: the only place where reading, converting and drawing meet. The worker
//! comes here through [`Converter`] for a job, the command line through [`convert`] for a file.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use heddle_convert::des2wf::{self, ConvertError, DesignNames};
use heddle_convert::kit::Kit;
use heddle_convert::library::Entry;
use heddle_convert::preview::{self, preview};
use heddle_convert::score::Score;
use heddle_convert::sweep::{LibraryFile, sweep};
use heddle_exchange::keys::sha256_hex;
use heddle_exchange::registry::Target;
use heddle_figma::{Document, Limits, NodeIndex, ReadError, Snapshot, decompress, read, snapshot};
use heddle_generation::Edge;
use heddle_render::{Fonts, Options, PngLimits, RenderError, png, svg};
use serde_json::{Value, json};

use crate::pipeline::{
    ArtifactFile, Conversion, ConversionError, ConversionInput, Converter, SweepInput, Swept,
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
    #[error("the library file {name:?} can't be read: {source}")]
    Library {
        /// Which one.
        name: String,
        /// Why.
        source: ReadError,
    },
    /// A picture can't be drawn.
    #[error("could not draw {what}")]
    Render {
        /// Which picture.
        what: &'static str,
        /// Why.
        #[source]
        source: RenderError,
    },
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
            Self::Render { .. } => "render_failed",
            Self::Write { .. } => "write_failed",
        }
    }
}

impl From<Failure> for ConversionError {
    fn from(failure: Failure) -> Self {
        Self::Refused { code: failure.code(), message: failure.to_string() }
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
    let bytes = decompress(input.source, &input.limits)?;
    let document = read(&bytes, &input.limits)?;
    let frame = choose_frame(&document, input.node_id)?;
    let node = document.node(frame);
    clock.lap("read");
    let cut = input.snapshot.then(|| snapshot(&bytes, &document, frame)).transpose()?;
    clock.lap("snapshot");
    let kit = Kit::load(input.kit);
    let entries: Vec<Entry> =
        input.design.iter().filter_map(|value| Entry::deserialize_ref(value).ok()).collect();
    let names = DesignNames::from_entries(&entries);
    clock.lap("kit");
    let mut made = des2wf::convert(&document, frame, &kit, &names)?;
    made.wireframe.id = (input.wireframe_id)(&node.id);
    clock.lap("convert");
    let mut files = vec![
        json_file("result.json", to_json("result.json", &made.result)?),
        json_file("wireframe.json", to_json("wireframe.json", &made.wireframe)?),
        json_file("parse.json", made.parse_json),
    ];
    clock.lap("write");
    if input.pictures > Pictures::None {
        let png = input.pictures == Pictures::Png;
        draw(&document, frame, "source.svg", png.then_some("source.png"), &mut files)?;
        clock.lap("draw_source");
        let mut libraries: HashMap<&str, Vec<u8>> = HashMap::new();
        let named = |hash: &str, source| Failure::Library { name: hash.to_owned(), source };
        for (hash, packed) in input.libraries {
            let bytes = decompress(packed, &input.limits).map_err(|source| named(hash, source))?;
            libraries.insert(hash, bytes.into_owned());
        }
        let mut masters: HashMap<&str, Document<'_>> = HashMap::new();
        for (hash, bytes) in &libraries {
            masters.insert(hash, read(bytes, &input.limits).map_err(|source| named(hash, source))?);
        }
        let masters: preview::Libraries<'_, '_> =
            masters.iter().map(|(hash, document)| (*hash, document)).collect();
        let drawn = preview(&made.wireframe, &document, &masters);
        draw(&drawn, Document::ROOT, "preview.svg", png.then_some("preview.png"), &mut files)?;
        clock.lap("draw_wireframe");
    }
    Ok(Made {
        node_id: node.id.to_string(),
        name: node.name.to_string(),
        snapshot: cut,
        files,
        result: made.result,
        timings_ms: clock.laps,
    })
}

fn draw(
    document: &Document<'_>,
    node: NodeIndex,
    svg_name: &str,
    png_name: Option<&'static str>,
    files: &mut Vec<ArtifactFile>,
) -> Result<(), Failure> {
    let picture = svg(document, node, Fonts::bundled(), &Options::default());
    if let Some(name) = png_name {
        let drawn = png(&picture, 1.0, &PngLimits::default())
            .map_err(|source| Failure::Render { what: name, source })?;
        files.push(ArtifactFile { file_name: name.to_owned(), bytes: drawn.bytes, media_type: "image/png" });
    }
    let bytes = picture.svg.into_bytes();
    files.push(ArtifactFile { file_name: svg_name.to_owned(), bytes, media_type: "image/svg+xml" });
    Ok(())
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
            return Err(ConversionError::Refused { code: "edge_not_built", message });
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
            wireframe_id: &str::to_owned,
        })?;
        let document = |name: &'static str| {
            let bytes = made.file(name).map(|file| file.bytes.as_slice()).unwrap_or_default();
            serde_json::from_slice::<Value>(bytes).map_err(|source| Failure::Write { what: name, source })
        };
        let (result_document, wireframe_document) = (document("result.json")?, document("wireframe.json")?);
        let cut = made.snapshot.unwrap_or(Snapshot { bytes: Vec::new(), hash: String::new() });
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
        let warning = |w: &heddle_figma::Warning| json!({"code": w.code, "message": w.message, "node_id": w.node_id, "count": w.count});
        Ok(Swept { entries, warnings: swept.warnings.iter().map(warning).collect() })
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

//! Figma files on disk, for the commands that need no server.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

use heddle_figma::{Document, Limits, NodeIndex, decompress, read};
use heddle_worker::conversion::{Failure as Refused, choose_frame, kit_of_file};
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::samples;
use crate::terminal::one_line;

/// A frame, as lists name it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrameEntry {
    /// Figma's id.
    pub id: String,
    /// The layer's name.
    pub name: String,
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// Layers in it, itself included.
    pub layers: usize,
}

/// Reads a file (`-`: stdin), no further than the limit, and unpacks it.
pub fn load(path: &Path, limits: &Limits) -> Result<Vec<u8>, Failure> {
    let cannot =
        |error: std::io::Error| Failure::new(format!("could not read {}", path.display())).because(error);
    let mut packed = Vec::new();
    // One byte more than the limit tells that there is more.
    let most = limits.bytes.saturating_add(1);
    if path.as_os_str() == "-" {
        std::io::stdin().lock().take(most).read_to_end(&mut packed).map_err(cannot)?;
    } else {
        std::fs::File::open(path).map_err(cannot)?.take(most).read_to_end(&mut packed).map_err(cannot)?;
    }
    let bytes = decompress(&packed, limits).map_err(|error| unreadable(path, error))?;
    Ok(match bytes {
        std::borrow::Cow::Owned(bytes) => bytes,
        std::borrow::Cow::Borrowed(bytes) => bytes.to_vec(),
    })
}

/// Why a file is no use.
pub fn unreadable(path: &Path, error: impl std::error::Error + Send + Sync + 'static) -> Failure {
    Failure::new(path.display().to_string()).because(error)
}

/// Reads the document in the bytes of a file.
pub fn document<'b>(path: &Path, bytes: &'b [u8], limits: &Limits) -> Result<Document<'b>, Failure> {
    read(bytes, limits).map_err(|error| unreadable(path, error))
}

/// The frame named, or the only one; `Err` lists the frames where there are several.
pub fn frame(
    path: &Path,
    document: &Document<'_>,
    node: Option<&str>,
) -> Result<Result<NodeIndex, Vec<FrameEntry>>, Failure> {
    match choose_frame(document, node) {
        Ok(index) => Ok(Ok(index)),
        Err(Refused::ManyFrames { .. }) => Ok(Err(frames(document))),
        Err(error) => Err(unreadable(path, error)),
    }
}

/// Top-level frames in document order.
pub fn frames(document: &Document<'_>) -> Vec<FrameEntry> {
    let entry = |index: &NodeIndex| {
        let node = document.node(*index);
        FrameEntry {
            id: node.id.to_string(),
            name: node.name.to_string(),
            width: node.bounds.width,
            height: node.bounds.height,
            layers: document.subtree(*index).len(),
        }
    };
    document.top_level_frames().iter().map(entry).collect()
}

/// Frames as a table for people.
pub fn table(frames: &[FrameEntry]) -> String {
    let widest = frames.iter().map(|f| f.id.chars().count()).max().unwrap_or(2).max(4);
    let mut out = format!("{:<widest$}  {:>6} × {:<6}  {:>6}  NAME", "NODE", "WIDTH", "HEIGHT", "LAYERS");
    for frame in frames {
        let FrameEntry { id, name, width, height, layers } = frame;
        let (id, name) = (one_line(id), one_line(name));
        let _ = write!(out, "\n{id:<widest$}  {width:>6.0} × {height:<6.0}  {layers:>6}  {name}");
    }
    out
}

/// Registry entries of library files, and the files by hash; of the built-in sample kit where none is named.
pub struct Libraries {
    /// Registry entries.
    pub entries: Vec<Value>,
    /// Library files by the hash in the entries.
    pub files: HashMap<String, Vec<u8>>,
}

/// Loads kits.
pub fn kits(paths: &[PathBuf], limits: &Limits) -> Result<Libraries, Failure> {
    let files = if paths.is_empty() {
        vec![("wireframe-kit".to_owned(), samples::WIREFRAME_KIT.to_vec())]
    } else {
        libraries(paths, limits)?
    };
    let kit = sweep(&files, limits)?;
    if kit.entries.is_empty() {
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        return Err(Failure::new(format!("{} has no usable component, so it is no kit", names.join(", ")))
            .hint("A kit is a Figma file with components or component sets in it."));
    }
    Ok(kit)
}

/// Loads design systems; none is fine.
pub fn design_systems(paths: &[PathBuf], limits: &Limits) -> Result<Libraries, Failure> {
    sweep(&libraries(paths, limits)?, limits)
}

fn libraries(paths: &[PathBuf], limits: &Limits) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    paths.iter().map(|path| Ok((path.display().to_string(), load(path, limits)?))).collect()
}

fn sweep(files: &[(String, Vec<u8>)], limits: &Limits) -> Result<Libraries, Failure> {
    let (entries, files) = kit_of_file(files, limits)
        .map_err(|error| Failure::new("could not use the libraries").because(error))?;
    Ok(Libraries { entries, files })
}

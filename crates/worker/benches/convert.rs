//! Time and peak memory of a conversion beside a plain typed parse of the same bytes, each in a process of its own:
//! `cargo xtask bench convert`.
//!
//! The screens are the project's own samples, repeated downwards with fresh ids until there are enough layers. Each
//! figure is the fastest of a few runs, the median over processes, so that a busy machine disturbs little; quote the
//! ratios.
#![allow(dead_code, reason = "the typed structs are read into and never out of")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use heddle_figma::Limits;
use heddle_worker::conversion::{Frame, Pictures, convert, kit_of_file};
use heddle_worker::pipeline::Cancel;
use serde::Deserialize;
use serde_json::{Value, json};

const SIZES: [usize; 3] = [300, 2_000, 20_000];
/// Processes for each figure; the median is printed.
const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [flag, what, path] = arguments.as_slice()
        && flag == "--measure"
    {
        measure(what, Path::new(path));
        return;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    println!("layers  bytes      what                best ms  × parse  peak MiB");
    for layers in SIZES {
        let path = folder.join(format!("screens-{layers}.json"));
        let bytes = screens(layers);
        std::fs::write(&path, &bytes).expect("a temporary file");
        let names = ["parse", "read", "convert", "snapshot", "svg", "png"];
        let mut rounds: HashMap<&str, Vec<(f64, f64)>> = HashMap::new();
        for _ in 0..ROUNDS {
            for name in names {
                rounds.entry(name).or_default().push(child(name, &path));
            }
        }
        let mut parse = 0.0;
        for name in names {
            let mut found = rounds.remove(name).unwrap_or_default();
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (ms, mib) = found[found.len() / 2];
            if name == "parse" {
                parse = ms;
            }
            let what = match name {
                "parse" => "typed serde_json",
                "read" => "read",
                "convert" => "convert, no picture",
                "snapshot" => "… and a snapshot",
                "svg" => "… and two SVGs",
                _ => "… and two PNGs",
            };
            println!(
                "{layers:>6}  {:>9}  {what:<19} {ms:>6.1}  {:>7.2}  {mib:>8.1}",
                bytes.len(),
                ms / parse
            );
        }
    }
}

fn child(what: &str, path: &Path) -> (f64, f64) {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--measure", what])
        .arg(path)
        .output()
        .expect("this program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let mut numbers = text.split_whitespace().filter_map(|n| n.parse().ok());
    (numbers.next().expect("a time"), numbers.next().expect("a size"))
}

/// Runs one thing a few times; prints the milliseconds of the fastest run and the process's peak memory in MiB.
fn measure(what: &str, path: &Path) {
    let bytes = std::fs::read(path).expect("the screens");
    let small = bytes.len() < 4_000_000;
    let kit = || {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/wireframe-kit.json");
        let kit = std::fs::read(file).expect("the kit");
        kit_of_file(&[("wireframe-kit".to_owned(), kit)], &Limits::default()).expect("a kit")
    };
    let (entries, libraries) = if matches!(what, "parse" | "read") { Default::default() } else { kit() };
    let mut best = f64::INFINITY;
    for _ in 0..if small { 15 } else { 3 } {
        let start = Instant::now();
        match what {
            "parse" => {
                let parsed: TypedFile = serde_json::from_slice(&bytes).expect("the screens parse");
                std::hint::black_box(&parsed);
            }
            "read" => {
                let read = heddle_figma::read(&bytes, &Limits::default()).expect("the screens read");
                std::hint::black_box(&read);
            }
            _ => {
                let made = convert(&Frame {
                    source: &bytes,
                    node_id: Some("bench"),
                    kit: &entries,
                    design: &[],
                    libraries: &libraries,
                    pictures: match what {
                        "svg" => Pictures::Svg,
                        "png" => Pictures::Png,
                        _ => Pictures::None,
                    },
                    snapshot: what == "snapshot",
                    limits: Limits::default(),
                    cancel: &Cancel::default(),
                    wireframe_id: &str::to_owned,
                })
                .expect("the screens convert");
                assert!(made.result.text.lost.is_empty() && made.result.text.seen > 0);
                std::hint::black_box(&made);
            }
        }
        best = best.min(start.elapsed().as_secs_f64() * 1000.0);
    }
    println!("{best} {}", peak_mib());
}

fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).expect("a peak");
    line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok()).expect("KiB") / 1024.0
}

/// The samples' screens below each other in one frame, again and again, until there are so many layers.
fn screens(layers: usize) -> Vec<u8> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/screens.json");
    let file: Value = serde_json::from_slice(&std::fs::read(file).expect("the samples")).expect("JSON");
    let mut frames = Vec::new();
    collect(&file["document"], &mut frames);
    let (mut children, mut count, mut y, mut round) = (Vec::new(), 1, 0.0, 0);
    'full: loop {
        for frame in &frames {
            for child in frame["children"].as_array().into_iter().flatten() {
                let size = self::layers(child);
                if count + size > layers {
                    if round > 0 || count > layers / 2 {
                        break 'full;
                    }
                    continue;
                }
                let mut copy = child.clone();
                let left = frame["absoluteBoundingBox"]["x"].as_f64().unwrap_or(0.0);
                let top = frame["absoluteBoundingBox"]["y"].as_f64().unwrap_or(0.0);
                shift(&mut copy, -left, y - top, round);
                children.push(copy);
                count += size;
            }
            y += frame["absoluteBoundingBox"]["height"].as_f64().unwrap_or(0.0);
            round += 1;
        }
    }
    let frame = json!({
        "id": "bench", "name": "Bench", "type": "FRAME", "clipsContent": true, "children": children,
        "absoluteBoundingBox": {"x": 0.0, "y": 0.0, "width": 1440.0, "height": y},
        "fills": [{"type": "SOLID", "blendMode": "NORMAL", "color": {"r": 1, "g": 1, "b": 1, "a": 1}}],
    });
    let document = json!({"id": "0:0", "name": "Document", "type": "DOCUMENT", "children": [
        {"id": "0:1", "name": "Page", "type": "CANVAS", "children": [frame]}]});
    serde_json::to_vec(&json!({
        "name": "Bench", "document": document, "components": file["components"],
        "componentSets": file["componentSets"], "styles": file["styles"],
    }))
    .expect("JSON")
}

fn collect<'v>(node: &'v Value, frames: &mut Vec<&'v Value>) {
    if node["type"] == "FRAME" {
        frames.push(node);
        return;
    }
    for child in node["children"].as_array().into_iter().flatten() {
        collect(child, frames);
    }
}

fn layers(node: &Value) -> usize {
    1 + node["children"].as_array().into_iter().flatten().map(layers).sum::<usize>()
}

fn shift(node: &mut Value, dx: f64, dy: f64, round: usize) {
    for name in ["absoluteBoundingBox", "absoluteRenderBounds"] {
        for (axis, by) in [("x", dx), ("y", dy)] {
            if let Some(at) = node[name][axis].as_f64() {
                node[name][axis] = json!(at + by);
            }
        }
    }
    if let Some(id) = node["id"].as_str() {
        node["id"] = json!(format!("{id}r{round}"));
    }
    for child in node.get_mut("children").and_then(Value::as_array_mut).into_iter().flatten() {
        shift(child, dx, dy, round);
    }
}

/// Figma's file as one would type it without any thought of speed or tolerance.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypedFile {
    name: String,
    document: TypedNode,
    #[serde(default)]
    components: HashMap<String, TypedMeta>,
    #[serde(default)]
    component_sets: HashMap<String, TypedMeta>,
    #[serde(default)]
    styles: HashMap<String, TypedMeta>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct TypedMeta {
    key: String,
    name: String,
    description: String,
    remote: bool,
    component_set_id: Option<String>,
    style_type: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct TypedNode {
    id: String,
    name: String,
    #[serde(rename = "type")]
    kind: String,
    visible: Option<bool>,
    children: Vec<Self>,
    absolute_bounding_box: Option<TypedRect>,
    absolute_render_bounds: Option<TypedRect>,
    relative_transform: Option<[[f64; 3]; 2]>,
    size: Option<TypedRect>,
    rotation: Option<f64>,
    opacity: Option<f64>,
    blend_mode: Option<String>,
    fills: Vec<TypedPaint>,
    strokes: Vec<TypedPaint>,
    stroke_weight: Option<f64>,
    stroke_align: Option<String>,
    corner_radius: Option<f64>,
    rectangle_corner_radii: Option<[f64; 4]>,
    effects: Vec<TypedEffect>,
    is_mask: Option<bool>,
    clips_content: Option<bool>,
    fill_geometry: Vec<TypedPath>,
    stroke_geometry: Vec<TypedPath>,
    layout_mode: Option<String>,
    layout_wrap: Option<String>,
    layout_positioning: Option<String>,
    layout_sizing_horizontal: Option<String>,
    layout_sizing_vertical: Option<String>,
    layout_align: Option<String>,
    layout_grow: Option<f64>,
    item_spacing: Option<f64>,
    padding_left: Option<f64>,
    padding_right: Option<f64>,
    padding_top: Option<f64>,
    padding_bottom: Option<f64>,
    primary_axis_align_items: Option<String>,
    counter_axis_align_items: Option<String>,
    primary_axis_sizing_mode: Option<String>,
    counter_axis_sizing_mode: Option<String>,
    constraints: Option<HashMap<String, String>>,
    characters: Option<String>,
    style: Option<TypedTextStyle>,
    character_style_overrides: Vec<u32>,
    style_override_table: HashMap<String, TypedTextStyle>,
    component_id: Option<String>,
    component_properties: HashMap<String, TypedProperty>,
    component_property_references: HashMap<String, String>,
    styles: HashMap<String, String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TypedRect {
    x: Option<f64>,
    y: Option<f64>,
    width: Option<f64>,
    height: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypedPaint {
    #[serde(rename = "type")]
    kind: String,
    visible: Option<bool>,
    opacity: Option<f64>,
    blend_mode: Option<String>,
    color: Option<HashMap<String, f64>>,
    image_ref: Option<String>,
    scale_mode: Option<String>,
    #[serde(default)]
    gradient_handle_positions: Vec<TypedRect>,
    #[serde(default)]
    gradient_stops: Vec<TypedStop>,
}

#[derive(Deserialize)]
struct TypedStop {
    position: f64,
    color: HashMap<String, f64>,
}

#[derive(Deserialize)]
struct TypedEffect {
    #[serde(rename = "type")]
    kind: String,
    visible: Option<bool>,
    color: Option<HashMap<String, f64>>,
    offset: Option<TypedRect>,
    radius: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypedPath {
    path: String,
    winding_rule: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct TypedTextStyle {
    font_family: Option<String>,
    font_weight: Option<f64>,
    font_size: Option<f64>,
    line_height_px: Option<f64>,
    letter_spacing: Option<f64>,
    text_align_horizontal: Option<String>,
    text_align_vertical: Option<String>,
    fills: Option<Vec<TypedPaint>>,
}

#[derive(Deserialize)]
struct TypedProperty {
    #[serde(rename = "type")]
    kind: String,
    value: Value,
}

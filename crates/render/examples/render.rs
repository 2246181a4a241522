//! Draws one frame of a Figma file: `render FILE NODE|- OUT.svg|OUT.png [SCALE]`. With `-` it takes the largest
//! top-level frame; without `NODE` and `OUT` it lists them.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use heddle_figma::{Document, Limits, NodeIndex};
use heddle_render::{Fonts, Options, PngLimits, png, svg};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: render FILE [NODE|- OUT.svg|OUT.png [SCALE]]")?;
    let limits = Limits::default();
    let packed = std::fs::read(&file)?;
    let bytes = heddle_figma::decompress(&packed, &limits)?;
    let clock = Instant::now();
    let document = heddle_figma::read(&bytes, &limits)?;
    let reading = clock.elapsed();
    let Some(node) = arguments.next() else {
        for index in document.top_level_frames() {
            let node = document.node(index);
            let (size, count) = (node.bounds, document.subtree(index).len());
            println!("{}\t{:.0}x{:.0}\t{count}\t{}", node.id, size.width, size.height, node.name);
        }
        return Ok(());
    };
    let out = arguments.next().ok_or("where to?")?;
    let scale = arguments.next().map_or(Ok(1.0), |s| s.parse())?;
    let node = if node == "-" { largest(&document) } else { document.find(&node) }.ok_or("no such node")?;
    let clock = Instant::now();
    let fonts = Fonts::bundled();
    let loading = clock.elapsed();
    let clock = Instant::now();
    let picture = svg(&document, node, fonts, &Options::default());
    let drawing = clock.elapsed();
    eprint!(
        "{} nodes, read {reading:.1?}, fonts {loading:.1?}, svg {drawing:.1?} {} bytes",
        document.subtree(node).len(),
        picture.svg.len()
    );
    if Path::new(&out).extension().is_some_and(|e| e == "png") {
        let clock = Instant::now();
        let pixels = png(&picture, scale, &PngLimits::default())?;
        let taken = clock.elapsed();
        eprint!(", png {taken:.1?} {} bytes {}x{}", pixels.bytes.len(), pixels.width, pixels.height);
        std::fs::write(&out, &pixels.bytes)?;
    } else {
        std::fs::write(&out, &picture.svg)?;
    }
    eprintln!();
    for warning in &picture.warnings {
        eprintln!("  {} x{} ({:?}): {}", warning.code, warning.count, warning.node_id, warning.message);
    }
    Ok(())
}

fn largest(document: &Document<'_>) -> Option<NodeIndex> {
    document.top_level_frames().into_iter().max_by_key(|index| document.subtree(*index).len())
}

//! Reads every file named on the command line and says in one line each what came of it.

use std::time::Instant;

use heddle_figma::{Limits, decompress, read, snapshot};

fn main() {
    let limits = Limits::default();
    for path in std::env::args().skip(1) {
        let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
        let Ok(packed) = std::fs::read(&path) else { continue };
        let bytes = match decompress(&packed, &limits) {
            Ok(bytes) => bytes,
            Err(error) => {
                println!("{name}: {}: {error}", error.code());
                continue;
            }
        };
        let start = Instant::now();
        match read(&bytes, &limits) {
            Ok(document) => {
                let frames = document.top_level_frames();
                let took = start.elapsed();
                let largest = frames.iter().max_by_key(|f| document.subtree(**f).len());
                let cut = largest.map(|f| snapshot(&bytes, &document.node(*f).id, &limits));
                let cut = match cut {
                    Some(Ok(cut)) => format!("{} B {}", cut.bytes.len(), &cut.hash[..8]),
                    Some(Err(error)) => format!("{error}"),
                    None => "none".to_owned(),
                };
                let warnings: Vec<String> =
                    document.warnings.iter().map(|w| format!("{}×{}", w.code, w.count)).collect();
                println!(
                    "{name}: {} nodes, {} frames, {} components, {took:.1?}; snapshot {cut}; {}",
                    document.nodes.len(),
                    frames.len(),
                    document.components.len(),
                    warnings.join(" ")
                );
            }
            Err(error) => println!("{name}: {}: {error}", error.code()),
        }
    }
}

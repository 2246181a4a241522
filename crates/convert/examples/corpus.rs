//! `KIT FILE…`: converts the largest frame of each file with the kit and prints one line each.

use std::time::Instant;

use heddle_convert::des2wf::{DesignNames, convert};
use heddle_convert::kit::Kit;
use heddle_convert::library::Target;
use heddle_convert::sweep::sweep;
use heddle_figma::{Limits, decompress, read};

fn main() {
    let limits = Limits::default();
    let mut paths = std::env::args().skip(1);
    let kit = paths.next().and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
    let document = read(&kit, &limits).expect("a kit");
    let swept = sweep(&document, Target::Kit, 1, "kit", "kit-hash");
    let kit = Kit::from_entries(&swept.entries);
    println!("{:?}", kit.summary);
    for path in paths {
        let name = path.rsplit('/').next().unwrap_or(&path).replace(".json.gz", "");
        let Ok(packed) = std::fs::read(&path) else { continue };
        let Ok(bytes) = decompress(&packed, &limits) else { continue };
        let Ok(document) = read(&bytes, &limits) else { continue };
        let frames = document.top_level_frames();
        let Some(frame) = frames.iter().max_by_key(|f| document.subtree(**f).len()) else {
            println!("{name}: no frames");
            continue;
        };
        let start = Instant::now();
        match convert(&document, *frame, &kit, &DesignNames::default()) {
            Ok(made) => {
                let took = start.elapsed();
                let r = &made.result;
                println!(
                    "{name}: {} nodes → {}, {} inst; text {}/{}; {:.4} {:?} T{:.2} L{:.2} K{:.2} H{:.2} G{:.2}; flags {} {took:.1?}",
                    document.subtree(*frame).len(),
                    r.summary.nodes,
                    r.summary.instances,
                    r.text.kept,
                    r.text.seen,
                    r.score.value,
                    r.score.band,
                    r.score.parts.text.unwrap_or(-1.0),
                    r.score.parts.layout.unwrap_or(-1.0),
                    r.score.parts.kit.unwrap_or(-1.0),
                    r.score.parts.hierarchy.unwrap_or(-1.0),
                    r.score.parts.graphics.unwrap_or(-1.0),
                    r.confidence.flag_count,
                );
                let mut names: Vec<_> = r.summary.components.iter().collect();
                names.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
                println!("    {names:?}");
            }
            Err(error) => println!("{name}: {error}"),
        }
    }
}

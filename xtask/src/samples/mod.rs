//! The sample files: a wireframe kit, a design system and screens, written as Figma's REST JSON.
//!
//! Sources are the builders in `kit`, `system` and `screens`; boxes come from a layout engine and text is
//! measured with the bundled fonts, so that the same sources always give the same bytes.

mod board;
mod emit;
mod file;
mod geometry;
mod icons;
mod json;
mod kit;
mod layout;
mod library;
mod make;
mod node;
mod paint;
mod screens;
mod system;
#[cfg(test)]
mod tests;
mod text;
mod typeset;
mod vector;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use file::File;

/// The sample files: name and content.
fn files() -> Vec<(&'static str, String)> {
    let kit = kit::library();
    let kit_file = File {
        name: "Wireframe kit",
        version: "2100000000000000001",
        pages: board::pages(&kit),
        library: &kit,
    };
    let system = system::library(false);
    let mut pages = vec![system::foundations(&system)];
    pages.extend(board::pages(&system));
    let system_file = File { name: "Hinoki", version: "2100000000000000002", pages, library: &system };
    let copy = system::library(true);
    let screens = File {
        name: "Hinoki screens",
        version: "2100000000000000003",
        pages: screens::pages(&copy),
        library: &copy,
    };
    vec![
        ("wireframe-kit.json", kit_file.print()),
        ("design-system.json", system_file.print()),
        ("screens.json", screens.print()),
    ]
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples")
}

/// Writes `samples/`, or with `--check` tells whether the files there are what the sources give.
pub fn run(arguments: &[String]) -> ExitCode {
    let check = arguments.iter().any(|argument| argument == "--check");
    let mut stale = false;
    for (name, content) in files() {
        let path = folder().join(name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == content) {
            continue;
        }
        if check {
            eprintln!("samples/{name} is stale: run `cargo xtask samples`");
            stale = true;
            continue;
        }
        let written = std::fs::create_dir_all(folder()).and_then(|()| std::fs::write(&path, &content));
        if let Err(error) = written {
            eprintln!("samples/{name} can't be written: {error}");
            return ExitCode::FAILURE;
        }
        println!("samples/{name}: {} kB", content.len() / 1024);
    }
    if stale { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

//! Hinoki, the design system of an imaginary house of small inns: an app for guests, a desk for hosts.
#![expect(clippy::too_many_lines, reason = "a family's sets read best as one list")]

mod controls;
mod data;
mod feedback;
mod fields;
mod foundation;
mod navigation;
mod rows;
pub mod scenes;
pub mod style;
mod surfaces;
mod tables;
mod writing;

use super::icons::{GLYPHS, component};
use super::library::Library;

pub use foundation::foundations;

/// The design system; `remote` for the copy that the screens' file keeps of it.
pub fn library(remote: bool) -> Library {
    let mut library = Library::new("Hinoki", remote);
    library.page("Icons");
    for (name, _) in GLYPHS.iter().filter(|(name, _)| *name != "placeholder") {
        let description = format!("{name}, 24 px, round strokes of 1.75 px.");
        library.single(&format!("Icon/{name}"), &description, |_| component(name, &style::INK.into(), 1.75));
    }
    library.page("Writing");
    writing::add(&mut library);
    library.page("Data");
    data::add(&mut library);
    scenes::add(&mut library);
    library.page("Actions");
    controls::actions(&mut library);
    library.page("Fields");
    controls::controls(&mut library);
    fields::add(&mut library);
    library.page("Navigation");
    navigation::add(&mut library);
    library.page("Surfaces");
    surfaces::add(&mut library);
    rows::add(&mut library);
    library.page("Tables and charts");
    tables::add(&mut library);
    library.page("Feedback");
    feedback::add(&mut library);
    library
}

//! The wireframe kit: grey, neutral, and told by its axes.
#![expect(clippy::too_many_lines, reason = "a family's sets read best as one list")]

mod actions;
mod content;
mod data;
mod feedback;
mod forms;
mod navigation;
mod style;
mod writing;

use super::icons::{GLYPHS, component};
use super::library::Library;

/// Icons of the design system that the kit has no use for: it stands for them with a placeholder.
const KEPT: &[&str] = &[
    "placeholder",
    "home",
    "search",
    "user",
    "bell",
    "calendar",
    "star",
    "chevron-left",
    "chevron-right",
    "chevron-down",
    "arrow-left",
    "arrow-right",
    "plus",
    "minus",
    "check",
    "close",
    "menu",
    "more",
    "filter",
    "image",
    "info",
    "alert",
    "clock",
    "chart",
    "gear",
    "heart",
];

/// The kit.
pub fn library() -> Library {
    let mut kit = Library::new("Wireframe kit", false);
    kit.page("Icons");
    for (name, _) in GLYPHS.iter().filter(|(name, _)| KEPT.contains(name)) {
        let description = format!("Icon of 24 px: {name}.");
        kit.single(&format!("Icon/{name}"), &description, |_| component(name, &style::INK.into(), 1.5));
    }
    kit.page("Text");
    writing::add(&mut kit);
    kit.page("Content");
    content::add(&mut kit);
    kit.page("Actions");
    actions::add(&mut kit);
    kit.page("Forms");
    forms::add(&mut kit);
    kit.page("Navigation");
    navigation::add(&mut kit);
    kit.page("Data");
    data::add(&mut kit);
    kit.page("Feedback");
    feedback::add(&mut kit);
    kit
}

//! Text blocks.

use super::style::{BODY, CAPTION, CAPTION_STRONG, FAINT, H1, H2, H3, H4, INK, MUTED, SMALL};
use crate::samples::library::Library;
use crate::samples::node::{Node, column, row, text};

/// Words that take about so many lines.
fn words(lines: usize) -> &'static str {
    match lines {
        1 => "One plain sentence fits on one line.",
        2 => "A paragraph says what the page is about. It wraps at the width it is given.",
        3 => {
            "A paragraph says what the page is about. It wraps at the width it is given. Replace it with the words of \
             the design."
        }
        _ => {
            "A paragraph says what the page is about. It wraps at the width it is given. Replace it with the words of \
             the design. The box grows downwards and keeps its width, so that nothing is cut off or lost."
        }
    }
}

/// Adds the text blocks.
pub fn add(kit: &mut Library) {
    kit.set("Heading", "Titles of screens and sections.", &[("Level", &["1", "2", "3", "4"])], |_, pick| {
        let style = [H1, H2, H3, H4][pick.number("Level") - 1];
        column("").wide(360.0).child(text("Text", style, "Heading").fill(INK).fill_width().prop("Text"))
    });
    kit.set(
        "Paragraph",
        "Running text. Lines says how much it usually holds.",
        &[("Size", &["md", "sm"]), ("Lines", &["1", "2", "3", "5"])],
        |_, pick| {
            let style = if pick.is("Size", "md") { BODY } else { SMALL };
            column("")
                .wide(360.0)
                .child(text("Text", style, words(pick.number("Lines"))).fill(INK).fill_width().prop("Text"))
        },
    );
    kit.set(
        "Caption",
        "Small print, overlines and hints.",
        &[("Kind", &["Plain", "Strong", "Faint"])],
        |_, pick| {
            let (style, tone) = match pick.get("Kind") {
                "Strong" => (CAPTION_STRONG, INK),
                "Faint" => (CAPTION, FAINT),
                _ => (CAPTION, MUTED),
            };
            column("").wide(200.0).child(text("Text", style, "Caption").fill(tone).fill_width().prop("Text"))
        },
    );
    kit.set(
        "Section header",
        "A title with an action at the other end.",
        &[("Action", &["None", "Link"]), ("Lines", &["1", "2"])],
        |_, pick| {
            let titles = column("Titles").gap(4.0).fill_width();
            let mut titles = titles.child(text("Title", H3, "Section").fill(INK).fill_width().prop("Title"));
            if pick.is("Lines", "2") {
                titles =
                    titles.child(text("Body", SMALL, "What is in it").fill(MUTED).fill_width().prop("Body"));
            }
            let header = row("").wide(358.0).gap(16.0).middle().child(titles);
            if pick.is("Action", "None") { header } else { header.child(link("Action", "See all")) }
        },
    );
    kit.set(
        "Key value",
        "A name and what it is, in one line.",
        &[("Weight", &["Regular", "Strong"])],
        |_, pick| {
            let style = if pick.is("Weight", "Strong") { H4 } else { SMALL };
            row("")
                .wide(358.0)
                .gap(16.0)
                .middle()
                .child(text("Key", style, "Name").fill(MUTED).fill_width().prop("Key"))
                .child(text("Value", style, "Value").fill(INK).text_align("RIGHT").prop("Value"))
        },
    );
}

fn link(property: &str, label: &str) -> Node {
    text(property, super::style::LABEL, label).fill(INK).underlined().prop(property)
}

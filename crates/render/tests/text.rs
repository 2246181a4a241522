//! Text: runs, wrapping, alignment, scripts, and what no font has.

mod common;

use common::{Pixels, at, frame, picture, pixels, solid, text};

fn one(at: &str, characters: &str, style: &str) -> heddle_render::Picture {
    picture(&frame("", &[text("2:1", at, characters, style)]))
}

fn dark(at: &str, characters: &str, style: &str) -> (u32, u32, u32, u32) {
    Pixels::of(&one(at, characters, style)).dark().expect("letters")
}

// proves F21: a run of its own keeps its own style; the rest keeps the text's.
#[test]
fn runs_have_their_own_styles() {
    let rich = format!(
        r#"{{"id":"2:1","name":"Text","type":"TEXT",{},"characters":"III III","fills":[{}],
            "style":{{"fontFamily":"Inter","fontWeight":400,"fontSize":20,"lineHeightPx":40,"lineHeightUnit":"PIXELS"}},
            "characterStyleOverrides":[0,0,0,0,5,5,5],
            "styleOverrideTable":{{"5":{{"fontWeight":700,"fontSize":40,"fills":[{}]}}}}}}"#,
        at(0.0, 0.0, 100.0, 40.0),
        solid("000000"),
        solid("ff0000")
    );
    let picture = picture(&frame("", &[rich]));
    assert!(picture.svg.contains("aria-label=\"III III\""));
    assert!(
        picture.svg.contains("fill=\"#f00\"") && picture.svg.contains("fill=\"#000\""),
        "{}",
        picture.svg
    );
}

// proves F19: an emoji is drawn, and the text around it.
#[test]
fn emoji_are_drawn() {
    let picture = one(&at(0.0, 0.0, 100.0, 20.0), "a 😀 b", "");
    assert!(picture.warnings.get("glyph_missing").is_none());
    assert_eq!(picture.svg.matches("<use ").count(), 3, "{}", picture.svg);
    // A family of emoji is one glyph, or at least no box.
    let picture = one(&at(0.0, 0.0, 100.0, 20.0), "👩‍👩‍👧 ❤️", "");
    assert!(picture.warnings.get("glyph_missing").is_none());
}

#[test]
fn icons_of_unknown_fonts_become_boxes() {
    let picture = one(&at(0.0, 0.0, 100.0, 20.0), "\u{e001}x", "");
    assert!(picture.svg.contains("href=\"#gw\""), "{}", picture.svg);
    assert_eq!(picture.warnings.get("glyph_missing").map(|w| w.count), Some(1));
}

#[test]
fn texts_wrap_at_their_box_and_break_where_told() {
    let lines = |characters: &str, width: f64, style: &str| {
        let (_, top, _, bottom) = dark(&at(0.0, 0.0, width, 100.0), characters, style);
        (bottom - top) / 20 + 1
    };
    assert_eq!(lines("xxxx xxxx", 100.0, ""), 1);
    assert_eq!(lines("xxxx xxxx", 50.0, ""), 2);
    assert_eq!(lines("xxxx\nxxxx", 100.0, ""), 2);
    assert_eq!(lines("xxxx\u{2028}xxxx", 100.0, ""), 2);
    // A word that is too long breaks within itself; ideographs break anywhere.
    assert_eq!(lines("xxxxxxxx", 40.0, ""), 2);
    assert_eq!(lines("日本語日本語", 52.0, ""), 2);
    // A carriage return is no break.
    assert_eq!(lines("xxxx\rxxxx", 100.0, ""), 1);
}

// proves D20: Japanese does not begin a line with a full stop (kinsoku).
#[test]
fn no_line_begins_with_closing_punctuation() {
    let picture = one(&at(0.0, 0.0, 48.0, 60.0), "日本語。日", "");
    let first = picture.svg.find("<use ").expect("glyphs");
    // Three ideographs fit; the full stop takes the third along to the next line.
    assert_eq!(picture.svg[first..].split("</g>").next().map(|line| line.matches("<use ").count()), Some(2));
}

#[test]
fn alignment_follows_the_box() {
    let place = |style: &str| dark(&at(0.0, 0.0, 100.0, 60.0), "H", style);
    let (left, top, ..) = place("");
    assert!(left < 4 && top < 8, "{left} {top}");
    let (left, top, right, _) = place(r#","textAlignHorizontal":"CENTER","textAlignVertical":"CENTER""#);
    assert!(
        (44..50).contains(&left) && (50..56).contains(&right) && (20..28).contains(&top),
        "{left} {right} {top}"
    );
    let (_, _, right, bottom) = place(r#","textAlignHorizontal":"RIGHT","textAlignVertical":"BOTTOM""#);
    assert!(right > 95 && (50..58).contains(&bottom), "{right} {bottom}");
}

#[test]
fn a_text_whose_box_follows_it_is_squeezed_rather_than_let_out() {
    let style = r#","textAutoResize":"WIDTH_AND_HEIGHT""#;
    let (_, _, natural, _) = dark(&at(0.0, 0.0, 99.0, 20.0), "HHHHHH", style);
    let picture = one(&at(0.0, 0.0, f64::from(natural) * 0.9, 20.0), "HHHHHH", style);
    let (_, _, right, _) = Pixels::of(&picture).dark().expect("letters");
    assert!(f64::from(right) <= f64::from(natural) * 0.9 && right > natural / 2, "{right} of {natural}");
    assert!(picture.warnings.get("text_squeezed").is_some());
}

#[test]
fn a_cut_text_ends_in_an_ellipsis() {
    let style = r#","textAutoResize":"TRUNCATE","textTruncation":"ENDING","maxLines":1"#;
    let (_, _, right, bottom) = dark(&at(0.0, 0.0, 60.0, 20.0), "HHHH HHHH HHHH", style);
    assert!(right < 60 && bottom < 20, "{right} {bottom}");
}

#[test]
fn case_and_lines_on_the_text() {
    let upper = one(&at(0.0, 0.0, 100.0, 20.0), "hh", r#","textCase":"UPPER""#);
    let capitals = one(&at(0.0, 0.0, 100.0, 20.0), "HH", "");
    let glyphs = |svg: &str| svg[svg.find("<use").unwrap()..].to_owned();
    assert_eq!(glyphs(&upper.svg), glyphs(&capitals.svg));
    assert!(upper.svg.contains("aria-label=\"hh\""));
    let (_, _, _, plain) = dark(&at(0.0, 0.0, 100.0, 20.0), "HH", "");
    let (_, _, _, underlined) = dark(&at(0.0, 0.0, 100.0, 20.0), "HH", r#","textDecoration":"UNDERLINE""#);
    assert!(underlined > plain);
}

// proves D20: Arabic letters join, and the line runs from right to left.
#[test]
fn arabic_joins_and_runs_from_the_right() {
    let uses = |text: &str| one(&at(0.0, 0.0, 100.0, 20.0), text, "").svg;
    // Within a word the letters take other forms than alone.
    let (joined, alone) = (uses("ببب"), uses("ب ب ب"));
    let paths = |svg: &str| svg.matches("<path id=\"g").count();
    assert!(paths(&joined) > paths(&alone), "{joined}");
    // Latin in between keeps its own direction, between its neighbours.
    let mixed = uses("سلام OK سلام");
    assert!(mixed.contains("aria-label=\"سلام OK سلام\""));
}

#[test]
fn each_script_has_its_glyphs() {
    for characters in [
        "Ελλάδα",
        "Привет",
        "日本語ひらがな",
        "한국어",
        "简体中文",
        "العربية",
        "עברית",
        "ภาษาไทย",
        "हिन्दी",
        "Türkçe Łódź",
        "→ ✓ ● ★",
    ] {
        let picture = one(&at(0.0, 0.0, 100.0, 20.0), characters, r#","fontWeight":600"#);
        assert!(picture.warnings.get("glyph_missing").is_none(), "{characters}");
    }
}

// Where the file has the letters' outlines, they are drawn in the designer's own font.
#[test]
fn texts_with_outlines_are_drawn_by_them() {
    let outlined = text("2:1", &at(0.0, 0.0, 100.0, 20.0), "H", "").replace(
        r#""fills""#,
        r#""fillGeometry":[{"path":"M50 0H70V20H50Z","windingRule":"NONZERO"}],"fills""#,
    );
    let picture = picture(&frame("", &[outlined]));
    assert!(picture.svg.contains("aria-label=\"H\"") && !picture.svg.contains("<use"), "{}", picture.svg);
    assert_eq!(Pixels::of(&picture).dark(), Some((50, 0, 69, 19)));
}

#[test]
fn gradient_text_is_filled_as_a_whole() {
    let document = frame("", &[text("2:1", &at(0.0, 0.0, 100.0, 20.0), "HHHHHHH", "")]);
    let fills = r#""fills":[{"type":"GRADIENT_LINEAR","gradientHandlePositions":[{"x":0,"y":0},{"x":1,"y":0},{"x":0,"y":1}],
        "gradientStops":[{"position":0,"color":{"r":1,"g":0,"b":0,"a":1}},{"position":1,"color":{"r":0,"g":0,"b":1,"a":1}}]}],"style""#;
    let solid = format!(r#""fills":[{}],"#, solid("000000"));
    let at_style = document.find("\"style\"").unwrap();
    let at_fills = document[..at_style].rfind("\"fills\"").unwrap();
    let document = format!("{}{fills}{}", &document[..at_fills], &document[at_style + 7..]);
    assert!(!document[at_fills..].contains(&solid));
    let seen = pixels(&document);
    let colors: Vec<String> = (0..100).map(|x| seen.at(x, 10)).filter(|c| c != "ffffff").collect();
    let channel = |c: &String, at: usize| u8::from_str_radix(&c[at..at + 2], 16).unwrap();
    assert!(colors.iter().any(|c| channel(c, 0) > 200 && channel(c, 4) < 60));
    assert!(colors.iter().any(|c| channel(c, 4) > 160 && channel(c, 0) < 120));
}

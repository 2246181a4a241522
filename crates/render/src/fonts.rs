//! The fonts that travel with this crate, and which of them draws a character.

use std::sync::OnceLock;

use harfrust::{Font, GlyphId};

/// A font of the bundle.
pub(crate) struct Face {
    pub font: Font,
    /// 1 over units per em.
    pub scale: f32,
}

macro_rules! bundle {
    ($($face:ident $file:literal),* $(,)?) => {
        /// Names of the bundled faces; the value is the index.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum FaceName { $($face),* }

        static FILES: &[(&str, &[u8])] = &[$(($file, include_bytes!(concat!("../fonts/", $file)))),*];
    };
}

bundle! {
    Regular "Inter-Regular.otf",
    Medium "Inter-Medium.otf",
    SemiBold "Inter-SemiBold.otf",
    Bold "Inter-Bold.otf",
    Italic "Inter-Italic.otf",
    Cjk "NotoSansCJKjp-Regular.subset.otf",
    CjkBold "NotoSansCJKjp-Bold.subset.otf",
    Arabic "NotoSansArabic-Regular.ttf",
    ArabicBold "NotoSansArabic-Bold.ttf",
    Hebrew "NotoSansHebrew-Regular.ttf",
    Thai "NotoSansThai-Regular.ttf",
    Devanagari "NotoSansDevanagari-Regular.ttf",
    Symbols "NotoSansSymbols2-Regular.subset.ttf",
    Emoji "NotoEmoji-Regular.ttf",
}

impl FaceName {
    /// Whether strokes of this face are as heavy as a bold text wants them.
    pub fn is_bold(self) -> bool {
        matches!(self, Self::SemiBold | Self::Bold | Self::CjkBold | Self::ArabicBold)
    }
}

/// The bundled fonts: Inter, and Noto for the scripts that Inter lacks. Nothing of the machine's own fonts is used, so
/// that a picture looks the same everywhere. A copy is a pointer; any number of threads may share it.
#[derive(Clone, Copy)]
pub struct Fonts(&'static [Face]);

impl std::fmt::Debug for Fonts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Fonts").field(&self.0.len()).finish()
    }
}

impl Fonts {
    /// The fonts of the bundle, parsed at the first call in a process.
    pub fn bundled() -> Self {
        static FACES: OnceLock<Vec<Face>> = OnceLock::new();
        Self(FACES.get_or_init(|| {
            let faces = FILES.iter().filter_map(|(_, bytes)| Font::new(*bytes, 0));
            faces
                .map(|font| {
                    let scale = 1.0 / f32::from(font.units_per_em().max(1));
                    Face { font, scale }
                })
                .collect()
        }))
    }

    pub(crate) fn face(self, name: FaceName) -> Option<&'static Face> {
        self.0.get(name as usize)
    }

    /// The glyph of a character in a face.
    pub(crate) fn glyph(self, name: FaceName, c: char) -> Option<GlyphId> {
        self.face(name)?.font.charmap().map_unicode(c).filter(|glyph| glyph.to_u32() != 0)
    }

    /// The face that draws a character: the wanted one where it can, else the first of the others that does.
    pub(crate) fn pick(self, wanted: FaceName, c: char, emoji: bool) -> Option<FaceName> {
        use FaceName::{
            Arabic, ArabicBold, Bold, Cjk, CjkBold, Devanagari, Emoji, Hebrew, Regular, SemiBold, Symbols,
            Thai,
        };
        let has = |name: &FaceName| self.glyph(*name, c).is_some();
        if emoji && has(&Emoji) {
            return Some(Emoji);
        }
        let order = match wanted {
            SemiBold | Bold => {
                [wanted, CjkBold, Cjk, ArabicBold, Hebrew, Thai, Devanagari, Symbols, Emoji, Regular]
            }
            _ => [wanted, Cjk, CjkBold, Arabic, Hebrew, Thai, Devanagari, Symbols, Emoji, Regular],
        };
        order.into_iter().find(has)
    }
}

/// Whether a character is shown as an emoji unless something else is asked for (`Emoji_Presentation`, in ranges that
/// err towards emoji where nothing else would draw the character anyway).
pub(crate) fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{1f004}' | '\u{1f0cf}' | '\u{1f18e}' | '\u{1f191}'..='\u{1f19a}' | '\u{1f1e6}'..='\u{1f1ff}'
        | '\u{1f201}' | '\u{1f21a}' | '\u{1f22f}' | '\u{1f232}'..='\u{1f236}' | '\u{1f250}' | '\u{1f251}'
        | '\u{1f300}'..='\u{1f64f}' | '\u{1f680}'..='\u{1f6ff}' | '\u{1f7e0}'..='\u{1f7eb}'
        | '\u{1f90c}'..='\u{1f9ff}' | '\u{1fa70}'..='\u{1faff}'
        | '\u{231a}' | '\u{231b}' | '\u{23e9}'..='\u{23ec}' | '\u{23f0}' | '\u{23f3}' | '\u{25fd}' | '\u{25fe}'
        | '\u{2614}' | '\u{2615}' | '\u{2648}'..='\u{2653}' | '\u{267f}' | '\u{2693}' | '\u{26a1}' | '\u{26aa}'
        | '\u{26ab}' | '\u{26bd}' | '\u{26be}' | '\u{26c4}' | '\u{26c5}' | '\u{26ce}' | '\u{26d4}' | '\u{26ea}'
        | '\u{26f2}' | '\u{26f3}' | '\u{26f5}' | '\u{26fa}' | '\u{26fd}' | '\u{2705}' | '\u{270a}' | '\u{270b}'
        | '\u{2728}' | '\u{274c}' | '\u{274e}' | '\u{2753}'..='\u{2755}' | '\u{2757}' | '\u{2795}'..='\u{2797}'
        | '\u{27b0}' | '\u{27bf}' | '\u{2b1b}' | '\u{2b1c}' | '\u{2b50}' | '\u{2b55}')
}

/// Whether a character belongs to a private-use area: an icon of a font that nobody else has.
pub(crate) fn is_private(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{ffffd}' | '\u{100000}'..='\u{10fffd}')
}

/// What a designer's family is like where ours stands in for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Family {
    /// Above the baseline, in ems.
    pub ascent: f64,
    /// Below the baseline, in ems.
    pub descent: f64,
    /// Whether it is Inter itself.
    pub inter: bool,
    /// Whether its characters are icons whatever they spell.
    pub icons: bool,
}

/// Vertical metrics (`hhea`) of families that designs are full of, in ems: ascent, descent.
const METRICS: &[(&str, f64, f64)] = &[
    ("inter", 0.968_75, 0.241_477),
    ("roboto", 0.927_7, 0.244_1),
    ("sf ", 0.952_1, 0.241_2),
    ("pretendard", 0.952_1, 0.241_2),
    ("helvetica", 0.952_0, 0.213_0),
    ("arial", 0.905_3, 0.211_9),
    ("open sans", 1.068_8, 0.293_0),
    ("lato", 0.987, 0.213),
    ("montserrat", 0.968, 0.251),
    ("poppins", 1.05, 0.35),
    ("nunito", 1.011, 0.353),
    ("raleway", 0.94, 0.234),
    ("work sans", 0.93, 0.243),
    ("dm sans", 0.992, 0.31),
    ("rubik", 0.935, 0.25),
    ("noto sans cjk", 1.16, 0.288),
    ("noto sans jp", 1.16, 0.288),
    ("noto sans kr", 1.16, 0.288),
    ("noto sans sc", 1.16, 0.288),
    ("noto sans tc", 1.16, 0.288),
    ("noto sans", 1.069, 0.293),
    ("hiragino", 0.88, 0.12),
    ("pingfang", 1.06, 0.34),
    ("source sans", 0.984, 0.273),
    ("source han", 1.16, 0.288),
    ("times", 0.891, 0.216),
    ("georgia", 0.917, 0.219),
];

/// Parts of names of icon fonts.
const ICON_FAMILIES: &[&str] = &[
    "awesome",
    "material icons",
    "material symbols",
    "icomoon",
    "ionicons",
    "feather",
    "glyphicons",
    "remixicon",
    "phosphor",
    "fontello",
    "fluentsystemicons",
    "segoe mdl2",
    "segoe fluent icons",
    "bootstrap-icons",
];

/// What is known of a family by its name.
pub(crate) fn family(name: &str) -> Family {
    let lower = name.to_lowercase();
    let known = METRICS.iter().find(|(prefix, ..)| lower.starts_with(prefix) || lower == prefix.trim());
    let (ascent, descent) = known.map_or((0.968_75, 0.241_477), |(_, ascent, descent)| (*ascent, *descent));
    Family {
        ascent,
        descent,
        inter: lower.starts_with("inter"),
        icons: ICON_FAMILIES.iter().any(|part| lower.contains(part)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_bundle_parses() {
        assert_eq!(Fonts::bundled().0.len(), FILES.len());
    }

    // proves F19: an emoji has a face of its own, and so has each script of the bundle.
    #[test]
    fn each_script_finds_its_face() {
        let fonts = Fonts::bundled();
        for (c, face) in [
            ('A', FaceName::Bold),
            ('Я', FaceName::Bold),
            ('日', FaceName::CjkBold),
            ('한', FaceName::CjkBold),
            ('你', FaceName::CjkBold),
            ('س', FaceName::ArabicBold),
            ('ש', FaceName::Hebrew),
            ('ก', FaceName::Thai),
            ('ह', FaceName::Devanagari),
            ('😀', FaceName::Emoji),
        ] {
            assert_eq!(fonts.pick(FaceName::Bold, c, is_emoji(c)), Some(face), "{c}");
        }
        assert_eq!(fonts.pick(FaceName::Regular, '\u{e001}', false), None);
        assert!(is_private('\u{e001}'));
    }
}

//! The look of Hinoki, a house of small inns: evergreen and persimmon on rice paper.

use crate::samples::library::{Library, hash};
use crate::samples::make::Make;
use crate::samples::node::{Node, Pin, Place, row};
use crate::samples::paint::{Color, Effect, Effects, Fill, Paint, Tone, Type, inter, rgb, tone};

/// Brand colour of actions.
pub const EVERGREEN: Tone = tone("Brand/Evergreen", 0x17_49_3b);
/// Brand colour of large dark areas.
pub const FOREST: Tone = tone("Brand/Forest", 0x0d_2b_23);
/// Quiet brand area.
pub const MOSS: Tone = tone("Brand/Moss", 0xdc_e9_e2);
/// Quietest brand area.
pub const DEW: Tone = tone("Brand/Dew", 0xef_f5_f1);
/// Accent.
pub const PERSIMMON: Tone = tone("Accent/Persimmon", 0xd9_5a_2e);
/// Quiet accent area.
pub const PEACH: Tone = tone("Accent/Peach", 0xfb_e6_dc);
/// Stars and highlights.
pub const SUN: Tone = tone("Accent/Sun", 0xee_a9_30);
/// Text.
pub const INK: Tone = tone("Neutral/Ink", 0x1b_21_1e);
/// Secondary text.
pub const SLATE: Tone = tone("Neutral/Slate", 0x5b_66_60);
/// Placeholders and quiet icons.
pub const MIST: Tone = tone("Neutral/Mist", 0x94_9e_98);
/// Outlines.
pub const LINE: Tone = tone("Neutral/Line", 0xe4_e6_e1);
/// Quiet areas.
pub const SAND: Tone = tone("Neutral/Sand", 0xf0_ed_e5);
/// Backgrounds of screens.
pub const RICE: Tone = tone("Neutral/Rice", 0xf9_f7_f2);
/// Cards.
pub const PAPER: Tone = tone("Neutral/Paper", 0xff_ff_ff);
/// It went well.
pub const SUCCESS: Tone = tone("Signal/Success", 0x2b_7a_57);
/// Look out.
pub const WARNING: Tone = tone("Signal/Warning", 0x96_63_0f);
/// It went wrong.
pub const DANGER: Tone = tone("Signal/Danger", 0xbb_3a_28);
/// Good to know.
pub const NOTICE: Tone = tone("Signal/Notice", 0x2c_5f_8a);

/// All named colours, for the foundations page.
pub const PALETTE: &[Tone] = &[
    EVERGREEN, FOREST, MOSS, DEW, PERSIMMON, PEACH, SUN, INK, SLATE, MIST, LINE, SAND, RICE, PAPER, SUCCESS,
    WARNING, DANGER, NOTICE,
];

/// Heroes.
pub const DISPLAY: Type = inter("Display", 700, 34.0, 40.0).spaced(-0.8);
/// Titles of screens.
pub const TITLE_L: Type = inter("Title/L", 700, 26.0, 32.0).spaced(-0.5);
/// Titles of sections.
pub const TITLE_M: Type = inter("Title/M", 600, 20.0, 26.0).spaced(-0.3);
/// Titles of cards.
pub const TITLE_S: Type = inter("Title/S", 600, 16.0, 22.0).spaced(-0.1);
/// Running text.
pub const BODY_L: Type = inter("Body/L", 400, 17.0, 26.0);
/// Running text of cards.
pub const BODY_M: Type = inter("Body/M", 400, 15.0, 22.0);
/// Small running text.
pub const BODY_S: Type = inter("Body/S", 400, 13.0, 18.0);
/// Labels of large controls.
pub const LABEL_L: Type = inter("Label/L", 600, 16.0, 24.0);
/// Labels of controls.
pub const LABEL_M: Type = inter("Label/M", 600, 14.0, 20.0);
/// Labels of small controls.
pub const LABEL_S: Type = inter("Label/S", 600, 12.0, 16.0);
/// Small print.
pub const CAPTION: Type = inter("Caption", 500, 12.0, 16.0);
/// Tab labels.
pub const MICRO: Type = inter("Micro", 500, 11.0, 14.0);
/// Large numbers.
pub const NUMERAL: Type = inter("Numeral", 600, 28.0, 34.0).spaced(-0.6);

/// All text styles, for the foundations page.
pub const TYPES: &[Type] = &[
    DISPLAY, TITLE_L, TITLE_M, TITLE_S, BODY_L, BODY_M, BODY_S, LABEL_L, LABEL_M, LABEL_S, CAPTION, MICRO,
    NUMERAL,
];

const SHADE: Color = rgb(0x10_26_1e);

fn elevation(style: &'static str, layers: &[(f64, f64, f64, f64)]) -> Effects {
    let shadow = |(y, blur, spread, alpha): &(f64, f64, f64, f64)| Effect::Shadow {
        color: SHADE.alpha(*alpha),
        y: *y,
        blur: *blur,
        spread: *spread,
    };
    Effects { list: layers.iter().map(shadow).collect(), style: Some(style) }
}

/// Cards on paper.
pub fn low() -> Effects {
    elevation("Elevation/Low", &[(1.0, 2.0, 0.0, 0.05), (4.0, 16.0, 0.0, 0.06)])
}

/// What floats over content.
pub fn high() -> Effects {
    elevation("Elevation/High", &[(2.0, 6.0, 0.0, 0.06), (12.0, 32.0, -4.0, 0.16)])
}

/// The reference of a picture.
pub fn reference(subject: &str) -> String {
    hash(&format!("Hinoki/picture/{subject}"), 40)
}

/// Pictures: subject, and the colours that show until it has loaded.
const PICTURES: &[(&str, u32, u32)] = &[
    ("cedar-bath", 0x3f_5f_57, 0xa8_b8_9a),
    ("river-inn", 0x2f_5d_62, 0xd8_b9_8a),
    ("snow-cabin", 0x8a_9f_b5, 0xe9_e3_da),
    ("tea-terrace", 0x5c_7a_3f, 0xd9_cf_8f),
    ("harbour-house", 0x24_4a_66, 0xe3_a1_6f),
    ("temple-lodge", 0x5a_40_36, 0xd6_8a_54),
    ("tatami-room", 0x8b_7a_4d, 0xe8_dc_b5),
    ("breakfast", 0x7a_4b_33, 0xe9_c4_93),
    ("fjord", 0x2b_4c_6f, 0xb9_c9_c9),
    ("portrait-mika", 0xb7_7a_5b, 0xf0_d5_be),
    ("portrait-jonas", 0x4d_63_6e, 0xc9_d3_d0),
    ("portrait-aiko", 0x8d_5a_66, 0xf1_d9_cf),
];

/// A picture over the colours that show until it has loaded.
pub fn picture(subject: &str) -> Fill {
    let found = PICTURES.iter().find(|(name, ..)| *name == subject);
    let (_, from, to) = *found.unwrap_or_else(|| panic!("no picture {subject}"));
    let wash =
        Paint::Linear { from: (0.2, 0.0), to: (0.8, 1.0), stops: vec![(0.0, rgb(to)), (1.0, rgb(from))] };
    Fill::from(vec![wash, Paint::Image { reference: reference(subject) }])
}

/// An icon at a size, in a tone.
pub fn icon<'a>(library: &'a Library, name: &str, size: f64, tone: Tone) -> Make<'a> {
    library.make(&format!("Icon/{name}")).tint(tone).sized(size, size).named("Icon")
}

/// A round or square button-like box with something in its middle.
pub fn centred(name: &str, side: f64, radius: f64) -> Node {
    row(name).sized(side, side).radius(radius).align(Place::Center, Place::Center)
}

/// Pins to a corner: distance from the right and from the top.
pub fn corner(right: f64, top: f64) -> (Pin, Pin) {
    (Pin::End(right), Pin::Start(top))
}

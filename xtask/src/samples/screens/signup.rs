//! Signing up on a phone, in English, under a drawing.

use super::parts::band;
use crate::samples::library::Library;
use crate::samples::node::{Node, Pin, column, ellipse, frame, group, rect, row, rule, text, vector};
use crate::samples::paint::{Effect, Paint, rgb, vertical};
use crate::samples::system::scenes::pine;
use crate::samples::system::style::{
    BODY_M, BODY_S, CAPTION, EVERGREEN, INK, LABEL_M, LABEL_S, LINE, MIST, PAPER, RICE, SLATE, TITLE_L, icon,
    low, picture,
};

/// Valley, lake and inn at dusk.
fn landscape() -> Node {
    let size = (390.0, 364.0);
    let hill = |name: &str, data: &str, tone: u32| vector(name, data, size).fill(rgb(tone));
    let glow = Paint::Radial {
        center: (0.5, 0.5),
        radius: (0.5, 0.5),
        stops: vec![(0.0, rgb(0xff_f1_cf).alpha(0.9)), (1.0, rgb(0xff_f1_cf).alpha(0.0))],
    };
    let sky = vertical(&[
        (0.0, rgb(0x1d_5a_52)),
        (0.45, rgb(0x7d_a8_86)),
        (0.78, rgb(0xf2_cf_94)),
        (1.0, rgb(0xf6_b9_83)),
    ]);
    let left: String = [(28.0, 262.0, 96.0), (62.0, 270.0, 70.0), (96.0, 276.0, 52.0)]
        .map(|(x, y, tall)| pine(x, y, tall))
        .concat();
    let right: String = [(352.0, 258.0, 110.0), (318.0, 268.0, 74.0), (378.0, 270.0, 64.0)]
        .map(|(x, y, tall)| pine(x, y, tall))
        .concat();
    frame("Landscape", 390.0, 364.0)
        .fill(sky)
        .child(ellipse("Glow", 240.0, 240.0).fill(glow).at(75.0, 52.0))
        .child(ellipse("Sun", 76.0, 76.0).fill(rgb(0xfd_e7_b2)).at(157.0, 134.0).effect(Effect::LayerBlur(1.0)))
        .child(hill("Far ridge", "M0 208C40 176 78 168 118 190C150 207 176 188 212 170C254 149 300 158 330 182C352 198 372 196 390 186V364H0Z", 0x4c_8c_78))
        .child(hill("Ridge", "M0 232C46 204 92 214 132 230C176 247 214 232 256 212C300 192 350 204 390 226V364H0Z", 0x2f_72_60))
        .child(hill("Lake", "M0 262C60 250 130 254 195 258C262 262 330 252 390 258V364H0Z", 0x8f_b8_a0))
        .child(vector("Ripples", "M120 274h64M168 284h90M96 292h48M226 276h38", size).line(rgb(0xf9_e2_b0), 1.5).opacity(0.8))
        .child(hill("Shore", "M0 276C52 258 112 266 150 284C182 298 226 300 262 286C300 272 350 264 390 274V364H0Z", 0x1a_4c_3f))
        .child(hill("Pines left", &left, 0x12_38_2e))
        .child(hill("Pines right", &right, 0x12_38_2e))
        .child(hill("Inn wall", "M226 262h64v26h-64z", 0x5a_3a_2a))
        .child(hill("Inn roof", "M214 264L236 242H280L302 264Z", 0x2b_1f_1a))
        .child(hill("Windows", "M234 268h10v12h-10zM250 268h10v12h-10zM272 268h10v12h-10z", 0xff_d9_87))
        .child(vector("Smoke", "M272 240c-5-7 5-9 0-16s5-9 1-15", size).line(rgb(0xf4_ee_df).alpha(0.8), 2.0))
}

/// Three guests, each cut to a circle.
fn faces() -> Node {
    let mut faces = group("Guests", 76.0, 32.0);
    for (at, subject) in ["portrait-mika", "portrait-jonas", "portrait-aiko"].iter().enumerate() {
        let face = group(&format!("Guest {}", at + 1), 32.0, 32.0)
            .child(ellipse("Mask", 32.0, 32.0).fill(PAPER).masking())
            .child(rect("Portrait", 32.0, 40.0).fill(picture(subject)).at(0.0, -4.0))
            .child(ellipse("Rim", 32.0, 32.0).stroke(PAPER, 2.0));
        faces = faces.child(face.at(at as f64 * 22.0, 0.0));
    }
    faces
}

/// The screen.
pub fn screen(library: &Library) -> Node {
    let field = |state: &str, label: &str, words: &str| {
        library.make("Field/Text").with("State", state).text("Label", label).text("Words", words).wide()
    };
    let name = field("Filled", "Full name", "Elin Sandberg").show("With help", false);
    let mail = field("Focus", "E-mail", "elin@").show("With help", false);
    let secret = field("Filled", "Password", "••••••••••••")
        .show("With icon", true)
        .text("Help", "12 characters: strong");
    let terms = "I have read the house rules and the privacy notice.";
    let tick = library.make("Control/Tick").with("On", "Yes").text("Words", terms).wide();
    let tick = tick.tweak("Words", "styleOverrideTable", |node| {
        *node = node
            .clone()
            .span("house rules", crate::samples::paint::Type { weight: 600, ..BODY_M }, EVERGREEN)
            .span("privacy notice", crate::samples::paint::Type { weight: 600, ..BODY_M }, EVERGREEN);
    });
    let button = library.make("Action/Button").with("Size", "Large").text("Words", "Create account").wide();
    let passkey = library
        .make("Action/Button")
        .with("Emphasis", "Outline")
        .with("Size", "Large")
        .show("With icon", true)
        .swap("Icon", "Icon/key")
        .text("Words", "Continue with a passkey")
        .wide();
    let or = row("Or").fill_width().gap(12.0).middle();
    let or = or
        .child(rule("Line", LINE, 1.0))
        .child(text("Or", CAPTION, "or").fill(MIST))
        .child(rule("Line", LINE, 1.0));
    let already =
        text("Already", BODY_S, "Already a guest? Sign in").fill(SLATE).fill_width().text_align("CENTER");
    let proof = row("Proof")
        .pads([6.0, 14.0, 6.0, 8.0])
        .gap(10.0)
        .middle()
        .radius(24.0)
        .fill(PAPER)
        .elevation(&low());
    let words = text("Words", LABEL_S, "12,480 guests this autumn").fill(INK);
    let proof = proof.child(faces()).child(words);
    let back = row("Back")
        .sized(40.0, 40.0)
        .radius(20.0)
        .fill(PAPER.color.alpha(0.24))
        .effect(Effect::BackgroundBlur(12.0));
    let back = back.align(crate::samples::node::Place::Center, crate::samples::node::Place::Center);
    let back = back.child(icon(library, "arrow-left", 22.0, PAPER));
    let sheet = column("Sheet")
        .fill_width()
        .fill_height()
        .pads([44.0, 0.0, 0.0, 0.0])
        .gap(18.0)
        .fill(RICE)
        .corners([28.0, 28.0, 0.0, 0.0]);
    let title = column("Words").fill_width().gap(6.0);
    let title = title.child(text("Title", TITLE_L, "Make yourself at home").fill(INK).fill_width()).child(
        text("Lead", BODY_M, "One account for every inn, and ten percent off your first night.")
            .fill(SLATE)
            .fill_width()
            .span("ten percent off", LABEL_M, EVERGREEN),
    );
    let sheet = sheet
        .child(band("Title", 0.0).child(title))
        .child(band("Fields", 12.0).child(name).child(mail).child(secret))
        .child(band("Terms", 0.0).child(tick))
        .child(
            band("Actions", 14.0)
                .child(button)
                .child(or)
                .child(passkey)
                .child(already.span("Sign in", LABEL_S, EVERGREEN)),
        );
    frame("Sign up", 390.0, 1024.0)
        .fill(RICE)
        .child(landscape().at(0.0, 0.0))
        .child(library.make("Device/Status bar").with("Ink", "Light").node().at(0.0, 0.0))
        .child(back.at(16.0, 56.0))
        .child(sheet.wide(390.0).tall(708.0).pin(Pin::Both(0.0, 0.0), Pin::Start(316.0)))
        .child(proof.pin(Pin::Middle(0.0), Pin::Start(294.0)))
        .child(library.make("Device/Home bar").node().pin(Pin::Both(0.0, 0.0), Pin::End(0.0)))
}

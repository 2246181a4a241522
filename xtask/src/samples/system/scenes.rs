//! Drawings of places, flat and layered, 360 by 200. What matters is in the middle, so that cards can crop them.

use crate::samples::library::Library;
use crate::samples::node::{Node, frame, vector};
use crate::samples::paint::{rgb, vertical};

/// A layer: its name, its outline, its colour, and the weight of its stroke, or 0 for a filled shape.
type Layer = (&'static str, &'static str, u32, f64);

/// A scene: its subject, its sky from top to bottom, its layers, the pines in front of the layer with a name.
struct Scene {
    subject: &'static str,
    sky: [u32; 3],
    layers: &'static [Layer],
    pines: (&'static str, u32, &'static [(f64, f64, f64)]),
}

/// The outline of a pine: where it stands, and how tall it is.
pub fn pine(x: f64, foot: f64, tall: f64) -> String {
    let half = tall * 0.22;
    let (low, middle) = (foot - tall * 0.38, foot - tall * 0.68);
    let side = |sign: f64| [0.7, 0.4, 0.9, 0.5, 1.0].map(|share| x + sign * half * share);
    let ([a, b, c, d, e], [f, g, h, i, j]) = (side(1.0), side(-1.0));
    let top = foot - tall;
    format!("M{x} {top}L{a} {middle}H{b}L{c} {low}H{d}L{e} {foot}H{j}L{i} {low}H{h}L{g} {middle}H{f}Z")
}

const SCENES: &[Scene] = &[
    Scene {
        subject: "River",
        sky: [0x2f_6f_6a, 0xf3_c9_8f, 0xf6_b1_83],
        layers: &[
            ("Sun", "M218 60a18 18 0 1 0 36 0a18 18 0 1 0-36 0z", 0xfd_e3_a9, 0.0),
            (
                "Far hills",
                "M0 118C50 84 92 78 136 98C172 114 204 96 244 82C288 66 326 78 360 96V200H0Z",
                0x5d_96_83,
                0.0,
            ),
            (
                "Hills",
                "M0 132C44 112 86 112 124 124C168 138 214 132 256 116C294 102 332 108 360 120V200H0Z",
                0x3c_77_67,
                0.0,
            ),
            ("Bank", "M0 150C60 140 120 142 180 144C240 146 300 140 360 146V200H0Z", 0x23_56_4a, 0.0),
            ("Upper wall", "M146 78h72v22h-72z", 0x7a_52_3b, 0.0),
            ("Upper roof", "M136 80L152 64H212L228 80Z", 0x2a_21_1d, 0.0),
            ("Wall", "M128 106h108v42h-108z", 0x6b_45_31, 0.0),
            ("Roof", "M114 108L134 92H230L250 108Z", 0x33_28_23, 0.0),
            ("Upper windows", "M156 82h14v10h-14zM176 82h14v10h-14zM196 82h12v10h-12z", 0xff_d2_7a, 0.0),
            (
                "Windows",
                "M136 116h14v20h-14zM156 116h14v20h-14zM196 116h14v20h-14zM216 116h14v20h-14z",
                0xff_df_94,
                0.0,
            ),
            ("Door", "M176 114h14v34h-14z", 0x3a_28_20, 0.0),
            ("Water", "M0 162C70 152 130 158 190 160C250 162 310 154 360 160V200H0Z", 0x86_b5_a6, 0.0),
            ("Ripples", "M140 168h30M188 174h44M120 182h36M214 186h52M60 176h34M286 172h40", 0xfb_e3_ae, 1.6),
            ("Willow", "M58 160C60 138 54 118 62 92", 0x2b_3a_2c, 4.0),
            (
                "Leaves",
                "M62 92C40 86 26 104 24 140M62 92C48 84 40 106 40 150M62 92C64 88 58 110 56 146M62 92C78 84 76 112 74 148M62 92C88 84 96 104 94 142M62 92C98 78 112 104 110 132",
                0x7d_a8_62,
                3.0,
            ),
        ],
        pines: (
            "Upper wall",
            0x1d_4a_3f,
            &[(290.0, 148.0, 62.0), (318.0, 150.0, 46.0), (108.0, 146.0, 40.0)],
        ),
    },
    Scene {
        subject: "Fjord",
        sky: [0x9c_c3_d6, 0xdf_e9_e3, 0xf7_e9_d2],
        layers: &[
            (
                "Mountains",
                "M0 130L52 62L84 96L128 38L178 104L206 78L262 30L318 100L360 66V150H0Z",
                0x8a_a9_b8,
                0.0,
            ),
            (
                "Snow",
                "M128 38L112 60L122 66L130 58L140 70L148 64ZM262 30L244 55L256 62L264 52L274 66L286 58ZM52 62L42 76L52 80L62 76Z",
                0xf7_fa_fa,
                0.0,
            ),
            ("Left shore", "M0 140C30 112 60 96 92 118C120 136 150 140 180 140H0Z", 0x4d_74_84, 0.0),
            (
                "Right shore",
                "M200 142C240 128 280 92 320 98C340 101 352 110 360 116V146H200Z",
                0x3f_65_76,
                0.0,
            ),
            ("Water", "M0 138H360V200H0Z", 0x6f_a3_b0, 0.0),
            ("Shine", "M30 150h70M20 164h50M250 152h60M60 172h50M250 176h80M150 188h60", 0xcf_e3_e2, 1.6),
            ("Posts", "M150 158v20M176 158v20M202 158v20M226 158v20", 0x4a_39_2e, 3.0),
            ("Deck", "M138 154h96v6h-96z", 0x6b_52_40, 0.0),
            ("Wall", "M150 112h66v42h-66z", 0xb5_41_2f, 0.0),
            ("Roof", "M142 114L183 84L224 114Z", 0x3a_2a_28, 0.0),
            ("Trim", "M150 112L183 90L216 112", 0xf2_e7_da, 2.0),
            ("Door", "M172 126h22v28h-22z", 0xf2_e7_da, 0.0),
            ("Window", "M178 101h10v9h-10z", 0xf2_e7_da, 0.0),
        ],
        pines: (
            "Posts",
            0x2e_50_55,
            &[(286.0, 140.0, 44.0), (308.0, 138.0, 56.0), (60.0, 140.0, 48.0), (38.0, 140.0, 34.0)],
        ),
    },
    Scene {
        subject: "Harbour",
        sky: [0xf0_a8_6f, 0xf7_d3_a1, 0xfb_e9_cc],
        layers: &[
            ("Sun", "M196 72a26 26 0 1 0 52 0a26 26 0 1 0-52 0z", 0xff_f0_c9, 0.0),
            ("Hills", "M0 122C60 96 110 104 160 116C220 128 290 98 360 112V150H0Z", 0xc9_8a_6b, 0.0),
            ("Sea", "M0 138H360V200H0Z", 0x2c_5c_78, 0.0),
            (
                "Shine",
                "M236 146h48M230 156h30M40 158h24M300 150h50M250 184h60M60 184h70M150 190h50",
                0xf6_cf_9c,
                1.6,
            ),
            ("Left house", "M92 104h40v40h-40z", 0xa6_3d_2d, 0.0),
            ("Left roof", "M86 106L112 82L138 106Z", 0x4a_2a_24, 0.0),
            ("House", "M142 92h56v52h-56z", 0xe0_a6_3f, 0.0),
            ("Roof", "M136 94L170 64L204 94Z", 0x3c_30_30, 0.0),
            ("Right house", "M208 106h38v38h-38z", 0xf3_ea_d9, 0.0),
            ("Right roof", "M202 108L227 86L252 108Z", 0x5a_3a_30, 0.0),
            (
                "Windows",
                "M100 114h9v12h-9zM116 114h9v12h-9zM151 106h11v14h-11zM178 106h11v14h-11zM215 116h9v11h-9zM231 116h9v11h-9z",
                0xff_f2_c8,
                0.0,
            ),
            ("Quay", "M74 142h188v7h-188z", 0x5c_44_36, 0.0),
            ("Posts", "M86 149v20M118 149v20M150 149v20M182 149v20M214 149v20M248 149v20", 0x46_33_28, 3.0),
            ("Boat", "M274 158h52c-3 10-10 14-18 14h-20c-8 0-12-6-14-14z", 0xf3_ea_d9, 0.0),
            ("Mast", "M298 158V118", 0x46_33_28, 2.0),
            ("Sail", "M301 120L320 152H301Z", 0xd9_58_2e, 0.0),
        ],
        pines: ("Sea", 0x7a_4f_42, &[(30.0, 138.0, 40.0), (52.0, 138.0, 30.0), (334.0, 138.0, 44.0)]),
    },
    Scene {
        subject: "Tea",
        sky: [0xcf_e3_c9, 0xf4_ef_c9, 0xf8_e8_b6],
        layers: &[
            ("Sun", "M250 50a20 20 0 1 0 40 0a20 20 0 1 0-40 0z", 0xff_f9_e3, 0.0),
            (
                "Mountains",
                "M0 110C40 78 64 62 92 78C120 94 140 62 186 50C228 40 262 84 300 80C330 76 346 88 360 98V150H0Z",
                0x9d_bb_96,
                0.0,
            ),
            ("Upper field", "M0 120C70 98 150 104 220 112C280 118 330 108 360 104V200H0Z", 0x8d_b0_5c, 0.0),
            ("Wall", "M156 90h50v24h-50z", 0xea_d9_b5, 0.0),
            ("Roof", "M146 92L164 72H198L216 92Z", 0x6b_4a_33, 0.0),
            ("Windows", "M166 97h10v11h-10zM186 97h10v11h-10z", 0x5a_40_30, 0.0),
            ("Trunk", "M238 116V92", 0x5a_43_2c, 3.0),
            ("Crown", "M222 84a16 16 0 1 0 32 0a16 16 0 1 0-32 0z", 0x5c_8a_3c, 0.0),
            ("Field", "M0 142C60 122 130 122 200 132C270 142 320 138 360 130V200H0Z", 0x6f_99_48, 0.0),
            ("Lower field", "M0 166C80 146 150 150 220 160C280 168 330 164 360 156V200H0Z", 0x4f_7a_37, 0.0),
            (
                "Rows",
                "M0 152C60 132 130 132 200 142C270 152 320 148 360 140M0 177C80 157 150 161 220 171C280 179 330 175 360 167M0 189C80 170 150 174 220 184C280 191 330 187 360 180",
                0xa9_c8_73,
                2.5,
            ),
        ],
        pines: ("Upper field", 0x6f_93_63, &[(52.0, 116.0, 34.0), (70.0, 114.0, 26.0), (318.0, 112.0, 32.0)]),
    },
    Scene {
        subject: "Bath",
        sky: [0x14_32_3c, 0x2a_5a_5c, 0x5d_8a_7c],
        layers: &[
            ("Moon", "M222 40a17 17 0 1 0 34 0a17 17 0 1 0-34 0z", 0xf6_e7_bd, 0.0),
            (
                "Stars",
                "M60 30h2v2h-2zM104 52h2v2h-2zM148 24h2v2h-2zM196 62h2v2h-2zM300 34h2v2h-2zM330 66h2v2h-2zM30 62h2v2h-2z",
                0xf6_e7_bd,
                0.0,
            ),
            ("Fence", "M0 104h360v34H0z", 0x6a_4c_38, 0.0),
            (
                "Slats",
                "M24 104v34M48 104v34M72 104v34M96 104v34M120 104v34M144 104v34M168 104v34M192 104v34M216 104v34M240 104v34M264 104v34M288 104v34M312 104v34M336 104v34",
                0x54_3a_2a,
                2.0,
            ),
            ("Ground", "M0 136H360V200H0Z", 0x3b_4a_45, 0.0),
            (
                "Pool",
                "M92 164C92 148 134 140 182 140C232 140 272 148 272 164C272 180 230 190 182 190C134 190 92 180 92 164Z",
                0x8f_c7_c4,
                0.0,
            ),
            ("Shine", "M122 160h46M190 168h50M140 178h36", 0xd3_ee_ea, 1.6),
            (
                "Rocks",
                "M78 160a18 12 0 1 0 36 0a18 12 0 1 0-36 0zM250 172a20 13 0 1 0 40 0a20 13 0 1 0-40 0zM104 184a16 10 0 1 0 32 0a16 10 0 1 0-32 0zM226 142a14 9 0 1 0 28 0a14 9 0 1 0-28 0z",
                0x71_7e_78,
                0.0,
            ),
            (
                "Steam",
                "M152 132c-8-10 8-16 0-26s6-14 1-22M182 128c-8-11 8-17 0-28s7-15 1-24M212 132c-8-10 8-16 0-26s6-14 1-22",
                0xe9_f3_ee,
                2.5,
            ),
            ("Pole", "M306 138V108", 0x2b_1f_1a, 2.5),
            ("Lantern", "M298 88h16v20h-16z", 0xff_cf_7a, 0.0),
        ],
        pines: (
            "Fence",
            0x1b_45_40,
            &[
                (18.0, 112.0, 62.0),
                (46.0, 112.0, 84.0),
                (80.0, 112.0, 58.0),
                (118.0, 112.0, 48.0),
                (284.0, 112.0, 60.0),
                (316.0, 112.0, 82.0),
                (346.0, 112.0, 58.0),
            ],
        ),
    },
    Scene {
        subject: "Town",
        sky: [0x2b_2f_55, 0x8a_5a_7a, 0xf0_a8_78],
        layers: &[
            ("Moon", "M236 46a14 14 0 1 0 28 0a14 14 0 1 0-28 0z", 0xfb_e6_c0, 0.0),
            ("Left house", "M20 98h92v68h-92z", 0x45_32_33, 0.0),
            ("Left roof", "M8 100L28 80H104L124 100Z", 0x2a_20_24, 0.0),
            ("Right house", "M248 100h92v66h-92z", 0x45_32_33, 0.0),
            ("Right roof", "M236 102L256 82H332L352 102Z", 0x2a_20_24, 0.0),
            ("House", "M124 84h112v82h-112z", 0x52_39_34, 0.0),
            ("Roof", "M110 88L134 62H226L250 88Z", 0x2e_22_24, 0.0),
            (
                "Light",
                "M36 112h60v38h-60zM140 93h34v15h-34zM186 93h34v15h-34zM138 130h26v36h-26zM196 130h26v36h-26zM264 114h60v36h-60z",
                0xff_d5_8a,
                0.0,
            ),
            ("Eaves", "M114 126L128 112H232L246 126Z", 0x2a_20_24, 0.0),
            (
                "Lattice",
                "M46 112v38M56 112v38M66 112v38M76 112v38M86 112v38M274 114v36M284 114v36M294 114v36M304 114v36M314 114v36M147 130v36M155 130v36M205 130v36M213 130v36M151 93v15M162 93v15M197 93v15M208 93v15",
                0x52_34_2c,
                1.5,
            ),
            ("Door", "M168 144h24v22h-24z", 0x22_18_1b, 0.0),
            ("Curtain", "M168 128h24v18h-24z", 0x2f_55_85, 0.0),
            (
                "Lanterns",
                "M112 138a7 9 0 1 0 14 0a7 9 0 1 0-14 0zM234 138a7 9 0 1 0 14 0a7 9 0 1 0-14 0z",
                0xf0_56_3a,
                0.0,
            ),
            ("Street", "M0 164H360V200H0Z", 0x33_2b_3a, 0.0),
            ("Puddles", "M140 174h40M196 180h34M40 176h46M280 176h36M150 190h60", 0xf2_b2_77, 1.6),
        ],
        pines: ("Left house", 0x4a_3c_58, &[(14.0, 110.0, 56.0), (340.0, 110.0, 64.0), (120.0, 110.0, 60.0)]),
    },
    Scene {
        subject: "Temple",
        sky: [0xf2_c3_8a, 0xf7_dc_ae, 0xfb_ee_d6],
        layers: &[
            ("Hills", "M0 128C60 96 120 100 180 112C240 122 300 96 360 110V200H0Z", 0xd0_85_50, 0.0),
            ("Spire", "M180 16V46", 0x3a_26_22, 3.0),
            ("Walls", "M158 68h44v22h-44zM154 102h52v24h-52zM150 140h60v32h-60z", 0xb8_45_2f, 0.0),
            (
                "Top roof",
                "M136 64C156 62 166 52 172 44H188C194 52 204 62 224 64L218 70H142Z",
                0x3a_26_22,
                0.0,
            ),
            (
                "Middle roof",
                "M126 98C148 96 158 90 160 86H200C202 90 212 96 234 98L228 104H132Z",
                0x3a_26_22,
                0.0,
            ),
            (
                "Low roof",
                "M116 136C140 133 152 126 154 122H206C208 126 220 133 244 136L238 142H122Z",
                0x3a_26_22,
                0.0,
            ),
            ("Ground", "M0 168C80 160 140 166 200 168C260 170 310 162 360 166V200H0Z", 0x7a_4a_2c, 0.0),
            ("Door", "M170 150h20v20h-20z", 0xf5_d9_a6, 0.0),
            ("Steps", "M168 170h24l16 30h-56z", 0xd8_b9_8e, 0.0),
            ("Trunks", "M64 170V130M300 170V126", 0x4a_2f_24, 4.0),
            (
                "Maples",
                "M26 126a34 30 0 1 0 68 0a34 30 0 1 0-68 0zM262 120a38 34 0 1 0 76 0a38 34 0 1 0-76 0z",
                0xd9_57_2b,
                0.0,
            ),
            (
                "Bright leaves",
                "M62 108a22 20 0 1 0 44 0a22 20 0 1 0-44 0zM246 138a20 18 0 1 0 40 0a20 18 0 1 0-40 0zM306 98a18 17 0 1 0 36 0a18 17 0 1 0-36 0z",
                0xec_93_3f,
                0.0,
            ),
            (
                "Dark leaves",
                "M12 142a18 16 0 1 0 36 0a18 16 0 1 0-36 0zM318 140a20 18 0 1 0 40 0a20 18 0 1 0-40 0z",
                0xb4_3d_22,
                0.0,
            ),
        ],
        pines: ("Spire", 0x9a_5a_34, &[(112.0, 132.0, 44.0), (246.0, 130.0, 40.0)]),
    },
    Scene {
        subject: "Snow",
        sky: [0x7f_9b_bb, 0xc7_d5_e0, 0xf3_ec_e4],
        layers: &[
            ("Mountains", "M0 120L60 70L110 108L170 46L240 112L290 76L360 118V150H0Z", 0x8d_a6_be, 0.0),
            (
                "Caps",
                "M170 46L152 66L164 72L172 63L183 75L193 68ZM60 70L48 80L58 85L66 79L72 80ZM290 76L278 85L288 90L298 84L304 85Z",
                0xff_ff_ff,
                0.0,
            ),
            ("Far snow", "M0 134C70 112 140 120 200 130C260 138 310 122 360 126V200H0Z", 0xe3_ea_ef, 0.0),
            ("Chimney", "M202 84h9v22h-9z", 0x4d_3a_33, 0.0),
            ("Wall", "M146 114h70v46h-70z", 0x75_4e_36, 0.0),
            ("Logs", "M146 126h70M146 137h70M146 148h70", 0x5c_3b_26, 1.5),
            ("Windows", "M154 122h18v16h-18zM190 122h18v16h-18z", 0xff_d9_8a, 0.0),
            ("Roof", "M132 120L181 84L230 120L224 127L181 97L138 127Z", 0xfa_fc_fd, 0.0),
            ("Smoke", "M207 80c-6-8 6-10 0-18s5-9 1-16", 0xf3_f5_f7, 3.0),
            ("Near snow", "M0 162C70 146 150 150 220 160C280 168 330 158 360 154V200H0Z", 0xff_ff_ff, 0.0),
            ("Tracks", "M40 182C90 168 140 172 176 162", 0xc9_d5_de, 2.0),
        ],
        pines: (
            "Chimney",
            0x3a_61_57,
            &[
                (60.0, 158.0, 74.0),
                (94.0, 154.0, 50.0),
                (116.0, 152.0, 36.0),
                (276.0, 160.0, 80.0),
                (308.0, 158.0, 56.0),
            ],
        ),
    },
];

fn draw(scene: &Scene) -> Node {
    let size = (360.0, 200.0);
    let sky = vertical(&[(0.0, rgb(scene.sky[0])), (0.6, rgb(scene.sky[1])), (1.0, rgb(scene.sky[2]))]);
    let mut node = frame("", 360.0, 200.0).fill(sky);
    let (before, tone, trees) = scene.pines;
    for (name, data, colour, weight) in scene.layers {
        if *name == before {
            let outline: String = trees.iter().map(|(x, foot, tall)| pine(*x, *foot, *tall)).collect();
            node = node.child(vector("Pines", &outline, size).fill(rgb(tone)));
        }
        let layer = vector(name, data, size);
        node = node.child(if *weight > 0.0 {
            layer.line(rgb(*colour), *weight)
        } else {
            layer.fill(rgb(*colour))
        });
    }
    node
}

/// Adds the scenes.
pub fn add(library: &mut Library) {
    let subjects: Vec<&str> = SCENES.iter().map(|scene| scene.subject).collect();
    library.set(
        "Media/Scene",
        "A drawing of a place, to be cropped.",
        &[("Subject", &subjects)],
        |_, pick| {
            let scene = SCENES.iter().find(|scene| pick.is("Subject", scene.subject));
            draw(scene.expect("the axis lists the scenes"))
        },
    );
}

//! Numbers, colours and outside text as SVG has them.

use heddle_figma::{Affine, Color};

/// Numbers beyond this are cut: nothing that can be seen lies there.
const FARTHEST: f64 = 1e7;

/// Appends a number with at most `decimals` (0..=4) decimals; what is no number becomes 0.
pub fn number(out: &mut String, value: f64, decimals: u32) {
    if !value.is_finite() {
        out.push('0');
        return;
    }
    let factor = 10_i64.pow(decimals.min(4));
    let scaled = (value.clamp(-FARTHEST, FARTHEST) * factor as f64).round() as i64;
    if scaled < 0 {
        out.push('-'); // -0 cannot come here: it is rounded to an integer first
    }
    let scaled = scaled.unsigned_abs();
    let (whole, fraction) = (scaled / factor as u64, scaled % factor as u64);
    if whole > 0 || fraction == 0 {
        digits(out, whole, 1);
    }
    if fraction > 0 {
        out.push('.');
        let (mut fraction, mut width) = (fraction, decimals.min(4));
        while fraction % 10 == 0 {
            fraction /= 10;
            width -= 1;
        }
        digits(out, fraction, width as usize);
    }
}

fn digits(out: &mut String, mut value: u64, width: usize) {
    let mut buffer = [b'0'; 20];
    let mut at = buffer.len();
    while value > 0 {
        at -= 1;
        buffer[at] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    at = at.min(buffer.len() - width);
    for digit in &buffer[at..] {
        out.push(char::from(*digit));
    }
}

/// Appends a length: at most two decimals.
pub fn length(out: &mut String, value: f64) {
    number(out, value, 2);
}

/// Appends ` name="value"` with a length.
pub fn attribute(out: &mut String, name: &str, value: f64) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    length(out, value);
    out.push('"');
}

/// Appends ` name="value"`; the value is written as it stands.
pub fn raw_attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    out.push_str(value);
    out.push('"');
}

/// Appends ` name="url(#prefix7)"`.
pub fn reference(out: &mut String, name: &str, prefix: char, id: u32) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"url(#");
    identifier(out, prefix, id);
    out.push_str(")\"");
}

/// Appends `prefix7`.
pub fn identifier(out: &mut String, prefix: char, id: u32) {
    out.push(prefix);
    digits(out, u64::from(id), 1);
}

/// Appends ` transform="…"`, as short as it can be; nothing for the identity.
pub fn transform(out: &mut String, name: &str, affine: &Affine) {
    if affine.is_translation() {
        if affine.e.abs() < 0.005 && affine.f.abs() < 0.005 {
            return;
        }
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"translate(");
        length(out, affine.e);
        out.push(' ');
        length(out, affine.f);
    } else {
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"matrix(");
        for value in [affine.a, affine.b, affine.c, affine.d] {
            // Small factors keep their meaning only with more digits.
            number(out, value, 4);
            out.push(' ');
        }
        length(out, affine.e);
        out.push(' ');
        length(out, affine.f);
    }
    out.push_str(")\"");
}

/// Appends `#rgb` or `#rrggbb`; opacity is not part of it.
pub fn color(out: &mut String, color: &Color) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let bytes = [color.r, color.g, color.b].map(|v| (v.clamp(0.0, 1.0) * 255.0).round() as u8);
    out.push('#');
    let short = bytes.iter().all(|b| b >> 4 == b & 15);
    for byte in bytes {
        out.push(char::from(HEX[usize::from(byte >> 4)]));
        if !short {
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

/// Appends ` fill="…"` and, where it is not 1, ` fill-opacity="…"`; likewise for `stroke`.
pub fn paint(out: &mut String, property: &str, value: &Color, opacity: f64) {
    out.push(' ');
    out.push_str(property);
    out.push_str("=\"");
    color(out, value);
    out.push('"');
    let alpha = (value.a * opacity).clamp(0.0, 1.0);
    if alpha < 0.9995 {
        out.push(' ');
        out.push_str(property);
        out.push_str("-opacity=\"");
        number(out, alpha, 3);
        out.push('"');
    }
}

/// Appends text from outside, at most `limit` characters of it, so that it is well-formed in text and in attributes.
/// White space of any kind becomes a space; what XML cannot hold is left out.
pub fn escaped(out: &mut String, text: &str, limit: usize) {
    for (index, c) in text.chars().enumerate() {
        if index == limit {
            out.push('…');
            return;
        }
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push(' '),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut String)) -> String {
        let mut out = String::new();
        write(&mut out);
        out
    }

    #[test]
    fn numbers_are_short_and_finite() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.001, "0"),
            (1.5, "1.5"),
            (0.25, ".25"),
            (-0.05, "-.05"),
            (12.999, "13"),
            (100.0, "100"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
            (1e300, "10000000"),
        ] {
            assert_eq!(written(|out| length(out, value)), expected, "{value}");
        }
    }

    #[test]
    fn outside_text_stays_well_formed() {
        let got = written(|out| escaped(out, "a<b>&\"c\u{0}\n\u{2028}\u{ffff}d", 100));
        assert_eq!(got, "a&lt;b&gt;&amp;&quot;c  d");
        assert_eq!(written(|out| escaped(out, "abcdef", 3)), "abc…");
    }

    #[test]
    fn colours_and_opacity() {
        let half = Color { r: 1.0, g: 1.0, b: 1.0, a: 0.5 };
        assert_eq!(written(|out| paint(out, "fill", &half, 0.5)), " fill=\"#fff\" fill-opacity=\".25\"");
    }
}

//! Canonical JSON (RFC 8785) and the checksum over it (W5, W26).

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Deepest nesting that has a canonical form; what is parsed here is never deeper.
const MAX_DEPTH: usize = 128;

/// Why a value has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// An integer that a double can't hold, which RFC 8785 has no form for: two readers would differ on it.
    #[error("the integer {0} is beyond what every JSON reader holds exactly; write it as a string")]
    InexactInteger(String),
    /// Nested too deeply.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

/// The canonical text of `value`: no white space, properties sorted by UTF-16 code units, numbers as ECMAScript
/// writes them (RFC 8785, section 3.2).
pub fn canonical_json(value: &Value) -> Result<String, CanonicalError> {
    let mut text = String::new();
    write(&mut text, value, 0)?;
    Ok(text)
}

/// The checksum of `value`: SHA-256 of its canonical text, in 64 lowercase hexadecimal digits.
pub fn checksum(value: &Value) -> Result<String, CanonicalError> {
    let digest = Sha256::digest(canonical_json(value)?);
    Ok(digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string can't fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

fn write(text: &mut String, value: &Value, depth: usize) -> Result<(), CanonicalError> {
    if depth > MAX_DEPTH {
        return Err(CanonicalError::TooDeep);
    }
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Number(number) => write_number(text, number)?,
        Value::String(string) => write_string(text, string),
        Value::Array(items) => {
            text.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                write(text, item, depth + 1)?;
            }
            text.push(']');
        }
        Value::Object(properties) => {
            let mut sorted: Vec<_> = properties.iter().collect();
            sorted.sort_by(|(left, _), (right, _)| left.encode_utf16().cmp(right.encode_utf16()));
            text.push('{');
            for (place, (name, property)) in sorted.into_iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                write_string(text, name);
                text.push(':');
                write(text, property, depth + 1)?;
            }
            text.push('}');
        }
    }
    Ok(())
}

fn write_number(text: &mut String, number: &serde_json::Number) -> Result<(), CanonicalError> {
    let inexact = || CanonicalError::InexactInteger(number.to_string());
    let double = number.as_f64().ok_or_else(inexact)?;
    let exact = match (number.as_i64(), number.as_u64()) {
        (Some(integer), _) => double as i128 == i128::from(integer),
        (None, Some(integer)) => double as i128 == i128::from(integer),
        (None, None) => double.is_finite(),
    };
    if !exact {
        return Err(inexact());
    }
    write_double(text, double);
    Ok(())
}

/// Writes a finite double as ECMAScript's `Number::toString` does: the shortest digits that read back as it.
fn write_double(text: &mut String, double: f64) {
    if double == 0.0 {
        text.push('0');
        return;
    }
    if double < 0.0 {
        text.push('-');
    }
    let (digits, point) = shortest(double.abs());
    let count = digits.len();
    let exponent = point - 1;
    match point {
        22.. | ..=-6 => {
            let sign = if exponent < 0 { '-' } else { '+' };
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            let _ = write!(text, "{first}{dot}{rest}e{sign}{}", exponent.abs());
        }
        1.. if point as usize >= count => {
            text.push_str(&digits);
            text.extend(std::iter::repeat_n('0', point as usize - count));
        }
        1.. => {
            let (whole, fraction) = digits.split_at(point as usize);
            let _ = write!(text, "{whole}.{fraction}");
        }
        _ => {
            text.push_str("0.");
            text.extend(std::iter::repeat_n('0', -point as usize));
            text.push_str(&digits);
        }
    }
}

/// The shortest digits that read back as a positive double, without zeros around them, and the place of the decimal
/// point, counted from the first digit: `s` and `n` in ECMA-262, 6.1.6.1.20. Of two that are as near the even one,
/// which the standard library doesn't promise, and `serde_json` does.
fn shortest(double: f64) -> (String, i32) {
    let written = Value::from(double).to_string();
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let zeros = digits.len() - digits.trim_start_matches('0').len();
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let point = exponent.saturating_add_unsigned(whole.len() as u32).saturating_sub_unsigned(zeros as u32);
    (digits.trim_matches('0').to_owned(), point)
}

fn write_string(text: &mut String, string: &str) {
    text.push('"');
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\u{c}' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            control @ '\0'..='\u{1f}' => {
                let _ = write!(text, "\\u{:04x}", control as u32);
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn number(bits: u64) -> String {
        let mut text = String::new();
        write_double(&mut text, f64::from_bits(bits));
        text
    }

    /// proves W5: RFC 8785, appendix B, every finite sample.
    #[test]
    fn numbers_are_the_ones_of_the_rfc() {
        for (bits, expected) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            assert_eq!(number(bits), expected, "{bits:016x}");
        }
    }

    /// proves W5: the sample of RFC 8785, section 3.2.2 to 3.2.4.
    #[test]
    fn a_document_is_the_one_of_the_rfc() {
        let input = crate::read_json(
            r#"{
              "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
              "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
              "literals": [null, true, false]
            }"#,
        )
        .unwrap();
        let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
        assert_eq!(canonical_json(&input).unwrap(), expected);
    }

    /// proves W5: the sorting sample of RFC 8785, section 3.2.3: an emoji is before a presentation form.
    #[test]
    fn properties_are_sorted_by_utf16_code_units() {
        let input = json!({
            "\u{20ac}": "Euro Sign", "\r": "Carriage Return", "\u{fb33}": "Hebrew Letter Dalet With Dagesh",
            "1": "One", "\u{1f600}": "Emoji: Grinning Face", "\u{80}": "Control",
            "\u{f6}": "Latin Small Letter O With Diaeresis",
        });
        let expected = "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\
            \"\u{f6}\":\"Latin Small Letter O With Diaeresis\",\"\u{20ac}\":\"Euro Sign\",\
            \"\u{1f600}\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}";
        assert_eq!(canonical_json(&input).unwrap(), expected);
    }

    #[test]
    fn an_integer_that_a_double_cannot_hold_is_refused() {
        assert_eq!(canonical_json(&json!(9_007_199_254_740_992_u64)).unwrap(), "9007199254740992");
        for bad in [json!(9_007_199_254_740_993_u64), json!(u64::MAX), json!(i64::MIN + 1)] {
            assert_eq!(canonical_json(&bad), Err(CanonicalError::InexactInteger(bad.to_string())));
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth| (0..depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        assert!(canonical_json(&nested(128)).is_ok());
        assert_eq!(canonical_json(&nested(129)), Err(CanonicalError::TooDeep));
    }

    #[test]
    fn the_checksum_is_sha_256() {
        let empty_object = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(checksum(&json!({})).unwrap(), empty_object);
        assert_eq!(checksum(&json!({"b": 1, "a": 1.0})), checksum(&json!({"a": 1, "b": 1})));
    }
}

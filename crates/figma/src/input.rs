//! Bytes at the door: limits, gzip, byte order mark.

use std::borrow::Cow;
use std::io::Read;

use crate::ReadError;

/// What is read at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of JSON, unpacked.
    pub bytes: u64,
    /// Nodes.
    pub nodes: u32,
    /// Layers above a node.
    pub depth: u16,
}

impl Default for Limits {
    /// 256 MiB, 500,000 nodes, 512 layers.
    fn default() -> Self {
        Self { bytes: 256 << 20, nodes: 500_000, depth: 512 }
    }
}

/// The JSON in `bytes`: unpacked where they are gzip, borrowed where they are not, less a byte order mark, and with
/// halves of surrogate pairs replaced: JavaScript writes them, JSON has no meaning for them.
///
/// # Errors
/// [`ReadError::TooLarge`], [`ReadError::Gzip`].
pub fn decompress<'b>(bytes: &'b [u8], limits: &Limits) -> Result<Cow<'b, [u8]>, ReadError> {
    Ok(match unpack(bytes, limits)? {
        Cow::Borrowed(json) => mend_surrogates(json).map_or(Cow::Borrowed(json), Cow::Owned),
        Cow::Owned(json) => mend_surrogates(&json).map_or(Cow::Owned(json), Cow::Owned),
    })
}

fn unpack<'b>(bytes: &'b [u8], limits: &Limits) -> Result<Cow<'b, [u8]>, ReadError> {
    let too_large = |bytes: u64| ReadError::TooLarge { bytes, limit: limits.bytes };
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        let length = bytes.len() as u64;
        return if length > limits.bytes {
            Err(too_large(length))
        } else {
            Ok(Cow::Borrowed(strip_mark(bytes)))
        };
    }
    // The last four bytes of a gzip stream are its length modulo 2^32: a good guess, never trusted.
    let hint = bytes.last_chunk::<4>().map_or(0, |tail| u64::from(u32::from_le_bytes(*tail)));
    let mut json = Vec::with_capacity(hint.min(limits.bytes).min(bytes.len() as u64 * 64) as usize + 1);
    flate2::read::MultiGzDecoder::new(bytes)
        .take(limits.bytes + 1)
        .read_to_end(&mut json)
        .map_err(|error| ReadError::Gzip { reason: error.to_string() })?;
    if json.len() as u64 > limits.bytes {
        return Err(too_large(json.len() as u64));
    }
    let mark = json.len() - strip_mark(&json).len();
    json.drain(..mark);
    Ok(Cow::Owned(json))
}

/// The same JSON with each half of a surrogate pair that stands alone written as U+FFFD; `None` where there is none.
fn mend_surrogates(json: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| {
        let digits = json.get(at..at + 6).filter(|escape| escape.starts_with(b"\\u"))?;
        u16::from_str_radix(std::str::from_utf8(&digits[2..]).ok()?, 16).ok()
    };
    let mut mended: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &json[at..]) {
        let escape = at + found;
        let (alone, length) = match unit(escape) {
            Some(0xD800..=0xDBFF) if matches!(unit(escape + 6), Some(0xDC00..=0xDFFF)) => (false, 12),
            Some(0xD800..=0xDFFF) => (true, 6),
            Some(_) => (false, 6),
            None => (false, 2),
        };
        if alone {
            mended.get_or_insert_with(|| json.to_vec())[escape + 2..escape + 6].copy_from_slice(b"fffd");
        }
        at = (escape + length).min(json.len());
    }
    mended
}

/// Less a UTF-8 byte order mark, which some tools write and JSON doesn't allow.
pub(crate) fn strip_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

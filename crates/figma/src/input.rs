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

/// The JSON in `bytes`: unpacked where they are gzip, borrowed where they are not, less a byte order mark.
///
/// # Errors
/// [`ReadError::TooLarge`], [`ReadError::Gzip`].
pub fn decompress<'b>(bytes: &'b [u8], limits: &Limits) -> Result<Cow<'b, [u8]>, ReadError> {
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

/// Less a UTF-8 byte order mark, which some tools write and JSON doesn't allow.
pub(crate) fn strip_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

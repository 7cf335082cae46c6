//! What a body is when its coding is undone, up to a size.

use std::io::{self, Read};

use brotli_decompressor::Decompressor;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// The codings that are understood, as a request names them.
pub(super) const CODINGS: &str = "gzip, br, deflate";

/// Why a body cannot be read.
#[derive(Debug)]
pub(super) enum Undecoded {
    /// It would be larger than it may be.
    TooLarge,
    /// Its coding is none of ours.
    Unknown,
    /// It is not what its coding says.
    Broken(io::Error),
}

/// Undoes the coding of a body, and stops when there is more than `most`: a few bytes can stand for very many.
pub(super) fn decode(coding: &str, body: Vec<u8>, most: usize) -> Result<Vec<u8>, Undecoded> {
    let body: &[u8] = match coding.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => return Ok(body),
        _ if body.is_empty() => return Ok(body),
        "gzip" | "x-gzip" => return up_to(most, MultiGzDecoder::new(&body[..])),
        "br" => return up_to(most, Decompressor::new(&body[..], 4096)),
        "deflate" => &body,
        _ => return Err(Undecoded::Unknown),
    };
    // The word means the zlib format, but some servers send the stream without it.
    match body {
        [first, second, ..]
            if first & 0x0f == 8 && u16::from_be_bytes([*first, *second]).is_multiple_of(31) =>
        {
            up_to(most, ZlibDecoder::new(body))
        }
        _ => up_to(most, DeflateDecoder::new(body)),
    }
}

fn up_to(most: usize, from: impl Read) -> Result<Vec<u8>, Undecoded> {
    let mut decoded = Vec::new();
    from.take(most as u64 + 1).read_to_end(&mut decoded).map_err(Undecoded::Broken)?;
    if decoded.len() > most { Err(Undecoded::TooLarge) } else { Ok(decoded) }
}

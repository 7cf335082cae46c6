//! Server-sent events: written, and read piece by piece.

use bytes::Bytes;
use memchr::memchr2;

mod decoder;

pub use decoder::{Decoder, TooLarge};

/// A comment, to keep a connection alive.
pub const KEEP_ALIVE: &[u8] = b":\n\n";

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its id, if it has one of its own; an empty one forgets the last.
    pub id: Option<String>,
    /// Its type, if it is not the usual one.
    pub event: Option<String>,
    /// What it says.
    pub data: Bytes,
    /// After how many milliseconds to connect again.
    pub retry: Option<u64>,
}

impl Event {
    /// An event with data alone.
    pub fn of(data: Bytes) -> Self {
        Self { data, ..Self::default() }
    }
}

/// Appends an event.
///
/// Data of several lines becomes several fields; whichever way a line ended, it is read back with
/// LF. An id or type that cannot be written, because it has a line break or a NUL, is left out.
pub fn encode(event: &Event, out: &mut Vec<u8>) {
    out.reserve(event.data.len() + 32);
    if let Some(name) = &event.event {
        field(b"event", name.as_bytes(), out);
    }
    if let Some(id) = &event.id {
        field(b"id", id.as_bytes(), out);
    }
    if let Some(retry) = event.retry {
        field(b"retry", retry.to_string().as_bytes(), out);
    }
    let mut rest: &[u8] = &event.data;
    while let Some(end) = memchr2(b'\n', b'\r', rest) {
        field(b"data", &rest[..end], out);
        let width = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = &rest[end + width..];
    }
    field(b"data", rest, out);
    out.push(b'\n');
}

fn field(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    if name != b"data" && value.iter().any(|byte| matches!(byte, b'\n' | b'\r' | 0)) {
        return;
    }
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.push(b'\n');
}

#[cfg(test)]
mod tests;

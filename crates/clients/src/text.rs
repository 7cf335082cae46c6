//! A file's text: its encoding, its line breaks, and the places in it.

use crate::problem::Place;

/// What some editors put before a text.
const BOM: &str = "\u{feff}";

/// A text as its bytes are, apart from a byte order mark, which is kept aside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text {
    marked: bool,
    pub(crate) text: String,
}

impl Text {
    /// Reads bytes; where they are not UTF-8, says at which place.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Place> {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                let rest = text.strip_prefix(BOM);
                Ok(Self { marked: rest.is_some(), text: rest.unwrap_or(text).to_owned() })
            }
            Err(error) => {
                let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                Err(place(&good, good.len()))
            }
        }
    }

    /// The same file with another text.
    pub(crate) fn with(&self, text: String) -> Vec<u8> {
        if self.marked { format!("{BOM}{text}").into_bytes() } else { text.into_bytes() }
    }
}

/// The place of a byte offset.
pub(crate) fn place(text: &str, offset: usize) -> Place {
    let before = &text[..text.floor_char_boundary(offset)];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let (line, column) = (before.matches('\n').count() + 1, before[start..].chars().count() + 1);
    Place { line, column }
}

/// The line break that a text uses.
pub(crate) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Where the line of an offset begins.
pub(crate) fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |at| at + 1)
}

/// The blanks that the line of an offset begins with.
pub(crate) fn indent(text: &str, offset: usize) -> &str {
    let line = &text[line_start(text, offset)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether there are only blanks before an offset in its line, and it is not the first line.
pub(crate) fn begins_line(text: &str, offset: usize) -> bool {
    let start = line_start(text, offset);
    start > 0 && text[start..offset].bytes().all(|byte| byte == b' ' || byte == b'\t')
}

/// Whether there are only blanks after an offset in its line, and it is not the last line.
pub(crate) fn ends_line(text: &str, offset: usize) -> bool {
    let rest = text[offset..].trim_start_matches([' ', '\t']);
    rest.starts_with('\n') || rest.starts_with("\r\n")
}

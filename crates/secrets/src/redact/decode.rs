//! Texts behind texts: escapes and percent signs decoded, with the way back to where everything stood.
//!
//! It reads more than JSON: unknown escapes stand for the character behind the backslash, and `\x41` and `\u{41}`
//! are read as other languages write them, because text inside text follows no grammar of ours.

use std::ops::Range;

use memchr::memchr;

use super::reach::Reach;

mod lines;
mod segments;

pub(crate) use lines::{in_spelling, join, lines};
pub(crate) use segments::segments;

/// A way to spell bytes by others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// `\n`, `\u0041` and the like.
    Backslash,
    /// `%41`
    Percent,
}

impl Spelling {
    pub(crate) const ALL: [Self; 2] = [Self::Backslash, Self::Percent];

    /// The byte that begins it.
    pub(crate) fn lead(self) -> u8 {
        match self {
            Self::Backslash => b'\\',
            Self::Percent => b'%',
        }
    }
}

/// A text decoded.
pub(crate) struct Decoded {
    pub(crate) text: Vec<u8>,
    /// Where forms may be that the text as it was written did not show.
    pub(crate) windows: Vec<Range<usize>>,
    /// From where the written text could be read only with what comes next.
    pub(crate) open: Option<usize>,
    /// Whether decoding made backslashes.
    pub(crate) made_escapes: bool,
    marks: Vec<Mark>,
}

/// One escape, or a break between lines: where it stands in the decoded and in the written text, and its length in
/// both.
struct Mark {
    at: usize,
    from: usize,
    length: u8,
    taken: u32,
}

/// What stands at a lead byte.
enum Found {
    /// So many bytes, which stand for these.
    Escape { taken: usize, bytes: [u8; 4], length: usize },
    /// Nothing.
    Plain,
    /// The beginning of an escape, at the end of the text.
    Open,
}

impl Found {
    fn char(taken: usize, c: char) -> Self {
        let mut bytes = [0; 4];
        let length = c.encode_utf8(&mut bytes).len();
        Self::Escape { taken, bytes, length }
    }

    fn byte(taken: usize, byte: u8) -> Self {
        Self::Escape { taken, bytes: [byte, 0, 0, 0], length: 1 }
    }
}

/// Decodes a text, up to where it can be read only with what comes next if `more` may come.
pub(crate) fn decode(text: &[u8], spelling: Spelling, reach: &Reach, more: bool) -> Decoded {
    let mut out = Decoded::of(text.len());
    let (mut at, mut copied) = (0, 0);
    while let Some(next) = memchr(spelling.lead(), &text[at..]) {
        at += next;
        match read(&text[at..], spelling) {
            Found::Escape { taken, bytes, length } => {
                out.text.extend_from_slice(&text[copied..at]);
                let behind = known(text.get(at + taken));
                out.push(
                    Mark { at: out.text.len(), from: at, length: length as u8, taken: taken as u32 },
                    &bytes,
                );
                out.look_around(&bytes[..length], behind, reach);
                at += taken;
                copied = at;
            }
            Found::Open if more => {
                out.open = Some(at);
                out.text.extend_from_slice(&text[copied..at]);
                return out;
            }
            Found::Plain | Found::Open => at += 1,
        }
    }
    out.text.extend_from_slice(&text[copied..]);
    out
}

impl Decoded {
    /// Nothing yet, with room for so many bytes.
    fn of(capacity: usize) -> Self {
        let (text, marks, windows) = (Vec::with_capacity(capacity), Vec::new(), Vec::new());
        Self { text, windows, open: None, marks, made_escapes: false }
    }

    /// Where in the written text a part of the decoded one stands.
    pub(crate) fn written(&self, part: Range<usize>) -> Range<usize> {
        self.written_start(part.start)..self.written_end(part.end)
    }

    /// Where in the written text what begins here begins.
    pub(crate) fn written_start(&self, at: usize) -> usize {
        match self.mark(at) {
            Some(mark) if at < mark.at + usize::from(mark.length) => mark.from,
            Some(mark) => mark.behind(at),
            None => at,
        }
    }

    fn written_end(&self, end: usize) -> usize {
        let Some(last) = end.checked_sub(1) else { return 0 };
        match self.mark(last) {
            Some(mark) if last < mark.at + usize::from(mark.length) => mark.from + mark.taken as usize,
            Some(mark) => mark.behind(end),
            None => end,
        }
    }

    /// The last escape that begins at or before a place.
    fn mark(&self, at: usize) -> Option<&Mark> {
        self.marks.partition_point(|mark| mark.at <= at).checked_sub(1).map(|index| &self.marks[index])
    }

    /// Adds what an escape stands for. It takes at most 12 bytes and makes at most 4.
    fn push(&mut self, mark: Mark, bytes: &[u8; 4]) {
        self.text.extend_from_slice(&bytes[..usize::from(mark.length)]);
        self.marks.push(mark);
        self.made_escapes |= bytes[0] == b'\\';
    }

    /// Keeps in mind what is around the character that was added last, if a form may lie across it.
    fn look_around(&mut self, character: &[u8], behind: Option<u8>, reach: &Reach) {
        let at = self.text.len() - character.len();
        let before = at.checked_sub(1).map(|before| self.text[before]);
        if !reach.across(before, character, behind) {
            return;
        }
        let (before, behind) = reach.around(character[0]).unwrap_or_default();
        let (start, end) = (at.saturating_sub(before as usize), at + 1 + behind as usize);
        match self.windows.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => self.windows.push(start..end),
        }
    }
}

/// A byte that stands for itself, whatever is decoded.
fn known(byte: Option<&u8>) -> Option<u8> {
    byte.copied().filter(|byte| !matches!(byte, b'\\' | b'%'))
}

impl Mark {
    /// Where in the written text a place behind this escape, and before the next, stands.
    fn behind(&self, at: usize) -> usize {
        self.from + self.taken as usize + (at - self.at - usize::from(self.length))
    }
}

fn read(text: &[u8], spelling: Spelling) -> Found {
    match spelling {
        Spelling::Backslash => backslash(text),
        Spelling::Percent => match digits(&text[1..], 2) {
            Digits::Value(value) => Found::byte(3, value as u8),
            Digits::None => Found::Plain,
            Digits::Open => Found::Open,
        },
    }
}

fn backslash(text: &[u8]) -> Found {
    let Some(letter) = text.get(1) else { return Found::Open };
    match letter {
        b'b' => Found::byte(2, 0x08),
        b'f' => Found::byte(2, 0x0C),
        b'n' => Found::byte(2, b'\n'),
        b'r' => Found::byte(2, b'\r'),
        b't' => Found::byte(2, b'\t'),
        b'x' => match digits(&text[2..], 2) {
            Digits::Value(value) => Found::char(4, char::from(value as u8)),
            Digits::None => Found::byte(2, b'x'),
            Digits::Open => Found::Open,
        },
        b'u' if text.get(2) == Some(&b'{') => braced(text),
        b'u' => unicode(text),
        other => Found::byte(2, *other),
    }
}

/// `\u{1f600}`
fn braced(text: &[u8]) -> Found {
    let inside = &text[3..];
    let length = inside.iter().take(7).take_while(|byte| byte.is_ascii_hexdigit()).count();
    match inside.get(length) {
        None => Found::Open,
        Some(b'}') if (1..=6).contains(&length) => {
            let Digits::Value(value) = digits(inside, length) else { return Found::byte(2, b'u') };
            Found::char(length + 4, char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER))
        }
        Some(_) => Found::byte(2, b'u'),
    }
}

/// `\u00e9`, or two halves of a pair.
fn unicode(text: &[u8]) -> Found {
    let high = match digits(&text[2..], 4) {
        Digits::Value(value) => value,
        Digits::None => return Found::byte(2, b'u'),
        Digits::Open => return Found::Open,
    };
    if !(0xD800..0xDC00).contains(&high) {
        return Found::char(6, char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    let lone = Found::char(6, char::REPLACEMENT_CHARACTER);
    match &text[6..] {
        [] | [b'\\'] => Found::Open,
        [b'\\', b'u', rest @ ..] => match digits(rest, 4) {
            Digits::Value(low @ 0xDC00..0xE000) => {
                let value = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                char::from_u32(value).map_or(lone, |c| Found::char(12, c))
            }
            Digits::Value(_) | Digits::None => lone,
            Digits::Open => Found::Open,
        },
        _ => lone,
    }
}

enum Digits {
    Value(u32),
    None,
    Open,
}

/// A number of so many hexadecimal digits.
fn digits(text: &[u8], count: usize) -> Digits {
    let mut value = 0;
    for index in 0..count {
        let Some(byte) = text.get(index) else { return Digits::Open };
        let Some(digit) = char::from(*byte).to_digit(16) else { return Digits::None };
        value = value << 4 | digit;
    }
    Digits::Value(value)
}

#[cfg(test)]
mod tests;

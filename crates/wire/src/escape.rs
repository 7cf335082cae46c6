//! The text inside JSON strings: from escapes to characters and back.
//!
//! All input here is the inside of a string that the scanner has accepted.

use std::borrow::Cow;
use std::cmp::Ordering;

use memchr::memchr;

/// One step through the inside of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Bytes that stand for themselves.
    Plain(&'a [u8]),
    /// A character that was escaped.
    Char(char),
    /// Half of a surrogate pair, alone.
    Lone(u16),
}

/// Steps through the inside of a string.
pub(crate) struct Pieces<'a> {
    rest: &'a [u8],
}

/// The pieces of the inside of a string.
pub(crate) fn pieces(inside: &[u8]) -> Pieces<'_> {
    Pieces { rest: inside }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        match memchr(b'\\', self.rest) {
            None if self.rest.is_empty() => None,
            None => Some(Piece::Plain(std::mem::take(&mut self.rest))),
            Some(0) => self.escape(),
            Some(at) => {
                let (plain, rest) = self.rest.split_at(at);
                self.rest = rest;
                Some(Piece::Plain(plain))
            }
        }
    }
}

impl<'a> Pieces<'a> {
    fn escape(&mut self) -> Option<Piece<'a>> {
        let letter = *self.rest.get(1)?;
        if letter != b'u' {
            self.rest = &self.rest[2..];
            return Some(Piece::Char(short(letter)));
        }
        let high = hex(self.rest.get(2..6)?);
        self.rest = &self.rest[6..];
        if !(0xD800..0xE000).contains(&high) {
            return char::from_u32(u32::from(high)).map(Piece::Char);
        }
        let Some(pair) = self.low_half().and_then(|low| join(high, low)) else {
            return Some(Piece::Lone(high));
        };
        self.rest = &self.rest[6..];
        Some(Piece::Char(pair))
    }

    fn low_half(&self) -> Option<u16> {
        self.rest.get(..6)?.strip_prefix(b"\\u").map(hex)
    }
}

fn join(high: u16, low: u16) -> Option<char> {
    char::decode_utf16([high, low]).next()?.ok().filter(|c| u32::from(*c) > 0xFFFF)
}

fn short(letter: u8) -> char {
    match letter {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        other => char::from(other),
    }
}

fn hex(digits: &[u8]) -> u16 {
    digits.iter().fold(0, |value, digit| {
        let digit = char::from(*digit).to_digit(16).unwrap_or(0);
        (value << 4) | u16::try_from(digit).unwrap_or(0)
    })
}

/// Whether half of a surrogate pair stands alone in it.
pub(crate) fn has_lone_surrogate(inside: &[u8]) -> bool {
    pieces(inside).any(|piece| matches!(piece, Piece::Lone(_)))
}

/// The bytes that the inside of a string stands for: UTF-8, and lone surrogates in the same manner
/// (WTF-8), so that different strings stay different.
pub(crate) fn decode(inside: &[u8]) -> Cow<'_, [u8]> {
    if memchr(b'\\', inside).is_none() {
        return Cow::Borrowed(inside);
    }
    let mut out = Vec::with_capacity(inside.len());
    for piece in pieces(inside) {
        match piece {
            Piece::Plain(bytes) => out.extend_from_slice(bytes),
            Piece::Char(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Piece::Lone(half) => {
                let [high, low] = half.to_be_bytes();
                let middle = ((high & 0x0F) << 2) | (low >> 6);
                out.extend_from_slice(&[0xED, 0x80 | middle, 0x80 | (low & 0x3F)]);
            }
        }
    }
    Cow::Owned(out)
}

/// The text that the inside of a string stands for, unless it has lone surrogates.
pub(crate) fn decode_str(inside: &[u8]) -> Option<Cow<'_, str>> {
    match decode(inside) {
        Cow::Borrowed(bytes) => str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    }
}

/// Whether the inside of a string stands for this text. An escape is longer than what it stands for, so that most need
/// not be read.
pub(crate) fn spells(inside: &[u8], text: &str) -> bool {
    match inside.len().cmp(&text.len()) {
        Ordering::Less => false,
        Ordering::Equal => inside == text.as_bytes() && !inside.contains(&b'\\'),
        Ordering::Greater => inside.contains(&b'\\') && *decode(inside) == *text.as_bytes(),
    }
}

/// Appends `text` as a JSON string, escaping only what must be.
pub(crate) fn encode(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&text.as_bytes()[from..at]);
        encode_byte(byte, out);
        from = at + 1;
    }
    out.extend_from_slice(&text.as_bytes()[from..]);
    out.push(b'"');
}

/// Appends one character to the inside of a JSON string, escaped if it must be.
pub(crate) fn encode_char(c: char, out: &mut Vec<u8>) {
    match u8::try_from(c) {
        Ok(byte @ (0..0x20 | b'"' | b'\\')) => encode_byte(byte, out),
        Ok(_) | Err(_) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

fn encode_byte(byte: u8, out: &mut Vec<u8>) {
    let letter = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0C => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        other => {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            let [high, low] = [other >> 4, other & 0xF].map(|half| DIGITS[usize::from(half)]);
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_characters() {
        #[track_caller]
        fn check(inside: &str, expect: &str) {
            assert_eq!(decode_str(inside.as_bytes()).as_deref(), Some(expect));
        }
        check("plain é", "plain é");
        check(r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t");
        check(r"a\u0078b", "axb");
        check(r"\u00e9\ud83d\ude00!", "é😀!");
        check(r"\uD83D\uDE00", "😀");
    }

    #[test]
    fn lone_surrogates_are_no_text_but_stay_different() {
        #[track_caller]
        fn check(inside: &str) {
            assert!(has_lone_surrogate(inside.as_bytes()));
            assert_eq!(decode_str(inside.as_bytes()), None);
        }
        check(r"\ud800");
        check(r"\ud800x");
        check(r"\udc00\ud800");
        check(r"\ud800\u0041");
        check(r"\ud800\ud83d\ude00");
        assert_ne!(decode(br"\ud800"), decode(br"\ud801"));
        assert_eq!(&*decode(br"\uD800"), b"\xED\xA0\x80");
    }

    #[test]
    fn a_text_is_known_in_all_its_spellings() {
        #[track_caller]
        fn check(inside: &str, text: &str, expect: bool) {
            assert_eq!(spells(inside.as_bytes(), text), expect, "{inside} {text}");
        }
        check("name", "name", true);
        check(r"n\u0061me", "name", true);
        check(r"\u006e\u0061\u006d\u0065", "name", true);
        check("nam", "name", false);
        check("names", "name", false);
        check(r"n\u0062me", "name", false);
        check("", "", true);
        check("a", "", false);
        // A backslash is never itself.
        check(r"a\\b", r"a\b", true);
        check(r"a\nb", "a\nb", true);
        check(r"a\nb", r"a\nb", false);
    }

    #[test]
    fn text_is_escaped_only_where_it_must_be() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            let mut out = Vec::new();
            encode(text, &mut out);
            assert_eq!(str::from_utf8(&out), Ok(expect));
        }
        check("", r#""""#);
        check("é/😀\u{7f}", "\"é/😀\u{7f}\"");
        check("\"\\\u{8}\u{c}\n\r\t\u{1}\u{1f}", r#""\"\\\b\f\n\r\t\u0001\u001f""#);
    }
}

//! Replaces pieces of a JSON document so that it stays one, and every other byte stays as it is.
//!
//! In a string only the piece is replaced, escapes as a whole; a number or a word becomes a string; a base64 text in
//! `data` or `blob` is replaced by that of the marker, because clients refuse a result whose images are not base64.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::{memchr, memchr2};
use toolgate_wire::{Fault, Raw};

use super::patterns::Patterns;
use super::pieces::Piece;

/// Members whose text is mostly base64.
const BINARY: [&[u8]; 2] = [b"data", b"blob"];

/// Replaces the pieces of a document, and counts what was replaced. Where there is only structure, nothing is.
pub(crate) fn replace(raw: &Raw, pieces: &[Piece], patterns: &Patterns) -> (Raw, usize) {
    let (text, count, keys) = Rewrite::new(raw.as_bytes(), pieces, patterns, false).run();
    if count == 0 {
        return (raw.clone(), 0);
    }
    if !keys {
        return (Raw::trusted(text.into()), count);
    }
    // Two keys that were different may be the same now, and readers differ on that.
    match Raw::parse(text.clone().into()) {
        Err(fault) if fault.kind == Fault::DuplicateKey => {
            let (text, count, _) = Rewrite::new(raw.as_bytes(), pieces, patterns, true).run();
            (Raw::trusted(text.into()), count)
        }
        Ok(_) | Err(_) => (Raw::trusted(text.into()), count),
    }
}

struct Rewrite<'a> {
    text: &'a [u8],
    /// Those that may still lie ahead.
    pieces: &'a [Piece],
    patterns: &'a Patterns,
    out: Vec<u8>,
    /// So much of the text is in `out`.
    copied: usize,
    /// The key of the value that comes next.
    key: Range<usize>,
    /// Whether redacted keys are numbered, and how many there were.
    numbered: bool,
    keys: usize,
    count: usize,
}

impl<'a> Rewrite<'a> {
    fn new(text: &'a [u8], pieces: &'a [Piece], patterns: &'a Patterns, numbered: bool) -> Self {
        let out = Vec::with_capacity(text.len() + 64);
        Self { text, pieces, patterns, out, copied: 0, key: 0..0, numbered, keys: 0, count: 0 }
    }

    fn run(mut self) -> (Vec<u8>, usize, bool) {
        let mut at = 0;
        while let Some(byte) = self.text.get(at) {
            at = match byte {
                b'"' => self.string(at),
                b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => self.scalar(at),
                b'{' | b'[' => {
                    self.key = 0..0;
                    at + 1
                }
                _ => at + 1,
            };
        }
        self.copy(self.text.len());
        (self.out, self.count, self.keys > 0)
    }

    /// The pieces that touch a part of the text.
    fn touching(&mut self, part: &Range<usize>) -> &'a [Piece] {
        let past = self.pieces.iter().take_while(|piece| piece.end <= part.start).count();
        self.pieces = &self.pieces[past..];
        let touching = self.pieces.iter().take_while(|piece| piece.start < part.end).count();
        &self.pieces[..touching]
    }

    fn scalar(&mut self, start: usize) -> usize {
        let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
        let length = self.text[start..].iter().position(ends);
        let end = length.map_or(self.text.len(), |length| start + length);
        if let [first, ..] = self.touching(&(start..end)) {
            self.copy(start);
            let marker = self.patterns.marker(first.owner);
            self.out.extend([b"\"", marker.as_bytes(), b"\""].concat());
            self.replaced(end);
        }
        end
    }

    fn string(&mut self, open: usize) -> usize {
        let close = string_close(self.text, open);
        let (inside, end) = (open + 1..close, (close + 1).min(self.text.len()));
        let is_key = self.text[end..].trim_ascii_start().first() == Some(&b':');
        let pieces = self.touching(&inside);
        if let [first, ..] = pieces {
            let binary = BINARY.contains(&&self.text[self.key.clone()]);
            if binary && !is_key && pieces.iter().any(|piece| piece.base64) {
                self.copy(inside.start);
                self.out.extend(STANDARD.encode(self.patterns.marker(first.owner)).into_bytes());
                self.replaced(inside.end);
            } else {
                self.parts(inside.clone(), pieces, is_key);
            }
        }
        self.key = if is_key { inside } else { 0..0 };
        end
    }

    /// Replaces parts of a string.
    fn parts(&mut self, inside: Range<usize>, pieces: &[Piece], is_key: bool) {
        let mut escapes = Escapes { text: &self.text[..inside.end], next: 0..inside.start };
        for piece in pieces {
            let start = escapes.around(piece.start.max(inside.start)).start.max(self.copied);
            let end = escapes.around(piece.end.min(inside.end) - 1).end;
            if start >= end {
                continue;
            }
            self.copy(start);
            self.out.extend_from_slice(self.patterns.marker(piece.owner).as_bytes());
            self.replaced(end);
        }
        if is_key {
            self.keys += 1;
            if self.numbered {
                self.out.extend(format!("#{}", self.keys).into_bytes());
            }
        }
    }

    fn copy(&mut self, to: usize) {
        self.out.extend_from_slice(&self.text[self.copied..to]);
        self.copied = to;
    }

    fn replaced(&mut self, end: usize) {
        self.copied = end;
        self.count += 1;
    }
}

/// Where the string whose first quote is at `open` has its last.
fn string_close(text: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(next) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        if text[at + next] == b'"' {
            return at + next;
        }
        at += next + 2;
    }
    text.len()
}

/// Goes through the escapes of a string, forward only.
struct Escapes<'a> {
    /// Up to the end of the string.
    text: &'a [u8],
    /// The escape that was found last.
    next: Range<usize>,
}

impl Escapes<'_> {
    /// The escape around a byte, or the byte alone.
    fn around(&mut self, at: usize) -> Range<usize> {
        while self.next.end <= at {
            let Some(start) = memchr(b'\\', &self.text[self.next.end..]) else {
                self.next = self.text.len()..usize::MAX;
                break;
            };
            let start = self.next.end + start;
            self.next = start..(start + self.length(start)).min(self.text.len());
        }
        if self.next.start <= at { self.next.clone() } else { at..at + 1 }
    }

    /// How long an escape is; two halves of a pair are one.
    fn length(&self, start: usize) -> usize {
        let is_unicode = |at: usize| self.text.get(at..at + 2) == Some(b"\\u");
        if !is_unicode(start) {
            return 2;
        }
        let half = |at: usize, letters: &[u8]| {
            let is_d = self.text.get(at + 2).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'd'));
            is_d && self.text.get(at + 3).is_some_and(|byte| letters.contains(&byte.to_ascii_lowercase()))
        };
        let pair = half(start, b"89ab") && is_unicode(start + 6) && half(start + 6, b"cdef");
        if pair { 12 } else { 6 }
    }
}

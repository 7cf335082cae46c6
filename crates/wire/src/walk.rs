//! Walks over JSON text that is already known to be valid, finding where its parts are.

use std::ops::Range;

use crate::find;

/// Where a member of an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// The key, without its quotes.
    pub(crate) key: Range<usize>,
    /// The value.
    pub(crate) value: Range<usize>,
}

/// The members of an object, in order; none of anything else.
pub(crate) struct Members<'a>(Steps<'a>);

/// The elements of an array, in order; none of anything else.
pub(crate) struct Elements<'a>(Steps<'a>);

struct Steps<'a> {
    text: &'a [u8],
    at: usize,
}

/// The members of the object `text`.
pub(crate) fn members(text: &[u8]) -> Members<'_> {
    Members(Steps::inside(text, b'{'))
}

/// The elements of the array `text`.
pub(crate) fn elements(text: &[u8]) -> Elements<'_> {
    Elements(Steps::inside(text, b'['))
}

impl Iterator for Members<'_> {
    type Item = Member;

    fn next(&mut self) -> Option<Member> {
        let steps = &mut self.0;
        let open = steps.token()?;
        let close = string_end(steps.text, open);
        steps.at = close;
        steps.token()?;
        let value = steps.value()?;
        Some(Member { key: open + 1..close.saturating_sub(1).max(open + 1), value })
    }
}

impl Iterator for Elements<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        self.0.value()
    }
}

impl<'a> Steps<'a> {
    fn inside(text: &'a [u8], open: u8) -> Self {
        let at = if text.first() == Some(&open) { 1 } else { text.len() };
        Self { text, at }
    }

    /// Goes to the next byte that is neither white space nor a separator, unless the container ends.
    fn token(&mut self) -> Option<usize> {
        while matches!(self.text.get(self.at)?, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':') {
            self.at += 1;
        }
        let ends = matches!(self.text.get(self.at)?, b'}' | b']');
        (!ends).then_some(self.at)
    }

    fn value(&mut self) -> Option<Range<usize>> {
        let start = self.token()?;
        self.at = value_end(self.text, start);
        Some(start..self.at)
    }
}

/// Where the value that begins at `start` ends.
pub(crate) fn value_end(text: &[u8], start: usize) -> usize {
    match text.get(start) {
        Some(b'"') => string_end(text, start),
        Some(b'{' | b'[') => container_end(text, start),
        Some(_) | None => scalar_end(text, start),
    }
}

/// Where the string whose first quote is at `open` ends: behind its last quote.
pub(crate) fn string_end(text: &[u8], open: usize) -> usize {
    let mut at = find::special(text, open + 1);
    while text.get(at).is_some_and(|byte| *byte != b'"') {
        // A backslash, and what it escapes.
        at = find::special(text, at + 2);
    }
    text.len().min(at + 1)
}

fn container_end(text: &[u8], start: usize) -> usize {
    let mut depth = 0usize;
    let mut at = start;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at = string_end(text, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn scalar_end(text: &[u8], start: usize) -> usize {
    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
    text.get(start..).and_then(|rest| rest.iter().position(ends)).map_or(text.len(), |length| start + length)
}

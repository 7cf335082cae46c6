//! One pass over bytes that accepts JSON which can mean only one thing.
//!
//! Beyond RFC 8259 it refuses nesting deeper than [`MAX_DEPTH`], a key that occurs twice in one
//! object, and a key with half of a surrogate pair: readers differ on all three, and what is judged
//! must be what is sent.

use std::{fmt, ops::Range};

use crate::{escape, find, walk::Member};

mod keys;

use keys::Keys;

/// How deep objects and arrays may be nested.
pub const MAX_DEPTH: usize = 128;

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// It is not JSON.
    Syntax,
    /// It ends too early.
    Truncated,
    /// It is not UTF-8.
    Utf8,
    /// It is nested deeper than [`MAX_DEPTH`].
    Depth,
    /// A key occurs twice in one object.
    DuplicateKey,
    /// A key has half of a surrogate pair.
    LoneSurrogate,
}

/// A text that is refused, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct Malformed {
    /// What is wrong.
    pub kind: Fault,
    /// The byte at which it shows.
    pub offset: usize,
}

impl Fault {
    /// Whether the text is JSON, though refused.
    pub fn is_json(self) -> bool {
        match self {
            Self::Syntax | Self::Truncated | Self::Utf8 => false,
            Self::Depth | Self::DuplicateKey | Self::LoneSurrogate => true,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "invalid JSON",
            Self::Truncated => "unexpected end of JSON",
            Self::Utf8 => "invalid UTF-8",
            Self::Depth => "nesting deeper than 128",
            Self::DuplicateKey => "duplicate key",
            Self::LoneSurrogate => "lone surrogate in a key",
        })
    }
}

/// Checks a text; gives where the value is, without the white space around it.
pub(crate) fn scan(text: &[u8]) -> Result<Range<usize>, Malformed> {
    scan_members(text, |_| {})
}

/// Checks a text, and reports the members of its top-level object in the same pass.
pub(crate) fn scan_members(text: &[u8], report: impl FnMut(Member)) -> Result<Range<usize>, Malformed> {
    if let Err(error) = str::from_utf8(text) {
        return Err(Malformed { kind: Fault::Utf8, offset: error.valid_up_to() });
    }
    Scanner { text, at: 0, depth: 0, objects: 0, keys: Keys::new(), pending: None, report }.document()
}

struct Scanner<'a, F> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    /// Which of the open containers are objects: the lowest bit is the innermost.
    objects: u128,
    keys: Keys<'a>,
    /// The key and the beginning of the top-level member that is being read.
    pending: Option<(Range<usize>, usize)>,
    report: F,
}

impl<F: FnMut(Member)> Scanner<'_, F> {
    fn document(mut self) -> Result<Range<usize>, Malformed> {
        self.space();
        let start = self.at;
        loop {
            while self.value()? {}
            if !self.after_value()? {
                break;
            }
        }
        let end = self.at;
        self.space();
        if self.at < self.text.len() {
            return self.fail(Fault::Syntax);
        }
        Ok(start..end)
    }

    /// Reads a scalar, an empty container, or the beginning of a container up to its first value,
    /// which then is still to be read: `true`.
    fn value(&mut self) -> Result<bool, Malformed> {
        match self.peek() {
            b'"' => self.string().map(|_| false),
            b'{' => self.open_object(),
            b'[' => self.open_array(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.fail(Fault::Syntax),
        }
    }

    /// Closes what ends here; `true` if a comma says that another value is to be read.
    fn after_value(&mut self) -> Result<bool, Malformed> {
        while self.depth > 0 {
            if self.depth == 1
                && let Some((key, start)) = self.pending.take()
            {
                (self.report)(Member { key, value: start..self.at });
            }
            self.space();
            let in_object = self.objects & 1 == 1;
            match self.peek() {
                b',' => {
                    self.at += 1;
                    self.space();
                    if in_object {
                        self.key()?;
                    }
                    return Ok(true);
                }
                b'}' if in_object => self.close(),
                b']' if !in_object => self.close(),
                _ => return self.fail(Fault::Syntax),
            }
        }
        Ok(false)
    }

    fn open_object(&mut self) -> Result<bool, Malformed> {
        self.open(true)?;
        if self.peek() == b'}' {
            self.close();
            return Ok(false);
        }
        self.key()?;
        Ok(true)
    }

    fn open_array(&mut self) -> Result<bool, Malformed> {
        self.open(false)?;
        if self.peek() == b']' {
            self.close();
            return Ok(false);
        }
        Ok(true)
    }

    fn open(&mut self, object: bool) -> Result<(), Malformed> {
        if self.depth == MAX_DEPTH {
            return self.fail(Fault::Depth);
        }
        self.at += 1;
        self.depth += 1;
        self.objects = self.objects << 1 | u128::from(object);
        if object {
            self.keys.open(self.depth);
        }
        self.space();
        Ok(())
    }

    fn close(&mut self) {
        if self.objects & 1 == 1 {
            self.keys.close(self.depth);
        }
        self.at += 1;
        self.depth -= 1;
        self.objects >>= 1;
    }

    fn key(&mut self) -> Result<(), Malformed> {
        if self.peek() != b'"' {
            return self.fail(Fault::Syntax);
        }
        let open = self.at;
        let escaped = self.string()?;
        let inside = open + 1..self.at - 1;
        let key = &self.text[inside.clone()];
        if escaped && escape::has_lone_surrogate(key) {
            return Err(Malformed { kind: Fault::LoneSurrogate, offset: open });
        }
        if !self.keys.insert(self.depth, key, escaped) {
            return Err(Malformed { kind: Fault::DuplicateKey, offset: open });
        }
        self.space();
        if self.peek() != b':' {
            return self.fail(Fault::Syntax);
        }
        self.at += 1;
        self.space();
        if self.depth == 1 {
            self.pending = Some((inside, self.at));
        }
        Ok(())
    }

    /// Reads a string; says whether it has escapes.
    fn string(&mut self) -> Result<bool, Malformed> {
        self.at = find::special(self.text, self.at + 1);
        let mut escaped = false;
        loop {
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Ok(escaped);
                }
                b'\\' => self.escape()?,
                _ => return self.fail(Fault::Syntax),
            }
            escaped = true;
            self.at = find::special(self.text, self.at);
        }
    }

    fn escape(&mut self) -> Result<(), Malformed> {
        self.at += 1;
        match self.peek() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_ascii_hexdigit() {
                        return self.fail(Fault::Syntax);
                    }
                    self.at += 1;
                }
            }
            _ => return self.fail(Fault::Syntax),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<bool, Malformed> {
        if self.next_is(b"-") {
            self.at += 1;
        }
        if self.next_is(b"0") {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.next_is(b".") {
            self.at += 1;
            self.digits()?;
        }
        if self.next_is(b"eE") {
            self.at += 1;
            if self.next_is(b"+-") {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(false)
    }

    fn digits(&mut self) -> Result<(), Malformed> {
        if !self.peek().is_ascii_digit() {
            return self.fail(Fault::Syntax);
        }
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        Ok(())
    }

    fn word(&mut self, word: &[u8]) -> Result<bool, Malformed> {
        for expected in word {
            if self.peek() != *expected {
                return self.fail(Fault::Syntax);
            }
            self.at += 1;
        }
        Ok(false)
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    fn next_is(&self, any: &[u8]) -> bool {
        self.text.get(self.at).is_some_and(|byte| any.contains(byte))
    }

    /// The byte here; at the end of the text NUL, which JSON has nowhere.
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    #[cold]
    fn fail<T>(&self, kind: Fault) -> Result<T, Malformed> {
        let kind = if self.at >= self.text.len() { Fault::Truncated } else { kind };
        Err(Malformed { kind, offset: self.at.min(self.text.len()) })
    }
}

#[cfg(test)]
mod tests;

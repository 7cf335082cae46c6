//! Splits a stream of bytes into lines, as stdio frames are.

use std::collections::VecDeque;

use bytes::Bytes;
use memchr::memchr;

/// What the splitter found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A line, without its end.
    Line(Bytes),
    /// A line that was longer than the limit, and is lost.
    TooLong {
        /// How long it was.
        dropped: usize,
    },
}

/// Splits bytes into lines: push chunks, then iterate.
///
/// A line ends with LF or CRLF; blank ones are skipped. Of a line over the limit nothing is kept,
/// and the next one is read as if nothing had happened.
#[derive(Debug)]
pub struct Lines {
    limit: usize,
    /// The beginning of a line whose end has not come yet.
    partial: Vec<u8>,
    /// How much of an over-long line is dropped so far.
    dropped: Option<usize>,
    ready: VecDeque<Item>,
}

impl Lines {
    /// A splitter for lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, partial: Vec::new(), dropped: None, ready: VecDeque::new() }
    }

    /// Takes the next bytes of the stream; a line that lies wholly within is not copied.
    pub fn push(&mut self, mut chunk: Bytes) {
        while let Some(end) = memchr(b'\n', &chunk) {
            let rest = chunk.split_off(end + 1);
            chunk.truncate(end);
            self.end_line(chunk);
            chunk = rest;
        }
        self.keep(&chunk);
    }

    /// The stream has ended: the last line may lack its end.
    pub fn finish(&mut self) {
        self.end_line(Bytes::new());
    }

    /// Whether the line that is being read is too long already; it is reported when it ends.
    pub fn is_over(&self) -> bool {
        self.dropped.is_some()
    }

    fn end_line(&mut self, last: Bytes) {
        if self.dropped.is_none() && self.partial.is_empty() {
            return self.emit(last);
        }
        self.keep(&last);
        let line = std::mem::take(&mut self.partial);
        match self.dropped.take() {
            Some(dropped) => self.ready.push_back(Item::TooLong { dropped }),
            None => self.emit(line.into()),
        }
    }

    fn emit(&mut self, mut line: Bytes) {
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        if line.len() > self.limit {
            self.ready.push_back(Item::TooLong { dropped: line.len() });
        } else if !line.trim_ascii().is_empty() {
            self.ready.push_back(Item::Line(line));
        }
    }

    /// Keeps a part of a line, unless the line is too long already. One byte more than the limit
    /// may yet be the CR of its end.
    fn keep(&mut self, part: &[u8]) {
        if let Some(dropped) = &mut self.dropped {
            *dropped += part.len();
        } else if self.partial.len() + part.len() > self.limit.saturating_add(1) {
            self.dropped = Some(self.partial.len() + part.len());
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(part);
        }
    }
}

impl Iterator for Lines {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        self.ready.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(chunks: &[&'static str], expect: &[&str]) {
        let mut lines = Lines::new(8);
        for chunk in chunks {
            lines.push(Bytes::from_static(chunk.as_bytes()));
        }
        lines.finish();
        let found: Vec<String> = lines
            .map(|item| match item {
                Item::Line(line) => String::from_utf8(line.to_vec()).unwrap(),
                Item::TooLong { dropped } => format!("!{dropped}"),
            })
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn lines_end_with_lf_or_crlf() {
        check(&["a\nb\r\nc"], &["a", "b", "c"]);
        check(&["a\r", "\nb", "c\r\n"], &["a", "bc"]);
        check(&["a\rb\n"], &["a\rb"]);
    }

    #[test]
    fn blank_lines_are_skipped() {
        check(&["\n\r\n  \n\t\r\na\n\n"], &["a"]);
        check(&[], &[]);
    }

    #[test]
    fn the_limit_does_not_count_the_end() {
        check(&["12345678\n12345678\r\n12345678"], &["12345678", "12345678", "12345678"]);
        check(&["1234", "5678", "\r", "\n"], &["12345678"]);
        check(&["123456789\na\n"], &["!9", "a"]);
        check(&["12345678", "9\na\n"], &["!9", "a"]);
    }

    #[test]
    fn after_an_over_long_line_comes_the_next() {
        check(&["a\n", "1234567890", "1234567890", "12345\nb\n"], &["a", "!25", "b"]);
        check(&["1234567890", "1"], &["!11"]);
    }

    #[test]
    fn that_a_line_is_too_long_is_known_before_it_ends() {
        let mut lines = Lines::new(4);
        let mut over = |chunk: &'static str| {
            lines.push(Bytes::from_static(chunk.as_bytes()));
            lines.is_over()
        };
        assert_eq!(["1234", "56", "78", "\n", "12"].map(&mut over), [false, true, true, false, false]);
    }
}

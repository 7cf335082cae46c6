//! Reads server-sent events from chunks that may be cut anywhere.

use std::collections::VecDeque;

use memchr::memchr2;

use super::Event;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// An event was larger than the limit, and is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("server-sent event larger than {limit} bytes")]
pub struct TooLarge {
    /// The limit.
    pub limit: usize,
}

/// Reads events: push chunks, then iterate.
///
/// It follows the rules of the HTML standard for interpreting an event stream. An event over the
/// limit is reported in its place, and the next one is read as if nothing had happened.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    /// Whether the last byte was a CR, so that an LF now belongs to it.
    after_cr: bool,
    /// Whether the first line, which may begin with a byte order mark, is still to come.
    first: bool,
    block: Block,
    last_id: String,
    retry: Option<u64>,
    ready: VecDeque<Result<Event, TooLarge>>,
}

/// The fields of the event that is being read.
#[derive(Debug, Default)]
struct Block {
    id: Option<String>,
    event: Option<String>,
    data: Vec<u8>,
    has_data: bool,
    retry: Option<u64>,
    size: usize,
    too_large: bool,
}

impl Decoder {
    /// A reader for events of at most `limit` bytes, counting all their lines.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_cr: false,
            first: true,
            block: Block::default(),
            last_id: String::new(),
            retry: None,
            ready: VecDeque::new(),
        }
    }

    /// Takes the next bytes of the stream. What is left at its end is no event.
    pub fn push(&mut self, mut chunk: &[u8]) {
        if self.after_cr && !chunk.is_empty() {
            chunk = chunk.strip_prefix(b"\n").unwrap_or(chunk);
            self.after_cr = false;
        }
        while let Some(end) = memchr2(b'\n', b'\r', chunk) {
            self.end_line(&chunk[..end]);
            let cr = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            if cr && chunk.is_empty() {
                self.after_cr = true;
            } else if cr {
                chunk = chunk.strip_prefix(b"\n").unwrap_or(chunk);
            }
        }
        self.keep(chunk);
    }

    /// The last id that the stream has set; empty if none, or if it was taken back.
    pub fn last_id(&self) -> &str {
        &self.last_id
    }

    /// Whether the event that is being read is too large already; it is reported when it ends.
    pub fn is_over(&self) -> bool {
        self.block.too_large
    }

    /// After how many milliseconds to connect again, if the stream has said so.
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// Keeps a part of a line. Of an event that is too large only so much is kept as tells a blank
    /// line from others.
    fn keep(&mut self, part: &[u8]) {
        self.block.size = self.block.size.saturating_add(part.len());
        if self.block.size <= self.limit {
            self.line.extend_from_slice(part);
            return;
        }
        self.block.too_large = true;
        self.block.data = Vec::new();
        let kept = self.line.first().or(part.first()).copied();
        self.line = kept.into_iter().collect();
    }

    fn end_line(&mut self, last: &[u8]) {
        if self.line.is_empty() && self.block.size.saturating_add(last.len()) <= self.limit {
            // The usual case: the line lies wholly within the chunk, and is not copied.
            self.block.size += last.len();
            return self.whole_line(last);
        }
        self.keep(last);
        let line = std::mem::take(&mut self.line);
        self.whole_line(&line);
    }

    fn whole_line(&mut self, line: &[u8]) {
        let first = std::mem::take(&mut self.first);
        let line = line.strip_prefix(BOM).filter(|_| first).unwrap_or(line);
        if line.is_empty() {
            self.dispatch();
        } else if !self.block.too_large {
            self.field(line);
        }
    }

    fn field(&mut self, line: &[u8]) {
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let (name, rest) = line.split_at(colon);
        let value = rest.strip_prefix(b":").unwrap_or(rest);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            b"data" => self.block.line_of_data(value),
            b"event" => self.block.event = Some(text()),
            b"id" if !value.contains(&0) => self.block.id = Some(text()),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.block.retry = text().parse().ok();
            }
            // Comments, whose name is empty, and what is not known.
            _ => {}
        }
    }

    fn dispatch(&mut self) {
        let block = std::mem::take(&mut self.block);
        if block.too_large {
            self.ready.push_back(Err(TooLarge { limit: self.limit }));
            return;
        }
        self.retry = block.retry.or(self.retry);
        if let Some(id) = &block.id {
            self.last_id.clone_from(id);
        }
        if block.has_data {
            let Block { id, event, data, retry, .. } = block;
            let event = event.filter(|name| !name.is_empty());
            self.ready.push_back(Ok(Event { id, event, data: data.into(), retry }));
        }
    }
}

impl Block {
    fn line_of_data(&mut self, line: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(line);
    }
}

impl Iterator for Decoder {
    type Item = Result<Event, TooLarge>;

    fn next(&mut self) -> Option<Self::Item> {
        self.ready.pop_front()
    }
}

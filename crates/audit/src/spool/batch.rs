//! What is known of lines that follow each other in a spool file, so that nobody has to read them to copy them.

use toolgate_core::AuditBatch;

use crate::chain::Hex;
use crate::line::CLOSE;

/// What is known of a line that was just written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) seq: u64,
    pub(crate) time_ms: u64,
    /// As it stands in the line.
    pub(crate) principal: &'a str,
    pub(crate) hash: &'a Hex,
}

/// Lines that follow each other, in the file and in the chain.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    /// Where they begin in the file, and where they end.
    pub(super) from: u64,
    pub(super) to: u64,
    first: u64,
    count: u64,
    from_ms: u64,
    to_ms: u64,
    /// Of all of them, if it is one.
    principal: Option<String>,
    /// Of the last.
    hash: Hex,
    /// It is copied as it is, so nothing may be added.
    pub(super) closed: bool,
}

impl Batch {
    /// One line, which begins here.
    pub(super) fn begin(from: u64, length: u64, about: About<'_>) -> Self {
        let About { seq, time_ms, principal, hash } = about;
        let (from_ms, to_ms) = (time_ms, time_ms);
        let principal = Some(principal.to_owned());
        let (hash, closed) = (*hash, false);
        Self { from, to: from + length, first: seq, count: 1, from_ms, to_ms, principal, hash, closed }
    }

    /// Adds a line that begins here; `false` if it does not belong here.
    pub(super) fn add(&mut self, from: u64, length: u64, about: About<'_>) -> bool {
        let follows = !self.closed && from == self.to && about.seq == self.first + self.count;
        let large = self.to - self.from + length > AuditBatch::LARGE as u64;
        if !follows || large || self.count >= AuditBatch::MANY as u64 {
            return false;
        }
        (self.to, self.count, self.hash) = (from + length, self.count + 1, *about.hash);
        (self.from_ms, self.to_ms) = (self.from_ms.min(about.time_ms), self.to_ms.max(about.time_ms));
        if self.principal.as_deref().is_some_and(|principal| principal != about.principal) {
            self.principal = None;
        }
        true
    }

    /// The lines for the store, as they were read from the file from `start` on; none if they are not what was
    /// written there.
    pub(crate) fn of<'a>(&'a self, writer: &'a str, bytes: &'a [u8], start: u64) -> Option<AuditBatch<'a>> {
        let place = |at: u64| usize::try_from(at.checked_sub(start)?).ok();
        let bytes = bytes.get(place(self.from)?..place(self.to)?)?;
        let ends = bytes.strip_suffix(b"\n")?.strip_suffix(CLOSE)?.ends_with(&self.hash);
        let lines = memchr::memchr_iter(b'\n', bytes).count();
        if !ends || lines as u64 != self.count {
            return None;
        }
        Some(AuditBatch {
            writer,
            first: i64::try_from(self.first).ok()?,
            count: i64::try_from(self.count).ok()?,
            from_ms: self.from_ms,
            to_ms: self.to_ms,
            principal: self.principal.as_deref(),
            text: str::from_utf8(bytes).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Hex = [b'1'; 64];
    const TWO: Hex = [b'2'; 64];

    fn about<'a>(seq: u64, time_ms: u64, principal: &'a str, hash: &'a Hex) -> About<'a> {
        About { seq, time_ms, principal, hash }
    }

    fn line(hash: &Hex) -> Vec<u8> {
        [b"{\"hash\":\"".as_slice(), hash, b"\"}\n"].concat()
    }

    #[test]
    fn lines_that_follow_each_other_are_told_together() {
        let (one, two) = (line(&ONE), line(&TWO));
        let length = one.len() as u64;
        let mut batch = Batch::begin(10, length, about(7, 5, "a", &ONE));
        assert!(batch.add(10 + length, length, about(8, 3, "a", &TWO)));
        let bytes = [one, two].concat();
        let told = batch.of("w", &bytes, 10).unwrap();
        assert_eq!((told.first, told.last(), told.count), (7, 8, 2));
        assert_eq!((told.from_ms, told.to_ms, told.principal), (3, 5, Some("a")));
        assert_eq!((told.writer, told.text.as_bytes()), ("w", &*bytes));
        assert_eq!(batch.of("w", &[b"before".as_slice(), &bytes].concat(), 4).unwrap().text, told.text);
    }

    #[test]
    fn a_line_that_does_not_follow_begins_another_batch() {
        let batch = Batch::begin(0, 100, about(1, 1, "a", &ONE));
        for (from, seq) in [(101, 2), (99, 2), (100, 3), (100, 1)] {
            assert!(!batch.clone().add(from, 50, about(seq, 1, "a", &ONE)), "{from} {seq}");
        }
        assert!(!batch.clone().add(100, AuditBatch::LARGE as u64, about(2, 1, "a", &ONE)));
        assert!(!Batch { closed: true, ..batch.clone() }.add(100, 1, about(2, 1, "a", &ONE)));
        let mut full = batch;
        for seq in 2..=AuditBatch::MANY as u64 {
            let at = full.to;
            assert!(full.add(at, 10, about(seq, 1, if seq == 9 { "b" } else { "a" }, &ONE)));
        }
        assert_eq!(full.principal, None);
        let (at, next) = (full.to, AuditBatch::MANY as u64 + 1);
        assert!(!full.add(at, 10, about(next, 1, "a", &ONE)));
    }

    #[test]
    fn what_was_changed_meanwhile_is_not_told() {
        let (one, two) = (line(&ONE), line(&TWO));
        let length = one.len() as u64;
        let mut batch = Batch::begin(0, length, about(1, 1, "a", &ONE));
        assert!(batch.add(length, length, about(2, 1, "a", &TWO)));
        let bytes = [one, two].concat();
        let changed = |at: usize, byte: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = byte;
            bytes
        };
        let last = bytes.len() - 1;
        let cases = [changed(3, b'\n'), changed(3, 0xFF), changed(last, b'x'), changed(last - 5, b'3')];
        for bytes in &cases {
            assert_eq!(batch.of("w", bytes, 0), None, "{}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(batch.of("w", &bytes[..last], 0), None);
        assert_eq!(batch.of("w", &bytes, 1), None);
        assert!(batch.of("w", &bytes, 0).is_some());
    }
}

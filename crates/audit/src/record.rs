//! Lines as records: what was written, read again and checked.

use std::borrow::Cow;

use serde::Deserialize;
use toolgate_core::{AuditLine, AuditRow};

use crate::chain::{Hex, hash};
use crate::line::{CLOSE, HASH};
use crate::note::{Head, Kept};

/// What of a record the audit itself looks at.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Record<'a> {
    #[serde(borrow)]
    pub(crate) writer: Cow<'a, str>,
    pub(crate) seq: u64,
    pub(crate) time_ms: u64,
    #[serde(borrow)]
    principal: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) target: Cow<'a, str>,
    #[serde(borrow)]
    outcome: Cow<'a, str>,
    #[serde(borrow)]
    prev: Cow<'a, str>,
    #[serde(borrow)]
    hash: Cow<'a, str>,
    #[serde(default)]
    pub(crate) heads: Vec<Head>,
    #[serde(default)]
    pub(crate) chains: Vec<Kept>,
    #[serde(default)]
    pub(crate) before_ms: u64,
    #[serde(default)]
    pub(crate) calls: u64,
}

impl<'a> Record<'a> {
    /// Reads a line without its line break; none if it is no record at all.
    pub(crate) fn read(line: &'a [u8]) -> Option<Self> {
        let record: Self = serde_json::from_slice(line).ok()?;
        let hashes = [&record.prev, &record.hash];
        (record.seq > 0 && i64::try_from(record.seq).is_ok() && hashes.into_iter().all(|hash| is_hex(hash)))
            .then_some(record)
    }

    /// The hash of the record before it, as it says.
    pub(crate) fn prev(&self) -> Hex {
        to_hex(&self.prev)
    }

    /// Its hash, as it says.
    pub(crate) fn hash(&self) -> Hex {
        to_hex(&self.hash)
    }

    /// What stands for it in the store.
    pub(crate) fn line(self, line: &'a str) -> AuditLine<'a> {
        let Self { writer, time_ms, principal, target, outcome, .. } = self;
        let sequence = i64::try_from(self.seq).unwrap_or(i64::MAX);
        AuditLine { writer, sequence, time_ms, principal, target, outcome, line }.without_zeros()
    }
}

/// What stands for a line without its line break in the store; none if it is no record.
pub(crate) fn line(line: &[u8]) -> Option<AuditLine<'_>> {
    let text = str::from_utf8(line).ok()?;
    Record::read(line).map(|record| record.line(text))
}

/// The same, as a copy.
pub(crate) fn row(line: &[u8]) -> Option<AuditRow> {
    self::line(line).map(AuditLine::into_row)
}

/// Whether the hash at the end of a line is that of all before it.
pub(crate) fn is_sound(line: &[u8]) -> bool {
    let Some(start) = line.len().checked_sub(HASH.len() + 64 + CLOSE.len()) else { return false };
    let (open, end) = line.split_at(start);
    let stated = end.strip_prefix(HASH).and_then(|end| end.strip_suffix(CLOSE));
    stated.is_some_and(|stated| stated == hash(open))
}

fn is_hex(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn to_hex(text: &str) -> Hex {
    text.as_bytes().try_into().unwrap_or([b'0'; 64])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::Chain;
    use crate::line;
    use crate::note::Note;

    #[test]
    fn what_was_written_is_read_again() {
        let mut chain = Chain::new("ab".into());
        let head = Head { writer: "cd".into(), seq: 7, hash: "0".repeat(64) };
        let mut line = Vec::new();
        line::note(&mut chain, &Note::Anchors(vec![head.clone()]), 5, &mut line);
        let line = line.strip_suffix(b"\n").unwrap();
        let record = Record::read(line).unwrap();
        assert_eq!((record.seq, record.time_ms, &*record.target), (1, 5, "audit:anchors"));
        assert_eq!((record.heads.as_slice(), record.hash()), ([head].as_slice(), chain.head));
        assert!(is_sound(line));
        assert_eq!(row(line).unwrap().sequence, 1);
    }

    #[test]
    fn what_is_no_record_is_none() {
        for line in ["", "{}", "1", r#"{"v":1,"writer":"a","seq":0}"#] {
            assert!(Record::read(line.as_bytes()).is_none(), "{line}");
            assert!(!is_sound(line.as_bytes()), "{line}");
        }
    }
}

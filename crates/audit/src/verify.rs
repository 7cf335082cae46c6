//! Verifying all chains, in the spools and in the store together.

mod expected;
pub(crate) mod report;
mod strand;

use std::collections::BTreeMap;
use std::path::Path;

use toolgate_core::{AuditQuery, AuditRow, SharedStore};

use crate::archive::pages;
use crate::error::AuditError;
use crate::folder::{self, Content, Left};
use crate::line::{CLOSE, HASH};
use crate::note::{ANCHORS, Head, PRUNED};
use crate::record::{Record, is_sound};
use expected::Expected;
use report::Report;
use strand::Strand;

/// How every line begins.
const BEGIN: &[u8] = b"{\"v\":1,\"writer\":\"";

/// Verifies every chain, and that all these heads are still there.
pub(crate) async fn run(store: &SharedStore, folder: &Path, heads: &[Head]) -> Result<Report, AuditError> {
    let mut check = Check::default();
    check.expected.heads(heads, None);
    // The spools first: what is copied meanwhile is found twice, not missed.
    let mut spools = Vec::new();
    for left in folder::list(folder)? {
        spools.extend(left.read()?.map(|content| (left, content)));
    }
    // What is said of records has to be known before they come by.
    for (_, content) in &spools {
        content.lines().filter_map(Record::read).for_each(|record| check.expected.learn(&record));
    }
    for target in [ANCHORS, PRUNED] {
        let query = AuditQuery { target: Some(target.into()), ..AuditQuery::default() };
        pages(&**store, query, |rows| {
            let records = rows.iter().filter_map(|row| Record::read(row.line.as_bytes()));
            records.for_each(|record| check.expected.learn(&record));
            Ok(())
        })
        .await?;
    }
    spools.iter().for_each(|(left, content)| check.spool(left, content));
    pages(&**store, AuditQuery::default(), |rows| {
        rows.iter().for_each(|row| check.row(row));
        Ok(())
    })
    .await?;
    Ok(check.finish())
}

/// Whether bytes behind the last whole line can be what a writer left that was cut off in the middle of a line.
pub(crate) fn is_torn(tail: &[u8]) -> bool {
    let length = tail.len().min(BEGIN.len());
    let end = HASH.len() + 64 + CLOSE.len();
    let is_end = |end: &[u8]| {
        let hash = end.strip_prefix(HASH).and_then(|end| end.strip_suffix(CLOSE));
        hash.is_some_and(|hash| hash.iter().all(u8::is_ascii_hexdigit))
    };
    // A line through memory has its first byte last.
    tail.first() == Some(&0) || tail[..length] == BEGIN[..length] && !tail.windows(end).any(is_end)
}

#[derive(Default)]
struct Check {
    strands: BTreeMap<String, Strand>,
    expected: Expected,
}

impl Check {
    fn strand(&mut self, writer: &str) -> &mut Strand {
        self.strands.entry(writer.to_owned()).or_insert_with(|| Strand::new(writer))
    }

    /// A spool file: its lines stand in order, and only its end may be cut off.
    fn spool(&mut self, left: &Left, content: &Content) {
        let mut before = None;
        for line in content.lines() {
            before = self.spool_line(left, line, before);
        }
        let tail = content.tail();
        if !tail.is_empty() && is_sound(tail) {
            // Only the line break is missing.
            self.spool_line(left, tail, before);
        } else if !tail.is_empty() {
            let strand = self.strand(&left.writer);
            match is_torn(tail) {
                true => strand.torn_bytes += tail.len() as u64,
                false => strand.broken(before.unwrap_or(0) + 1, "the spool ends with what is no record"),
            }
        }
    }

    /// A line of a spool; tells its place, for the next.
    fn spool_line(&mut self, left: &Left, line: &[u8], before: Option<u64>) -> Option<u64> {
        let Some(record) = Record::read(line).filter(|_| str::from_utf8(line).is_ok()) else {
            let strand = self.strand(&left.writer);
            strand.broken(before.unwrap_or(0) + 1, "the spool holds a line that is no record");
            return before.map(|seq| seq + 1);
        };
        let strand = self.strand(&left.writer);
        if record.writer != left.writer {
            strand.broken(record.seq, "it belongs to another chain");
            return before;
        }
        if before.is_some_and(|before| before + 1 != record.seq) {
            strand.broken(record.seq, "it is out of order in the spool");
        }
        strand.spooled(&record, is_sound(line));
        self.expected.meet(&record, self.strands.get_mut(&left.writer));
        Some(record.seq)
    }

    fn row(&mut self, row: &AuditRow) {
        let seq = u64::try_from(row.sequence).unwrap_or(0);
        let strand = self.strand(&row.writer);
        let Some(record) = Record::read(row.line.as_bytes()) else {
            return strand.broken(seq, "it is no record");
        };
        if record.clone().line(&row.line) != row.borrowed() {
            strand.broken(seq, "what the store says of it is not what it says");
        }
        if record.seq != seq || record.writer != row.writer {
            return;
        }
        strand.stored(&record, is_sound(row.line.as_bytes()));
        self.expected.meet(&record, self.strands.get_mut(&row.writer));
    }

    fn finish(self) -> Report {
        let Self { mut strands, expected } = self;
        for (writer, strand) in &mut strands {
            strand.finish(expected.kept_from(writer));
        }
        let missing = expected.missing(&strands);
        let prunings = expected.prunings();
        let chains = strands.into_iter().map(|(writer, strand)| strand.report(writer)).collect();
        Report::new(chains, missing, prunings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_line_is_torn_and_anything_else_is_not() {
        let line = format!("{{\"v\":1,\"writer\":\"a\",\"seq\":1,\"hash\":\"{}\"}}", "0".repeat(64));
        for end in 1..line.len() {
            assert!(is_torn(&line.as_bytes()[..end]), "{end}");
        }
        for other in [line.as_str(), &format!("{line}x"), "x", "{}", "{\"v\":2"] {
            assert!(!is_torn(other.as_bytes()), "{other}");
        }
    }
}

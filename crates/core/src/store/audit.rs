//! The record of calls as a store keeps it.

use std::borrow::Cow;

use serde::Deserialize;

use super::StoreError;

/// A record of the audit as the database keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Who wrote it: each process has a chain of its own.
    pub writer: String,
    /// Its place in the chain, from 1.
    pub sequence: i64,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// Who called.
    pub principal: String,
    /// What it was for, as `kind:name`.
    pub target: String,
    /// How it ended.
    pub outcome: String,
    /// The record itself: one line, exactly as it was chained.
    pub line: String,
}

impl AuditRow {
    /// The same, without a copy.
    pub fn borrowed(&self) -> AuditLine<'_> {
        let Self { writer, sequence, time_ms, principal, target, outcome, line } = self;
        let [writer, principal, target, outcome] =
            [writer, principal, target, outcome].map(|text| Cow::Borrowed(text.as_str()));
        AuditLine { writer, sequence: *sequence, time_ms: *time_ms, principal, target, outcome, line }
    }
}

/// A record of the audit on its way into a database, in the text that it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditLine<'a> {
    /// See [`AuditRow::writer`].
    pub writer: Cow<'a, str>,
    /// See [`AuditRow::sequence`].
    pub sequence: i64,
    /// See [`AuditRow::time_ms`].
    pub time_ms: u64,
    /// See [`AuditRow::principal`].
    pub principal: Cow<'a, str>,
    /// See [`AuditRow::target`].
    pub target: Cow<'a, str>,
    /// See [`AuditRow::outcome`].
    pub outcome: Cow<'a, str>,
    /// See [`AuditRow::line`].
    pub line: &'a str,
}

impl<'a> AuditLine<'a> {
    /// A record as its line tells of it; none if it is no record.
    pub fn read(line: &'a str) -> Option<Self> {
        let Told { writer, seq, time_ms, principal, target, outcome } = serde_json::from_str(line).ok()?;
        Some(Self { writer, sequence: seq, time_ms, principal, target, outcome, line }.without_zeros())
    }

    /// The same with columns that can be kept: no database has a zero byte in a text.
    #[must_use]
    pub fn without_zeros(self) -> Self {
        let Self { writer, sequence, time_ms, principal, target, outcome, line } = self;
        let [writer, principal, target, outcome] = [writer, principal, target, outcome].map(column);
        Self { writer, sequence, time_ms, principal, target, outcome, line }
    }

    /// The same, as a copy.
    pub fn into_row(self) -> AuditRow {
        let Self { writer, sequence, time_ms, principal, target, outcome, line } = self;
        let [writer, principal, target, outcome] = [writer, principal, target, outcome].map(Cow::into_owned);
        AuditRow { writer, sequence, time_ms, principal, target, outcome, line: line.to_owned() }
    }
}

/// Records of one chain that follow each other, in the text that they were written to, and what is known of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditBatch<'a> {
    /// See [`AuditRow::writer`].
    pub writer: &'a str,
    /// The place of the first.
    pub first: i64,
    /// How many there are.
    pub count: i64,
    /// The earliest time of any.
    pub from_ms: u64,
    /// The latest.
    pub to_ms: u64,
    /// Who called, if it is one for all.
    pub principal: Option<&'a str>,
    /// The records, each with a line break.
    pub text: &'a str,
}

impl<'a> AuditBatch<'a> {
    /// How many records a batch should have: who looks for one reads them all.
    pub const MANY: i64 = 256;
    /// How many bytes it should have.
    pub const LARGE: usize = 256 * 1024;

    /// The place of the last.
    pub fn last(&self) -> i64 {
        self.first.saturating_add(self.count - 1)
    }

    /// All of them, one by one.
    ///
    /// # Errors
    /// One is no record, or they are not what is said of them.
    pub fn lines(batches: &[Self]) -> Result<Vec<AuditLine<'a>>, StoreError> {
        let mut all = Vec::new();
        for batch in batches {
            let lines: Option<Vec<_>> = batch.text.lines().map(AuditLine::read).collect();
            let lines = lines.filter(|lines| batch.is_of(lines));
            let none = || StoreError::new("records that are not what is said of them cannot be kept");
            all.extend(lines.ok_or_else(none)?);
        }
        Ok(all)
    }

    /// Whether these records are what is said of them.
    fn is_of(&self, lines: &[AuditLine<'_>]) -> bool {
        let times = || lines.iter().map(|line| line.time_ms);
        let alone = lines.first().filter(|first| lines.iter().all(|line| line.principal == first.principal));
        lines.iter().map(|line| line.sequence).eq(self.first..=self.last())
            && lines.iter().all(|line| line.writer == self.writer)
            && (times().min(), times().max()) == (Some(self.from_ms), Some(self.to_ms))
            && alone.map(|line| &*line.principal) == self.principal
    }
}

/// Which records of the audit to find; newest first. What is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    /// Not before, in milliseconds since 1970.
    pub since_ms: Option<u64>,
    /// Before, in milliseconds since 1970.
    pub until_ms: Option<u64>,
    /// Who called.
    pub principal: Option<String>,
    /// What it was for: a pattern in which `*` stands for anything.
    pub target: Option<String>,
    /// How it ended.
    pub outcome: Option<String>,
    /// One chain only.
    pub writer: Option<String>,
    /// Go on behind this record.
    pub before: Option<(u64, String, i64)>,
    /// At most so many.
    pub limit: u32,
}

/// What a line tells that a store looks for.
#[derive(Deserialize)]
struct Told<'a> {
    #[serde(borrow)]
    writer: Cow<'a, str>,
    seq: i64,
    time_ms: u64,
    #[serde(borrow)]
    principal: Cow<'a, str>,
    #[serde(borrow)]
    target: Cow<'a, str>,
    #[serde(borrow)]
    outcome: Cow<'a, str>,
}

fn column(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.as_bytes().contains(&0) {
        return text;
    }
    text.replace('\0', "\u{FFFD}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seq: i64, principal: &str) -> String {
        format!(
            r#"{{"v":1,"writer":"w","seq":{seq},"time_ms":7,"principal":"{principal}","target":"tool:\u00fc","outcome":"complete","more":[]}}"#
        )
    }

    #[test]
    fn a_line_tells_what_a_store_looks_for() {
        let text = line(3, "a\\u0000b");
        let read = AuditLine::read(&text).unwrap();
        assert_eq!((&*read.writer, read.sequence, read.time_ms, &*read.outcome), ("w", 3, 7, "complete"));
        assert_eq!((&*read.principal, &*read.target, read.line), ("a\u{FFFD}b", "tool:ü", &*text));
    }

    #[test]
    fn a_batch_is_its_lines_or_nothing() {
        let text = format!("{}\n{}\n", line(3, "a"), line(4, "b"));
        let (from_ms, to_ms, principal) = (7, 7, None);
        let batch = AuditBatch { writer: "w", first: 3, count: 2, from_ms, to_ms, principal, text: &text };
        let lines = AuditBatch::lines(std::slice::from_ref(&batch)).unwrap();
        assert_eq!(lines.iter().map(|line| line.sequence).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(batch.last(), 4);
        let changes = [
            AuditBatch { text: "{}\n", ..batch.clone() },
            AuditBatch { text: "hello\n", ..batch.clone() },
            AuditBatch { text: "", ..batch.clone() },
            AuditBatch { writer: "v", ..batch.clone() },
            AuditBatch { first: 2, ..batch.clone() },
            AuditBatch { count: 1, ..batch.clone() },
            AuditBatch { from_ms: 6, ..batch.clone() },
            AuditBatch { to_ms: 8, ..batch.clone() },
            AuditBatch { principal: Some("a"), ..batch },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            assert!(AuditBatch::lines(&[change]).is_err(), "{number}");
        }
    }
}

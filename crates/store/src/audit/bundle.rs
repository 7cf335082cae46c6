//! Records that are kept together, in one row of a table.

use std::borrow::Cow;

use lz4_flex::block;
use toolgate_core::{AuditBatch, AuditLine, AuditRow};

use crate::database::{to_i64, to_u64};

/// How many records a bundle holds at most: a search reads whole bundles.
const MOST: usize = AuditBatch::MANY as usize;
/// From so many bytes on it holds no more.
const LARGE: usize = AuditBatch::LARGE;

/// A row of the table: writer, first, last, from, to, principal, count, records.
pub(super) type Row = (String, i64, i64, i64, i64, Option<String>, i64, Vec<u8>);

/// Records of one writer that are kept together, and what is said of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bundle {
    pub(super) writer: String,
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) from_ms: i64,
    pub(super) to_ms: i64,
    /// Of all records, if it is one.
    pub(super) principal: Option<String>,
    pub(super) count: i64,
    /// The lines, where they tell all that is looked for. Else of each record: numbers, lengths, a line break, and
    /// what has these lengths. All of it packed, behind its length.
    pub(super) records: Vec<u8>,
}

impl Bundle {
    /// Bundles of these records of one writer, which are in order.
    pub(super) fn all(mut rows: &[AuditLine<'_>]) -> Vec<Self> {
        let mut bundles = Vec::new();
        while !rows.is_empty() {
            let mut bytes = 0;
            let full = |row: &AuditLine<'_>| {
                bytes += row.line.len();
                bytes > LARGE
            };
            let length = rows.iter().take(MOST).position(full).unwrap_or(MOST).clamp(1, rows.len());
            let (some, rest) = rows.split_at(length);
            bundles.extend(Self::of(some));
            rows = rest;
        }
        bundles
    }

    /// A bundle of these records of one writer, which are in order; none of none.
    pub(super) fn of(rows: &[AuditLine<'_>]) -> Option<Self> {
        let size = |row: &AuditLine<'_>| 64 + row.line.len() + row.target.len() + row.principal.len();
        let mut records = String::with_capacity(rows.iter().map(size).sum());
        rows.iter().for_each(|row| write(row, &mut records));
        Some(Self { records: pack(&records), ..Self::about(rows)? })
    }

    /// A bundle of records whose lines tell everything.
    pub(super) fn packed(batch: &AuditBatch<'_>) -> Self {
        Self {
            writer: batch.writer.to_owned(),
            first: batch.first,
            last: batch.last(),
            from_ms: to_i64(batch.from_ms),
            to_ms: to_i64(batch.to_ms),
            principal: batch.principal.map(str::to_owned),
            count: batch.count,
            records: pack(batch.text),
        }
    }

    /// What is said of these records, without them.
    fn about(rows: &[AuditLine<'_>]) -> Option<Self> {
        let (first, last) = (rows.first()?, rows.last()?);
        let times = || rows.iter().map(|row| to_i64(row.time_ms));
        let alone = rows.iter().all(|row| row.principal == first.principal);
        Some(Self {
            writer: first.writer.to_string(),
            first: first.sequence,
            last: last.sequence,
            from_ms: times().min()?,
            to_ms: times().max()?,
            principal: alone.then(|| first.principal.to_string()),
            count: i64::try_from(rows.len()).unwrap_or(i64::MAX),
            records: Vec::new(),
        })
    }

    /// Its records. What was changed behind our back comes as one record that is none, so that it is seen.
    pub(super) fn rows(self) -> Vec<AuditRow> {
        match self.read() {
            Some(rows) => rows,
            None => vec![AuditRow {
                writer: self.writer,
                sequence: self.last,
                time_ms: to_u64(self.to_ms),
                principal: self.principal.unwrap_or_default(),
                target: String::new(),
                outcome: String::new(),
                line: String::from_utf8_lossy(&self.records).into_owned(),
            }],
        }
    }

    /// Its records, if they are what is said of them.
    fn read(&self) -> Option<Vec<AuditRow>> {
        let records = unpack(&self.records)?;
        let rows = self.lines(&records)?;
        let said = |it: &Self| (it.first, it.last, it.from_ms, it.to_ms, it.count, it.principal.clone());
        let ordered = rows.is_sorted_by(|a, b| a.sequence < b.sequence);
        (ordered && said(&Self::about(&rows)?) == said(self))
            .then(|| rows.into_iter().map(AuditLine::into_row).collect())
    }

    /// Its records as they stand in what was packed.
    fn lines<'a>(&'a self, records: &'a str) -> Option<Vec<AuditLine<'a>>> {
        if records.starts_with('{') {
            let lines = records.strip_suffix('\n')?.split('\n').map(AuditLine::read);
            return lines.map(|line| line.filter(|line| line.writer == self.writer)).collect();
        }
        let (mut rows, mut rest) = (Vec::new(), records);
        while !rest.is_empty() {
            let (row, behind) = read(&self.writer, rest)?;
            rows.push(row);
            rest = behind;
        }
        Some(rows)
    }
}

impl From<Row> for Bundle {
    fn from((writer, first, last, from_ms, to_ms, principal, count, records): Row) -> Self {
        Self { writer, first, last, from_ms, to_ms, principal, count, records }
    }
}

fn pack(records: &str) -> Vec<u8> {
    block::compress_prepend_size(records.as_bytes())
}

/// What was packed, if it was.
fn unpack(packed: &[u8]) -> Option<String> {
    let (size, block) = block::uncompressed_size(packed).ok()?;
    // It cannot become much more than this, whatever is said of it.
    if size / 256 > packed.len() {
        return None;
    }
    String::from_utf8(block::decompress(block, size).ok()?).ok()
}

fn write(row: &AuditLine<'_>, out: &mut String) {
    let AuditLine { writer: _, sequence, time_ms, principal, target, outcome, line } = row;
    let texts = [&**principal, target, outcome, line];
    let [p, t, o, l] = texts.map(str::len);
    out.push_str(&format!("{sequence} {time_ms} {p} {t} {o} {l}\n"));
    texts.into_iter().for_each(|text| out.push_str(text));
    out.push('\n');
}

/// The first record of a text, and what is behind it.
fn read<'a>(writer: &'a str, text: &'a str) -> Option<(AuditLine<'a>, &'a str)> {
    let (head, mut rest) = text.split_once('\n')?;
    let mut numbers = head.split(' ');
    let (sequence, time_ms) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    let mut next = || {
        let (text, behind) = rest.split_at_checked(numbers.next()?.parse().ok()?)?;
        rest = behind;
        Some(text)
    };
    let [principal, target, outcome, line] = [next()?, next()?, next()?, next()?];
    let [writer, principal, target, outcome] = [writer, principal, target, outcome].map(Cow::Borrowed);
    let row = AuditLine { writer, sequence, time_ms, principal, target, outcome, line };
    Some((row, rest.strip_prefix('\n')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(sequence: i64, text: &str) -> AuditRow {
        let [principal, target, outcome, line] = ["p", "t", "o", "l"].map(|word| format!("{word}{text}"));
        let time_ms = 1_000_000 - to_u64(sequence);
        AuditRow { writer: "w".into(), sequence, time_ms, principal, target, outcome, line }
    }

    fn lines(rows: &[AuditRow]) -> Vec<AuditLine<'_>> {
        rows.iter().map(AuditRow::borrowed).collect()
    }

    #[test]
    fn what_was_bundled_is_read_again() {
        let rows: Vec<AuditRow> =
            (3..).zip(["", "a b", "ü\n9 9 1 1 1 1\n", "\t🦀", ""]).map(|(n, text)| row(n, text)).collect();
        let bundle = Bundle::of(&lines(&rows)).unwrap();
        assert_eq!((bundle.first, bundle.last, bundle.count, &bundle.principal), (3, 7, 5, &None));
        assert_eq!((bundle.from_ms, bundle.to_ms), (999_993, 999_997));
        assert_eq!(bundle.rows(), rows);
        assert_eq!(Bundle::of(&lines(&rows[..1])).unwrap().principal.as_deref(), Some("p"));
        assert_eq!(Bundle::of(&[]), None);
    }

    #[test]
    fn lines_that_tell_everything_are_read_again() {
        let line = |seq: i64, principal: &str| {
            format!(
                r#"{{"v":1,"writer":"w","seq":{seq},"time_ms":{},"principal":"{principal}","target":"t","outcome":"o"}}"#,
                10 - seq
            )
        };
        let text = format!("{}\n{}\n", line(3, "p"), line(4, "p"));
        let principal = Some("p");
        let batch =
            AuditBatch { writer: "w", first: 3, count: 2, from_ms: 6, to_ms: 7, principal, text: &text };
        let good = Bundle::packed(&batch);
        let rows: Vec<AuditRow> = text.lines().filter_map(AuditLine::read).map(AuditLine::into_row).collect();
        assert_eq!((rows.len(), good.clone().rows()), (2, rows));
        let other = format!("{}\n{}\n", line(3, "p"), line(4, "q"));
        let changes = [
            AuditBatch { writer: "x", ..batch.clone() },
            AuditBatch { first: 2, ..batch.clone() },
            AuditBatch { count: 3, ..batch.clone() },
            AuditBatch { from_ms: 5, ..batch.clone() },
            AuditBatch { to_ms: 8, ..batch.clone() },
            AuditBatch { principal: None, ..batch.clone() },
            AuditBatch { text: &other, ..batch.clone() },
            AuditBatch { text: text.trim_end(), ..batch.clone() },
            AuditBatch { text: &text[1..], ..batch.clone() },
        ];
        for (number, batch) in changes.iter().enumerate() {
            let found = Bundle::packed(batch).rows();
            assert!(found.len() == 1 && found[0].target.is_empty(), "{number}: {found:?}");
        }
    }

    #[test]
    fn many_or_large_records_make_several_bundles() {
        let counts =
            |rows: &[AuditRow]| Bundle::all(&lines(rows)).iter().map(|it| it.count).collect::<Vec<_>>();
        let many: Vec<AuditRow> = (1..=600).map(|n| row(n, "")).collect();
        assert_eq!(counts(&many), [256, 256, 88]);
        let large: Vec<AuditRow> = (1..=3).map(|n| row(n, &"x".repeat(LARGE * 2 / 3))).collect();
        assert_eq!(counts(&large), [1, 1, 1]);
        assert_eq!(counts(&[row(1, &"x".repeat(LARGE * 2))]), [1]);
    }

    #[test]
    fn a_bundle_that_was_changed_is_one_record_that_is_none() {
        let rows = [row(1, "a"), row(2, "b")];
        let good = Bundle::of(&lines(&rows)).unwrap();
        let changes: [fn(&mut Bundle); 11] = [
            |it| it.first = 0,
            |it| it.last = 9,
            |it| it.from_ms -= 1,
            |it| it.to_ms += 1,
            |it| it.principal = Some("pa".into()),
            |it| it.count = 1,
            |it| it.records.push(b'x'),
            |it| it.records.truncate(it.records.len() - 1),
            |it| it.records = pack(&unpack(&it.records).unwrap().replace("1 ", "3 ")),
            |it| it.records[3] = 0x7f,
            |it| it.records.clear(),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut bad = good.clone();
            change(&mut bad);
            let found = bad.clone().rows();
            assert!(
                found.len() == 1 && found[0].line == String::from_utf8_lossy(&bad.records),
                "{number}: {found:?}"
            );
        }
    }
}

//! All records of all writers, wherever they are: in the store, or still in a spool.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use toolgate_core::{AuditQuery, AuditRow, SharedStore, Store};

use crate::error::AuditError;
use crate::filler::head_of;
use crate::folder::{self, spool_folder};
use crate::note::Head;
use crate::record::row;
use crate::verify::{self, report::Report};

/// How many records are read from the store at once.
const PAGE: u32 = 1000;

/// All records of all writers, to be searched and verified; nothing is changed by that.
#[derive(Clone)]
pub struct Archive {
    store: SharedStore,
    folder: PathBuf,
}

impl Archive {
    /// The records in a store and in the spools of a data folder.
    pub fn new(store: SharedStore, data_dir: &Path) -> Self {
        Self { store, folder: spool_folder(data_dir) }
    }

    /// Finds records, newest first.
    ///
    /// # Errors
    /// The store does not answer, or a spool file cannot be read.
    pub async fn search(&self, query: &AuditQuery) -> Result<Vec<AuditRow>, AuditError> {
        let limit = query.limit as usize;
        // The spools first: what is copied meanwhile is found twice, not missed.
        let mut found = self.spooled(query, limit)?;
        found.extend(self.store.find_audit(query).await?);
        newest_first(&mut found, limit);
        Ok(found)
    }

    /// Writes the lines of all records that fit, newest first, whatever `limit` says; tells how many.
    ///
    /// # Errors
    /// The store does not answer, a spool file cannot be read, or `out` cannot be written to.
    pub async fn export(&self, out: &mut (dyn Write + Send), query: &AuditQuery) -> Result<u64, AuditError> {
        let mut spooled = self.spooled(query, usize::MAX)?.into_iter().peekable();
        let mut count = 0;
        let mut put = |row: &AuditRow| {
            count += 1;
            out.write_all(row.line.as_bytes()).and_then(|()| out.write_all(b"\n")).map_err(AuditError::Output)
        };
        pages(&*self.store, query.clone(), |rows| {
            for row in rows {
                while let Some(newer) = spooled.next_if(|it| place(it) >= place(row)) {
                    if place(&newer) != place(row) {
                        put(&newer)?;
                    }
                }
                put(row)?;
            }
            Ok(())
        })
        .await?;
        for row in spooled {
            put(&row)?;
        }
        Ok(count)
    }

    /// The last record of every chain: kept elsewhere, it shows later whether anything is gone.
    ///
    /// # Errors
    /// The store does not answer, or a spool file cannot be read.
    pub async fn heads(&self) -> Result<Vec<Head>, AuditError> {
        let spooled = self.spooled(&AuditQuery::default(), usize::MAX)?;
        let mut heads: HashMap<String, AuditRow> = HashMap::new();
        for row in spooled.into_iter().chain(self.store.audit_heads().await?) {
            if heads.get(&row.writer).is_none_or(|head| head.sequence < row.sequence) {
                heads.insert(row.writer.clone(), row);
            }
        }
        let mut heads: Vec<Head> = heads.values().filter_map(head_of).collect();
        heads.sort();
        Ok(heads)
    }

    /// Verifies every chain, in the spools and in the store together, and that all these heads are still there.
    ///
    /// # Errors
    /// The store does not answer, or a spool file cannot be read. What is wrong with records stands in the report.
    pub async fn verify(&self, heads: &[Head]) -> Result<Report, AuditError> {
        verify::run(&self.store, &self.folder, heads).await
    }

    /// The records in spools that fit, newest first.
    fn spooled(&self, query: &AuditQuery, limit: usize) -> Result<Vec<AuditRow>, AuditError> {
        let mut found = Vec::new();
        for left in folder::list(&self.folder)? {
            let Some(content) = left.read()? else { continue };
            let lines = content.lines().chain([content.tail()]);
            found.extend(lines.filter_map(row).filter(|row| row.writer == left.writer && fits(row, query)));
            newest_first(&mut found, limit);
        }
        Ok(found)
    }
}

/// Reads all rows that fit, page by page, newest first.
pub(crate) async fn pages(
    store: &dyn Store,
    mut query: AuditQuery,
    mut each: impl FnMut(&[AuditRow]) -> Result<(), AuditError>,
) -> Result<(), AuditError> {
    query.limit = PAGE;
    loop {
        let rows = store.find_audit(&query).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        query.before = Some((last.time_ms, last.writer.clone(), last.sequence));
        each(&rows)?;
    }
}

fn place(row: &AuditRow) -> (u64, &str, i64) {
    (row.time_ms, &row.writer, row.sequence)
}

fn newest_first(rows: &mut Vec<AuditRow>, limit: usize) {
    rows.sort_by(|a, b| place(b).cmp(&place(a)));
    rows.dedup_by(|a, b| (&a.writer, a.sequence) == (&b.writer, b.sequence));
    rows.truncate(limit);
}

fn fits(row: &AuditRow, query: &AuditQuery) -> bool {
    let is = |wanted: &Option<String>, it: &str| wanted.as_deref().is_none_or(|wanted| wanted == it);
    let before = query.before.as_ref().map(|(time, writer, sequence)| (*time, writer.as_str(), *sequence));
    query.since_ms.is_none_or(|since_ms| row.time_ms >= since_ms)
        && query.until_ms.is_none_or(|until_ms| row.time_ms < until_ms)
        && is(&query.principal, &row.principal)
        && is(&query.outcome, &row.outcome)
        && is(&query.writer, &row.writer)
        && query.target.as_deref().is_none_or(|pattern| matches(pattern, &row.target))
        && before.is_none_or(|before| place(row) < before)
}

/// Whether a text fits a pattern in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|head| text.strip_prefix(head)) else { return false };
    let Some(end) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        // The earliest place leaves the most for what follows.
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        #[track_caller]
        fn check(pattern: &str, text: &str, expect: bool) {
            assert_eq!(matches(pattern, text), expect, "{pattern} {text}");
        }
        check("tool:x", "tool:x", true);
        check("tool:x", "tool:xy", false);
        check("tool:*", "tool:", true);
        check("tool:*", "resource:tool:", false);
        check("*", "", true);
        check("*_read", "tool:memory_read", true);
        check("a*b*c", "aXbYbZc", true);
        check("a*b*c", "ac", false);
        check("ab*ba", "aba", false);
        check("**x", "x", true);
    }
}

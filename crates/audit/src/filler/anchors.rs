//! Naming the heads of other chains, so that a chain or its end cannot vanish unseen.

use std::collections::HashMap;

use toolgate_core::{AuditQuery, AuditRow};

use crate::archive::pages;
use crate::audit::Inner;
use crate::chain::is_writer;
use crate::error::AuditError;
use crate::note::{ANCHORS, Head, NAMED, Note};
use crate::record::Record;

/// Names heads that no record names yet. Those that are named lead, record by record, to all that was before.
#[derive(Default)]
pub(super) struct Anchors {
    /// Where this chain stood when it last named others.
    last: u64,
}

impl Anchors {
    pub(super) async fn write(&mut self, inner: &Inner) -> Result<(), AuditError> {
        let head = inner.desk().head();
        // Two idle processes would name each other's naming for ever.
        let Some(mine) = head.filter(|head| head.seq > self.last) else { return Ok(()) };
        let named = named(inner).await?;
        let is_new =
            |row: &AuditRow| row.writer != mine.writer && named.get(&row.writer) < Some(&row.sequence);
        let heads = inner.parts.store.audit_heads().await?;
        let mut heads: Vec<Head> = heads.iter().filter(|row| is_new(row)).filter_map(head_of).collect();
        heads.sort();
        let mut desk = inner.desk();
        for some in heads.chunks(NAMED) {
            desk.note(&Note::Anchors(some.to_vec()), inner.parts.clock.unix_ms());
        }
        self.last = desk.head().map_or(0, |head| head.seq);
        Ok(())
    }
}

/// Up to where each chain is named.
async fn named(inner: &Inner) -> Result<HashMap<String, i64>, AuditError> {
    let mut named: HashMap<String, i64> = HashMap::new();
    let query = AuditQuery { target: Some(ANCHORS.into()), ..AuditQuery::default() };
    pages(&*inner.parts.store, query, |rows| {
        for head in rows.iter().filter_map(|row| Record::read(row.line.as_bytes())).flat_map(|it| it.heads) {
            let seq = i64::try_from(head.seq).unwrap_or(i64::MAX);
            let known = named.entry(head.writer).or_default();
            *known = seq.max(*known);
        }
        Ok(())
    })
    .await?;
    Ok(named)
}

/// The head that a row is.
pub(crate) fn head_of(row: &AuditRow) -> Option<Head> {
    let record = Record::read(row.line.as_bytes()).filter(|record| is_writer(&record.writer))?;
    let hash = String::from_utf8_lossy(&record.hash()).into_owned();
    Some(Head { writer: record.writer.into_owned(), seq: record.seq, hash })
}

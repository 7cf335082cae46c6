//! Letting go of what is too old, and saying so in the record itself.

use std::collections::BTreeMap;

use toolgate_core::{AuditQuery, Collection, Document, Write, Written};

use crate::archive::pages;
use crate::audit::Inner;
use crate::chain::is_writer;
use crate::config::DAY_MS;
use crate::error::AuditError;
use crate::note::{Kept, NAMED, Note, PRUNED};
use crate::record::Record;

/// The document that says when someone last pruned.
const TURN: &str = "audit-pruned";

/// Removes what is too old, once a day for all processes on the store.
pub(super) async fn prune(inner: &Inner) -> Result<(), AuditError> {
    let now_ms = inner.parts.clock.unix_ms();
    let Some(before_ms) = inner.config().cutoff_ms(now_ms) else { return Ok(()) };
    if !takes_turn(inner, now_ms).await? {
        return Ok(());
    }
    let chains = going(inner, before_ms).await?;
    if chains.is_empty() {
        return Ok(());
    }
    // First the record, then the deed: a chain that begins late without a record of why is broken.
    for some in chains.chunks(NAMED) {
        let note = Note::Pruned { before_ms, chains: some.to_vec() };
        if !inner.desk().note(&note, now_ms) {
            return Ok(());
        }
    }
    super::copy_present(inner).await?;
    let removed = inner.parts.store.prune_audit(before_ms).await?;
    tracing::info!(removed, chains = chains.len(), "removed records that were too old");
    Ok(())
}

/// Whether it is time, and no other process was faster.
async fn takes_turn(inner: &Inner, now_ms: u64) -> Result<bool, AuditError> {
    let store = &inner.parts.store;
    let (collection, id, body) = (Collection::State, TURN.to_owned(), now_ms.to_string());
    let write = match store.get(collection, TURN).await? {
        Some(Document { body, .. }) if body.parse().is_ok_and(|last: u64| now_ms.abs_diff(last) < DAY_MS) => {
            return Ok(false);
        }
        Some(Document { revision, .. }) => {
            Write::Replace { collection, id, revision, body, expires_ms: None }
        }
        None => Write::Insert { collection, id, body, expires_ms: None },
    };
    Ok(store.write(vec![write]).await? == Written::Done)
}

/// From where on the chains are kept that lose something, or whose shortening was told by a record that goes.
async fn going(inner: &Inner, before_ms: u64) -> Result<Vec<Kept>, AuditError> {
    let store = &inner.parts.store;
    let heads = store.audit_heads().await?;
    let heads: BTreeMap<&str, i64> = heads.iter().map(|row| (row.writer.as_str(), row.sequence)).collect();
    let mut kept: BTreeMap<String, i64> = BTreeMap::new();
    let mut keep = |writer: &str, first: i64| {
        // The last of each chain stays.
        let last = heads.get(writer).filter(|_| is_writer(writer));
        let Some(first) = last.map(|last| first.min(*last)) else { return };
        let known = kept.entry(writer.to_owned()).or_default();
        *known = first.max(*known);
    };
    let mut alone: BTreeMap<String, bool> = BTreeMap::new();
    let query = AuditQuery { until_ms: Some(before_ms), ..AuditQuery::default() };
    pages(&**store, query, |rows| {
        for row in rows {
            keep(&row.writer, row.sequence + 1);
            let is_last = heads.get(row.writer.as_str()) == Some(&row.sequence);
            alone.entry(row.writer.clone()).and_modify(|alone| *alone = false).or_insert(is_last);
            // As the last of its chain it stays, and what it tells stays told.
            if row.target == PRUNED
                && !is_last
                && let Some(record) = Record::read(row.line.as_bytes())
            {
                for old in record.chains {
                    keep(&old.writer, i64::try_from(old.first).unwrap_or(i64::MAX));
                    alone.insert(old.writer, false);
                }
            }
        }
        Ok(())
    })
    .await?;
    // A chain of which only its last is old has lost nothing by now.
    kept.retain(|writer, _| alone.get(writer) != Some(&true));
    let kept = kept.into_iter().filter_map(|(writer, first)| {
        Some(Kept { writer, first: u64::try_from(first).ok().filter(|first| *first > 1)? })
    });
    Ok(kept.collect())
}

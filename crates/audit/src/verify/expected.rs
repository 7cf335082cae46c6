//! What records say of other chains: which heads they had, and what was pruned.

use std::collections::{BTreeMap, HashMap};

use super::report::{Missing, Pruning};
use super::strand::Strand;
use crate::note::{ANCHORS, Head, PRUNED};
use crate::record::Record;

/// What is said of chains, by records and by whoever kept heads elsewhere.
#[derive(Debug, Default)]
pub(super) struct Expected {
    /// By chain and place: the hash that was there, and who says so.
    named: HashMap<String, BTreeMap<u64, Vec<Named>>>,
    /// From where on a chain is kept, and since when.
    kept: HashMap<String, Kept>,
    /// By who and where it says so.
    prunings: BTreeMap<(String, u64), Pruning>,
}

#[derive(Debug, PartialEq, Eq)]
struct Named {
    hash: String,
    /// The chain that says so; none if it was kept elsewhere.
    by: Option<String>,
}

/// From where on a chain is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kept {
    pub(super) first: u64,
    pub(super) on_ms: u64,
}

impl Expected {
    /// Takes what a record says of other chains; the same record may come twice.
    pub(super) fn learn(&mut self, record: &Record<'_>) {
        match &*record.target {
            ANCHORS => self.heads(&record.heads, Some(&record.writer)),
            PRUNED => {
                for kept in &record.chains {
                    let kept_from = Kept { first: kept.first, on_ms: record.time_ms };
                    let known = self.kept.entry(kept.writer.clone()).or_insert(kept_from);
                    *known = kept_from.max(*known);
                }
                let (by, seq) = (record.writer.to_string(), record.seq);
                let told = Pruning {
                    by: by.clone(),
                    seq,
                    on_ms: record.time_ms,
                    before_ms: record.before_ms,
                    chains: record.chains.len(),
                };
                self.prunings.insert((by, seq), told);
            }
            _ => {}
        }
    }

    /// Expects these records to be there.
    pub(super) fn heads(&mut self, heads: &[Head], by: Option<&str>) {
        for head in heads {
            let named = Named { hash: head.hash.clone(), by: by.map(Into::into) };
            let all = self.named.entry(head.writer.clone()).or_default().entry(head.seq).or_default();
            if !all.contains(&named) {
                all.push(named);
            }
        }
    }

    /// Compares a record with what others say of it.
    pub(super) fn meet(&self, record: &Record<'_>, strand: Option<&mut Strand>) {
        let named = self.named.get(&*record.writer).and_then(|places| places.get(&record.seq));
        let (Some(named), Some(strand)) = (named, strand) else { return };
        for named in named {
            if named.hash.as_bytes() == record.hash() {
                strand.vouched = strand.vouched.max(Some(record.seq));
                continue;
            }
            strand
                .broken(record.seq, &format!("it is not the record that {} named", who(named.by.as_deref())));
        }
    }

    /// From where on a chain is kept, as far as any record says.
    pub(super) fn kept_from(&self, writer: &str) -> Option<Kept> {
        self.kept.get(writer).copied()
    }

    /// What should be there and is not.
    pub(super) fn missing(&self, strands: &BTreeMap<String, Strand>) -> Vec<Missing> {
        let mut missing = Vec::new();
        for (writer, places) in &self.named {
            let last = strands.get(writer).and_then(Strand::last);
            // A hole inside a chain is reported there; here is what no record of the chain itself can tell.
            let Some((seq, named)) = places.last_key_value().filter(|(seq, _)| Some(**seq) > last) else {
                continue;
            };
            let by = named.first().and_then(|named| named.by.clone());
            missing.push(Missing { writer: writer.clone(), after: last, seq: *seq, named_by: by });
        }
        for (writer, kept) in &self.kept {
            let is_new = !missing.iter().any(|missing| missing.writer == *writer);
            if !strands.contains_key(writer) && is_new {
                missing.push(Missing {
                    writer: writer.clone(),
                    after: None,
                    seq: kept.first,
                    named_by: None,
                });
            }
        }
        missing.sort();
        missing
    }

    /// All prunings, oldest first.
    pub(super) fn prunings(&self) -> Vec<Pruning> {
        let mut all: Vec<Pruning> = self.prunings.values().cloned().collect();
        all.sort_by_key(|pruning| pruning.on_ms);
        all
    }
}

/// Who named a head, in words.
pub(super) fn who(by: Option<&str>) -> String {
    by.map_or_else(|| "whoever kept its head".to_owned(), |by| format!("chain `{by}`"))
}

//! One chain under examination: its records may come in any order, and are joined as they fit.

use std::collections::{BTreeMap, HashMap};

use super::expected::Kept;
use super::report::{Broken, ChainReport};
use crate::chain::{Hex, genesis};
use crate::record::Record;

/// How many things that are wrong are told of one chain; the rest is counted.
const TOLD: usize = 20;

/// One chain under examination.
#[derive(Debug)]
pub(super) struct Strand {
    genesis: Hex,
    /// Runs of records that follow from each other, by the place of their first.
    runs: BTreeMap<u64, Run>,
    /// The hashes of what is in spools, which may be in the store too.
    spool: HashMap<u64, Hex>,
    stored: u64,
    broken: Vec<Broken>,
    problems: u64,
    lost: u64,
    times: Option<Times>,
    kept: Option<Kept>,
    pub(super) torn_bytes: u64,
    /// Up to where others say that it is as it was.
    pub(super) vouched: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Run {
    last: u64,
    prev: Hex,
    head: Hex,
}

/// The times of the first and of the last record.
#[derive(Debug, Clone, Copy)]
struct Times {
    first: (u64, u64),
    last: (u64, u64),
}

impl Strand {
    pub(super) fn new(writer: &str) -> Self {
        Self {
            genesis: genesis(writer),
            runs: BTreeMap::new(),
            spool: HashMap::new(),
            stored: 0,
            broken: Vec::new(),
            problems: 0,
            lost: 0,
            times: None,
            kept: None,
            torn_bytes: 0,
            vouched: None,
        }
    }

    /// The place of the last record.
    pub(super) fn last(&self) -> Option<u64> {
        self.runs.last_key_value().map(|(_, run)| run.last)
    }

    /// Notes that something is wrong.
    pub(super) fn broken(&mut self, seq: u64, reason: &str) {
        self.problems += 1;
        if self.broken.len() < TOLD {
            self.broken.push(Broken { seq, reason: reason.to_owned() });
        }
    }

    /// Takes a record out of a spool.
    pub(super) fn spooled(&mut self, record: &Record<'_>, sound: bool) {
        self.spool.insert(record.seq, record.hash());
        self.take(record, sound);
    }

    /// Takes a record out of the store, which may have been in a spool too.
    pub(super) fn stored(&mut self, record: &Record<'_>, sound: bool) {
        self.stored += 1;
        match self.spool.remove(&record.seq) {
            None => self.take(record, sound),
            Some(hash) if sound && hash == record.hash() => {}
            Some(_) => self.broken(record.seq, "the store and the spool differ"),
        }
    }

    fn take(&mut self, record: &Record<'_>, sound: bool) {
        if !sound {
            self.broken(record.seq, "it was changed: its hash is not that of what it says");
        }
        self.lost += record.calls;
        let place = (record.seq, record.time_ms);
        let times = self.times.get_or_insert(Times { first: place, last: place });
        times.first = times.first.min(place);
        times.last = times.last.max(place);
        self.join(record.seq, record.prev(), record.hash());
    }

    /// Joins a record with those before and behind it.
    fn join(&mut self, seq: u64, prev: Hex, hash: Hex) {
        let before = self.runs.range(..=seq).next_back().map(|(first, run)| (*first, *run));
        if before.is_some_and(|(_, run)| run.last >= seq) {
            return self.broken(seq, "it is there twice");
        }
        if seq == 1 && self.genesis != prev {
            self.broken(seq, "it does not begin its chain");
        }
        let mut run = Run { last: seq, prev, head: hash };
        let mut first = seq;
        if let Some((start, before)) = before.filter(|(_, before)| before.last + 1 == seq) {
            if before.head != prev {
                self.broken(seq, "it does not follow from the record before it");
            }
            (first, run.prev) = (start, before.prev);
        }
        if let Some(behind) = self.runs.remove(&(seq + 1)) {
            if behind.prev != hash {
                self.broken(seq + 1, "it does not follow from the record before it");
            }
            (run.last, run.head) = (behind.last, behind.head);
        }
        self.runs.insert(first, run);
    }

    /// Looks for holes once all records came.
    pub(super) fn finish(&mut self, kept: Option<Kept>) {
        let runs: Vec<(u64, u64)> = self.runs.iter().map(|(first, run)| (*first, run.last)).collect();
        for pair in runs.windows(2) {
            let (from, to) = (pair[0].1 + 1, pair[1].0 - 1);
            self.broken(from, &format!("records {from} to {to} are missing"));
        }
        let Some((first, _)) = runs.first().filter(|(first, _)| *first > 1) else { return };
        match kept.filter(|kept| *first <= kept.first) {
            Some(kept) => self.kept = Some(kept),
            None => {
                self.broken(1, &format!("records 1 to {} are missing, and no pruning says so", first - 1))
            }
        }
    }

    pub(super) fn report(mut self, writer: String) -> ChainReport {
        self.broken.sort_by_key(|broken| broken.seq);
        let spooled = self.spool.len() as u64;
        let head = self.runs.last_key_value().map(|(_, run)| String::from_utf8_lossy(&run.head).into_owned());
        ChainReport {
            writer,
            ok: self.problems == 0,
            records: self.stored + spooled,
            spooled,
            first: self.times.map(|times| times.first.0),
            first_ms: self.times.map(|times| times.first.1),
            last: self.times.map(|times| times.last.0),
            last_ms: self.times.map(|times| times.last.1),
            head,
            pruned_on_ms: self.kept.map(|kept| kept.on_ms),
            vouched: self.vouched,
            lost: self.lost,
            torn_bytes: self.torn_bytes,
            problems: self.problems,
            broken: self.broken,
        }
    }
}

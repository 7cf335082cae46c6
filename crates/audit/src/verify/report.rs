//! What verifying found.

use std::fmt;

use serde::Serialize;
use toolgate_core::iso8601;

use super::expected::who;

/// What verifying found, of all chains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// How many records there are.
    pub records: u64,
    /// Every chain, oldest first.
    pub chains: Vec<ChainReport>,
    /// What other chains, or heads kept elsewhere, name and what is not there.
    pub missing: Vec<Missing>,
    /// When old records were removed on purpose.
    pub prunings: Vec<Pruning>,
}

/// What verifying found of one chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChainReport {
    /// Whose chain.
    pub writer: String,
    /// Whether nothing is wrong with it.
    pub ok: bool,
    /// How many records it has.
    pub records: u64,
    /// How many of them are not in the store yet.
    pub spooled: u64,
    /// The place of its first record.
    pub first: Option<u64>,
    /// The time of its first record, in milliseconds since 1970.
    pub first_ms: Option<u64>,
    /// The place of its last record.
    pub last: Option<u64>,
    /// The time of its last record, in milliseconds since 1970.
    pub last_ms: Option<u64>,
    /// The hash of its last record.
    pub head: Option<String>,
    /// Where it does not begin at its first record: when the older ones were removed on purpose.
    pub pruned_on_ms: Option<u64>,
    /// Up to which record other chains say that it is as it was.
    pub vouched: Option<u64>,
    /// Calls that ran while nothing could be recorded, as the chain itself tells.
    pub lost: u64,
    /// Bytes of a line in which its writer was cut off; that call was never answered.
    pub torn_bytes: u64,
    /// How many things are wrong.
    pub problems: u64,
    /// What is wrong, the first of it.
    pub broken: Vec<Broken>,
}

/// Something that is wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// Its place.
    pub seq: u64,
    /// What is wrong.
    pub reason: String,
}

/// A record that should be there, and is not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Missing {
    /// Whose chain.
    pub writer: String,
    /// The last record that is there; none if the whole chain is gone.
    pub after: Option<u64>,
    /// The record that should be there.
    pub seq: u64,
    /// The chain that says so; none if a pruning does, or a head that was kept elsewhere.
    pub named_by: Option<String>,
}

/// A removal of old records on purpose, as a record tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pruning {
    /// The chain that tells it.
    pub by: String,
    /// The record that tells it.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub on_ms: u64,
    /// Records before this moment went.
    pub before_ms: u64,
    /// How many chains it names.
    pub chains: usize,
}

impl Report {
    pub(super) fn new(chains: Vec<ChainReport>, missing: Vec<Missing>, prunings: Vec<Pruning>) -> Self {
        let ok = missing.is_empty() && chains.iter().all(|chain| chain.ok);
        Self { ok, records: chains.iter().map(|chain| chain.records).sum(), chains, missing, prunings }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.ok { "nothing is wrong" } else { "SOMETHING IS WRONG" };
        let many = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let (records, chains) = (many(self.records, "record"), many(self.chains.len() as u64, "chain"));
        writeln!(f, "{records} in {chains}: {word}")?;
        self.missing.iter().try_for_each(|missing| writeln!(f, "{missing}"))?;
        self.chains.iter().try_for_each(|chain| write!(f, "{chain}"))
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = who(self.named_by.as_deref());
        match self.after {
            None => write!(f, "chain `{}` is missing; {by} named its record {}", self.writer, self.seq),
            Some(after) => {
                let (writer, seq) = (&self.writer, self.seq);
                write!(f, "chain `{writer}` ends at record {after}, but {by} named its record {seq}")
            }
        }
    }
}

impl fmt::Display for ChainReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |ms: Option<u64>| ms.map_or_else(|| "-".to_owned(), iso8601);
        let (first, last) = (self.first.unwrap_or(0), self.last.unwrap_or(0));
        let word = if self.ok { "ok" } else { "BROKEN" };
        writeln!(
            f,
            "{} {word}: records {first} to {last}, {} to {}",
            self.writer,
            time(self.first_ms),
            time(self.last_ms)
        )?;
        if let Some(on_ms) = self.pruned_on_ms {
            writeln!(f, "  begins at record {first}, older ones pruned on {}", iso8601(on_ms))?;
        }
        if self.lost > 0 {
            writeln!(f, "  {} calls ran while nothing could be recorded", self.lost)?;
        }
        if self.torn_bytes > 0 {
            writeln!(f, "  its writer was cut off in the middle of a record")?;
        }
        for broken in &self.broken {
            writeln!(f, "  record {}: {}", broken.seq, broken.reason)?;
        }
        let more = self.problems - self.broken.len() as u64;
        if more > 0 { writeln!(f, "  and {more} more") } else { Ok(()) }
    }
}

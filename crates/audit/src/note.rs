//! What the audit records about itself.

use serde::{Deserialize, Serialize};

/// Who these records name as their principal.
pub(crate) const PRINCIPAL: &str = "toolgate";
/// The target of records that name the heads of other chains.
pub(crate) const ANCHORS: &str = "audit:anchors";
/// The target of records that say what is too old and goes.
pub(crate) const PRUNED: &str = "audit:pruned";
/// The target of records that say how many are missing before them.
pub(crate) const LOST: &str = "audit:lost";
/// The target of records that say that another writer was cut off in the middle of a line.
pub(crate) const TORN: &str = "audit:torn";

/// How many chains one record names at most.
pub(crate) const NAMED: usize = 200;

/// The last record of a chain, as far as someone knew it. Kept elsewhere it shows later whether anything is gone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Head {
    /// Whose chain.
    pub writer: String,
    /// The place of the record.
    pub seq: u64,
    /// Its hash, as lowercase hex.
    pub hash: String,
}

/// From where on a chain is kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// Whose chain.
    pub(crate) writer: String,
    /// The first record that is kept.
    pub(crate) first: u64,
}

/// What the audit records about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Note {
    /// The heads of other chains.
    Anchors(Vec<Head>),
    /// Records before a moment go; these chains begin later from now on.
    Pruned { before_ms: u64, chains: Vec<Kept> },
    /// So many calls ran that could not be recorded, and so many were refused for it.
    Lost { calls: u64, refused: u64 },
    /// A writer was cut off in the middle of a line, behind this record.
    Torn { chain: String, after: u64, bytes: u64 },
}

impl Note {
    pub(crate) fn target(&self) -> &'static str {
        match self {
            Self::Anchors(_) => ANCHORS,
            Self::Pruned { .. } => PRUNED,
            Self::Lost { .. } => LOST,
            Self::Torn { .. } => TORN,
        }
    }
}

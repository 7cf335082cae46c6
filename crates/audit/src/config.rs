//! What can be set for the audit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A day in milliseconds.
pub(crate) const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What can be set for the audit. That calls are recorded cannot be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuditConfig {
    /// Whether the arguments of calls are recorded too, without secrets; else only their digest is.
    pub arguments: bool,
    /// Whether a record is on the disk, not only with the system, before the reply leaves. It makes calls slower.
    pub sync: bool,
    /// For how many days records are kept; 0 keeps them for good.
    pub keep_days: u32,
    /// How many bytes of records may wait for the store.
    pub max_spool_bytes: u64,
    /// What happens to calls that cannot be recorded.
    pub on_full: OnFull,
}

/// What happens to calls that cannot be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFull {
    /// They are refused.
    #[default]
    Refuse,
    /// They run, and are only counted.
    Run,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self {
            arguments: false,
            sync: false,
            keep_days: 90,
            max_spool_bytes: 256 * 1024 * 1024,
            on_full: OnFull::Refuse,
        }
    }
}

impl AuditConfig {
    /// The moment before which records are too old; none where they are kept for good.
    pub(crate) fn cutoff_ms(&self, now_ms: u64) -> Option<u64> {
        (self.keep_days > 0).then(|| now_ms.saturating_sub(u64::from(self.keep_days) * DAY_MS))
    }
}

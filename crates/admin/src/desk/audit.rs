//! The record, as it is searched.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Which records to find. What is not said does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuditFilter {
    /// Not before, in milliseconds since 1970.
    pub since_ms: Option<u64>,
    /// Before, in milliseconds since 1970.
    pub until_ms: Option<u64>,
    /// Who called.
    pub principal: Option<String>,
    /// What it was for, as `kind:name`; `*` stands for anything.
    pub target: Option<String>,
    /// How it ended.
    pub outcome: Option<String>,
    /// Go on where a page ended: its `next`.
    pub after: Option<String>,
    /// At most so many; 100 if nothing is said.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
}

/// A page of records, newest first.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct AuditPage {
    /// The records, as they were written: `time_ms`, `principal`, `client`, `transport`, `target`, `source`, `digest`,
    /// `outcome`, `took_us`, `rule`, `approver` and what chains them.
    pub items: Vec<Map<String, Value>>,
    /// Where the next page begins, if there may be one.
    pub next: Option<String>,
}

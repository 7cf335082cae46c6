//! `[limits]`: how often, and how many at once.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How often, and how many at once.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// Whether anything is limited.
    pub enabled: bool,
    /// How many requests a second each principal may make, on average.
    pub rate: f64,
    /// How many requests each principal may make at once, after a rest.
    pub burst: u32,
    /// How many calls each source answers at once.
    pub concurrent: u32,
    /// How many calls may wait for each source; those behind are refused.
    pub queue: u32,
    /// A further limit for some targets. A call has to pass every limit that it matches.
    pub targets: Vec<TargetLimit>,
    /// What holds for one source instead.
    pub sources: BTreeMap<String, SourceLimit>,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            rate: 10.0,
            burst: 20,
            concurrent: 64,
            queue: 256,
            targets: Vec::new(),
            sources: BTreeMap::new(),
        }
    }
}

/// A limit for some targets, counted for each principal.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetLimit {
    /// What it is about; patterns as in the `targets` of rules.
    #[schemars(example = ["web_*"])]
    pub targets: Vec<String>,
    /// How many calls a second, on average.
    #[schemars(example = 1.0)]
    pub rate: f64,
    /// How many calls at once, after a rest.
    #[schemars(example = 5)]
    pub burst: u32,
    /// Who it is about, as in rules. Without it: everyone.
    #[schemars(example = ["role:guests"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principals: Option<Vec<String>>,
}

/// What holds for one source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SourceLimit {
    /// How many calls it answers at once.
    #[schemars(example = 4)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrent: Option<u32>,
    /// How many calls may wait for it.
    #[schemars(example = 16)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<u32>,
}

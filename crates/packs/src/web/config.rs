//! What can be set for the web.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::HostPattern;

/// What can be set for the web.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WebConfig {
    /// Hosts that may be fetched from although they are on this machine or in a private network: names, `*.` and a name,
    /// addresses, networks.
    #[schemars(example = ["wiki.example.internal", "10.0.0.0/8"])]
    #[serde(deserialize_with = "HostPattern::named")]
    pub allow_hosts: Vec<HostPattern>,
    /// Hosts that nothing is fetched from; `*` is all that `allow_hosts` does not list.
    #[schemars(example = ["*.example.com"])]
    pub deny_hosts: Vec<HostPattern>,
    /// The most bytes that a page may have, as it comes and when its compression is undone.
    #[schemars(range(min = 1))]
    pub max_bytes: u64,
    /// How many milliseconds a page may take as a whole, redirects included.
    #[schemars(range(min = 1))]
    pub timeout_ms: u64,
}

impl Default for WebConfig {
    fn default() -> Self {
        Self { allow_hosts: Vec::new(), deny_hosts: Vec::new(), max_bytes: 5 << 20, timeout_ms: 30_000 }
    }
}

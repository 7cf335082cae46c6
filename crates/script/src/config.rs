//! What can be set for scripts.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::HostPattern;

use crate::hash::Hash;

/// What can be set for scripts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptsConfig {
    /// The folder of scripts. Without it: `scripts` under the data folder.
    #[schemars(example = "/path/to/a/folder")]
    pub dir: Option<PathBuf>,
    /// Hashes of scripts that may run without anybody's approval, with all that their headers name.
    #[schemars(example = ["sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"])]
    pub allow: Vec<Hash>,
    /// How many milliseconds a script may take, all that it waits for included.
    #[schemars(range(min = 1, max = 600_000))]
    pub timeout_ms: u64,
    /// How many megabytes of memory a script may use.
    #[schemars(range(min = 16, max = 4096))]
    pub max_memory_mb: u64,
    /// How many statements a script may execute, each turn of a loop counted anew.
    #[schemars(range(min = 1))]
    pub max_steps: u64,
    /// The most bytes that a script may have.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_source_bytes: u64,
    /// The most bytes that a script may answer with, or send at once.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_output_bytes: usize,
    /// The most bytes that a script may get from another server or from a tool at once.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub max_input_bytes: usize,
    /// How many requests to other servers a script may make.
    pub max_http_calls: u32,
    /// How many tools a script may call.
    pub max_tool_calls: u32,
    /// Hosts that scripts may ask although they are on this machine or in a private network, where their headers name
    /// them: names, `*.` and a name, addresses, networks.
    #[schemars(example = ["wiki.example.internal", "10.0.0.0/8"])]
    #[serde(deserialize_with = "HostPattern::named")]
    pub allow_hosts: Vec<HostPattern>,
    /// Hosts that no script may ask, whatever its header says; `*` is all that `allow_hosts` does not list.
    #[schemars(example = ["*.example.com"])]
    pub deny_hosts: Vec<HostPattern>,
}

impl Default for ScriptsConfig {
    fn default() -> Self {
        Self {
            dir: None,
            allow: Vec::new(),
            timeout_ms: 30_000,
            max_memory_mb: 128,
            max_steps: 50_000_000,
            max_source_bytes: 64 << 10,
            max_output_bytes: 1 << 20,
            max_input_bytes: 4 << 20,
            max_http_calls: 50,
            max_tool_calls: 200,
            allow_hosts: Vec::new(),
            deny_hosts: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_allowed_by_name_and_denied_at_will() {
        let read = |text: &str| serde_json::from_str::<ScriptsConfig>(text);
        assert!(read(r#"{"allow_hosts": ["wiki.internal", "10.0.0.0/8"], "deny_hosts": ["*"]}"#).is_ok());
        let error = read(r#"{"allow_hosts": ["*"]}"#).unwrap_err();
        assert!(error.to_string().contains("name the hosts"), "{error}");
        assert!(read(r#"{"allow_hosts": ["https://x"]}"#).is_err());
    }
}

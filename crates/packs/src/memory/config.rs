//! What can be set for the memory.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can be set for the memory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MemoryConfig {
    /// The folder that holds MEMORY.md, SOUL.md, USER.md and memory/; made if it is missing. Without it: a folder
    /// under the user's data folder.
    #[schemars(example = "/path/to/a/folder")]
    pub root: Option<PathBuf>,
    /// The most bytes that one memory file may have.
    pub max_bytes: u64,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self { root: None, max_bytes: 1 << 20 }
    }
}

//! What can be set for the workspace.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can be set for the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkspaceConfig {
    /// The folder whose files are the workspace. Without it: the first root of a client on stdio, else a folder
    /// under the user's data folder.
    #[schemars(example = "/path/to/a/folder")]
    pub root: Option<PathBuf>,
    /// The most bytes that are read at once; larger files are read in parts.
    pub max_read_bytes: u64,
    /// The most bytes that a file may have after a write.
    pub max_write_bytes: u64,
}

impl Default for WorkspaceConfig {
    fn default() -> Self {
        Self { root: None, max_read_bytes: 1 << 20, max_write_bytes: 16 << 20 }
    }
}

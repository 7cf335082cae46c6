//! What a folder holds, as tools tell it.

use schemars::JsonSchema;
use serde::Serialize;
use toolgate_core::iso8601;
use toolgate_host::files::{Entry, Kind as EntryKind};

/// One thing that a folder holds.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Item {
    /// Path of the entry, from the root.
    pub(crate) path: String,
    /// What it is; a symbolic link is not followed here.
    kind: Kind,
    /// Size in bytes; 0 for all but files.
    size: u64,
    /// When it was last changed, in UTC.
    modified: String,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    File,
    Folder,
    Symlink,
    Other,
}

impl Item {
    pub(crate) fn new(path: String, entry: &Entry) -> Self {
        let kind = match entry.kind {
            EntryKind::File => Kind::File,
            EntryKind::Dir => Kind::Folder,
            EntryKind::Symlink => Kind::Symlink,
            EntryKind::Other => Kind::Other,
        };
        Self { path, kind, size: entry.size, modified: iso8601(entry.modified_unix_ms) }
    }
}

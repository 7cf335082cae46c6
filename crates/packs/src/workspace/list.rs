//! `workspace_list`: list what a folder holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};
use toolgate_host::files::{Entry, Kind as EntryKind, Listing};
use toolgate_host::{FileError, RelPath, Root};

use super::Workspace;
use crate::entry::Item;
use crate::failure::{Advice, failure};

const ADVICE: Advice = Advice {
    missing: "call `workspace_list` without `path` to see what exists",
    large: "list a smaller folder",
};

// They hold thousands of files that nobody wrote by hand.
const NOT_ENTERED: [&str; 3] = [".git", "node_modules", "target"];

pub(super) struct WorkspaceList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Path of the folder, from the workspace root; the root itself if left out.
    #[serde(default)]
    path: String,
    /// Whether to list what is in the folders below, too; `.git`, `node_modules` and `target` are not entered.
    #[serde(default)]
    recursive: bool,
    /// The most entries to return.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 10_000))]
    limit: usize,
}

const fn default_limit() -> usize {
    1_000
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The entries, sorted by name; what a folder holds follows the folder.
    items: Vec<Item>,
    /// Whether there are more entries than `limit`.
    truncated: bool,
}

impl Tool<Workspace> for WorkspaceList {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "workspace_list",
        title: "List folder",
        description: "List what a folder of the workspace holds.",
        hints: Hints::READ_ONLY,
    };

    async fn run(&self, pack: &Workspace, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let folder = super::path(&input.path).map_err(|error| failure(error, ADVICE))?;
        let root = pack.root(run).await?;
        let listed = list(&root, &folder, &input).await.map_err(|error| failure(error, ADVICE))?;
        Ok(Json(listed))
    }
}

/// What is listed so far, and what is still ahead.
struct Walker<'a> {
    root: &'a Root,
    limit: usize,
    output: Output,
    /// Entries and the folders they are in, the next one last.
    ahead: Vec<(RelPath, Entry)>,
}

async fn list(root: &Root, folder: &RelPath, input: &Input) -> Result<Output, FileError> {
    let output = Output { items: Vec::new(), truncated: false };
    let mut walker = Walker { root, limit: input.limit, output, ahead: Vec::new() };
    walker.enter(folder).await?;
    while let Some((folder, entry)) = walker.ahead.pop() {
        let path = if folder.is_root() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
        walker.output.items.push(Item::new(path, &entry));
        let enters = input.recursive && entry.kind == EntryKind::Dir && entry.openable;
        if !enters || NOT_ENTERED.contains(&entry.name.as_str()) {
            continue;
        }
        let Ok(inner) = folder.join(&entry.name) else { continue };
        // A folder that vanished, or may not be opened, is listed but not entered.
        if let Err(error) = walker.enter(&inner).await {
            tracing::debug!(%error, "a folder was not entered");
        }
    }
    Ok(walker.output)
}

impl Walker<'_> {
    /// Puts what a folder holds ahead of all else, and forgets what is then beyond the limit.
    async fn enter(&mut self, folder: &RelPath) -> Result<(), FileError> {
        let left = self.limit.saturating_sub(self.output.items.len());
        let Listing { entries, truncated } = self.root.list(folder, left).await?;
        self.ahead.extend(entries.into_iter().rev().map(|entry| (folder.clone(), entry)));
        let excess = self.ahead.len().saturating_sub(left);
        self.ahead.drain(..excess);
        self.output.truncated |= truncated || excess > 0;
        Ok(())
    }
}

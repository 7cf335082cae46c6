//! `vault_list`: list what a folder of the vault holds, page by page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};
use toolgate_host::files::{Entry, Kind as EntryKind};
use toolgate_host::{FileError, RelPath, Root};

use super::Vault;
use crate::entry::Item;
use crate::failure::{Advice, failure};

const ADVICE: Advice =
    Advice { missing: "call `vault_list` without `path` to see what exists", large: "list a smaller folder" };

/// The most entries of one folder.
const MOST_ENTRIES: usize = 100_000;

pub(super) struct VaultList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Path of the folder, from the root of the vault; the root itself if left out.
    #[serde(default)]
    path: String,
    /// Whether to list what is in the folders below, too.
    #[serde(default)]
    recursive: bool,
    /// The most entries to return.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1_000))]
    limit: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "String",
        description = "Where the page before ended: its `next`; left out for the first page."
    )]
    after: Option<String>,
}

const fn default_limit() -> usize {
    200
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The entries, sorted by name; what a folder holds follows the folder. Hidden ones are left out.
    items: Vec<Item>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "String",
        description = "What to give as `after` for the next page; there is none if it is left out."
    )]
    next: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "Why what is elsewhere could not be brought in before.")]
    not_pulled: Option<String>,
}

impl Tool<Vault> for VaultList {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "vault_list",
        title: "List notes",
        description: "List what a folder of the vault holds.",
        hints: Hints::READ_ONLY,
    };

    async fn run(&self, pack: &Vault, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let folder = super::path(&input.path)?;
        let after = input.after.as_deref().map(super::path).transpose()?;
        let not_pulled = pack.pulled().await;
        let folder = if folder.is_root() { folder } else { pack.real(&folder).await? };
        let mut walker =
            Walker { root: pack.root(), after, limit: input.limit, items: Vec::new(), ahead: Vec::new() };
        let walked = walker.walk(&folder, input.recursive).await.map_err(|error| failure(error, ADVICE))?;
        let next = walked.then(|| walker.items.last().map(|item| item.path.clone())).flatten();
        Ok(Json(Output { items: walker.items, next, not_pulled }))
    }
}

/// What is listed so far, and what is still ahead.
struct Walker<'a> {
    root: &'a Root,
    after: Option<RelPath>,
    limit: usize,
    items: Vec<Item>,
    /// The next one last.
    ahead: Vec<(RelPath, Entry)>,
}

impl Walker<'_> {
    /// Lists a page; says whether there is more.
    async fn walk(&mut self, folder: &RelPath, recursive: bool) -> Result<bool, FileError> {
        self.enter(folder).await?;
        while let Some((path, entry)) = self.ahead.pop() {
            if self.is_ahead(&path) {
                if self.items.len() == self.limit {
                    return Ok(true);
                }
                self.items.push(Item::new(path.to_string(), &entry));
            }
            if recursive && entry.kind == EntryKind::Dir && entry.openable && self.holds_ahead(&path) {
                // A folder that vanished, or may not be opened, is listed but not entered.
                if let Err(error) = self.enter(&path).await {
                    tracing::debug!(%error, "a folder was not entered");
                }
            }
        }
        Ok(false)
    }

    /// Puts what a folder holds ahead of all else.
    async fn enter(&mut self, folder: &RelPath) -> Result<(), FileError> {
        let listing = self.root.list(folder, MOST_ENTRIES).await?;
        if listing.truncated {
            tracing::warn!(
                entries = MOST_ENTRIES,
                "a folder of the vault has too many entries to list them all"
            );
        }
        let shown = listing.entries.into_iter().rev().filter(|entry| !entry.name.starts_with('.'));
        self.ahead.extend(shown.filter_map(|entry| Some((folder.join(&entry.name).ok()?, entry))));
        Ok(())
    }

    /// Whether a path comes behind the page before.
    fn is_ahead(&self, path: &RelPath) -> bool {
        self.after.as_ref().is_none_or(|after| names(path).gt(names(after)))
    }

    /// Whether something in a folder may come behind the page before.
    fn holds_ahead(&self, folder: &RelPath) -> bool {
        self.is_ahead(folder)
            || self.after.as_ref().is_some_and(|after| names(after).zip(names(folder)).all(|(a, b)| a == b))
    }
}

/// The names of a path: what a folder holds comes right behind it.
fn names(path: &RelPath) -> impl Iterator<Item = &str> {
    path.as_str().split('/')
}

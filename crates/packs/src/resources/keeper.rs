//! Keeps the list of resources as the files are.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use toolgate_core::{Kinds, ResourceItem, Shelf};
use toolgate_host::files::WalkedFile;
use toolgate_host::{Changes, RelPath, Root, Tasks};
use toolgate_wire::Raw;

use super::Collection;

const MOST_FILES: usize = 5_000;
// Folders, links and what is skipped count too.
const MOST_ENTRIES: usize = 4 * MOST_FILES;
const SKIPPED: [&str; 2] = ["node_modules", "target"];
// Long enough for a program that writes several files, short enough for a person who waits.
const QUIET: Duration = Duration::from_millis(200);
// Whoever passes the changes on has room for 64 at a time.
const TOLD_AT_ONCE: usize = 32;

/// The files at one moment, by path.
type Files = BTreeMap<RelPath, WalkedFile>;

/// Keeps a shelf as the files of a root are.
pub(super) struct Keeper {
    collection: Collection,
    shelf: Shelf,
    tasks: Tasks,
}

impl Keeper {
    pub(super) const fn new(collection: Collection, shelf: Shelf, tasks: Tasks) -> Self {
        Self { collection, shelf, tasks }
    }

    /// Lists the files of whatever root is shown, until nobody can show another.
    pub(super) async fn run(self, mut shown: watch::Receiver<Option<Root>>) {
        loop {
            let root = shown.borrow_and_update().clone();
            let keeping = async {
                self.keep(root.as_ref()).await;
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = keeping => {}
                changed = shown.changed() => if changed.is_err() { return },
            }
        }
    }

    /// Lists the files of one root, as long as they can be watched.
    async fn keep(&self, root: Option<&Root>) {
        let Some(root) = root else { return self.publish(&Files::new()) };
        let mut files = self.look(root).await;
        self.publish(&files);
        let mut watch = match root.watch(&self.tasks, QUIET).await {
            Ok(watch) => watch,
            Err(error) => return tracing::warn!(%error, "changes of files will not be noticed"),
        };
        // Whatever changed before the watch began.
        let mut changes = Changes::Many;
        loop {
            files = self.refresh(files, self.look(root).await, &changes).await;
            let Some(next) = watch.next().await else { return };
            changes = next;
        }
    }

    async fn look(&self, root: &Root) -> Files {
        let skip = |name: &str| name.starts_with('.') || SKIPPED.contains(&name);
        let walk = match root.walk(MOST_ENTRIES, skip).await {
            Ok(walk) => walk,
            Err(error) => {
                tracing::warn!(%error, scheme = self.collection.scheme, "cannot list files");
                return Files::new();
            }
        };
        let holds = |file: &WalkedFile| (self.collection.holds)(&file.path);
        let files = walk.files.into_iter().filter(holds).take(MOST_FILES);
        files.map(|file| (file.path.clone(), file)).collect()
    }

    async fn refresh(&self, before: Files, now: Files, changes: &Changes) -> Files {
        let listed = |files: &Files| files.values().map(|file| (file.path.clone(), file.size)).collect();
        let (old, new): (Vec<_>, Vec<_>) = (listed(&before), listed(&now));
        if old != new {
            self.publish(&now);
        }
        for (count, file) in before.values().filter(|file| is_other(file, &now, changes)).enumerate() {
            self.shelf.updated(&self.collection.uri(&file.path));
            if count % TOLD_AT_ONCE == TOLD_AT_ONCE - 1 {
                tokio::task::yield_now().await;
            }
        }
        now
    }

    fn publish(&self, files: &Files) {
        let resources = files.values().map(|file| {
            let raw = Raw::of(&self.collection.definition(file));
            Arc::new(ResourceItem { uri: self.collection.uri(&file.path).into(), raw })
        });
        let resources = resources.collect();
        self.shelf.update(|listing| {
            listing.resources = resources;
            listing.pending = Kinds::NONE;
        });
    }
}

/// Whether a file is not what it was, or gone.
fn is_other(file: &WalkedFile, now: &Files, changes: &Changes) -> bool {
    // Two writes within one millisecond leave the same size and time, but both were noticed.
    let noticed = matches!(changes, Changes::Paths(paths) if paths.contains(&file.path));
    noticed || now.get(&file.path) != Some(file)
}

//! Changes of a few files, wherever they are, and of files that are not there yet.
//!
//! Editors write a new file and rename it over the old one, and links are turned to another file; so the
//! folders are watched, and whether a file changed is found by looking at it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::{PATIENCE, POLL_INTERVAL};

// Folders that are made while they are looked for are found the next time.
const MAX_ROUNDS: usize = 4;

/// Tells when one of a few files was written, made, replaced or removed.
///
/// If the system cannot watch, it looks for changes every two seconds.
#[derive(Debug)]
pub struct FileWatch {
    paths: Vec<PathBuf>,
    seen: Vec<Stamp>,
    debounce: Duration,
    bell: Arc<Notify>,
    watcher: Option<RecommendedWatcher>,
}

/// What tells a changed file from an unchanged one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    is_there: bool,
    // Device, inode, size, time of change and of the change of anything about it.
    file: Option<(u64, u64, u64, [i64; 4])>,
}

impl FileWatch {
    /// Watches these files; changes are told when nothing has happened for `debounce`.
    pub fn new(paths: impl IntoIterator<Item = impl AsRef<Path>>, debounce: Duration) -> Self {
        let bell = Arc::new(Notify::new());
        let ring = Arc::clone(&bell);
        let made = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if !event.is_ok_and(|event| is_read(event.kind)) {
                ring.notify_one();
            }
        });
        let watcher = made.map_err(|error| give_up(&error)).ok();
        let mut watch = Self { paths: Vec::new(), seen: Vec::new(), debounce, bell, watcher };
        watch.watch(paths);
        watch
    }

    /// Watches these files from now on, and no others. A file that was watched before is told if it changed since.
    pub fn watch(&mut self, paths: impl IntoIterator<Item = impl AsRef<Path>>) {
        let paths: Vec<PathBuf> = paths.into_iter().map(|path| absolute(path.as_ref())).collect();
        let seen: Vec<Option<Stamp>> = paths.iter().map(|path| self.seen_of(path)).collect();
        self.paths = paths;
        self.follow();
        let now = self.paths.iter().map(|path| Stamp::of(path));
        self.seen = seen.into_iter().zip(now).map(|(before, now)| before.unwrap_or(now)).collect();
        self.bell.notify_one();
    }

    /// Waits until a file has changed, and says which have. Safe to cancel.
    pub async fn next(&mut self) -> Vec<PathBuf> {
        loop {
            let wait = if self.watcher.is_some() { Duration::MAX } else { POLL_INTERVAL };
            // Whether it rang or the time is over, it is time to look.
            drop(timeout(wait, self.bell.notified()).await);
            self.quiet().await;
            self.follow();
            let now: Vec<Stamp> = self.paths.iter().map(|path| Stamp::of(path)).collect();
            let before = std::mem::replace(&mut self.seen, now);
            let pairs = self.paths.iter().zip(before.iter().zip(&self.seen));
            let changed: Vec<PathBuf> =
                pairs.filter(|(_, (before, now))| before != now).map(|(path, _)| path.clone()).collect();
            if !changed.is_empty() {
                return changed;
            }
        }
    }

    /// Waits until nothing happens for a while, but not for ever.
    async fn quiet(&self) {
        let patience = Instant::now() + self.debounce * PATIENCE;
        while timeout(self.debounce, self.bell.notified()).await.is_ok() {
            if Instant::now() >= patience {
                return;
            }
            sleep(self.debounce / 10).await;
        }
    }

    fn seen_of(&self, path: &Path) -> Option<Stamp> {
        let at = self.paths.iter().position(|known| known == path)?;
        self.seen.get(at).cloned()
    }

    /// Watches the folder of every file, and of what a link leads to; where it is missing, the nearest above it.
    fn follow(&mut self) {
        let mut before = BTreeSet::new();
        for _ in 0..MAX_ROUNDS {
            let folders: BTreeSet<PathBuf> = self.paths.iter().flat_map(|path| folders_of(path)).collect();
            if folders == before {
                return;
            }
            for folder in &folders {
                let Some(watcher) = &mut self.watcher else { return };
                // Again each time: a folder that was removed and made anew is another one.
                if let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive)
                    && folder.is_dir()
                {
                    give_up(&error);
                    self.watcher = None;
                }
            }
            before = folders;
        }
    }
}

impl Stamp {
    fn of(path: &Path) -> Self {
        let file = fs::metadata(path).ok().map(|file| {
            let times = [file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec()];
            (file.dev(), file.ino(), file.size(), times)
        });
        Self { is_there: fs::symlink_metadata(path).is_ok(), file }
    }
}

fn folders_of(path: &Path) -> Vec<PathBuf> {
    let nearest = |path: &Path| path.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned);
    let target = fs::canonicalize(path).ok();
    nearest(path).into_iter().chain(target.and_then(|target| nearest(&target))).collect()
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn is_read(kind: EventKind) -> bool {
    matches!(kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write))
}

fn give_up(error: &notify::Error) {
    tracing::warn!(
        reason = super::notified::reason(error),
        "cannot watch files; looking for changes every few seconds instead"
    );
}

#[cfg(test)]
mod tests;

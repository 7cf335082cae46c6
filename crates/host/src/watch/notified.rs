//! Changes told by the operating system.
//!
//! Each folder is watched by itself, because a recursive watch could not leave out the large ones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RenameMode};
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio_util::sync::CancellationToken;

use super::pending::Pending;
use super::{MAX_ENTRIES, POLL_INTERVAL, is_skipped, polled};
use crate::files::{RelPath, Root, TEMP_PREFIX};
use crate::tasks::TaskFailed;

// Folders that appear faster than they can be watched are found by looking at the whole root again.
const MAX_NEW_FOLDERS: usize = 256;
const MAX_ROUNDS: usize = 8;

/// A watch on every folder, and what it takes to watch new ones.
pub(super) struct Notified {
    folders: Folders,
    pending: Arc<Pending>,
    appeared: Receiver<RelPath>,
}

struct Folders {
    root: Root,
    base: PathBuf,
    watcher: RecommendedWatcher,
}

/// What the watcher's thread does with an event.
struct Handler {
    base: PathBuf,
    pending: Arc<Pending>,
    appeared: Sender<RelPath>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum WatchError {
    #[error(transparent)]
    File(#[from] crate::files::FileError),
    #[error("the system refused: {}", reason(.0))]
    Notify(#[from] notify::Error),
    #[error(transparent)]
    Task(#[from] TaskFailed),
}

impl Notified {
    pub(super) async fn start(root: Root, pending: Arc<Pending>) -> Result<Self, WatchError> {
        let (sender, appeared) = mpsc::channel(MAX_NEW_FOLDERS);
        let base = std::fs::canonicalize(root.path()).map_err(notify::Error::io)?;
        let handler = Handler { base: base.clone(), pending: Arc::clone(&pending), appeared: sender };
        let watcher = notify::recommended_watcher(move |event| handler.handle(event))?;
        let mut folders = Folders { root, base, watcher };
        folders = folders.adopt(RelPath::root()).await?.0;
        Ok(Self { folders, pending, appeared })
    }

    pub(super) async fn run(self, stop: CancellationToken) {
        let Self { mut folders, pending, mut appeared } = self;
        let root = folders.root.clone();
        while let Some(Some(folder)) = stop.run_until_cancelled(appeared.recv()).await {
            let files = match folders.adopt(folder).await {
                Ok((same, files)) => {
                    folders = same;
                    files
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot watch a new folder; looking for changes every few seconds instead");
                    pending.add(RelPath::root());
                    let before = polled::look(&root).await.unwrap_or_default();
                    return polled::run(&root, &pending, before, POLL_INTERVAL, stop).await;
                }
            };
            files.into_iter().for_each(|file| pending.add(file));
        }
    }
}

impl Folders {
    /// Watches a folder and those in it, and says which files it holds.
    async fn adopt(mut self, folder: RelPath) -> Result<(Self, Vec<RelPath>), WatchError> {
        let outcome = tokio::task::spawn_blocking(move || {
            let files = self.adopt_now(&folder)?;
            Ok((self, files))
        });
        outcome.await.map_err(TaskFailed::from_join)?
    }

    fn adopt_now(&mut self, folder: &RelPath) -> Result<Vec<RelPath>, WatchError> {
        let mut watched = BTreeSet::new();
        // What appears between looking and watching would be missed, so look until there is nothing new.
        for _ in 0..MAX_ROUNDS {
            if !self.root.is_folder(folder) {
                break;
            }
            let Ok(walk) = self.root.walk_now(folder, MAX_ENTRIES, &is_skipped) else { break };
            let new: Vec<_> = walk.folders.into_iter().filter(|path| watched.insert(path.clone())).collect();
            if new.is_empty() {
                return Ok(walk.files.into_iter().map(|file| file.path).collect());
            }
            if walk.truncated {
                tracing::warn!(entries = MAX_ENTRIES, "too many files to watch them all");
            }
            new.iter().try_for_each(|path| self.watch(path))?;
        }
        Ok(Vec::new())
    }

    fn watch(&mut self, folder: &RelPath) -> notify::Result<()> {
        match self.watcher.watch(&self.base.join(folder.as_str()), RecursiveMode::NonRecursive) {
            // It is gone already.
            Err(error) if matches!(error.kind, ErrorKind::PathNotFound) => Ok(()),
            other => other,
        }
    }
}

impl Handler {
    fn handle(&self, event: notify::Result<Event>) {
        let event = match event {
            Ok(event) if event.need_rescan() => return self.lost_track(),
            Ok(event) => event,
            Err(error) => {
                tracing::warn!(reason = reason(&error), "lost changes of files");
                return self.lost_track();
            }
        };
        let is_read =
            matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write));
        if is_read {
            return;
        }
        let may_be_new_folder = matches!(
            event.kind,
            EventKind::Create(CreateKind::Folder | CreateKind::Any)
                | EventKind::Modify(ModifyKind::Name(RenameMode::To | RenameMode::Any))
        );
        for path in event.paths.iter().filter_map(|path| self.relative(path)) {
            if may_be_new_folder && self.appeared.try_send(path.clone()).is_err() {
                self.lost_track();
            }
            self.pending.add(path);
        }
    }

    /// Anything may have changed, and folders may be unwatched.
    fn lost_track(&self) {
        self.pending.add(RelPath::root());
        if self.appeared.try_send(RelPath::root()).is_err() {
            tracing::debug!("folders appear faster than they can be watched");
        }
    }

    /// The path from the root, unless nobody can or should care.
    fn relative(&self, path: &Path) -> Option<RelPath> {
        let relative = path.strip_prefix(&self.base).ok()?.to_str()?;
        let ignored = relative.split('/').any(|name| is_skipped(name) || name.starts_with(TEMP_PREFIX));
        if ignored { None } else { RelPath::parse(relative, "").ok() }
    }
}

/// What went wrong, without the place on the host that the error's own text may name.
pub(super) fn reason(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::Generic(_) => "unknown reason".to_owned(),
        ErrorKind::Io(error) => error.to_string(),
        ErrorKind::PathNotFound => "a folder is gone".to_owned(),
        ErrorKind::WatchNotFound => "a watch is gone".to_owned(),
        ErrorKind::InvalidConfig(_) => "invalid configuration".to_owned(),
        ErrorKind::MaxFilesWatch => "the limit of watches is reached".to_owned(),
    }
}

//! The task that looks at what changed, and reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use toolgate_host::files::{Entry, Kind as EntryKind, Walk};
use toolgate_host::{Changes, Clock, FileError, RelPath, Tasks, Watch};

use super::Shared;
use crate::vault::index::{Prepared, Stamp};
use crate::vault::{is_hidden, is_note};

/// The most files and folders that are looked at.
const MOST_ENTRIES: usize = 400_000;
/// How many notes are read before they are put into the index.
const AT_ONCE: usize = 256;
/// How often everything is looked at.
const ONCE_IN_A_WHILE: Duration = Duration::from_secs(60);
/// The watch gathers changes for others; who asks here does not wait for it.
const QUIET: Duration = Duration::from_millis(100);
/// A folder that changed less than this before it was looked at may have changed again at the same time.
const SETTLED_MS: u64 = 100;
/// What the system's watch leaves out.
const UNWATCHED: [&str; 2] = ["node_modules", "target"];

/// Looks at what changed, and reads it.
pub(super) struct Keeping {
    shared: Arc<Shared>,
    tasks: Tasks,
    watch: Option<Watch>,
    /// Every folder and when it was changed; never, if it has to be looked at in any case.
    folders: BTreeMap<RelPath, Option<u64>>,
    all_seen: Option<Instant>,
    clock: Clock,
}

impl Keeping {
    pub(super) fn new(shared: Arc<Shared>, tasks: Tasks) -> Self {
        Self { shared, tasks, watch: None, folders: BTreeMap::new(), all_seen: None, clock: Clock::system() }
    }

    /// Answers everyone who asks, when the index is as the notes are.
    pub(super) async fn run(mut self, mut requests: mpsc::Receiver<oneshot::Sender<()>>) {
        while let Some(first) = requests.recv().await {
            // Whoever asks while this goes on asks again: the files may have changed since it began.
            let mut waiting = vec![first];
            while let Ok(next) = requests.try_recv() {
                waiting.push(next);
            }
            self.refresh().await;
            for answer in waiting {
                if answer.send(()).is_err() {
                    tracing::trace!("a search did not wait");
                }
            }
            if self.all_seen.is_some_and(|seen| seen.elapsed() > ONCE_IN_A_WHILE) {
                self.look_at_all().await;
            }
        }
    }

    async fn refresh(&mut self) {
        let mut changed = std::mem::take(&mut *self.shared.touched());
        let told = self.watch.as_ref().filter(|watch| watch.is_prompt()).map(Watch::so_far);
        let Some(told) = told else {
            self.begin().await;
            self.look_at_all().await;
            return self.update(changed).await;
        };
        match told {
            Some(Changes::Many) => self.look_at_all().await,
            Some(Changes::Paths(paths)) => changed.extend(paths),
            None => {}
        }
        self.look_at_folders(&mut changed).await;
        self.update(changed).await;
    }

    /// Begins to watch, before the first look: what changes meanwhile is then told.
    async fn begin(&mut self) {
        if self.watch.is_none() {
            match self.shared.root.watch(&self.tasks, QUIET).await {
                Ok(watch) => self.watch = Some(watch),
                Err(error) => {
                    tracing::warn!(%error, "the vault cannot be watched; every search looks at all notes")
                }
            }
        }
    }

    /// Compares every note with what is known of it.
    async fn look_at_all(&mut self) {
        self.all_seen = Some(Instant::now());
        self.folders.clear();
        match self.shared.root.walk(MOST_ENTRIES, hides).await {
            Ok(walk) => self.compare(&RelPath::root(), walk).await,
            Err(error) => {
                tracing::warn!(%error, "the notes of the vault cannot be looked at");
                self.forget(&RelPath::root());
            }
        }
        self.shared.index().shrink();
    }

    /// Adds what changed in folders that are not as they were.
    async fn look_at_folders(&mut self, changed: &mut BTreeSet<RelPath>) {
        let known: Vec<RelPath> = self.folders.keys().cloned().collect();
        let Ok(now) = self.shared.root.look(known.clone()).await else { return };
        for (folder, entry) in known.into_iter().zip(now) {
            let Some(entry) = entry.filter(|entry| entry.kind == EntryKind::Dir) else {
                changed.insert(folder);
                continue;
            };
            let before = self.folders.get(&folder).copied().flatten();
            if before == Some(entry.modified_unix_ms) {
                continue;
            }
            let stamp = self.stamp(&folder, &entry);
            self.folders.insert(folder.clone(), stamp);
            self.look_into(&folder, changed).await;
        }
    }

    /// Adds what is in one folder and is not as it is known, but not what is in the folders below it.
    async fn look_into(&self, folder: &RelPath, changed: &mut BTreeSet<RelPath>) {
        let Ok(listing) = self.shared.root.list(folder, MOST_ENTRIES).await else {
            changed.insert(folder.clone());
            return;
        };
        let index = self.shared.known();
        let mut gone: BTreeSet<&str> =
            index.below(folder.as_str()).filter(|path| parent(path) == folder.as_str()).collect();
        for entry in listing.entries.iter().filter(|entry| entry.openable && !hides(&entry.name)) {
            let Ok(path) = folder.join(&entry.name) else { continue };
            match entry.kind {
                EntryKind::Dir if !self.folders.contains_key(&path) => drop(changed.insert(path)),
                EntryKind::File if is_note(&path) => {
                    gone.remove(path.as_str());
                    if index.at(path.as_str()).is_none_or(|known| known.stamp != Stamp::of(entry)) {
                        changed.insert(path);
                    }
                }
                EntryKind::Dir | EntryKind::File | EntryKind::Symlink | EntryKind::Other => {}
            }
        }
        changed.extend(gone.into_iter().filter_map(|path| RelPath::parse(path, "").ok()));
    }

    /// Looks at what is said to have changed.
    async fn update(&mut self, changed: BTreeSet<RelPath>) {
        let paths: Vec<RelPath> =
            changed.into_iter().filter(|path| !is_hidden(Path::new(path.as_str()))).collect();
        if paths.is_empty() {
            return;
        }
        let Ok(entries) = self.shared.root.look(paths.clone()).await else { return };
        let mut read = Vec::new();
        for (path, entry) in paths.into_iter().zip(entries) {
            match entry {
                Some(entry) if entry.kind == EntryKind::Dir => {
                    match self.shared.root.walk_under(&path, MOST_ENTRIES, hides).await {
                        Ok(walk) => self.compare(&path, walk).await,
                        Err(_) => self.forget(&path),
                    }
                }
                Some(entry) if entry.kind == EntryKind::File && is_note(&path) => {
                    read.push((path, Stamp::of(&entry)))
                }
                Some(_) | None => self.forget(&path),
            }
        }
        self.read(read).await;
    }

    /// Makes what is known of a folder what a walk found there.
    async fn compare(&mut self, folder: &RelPath, walk: Walk) {
        if walk.truncated {
            tracing::warn!(entries = MOST_ENTRIES, "the vault has too many files to search them all");
        }
        let looked = self.shared.root.look(walk.folders.clone()).await.unwrap_or_default();
        for (folder, entry) in walk.folders.into_iter().zip(looked) {
            let stamp = entry.and_then(|entry| self.stamp(&folder, &entry));
            self.folders.insert(folder, stamp);
        }
        let mut read = Vec::new();
        {
            let mut index = self.shared.index();
            let mut gone: BTreeSet<String> = index.below(folder.as_str()).map(ToOwned::to_owned).collect();
            for file in walk.files.into_iter().filter(|file| is_note(&file.path)) {
                gone.remove(file.path.as_str());
                let stamp = Stamp { size: file.size, modified_unix_ms: file.modified_unix_ms };
                if index.at(file.path.as_str()).is_none_or(|known| known.stamp != stamp) {
                    read.push((file.path, stamp));
                }
            }
            gone.iter().for_each(|path| index.remove(path));
        }
        self.read(read).await;
    }

    /// Reads notes into the index.
    async fn read(&self, notes: Vec<(RelPath, Stamp)>) {
        for some in notes.chunks(AT_ONCE) {
            let stamps: BTreeMap<RelPath, Stamp> = some.iter().cloned().collect();
            let paths = some.iter().map(|(path, _)| path.clone()).collect();
            let prepare = move |path: RelPath, content: Result<_, FileError>| {
                prepare(&path, stamps.get(&path).copied(), content).ok_or(path)
            };
            let Ok(read) = self.shared.root.read_each(paths, self.shared.max_bytes, prepare).await else {
                return;
            };
            let mut index = self.shared.index();
            for note in read {
                match note {
                    Ok(note) => index.put(note),
                    Err(gone) => index.remove(gone.as_str()),
                }
            }
        }
    }

    fn forget(&mut self, path: &RelPath) {
        self.folders.retain(|folder, _| !crate::vault::index::is_below(folder.as_str(), path.as_str()));
        let mut index = self.shared.index();
        let gone: Vec<String> = index.below(path.as_str()).map(ToOwned::to_owned).collect();
        gone.iter().for_each(|path| index.remove(path));
    }

    /// When a folder was changed, if that will tell whether it changes again.
    fn stamp(&self, folder: &RelPath, entry: &Entry) -> Option<u64> {
        let watched = !folder.as_str().split('/').any(|name| UNWATCHED.contains(&name));
        let settled = entry.modified_unix_ms.saturating_add(SETTLED_MS) < self.clock.unix_ms();
        (watched && settled).then_some(entry.modified_unix_ms)
    }
}

impl Stamp {
    fn of(entry: &Entry) -> Self {
        Self { size: entry.size, modified_unix_ms: entry.modified_unix_ms }
    }
}

/// A note as it was read; nothing if it is gone. One that cannot be read is known by its name.
fn prepare(
    path: &RelPath,
    seen: Option<Stamp>,
    content: Result<toolgate_host::files::FileContent, FileError>,
) -> Option<Prepared> {
    match content {
        Ok(content) => {
            let stamp = Stamp { size: content.total_size, modified_unix_ms: content.modified_unix_ms };
            Some(Prepared::new(path, stamp, Some(&String::from_utf8_lossy(&content.bytes))))
        }
        Err(FileError::NotFound { .. }) => None,
        Err(error) => {
            tracing::debug!(%error, "a note is searched by its name only");
            Some(Prepared::new(path, seen?, None))
        }
    }
}

fn hides(name: &str) -> bool {
    name.starts_with('.')
}

/// The folder that a file is in.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

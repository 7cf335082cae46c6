//! Files below one folder, and nothing else: the confined root.
//!
//! Every path is resolved by the kernel beneath the open folder (`openat2` on Linux, by hand elsewhere), so
//! no name, symbolic link or race leads out. What a path may look like is decided once, in [`RelPath`].

mod error;
mod list;
mod lock;
mod path;
mod read;
mod sweep;
mod temp;
mod walk;
mod write;

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::tasks::TaskFailed;

pub use error::FileError;
pub use list::{Entry, Kind, Listing};
pub use path::RelPath;
pub use read::{FileContent, ReadOptions};
pub use walk::{Walk, WalkedFile};
pub use write::{WriteMode, WriteOptions, Written};

/// How the names of files that are being written begin. They are hidden, and refused as paths.
pub const TEMP_PREFIX: &str = ".toolgate-tmp-";

/// What a file operation answers.
pub type Result<T, E = FileError> = std::result::Result<T, E>;

/// A folder whose files can be used, and beyond which nothing can. Clones are the same folder.
///
/// It stays the folder that was opened, even if that is renamed. Hard links are files of their own here: one
/// to a file outside can be read, but no write goes through it.
#[derive(Clone, Debug)]
pub struct Root(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    dir: Dir,
    path: PathBuf,
}

impl Root {
    /// Opens a folder that exists.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let dir = Dir::open_ambient_dir(path, ambient_authority())
            .map_err(|error| FileError::from_io(&RelPath::root(), error))?;
        Ok(Self(Arc::new(Inner { dir, path: path.to_path_buf() })))
    }

    /// Opens a folder; makes it, readable by its owner only, and the folders above it, if it is missing.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|error| FileError::from_io(&RelPath::root(), error))?;
        Self::open(path)
    }

    /// Where the folder is on the host. Not for messages to callers.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Where the folder is on the host, from the top and without links. Not for messages to callers.
    pub async fn place(&self) -> Result<PathBuf> {
        let path = self.path().to_path_buf();
        let failed = |error| FileError::from_io(&RelPath::root(), error);
        self.blocking(&RelPath::root(), move |_, _| std::fs::canonicalize(&path).map_err(failed)).await
    }

    /// Makes a folder and those above it, unless it is there.
    pub async fn make_folder(&self, path: &RelPath) -> Result<()> {
        self.blocking(path, write::make_folder).await
    }

    /// Makes a symbolic link, in the place of another one, to any place of the host. It is not followed from here.
    pub async fn link(&self, path: &RelPath, target: PathBuf) -> Result<()> {
        self.blocking(path, move |dir, path| write::link(dir, path, &target)).await
    }

    /// Reads a file, or a part of it.
    pub async fn read(&self, path: &RelPath, options: ReadOptions) -> Result<FileContent> {
        self.blocking(path, move |dir, path| read::read(dir, path, &options)).await
    }

    /// Writes a file as a whole: after a failure or a crash there is the old file or the new one. The permission
    /// bits of the old file are kept; its extended attributes, and other hard links to it, are not.
    ///
    /// A write that has begun ends by itself, even if nobody waits for it any more.
    pub async fn write(&self, path: &RelPath, bytes: Vec<u8>, options: WriteOptions) -> Result<Written> {
        self.blocking(path, move |dir, path| write::write(dir, path, &bytes, &options)).await
    }

    /// Changes a file as a whole: `change` gets what it holds, or nothing if it is not there, and says what it is to
    /// hold. No other writer comes in between. The mode of the options does not count; an old file may have no more
    /// than `max_bytes` either. Where `change` fails, its error is the inner one and nothing is changed.
    pub async fn change<E: Send + 'static>(
        &self,
        path: &RelPath,
        options: WriteOptions,
        change: impl FnOnce(Option<Vec<u8>>) -> Result<Vec<u8>, E> + Send + 'static,
    ) -> Result<Result<Written, E>> {
        self.blocking(path, move |dir, path| write::change(dir, path, &options, change)).await
    }

    /// Removes a file, or a symbolic link itself. Folders stay.
    pub async fn remove_file(&self, path: &RelPath) -> Result<()> {
        self.blocking(path, write::remove).await
    }

    /// Reads whole files one after the other, and hands each to `visit` as it is read.
    pub async fn read_each<T: Send + 'static>(
        &self,
        paths: Vec<RelPath>,
        max_bytes: u64,
        mut visit: impl FnMut(RelPath, Result<FileContent>) -> T + Send + 'static,
    ) -> Result<Vec<T>> {
        self.blocking(&RelPath::root(), move |dir, _| {
            let options = ReadOptions::whole(max_bytes);
            let read = paths.into_iter().map(|path| {
                let content = read::read(dir, &path, &options);
                visit(path, content)
            });
            Ok(read.collect())
        })
        .await
    }

    /// Where a path really leads, from the root and without links.
    pub async fn real(&self, path: &RelPath) -> Result<RelPath> {
        self.blocking(path, list::real).await
    }

    /// What stands at each of these paths, if anything does; symbolic links are not followed.
    pub async fn look(&self, paths: Vec<RelPath>) -> Result<Vec<Option<Entry>>> {
        self.blocking(&RelPath::root(), move |dir, _| Ok(list::look(dir, &paths))).await
    }

    /// Lists a folder, by name, at most `max_entries` of it.
    pub async fn list(&self, path: &RelPath, max_entries: usize) -> Result<Listing> {
        self.blocking(path, move |dir, path| list::list(dir, path, max_entries)).await
    }

    /// What stands at a path; symbolic links are followed as long as they stay inside.
    pub async fn stat(&self, path: &RelPath) -> Result<Entry> {
        self.blocking(path, list::stat).await
    }

    /// Whether anything stands at a path; a path that leads out is an error.
    pub async fn exists(&self, path: &RelPath) -> Result<bool> {
        match self.stat(path).await {
            Ok(_) => Ok(true),
            Err(FileError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// All regular files, sorted by path; looks at no more than `max_entries` files and folders. `skip` gets the
    /// name of each and says which to leave out, folders with all that is in them.
    pub async fn walk(
        &self,
        max_entries: usize,
        skip: impl Fn(&str) -> bool + Send + 'static,
    ) -> Result<Walk> {
        self.walk_under(&RelPath::root(), max_entries, skip).await
    }

    /// Like [`walk`](Self::walk), below one folder. The paths stay relative to the root.
    pub async fn walk_under(
        &self,
        folder: &RelPath,
        max_entries: usize,
        skip: impl Fn(&str) -> bool + Send + 'static,
    ) -> Result<Walk> {
        self.blocking(folder, move |dir, folder| walk::walk(dir, folder, max_entries, &skip)).await
    }

    /// Removes hidden files that writers left when they were killed, and says how many there were. Safe while
    /// others write.
    pub async fn sweep(&self, max_entries: usize) -> Result<usize> {
        self.blocking(&RelPath::root(), move |dir, root| sweep::sweep(dir, root, max_entries)).await
    }

    /// A walk on this thread.
    pub(crate) fn walk_now(
        &self,
        folder: &RelPath,
        max_entries: usize,
        skip: &dyn Fn(&str) -> bool,
    ) -> Result<Walk> {
        walk::walk(&self.0.dir, folder, max_entries, skip)
    }

    /// Whether a folder, and not a symbolic link to one, stands at a path.
    pub(crate) fn is_folder(&self, path: &RelPath) -> bool {
        self.0.dir.symlink_metadata(path.native()).is_ok_and(|metadata| metadata.is_dir())
    }

    async fn blocking<T, F>(&self, path: &RelPath, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Dir, &RelPath) -> Result<T> + Send + 'static,
    {
        let (root, owned) = (self.clone(), path.clone());
        let outcome = tokio::task::spawn_blocking(move || work(&root.0.dir, &owned)).await;
        outcome.unwrap_or_else(|error| {
            let source = std::io::Error::other(TaskFailed::from_join(error));
            Err(FileError::Io { path: path.named(), source })
        })
    }
}

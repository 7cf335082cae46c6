//! A root with something to protect beside it.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::runtime::Runtime;
use toolgate_host::files::{FileContent, ReadOptions, WriteMode, WriteOptions, Written};
use toolgate_host::{FileError, RelPath, Root};

pub(crate) const SECRET: &str = "the secret outside";
/// A name that exists only outside.
pub(crate) const MARKER: &str = "marker-outside";
pub(crate) const LIMIT: u64 = 1_000;

/// `root/` is confined; `outside/secret.txt` and `root-evil/secret.txt` must stay as they are.
pub(crate) struct Scene {
    pub(crate) place: TempDir,
    pub(crate) root: Root,
    pub(crate) runtime: Runtime,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        for folder in ["outside", "root-evil"] {
            fs::create_dir(place.path().join(folder)).unwrap();
            fs::write(place.path().join(folder).join("secret.txt"), SECRET).unwrap();
            fs::write(place.path().join(folder).join(MARKER), "").unwrap();
        }
        let root = Root::create(place.path().join("root")).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { place, root, runtime }
    }

    /// A path of the host below the root.
    pub(crate) fn host(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.place.path().join("outside")
    }

    pub(crate) fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.host(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, path: &str) {
        std::os::unix::fs::symlink(target, self.host(path)).unwrap();
    }

    pub(crate) fn read_with(&self, path: &str, options: ReadOptions) -> Result<FileContent, FileError> {
        let path = RelPath::parse(path, "workspace")?;
        self.runtime.block_on(self.root.read(&path, options))
    }

    pub(crate) fn read(&self, path: &str) -> Result<String, FileError> {
        let content = self.read_with(path, ReadOptions::whole(LIMIT))?;
        Ok(String::from_utf8(content.bytes).unwrap())
    }

    pub(crate) fn write(&self, path: &str, text: &str, mode: WriteMode) -> Result<Written, FileError> {
        let path = RelPath::parse(path, "workspace")?;
        let options = WriteOptions { create_dirs: true, mode, max_bytes: LIMIT, protected: |_| false };
        self.runtime.block_on(self.root.write(&path, text.into(), options))
    }

    pub(crate) fn names(&self, path: &str) -> Result<Vec<String>, FileError> {
        let path = RelPath::parse(path, "workspace")?;
        let listing = self.runtime.block_on(self.root.list(&path, 100))?;
        Ok(listing.entries.into_iter().map(|entry| entry.name).collect())
    }

    /// Fails if anything outside was changed, or something was added.
    #[track_caller]
    pub(crate) fn assert_outside_untouched(&self) {
        for folder in ["outside", "root-evil"] {
            let folder = self.place.path().join(folder);
            assert_eq!(fs::read_to_string(folder.join("secret.txt")).unwrap(), SECRET);
            assert_eq!(fs::read_dir(folder).unwrap().count(), 2);
        }
        assert_eq!(fs::read_dir(self.place.path()).unwrap().count(), 3);
    }

    #[track_caller]
    pub(crate) fn assert_no_litter(&self, path: &str) {
        for entry in fs::read_dir(self.host(path)).unwrap() {
            let name = entry.unwrap().file_name();
            assert!(!name.to_string_lossy().starts_with(toolgate_host::files::TEMP_PREFIX), "{name:?}");
        }
    }
}

/// The kind of an error, as a word to compare with; `ok` without one.
pub(crate) fn kind<T>(outcome: &Result<T, FileError>) -> &'static str {
    let Err(error) = outcome else { return "ok" };
    match error {
        FileError::NotFound { .. } => "not found",
        FileError::Outside { .. } => "outside",
        FileError::NotAFile { .. } => "not a file",
        FileError::NotADirectory { .. } => "not a folder",
        FileError::TooLarge { .. } => "too large",
        FileError::AlreadyExists { .. } => "exists",
        FileError::Permission { .. } => "permission",
        FileError::Protected { .. } => "protected",
        FileError::InvalidPath { .. } => "invalid",
        FileError::Busy { .. } => "busy",
        FileError::NoSpace { .. } => "no space",
        FileError::Io { .. } => "io",
    }
}

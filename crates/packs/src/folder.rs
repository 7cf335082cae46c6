//! The folders that packs work in.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use toolgate_core::{Error, Kind, Result};
use toolgate_host::{FileError, Root};

/// A configured folder cannot be opened. This is for the person who configured it, not for callers.
#[derive(Debug, thiserror::Error)]
#[error("cannot open the folder `{}`", folder.display())]
pub struct CannotOpen {
    /// The folder.
    pub folder: PathBuf,
    /// Why.
    pub source: FileError,
}

impl CannotOpen {
    /// Opens a folder that a person named. It is not made: a typo should not become an empty folder.
    pub(crate) fn or_open(folder: &Path) -> Result<Root, Self> {
        Root::open(folder).map_err(|source| Self { folder: folder.to_owned(), source })
    }
}

/// A folder of our own, made when it is first needed and for its owner only.
#[derive(Debug)]
pub(crate) struct OwnFolder {
    path: PathBuf,
    root: OnceLock<Root>,
}

impl OwnFolder {
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self { path, root: OnceLock::new() }
    }

    pub(crate) fn root(&self) -> Result<Root> {
        if let Some(root) = self.root.get() {
            return Ok(root.clone());
        }
        let root = Root::create(&self.path)
            .map_err(|error| Error::new(Kind::Internal, "the folder cannot be opened").because(error))?;
        Ok(self.root.get_or_init(|| root).clone())
    }
}

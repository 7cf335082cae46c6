//! All files of a folder and of the folders in it, bounded.

use cap_std::fs::Dir;

use super::list::{first_names, modified_unix_ms};
use super::{FileError, RelPath, Result};

/// The files that a walk found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Regular files, sorted by path. Symbolic links are neither listed nor followed.
    pub files: Vec<WalkedFile>,
    /// Folders that were entered, the first one included, sorted by path.
    pub folders: Vec<RelPath>,
    /// Whether the walk stopped at its limit.
    pub truncated: bool,
    /// How many folders could not be opened, and names were not UTF-8.
    pub passed_over: usize,
}

/// A file that a walk found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkedFile {
    /// Where it is, from the root.
    pub path: RelPath,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last changed, in milliseconds since 1970.
    pub modified_unix_ms: u64,
}

/// What is still to be visited, and what was found.
struct Walker<'a> {
    dir: &'a Dir,
    skip: &'a dyn Fn(&str) -> bool,
    budget: usize,
    ahead: Vec<RelPath>,
    found: Walk,
}

pub(super) fn walk(
    dir: &Dir,
    folder: &RelPath,
    max_entries: usize,
    skip: &dyn Fn(&str) -> bool,
) -> Result<Walk> {
    let mut walker = Walker { dir, skip, budget: max_entries, ahead: Vec::new(), found: Walk::default() };
    walker.visit(folder)?;
    while let Some(next) = walker.ahead.pop() {
        match walker.visit(&next) {
            Ok(()) | Err(FileError::NotFound { .. }) => {}
            Err(_) => walker.found.passed_over += 1,
        }
    }
    let mut found = walker.found;
    found.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    found.folders.sort_unstable();
    Ok(found)
}

impl Walker<'_> {
    fn visit(&mut self, path: &RelPath) -> Result<()> {
        let failed = |error| FileError::from_io(path, error);
        let folder = self.dir.open_dir(path.native()).map_err(failed)?;
        // By name, so that a walk that stops at its limit stops at the same place each time.
        let (names, more) = first_names(&folder, self.budget).map_err(failed)?;
        self.budget -= names.len();
        self.found.truncated |= more;
        self.found.folders.push(path.clone());
        let already_ahead = self.ahead.len();
        for name in names {
            match name.into_string() {
                Ok(name) if (self.skip)(&name) => {}
                Ok(name) => self.note(&folder, path.child(&name), &name),
                Err(_) => self.found.passed_over += 1,
            }
        }
        self.ahead[already_ahead..].reverse();
        Ok(())
    }

    fn note(&mut self, folder: &Dir, path: RelPath, name: &str) {
        // Whatever vanished since the folder was read is not there.
        let Ok(metadata) = folder.symlink_metadata(name) else {
            return;
        };
        if metadata.is_dir() {
            self.ahead.push(path);
        } else if metadata.is_file() {
            let modified_unix_ms = modified_unix_ms(&metadata);
            self.found.files.push(WalkedFile { path, size: metadata.len(), modified_unix_ms });
        }
    }
}

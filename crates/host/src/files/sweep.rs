//! Removing what writers that died left behind.

use std::time::Duration;

use cap_std::fs::Dir;

use super::lock::FolderLock;
use super::{FileError, RelPath, Result, TEMP_PREFIX, walk};

/// Removes the hidden files of dead writers, and says how many there were.
pub(super) fn sweep(dir: &Dir, folder: &RelPath, max_entries: usize) -> Result<usize> {
    let walk = walk::walk(dir, folder, max_entries, &|_| false)?;
    // A folder that vanished or cannot be opened has nothing that we could remove.
    Ok(walk.folders.iter().map(|folder| sweep_folder(dir, folder).unwrap_or(0)).sum())
}

fn sweep_folder(dir: &Dir, path: &RelPath) -> Result<usize> {
    let failed = |error| FileError::from_io(path, error);
    let folder = dir.open_dir(path.native()).map_err(failed)?;
    let mut names = Vec::new();
    for entry in folder.entries().map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if name.as_encoded_bytes().starts_with(TEMP_PREFIX.as_bytes()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Ok(0);
    }
    // Every writer holds the lock while its hidden file exists: who gets it knows that the rest is dead.
    let lock = FolderLock::acquire(&folder, path, Duration::ZERO)?;
    if !lock.is_held() {
        return Ok(0);
    }
    Ok(names.iter().filter(|name| folder.remove_file(name).is_ok()).count())
}

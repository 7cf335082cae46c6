//! Which of the files that a client reads an entry belongs in.

use std::path::{Path, PathBuf};

use crate::client::Client;
use crate::config_file::ConfigFile;
use crate::problem::Problem;

/// The one that has the entry; else the first that is there; else the first whose folder is there; else the first.
pub(crate) fn file(
    client: Client,
    candidates: &[PathBuf],
    name: &str,
) -> Result<Option<ConfigFile>, Problem> {
    let there: Vec<&PathBuf> = candidates.iter().filter(|path| is_there(path)).collect();
    let read =
        |path: &&PathBuf| ConfigFile::read(client, path).ok().filter(|file| file.entry(name).is_some());
    if let Some(file) = there.iter().find_map(read) {
        return Ok(Some(file));
    }
    let in_folder = || candidates.iter().find(|path| path.parent().is_some_and(Path::is_dir));
    let path = there.first().copied().or_else(in_folder).or_else(|| candidates.first());
    path.map(|path| ConfigFile::read(client, path)).transpose()
}

/// Also a link that leads to nothing: its owner has chosen the place.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

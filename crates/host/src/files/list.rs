//! Listing a folder and looking at one entry.

use std::collections::BinaryHeap;
use std::ffi::OsString;
use std::io;

use cap_std::fs::{Dir, FileType, Metadata};

use super::{FileError, RelPath, Result, TEMP_PREFIX};
use crate::clock;

/// What stands at a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Dir,
    /// A symbolic link, wherever it leads.
    Symlink,
    /// A pipe, socket or device. It cannot be opened.
    Other,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name. What is not UTF-8 in it is replaced by `U+FFFD`.
    pub name: String,
    /// Whether the name can be used as a path; one that is not UTF-8 is listed, but cannot be opened.
    pub openable: bool,
    /// What it is.
    pub kind: Kind,
    /// Its size in bytes; 0 for all but files.
    pub size: u64,
    /// When it was last changed, in milliseconds since 1970.
    pub modified_unix_ms: u64,
}

/// What a folder holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The first entries, sorted by name.
    pub entries: Vec<Entry>,
    /// Whether there are more than these.
    pub truncated: bool,
}

pub(super) fn list(dir: &Dir, path: &RelPath, max_entries: usize) -> Result<Listing> {
    let failed = |error| FileError::from_io(path, error);
    let folder = dir.open_dir(path.native()).map_err(failed)?;
    let (names, truncated) = first_names(&folder, max_entries).map_err(failed)?;
    // An entry that vanished since is left out.
    let entries = names.into_iter().filter_map(|name| {
        let metadata = folder.symlink_metadata(&name).ok()?;
        Some(Entry::new(name, &metadata))
    });
    Ok(Listing { entries: entries.collect(), truncated })
}

/// The first names of a folder in order, at most `limit`, and whether there are more. Files that are being
/// written are no names.
pub(super) fn first_names(folder: &Dir, limit: usize) -> io::Result<(Vec<OsString>, bool)> {
    // The largest name is on top, so that the smallest are kept without holding a huge folder in memory.
    let mut names = BinaryHeap::new();
    let mut more = false;
    for entry in folder.entries()? {
        let name = entry?.file_name();
        if name.as_encoded_bytes().starts_with(TEMP_PREFIX.as_bytes()) {
            continue;
        }
        names.push(name);
        if names.len() > limit {
            names.pop();
            more = true;
        }
    }
    Ok((names.into_sorted_vec(), more))
}

pub(super) fn stat(dir: &Dir, path: &RelPath) -> Result<Entry> {
    let metadata = dir.metadata(path.native()).map_err(|error| FileError::from_io(path, error))?;
    Ok(Entry::new(path.file_name().unwrap_or_default().into(), &metadata))
}

/// Where a path really leads, without links.
pub(super) fn real(dir: &Dir, path: &RelPath) -> Result<RelPath> {
    let real = dir.canonicalize(path.native()).map_err(|error| FileError::from_io(path, error))?;
    let text = real.to_str().ok_or_else(|| FileError::InvalidPath {
        path: path.named(),
        reason: "it leads to a name that is not UTF-8",
    })?;
    RelPath::parse(text, "")
}

/// What stands at each of these paths, if anything does; links are not followed at the end of a path.
pub(super) fn look(dir: &Dir, paths: &[RelPath]) -> Vec<Option<Entry>> {
    let entry = |path: &RelPath| {
        let metadata = dir.symlink_metadata(path.native()).ok()?;
        Some(Entry::new(path.file_name().unwrap_or_default().into(), &metadata))
    };
    paths.iter().map(entry).collect()
}

impl Entry {
    fn new(name: OsString, metadata: &Metadata) -> Self {
        let kind = Kind::of(metadata.file_type());
        let (name, openable) = match name.into_string() {
            Ok(name) => (name, true),
            Err(name) => (name.to_string_lossy().into_owned(), false),
        };
        let size = if kind == Kind::File { metadata.len() } else { 0 };
        Self { name, openable, kind, size, modified_unix_ms: modified_unix_ms(metadata) }
    }
}

impl Kind {
    fn of(file_type: FileType) -> Self {
        if file_type.is_file() {
            Self::File
        } else if file_type.is_dir() {
            Self::Dir
        } else if file_type.is_symlink() {
            Self::Symlink
        } else {
            Self::Other
        }
    }
}

pub(super) fn modified_unix_ms(metadata: &Metadata) -> u64 {
    metadata.modified().map_or(0, |time| clock::unix_ms(time.into_std()))
}

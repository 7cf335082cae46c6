//! Writing a file as a whole, by one writer at a time.

use cap_std::fs::Dir;

use super::{FileError, RelPath, Result};

/// What to do with what is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteMode {
    /// Take its place.
    #[default]
    Replace,
    /// Come after it.
    Append,
    /// Refuse: the file must be new.
    CreateNew,
}

/// How to write.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// Whether missing folders on the way are made.
    pub create_dirs: bool,
    /// What to do with what is there already.
    pub mode: WriteMode,
    /// The most bytes that the file may have afterwards.
    pub max_bytes: u64,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// How many bytes the file has now.
    pub total_size: u64,
    /// How many bytes were written by this call.
    pub bytes: u64,
    /// Whether the file is new.
    pub created: bool,
}

pub(super) fn write(dir: &Dir, path: &RelPath, bytes: &[u8], options: &WriteOptions) -> Result<Written> {
    _ = (dir, bytes, options);
    Err(FileError::Io {
        path: path.to_string(),
        source: std::io::ErrorKind::Unsupported.into(),
    })
}

pub(super) fn remove(dir: &Dir, path: &RelPath) -> Result<()> {
    dir.remove_file(path.native())
        .map_err(|error| FileError::from_io(path, error))
}

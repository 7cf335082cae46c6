//! Reading a file, bounded, and only if it is a regular one.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use cap_std::fs::{Dir, File, Metadata, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use super::list::modified_unix_ms;
use super::{FileError, RelPath, Result};

/// Which part of a file to read, and how much at most.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Where to begin, in bytes. Beyond the end there is nothing to read, which is no error.
    pub offset: u64,
    /// How many bytes; all that follow if absent.
    pub length: Option<u64>,
    /// The most that may be read. Asking for more is refused rather than cut.
    pub max_bytes: u64,
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    /// The bytes from `offset` on.
    pub bytes: Vec<u8>,
    /// How large the whole file is.
    pub total_size: u64,
    /// Where `bytes` begins.
    pub offset: u64,
    /// When it was last changed, in milliseconds since 1970.
    pub modified_unix_ms: u64,
}

impl ReadOptions {
    /// The whole file, if it has no more than `max_bytes`.
    pub const fn whole(max_bytes: u64) -> Self {
        Self { offset: 0, length: None, max_bytes }
    }
}

pub(super) fn read(dir: &Dir, path: &RelPath, options: &ReadOptions) -> Result<FileContent> {
    read_at(dir, path.native(), path, options)
}

/// Reads the file at `at`, seen from `dir`; errors call it `path`.
pub(super) fn read_at(dir: &Dir, at: &Path, path: &RelPath, options: &ReadOptions) -> Result<FileContent> {
    let (mut file, metadata) = open_regular(dir, at, path)?;
    let size = metadata.len();
    let rest = size.saturating_sub(options.offset);
    let wanted = options.length.map_or(rest, |length| length.min(rest));
    if wanted > options.max_bytes {
        return Err(FileError::TooLarge { path: path.named(), size, limit: options.max_bytes });
    }
    let failed = |error| FileError::from_io(path, error);
    let mut bytes = Vec::with_capacity(usize::try_from(wanted).unwrap_or(0));
    if wanted > 0 {
        file.seek(SeekFrom::Start(options.offset)).map_err(failed)?;
        // A file that grows meanwhile is read up to the size it had when it was opened.
        file.by_ref().take(wanted).read_to_end(&mut bytes).map_err(failed)?;
    }
    let shrank = (bytes.len() as u64) < wanted;
    let metadata = if shrank { file.metadata().map_err(failed)? } else { metadata };
    Ok(FileContent {
        bytes,
        total_size: metadata.len(),
        offset: options.offset,
        modified_unix_ms: modified_unix_ms(&metadata),
    })
}

/// Opens a regular file for reading. A pipe, socket or device is refused, and never waited for. `path` is
/// what errors name; `at` is where the file is, seen from `dir`.
pub(super) fn open_regular(dir: &Dir, at: &Path, path: &RelPath) -> Result<(File, Metadata)> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    let opened = dir.open_with(at, &options).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = opened.map_err(|error| FileError::from_io(path, error))?;
    if !metadata.is_file() {
        return Err(FileError::NotAFile { path: path.named() });
    }
    Ok((file, metadata))
}

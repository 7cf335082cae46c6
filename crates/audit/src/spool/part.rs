//! One file of a spool.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolgate_host::MappedFile;

use super::batch::{About, Batch};

/// A file that lines are added to: through memory where that is safe, and by writing where it is not.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) number: u32,
    pub(super) path: PathBuf,
    /// Locked until it is closed.
    pub(super) file: Arc<File>,
    /// Zeros behind the last line are room.
    mapped: Option<MappedFile>,
    /// Where it ends if it is not mapped.
    limit: u64,
    /// How many bytes of whole lines it holds.
    pub(super) size: u64,
    /// How many of them are in the store.
    pub(super) copied: u64,
    /// What is known of those that are not; a line of which nothing is known is in none.
    pub(super) batches: VecDeque<Batch>,
    /// Nothing may follow: a line was cut off, and could not be taken back.
    closed: bool,
    /// It holds something that is no record, so it is not removed.
    pub(super) kept: bool,
    /// The disk knows its name, not only its content.
    entered: bool,
}

impl Part {
    /// Makes a file with room for so many bytes; none if someone else took it for an old one.
    pub(super) fn make(number: u32, path: PathBuf, length: u64) -> io::Result<Option<Self>> {
        let file = OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(&path)?;
        // Whoever collects what dead writers left may have been faster, and remove it as empty.
        if !is_mine(&file)? {
            return Ok(None);
        }
        let mapped = map(&file, length)?;
        Ok(Some(Self {
            number,
            path,
            file: Arc::new(file),
            mapped,
            limit: length,
            size: 0,
            copied: 0,
            batches: VecDeque::new(),
            closed: false,
            kept: false,
            entered: false,
        }))
    }

    /// How long it is, if it is mapped.
    pub(super) fn length(&self) -> Option<u64> {
        self.mapped.as_ref().map(|mapped| mapped.length() as u64)
    }

    /// Whether so many bytes may follow.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        match self.length() {
            Some(length) => self.size + bytes <= length,
            None => !self.closed && self.size < self.limit,
        }
    }

    /// Adds a line with its line break, of which this is known: all of it, or nothing.
    pub(super) fn append(&mut self, line: &[u8], about: Option<About<'_>>) -> io::Result<()> {
        match &mut self.mapped {
            Some(mapped) => {
                let at = usize::try_from(self.size).unwrap_or(usize::MAX);
                if !mapped.put(at, line) {
                    return Err(io::ErrorKind::StorageFull.into());
                }
            }
            None => self.write(line)?,
        }
        let (from, length) = (self.size, line.len() as u64);
        self.size += length;
        if let Some(about) = about
            && !self.batches.back_mut().is_some_and(|last| last.add(from, length, about))
        {
            self.batches.push_back(Batch::begin(from, length, about));
        }
        Ok(())
    }

    /// The oldest lines that are not in the store: where they end, and the batches that they are, or none if they
    /// have to be read.
    pub(super) fn uncopied(&mut self) -> (u64, Vec<Batch>) {
        let Some(first) = self.batches.front() else { return (self.size, Vec::new()) };
        if first.from > self.copied {
            return (first.from, Vec::new());
        }
        let mut to = self.copied;
        let mut batches = Vec::new();
        for batch in &mut self.batches {
            if batch.from != to {
                break;
            }
            batch.closed = true;
            to = batch.to;
            batches.push(batch.clone());
        }
        (to, batches)
    }

    /// Notes that lines up to here are in the store, and tells how many bytes that are.
    pub(super) fn copied(&mut self, to: u64) -> u64 {
        let to = to.clamp(self.copied, self.size);
        while self.batches.pop_front_if(|batch| batch.from < to).is_some() {}
        to - std::mem::replace(&mut self.copied, to)
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let written = loop {
            match (&*self.file).write(line) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => break written,
            }
        };
        let failed = match written {
            Ok(length) if length == line.len() => return Ok(()),
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(_) => io::ErrorKind::StorageFull.into(),
            Err(error) => error,
        };
        // A part of the line may be there; a line that is to follow must not be glued to it.
        self.closed = self.file.set_len(self.size).is_err();
        Err(failed)
    }

    /// Brings what was written to the disk.
    pub(super) fn sync(&mut self, folder: &Path) -> io::Result<()> {
        self.file.sync_data()?;
        if !self.entered {
            File::open(folder)?.sync_all()?;
            self.entered = true;
        }
        Ok(())
    }

    /// Removes it.
    pub(super) fn remove(mut self) {
        // A file that is gone needs no end.
        self.mapped = None;
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, path = %self.path.display(), "cannot remove a spool file");
        }
    }

    /// Itself without lines, under another name; none if that failed, and then it is gone. It has the name first:
    /// whoever reads it under the old one sees by that whether what they read was still there.
    pub(super) fn emptied(mut self, path: PathBuf) -> Option<Self> {
        if let Err(error) = self.rename(path) {
            tracing::debug!(%error, path = %self.path.display(), "cannot put a spool file aside");
            self.remove();
            return None;
        }
        if let Some(mapped) = &mut self.mapped {
            mapped.clear(usize::try_from(self.size).unwrap_or(usize::MAX));
        }
        (self.size, self.copied) = (0, 0);
        self.batches.clear();
        Some(self)
    }

    /// Itself, empty, as the file of this number.
    pub(super) fn reused(mut self, number: u32, path: PathBuf) -> io::Result<Self> {
        self.rename(path)?;
        (self.number, self.entered) = (number, false);
        Ok(self)
    }

    fn rename(&mut self, path: PathBuf) -> io::Result<()> {
        std::fs::rename(&self.path, &path)?;
        self.path = path;
        Ok(())
    }
}

impl Drop for Part {
    /// What is left for others ends with its last line.
    fn drop(&mut self) {
        if self.mapped.take().is_some()
            && let Err(error) = self.file.set_len(self.size)
        {
            tracing::debug!(%error, path = %self.path.display(), "a spool file keeps its room");
        }
    }
}

/// Maps an empty file; without room for that lines are written as long as there is any.
fn map(file: &File, length: u64) -> io::Result<Option<MappedFile>> {
    let mapped = MappedFile::new(file, usize::try_from(length).unwrap_or(usize::MAX));
    match mapped {
        Ok(Some(mapped)) => return Ok(Some(mapped)),
        Ok(None) => {}
        Err(error) => tracing::debug!(%error, "a spool file is written to piece by piece"),
    }
    file.set_len(0)?;
    Ok(None)
}

/// Locks a new file, and tells whether it is still there.
fn is_mine(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(file.metadata()?.nlink() > 0),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

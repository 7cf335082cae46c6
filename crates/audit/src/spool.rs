//! The spool of one writer: files that only grow, locked for as long as their writer lives.

use std::collections::VecDeque;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::folder::file_name;

/// From this size on the next line begins a new file.
pub(crate) const ROTATE: u64 = 16 * 1024 * 1024;
/// How often another file is tried where someone looked at the new one too early.
const TRIES: usize = 100;

/// The files of one writer. Nothing is there before the first line.
#[derive(Debug)]
pub(crate) struct Spool {
    folder: PathBuf,
    writer: String,
    rotate: u64,
    parts: VecDeque<Part>,
    next: u32,
}

#[derive(Debug)]
struct Part {
    number: u32,
    path: PathBuf,
    /// Locked until it is closed.
    file: Arc<File>,
    /// How many bytes of whole lines it holds.
    size: u64,
    /// How many of them are in the store.
    copied: u64,
    /// Nothing may follow: a line was cut off, and could not be taken back.
    closed: bool,
    /// It holds something that is no record, so it is not removed.
    kept: bool,
    /// The disk knows its name, not only its content.
    entered: bool,
}

/// Lines that are not in the store yet.
#[derive(Debug)]
pub(crate) struct Uncopied {
    pub(crate) file: Arc<File>,
    pub(crate) path: PathBuf,
    pub(crate) from: u64,
    pub(crate) to: u64,
    number: u32,
}

impl Spool {
    pub(crate) fn new(folder: PathBuf, writer: String, rotate: u64) -> Self {
        Self { folder, writer, rotate, parts: VecDeque::new(), next: 1 }
    }

    /// How many bytes wait for the store.
    pub(crate) fn size(&self) -> u64 {
        self.parts.iter().map(|part| part.size - part.copied).sum()
    }

    /// Makes sure that there is a file to write to.
    pub(crate) fn open(&mut self) -> io::Result<()> {
        let fits = |part: &Part| !part.closed && part.size < self.rotate;
        if self.parts.back().is_some_and(fits) {
            return Ok(());
        }
        let part = self.next_part()?;
        self.parts.push_back(part);
        Ok(())
    }

    /// Adds a line with its line break: all of it, or nothing.
    pub(crate) fn append(&mut self, line: &[u8]) -> io::Result<()> {
        self.open()?;
        let Some(part) = self.parts.back_mut() else { return Err(io::ErrorKind::NotFound.into()) };
        let written = loop {
            match (&*part.file).write(line) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => break written,
            }
        };
        let failed = match written {
            Ok(length) if length == line.len() => {
                part.size += line.len() as u64;
                return Ok(());
            }
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(_) => io::ErrorKind::StorageFull.into(),
            Err(error) => error,
        };
        // A part of the line may be there; a line that is to follow must not be glued to it.
        part.closed = part.file.set_len(part.size).is_err();
        Err(failed)
    }

    /// Brings what was written to the disk.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        let Some(part) = self.parts.back_mut() else { return Ok(()) };
        part.file.sync_data()?;
        if !part.entered {
            File::open(&self.folder)?.sync_all()?;
            part.entered = true;
        }
        Ok(())
    }

    /// The oldest lines that are not in the store.
    pub(crate) fn uncopied(&self) -> Option<Uncopied> {
        let part = self.parts.iter().find(|part| part.copied < part.size)?;
        Some(Uncopied {
            file: part.file.clone(),
            path: part.path.clone(),
            from: part.copied,
            to: part.size,
            number: part.number,
        })
    }

    /// Notes that lines are in the store now; `whole` if all of them were records.
    pub(crate) fn copied(&mut self, which: &Uncopied, to: u64, whole: bool) {
        if let Some(part) = self.parts.iter_mut().find(|part| part.number == which.number) {
            part.copied = part.copied.max(to);
            part.kept |= !whole;
        }
    }

    /// Removes files that are wholly in the store; the last stays to be written to, unless `all` may go.
    pub(crate) fn tidy(&mut self, all: bool) {
        let last = self.parts.back().map(|part| part.number);
        self.parts.retain(|part| {
            let goes = part.copied == part.size && !part.kept && (all || Some(part.number) != last);
            if goes && let Err(error) = std::fs::remove_file(&part.path) {
                tracing::debug!(%error, path = %part.path.display(), "cannot remove a spool file");
            }
            !goes
        });
    }

    fn next_part(&mut self) -> io::Result<Part> {
        make_folder(&self.folder)?;
        for _ in 0..TRIES {
            let path = self.folder.join(file_name(&self.writer, self.next));
            let number = self.next;
            let file = OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(&path)?;
            self.next += 1;
            // Whoever collects what dead writers left may have been faster, and remove it as empty.
            if is_mine(&file)? {
                let file = Arc::new(file);
                let (closed, kept, entered) = (false, false, false);
                return Ok(Part { number, path, file, size: 0, copied: 0, closed, kept, entered });
            }
        }
        Err(io::Error::other("other processes take every new spool file for an old one"))
    }
}

/// Locks a new file, and tells whether it is still there.
fn is_mine(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(file.metadata()?.nlink() > 0),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

//! The spool of one writer: files that only grow, locked for as long as their writer lives.

mod batch;
mod part;

use std::collections::VecDeque;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::folder::{file_name, spare_name};
use batch::Batch;
use part::Part;

pub(crate) use batch::About;

/// How long a file becomes; a line that is longer has one to itself.
pub(crate) const ROTATE: u64 = 1024 * 1024;
/// How long the first one becomes: many a process has little to record.
const FIRST: u64 = 64 * 1024;
/// How often another file is tried where someone looked at the new one too early.
const TRIES: usize = 100;

/// The files of one writer. Nothing is there before the first line.
#[derive(Debug)]
pub(crate) struct Spool {
    folder: PathBuf,
    writer: String,
    rotate: u64,
    parts: VecDeque<Part>,
    /// An empty file to go on with: making room anew costs more than filling it.
    spare: Option<Part>,
    next: u32,
    /// How many bytes wait for the store.
    size: u64,
}

/// Lines that are not in the store yet.
#[derive(Debug)]
pub(crate) struct Uncopied {
    pub(crate) file: Arc<File>,
    pub(crate) path: PathBuf,
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// What they are; nothing if they have to be read.
    pub(crate) batches: Vec<Batch>,
    number: u32,
}

impl Spool {
    pub(crate) fn new(folder: PathBuf, writer: String, rotate: u64) -> Self {
        Self { folder, writer, rotate, parts: VecDeque::new(), spare: None, next: 1, size: 0 }
    }

    /// How many bytes wait for the store.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Makes sure that there is a file to write to.
    pub(crate) fn open(&mut self) -> io::Result<()> {
        self.open_for(1)
    }

    /// Makes sure that there is a file with room for so many bytes.
    fn open_for(&mut self, bytes: u64) -> io::Result<()> {
        if self.parts.back().is_some_and(|part| part.has_room(bytes)) {
            return Ok(());
        }
        let part = self.next_part(bytes)?;
        self.parts.push_back(part);
        Ok(())
    }

    /// Adds a line with its line break, of which this is known: all of it, or nothing.
    pub(crate) fn append(&mut self, line: &[u8], about: Option<About<'_>>) -> io::Result<()> {
        self.open_for(line.len() as u64)?;
        self.parts.back_mut().ok_or(io::ErrorKind::NotFound)?.append(line, about)?;
        self.size += line.len() as u64;
        Ok(())
    }

    /// Brings what was written to the disk.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.parts.back_mut().map_or(Ok(()), |part| part.sync(&self.folder))
    }

    /// The oldest lines that are not in the store.
    pub(crate) fn uncopied(&mut self) -> Option<Uncopied> {
        let part = self.parts.iter_mut().find(|part| part.copied < part.size)?;
        let (to, batches) = part.uncopied();
        let (file, path) = (part.file.clone(), part.path.clone());
        Some(Uncopied { file, path, from: part.copied, to, batches, number: part.number })
    }

    /// Notes that lines are in the store now; `whole` if all of them were records.
    pub(crate) fn copied(&mut self, which: &Uncopied, to: u64, whole: bool) {
        if let Some(part) = self.parts.iter_mut().find(|part| part.number == which.number) {
            self.size -= part.copied(to);
            part.kept |= !whole;
        }
    }

    /// Removes files that are wholly in the store; the last stays to be written to, unless `all` may go.
    pub(crate) fn tidy(&mut self, all: bool) {
        let last = self.parts.back().map(|part| part.number);
        let goes = |part: &Part| part.copied == part.size && !part.kept && (all || Some(part.number) != last);
        while let Some(place) = self.parts.iter().position(goes) {
            let Some(part) = self.parts.remove(place) else { break };
            if all || self.spare.is_some() || part.length() != Some(self.rotate) {
                part.remove();
            } else {
                self.spare = part.emptied(self.folder.join(spare_name(&self.writer)));
            }
        }
        if all && let Some(spare) = self.spare.take() {
            spare.remove();
        }
    }

    fn next_part(&mut self, bytes: u64) -> io::Result<Part> {
        let fits = |spare: &mut Part| spare.has_room(bytes);
        let number = self.next;
        if let Some(spare) = self.spare.take_if(fits) {
            self.next += 1;
            return spare.reused(number, self.folder.join(file_name(&self.writer, number)));
        }
        make_folder(&self.folder)?;
        let usual = if number == 1 { FIRST.min(self.rotate) } else { self.rotate };
        for _ in 0..TRIES {
            let number = self.next;
            let path = self.folder.join(file_name(&self.writer, number));
            self.next += 1;
            if let Some(part) = Part::make(number, path, usual.max(bytes))? {
                return Ok(part);
            }
        }
        Err(io::Error::other("other processes take every new spool file for an old one"))
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

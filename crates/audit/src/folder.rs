//! The folder of all writers' spools, read by anyone.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::chain::is_writer;
use crate::error::AuditError;

/// How a spool file's name ends.
const ENDING: &str = ".jsonl";

/// The folder of the spools in a data folder.
pub(crate) fn spool_folder(data_dir: &Path) -> PathBuf {
    data_dir.join("audit")
}

/// The name of a writer's file, of which there may be several.
pub(crate) fn file_name(writer: &str, number: u32) -> String {
    match number {
        1 => format!("{writer}{ENDING}"),
        number => format!("{writer}.{number}{ENDING}"),
    }
}

/// A spool file that someone wrote.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Left {
    pub(crate) writer: String,
    pub(crate) number: u32,
    pub(crate) path: PathBuf,
}

/// All spool files, by writer and number. A folder that is not there has none.
pub(crate) fn list(folder: &Path) -> Result<Vec<Left>, AuditError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(AuditError::Spool { path: folder.into(), cause }),
    };
    let mut all = Vec::new();
    for entry in entries {
        let entry = entry.map_err(AuditError::at(folder))?;
        // Neither links nor pipes are ours.
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            all.extend(name(&entry.path()));
        }
    }
    all.sort();
    Ok(all)
}

fn name(path: &Path) -> Option<Left> {
    let stem = path.file_name()?.to_str()?.strip_suffix(ENDING)?;
    let (writer, number) = match stem.split_once('.') {
        Some((writer, number)) => (writer, number.parse().ok()?),
        None => (stem, 1),
    };
    is_writer(writer).then(|| Left { writer: writer.into(), number, path: path.into() })
}

impl Left {
    /// Opens it; none if it has gone meanwhile.
    pub(crate) fn open(&self) -> Result<Option<File>, AuditError> {
        match OpenOptions::new().read(true).open(&self.path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(AuditError::Spool { path: self.path.clone(), cause }),
        }
    }

    /// Everything in it, and whether its writer lives; none if it has gone meanwhile.
    pub(crate) fn read(&self) -> Result<Option<Content>, AuditError> {
        let Some(mut file) = self.open()? else { return Ok(None) };
        // First whether it is locked: a line that a living writer has not finished yet is no torn one.
        let live = is_live(&file).map_err(AuditError::at(&self.path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(AuditError::at(&self.path))?;
        Ok(Some(Content { bytes, live }))
    }
}

/// Whether the writer of a file lives. Looking does not keep others from locking for longer than a moment.
fn is_live(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// What a spool file holds.
#[derive(Debug)]
pub(crate) struct Content {
    bytes: Vec<u8>,
    pub(crate) live: bool,
}

impl Content {
    /// The lines that have a line break, without it.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        lines(&self.bytes)
    }

    /// What stands behind the last line break; nothing where a living writer is still busy with it.
    pub(crate) fn tail(&self) -> &[u8] {
        match self.live {
            true => &[],
            false => tail(&self.bytes),
        }
    }
}

/// The lines that have a line break, without it.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    memchr::memchr_iter(b'\n', bytes).map(move |end| &bytes[std::mem::replace(&mut start, end + 1)..end])
}

/// What stands behind the last line break.
pub(crate) fn tail(bytes: &[u8]) -> &[u8] {
    let end = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
    &bytes[end..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for number in [1, 2, 17] {
            let left = name(Path::new(&format!("/x/{}", file_name("ab-0", number)))).unwrap();
            assert_eq!((left.writer.as_str(), left.number), ("ab-0", number));
        }
        for other in ["/x/a.lock", "/x/.jsonl", "/x/ab.x.jsonl", "/x/zz.jsonl"] {
            assert_eq!(name(Path::new(other)), None, "{other}");
        }
    }

    #[test]
    fn lines_end_with_a_line_break_and_the_rest_is_a_tail() {
        #[track_caller]
        fn check(bytes: &[u8], expect: &[&[u8]], rest: &[u8]) {
            assert_eq!((lines(bytes).collect::<Vec<_>>().as_slice(), tail(bytes)), (expect, rest));
        }
        check(b"", &[], b"");
        check(b"a\nb\n", &[b"a", b"b"], b"");
        check(b"a\n\nb", &[b"a", b""], b"b");
        check(b"b", &[], b"b");
    }
}

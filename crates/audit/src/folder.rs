//! The folder of all writers' spools, read by anyone.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::chain::is_writer;
use crate::error::AuditError;

/// How a spool file's name ends.
const ENDING: &str = ".jsonl";
/// How the name of one ends that was put aside empty, to be used again.
const SPARE: &str = ".spare";

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

/// The name of a writer's file that was put aside empty.
pub(crate) fn spare_name(writer: &str) -> String {
    format!("{writer}{SPARE}")
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
    let mut all: Vec<Left> = files(folder)?.iter().filter_map(|path| name(path)).collect();
    all.sort();
    Ok(all)
}

/// The files that were put aside empty, except that of this writer.
pub(crate) fn spares(folder: &Path, mine: &str) -> Result<Vec<PathBuf>, AuditError> {
    let is_other = |path: &PathBuf| {
        let writer = path.file_name().and_then(|name| name.to_str()?.strip_suffix(SPARE));
        writer.is_some_and(|writer| is_writer(writer) && writer != mine)
    };
    Ok(files(folder)?.into_iter().filter(is_other).collect())
}

/// The files of the folder. Neither links nor pipes are ours.
fn files(folder: &Path) -> Result<Vec<PathBuf>, AuditError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(AuditError::Spool { path: folder.into(), cause }),
    };
    let mut all = Vec::new();
    for entry in entries {
        let entry = entry.map_err(AuditError::at(folder))?;
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            all.push(entry.path());
        }
    }
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
        match self.open()? {
            Some(file) => self.content(file),
            None => Ok(None),
        }
    }

    fn content(&self, mut file: File) -> Result<Option<Content>, AuditError> {
        // First whether it is locked: a line that a living writer has not finished yet is no torn one.
        let live = is_live(&file).map_err(AuditError::at(&self.path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(AuditError::at(&self.path))?;
        // One that has another name now may have been emptied meanwhile: what was in it is in the store.
        Ok(self.names(&file).then_some(Content { bytes, live }))
    }

    /// Whether an open file still has this name.
    fn names(&self, file: &File) -> bool {
        let inode = |metadata: io::Result<Metadata>| metadata.ok().map(|it| (it.dev(), it.ino()));
        let here = inode(std::fs::metadata(&self.path));
        here.is_some() && here == inode(file.metadata())
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
    /// The whole lines, each without its line break.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let mut lines = lines(&self.bytes).peekable();
        std::iter::from_fn(move || {
            let line = lines.next()?;
            // What a living writer does this very moment may be seen in any order.
            let is_done = !self.live || lines.peek().is_some() || !line.contains(&0);
            is_done.then_some(line)
        })
    }

    /// What was written behind them; nothing where a living writer is still busy with it.
    pub(crate) fn tail(&self) -> &[u8] {
        match self.live {
            true => &[],
            false => tail(&self.bytes),
        }
    }
}

/// The whole lines, each without its line break.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = whole(bytes);
    let mut start = 0;
    memchr::memchr_iter(b'\n', whole).map(move |end| &whole[std::mem::replace(&mut start, end + 1)..end])
}

/// What was written behind the last whole line.
pub(crate) fn tail(bytes: &[u8]) -> &[u8] {
    &written(bytes)[whole(bytes).len()..]
}

/// What was written: a file may have room left, which is zeros.
fn written(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
    &bytes[..end]
}

/// All whole lines. The first byte of a line is put in its place last, so one that begins with a zero is not whole
/// yet, be its line break there or not.
pub(crate) fn whole(bytes: &[u8]) -> &[u8] {
    let written = written(bytes);
    let end = memchr::memrchr(b'\n', written).map_or(0, |at| at + 1);
    let last = memchr::memrchr(b'\n', &written[..end.saturating_sub(1)]).map_or(0, |at| at + 1);
    match written[last..].first() {
        Some(0) => &written[..last],
        Some(_) | None => &written[..end],
    }
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
    fn what_was_read_of_a_file_that_has_another_name_by_now_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let left = Left { writer: "ab".into(), number: 1, path: folder.path().join("ab.jsonl") };
        std::fs::write(&left.path, "a\n").unwrap();
        let file = left.open().unwrap().unwrap();
        let lines = |file| left.content(file).unwrap().map(|content| content.lines().count());
        assert_eq!(lines(file), Some(1));
        let file = left.open().unwrap().unwrap();
        std::fs::rename(&left.path, folder.path().join(spare_name("ab"))).unwrap();
        assert_eq!(lines(file.try_clone().unwrap()), None);
        std::fs::write(&left.path, "b\n").unwrap();
        assert_eq!(lines(file), None);
        assert_eq!(spares(folder.path(), "cd").unwrap(), [folder.path().join("ab.spare")]);
        assert!(spares(folder.path(), "ab").unwrap().is_empty());
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
        // Room that is left, and lines that were not put there wholly.
        check(b"\0\0", &[], b"");
        check(b"a\nb\n\0\0", &[b"a", b"b"], b"");
        check(b"a\n\0bc\n\0", &[b"a"], b"\0bc\n");
        check(b"a\n\0bc", &[b"a"], b"\0bc");
        check(b"\0bc\n", &[], b"\0bc\n");
        // Other zeros are neither.
        check(b"a\nb\0c\n\0", &[b"a", b"b\0c"], b"");
        check(b"a\n\0bc\nd\n", &[b"a", b"\0bc", b"d"], b"");
        check(b"a\nb\0\0c\0", &[b"a"], b"b\0\0c");
    }
}

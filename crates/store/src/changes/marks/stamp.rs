//! What tells a file that was written from one that was not.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Two writes within this time may leave the same stamp, on the coarsest of file systems.
const GRAIN: Duration = Duration::from_secs(2);

/// How a database file, and the log beside it, looked at a moment.
#[derive(Debug)]
pub(super) struct Stamp {
    files: [Option<File>; 2],
    taken: SystemTime,
}

#[derive(Debug, PartialEq, Eq)]
struct File {
    inode: u64,
    size: u64,
    changed: SystemTime,
}

impl Stamp {
    pub(super) fn of(path: &Path) -> Self {
        // Before it looks: what is written later cannot seem to be older.
        let taken = SystemTime::now();
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        Self { files: [File::of(path), File::of(log.as_ref())], taken }
    }

    /// Whether nothing can have been written between this and a later one.
    pub(super) fn settles(&self, later: &Self) -> bool {
        let is_old = |file: &File| self.taken.duration_since(file.changed).is_ok_and(|age| age > GRAIN);
        self.files == later.files && self.files.iter().flatten().all(is_old)
    }
}

impl File {
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self { inode: found.ino(), size: found.size(), changed: found.modified().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_that_rests_settles_a_question() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let log = folder.path().join("x-wal");
        let missing = Stamp::of(&path);
        assert!(missing.settles(&Stamp::of(&path)));
        fs::write(&path, "1").unwrap();
        let fresh = Stamp::of(&path);
        assert!(!missing.settles(&fresh), "it was made");
        assert!(!fresh.settles(&Stamp::of(&path)), "it may be written again within the same tick");
        let old = SystemTime::now() - GRAIN * 2;
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(old).unwrap();
        let resting = Stamp::of(&path);
        assert!(resting.settles(&Stamp::of(&path)));
        fs::write(&log, "1").unwrap();
        assert!(!resting.settles(&Stamp::of(&path)), "the log was made");
        file.set_modified(SystemTime::now() + GRAIN * 9).unwrap();
        fs::remove_file(&log).unwrap();
        assert!(!Stamp::of(&path).settles(&Stamp::of(&path)), "the clock was set back");
    }
}

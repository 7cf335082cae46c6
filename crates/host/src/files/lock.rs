//! One writer at a time in a folder, across processes, without leaving a lock file behind.

use std::os::fd::OwnedFd;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fsync, openat};
use rustix::io::Errno;

use super::{FileError, RelPath, Result};

/// How long a writer waits for another one.
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// An advisory lock (`flock`) on the open folder itself. The kernel frees it if the process dies.
pub(super) struct FolderLock {
    folder: OwnedFd,
    held: bool,
}

impl FolderLock {
    /// Locks the folder in which `path` is about to be changed.
    pub(super) fn acquire(folder: &Dir, path: &RelPath, timeout: Duration) -> Result<Self> {
        // The handle of the confined folder only names it; a lock and `fsync` need one that is open.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(folder, ".", flags, Mode::empty())
            .map_err(|error| FileError::from_io(path, error.into()))?;
        let deadline = Instant::now() + timeout;
        let mut pause = FIRST_PAUSE;
        loop {
            match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { folder, held: true }),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < deadline => {}
                Err(Errno::WOULDBLOCK | Errno::INTR) => return Err(FileError::Busy { path: path.named() }),
                // Some network file systems lock no folders. A write that works alone beats none at all.
                Err(Errno::BADF | Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
                    tracing::warn!(
                        "this file system cannot lock folders; concurrent writers may lose changes"
                    );
                    return Ok(Self { folder, held: false });
                }
                Err(error) => return Err(FileError::from_io(path, error.into())),
            }
            sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Whether others are really kept out; not every file system can do that.
    pub(super) const fn is_held(&self) -> bool {
        self.held
    }

    /// Makes the names in the folder durable.
    pub(super) fn sync(&self) {
        // The change itself is done and visible; not every file system can sync a folder.
        if let Err(error) = fsync(&self.folder) {
            tracing::warn!(%error, "cannot sync a folder");
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing is not enough: a process that is being started right now may hold a copy of the handle.
        if let Err(error) = flock(&self.folder, FlockOperation::Unlock) {
            tracing::debug!(%error, "cannot unlock a folder");
        }
    }
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;

    use super::*;

    #[test]
    fn a_lock_that_is_held_too_long_is_busy_and_free_again_afterwards() {
        let place = tempfile::tempdir().unwrap();
        let folder = Dir::open_ambient_dir(place.path(), ambient_authority()).unwrap();
        let path = RelPath::parse("memory.md", "").unwrap();
        let short = Duration::from_millis(30);
        let held = FolderLock::acquire(&folder, &path, short).unwrap();
        let refused = FolderLock::acquire(&folder, &path, short).err().unwrap();
        assert!(matches!(refused, FileError::Busy { .. }), "{refused:?}");
        drop(held);
        FolderLock::acquire(&folder, &path, short).unwrap();
    }
}

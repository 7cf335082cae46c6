//! A lock that one process at a time holds, and that dies with it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;

/// A lock that one process at a time holds. The kernel frees it when the process ends, however it ends.
///
/// The file stays where it is: one that could vanish could be locked by two, each holding another file.
#[derive(Debug)]
pub struct ProcessLock(OwnedFd);

impl ProcessLock {
    /// Takes the lock, unless another process has it.
    ///
    /// # Errors
    /// The file cannot be opened, or the file system knows no locks.
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = open(path, flags, Mode::RUSR | Mode::WUSR)?;
        loop {
            return match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => Ok(Some(Self(file))),
                Err(Errno::WOULDBLOCK) => Ok(None),
                Err(Errno::INTR) => continue,
                Err(error) => Err(error.into()),
            };
        }
    }
}

impl Drop for ProcessLock {
    fn drop(&mut self) {
        // Closing is not enough: a process that is being started right now may hold a copy of the handle.
        if let Err(error) = flock(&self.0, FlockOperation::Unlock) {
            tracing::debug!(%error, "cannot unlock a file");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn one_holds_it_at_a_time_and_the_file_is_for_its_owner_only() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        let held = ProcessLock::try_acquire(&path).unwrap().unwrap();
        assert!(ProcessLock::try_acquire(&path).unwrap().is_none());
        drop(held);
        let again = ProcessLock::try_acquire(&path).unwrap();
        assert!(again.is_some());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (place.path().join("lock"), place.path().join("elsewhere"));
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(ProcessLock::try_acquire(&path).is_err());
        assert!(!elsewhere.exists());
    }
}

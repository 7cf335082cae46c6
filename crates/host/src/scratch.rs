//! Folders that are there for as long as they are needed: removed with us, however we end.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::process::guard;

/// How often a folder is tried to be removed while others may still write to it.
const TRIES: u32 = 20;

/// A folder among the temporary ones of the machine, for our user only. It is removed when this is dropped, and after us
/// if we are killed: then all programs that we started have ended.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes one; its name begins with this word.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(word: &str) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{word}-{}-{:x}-{next}", std::process::id(), since.as_nanos());
        // A link would be another name of it, and the guard compares names.
        let path = fs::canonicalize(std::env::temp_dir())?.join(name);
        // One that is there already, whoever made it, is an error.
        DirBuilder::new().mode(0o700).create(&path)?;
        guard::watch_folder(&path.to_string_lossy());
        Ok(Self { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        for _ in 0..TRIES {
            match fs::remove_dir_all(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::debug!(%error, "a folder is still in use");
                    std::thread::sleep(Duration::from_millis(25));
                }
                Ok(()) | Err(_) => return guard::forget_folder(&self.path.to_string_lossy()),
            }
        }
        tracing::warn!(folder = %self.path.display(), "a folder cannot be removed, and is left to the guard");
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_folder_is_ours_alone_and_goes_with_all_that_is_in_it() {
        let (one, other) = (Scratch::new("toolgate-test").unwrap(), Scratch::new("toolgate-test").unwrap());
        assert_ne!(one.path(), other.path());
        assert_eq!(fs::metadata(one.path()).unwrap().permissions().mode() & 0o777, 0o700);
        fs::create_dir_all(one.path().join("a/b")).unwrap();
        fs::write(one.path().join("a/b/c"), "x").unwrap();
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists() && other.path().exists());
        // One that somebody else removed is as it should be.
        fs::remove_dir_all(other.path()).unwrap();
        drop(other);
    }
}

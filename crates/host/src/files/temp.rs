//! A new file under a hidden name, which takes its final name only when it is complete.

use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, fchown};

use cap_std::fs::{Dir, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt, PermissionsExt};
use rustix::io::Errno;

use super::TEMP_PREFIX;

const NEW_FILE_MODE: u32 = 0o644;
const PRIVATE_MODE: u32 = 0o600;
const ATTEMPTS: usize = 16;

/// The file under its hidden name; dropped before it is published, it is removed.
pub(super) struct Temp<'a> {
    folder: &'a Dir,
    name: Option<String>,
    file: File,
    size: u64,
}

impl<'a> Temp<'a> {
    /// Makes the hidden file, with the owner and the permission bits of the file it is to replace.
    pub(super) fn create(folder: &'a Dir, replaces: Option<&Metadata>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let mode = if replaces.is_some() { PRIVATE_MODE } else { NEW_FILE_MODE };
        options.write(true).create_new(true).mode(mode);
        let mut attempt = 0;
        loop {
            let name = format!("{TEMP_PREFIX}{:016x}", RandomState::new().hash_one(attempt));
            match folder.open_with(&name, &options) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => {
                    attempt += 1
                }
                Err(error) => return Err(error),
                Ok(file) => {
                    let temp = Self { folder, name: Some(name), file: file.into_std(), size: 0 };
                    replaces.map_or(Ok(()), |old| temp.resemble(old))?;
                    return Ok(temp);
                }
            }
        }
    }

    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.size += bytes.len() as u64;
        Ok(())
    }

    /// Appends the first `length` bytes of another file.
    pub(super) fn copy_from(&mut self, other: File, length: u64) -> io::Result<()> {
        self.size += io::copy(&mut other.take(length), &mut self.file)?;
        Ok(())
    }

    /// Makes the content durable and gives the file its name; with `only_new`, only if nobody has it.
    pub(super) fn publish(mut self, name: &OsStr, only_new: bool) -> io::Result<()> {
        self.file.sync_all()?;
        let Some(hidden) = self.name.as_deref() else {
            return Ok(());
        };
        if only_new {
            match self.folder.hard_link(hidden, self.folder, name) {
                // The hidden name goes when `self` is dropped.
                Ok(()) => return Ok(()),
                Err(error) if is_without_links(&error) => {}
                Err(error) => return Err(error),
            }
        }
        self.folder.rename(hidden, self.folder, name)?;
        self.name = None;
        Ok(())
    }

    fn resemble(&self, old: &Metadata) -> io::Result<()> {
        let own = self.file.metadata()?;
        if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
            // Only a privileged process may give files away; for others the writer is the owner.
            if let Err(error) = fchown(&self.file, Some(old.uid()), Some(old.gid())) {
                tracing::debug!(%error, "cannot keep the owner of a file");
            }
        }
        let mode = old.permissions().mode() & 0o777;
        self.file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        let Some(name) = &self.name else { return };
        if let Err(error) = self.folder.remove_file(name) {
            tracing::warn!(%error, name, "cannot remove a temporary file");
        }
    }
}

/// Whether the file system has no hard links; existence was then checked under the lock only.
fn is_without_links(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK))
}

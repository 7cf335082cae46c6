//! What stands at a path on the host, for who wants to know before it is used.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{Access, access};
use rustix::process::geteuid;

/// What stands at a path where a folder is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing; whether we could make a folder there.
    Missing {
        /// Whether the nearest folder above that exists lets us write.
        makeable: bool,
    },
    /// Something that is no folder.
    NotAFolder,
    /// It, or a folder above it, does not let us look.
    Hidden,
    /// A folder.
    Folder(FolderState),
}

/// What a folder lets whom do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FolderState {
    /// The permission bits.
    pub mode: u32,
    /// Whether it belongs to the user we run as.
    pub ours: bool,
    /// Whether we may make files in it.
    pub writable: bool,
}

impl Standing {
    /// Looks at a path.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Self::Folder(FolderState {
                mode: metadata.mode() & 0o7777,
                ours: metadata.uid() == geteuid().as_raw(),
                writable: is_writable(path),
            }),
            Ok(_) => Self::NotAFolder,
            // A link that leads nowhere is in the way of a folder.
            Err(_) if path.is_symlink() => Self::NotAFolder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Self::Missing { makeable: is_makeable(path) }
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Self::Missing { makeable: false },
            Err(_) => Self::Hidden,
        }
    }
}

fn is_writable(path: &Path) -> bool {
    access(path, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

fn is_makeable(path: &Path) -> bool {
    let above = path.ancestors().skip(1).find(|above| fs::symlink_metadata(above).is_ok());
    above.is_some_and(|above| above.is_dir() && is_writable(above))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_stands_at_a_path_is_named() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("folder")).unwrap();
        fs::set_permissions(at("folder"), fs::Permissions::from_mode(0o750)).unwrap();
        fs::write(at("file"), "").unwrap();
        std::os::unix::fs::symlink(at("gone"), at("link")).unwrap();

        let folder = FolderState { mode: 0o750, ours: true, writable: true };
        assert_eq!(Standing::of(&at("folder")), Standing::Folder(folder));
        assert_eq!(Standing::of(&at("file")), Standing::NotAFolder);
        assert_eq!(Standing::of(&at("link")), Standing::NotAFolder);
        assert_eq!(Standing::of(&at("a/b/c")), Standing::Missing { makeable: true });
        assert_eq!(Standing::of(&at("file/b")), Standing::Missing { makeable: false });
        assert_eq!(Standing::of(&at("link/b")), Standing::Missing { makeable: false });
    }
}

//! What can go wrong with a file, without ever naming a place on the host.

use std::io;

use rustix::io::Errno;

use super::RelPath;

/// Why a file operation failed. Every text names only the path that the caller gave.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Nothing is there.
    #[error("`{path}` does not exist")]
    NotFound {
        /// The path as given.
        path: String,
    },
    /// The path, or a symbolic link on it, leads out of the root.
    #[error("`{path}` leads outside")]
    Outside {
        /// The path as given.
        path: String,
    },
    /// A folder, pipe, socket or device stands where a file is needed.
    #[error("`{path}` is not a regular file")]
    NotAFile {
        /// The path as given.
        path: String,
    },
    /// Something else stands where a folder is needed.
    #[error("`{path}` is not a folder")]
    NotADirectory {
        /// The path as given.
        path: String,
    },
    /// More bytes than the caller allowed.
    #[error("`{path}` has {size} bytes, the limit is {limit}")]
    TooLarge {
        /// The path as given.
        path: String,
        /// The size it has, or would get.
        size: u64,
        /// The most that is allowed.
        limit: u64,
    },
    /// It should have been new.
    #[error("`{path}` exists already")]
    AlreadyExists {
        /// The path as given.
        path: String,
    },
    /// The operating system, or the read-only mode of the file, forbids it.
    #[error("no permission for `{path}`")]
    Permission {
        /// The path as given.
        path: String,
    },
    /// Nobody may write it, whatever the operating system says.
    #[error("`{path}` is protected")]
    Protected {
        /// The path as given.
        path: String,
    },
    /// The text cannot be a path here.
    #[error("`{path}` is not a valid path: {reason}")]
    InvalidPath {
        /// The path as given, shortened if long.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Another writer held the lock of the folder for too long.
    #[error("`{path}` is locked by another writer")]
    Busy {
        /// The path as given.
        path: String,
    },
    /// The disk or a quota is full.
    #[error("no space left to write `{path}`")]
    NoSpace {
        /// The path as given.
        path: String,
    },
    /// Anything else.
    #[error("cannot access `{path}`")]
    Io {
        /// The path as given.
        path: String,
        /// What the operating system said.
        source: io::Error,
    },
}

impl FileError {
    /// Sorts what the operating system, or the confined resolution, said about `path`.
    pub(crate) fn from_io(path: &RelPath, error: io::Error) -> Self {
        let path = path.named();
        let Some(errno) = Errno::from_io_error(&error) else {
            // The confined resolution reports an escape without an error number of the system.
            if error.kind() == io::ErrorKind::PermissionDenied {
                return Self::Outside { path };
            }
            return Self::Io { path, source: error };
        };
        match errno {
            Errno::NOENT => Self::NotFound { path },
            Errno::XDEV => Self::Outside { path },
            Errno::ISDIR | Errno::NXIO | Errno::NODEV => Self::NotAFile { path },
            Errno::NOTDIR => Self::NotADirectory { path },
            Errno::EXIST => Self::AlreadyExists { path },
            Errno::ACCESS | Errno::PERM | Errno::ROFS => Self::Permission { path },
            Errno::NAMETOOLONG => Self::InvalidPath { path, reason: "it is too long" },
            Errno::LOOP => Self::InvalidPath { path, reason: "its symbolic links go round in a circle" },
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Self::NoSpace { path },
            _ => Self::Io { path, source: error },
        }
    }

    /// What to try next, if there is something.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::TooLarge { .. } => Some("read a range of it (offset and length), or write less"),
            Self::Outside { .. } => {
                Some("give a path inside the folder; absolute symbolic links are not followed")
            }
            Self::Busy { .. } => Some("try again in a moment"),
            Self::NoSpace { .. } => Some("nothing was changed; free some space and try again"),
            Self::NotFound { .. } => Some("list the folder to see what exists"),
            Self::NotAFile { .. }
            | Self::NotADirectory { .. }
            | Self::AlreadyExists { .. }
            | Self::Permission { .. }
            | Self::Protected { .. }
            | Self::InvalidPath { .. }
            | Self::Io { .. } => None,
        }
    }
}

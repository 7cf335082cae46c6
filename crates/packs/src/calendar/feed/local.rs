//! A feed that is a file on this machine.

use std::path::{Path, PathBuf};

use toolgate_core::Kind;
use toolgate_host::files::ReadOptions;
use toolgate_host::{FileError, RelPath, Root};

use super::{Answer, Mark, Trouble};
use crate::Unready;

/// A file that a person named. It is opened beneath its folder, so that a link that is put in its place leads nowhere else.
#[derive(Debug)]
pub(crate) struct Local {
    folder: PathBuf,
    name: RelPath,
    max_bytes: u64,
}

impl Local {
    pub(crate) fn new(key: &str, path: &Path, max_bytes: u64) -> Result<Self, Unready> {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.and_then(|name| RelPath::root().join(name).ok());
        let (Some(folder), Some(name)) = (path.parent(), name) else {
            return Err(Unready::wrong(key, "is no path of a file", "give the path of an `.ics` file"));
        };
        // A relative path was made absolute with the folder of the configuration, unless it came from elsewhere.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        Ok(Self { folder: folder.to_owned(), name, max_bytes })
    }

    pub(super) async fn ask(&self, known: &Mark) -> Result<Answer, Trouble> {
        let folder = self.folder.clone();
        let opening = tokio::task::spawn_blocking(move || Root::open(folder));
        let unread = |_| Trouble::new(Kind::Internal, "could not be read");
        let root = opening.await.map_err(unread)?.map_err(|error| self.trouble(&error))?;
        let read = root.read(&self.name, ReadOptions::whole(self.max_bytes)).await;
        let read = read.map_err(|error| self.trouble(&error))?;
        let mark = Mark { file: Some((read.modified_unix_ms, read.total_size)), ..Mark::default() };
        Ok(if mark == *known { Answer::Same } else { Answer::New { body: read.bytes, mark } })
    }

    fn trouble(&self, error: &FileError) -> Trouble {
        let (kind, message) = match error {
            FileError::NotFound { .. } | FileError::NotADirectory { .. } => {
                (Kind::FileNotFound, "its file does not exist".to_owned())
            }
            FileError::Outside { .. } => {
                (Kind::Denied, "its file is a link that leads out of its folder".to_owned())
            }
            FileError::Permission { .. } => (Kind::Denied, "its file may not be read".to_owned()),
            FileError::TooLarge { .. } => {
                (Kind::InvalidInput, format!("its file has more than {} bytes", self.max_bytes))
            }
            FileError::NotAFile { .. } => (Kind::InvalidInput, "its path is no file".to_owned()),
            FileError::InvalidPath { .. }
            | FileError::Protected { .. }
            | FileError::AlreadyExists { .. }
            | FileError::Busy { .. }
            | FileError::NoSpace { .. }
            | FileError::Io { .. } => (Kind::Internal, "its file could not be read".to_owned()),
        };
        Trouble { kind, message }
    }
}

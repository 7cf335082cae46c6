//! Files that go with a prompt: read from the project and from nowhere else.

use std::path::Path;

use serde_json::{Value, json};
use toolgate_core::{Error, Kind, Result};
use toolgate_host::files::Kind as FileKind;
use toolgate_host::{FileError, RelPath, Root};
use url::Url;

/// Files that are no text, by the ends of their names.
const TYPES: [(&str, &str); 7] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("svg", "image/svg+xml"),
    ("pdf", "application/pdf"),
];

/// A path of a project: relative to it, or absolute and within it.
pub(crate) fn within(project: &Path, field: &str, path: &str) -> Result<RelPath> {
    let inside = Path::new(path).strip_prefix(project).ok().and_then(Path::to_str).unwrap_or(path);
    RelPath::parse(inside, "project").map_err(|error| refused(field, path, error))
}

/// The parts of a prompt for files.
pub(super) async fn parts(project: &Path, files: &[String]) -> Result<Vec<Value>> {
    let mut parts = Vec::new();
    if files.is_empty() {
        return Ok(parts);
    }
    let root = Root::open(project).map_err(|error| refused("files", ".", error))?;
    for file in files {
        let path = within(project, "files", file)?;
        let entry = root.stat(&path).await.map_err(|error| refused("files", file, error))?;
        if entry.kind != FileKind::File {
            let words = format!("`files` names `{file}`, which is no regular file");
            return Err(
                Error::new(Kind::InvalidInput, words).hint("give paths of regular files of the project")
            );
        }
        let full = root.path().join(path.as_str());
        let url = Url::from_file_path(&full).map_err(|()| {
            Error::new(Kind::InvalidInput, format!("`files` names `{file}`, which is no path"))
        })?;
        let end = path.as_str().rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).unwrap_or_default();
        let mime = TYPES.iter().find(|(known, _)| *known == end).map_or("text/plain", |(_, mime)| mime);
        parts.push(json!({"type": "file", "mime": mime, "filename": path.as_str(), "url": url.as_str()}));
    }
    Ok(parts)
}

/// What a failed look at a file means.
pub(crate) fn refused(field: &str, path: &str, error: FileError) -> Error {
    let (kind, hint) = match &error {
        FileError::NotFound { .. } => (Kind::FileNotFound, "call `opencode_find_files` to see what exists"),
        FileError::Outside { .. } | FileError::Permission { .. } | FileError::Protected { .. } => {
            (Kind::Denied, "only files of the project can be used")
        }
        FileError::InvalidPath { .. } | FileError::NotAFile { .. } | FileError::NotADirectory { .. } => {
            (Kind::InvalidInput, "give a path from the root of the project, without `..`")
        }
        FileError::TooLarge { .. } => (Kind::InvalidInput, "choose a smaller file"),
        FileError::AlreadyExists { .. } => (Kind::InvalidInput, "choose another path"),
        FileError::Busy { .. } => (Kind::Timeout, "try again in a moment"),
        FileError::NoSpace { .. } | FileError::Io { .. } => (Kind::Internal, "see the log for the reason"),
    };
    Error::new(kind, format!("`{field}` is `{path}`: {error}")).hint(hint).because(error)
}

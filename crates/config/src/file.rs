//! A configuration file: finding it and reading its text.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::Problem;
use crate::excerpt::Lines;
use crate::origin::{Origin, Place};

/// What a configuration file is called.
pub const FILE_NAME: &str = "toolgate.toml";

/// The largest file that is read; a person's own is a thousandth of it.
const LIMIT: usize = 1024 * 1024;

/// The file of the first folder that has one.
///
/// A link that leads nowhere counts as there: reading it fails and names it, which passing over it would not.
pub(crate) fn find(folders: &[PathBuf]) -> Option<PathBuf> {
    folders.iter().map(|folder| folder.join(FILE_NAME)).find(|path| fs::symlink_metadata(path).is_ok())
}

/// The text of a file; `asked` is the variable or flag that named it, for a file that was not just found.
pub(crate) fn read(path: &Path, asked: Option<&Origin>) -> Result<String, Problem> {
    let bytes = read_bytes(path).map_err(|refusal| refusal.explain(path, asked))?;
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => Err(not_utf8(path, bytes, error.valid_up_to())),
    }
}

enum Refusal {
    Folder,
    Special,
    Large,
    Failed(io::Error),
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Refusal> {
    // Asked before opening: a pipe that nobody writes to would block for ever.
    let metadata = fs::metadata(path).map_err(Refusal::Failed)?;
    if metadata.is_dir() {
        return Err(Refusal::Folder);
    }
    if !metadata.is_file() {
        return Err(Refusal::Special);
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(Refusal::Failed)?;
    let read = file.take(LIMIT as u64 + 1).read_to_end(&mut bytes).map_err(Refusal::Failed)?;
    if read > LIMIT { Err(Refusal::Large) } else { Ok(bytes) }
}

impl Refusal {
    fn explain(self, path: &Path, asked: Option<&Origin>) -> Problem {
        let name = path.display();
        let (message, hint) = match self {
            Self::Folder => (
                format!("`{name}` is a folder, not a file"),
                format!("name the file in it: `{}`", path.join(FILE_NAME).display()),
            ),
            Self::Special => (
                format!("`{name}` is not a regular file"),
                "write the configuration to a file first".to_owned(),
            ),
            Self::Large => (
                format!("`{name}` is larger than 1 MiB"),
                "a configuration is a few kilobytes; see whether this is the right file".to_owned(),
            ),
            Self::Failed(_) if path.is_symlink() && !path.exists() => {
                (format!("`{name}` is a link that leads nowhere"), "mend the link, or remove it".to_owned())
            }
            Self::Failed(error) if error.kind() == io::ErrorKind::NotFound => (
                format!("there is no file `{name}`"),
                format!(
                    "see whether the path is right; without one, `{FILE_NAME}` of the working folder is read"
                ),
            ),
            Self::Failed(error) => (
                format!("cannot read `{name}`: {}", reason(&error)),
                "see who may read it, and whether it is a file".to_owned(),
            ),
        };
        Problem::new(asked.cloned(), message).hint(hint)
    }
}

/// What the system says, in the style of our own messages.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    text.to_lowercase()
}

fn not_utf8(path: &Path, bytes: &[u8], valid: usize) -> Problem {
    let head = bytes.get(..valid).unwrap_or_default();
    let head = std::str::from_utf8(head).unwrap_or_default();
    let (line, column) = Lines::new(head).position(head.len());
    let origin = Origin::File(Place { path: path.into(), line, column });
    let utf16 = bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF");
    let hint =
        if utf16 { "save the file as UTF-8; this looks like UTF-16" } else { "save the file as UTF-8" };
    Problem::new(origin, "invalid UTF-8").hint(hint.to_owned())
}

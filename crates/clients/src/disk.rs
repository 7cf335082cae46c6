//! Reading and replacing a file: through links, at once or not at all, and with its permissions.

use std::fs::{self, Metadata};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::problem::Problem;

/// No client's file is larger.
const LIMIT: u64 = 64 << 20;

/// As many links as Linux follows.
const LINKS: usize = 40;

/// The bytes of a file; none if there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, Problem> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(path, "cannot be read", &error)),
    };
    if !metadata.is_file() {
        let hint = "move it away, so that a file can take its place";
        return Err(Problem::new(path, "is not a file").hint(hint));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| failed(path, "cannot be read", &error))?;
    file.take(LIMIT + 1).read_to_end(&mut bytes).map_err(|error| failed(path, "cannot be read", &error))?;
    if bytes.len() as u64 > LIMIT {
        return Err(Problem::new(path, format!("is larger than {} MiB", LIMIT >> 20)));
    }
    Ok(Some(bytes))
}

/// Refuses a file whose owner does not want it to change.
pub(crate) fn check_writable(path: &Path) -> Result<(), Problem> {
    let target = target(path)?;
    if !fs::metadata(&target).is_ok_and(|metadata| metadata.permissions().readonly()) {
        return Ok(());
    }
    let hint = format!("allow it with `chmod u+w '{}'`, or change it where it is made", target.display());
    Err(Problem::new(path, "is write-protected").hint(hint))
}

/// Puts these bytes in the place of what a file holds, or makes it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    let target = target(path)?;
    let old = fs::metadata(&target).ok();
    replace(&target, bytes, old.as_ref()).map_err(|error| failed(path, "cannot be written", &error))
}

/// Writes a copy beside a file, which nobody may read who may not read the file.
pub(crate) fn write_like(path: &Path, bytes: &[u8], like: &Path) -> Result<(), Problem> {
    let model = fs::metadata(like).ok();
    replace(path, bytes, model.as_ref()).map_err(|error| failed(path, "cannot be written", &error))
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), Problem> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(failed(path, "cannot be removed", &error))
        }
        _ => Ok(()),
    }
}

/// The file that a path leads to, also where the last link leads to nothing yet.
fn target(path: &Path) -> Result<PathBuf, Problem> {
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        let Ok(next) = fs::read_link(&target) else { return Ok(target) };
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(Problem::new(path, "is a link that leads to itself").hint("remove the link"))
}

/// A complete file beside the target takes its name: whoever looks sees the old one or the new one.
fn replace(target: &Path, bytes: &[u8], like: Option<&Metadata>) -> io::Result<()> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".").suffix(".tmp");
    #[cfg(unix)]
    if like.is_none() {
        builder.permissions(usual());
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Some(like) = like {
        #[cfg(unix)]
        keep_owner(file.path(), like)?;
        file.as_file().set_permissions(like.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}

/// What a new file gets before the user's mask takes away from it.
#[cfg(unix)]
fn usual() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    fs::Permissions::from_mode(0o666)
}

/// A file of another's stays theirs, also when `root` edits it.
#[cfg(unix)]
fn keep_owner(new: &Path, like: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let mine = fs::metadata(new)?;
    if (mine.uid(), mine.gid()) == (like.uid(), like.gid()) {
        return Ok(());
    }
    chown(new, Some(like.uid()), Some(like.gid()))
}

pub(crate) fn failed(path: &Path, what: &str, error: &io::Error) -> Problem {
    Problem::new(path, format!("{what}: {error}"))
}

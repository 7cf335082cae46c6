//! Writing a file as a whole, by one writer at a time.
//!
//! Every write makes a new file beside the old one and renames it into place, under a lock on the folder. A
//! file is thus never modified in place: another hard link to it keeps the old content, and a reader sees
//! the old file or the new one. Programs that do not take the lock can still lose against an append.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, Metadata, PermissionsExt};
use rustix::fs::{Access, AtFlags, accessat};
use rustix::io::Errno;

use super::lock::{FolderLock, LOCK_TIMEOUT};
use super::temp::Temp;
use super::{FileError, ReadOptions, RelPath, Result, read};

// As many as the kernel follows.
const MAX_LINKS: usize = 40;

/// What to do with what is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteMode {
    /// Take its place.
    #[default]
    Replace,
    /// Come after it.
    Append,
    /// Come after it, on a new line: a line that was not ended is ended first.
    AppendLine,
    /// Refuse: the file must be new.
    CreateNew,
}

/// How to write.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// Whether missing folders on the way are made.
    pub create_dirs: bool,
    /// What to do with what is there already.
    pub mode: WriteMode,
    /// The most bytes that the file may have afterwards.
    pub max_bytes: u64,
    /// Which files nobody may write, by their path from the root as it really is.
    pub protected: fn(&Path) -> bool,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// How many bytes this call wrote.
    pub bytes: u64,
    /// How many bytes the file has now.
    pub total_size: u64,
    /// Whether the file is new.
    pub created: bool,
}

/// Where a file is to be: an open folder, and a name in it.
struct Place {
    folder: Dir,
    name: OsString,
    /// Its path from the root, without links.
    real: PathBuf,
}

pub(super) fn write(dir: &Dir, path: &RelPath, bytes: &[u8], options: &WriteOptions) -> Result<Written> {
    check_size(path, bytes.len() as u64, options.max_bytes)?;
    let failed = |error| FileError::from_io(path, error);
    let place = Place::find(dir, path, options)?;
    let lock = FolderLock::acquire(&place.folder, path, LOCK_TIMEOUT)?;
    if options.mode == WriteMode::CreateNew && place.folder.symlink_metadata(&place.name).is_ok() {
        return Err(FileError::AlreadyExists { path: path.named() });
    }
    let existing = place.existing(path)?;
    let kept = existing.as_ref().filter(|_| options.mode.appends());
    if let Some(old) = kept {
        check_size(path, old.len().saturating_add(bytes.len() as u64), options.max_bytes)?;
    }
    let mut temp = Temp::create(&place.folder, existing.as_ref()).map_err(failed)?;
    let mut kept_size = 0;
    if kept.is_some() {
        let line_is_open = copy_old(&place, path, &mut temp)?;
        kept_size = temp.size();
        if options.mode == WriteMode::AppendLine && line_is_open && !bytes.is_empty() {
            temp.append(b"\n").map_err(failed)?;
        }
        check_size(path, temp.size().saturating_add(bytes.len() as u64), options.max_bytes)?;
    }
    temp.append(bytes).map_err(failed)?;
    let total_size = temp.size();
    temp.publish(&place.name, options.mode == WriteMode::CreateNew).map_err(failed)?;
    lock.sync();
    Ok(Written { bytes: total_size - kept_size, total_size, created: existing.is_none() })
}

/// Writes what `change` makes of what the file holds, while no other writer can.
pub(super) fn change<E>(
    dir: &Dir,
    path: &RelPath,
    options: &WriteOptions,
    change: impl FnOnce(Option<Vec<u8>>) -> Result<Vec<u8>, E>,
) -> Result<Result<Written, E>> {
    let failed = |error| FileError::from_io(path, error);
    let place = Place::find(dir, path, options)?;
    let lock = FolderLock::acquire(&place.folder, path, LOCK_TIMEOUT)?;
    let existing = place.existing(path)?;
    let whole = ReadOptions::whole(options.max_bytes);
    let old = match &existing {
        Some(_) => Some(read::read_at(&place.folder, Path::new(&place.name), path, &whole)?.bytes),
        None => None,
    };
    let bytes = match change(old) {
        Ok(bytes) => bytes,
        Err(error) => return Ok(Err(error)),
    };
    check_size(path, bytes.len() as u64, options.max_bytes)?;
    let mut temp = Temp::create(&place.folder, existing.as_ref()).map_err(failed)?;
    temp.append(&bytes).map_err(failed)?;
    let total_size = temp.size();
    temp.publish(&place.name, existing.is_none()).map_err(failed)?;
    lock.sync();
    Ok(Ok(Written { bytes: total_size, total_size, created: existing.is_none() }))
}

pub(super) fn remove(dir: &Dir, path: &RelPath) -> Result<()> {
    let place = locate(dir, path, false)?;
    let lock = FolderLock::acquire(&place.folder, path, LOCK_TIMEOUT)?;
    place.folder.remove_file(&place.name).map_err(|error| FileError::from_io(path, error))?;
    lock.sync();
    Ok(())
}

pub(super) fn link(dir: &Dir, path: &RelPath, target: &Path) -> Result<()> {
    let failed = |error| FileError::from_io(path, error);
    let is_link = |metadata: Metadata| metadata.is_symlink();
    if dir.symlink_metadata(path.native()).is_ok_and(is_link) {
        // A link to another place cannot be read as a path of the root, so it is made anew.
        dir.remove_file(path.native()).map_err(failed)?;
    }
    dir.symlink_contents(target, path.native()).map_err(failed)
}

fn check_size(path: &RelPath, size: u64, limit: u64) -> Result<()> {
    if size > limit { Err(FileError::TooLarge { path: path.named(), size, limit }) } else { Ok(()) }
}

fn make_folders(dir: &Dir, path: &RelPath) -> Result<()> {
    let Some(parent) = path.parent().filter(|parent| !parent.is_root()) else { return Ok(()) };
    let missing = dir.open_dir(parent.native()).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    // It is there, or it cannot be, which `locate` will say.
    match missing.then(|| make_folder(dir, &parent)) {
        Some(Err(FileError::AlreadyExists { .. })) | None => Ok(()),
        Some(made) => made,
    }
}

pub(super) fn make_folder(dir: &Dir, path: &RelPath) -> Result<()> {
    dir.create_dir_all(path.native()).map_err(|error| FileError::from_io(path, error))
}

/// Where a path leads once all that is missing of it is made.
fn real_to_be(dir: &Dir, path: &Path) -> PathBuf {
    for there in path.ancestors().skip(1).filter(|there| !there.as_os_str().is_empty()) {
        if let (Ok(real), Ok(missing)) = (dir.canonicalize(there), path.strip_prefix(there)) {
            return real.join(missing);
        }
    }
    path.to_owned()
}

/// Finds the folder and the name; follows links at the end of the path, through the confined folder each time.
fn locate(dir: &Dir, path: &RelPath, follow: bool) -> Result<Place> {
    let failed = |error| FileError::from_io(path, error);
    let mut at: PathBuf = path.native().to_path_buf();
    for _ in 0..MAX_LINKS {
        let Some(name) = at.file_name().map(OsStr::to_owned) else {
            return Err(FileError::NotAFile { path: path.named() });
        };
        let parent = at.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = dir.open_dir(parent).map_err(failed)?;
        let is_link = folder.symlink_metadata(&name).is_ok_and(|metadata| metadata.is_symlink());
        if !(is_link && follow) {
            let real = dir.canonicalize(parent).map_err(failed)?.join(&name);
            return Ok(Place { folder, name, real });
        }
        let target = folder.read_link_contents(&name).map_err(failed)?;
        // An absolute target stays absolute, and the confined folder refuses it.
        at = parent.join(target);
    }
    Err(FileError::from_io(path, Errno::LOOP.into()))
}

impl Place {
    /// Where the file is to be, provided that it may be written; folders on the way are made where that is wanted.
    fn find(dir: &Dir, path: &RelPath, options: &WriteOptions) -> Result<Self> {
        let free = |real: &Path| match (options.protected)(real) {
            true => Err(FileError::Protected { path: path.named() }),
            false => Ok(()),
        };
        free(path.native())?;
        if options.create_dirs {
            // No folder is made where no file may be.
            free(&real_to_be(dir, path.native()))?;
            make_folders(dir, path)?;
        }
        let place = locate(dir, path, options.mode != WriteMode::CreateNew)?;
        free(&place.real)?;
        Ok(place)
    }

    /// The regular file that is there, if any, provided that it may be changed.
    fn existing(&self, path: &RelPath) -> Result<Option<Metadata>> {
        let metadata = match self.folder.symlink_metadata(&self.name) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FileError::from_io(path, error)),
        };
        if !metadata.is_file() {
            return Err(FileError::NotAFile { path: path.named() });
        }
        // A rename needs no permission for the file; who made it read-only meant it, also towards root.
        let refused = accessat(&self.folder, &self.name, Access::WRITE_OK, AtFlags::EACCESS);
        if metadata.permissions().mode() & 0o222 == 0 || matches!(refused, Err(Errno::ACCESS | Errno::ROFS)) {
            return Err(FileError::Permission { path: path.named() });
        }
        Ok(Some(metadata))
    }
}

impl WriteMode {
    const fn appends(self) -> bool {
        matches!(self, Self::Append | Self::AppendLine)
    }
}

/// Copies what the file holds so far into the new one; what it grows by meanwhile is not waited for. Says
/// whether its last line was not ended.
fn copy_old(place: &Place, path: &RelPath, temp: &mut Temp<'_>) -> Result<bool> {
    let failed = |error| FileError::from_io(path, error);
    let (old, metadata) = read::open_regular(&place.folder, Path::new(&place.name), path)?;
    let old = old.into_std();
    let mut last = [b'\n'];
    if let Some(at) = metadata.len().checked_sub(1) {
        old.read_at(&mut last, at).map_err(failed)?;
    }
    temp.copy_from(old, metadata.len()).map_err(failed)?;
    Ok(last != [b'\n'])
}

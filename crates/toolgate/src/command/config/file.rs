//! The person's file: read, and written as a whole or not at all.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use toolgate_host::files::{RelPath, Root, WriteMode, WriteOptions};

/// Larger files are not read as a configuration either.
const MAX_BYTES: u64 = 1024 * 1024;

/// Nobody else reads a file that may hold secrets.
const NEW_MODE: u32 = 0o600;

/// What a file holds; none if it is not there.
pub(in crate::command) fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match fs::read(path) {
        Ok(bytes) => {
            let text = String::from_utf8(bytes);
            text.map(Some).map_err(|_| anyhow!("`{}` is not UTF-8\nhint: save it as UTF-8", path.display()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    }
}

/// Puts a text in place of what the file held, provided that it still holds that. The permissions of the file are
/// kept, and a link to it stays one.
pub(in crate::command) fn replace(path: &Path, held: Option<&str>, text: &str) -> anyhow::Result<()> {
    if read(path)?.as_deref() != held {
        return Err(anyhow!("`{}` has changed meanwhile\nhint: try again", path.display()));
    }
    let made = if held.is_none() { Some(make(path)?) } else { None };
    let written = write(path, text).with_context(|| format!("cannot write `{}`", path.display()));
    if let (Err(_), Some(made)) = (&written, made) {
        // It is empty, and was not there before; if it stays, it harms nothing.
        drop(fs::remove_file(made));
    }
    written
}

/// Makes an empty file that only its owner can read, and its folder.
fn make(path: &Path) -> anyhow::Result<PathBuf> {
    let failed = || format!("cannot make `{}`", path.display());
    Root::create(folder_of(path)).with_context(failed)?;
    OpenOptions::new().write(true).create_new(true).mode(NEW_MODE).open(path).with_context(failed)?;
    Ok(path.to_owned())
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let target = fs::canonicalize(path)?;
    let name = target.file_name().and_then(|name| name.to_str()).context("its name is not UTF-8")?;
    let (root, name) = (Root::open(folder_of(&target))?, RelPath::parse(name, "")?);
    let options = WriteOptions {
        create_dirs: false,
        mode: WriteMode::Replace,
        max_bytes: MAX_BYTES,
        protected: |_| false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(root.write(&name, text.as_bytes().to_vec(), options))?;
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

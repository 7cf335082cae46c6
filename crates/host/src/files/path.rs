//! A path inside a root, parsed once at the edge.

use std::fmt;
use std::path::Path;

use super::{FileError, Result, TEMP_PREFIX};

const MAX_NAME: usize = 255;
// `PATH_MAX` is 4,096 with the NUL byte; the kernel would refuse more anyway.
const MAX_PATH: usize = 4_095;
const SHOWN: usize = 120;

/// A path below a root in its normal form: names joined by `/`, no `.`, no `..`; empty for the root itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(String);

impl RelPath {
    /// The root itself.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Parses what a caller wrote. With the mount `workspace`, `notes.md` and `/workspace/notes.md` are the same
    /// file, and every other absolute path is refused; so is `..` anywhere.
    ///
    /// A backslash is an ordinary character of a name.
    pub fn parse(text: &str, mount: &str) -> Result<Self> {
        if text.len() > MAX_PATH {
            return Err(invalid(text, "it is too long"));
        }
        if text.contains('\0') {
            return Err(invalid(text, "it holds a NUL byte"));
        }
        let relative = if text.starts_with('/') { unmount(text, mount)? } else { text };
        let mut normal = String::with_capacity(relative.len());
        for name in relative.split('/').filter(|name| !name.is_empty() && *name != ".") {
            check_name(text, name)?;
            if !normal.is_empty() {
                normal.push('/');
            }
            normal.push_str(name);
        }
        Ok(Self(normal))
    }

    /// The normal form: `notes/today.md`, or nothing for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the root itself.
    pub const fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The last name, unless this is the root.
    pub fn file_name(&self) -> Option<&str> {
        self.0.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// The folder it is in, unless this is the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        Some(Self(self.0.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned()))
    }

    /// This folder's entry with the given name, or relative path.
    pub fn join(&self, relative: &str) -> Result<Self> {
        if relative.starts_with('/') {
            return Err(FileError::Outside { path: shown(relative) });
        }
        Self::parse(&format!("{}/{relative}", if self.is_root() { "." } else { &self.0 }), "")
    }

    /// The path in the form that the file system takes; the root is `.`.
    pub(crate) fn native(&self) -> &Path {
        Path::new(if self.is_root() { "." } else { &self.0 })
    }

    /// The path as a message shows it; the root is `.`.
    pub(crate) fn named(&self) -> String {
        shown(&self.native().to_string_lossy())
    }

    /// A name just read from a folder, whose path this is.
    pub(crate) fn child(&self, name: &str) -> Self {
        if self.is_root() { Self(name.to_owned()) } else { Self(format!("{}/{name}", self.0)) }
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Takes the mount off an absolute path: `/workspace/a` becomes `/a`, `/workspace-evil/a` is refused.
fn unmount<'a>(text: &'a str, mount: &str) -> Result<&'a str> {
    let outside = || FileError::Outside { path: shown(text) };
    if mount.is_empty() {
        return Err(outside());
    }
    let rest = text.strip_prefix('/').and_then(|text| text.strip_prefix(mount)).ok_or_else(outside)?;
    if rest.is_empty() || rest.starts_with('/') { Ok(rest) } else { Err(outside()) }
}

fn check_name(text: &str, name: &str) -> Result<()> {
    if name == ".." {
        return Err(invalid(text, "`..` is not allowed, not even where it would stay inside"));
    }
    if name.len() > MAX_NAME {
        return Err(invalid(text, "a name in it has more than 255 bytes"));
    }
    if name.starts_with(TEMP_PREFIX) {
        return Err(invalid(text, "names that begin with `.toolgate-tmp-` are reserved"));
    }
    Ok(())
}

fn invalid(text: &str, reason: &'static str) -> FileError {
    FileError::InvalidPath { path: shown(text), reason }
}

/// What a message shows of a path that was refused: one line, not too long.
fn shown(text: &str) -> String {
    let mut shown: String =
        text.chars().take(SHOWN).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

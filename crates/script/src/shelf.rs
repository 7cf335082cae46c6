//! The folder of scripts: each is read once, and what was read is what is hashed and what runs.

use std::path::{Path, PathBuf};

use toolgate_core::{Error, Kind, Result};
use toolgate_host::files::{Kind as FileKind, ReadOptions, WriteMode, WriteOptions};
use toolgate_host::{FileError, RelPath, Root};

use crate::hash::Hash;
use crate::header::Header;
use crate::scripts::changed;

/// How the names of scripts end.
const SUFFIX: &str = ".star";

/// How many scripts there may be.
const MOST: usize = 1000;

/// A script as it was read: these bytes, this hash, this header.
#[derive(Debug, Clone)]
pub struct Script {
    /// Its name, such as `report.star`.
    pub name: String,
    /// Its text.
    pub source: String,
    /// The hash of exactly that text.
    pub hash: Hash,
    /// What its first lines say.
    pub header: Header,
}

impl Script {
    /// A script of this text.
    pub(crate) fn new(name: String, source: String) -> Self {
        let (hash, header) = (Hash::of(source.as_bytes()), Header::read(&source));
        Self { name, source, hash, header }
    }
}

/// The folder of scripts.
#[derive(Debug, Clone)]
pub(crate) struct Shelf {
    folder: PathBuf,
    /// The most bytes that a script may have.
    most: u64,
}

impl Shelf {
    pub(crate) fn new(folder: PathBuf, most: u64) -> Self {
        Self { folder, most }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the folder, if it is missing.
    pub(crate) fn make(&self) -> Result<()> {
        self.root().map(drop)
    }

    /// The names of all scripts, in order.
    pub(crate) async fn names(&self) -> Result<Vec<String>> {
        // Who only looks makes nothing.
        let root = match Root::open(&self.folder) {
            Err(FileError::NotFound { .. }) => return Ok(Vec::new()),
            root => root.map_err(cannot_open)?,
        };
        let listing = root.list(&RelPath::root(), MOST).await.map_err(failure)?;
        let is_script = |name: &str| script_name(name).is_ok_and(|whole| whole == name);
        let files =
            listing.entries.into_iter().filter(|entry| entry.kind == FileKind::File && entry.openable);
        Ok(files.map(|entry| entry.name).filter(|name| is_script(name)).collect())
    }

    /// Reads a script, once. The name may be given without its ending.
    pub(crate) async fn read(&self, name: &str) -> Result<Script> {
        let name = script_name(name)?;
        let path = RelPath::parse(&name, "").map_err(failure)?;
        let options = ReadOptions { offset: 0, length: None, max_bytes: self.most };
        let read = match self.root()?.read(&path, options).await {
            Err(FileError::NotFound { .. }) => return Err(self.unknown(&name).await),
            read => read.map_err(failure)?,
        };
        let source = String::from_utf8(read.bytes).map_err(|error| {
            Error::new(Kind::InvalidInput, format!("`{name}` is not UTF-8")).because(error)
        })?;
        Ok(Script::new(name, source))
    }

    /// Writes a script as a whole, in the place of the one with the hash that was seen. No other writer comes in between.
    pub(crate) async fn write(&self, name: &str, source: String, seen: Option<Hash>) -> Result<Script> {
        let script = Script::new(script_name(name)?, source);
        let path = RelPath::parse(&script.name, "").map_err(failure)?;
        if seen.is_none() && self.names().await?.len() >= MOST {
            let full = format!("there are {MOST} scripts already");
            return Err(Error::new(Kind::InvalidInput, full).hint("remove one from the folder of scripts"));
        }
        let options = WriteOptions {
            create_dirs: false,
            mode: WriteMode::Replace,
            max_bytes: self.most,
            protected: |_| false,
        };
        let (name, bytes) = (script.name.clone(), script.source.clone().into_bytes());
        let root = self.root()?;
        let written = root.change(&path, options, move |there| {
            let there = there.map(|bytes| Hash::of(&bytes));
            match (&there, &seen) {
                (Some(there), None) => Err(taken(&name, there)),
                _ if there != seen => Err(changed(&name, there.as_ref())),
                _ => Ok(bytes),
            }
        });
        written.await.map_err(failure)??;
        Ok(script)
    }

    /// The folder is made when it is first needed.
    fn root(&self) -> Result<Root> {
        Root::create(&self.folder).map_err(cannot_open)
    }

    async fn unknown(&self, name: &str) -> Error {
        let names = self.names().await.unwrap_or_default();
        let near = names.iter().map(|known| (strsim::jaro_winkler(name, known), known));
        let near = near.filter(|(likeness, _)| *likeness > 0.75).max_by(|a, b| a.0.total_cmp(&b.0));
        let error = Error::new(Kind::NotFound, format!("there is no script `{name}`"));
        match near {
            Some((_, near)) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint("call `script_list` to see what there is"),
        }
    }
}

fn cannot_open(error: FileError) -> Error {
    Error::new(Kind::Internal, "the folder of scripts cannot be opened").because(error)
}

/// The answer to who would put something new where something is.
fn taken(name: &str, there: &Hash) -> Error {
    Error::new(Kind::Conflict, format!("there is a script `{name}` already: {there}"))
        .hint("look at it, then change it; or choose another name")
}

/// The whole name of a script.
fn script_name(text: &str) -> Result<String> {
    let stem = text.strip_suffix(SUFFIX).unwrap_or(text);
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let first = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    if stem.len() <= 80 && stem.as_bytes().first().is_some_and(first) && stem.bytes().all(fits) {
        return Ok(format!("{stem}{SUFFIX}"));
    }
    let shown: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    Err(Error::new(Kind::InvalidInput, format!("`{shown}` cannot be the name of a script"))
        .hint("use letters, digits, `_`, `-` and `.`, at most 80"))
}

fn failure(error: FileError) -> Error {
    let kind = match &error {
        FileError::NotFound { .. } => Kind::NotFound,
        FileError::Outside { .. } | FileError::Permission { .. } | FileError::Protected { .. } => {
            Kind::Denied
        }
        FileError::TooLarge { .. } | FileError::NotAFile { .. } | FileError::InvalidPath { .. } => {
            Kind::InvalidInput
        }
        // Somebody else was faster.
        FileError::AlreadyExists { .. } | FileError::Busy { .. } => Kind::Conflict,
        FileError::NotADirectory { .. } | FileError::NoSpace { .. } | FileError::Io { .. } => Kind::Internal,
    };
    Error::new(kind, error.to_string()).because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_end_as_scripts_do() {
        #[track_caller]
        fn check(text: &str, expect: Option<&str>) {
            assert_eq!(script_name(text).ok().as_deref(), expect, "{text}");
        }
        check("report", Some("report.star"));
        check("report.star", Some("report.star"));
        check("a-b_c.v2", Some("a-b_c.v2.star"));
        for wrong in ["", ".star", "../x", "a/b", "exec:12", "a b", ".hidden", "-x", "é", &"x".repeat(81)] {
            check(wrong, None);
        }
    }

    #[tokio::test]
    async fn what_is_no_script_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        write("good.star", b"result = 1");
        write("notes.md", b"");
        write("raw.star", b"\xff");
        write("large.star", &[b' '; 200]);
        std::fs::create_dir(folder.path().join("dir.star")).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("out.star")).unwrap();
        let shelf = Shelf::new(folder.path().to_owned(), 100);
        assert_eq!(shelf.names().await.unwrap(), ["good.star", "large.star", "raw.star"]);
        assert_eq!(shelf.read("good").await.unwrap().hash, Hash::of(b"result = 1"));
        for (name, kind) in [
            ("raw", Kind::InvalidInput),
            ("large", Kind::InvalidInput),
            ("dir", Kind::InvalidInput),
            ("out", Kind::Denied),
            ("gone", Kind::NotFound),
        ] {
            assert_eq!(shelf.read(name).await.unwrap_err().kind(), kind, "{name}");
        }
        assert_eq!(shelf.read("goood").await.unwrap_err().next_step(), Some("did you mean `good.star`?"));
    }
}

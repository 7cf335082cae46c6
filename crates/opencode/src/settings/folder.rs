//! A folder of OpenCode's configuration: its files are changed as a whole, and put back where a change is refused.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio::sync::oneshot;
use toolgate_core::{Error, Kind, Result};
use toolgate_host::files::{ReadOptions, WriteMode, WriteOptions};
use toolgate_host::{FileError, RelPath, Root};

use super::Key;
use super::edit::{edited, meaning};

/// What the file is called, as OpenCode looks for it.
const NAMES: [&str; 2] = ["opencode.jsonc", "opencode.json"];

/// What a file that is not there yet holds.
const EMPTY: &str = "{\n}\n";

/// The key that names the schema of the file.
pub(super) const SCHEMA: &str = "$schema";

/// The largest file that is read or written.
const MOST_BYTES: u64 = 1 << 20;

/// A folder, and its files as they were before they were changed.
pub(super) struct Folder {
    root: Root,
    path: PathBuf,
    before: Vec<Before>,
}

struct Before {
    path: RelPath,
    /// What it held; nothing if it was not there.
    old: Option<Vec<u8>>,
    new: Vec<u8>,
}

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let root = Root::create(path).map_err(unwritable)?;
        Ok(Self { root, path: path.to_owned(), before: Vec::new() })
    }

    /// The file that is there, else the one to make.
    pub(super) async fn existing(&self) -> Result<String> {
        for name in NAMES {
            let path = RelPath::parse(name, "config").map_err(unwritable)?;
            if self.root.exists(&path).await.map_err(unwritable)? {
                return Ok(name.to_owned());
            }
        }
        Ok(NAMES[0].to_owned())
    }

    /// What the file says that is there; nothing if there is none, or none that can be read.
    pub(super) async fn said(&self) -> Result<Value> {
        let path = RelPath::parse(&self.existing().await?, "config").map_err(unwritable)?;
        let read = match self.root.read(&path, ReadOptions::whole(MOST_BYTES)).await {
            Err(FileError::NotFound { .. }) => return Ok(Value::Null),
            read => read.map_err(unwritable)?,
        };
        let text = std::str::from_utf8(&read.bytes).ok();
        Ok(text.and_then(meaning).map_or(Value::Null, Value::Object))
    }

    /// Changes keys of a file.
    pub(super) async fn change(&mut self, name: &str, keys: Vec<Key>) -> Result<()> {
        let file = self.path.join(name);
        self.rewrite(name, move |text| rewritten(&file, text, &keys)).await
    }

    /// Takes the schema out of the file that the server itself would change, and tells what it was: that it is put back
    /// later makes the server read all its files again.
    pub(super) async fn loosen(&mut self) -> Result<Option<Value>> {
        let (tell, told) = oneshot::channel();
        let name = self.existing().await?;
        let loosened = move |text: &str| {
            let schema = meaning(text).and_then(|config| config.get(SCHEMA).cloned());
            // Nobody waits any more if this fails.
            drop(tell.send(schema));
            Ok(edited(text, &[(vec![SCHEMA.to_owned()], None)]).unwrap_or_else(|_| text.to_owned()))
        };
        self.rewrite(&name, loosened).await?;
        Ok(told.await.ok().flatten())
    }

    /// Puts back what was changed, unless somebody else has changed it since.
    pub(super) async fn put_back(&self) -> Result<()> {
        for Before { path, old, new } in self.before.iter().rev() {
            let (old, new) = (old.clone(), new.clone());
            let is_gone = old.is_none();
            let back = move |now: Option<Vec<u8>>| {
                let back = old.unwrap_or_else(|| EMPTY.into());
                let is_ours = now.is_some_and(|now| is_alike(&now, &new) || is_alike(&now, &back));
                if is_ours { Ok(back) } else { Err(()) }
            };
            match self.root.change(path, options(), back).await.map_err(unwritable)? {
                Ok(_) if is_gone => self.root.remove_file(path).await.map_err(unwritable)?,
                Ok(_) => {}
                Err(()) => tracing::warn!(%path, "a file of OpenCode is left: somebody else has changed it"),
            }
        }
        Ok(())
    }

    /// Writes what is made of a file, and keeps what it was.
    async fn rewrite(
        &mut self,
        name: &str,
        make: impl FnOnce(&str) -> Result<String> + Send + 'static,
    ) -> Result<()> {
        let path = RelPath::parse(name, "config").map_err(unwritable)?;
        let file = self.path.join(name);
        let (tell, told) = oneshot::channel();
        let change = move |old: Option<Vec<u8>>| {
            let text = match &old {
                Some(bytes) => std::str::from_utf8(bytes).map_err(|_| unusable(&file, "it is not UTF-8"))?,
                None => EMPTY,
            };
            let new = make(text)?.into_bytes();
            drop(tell.send((old, new.clone())));
            Ok::<_, Error>(new)
        };
        self.root.change(&path, options(), change).await.map_err(unwritable)??;
        let Ok((old, new)) = told.await else { return Ok(()) };
        match self.before.iter_mut().find(|before| before.path == path) {
            Some(before) => before.new = new,
            None => self.before.push(Before { path, old, new }),
        }
        Ok(())
    }
}

/// The text of a file with these keys changed.
fn rewritten(file: &Path, text: &str, keys: &[Key]) -> Result<String> {
    let now = edited(text, keys).map_err(|why| unusable(file, &why))?;
    if now == text && keys.iter().all(|(_, value)| value.is_none()) {
        let named: Vec<String> = keys.iter().map(|(path, _)| path.join(".")).collect();
        let words = format!("`{}` is not in `{}`", named.join("`, `"), file.display());
        return Err(Error::new(Kind::InvalidInput, words)
            .hint("it may be in the other scope: set `scope` to `project` or `global`"));
    }
    Ok(now)
}

/// Whether two files say the same, but for the schema: the server puts that back, and may set the rest anew.
fn is_alike(one: &[u8], other: &[u8]) -> bool {
    let said = |bytes: &[u8]| {
        let mut config = meaning(std::str::from_utf8(bytes).ok()?)?;
        config.remove(SCHEMA);
        Some(config)
    };
    one == other || said(one).is_some_and(|one| Some(one) == said(other))
}

fn options() -> WriteOptions {
    WriteOptions { create_dirs: true, mode: WriteMode::Replace, max_bytes: MOST_BYTES, protected: |_| false }
}

fn unusable(file: &Path, why: &str) -> Error {
    Error::new(Kind::InvalidInput, format!("`{}` cannot be changed: {why}", file.display()))
        .hint("correct the file, then call again")
}

fn unwritable(error: FileError) -> Error {
    Error::new(Kind::Denied, format!("OpenCode's configuration cannot be changed: {error}"))
        .hint("check who may write it")
}

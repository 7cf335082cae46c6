//! The pack `vault`: a folder of Markdown notes, with a search over them, and kept the same as a git repository elsewhere.
//!
//! Nothing hidden is part of it: no path through a name that begins with a dot is read, listed or written, not even
//! by a link. So nobody reaches `.git`, or the settings of the program that people read their notes with.

mod config;
mod edit;
mod excerpt;
mod git;
mod index;
mod keeper;
mod list;
mod note;
mod read;
mod search;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolgate_core::{AnyTool, Error, Kind, Pack, Result, tool};
use toolgate_host::{FileError, RelPath, Root, Secret, Tasks};

use crate::Unready;
use crate::failure::{Advice, failure};
use crate::folder::CannotOpen;
use git::Git;
use keeper::Keeper;

pub use config::{Pull, VaultConfig, VaultGitConfig};
pub use git::Tools;

/// Absolute paths begin with this name: `/vault/notes.md` is `notes.md`.
const MOUNT: &str = "vault";

const ADVICE: Advice = Advice {
    missing: "call `vault_list` or `vault_search` to see what exists",
    large: "read a part of it with `from_line` and `lines`, or write less",
};

/// A folder of Markdown notes. Clones are the same vault.
#[derive(Debug, Clone)]
pub struct Vault(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The most bytes that are read at once.
    max_read_bytes: u64,
    /// The most bytes that a note may have after a write.
    max_write_bytes: u64,
    root: Root,
    keeper: Keeper,
    git: Option<Git>,
    tasks: Tasks,
}

/// Why there is no vault.
#[derive(Debug, thiserror::Error)]
pub enum NoVault {
    /// What is configured does not do.
    #[error(transparent)]
    Unready(#[from] Unready),
    /// Its folder cannot be opened.
    #[error(transparent)]
    CannotOpen(#[from] CannotOpen),
}

/// What a vault needs of its surroundings.
#[derive(Debug)]
pub struct VaultPlace<'a> {
    /// A folder of our own, made when it is first needed.
    pub own: PathBuf,
    /// The programs of the machine.
    pub tools: Tools,
    /// Who owns what runs beside calls.
    pub tasks: &'a Tasks,
}

impl Vault {
    /// What is configured; `fill` puts a secret where the token refers to it. It looks at no note yet.
    ///
    /// # Errors
    /// Something is missing, or cannot be meant.
    pub fn new(
        config: &VaultConfig,
        place: VaultPlace<'_>,
        fill: impl Fn(&str) -> Result<Secret, String>,
    ) -> Result<Self, NoVault> {
        config.check()?;
        let Some(folder) = &config.root else {
            return Err(Unready::Needs("set `vault.root`".into()).into());
        };
        let root = CannotOpen::or_open(folder)?;
        let VaultPlace { own, tools, tasks } = place;
        let git = match config.git.enabled {
            true => Some(Git::new(&config.git, root.clone(), own.join("git"), tools, fill)?),
            false => None,
        };
        let keeper = Keeper::new(root.clone(), config.max_read_bytes, tasks);
        Ok(Self(Arc::new(Inner {
            max_read_bytes: config.max_read_bytes,
            max_write_bytes: config.max_write_bytes,
            root,
            keeper,
            git,
            tasks: tasks.clone(),
        })))
    }

    fn root(&self) -> &Root {
        &self.0.root
    }

    /// Brings in what is elsewhere, if that is wanted and it was not done lately. What went wrong is told in words.
    async fn pulled(&self) -> Option<String> {
        let git = self.0.git.as_ref()?;
        git.refresh(&self.0.tasks).await
    }

    /// The file that a path leads to, unless a link leads it into what is hidden.
    async fn real(&self, path: &RelPath) -> Result<RelPath> {
        let real = self.root().real(path).await.map_err(|error| failure(error, ADVICE))?;
        visible(real, path)
    }
}

impl Pack for Vault {
    const NAME: &'static str = "vault";

    fn tools() -> Vec<AnyTool<Self>> {
        vec![tool(read::VaultRead), tool(write::VaultWrite), tool(list::VaultList), tool(search::VaultSearch)]
    }
}

/// Reads a path as callers write it.
fn path(text: &str) -> Result<RelPath> {
    let path = RelPath::parse(text, MOUNT).map_err(|error| failure(error, ADVICE))?;
    visible(path.clone(), &path)
}

/// A path, unless it is hidden; the error names what the caller gave.
fn visible(path: RelPath, given: &RelPath) -> Result<RelPath> {
    if !is_hidden(Path::new(path.as_str())) {
        return Ok(path);
    }
    let hidden = FileError::Protected { path: given.to_string() };
    Err(Error::new(Kind::Denied, format!("`{given}` is hidden, and no part of the vault"))
        .hint("leave hidden files to the person whose vault it is")
        .because(hidden))
}

/// Whether a path leads through a name that begins with a dot.
fn is_hidden(path: &Path) -> bool {
    path.iter().any(|name| name != "." && name.as_encoded_bytes().starts_with(b"."))
}

/// Whether a file is a note.
fn is_note(path: &RelPath) -> bool {
    let extension = Path::new(path.as_str()).extension();
    extension.is_some_and(|end| end.eq_ignore_ascii_case("md") || end.eq_ignore_ascii_case("markdown"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_no_part_of_the_vault() {
        #[track_caller]
        fn check(text: &str, expect: Result<&str, Kind>) {
            let path = path(text);
            assert_eq!(path.as_ref().map(RelPath::as_str).map_err(Error::kind), expect, "{text}");
        }
        check("a.md", Ok("a.md"));
        check("/vault/a/b.md", Ok("a/b.md"));
        check("", Ok(""));
        check("./a..md", Ok("a..md"));
        check(".git/config", Err(Kind::Denied));
        check("a/.obsidian/app.json", Err(Kind::Denied));
        check(".GIT", Err(Kind::Denied));
        check("/vault-evil/a.md", Err(Kind::Denied));
        check("/etc/passwd", Err(Kind::Denied));
        check("../a.md", Err(Kind::InvalidInput));
        check("a\0.md", Err(Kind::InvalidInput));
    }

    #[test]
    fn notes_are_known_by_their_ending() {
        let note = |path: &str| is_note(&RelPath::parse(path, "").unwrap());
        for (path, expect) in [
            ("a.md", true),
            ("A/B.MD", true),
            ("a.Markdown", true),
            ("a.txt", false),
            ("md", false),
            (".md", false),
        ] {
            assert_eq!(note(path), expect, "{path}");
        }
    }
}

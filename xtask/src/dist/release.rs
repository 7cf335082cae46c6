//! The program as it is released, and what it writes of itself.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Entry, read};
use crate::process::Program;
use crate::trained::TOOLGATE;

/// A built program.
pub(super) struct Release {
    pub(super) version: String,
    pub(super) binary: Vec<u8>,
    path: PathBuf,
    /// A folder without anybody's configuration.
    empty: PathBuf,
}

impl Release {
    /// Builds it; `folder` gets a place to run it in.
    pub(super) fn build(root: &Path, folder: &Path) -> Result<Self> {
        let path = TOOLGATE.build(root)?;
        let binary = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let empty = folder.join("check/empty");
        fs::create_dir_all(&empty).context("cannot make a folder to run the program in")?;
        let mut this = Self { version: String::new(), binary, path, empty };
        let said = this.run(&["--version"])?;
        let version =
            said.trim().strip_prefix("toolgate ").context("the program does not say its version")?;
        this.version = version.to_owned();
        Ok(this)
    }

    /// What it prints for these arguments, on defaults.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<String> {
        let program = Program::new(&self.empty, "env").env("HOME", &self.empty).arg(&self.path);
        arguments.iter().fold(program, |program, argument| program.arg(argument)).read()
    }

    /// The files of the archive, laid out as below `/usr/local`.
    pub(super) fn files(&self, root: &Path) -> Result<Vec<Entry>> {
        let mut files = vec![
            Entry::program("bin/toolgate", self.binary.clone()),
            Entry::text("LICENSE", read(root, "LICENSE")?),
            Entry::text("README.md", read(root, "README.md")?),
        ];
        for (shell, path) in [
            ("bash", "share/bash-completion/completions/toolgate"),
            ("zsh", "share/zsh/site-functions/_toolgate"),
            ("fish", "share/fish/vendor_completions.d/toolgate.fish"),
        ] {
            files.push(Entry::text(path, self.run(&["completions", shell])?));
        }
        let pages = self.empty.with_file_name("man");
        self.run(&["man", "--dir", &pages.to_string_lossy()])?;
        for page in fs::read_dir(&pages).context("the program wrote no manual pages")? {
            let page = page?;
            let name = page.file_name().to_string_lossy().into_owned();
            files.push(Entry::text(format!("share/man/man1/{name}"), fs::read(page.path())?));
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(files)
    }
}

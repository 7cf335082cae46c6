//! The copy of the repository in which mutants live.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process::Program;
use crate::repo;

/// The copy, always at the same place, so that what was built for it is not built again.
pub(super) struct Copy {
    root: PathBuf,
    path: PathBuf,
}

impl Copy {
    /// Brings the copy up to date: files that are the same keep their times, and cargo what it built of them.
    pub(super) fn of(root: &Path) -> Result<Self> {
        let path = root.join("target/mutate/copy");
        fs::create_dir_all(&path).with_context(|| format!("cannot make `{}`", path.display()))?;
        let this = Self { root: root.to_owned(), path };
        let listed = Program::new(root, "git ls-files -z --cached --others --exclude-standard").read()?;
        let is_there = |file: &&str| root.join(file).is_file();
        let files: BTreeSet<&str> = listed.split_terminator('\0').filter(is_there).collect();
        for file in repo::read(&this.path)? {
            if !files.contains(file.path.as_str()) {
                this.remove(&file.path)?;
            }
        }
        files.into_iter().try_for_each(|file| this.restore(file))?;
        Ok(this)
    }

    /// Where it lies.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a file what it is in the repository.
    fn restore(&self, file: &str) -> Result<()> {
        let (from, to) = (self.root.join(file), self.path.join(file));
        let bytes = fs::read(&from).with_context(|| format!("cannot read `{file}`"))?;
        if fs::read(&to).is_ok_and(|known| known == bytes) {
            return Ok(());
        }
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        // A new file, with the permissions of the old one and the time of now.
        fs::copy(&from, &to).with_context(|| format!("cannot copy `{file}`"))?;
        Ok(())
    }

    /// Makes a file say something else, and tells what it said before: the repository may have changed since.
    pub(super) fn change(&self, file: &str, text: &str) -> Result<String> {
        let (path, cannot) = (self.path.join(file), || format!("cannot change the copy of `{file}`"));
        let before = fs::read_to_string(&path).with_context(cannot)?;
        fs::write(path, text).with_context(cannot)?;
        Ok(before)
    }

    /// Removes a file, and the folders that are empty without it.
    fn remove(&self, file: &str) -> Result<()> {
        let gone = self.path.join(file);
        fs::remove_file(&gone).with_context(|| format!("cannot remove the copy of `{file}`"))?;
        for folder in gone.ancestors().skip(1).take_while(|folder| *folder != self.path) {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }
}

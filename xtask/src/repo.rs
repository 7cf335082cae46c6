//! The files of the repository, as the rules see them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Folders that hold what tools made, not what people wrote.
const FOREIGN: &[&str] = &[".git", ".venv", "__pycache__", "node_modules", "target"];

/// Where the repository lies.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// A file of the repository.
#[derive(Debug)]
pub(crate) struct File {
    /// Its path from the root, with `/`.
    pub(crate) path: String,
    /// What it says, if that is text.
    pub(crate) text: Option<String>,
}

impl File {
    /// What comes after the last dot of its name, or nothing.
    pub(crate) fn extension(&self) -> &str {
        self.name().rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// Its name without folders.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(&self.path, |(_, name)| name)
    }

    /// Its lines, counted from one; none if it is not text.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let text = self.text.as_deref().unwrap_or_default();
        text.split('\n').enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// Reads every file under `root` that people wrote, in order of their paths.
pub(crate) fn read(root: &Path) -> Result<Vec<File>> {
    let mut files = Vec::new();
    walk(root, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn walk(dir: &Path, prefix: &str, files: &mut Vec<File>) -> Result<()> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot list `{}`", dir.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() && !FOREIGN.contains(&name.as_str()) {
            walk(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file() {
            let bytes = fs::read(entry.path()).with_context(|| format!("cannot read `{path}`"))?;
            files.push(File { path, text: String::from_utf8(bytes).ok() });
        }
    }
    Ok(())
}

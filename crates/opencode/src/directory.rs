//! Which project a call is about.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use toolgate_core::{Error, Kind, Result};

/// What lies at the root of a project.
const MARKERS: [&str; 8] =
    [".git", "package.json", "Cargo.toml", "go.mod", "pyproject.toml", "setup.py", "pom.xml", "build.gradle"];

/// How many folders up a project's root is looked for.
const LEVELS: usize = 20;

/// A project, and how it was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    pub(crate) path: PathBuf,
    pub(crate) source: DirectorySource,
}

/// How a project was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DirectorySource {
    Explicit,
    Env,
    Detected,
    Fallback,
}

impl Project {
    /// The project that a call names, else the configured one, else the one that `folder` is in.
    pub(crate) fn find(named: Option<&str>, configured: Option<&Path>, folder: &Path) -> Result<Self> {
        if let Some(named) = named {
            return Self::at(Path::new(named), DirectorySource::Explicit, "workingDirectory");
        }
        if let Some(configured) = configured {
            return Self::at(configured, DirectorySource::Env, "opencode.default_project");
        }
        let has_marker = |folder: &&Path| MARKERS.iter().any(|marker| folder.join(marker).exists());
        match folder.ancestors().take(LEVELS).find(has_marker) {
            Some(root) => Ok(Self { path: root.to_owned(), source: DirectorySource::Detected }),
            None => Self::at(folder, DirectorySource::Fallback, "the working folder"),
        }
    }

    /// The same, if it is in another.
    pub(crate) fn within(self, other: &Self) -> Result<Self> {
        let root = std::fs::canonicalize(&other.path).unwrap_or_else(|_| other.path.clone());
        if self.path.starts_with(root) {
            return Ok(self);
        }
        let (path, other) = (self.path.display(), other.path.display());
        Err(Error::new(Kind::Denied, format!("`workingDirectory` is `{path}`, which is not in `{other}`"))
            .hint("leave it out, or set `opencode.default_project` to the project that is meant"))
    }

    /// OpenCode takes any text for a folder, so it is looked at here.
    fn at(path: &Path, source: DirectorySource, what: &str) -> Result<Self> {
        let refused = |why: &str| {
            Error::new(Kind::InvalidInput, format!("`{what}` is `{}`, {why}", path.display()))
                .hint("give the absolute path of a folder that exists")
        };
        if !path.is_absolute() {
            return Err(refused("which is no absolute path"));
        }
        match std::fs::canonicalize(path) {
            Ok(real) if real.is_dir() => Ok(Self { path: real, source }),
            // One text for all else: nobody learns here what there is.
            Ok(_) => Err(refused("which is no folder")),
            Err(error) => Err(refused("which is no folder").because(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_reason_decides() {
        let place = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(place.path()).unwrap();
        let deep = root.join("project/src/deep");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(root.join("project/Cargo.toml"), "").unwrap();
        let check = |named: Option<&Path>, configured: Option<&Path>, path: &Path, source| {
            let named = named.map(|path| path.to_str().unwrap());
            let found = Project::find(named, configured, &deep).unwrap();
            assert_eq!(found, Project { path: path.to_owned(), source });
        };
        check(Some(&root), Some(&deep), &root, DirectorySource::Explicit);
        check(None, Some(&root), &root, DirectorySource::Env);
        check(None, None, &root.join("project"), DirectorySource::Detected);
    }

    #[test]
    fn a_folder_is_in_another_by_its_real_path() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("ours/part")).unwrap();
        std::fs::create_dir(place.path().join("ours-not")).unwrap();
        std::os::unix::fs::symlink(place.path(), place.path().join("ours/up")).unwrap();
        let find = |name: &str| {
            Project::find(Some(place.path().join(name).to_str().unwrap()), None, Path::new("/")).unwrap()
        };
        let check = |name: &str, expect: Option<Kind>| {
            assert_eq!(find(name).within(&find("ours")).err().map(|error| error.kind()), expect, "{name}");
        };
        check("ours", None);
        check("ours/part", None);
        check("ours-not", Some(Kind::Denied));
        check("ours/up", Some(Kind::Denied));
        check("ours/up/ours", None);
        check("", Some(Kind::Denied));
    }

    #[test]
    fn what_is_no_folder_is_refused() {
        #[track_caller]
        fn check(named: &str, words: &str) {
            let error = Project::find(Some(named), None, Path::new("/")).unwrap_err();
            assert_eq!((error.kind(), error.message()), (Kind::InvalidInput, words));
        }
        check("src", "`workingDirectory` is `src`, which is no absolute path");
        check("/nowhere/at/all", "`workingDirectory` is `/nowhere/at/all`, which is no folder");
        check("/etc/passwd", "`workingDirectory` is `/etc/passwd`, which is no folder");
    }
}

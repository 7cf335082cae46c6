//! Looks through the files of a project line by line, without any other program.

use std::path::Path;

use regex::Regex;
use schemars::JsonSchema;
use serde::Serialize;
use toolgate_core::{Error, Kind, Result};
use toolgate_host::files::ReadOptions;
use toolgate_host::{RelPath, Root};

use super::files::{refused, within};

/// Folders that hold what others wrote or what is made anew.
const SKIPPED: [&str; 3] = [".git", "node_modules", "target"];

/// How many files and folders are looked at, how large a file may be, and how much of a line is told.
const ENTRIES: usize = 200_000;
const MOST_BYTES: u64 = 2 << 20;
const LINE: usize = 500;

/// A line that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Hit {
    /// The path of the file, from the root of the project.
    pub(super) path: String,
    /// The number of the line.
    pub(super) line: u64,
    /// The text of the line.
    pub(super) text: String,
}

/// What a search came to.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) hits: Vec<Hit>,
    /// Whether there are more than were asked for.
    pub(super) truncated: bool,
    /// How many files were too large to be looked at.
    pub(super) too_large: usize,
}

/// The lines that fit a pattern, up to `limit`.
pub(super) async fn search(
    project: &Path,
    below: Option<&str>,
    (field, pattern): (&str, &str),
    limit: usize,
) -> Result<Found> {
    let pattern = Regex::new(pattern).map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Error::new(Kind::InvalidInput, format!("`{field}` is no regular expression: {why}"))
            .hint("escape letters such as `(` and `[` with a backslash to find them as they are")
            .because(error)
    })?;
    let folder = match below {
        Some(below) => within(project, "directory", below)?,
        None => RelPath::root(),
    };
    let failed = |error| refused("directory", below.unwrap_or("."), error);
    let root = Root::open(project).map_err(failed)?;
    let walk = root.walk_under(&folder, ENTRIES, |name| SKIPPED.contains(&name)).await.map_err(failed)?;
    let (large, files): (Vec<_>, Vec<_>) = walk.files.iter().partition(|file| file.size > MOST_BYTES);
    let mut found = Found { hits: Vec::new(), truncated: walk.truncated, too_large: large.len() };
    for file in files {
        // A file that is gone or not to be read is none that fits.
        let Ok(content) = root.read(&file.path, ReadOptions::whole(MOST_BYTES)).await else { continue };
        let Ok(text) = String::from_utf8(content.bytes) else { continue };
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| pattern.is_match(text)) {
            if found.hits.len() == limit {
                return Ok(Found { truncated: true, ..found });
            }
            let text = text.chars().take(LINE).collect();
            found.hits.push(Hit { path: file.path.to_string(), line, text });
        }
    }
    Ok(found)
}

/// Whether there is nothing to tell of files that were too large.
pub(super) fn none(too_large: &usize) -> bool {
    *too_large == 0
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[tokio::test]
    async fn files_that_are_too_large_are_counted_and_not_looked_at() {
        let project = tempfile::tempdir().unwrap();
        fs::write(project.path().join("small.txt"), "a needle\n").unwrap();
        for (name, more) in [("full.txt", 0), ("large.txt", 1)] {
            let rest = usize::try_from(MOST_BYTES).unwrap() - "a needle\n".len() + more;
            fs::write(project.path().join(name), format!("a needle\n{}", "x".repeat(rest))).unwrap();
        }
        let found = search(project.path(), None, ("pattern", "needle"), 10).await.unwrap();
        let mut paths: Vec<&str> = found.hits.iter().map(|hit| hit.path.as_str()).collect();
        paths.sort_unstable();
        assert_eq!((paths, found.too_large, found.truncated), (vec!["full.txt", "small.txt"], 1, false));
    }
}

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

/// The lines that fit a pattern, and whether there are more than `limit`.
pub(super) async fn search(
    project: &Path,
    below: Option<&str>,
    (field, pattern): (&str, &str),
    limit: usize,
) -> Result<(Vec<Hit>, bool)> {
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
    let mut hits = Vec::new();
    for file in walk.files.iter().filter(|file| file.size <= MOST_BYTES) {
        // A file that is gone or not to be read is none that fits.
        let Ok(content) = root.read(&file.path, ReadOptions::whole(MOST_BYTES)).await else { continue };
        let Ok(text) = String::from_utf8(content.bytes) else { continue };
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| pattern.is_match(text)) {
            if hits.len() == limit {
                return Ok((hits, true));
            }
            let text = text.chars().take(LINE).collect();
            hits.push(Hit { path: file.path.to_string(), line, text });
        }
    }
    Ok((hits, walk.truncated))
}

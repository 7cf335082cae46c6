//! Which file a memory is in: what callers write, parsed once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Kind, Result};
use toolgate_host::RelPath;

use super::ADVICE;
use crate::failure::failure;

/// The files that have names of their own.
const NAMED: [(&str, &str); 3] =
    [("long-term", "MEMORY.md"), ("soul", "SOUL.md"), ("user-profile", "USER.md")];

/// The folder of all others.
const FOLDER: &str = "memory/";

/// A memory as a caller names it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(
    description = "Which memory: `long-term` (MEMORY.md), `soul` (SOUL.md), `user-profile` (USER.md), a date \
    such as `2026-07-28`, or a path under memory/ such as `projects.md`; a name without extension gets `.md`."
)]
pub(super) struct FileName(String);

impl Default for FileName {
    fn default() -> Self {
        Self(NAMED[0].0.to_owned())
    }
}

impl FileName {
    /// The file it is in, from the memory root.
    pub(super) fn path(&self) -> Result<RelPath> {
        let text = self.0.as_str();
        if let Some((_, file)) = NAMED.iter().find(|(name, _)| *name == text) {
            return parse(file);
        }
        if looks_like_date(text) && !is_date(text) {
            return Err(Error::new(Kind::InvalidInput, format!("`{text}` is not a day of the calendar"))
                .hint("write a date as year, month and day, such as `2026-07-28`"));
        }
        let path = parse(text)?;
        if NAMED.iter().any(|(_, file)| *file == path.as_str()) {
            return Ok(path);
        }
        let below = path.as_str().strip_prefix(FOLDER).unwrap_or(path.as_str());
        if below.is_empty() || path.as_str() == FOLDER.trim_end_matches('/') {
            return Err(Error::new(Kind::InvalidInput, "`file` names the folder of all memories")
                .hint("use `long-term`, `soul`, `user-profile`, a date, or a path under memory/"));
        }
        let has_extension = path.file_name().is_some_and(|name| name.trim_start_matches('.').contains('.'));
        parse(&format!("{FOLDER}{below}{}", if has_extension { "" } else { ".md" }))
    }
}

/// Whether a file of the memory root is a memory.
pub(super) fn is_memory(path: &RelPath) -> bool {
    NAMED.iter().any(|(_, file)| *file == path.as_str()) || path.as_str().starts_with(FOLDER)
}

fn parse(text: &str) -> Result<RelPath> {
    RelPath::parse(text, "memory").map_err(|error| failure(error, ADVICE))
}

fn looks_like_date(text: &str) -> bool {
    let fits = |(place, byte): (usize, u8)| {
        if matches!(place, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() }
    };
    text.len() == "YYYY-MM-DD".len() && text.bytes().enumerate().all(fits)
}

fn is_date(text: &str) -> bool {
    let number = |range| text.get(range).and_then(|digits: &str| digits.parse::<u32>().ok()).unwrap_or(0);
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    year > 0 && (1..=last).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, expect: Result<&str, Kind>) {
        let path = FileName(file.into()).path();
        assert_eq!(path.as_ref().map(RelPath::as_str).map_err(Error::kind), expect, "{file}");
    }

    #[test]
    fn names_dates_and_paths_lead_to_files() {
        check("long-term", Ok("MEMORY.md"));
        check("soul", Ok("SOUL.md"));
        check("user-profile", Ok("USER.md"));
        check("MEMORY.md", Ok("MEMORY.md"));
        check("./USER.md", Ok("USER.md"));
        check("2024-02-29", Ok("memory/2024-02-29.md"));
        check("memory/2024-01-15.md", Ok("memory/2024-01-15.md"));
        check("/memory/2024-01-15.md", Ok("memory/2024-01-15.md"));
        check("notes.md", Ok("memory/notes.md"));
        check("notes", Ok("memory/notes.md"));
        check("people/ann.txt", Ok("memory/people/ann.txt"));
        check("v1.2/plan", Ok("memory/v1.2/plan.md"));
        check("memory/SOUL.md", Ok("memory/SOUL.md"));
    }

    #[test]
    fn what_is_no_date_and_leads_nowhere_or_out_is_refused() {
        check("2023-02-29", Err(Kind::InvalidInput));
        check("2024-13-01", Err(Kind::InvalidInput));
        check("0000-01-01", Err(Kind::InvalidInput));
        check("", Err(Kind::InvalidInput));
        check("memory", Err(Kind::InvalidInput));
        check("memory/", Err(Kind::InvalidInput));
        check("/memory", Err(Kind::InvalidInput));
        check("../MEMORY.md", Err(Kind::InvalidInput));
        check("memory/../SOUL.md", Err(Kind::InvalidInput));
        check("/etc/passwd", Err(Kind::Denied));
        check("/memory-evil/x.md", Err(Kind::Denied));
    }
}

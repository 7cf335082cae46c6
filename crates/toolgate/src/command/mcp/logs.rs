//! `toolgate mcp logs`: the end of what a server's program wrote to standard error.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use super::told::{print, say};
use super::{Scene, running};

/// How often there may be more.
const PAUSE: Duration = Duration::from_millis(250);

pub(super) async fn run(
    scene: &Scene<'_>,
    name: &str,
    follow: bool,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    scene.table(name)?;
    if !running::is_there(&scene.settings).await? {
        let none = running::none(&scene.settings.data_dir);
        return Err(anyhow::anyhow!(
            "{none}; `toolgate mcp test {name}` starts it once and shows what it says"
        ));
    }
    let mut seen: Vec<String> = Vec::new();
    loop {
        let status = running::one(&scene.settings, name).await?.unwrap_or_default();
        if as_json {
            print(&json!({"name": name, "lines": status.stderr}))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut out = std::io::stdout().lock();
        for line in new(&seen, &status.stderr) {
            writeln!(out, "{}", plain(line))?;
        }
        out.flush()?;
        drop(out);
        if !follow {
            if status.stderr.is_empty() {
                say(&format!("`{name}` has written nothing to standard error"))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        seen = status.stderr;
        tokio::time::sleep(PAUSE).await;
    }
}

/// The lines of a tail that were not in an earlier one: what follows the longest end of the old that begins the new.
fn new<'a>(seen: &[String], tail: &'a [String]) -> &'a [String] {
    let overlap = (0..=seen.len().min(tail.len()))
        .rev()
        .find(|length| seen[seen.len() - length..] == tail[..*length])
        .unwrap_or_default();
    &tail[overlap..]
}

/// A line without anything that a terminal would obey.
fn plain(line: &str) -> String {
    line.replace(|letter: char| letter.is_control() && letter != '\t', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_lines_are_printed() {
        #[track_caller]
        fn check(seen: &str, tail: &str, expect: &str) {
            let lines = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
            assert_eq!(new(&lines(seen), &lines(tail)).join(""), expect, "{seen} {tail}");
        }
        check("", "", "");
        check("", "abc", "abc");
        check("abc", "abc", "");
        check("abc", "abcd", "d");
        check("abc", "bcde", "de");
        check("abc", "xyz", "xyz");
        check("aaa", "aaab", "b");
    }

    #[test]
    fn a_terminal_obeys_nothing_of_it() {
        assert_eq!(plain("\u{1b}[31mred\tx\u{9b}"), " [31mred\tx ");
    }
}

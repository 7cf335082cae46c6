//! What was left for later, or for a debugging session, does not stay.

use super::{Finding, Subject};
use crate::repo::File;

/// Macros that only unfinished code has. Written in halves, or this file would find itself.
const MACROS: &[&str] = &[concat!("to", "do!"), concat!("unimple", "mented!"), concat!("db", "g!")];
/// Marks of what was left open.
const MARKS: &[&str] = &[concat!("FIX", "ME"), concat!("X", "XX")];
/// What tools write, where any letters may stand side by side.
const MADE: &[&str] = &["Cargo.lock", "package-lock.json"];

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    subject.files.iter().filter(|file| !MADE.contains(&file.name())).flat_map(judge).collect()
}

fn judge(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in file.lines() {
        let mark = MARKS.iter().find(|mark| has_word(line, mark));
        let code = MACROS.iter().filter(|_| file.extension() == "rs").find(|word| has_word(line, word));
        if let Some(word) = mark.or(code) {
            let finding = Finding::new(&file.path, number, format!("`{word}` is left over"));
            findings.push(finding.instead("finish it, or open an issue and leave it out"));
        }
    }
    findings
}

/// Whether a word stands in a line by itself.
fn has_word(line: &str, word: &str) -> bool {
    let inside =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    line.match_indices(word).any(|(start, _)| {
        let (before, after) = (&line[..start], &line[start + word.len()..]);
        !inside(before.chars().next_back()) && (word.ends_with('!') || !inside(after.chars().next()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[track_caller]
    fn check_line(path: &str, line: &str, expect: bool) {
        let text = format!("first\n{line}\n");
        let found = sample::places(&check(&sample::files(&[(path, &text)])));
        assert_eq!(found == [format!("{path}:2")], expect, "{path}: {line}");
    }

    #[test]
    fn leftovers_are_found_as_words() {
        for word in MACROS {
            check_line("a.rs", &format!("    {word}()"), true);
            check_line("a.rs", &format!("    not_{word}()"), false);
            check_line("a.md", &format!("`{word}`"), false);
        }
        for word in MARKS {
            check_line("a.rs", &format!("// {word}: later"), true);
            check_line("a.md", &format!("({word})"), true);
            check_line("a.sh", &format!("mktemp a.{word}{word}"), false);
            check_line("Cargo.lock", word, false);
        }
    }
}

//! A change as a unified diff, fit for a terminal: the lines of others around it may hold anything.

use std::path::Path;

use toolgate_clients::Plan;

use super::mask;
use crate::diff::hunks;

/// Longer lines are cut where nothing changes.
const LONGEST: usize = 240;

/// The diff; empty if nothing changes.
pub(in crate::command) fn unified(plan: &Plan) -> String {
    let (before, after) = (String::from_utf8_lossy(plan.before()), String::from_utf8_lossy(plan.after()));
    between(plan.path(), &before, &after)
}

/// The diff of what a file holds and what it will hold.
pub(in crate::command) fn between(path: &Path, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let path = path.display().to_string();
    let name = |content: &str| if content.is_empty() { "/dev/null" } else { &path }.to_owned();
    // An argument may tell what the next line holds, so the whole is masked.
    let masked =
        |lines: &[&str]| mask::secrets(lines.iter().copied()).iter().map(|line| shown(line)).collect();
    format!("--- {}\n+++ {}\n{}", name(before), name(after), hunks(before, after, masked))
}

/// A line without what a terminal would obey, and not without end.
fn shown(line: &str) -> String {
    let plain = |letter: char| if letter.is_control() && letter != '\t' { '\u{fffd}' } else { letter };
    let letters: Vec<char> = line.chars().map(plain).collect();
    if letters.len() <= LONGEST {
        return letters.into_iter().collect();
    }
    // In a file on one line the new entry stands near the end.
    let half = LONGEST / 2;
    let (start, end) = (&letters[..half], &letters[letters.len() - half..]);
    start.iter().chain(" … ".chars().collect::<Vec<_>>().iter()).chain(end).collect()
}

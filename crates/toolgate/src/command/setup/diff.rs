//! A change as a unified diff, fit for a terminal: the lines of others around it may hold anything.

use std::path::Path;

use similar::{ChangeTag, TextDiff};
use toolgate_clients::Plan;

use super::mask;

/// Unchanged lines around a change.
const AROUND: usize = 3;

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
    let mut out = format!("--- {}\n+++ {}\n", name(before), name(after));
    let diff = TextDiff::from_lines(before, after);
    // An argument may tell what the next line holds, so the whole is masked.
    let (old, new) = (diff.old_slices(), diff.new_slices());
    let (old, new) = (mask::secrets(old.iter().copied()), mask::secrets(new.iter().copied()));
    for hunk in diff.unified_diff().context_radius(AROUND).iter_hunks() {
        out += &format!("{}\n", hunk.header());
        for change in hunk.iter_changes() {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let masked = match (change.old_index(), change.new_index()) {
                (_, Some(line)) => new.get(line),
                (Some(line), None) => old.get(line),
                (None, None) => None,
            };
            out += &format!("{sign}{}\n", shown(masked.map_or("", String::as_str)));
            if change.missing_newline() {
                out += "\\ No newline at end of file\n";
            }
        }
    }
    out
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

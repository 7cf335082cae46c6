//! The lines that differ between two texts, as a unified diff.

use similar::{ChangeTag, TextDiff};

/// Unchanged lines around a change.
const AROUND: usize = 3;

/// What changed in a script: whoever decides on it has to see every letter, so no line is cut.
pub(crate) fn of_script(before: &str, after: &str) -> String {
    hunks(before, after, |lines| lines.iter().map(|line| line.trim_end_matches('\n').to_owned()).collect())
}

/// The changed lines, as `shown` writes all those of a text; empty if nothing changed.
pub(crate) fn hunks(before: &str, after: &str, shown: impl Fn(&[&str]) -> Vec<String>) -> String {
    let mut out = String::new();
    let diff = TextDiff::from_lines(before, after);
    let (old, new) = (shown(diff.old_slices()), shown(diff.new_slices()));
    for hunk in diff.unified_diff().context_radius(AROUND).iter_hunks() {
        out += &format!("{}\n", hunk.header());
        for change in hunk.iter_changes() {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let line = match (change.old_index(), change.new_index()) {
                (_, Some(line)) => new.get(line),
                (Some(line), None) => old.get(line),
                (None, None) => None,
            };
            out += &format!("{sign}{}\n", line.map_or("", String::as_str));
            if change.missing_newline() {
                out += "\\ No newline at end of file\n";
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_of_a_change_is_shown() {
        #[track_caller]
        fn check(before: &str, after: &str, expect: &str) {
            assert_eq!(of_script(before, after), expect);
        }
        check("a\n", "a\n", "");
        check("a\nb\n", "a\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        check("a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
        let long = format!("{}evil(){}", "x".repeat(400), "y".repeat(400));
        assert!(of_script("a\n", &long).contains(&long), "a long line is not cut");
    }
}

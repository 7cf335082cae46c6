//! What changed in a script since it was approved: whoever decides has to see every letter of it.

use similar::{ChangeTag, TextDiff};

/// Unchanged lines around a change.
const AROUND: usize = 3;

/// The changed lines of a script, none of them cut; empty if nothing changed.
pub(crate) fn between(before: &str, after: &str) -> String {
    let mut out = String::new();
    let diff = TextDiff::from_lines(before, after);
    for hunk in diff.unified_diff().context_radius(AROUND).iter_hunks() {
        out += &format!("{}\n", hunk.header());
        for change in hunk.iter_changes() {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            out += &format!("{sign}{}\n", change.value().trim_end_matches('\n'));
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
            assert_eq!(between(before, after), expect);
        }
        check("a\n", "a\n", "");
        check("a\nb\n", "a\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        check("", "a", "@@ -0,0 +1 @@\n+a\n");
        let long = format!("{}evil(){}", "x".repeat(400), "y".repeat(400));
        assert!(between("a\n", &long).contains(&long), "a long line is not cut");
    }
}

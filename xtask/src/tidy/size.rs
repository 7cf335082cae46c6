//! A file that is too long to hold in mind is two files.

use super::{Finding, Subject};
use crate::repo::File;

/// From here it is worth another look.
const LOOK: usize = 400;
/// Here it stops.
const STOP: usize = 600;
/// What people write by hand and read from top to bottom.
const CODE: &[&str] = &["css", "html", "js", "mjs", "py", "rs", "sh", "ts"];

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    subject.files.iter().filter(|file| CODE.contains(&file.extension())).filter_map(judge).collect()
}

fn judge(file: &File) -> Option<Finding> {
    let lines = file.text.as_deref().unwrap_or_default().lines().count();
    if lines <= LOOK {
        return None;
    }
    let finding = Finding::new(&file.path, None, format!("{lines} lines"));
    if lines > STOP {
        return Some(finding.instead(format!("split it by theme: {STOP} is the most, 150 is typical")));
    }
    Some(finding.instead(format!("look whether it is two things; {STOP} is the most")).note())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[track_caller]
    fn check_lines(path: &str, lines: usize, expect: &[&str]) {
        let text = "line\n".repeat(lines);
        assert_eq!(sample::places(&check(&sample::files(&[(path, &text)]))), expect, "{lines}");
    }

    #[test]
    fn long_files_are_noted_then_refused() {
        check_lines("a.rs", 400, &[]);
        check_lines("a.rs", 401, &["a.rs?"]);
        check_lines("a.rs", 600, &["a.rs?"]);
        check_lines("a.rs", 601, &["a.rs"]);
        check_lines("package-lock.json", 9000, &[]);
    }
}

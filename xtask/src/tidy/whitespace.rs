//! Lines end where their text ends, and the last one ends with a newline.

use super::{Finding, Subject};
use crate::repo::File;

/// Recorded output, byte for byte.
const RECORDED: &[&str] = &["snap"];

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    subject.files.iter().filter(|file| !RECORDED.contains(&file.extension())).flat_map(judge).collect()
}

fn judge(file: &File) -> Vec<Finding> {
    // `cargo fmt` sees to Rust; what it leaves is inside of strings, where it means something.
    let by_hand = file.extension() != "rs";
    let trailing = file.lines().filter(|(_, line)| by_hand && line.trim_end() != *line);
    let mut findings: Vec<Finding> = trailing
        .map(|(number, _)| {
            Finding::new(&file.path, number, "whitespace at the end of the line")
                .instead("remove it; in Markdown a blank line parts paragraphs")
        })
        .collect();
    let text = file.text.as_deref().unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        let finding = Finding::new(&file.path, file.lines().count(), "no newline at the end of the file");
        findings.push(finding.instead("add one"));
    }
    if text.ends_with("\n\n") {
        let finding =
            Finding::new(&file.path, file.lines().count() - 1, "blank lines at the end of the file");
        findings.push(finding.instead("remove them"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[track_caller]
    fn check_text(path: &str, text: &str, expect: &[&str]) {
        assert_eq!(sample::places(&check(&sample::files(&[(path, text)]))), expect, "{text:?}");
    }

    #[test]
    fn ends_are_clean() {
        check_text("a.md", "one\n\ntwo\n", &[]);
        check_text("a.md", "", &[]);
        check_text("a.md", "one  \ntwo\t\n", &["a.md:1", "a.md:2"]);
        check_text("a.md", "one\r\n", &["a.md:1"]);
        check_text("a.md", "one\ntwo", &["a.md:2"]);
        check_text("a.md", "one\n\n", &["a.md:2"]);
        check_text("a.rs", "const HELP: &str = \"one  \n\";\n", &[]);
        check_text("a.rs", "const HELP: &str = \"one\";", &["a.rs:1"]);
        check_text("a.snap", "one  \n", &[]);
    }
}

//! Every module begins with a sentence that says what it is.

use super::{Finding, Subject};
use crate::repo::File;

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    subject.rust().filter_map(judge).collect()
}

fn judge(file: &File) -> Option<Finding> {
    let doc: Vec<&str> =
        file.lines().map(|(_, line)| line).take_while(|line| line.starts_with("//! ")).collect();
    let what = match doc.last() {
        None => "the module does not begin with a `//!` sentence",
        Some(last) if !last.ends_with(['.', ':']) => "the module's first `//!` paragraph is no sentence",
        Some(_) => return None,
    };
    let line = doc.len().max(1);
    Some(
        Finding::new(&file.path, line, what)
            .instead("say on the first line what the module is, with a period"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[track_caller]
    fn check_text(text: &str, expect: &[&str]) {
        assert_eq!(sample::places(&check(&sample::files(&[("a.rs", text)]))), expect, "{text}");
    }

    #[test]
    fn a_module_begins_with_a_sentence() {
        check_text("//! Frames.\n\nuse a;\n", &[]);
        check_text("//! Frames, and all\n//! that is in them.\n//!\n//! More\n", &[]);
        check_text("use a;\n", &["a.rs:1"]);
        check_text("\n//! Frames.\n", &["a.rs:1"]);
        check_text("//!Frames.\n", &["a.rs:1"]);
        check_text("//! Frames, and all\n//! that is in them\n", &["a.rs:2"]);
        check_text("", &["a.rs:1"]);
    }
}

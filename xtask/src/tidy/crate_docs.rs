//! Every crate says what it is, and what it deliberately does not know.

use super::{Finding, Subject};
use crate::repo::File;

/// A sentence about what is absent has one of these.
const NEGATIONS: &[&str] = &["no", "not", "nor", "neither", "nothing", "never", "none"];

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    subject.rust().filter(|file| is_root(subject, file)).filter_map(judge).collect()
}

/// Whether a file is the root of a crate: `lib.rs`, or `main.rs` where there is no library.
fn is_root(subject: &Subject, file: &File) -> bool {
    match file.path.strip_suffix("/src/main.rs") {
        Some(folder) => subject.file(&format!("{folder}/src/lib.rs")).is_none(),
        None => file.path.ends_with("/src/lib.rs"),
    }
}

fn judge(file: &File) -> Option<Finding> {
    let lines = file.lines().map(|(_, line)| line).take_while(|line| line.starts_with("//!"));
    let doc = lines.map(|line| line.trim_start_matches("//!").trim()).collect::<Vec<_>>().join(" ");
    let sentences = doc.matches(". ").count() + usize::from(doc.ends_with('.'));
    let mut words = doc.split(|letter: char| !letter.is_alphabetic());
    if sentences >= 2 && words.any(|word| NEGATIONS.contains(&word.to_lowercase().as_str())) {
        return None;
    }
    let finding = Finding::new(&file.path, 1, "the crate's doc does not say what it does not know");
    Some(finding.instead("write one sentence on what it is, and one on what it knows nothing of"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[track_caller]
    fn check_doc(doc: &str, expect: &[&str]) {
        assert_eq!(sample::places(&check(&sample::files(&[("crates/a/src/lib.rs", doc)]))), expect, "{doc}");
    }

    #[test]
    fn a_crate_says_what_it_is_and_what_it_does_not_know() {
        check_doc("//! The wire.\n//!\n//! It knows no policy.\nmod a;\n", &[]);
        check_doc("//! The wire. It knows neither policy\n//! nor network.\n", &[]);
        check_doc("//! The wire.\n", &["crates/a/src/lib.rs:1"]);
        check_doc("//! The wire. It is fast.\n", &["crates/a/src/lib.rs:1"]);
        check_doc("mod a;\n", &["crates/a/src/lib.rs:1"]);
    }

    #[test]
    fn a_binary_speaks_for_itself_only_without_a_library() {
        let bad = ("crates/a/src/main.rs", "//! Runs.\n");
        let good = ("crates/a/src/lib.rs", "//! All of it. It knows no tool.\n");
        assert_eq!(sample::places(&check(&sample::files(&[bad]))), ["crates/a/src/main.rs:1"]);
        assert!(check(&sample::files(&[bad, good])).is_empty());
    }
}

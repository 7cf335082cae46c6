//! One integration-test binary a crate: each more costs a link of everything.

use super::{Finding, Subject};

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    let paths = subject.rust().map(|file| file.path.as_str());
    let extra = paths.filter(|path| is_binary(path) && !path.ends_with("/tests/it/main.rs"));
    extra
        .map(|path| {
            Finding::new(path, None, "a test binary of its own")
                .instead("make it a module of the crate's `tests/it/main.rs`")
        })
        .collect()
}

/// Whether cargo makes a test binary of a file: `tests/x.rs` or `tests/x/main.rs` beside a crate's `src`.
fn is_binary(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["crates", _, "tests", _] | ["xtask", "tests", _] => true,
        ["crates", _, "tests", _, name] | ["xtask", "tests", _, name] => *name == "main.rs",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_crate_has_one_test_binary() {
        let paths = [
            "crates/a/tests/it/main.rs",
            "crates/a/tests/it/calls.rs",
            "crates/a/tests/it/calls/main.rs",
            "crates/a/src/foo/tests.rs",
            "crates/a/tests/calls.rs",
            "crates/a/tests/other/main.rs",
        ];
        let subject = sample::files(&paths.map(|path| (path, "")));
        assert_eq!(
            sample::places(&check(&subject)),
            ["crates/a/tests/calls.rs", "crates/a/tests/other/main.rs"]
        );
    }
}

//! A module `foo` is `foo.rs` with `foo/`, so that an editor's tabs have names.

use super::{Finding, Subject};

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    let found = subject.rust().filter_map(|file| Some((file, file.path.strip_suffix("/mod.rs")?)));
    found
        .map(|(file, folder)| {
            Finding::new(&file.path, None, "a `mod.rs`").instead(format!("name it `{folder}.rs`"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_mod_file_is_found() {
        let subject = sample::files(&[("src/a/mod.rs", ""), ("src/b.rs", ""), ("src/modern/prod.rs", "")]);
        assert_eq!(sample::places(&check(&subject)), ["src/a/mod.rs"]);
    }
}

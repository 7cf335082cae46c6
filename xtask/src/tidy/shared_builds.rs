//! What `cargo xtask` builds is what the tests build, so that CI builds it once.

use super::{Finding, Subject};

const MANIFEST: &str = "xtask/Cargo.toml";

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    let twice = subject.builds.chores.difference(&subject.builds.tests);
    // It costs time, and breaks nothing.
    twice.map(|package| complain(package).note()).collect()
}

fn complain(package: &str) -> Finding {
    let name = package.split(' ').next().unwrap_or_default();
    Finding::new(MANIFEST, None, format!("`{package}` is built with other features for tests")).instead(format!(
        "`cargo tree --workspace --edges features,normal,dev --invert {name}` shows who adds some: name it here, too"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn other_features_are_noted() {
        let mut subject = sample::files(&[]);
        subject.builds.chores = ["a v1.0.0 std", "b v1.0.0"].map(str::to_owned).into();
        subject.builds.tests = ["a v1.0.0 rng,std", "b v1.0.0", "c v1.0.0"].map(str::to_owned).into();
        assert_eq!(sample::places(&check(&subject)), ["xtask/Cargo.toml?"]);
    }
}

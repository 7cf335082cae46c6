//! Every package we build on may be used by everyone we give Toolgate to.

mod spdx;

use super::{Finding, Subject};
use crate::graph::Package;
use spdx::Expression;

/// Licences that ask for no more than naming the authors, or to give back changes of the very file.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Exceptions that give more freedom than the licence before them.
const EXCEPTIONS: &[&str] = &["LLVM-exception"];

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    let judged = subject.graph.packages.iter().map(|package| (package, judge(package.license.as_deref())));
    judged
        .filter_map(|(package, verdict)| verdict.err().map(|what| complain(subject, package, &what)))
        .collect()
}

fn judge(license: Option<&str>) -> Result<(), String> {
    let text = license.ok_or("names no licence")?;
    let expression = Expression::parse(text).map_err(|error| format!("has the licence `{text}`: {error}"))?;
    let known = |id: &str, exception: Option<&str>| {
        ALLOWED.contains(&id) && exception.is_none_or(|exception| EXCEPTIONS.contains(&exception))
    };
    if expression.is_met(&known) { Ok(()) } else { Err(format!("has the licence `{text}`")) }
}

fn complain(subject: &Subject, package: &Package, what: &str) -> Finding {
    let name = format!("name = \"{}\"", package.name);
    let line = subject.line("Cargo.lock", |line| line == name);
    Finding::new("Cargo.lock", line, format!("`{} {}` {what}", package.name, package.version))
        .instead("choose another package, or argue for the licence in `xtask/src/tidy/licences.rs`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn licences_are_judged_as_expressions() {
        for good in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
            "Apache-2.0 WITH LLVM-exception",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "GPL-3.0-only OR (MIT AND ISC)",
        ] {
            assert_eq!(judge(Some(good)), Ok(()), "{good}");
        }
        for bad in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT OR ISC) AND AGPL-3.0-only",
            "Apache-2.0 WITH Other-exception",
            "",
            "MIT OR",
            "(MIT",
        ] {
            assert!(judge(Some(bad)).is_err(), "{bad}");
        }
        assert!(judge(None).is_err());
    }

    #[test]
    fn the_line_of_the_lock_file_is_named() {
        let mut subject = sample::packages("good 1.0.0 MIT:\nbad 1.0.0 GPL-3.0-only:\nbare 1.0.0 -:");
        subject.files = sample::files(&[("Cargo.lock", "[[package]]\nname = \"bad\"\n")]).files;
        assert_eq!(sample::places(&check(&subject)), ["Cargo.lock:2", "Cargo.lock"]);
    }
}

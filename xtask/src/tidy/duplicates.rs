//! No package is linked twice at versions that do not understand each other.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Subject};

const BINARY: &str = "toolgate";
const HERE: &str = "xtask/src/tidy/duplicates.rs";

/// A package that may be there twice, and why.
struct Excuse {
    name: &'static str,
    reason: &'static str,
}

/// Goes stale by itself: an entry that is no longer needed is an error.
const EXCUSED: &[Excuse] = &[
    Excuse { name: "base64", reason: "`sqlx-core` has not moved to 0.23" },
    Excuse {
        name: "bit-set",
        reason: "`fancy-regex` of `jsonschema` has not moved to 0.11, as the parser of `cel` has",
    },
    Excuse { name: "bit-vec", reason: "see `bit-set`" },
    Excuse {
        name: "bitflags",
        reason: "`lsp-types` of `starlark`, which we do not use, has not moved to 2; nor has `defmt`, which only `jiff` names",
    },
    Excuse { name: "block-buffer", reason: "see `sha2`" },
    Excuse { name: "cpufeatures", reason: "see `sha2`" },
    Excuse { name: "crypto-common", reason: "see `sha2`" },
    Excuse { name: "derive_more", reason: "`starlark` 0.13 has not moved to 2" },
    Excuse { name: "derive_more-impl", reason: "see `derive_more`" },
    Excuse { name: "digest", reason: "see `sha2`" },
    Excuse { name: "getrandom", reason: "`jsonschema` hashes with an `ahash` that has not moved to 0.4" },
    Excuse { name: "hashbrown", reason: "`sqlx-core` has not moved to 0.17" },
    Excuse {
        name: "io-lifetimes",
        reason: "`cap-primitives` uses an `fs-set-times` that has not moved to 3",
    },
    Excuse { name: "itertools", reason: "`starlark` 0.13 has not moved to 0.14" },
    Excuse { name: "nom", reason: "`cel` has not moved to 8, as `dom_query` has" },
    Excuse { name: "rand", reason: "`opentelemetry_sdk` has not moved to 0.10" },
    Excuse { name: "rand_core", reason: "see `rand`; `crypto-common` of `sqlx` has not moved to 0.10" },
    Excuse {
        name: "regex-syntax",
        reason: "`logos` of `starlark`, only at build time, has not moved to 0.8",
    },
    Excuse { name: "sha2", reason: "`sqlx-core` hashes migrations, which we do not use, with 0.10" },
    Excuse { name: "strsim", reason: "`starlark` 0.13 has not moved to 0.11" },
    Excuse {
        name: "syn",
        reason: "only at build time: `tracing` and `strum` derive with 2, the others with 3",
    },
    Excuse { name: "thiserror", reason: "`starlark` 0.13 has not moved to 2" },
    Excuse { name: "thiserror-impl", reason: "see `thiserror`" },
    Excuse { name: "untrusted", reason: "`aws-lc-rs` has not moved to 0.9" },
];

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    judge(subject, EXCUSED)
}

fn judge(subject: &Subject, excused: &[Excuse]) -> Vec<Finding> {
    let mut majors: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in subject.graph.linked_into(BINARY) {
        majors.entry(&package.name).or_default().insert(major(&package.version));
    }
    majors.retain(|_, versions| versions.len() > 1);
    let duplicates = majors.iter().filter(|(name, _)| excused.iter().all(|excuse| excuse.name != **name));
    let stale = excused.iter().filter(|excuse| !majors.contains_key(excuse.name));
    duplicates
        .map(|(name, versions)| twice(subject, name, versions))
        .chain(stale.map(|excuse| outdated(subject, excuse)))
        .collect()
}

fn twice(subject: &Subject, name: &str, versions: &BTreeSet<&str>) -> Finding {
    let versions: Vec<&str> = versions.iter().copied().collect();
    let entry = format!("name = \"{name}\"");
    let line = subject.line("Cargo.lock", |line| line == entry);
    let what = format!("`{name}` is linked at the versions {}", versions.join(" and "));
    let instead = format!(
        "see `cargo tree --invert {name}@VERSION`; move to one version, or excuse it in `{HERE}` with a reason"
    );
    Finding::new("Cargo.lock", line, what).instead(instead)
}

fn outdated(subject: &Subject, excuse: &Excuse) -> Finding {
    let Excuse { name, reason } = excuse;
    let line = subject.line(HERE, |line| line.contains(&format!("name: \"{name}\"")));
    Finding::new(HERE, line, format!("`{name}` is no longer there twice, but excused ({reason})"))
        .instead("remove the entry")
}

/// The part of a version that has to be equal for two to be compatible.
fn major(version: &str) -> &str {
    let mut dots = version.match_indices('.').map(|(index, _)| index);
    let (first, second) = (dots.next(), dots.next());
    let end = match (first, second) {
        (Some(first), _) if &version[..first] != "0" => first,
        (Some(first), Some(second)) if &version[first..second] != ".0" => second,
        _ => version.len(),
    };
    &version[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn compatible_versions_share_a_major() {
        for (version, expect) in
            [("1.2.3", "1"), ("10.0.0", "10"), ("0.4.3", "0.4"), ("0.0.7", "0.0.7"), ("2.0.1+x", "2")]
        {
            assert_eq!(major(version), expect, "{version}");
        }
    }

    #[track_caller]
    fn check_lines(excused: &[&'static str], lines: &str, expect: &[&str]) {
        let excused: Vec<Excuse> = excused.iter().map(|name| Excuse { name, reason: "a test" }).collect();
        assert_eq!(sample::places(&judge(&sample::packages(lines), &excused)), expect, "{lines}");
    }

    #[test]
    fn only_what_the_binary_links_counts() {
        let twice = "toolgate 0.1.0 MIT: a@1.0.0, a@2.0.0\na 1.0.0 MIT:\na 2.0.0 MIT:";
        check_lines(&[], twice, &["Cargo.lock"]);
        check_lines(&["a"], twice, &[]);
        check_lines(&[], "toolgate 0.1.0 MIT: a@1.0.0, dev a@2.0.0\na 1.0.0 MIT:\na 2.0.0 MIT:", &[]);
        check_lines(&[], "toolgate 0.1.0 MIT: a@1.0.0, a@1.1.0\na 1.0.0 MIT:\na 1.1.0 MIT:", &[]);
    }

    #[test]
    fn a_stale_excuse_is_an_error() {
        check_lines(&["a"], "toolgate 0.1.0 MIT: a\na 1.0.0 MIT:", &[HERE]);
    }
}

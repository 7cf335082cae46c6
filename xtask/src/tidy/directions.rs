//! Which crate of ours may know which.

use super::{Finding, Subject};
use crate::graph::{Dependency, Kind, Package};

/// Below everything: these see none of ours.
const GROUND: &[&str] = &["toolgate-host", "toolgate-wire"];
/// What a crate may see that no line below names.
const BELOW: &[&str] = &["toolgate-core", "toolgate-host", "toolgate-wire"];
/// These put everything together.
const TOP: &[&str] = &["toolgate", "xtask"];
/// Helpers of tests: never part of the product.
const TESTKIT: &str = "toolgate-testkit";
/// The fixture pack, and whose tests may use it.
const FIXTURES: &str = "toolgate-fixtures";
const FIXTURE_USERS: &[&str] = &["toolgate", "toolgate-front"];
/// Who knows principals, and is tried behind the real front.
const IDENTITY: &str = "toolgate-identity";
const FRONT: &str = "toolgate-front";

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    let edges = subject
        .graph
        .ours()
        .flat_map(|package| package.dependencies.iter().map(move |dependency| (package, dependency)));
    edges
        .filter(|(_, dependency)| subject.graph.is_ours(&dependency.name))
        .filter(|(package, dependency)| !allowed(&package.name, dependency))
        .map(|(package, dependency)| complain(subject, package, dependency))
        .collect()
}

fn allowed(package: &str, dependency: &Dependency) -> bool {
    let target = dependency.name.as_str();
    if dependency.kind == Some(Kind::Dev) && allowed_in_tests(package, target) {
        return true;
    }
    match package {
        _ if TOP.contains(&target) => package == "xtask",
        "xtask" => true,
        "toolgate" => target != TESTKIT,
        _ if GROUND.contains(&package) => false,
        "toolgate-core" => GROUND.contains(&target),
        _ => BELOW.contains(&target),
    }
}

fn allowed_in_tests(package: &str, target: &str) -> bool {
    match target {
        TESTKIT => !GROUND.contains(&package),
        FIXTURES => FIXTURE_USERS.contains(&package),
        FRONT => package == IDENTITY,
        _ => false,
    }
}

fn complain(subject: &Subject, package: &Package, dependency: &Dependency) -> Finding {
    let (from, to) = (&package.name, &dependency.name);
    let path = &package.manifest_path;
    let line = subject.line(path, |line| line.trim_start().starts_with(to.as_str()));
    let instead = match from.as_str() {
        _ if to == TESTKIT => "make it a dev-dependency; `host` and `wire` test themselves without it",
        _ if TOP.contains(&to.as_str()) => "move what is needed down into `toolgate-core`",
        _ if GROUND.contains(&from.as_str()) => "`host` and `wire` see none of ours: move it up",
        "toolgate-core" => "core sees only `host` and `wire`: put a trait in core, implement it above",
        _ => "siblings meet in `toolgate-core` (a trait or a type there) or in `toolgate`, which sees all",
    };
    Finding::new(path, line, format!("`{from}` must not depend on `{to}`")).instead(instead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// Whether `from` may have `to` as a dependency.
    #[track_caller]
    fn may(from: &str, to: &str, expect: bool) {
        let name = to.strip_prefix("dev ").unwrap_or(to);
        let subject = sample::packages(&format!("{from} 0.1.0 MIT: {to}\n{name} 0.1.0 MIT:"));
        assert_eq!(check(&subject).is_empty(), expect, "{from} -> {to}");
    }

    #[test]
    fn the_product_is_layered() {
        may("toolgate-wire", "toolgate-host", false);
        may("toolgate-host", "toolgate-core", false);
        may("toolgate-core", "toolgate-wire", true);
        may("toolgate-core", "toolgate-config", false);
        may("toolgate-front", "toolgate-core", true);
        may("toolgate-front", "toolgate-wire", true);
        may("toolgate-front", "toolgate-packs", false);
        may("toolgate-config", "toolgate-packs", false);
        may("toolgate-brand-new", "toolgate-host", true);
        may("toolgate", "toolgate-front", true);
        may("toolgate-admin", "toolgate", false);
        may("toolgate", "xtask", false);
        may("xtask", "toolgate-packs", true);
        may("xtask", "toolgate", true);
    }

    #[test]
    fn tests_may_use_the_testkit_and_some_the_fixtures() {
        may("toolgate-packs", "dev toolgate-testkit", true);
        may("toolgate-packs", "toolgate-testkit", false);
        may("toolgate", "toolgate-testkit", false);
        may("toolgate-wire", "dev toolgate-testkit", false);
        may("toolgate-front", "dev toolgate-fixtures", true);
        may("toolgate-packs", "dev toolgate-fixtures", false);
        may("toolgate-front", "dev toolgate-packs", false);
        may("toolgate-identity", "dev toolgate-front", true);
        may("toolgate-identity", "toolgate-front", false);
        may("toolgate-front", "dev toolgate-identity", false);
        may("toolgate-wire", "dev proptest", true);
    }

    #[test]
    fn the_line_of_the_manifest_is_named() {
        let mut subject =
            sample::packages("toolgate-wire 0.1.0 MIT: toolgate-host\ntoolgate-host 0.1.0 MIT:");
        let manifest = "[package]\n\n[dependencies]\ntoolgate-host.workspace = true\n";
        subject.files = sample::files(&[("toolgate-wire/Cargo.toml", manifest)]).files;
        assert_eq!(sample::places(&check(&subject)), ["toolgate-wire/Cargo.toml:4"]);
    }
}

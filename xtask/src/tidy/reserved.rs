//! Packages of others that only some of our crates may name.

use super::{Finding, Subject};
use crate::graph::{Dependency, Kind, Package};

struct Reserved {
    name: &'static str,
    /// Who may use it anywhere.
    users: &'static [&'static str],
    /// Whether everyone's tests may use it.
    tests: bool,
    instead: &'static str,
}

const RESERVED: &[Reserved] = &[
    Reserved {
        name: "rmcp",
        users: &["toolgate-upstream"],
        tests: true,
        instead: "speak the protocol by `toolgate-wire`; only `upstream` uses the SDK, for its OAuth client",
    },
    Reserved {
        name: "axum",
        users: &["toolgate-admin", "xtask"],
        tests: false,
        instead: "routes for people belong to `admin`; clients are served by `front`, on hyper",
    },
    Reserved {
        name: "hyper",
        users: &["toolgate-front", "toolgate-upstream", "xtask"],
        tests: false,
        instead: "serve through `front`, and ask others by reqwest; a test can write HTTP to a socket by hand",
    },
];

pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in subject.graph.ours() {
        for dependency in &package.dependencies {
            let rule = RESERVED.iter().find(|rule| rule.name == dependency.name);
            if let Some(rule) = rule.filter(|rule| !allowed(rule, package, dependency)) {
                findings.push(complain(subject, rule, package));
            }
        }
    }
    findings
}

fn allowed(rule: &Reserved, package: &Package, dependency: &Dependency) -> bool {
    rule.users.contains(&package.name.as_str()) || (rule.tests && dependency.kind == Some(Kind::Dev))
}

fn complain(subject: &Subject, rule: &Reserved, package: &Package) -> Finding {
    let line = subject.line(&package.manifest_path, |line| {
        line.strip_prefix(rule.name).is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
    });
    let what = format!("`{}` must not depend on `{}`", package.name, rule.name);
    Finding::new(&package.manifest_path, line, what).instead(rule.instead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[track_caller]
    fn may(from: &str, to: &str, expect: bool) {
        let subject = sample::packages(&format!("{from} 0.1.0 MIT: {to}"));
        assert_eq!(check(&subject).is_empty(), expect, "{from} -> {to}");
    }

    #[test]
    fn some_packages_are_for_some_crates() {
        may("toolgate-upstream", "rmcp", true);
        may("toolgate-front", "rmcp", false);
        may("toolgate-front", "dev rmcp", true);
        may("toolgate-front", "hyper", true);
        may("toolgate-core", "hyper", false);
        may("toolgate-core", "dev hyper", false);
        may("toolgate-admin", "axum", true);
        may("xtask", "axum", true);
        may("toolgate-front", "axum", false);
        may("toolgate-front", "hyper-util", true);
    }
}

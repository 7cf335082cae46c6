//! Small made-up repositories for the tests of the rules.

use std::collections::BTreeSet;

use crate::builds::Builds;
use crate::graph::{Dependency, Edge, EdgeKind, Graph, Kind, Node, Package, Resolve};
use crate::repo::File;
use crate::tidy::{Finding, Subject, Weight};

/// Packages from lines such as `name 1.0.0 MIT: a, dev b, build c@2.0.0`. Names with `toolgate` and `xtask`
/// are ours; `-` is no licence, and `_` in a licence stands for a space.
pub(crate) fn graph(lines: &str) -> Graph {
    let packages: Vec<Package> = lines.lines().map(|line| package(line.trim())).collect();
    let nodes = packages.iter().map(|package| node(package, &packages)).collect();
    let ours = packages.iter().filter(|package| {
        package.name == "xtask" || package.name == "toolgate" || package.name.starts_with("toolgate-")
    });
    let workspace_members: BTreeSet<String> = ours.map(|package| package.id.clone()).collect();
    Graph { workspace_members, resolve: Resolve { nodes }, packages }
}

fn package(line: &str) -> Package {
    let (head, dependencies) = line.split_once(':').unwrap();
    let mut words = head.split_whitespace();
    let (name, version, license) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    let dependencies = dependencies.split(',').map(str::trim).filter(|text| !text.is_empty());
    Package {
        id: format!("{name}@{version}"),
        name: name.to_owned(),
        version: version.to_owned(),
        license: (license != "-").then(|| license.replace('_', " ")),
        dependencies: dependencies.map(dependency).collect(),
        manifest_path: format!("{name}/Cargo.toml"),
    }
}

fn dependency(text: &str) -> Dependency {
    let (kind, name) = match text.split_once(' ') {
        Some(("dev", name)) => (Some(Kind::Dev), name),
        Some(("build", name)) => (Some(Kind::Build), name),
        _ => (None, text),
    };
    Dependency { name: name.to_owned(), kind }
}

fn node(package: &Package, all: &[Package]) -> Node {
    let edge = |dependency: &Dependency| {
        let found = all.iter().find(|other| other.name == dependency.name || other.id == dependency.name);
        let pkg = found.map_or(dependency.name.clone(), |other| other.id.clone());
        Edge { pkg, dep_kinds: vec![EdgeKind { kind: dependency.kind }] }
    };
    Node { id: package.id.clone(), deps: package.dependencies.iter().map(edge).collect() }
}

/// A repository of these files and no packages.
pub(crate) fn files(files: &[(&str, &str)]) -> Subject {
    let files = files.iter().map(|(path, text)| File { path: (*path).into(), text: Some((*text).into()) });
    Subject { files: files.collect(), graph: graph(""), builds: Builds::default() }
}

/// A repository of these packages and no files.
pub(crate) fn packages(lines: &str) -> Subject {
    Subject { files: Vec::new(), graph: graph(lines), builds: Builds::default() }
}

/// Where a rule complains: `path:line`, notes with a `?`.
pub(crate) fn places(findings: &[Finding]) -> Vec<String> {
    let mark = |finding: &Finding| match finding.weight {
        Weight::Error => "",
        Weight::Note => "?",
    };
    findings.iter().map(|finding| format!("{}{}", finding.place(), mark(finding))).collect()
}

//! The packages and what they depend on, from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process::Program;

/// All packages that a build on this platform may use, and the edges between them.
#[derive(Debug, Deserialize)]
pub(crate) struct Graph {
    /// Ours and others'.
    pub(crate) packages: Vec<Package>,
    /// The ids of ours.
    pub(crate) workspace_members: BTreeSet<String>,
    /// Which versions were chosen.
    pub(crate) resolve: Resolve,
}

/// A package as its manifest describes it.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    /// An SPDX expression.
    pub(crate) license: Option<String>,
    /// What the manifest names.
    pub(crate) dependencies: Vec<Dependency>,
    /// Where the manifest lies.
    pub(crate) manifest_path: String,
}

/// A dependency as a manifest names it.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// None for a normal one.
    pub(crate) kind: Option<Kind>,
}

/// What a dependency that is no part of the product is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Tests, examples and benchmarks.
    Dev,
    /// Build scripts.
    Build,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Resolve {
    pub(crate) nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) deps: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Edge {
    pub(crate) pkg: String,
    pub(crate) dep_kinds: Vec<EdgeKind>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct EdgeKind {
    pub(crate) kind: Option<Kind>,
}

impl Graph {
    /// The packages of the workspace.
    pub(crate) fn ours(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    /// Whether a name is a package of the workspace.
    pub(crate) fn is_ours(&self, name: &str) -> bool {
        self.ours().any(|package| package.name == name)
    }

    /// The packages that become part of `name`, itself included.
    pub(crate) fn linked_into(&self, name: &str) -> Vec<&Package> {
        let edges: BTreeMap<&str, &Node> =
            self.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let mut waiting: Vec<&str> =
            self.ours().filter(|package| package.name == name).map(|package| package.id.as_str()).collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = waiting.pop() {
            if !seen.insert(id) {
                continue;
            }
            let deps = edges.get(id).map(|node| node.deps.as_slice()).unwrap_or_default();
            let normal = deps.iter().filter(|edge| edge.dep_kinds.iter().any(|kind| kind.kind.is_none()));
            waiting.extend(normal.map(|edge| edge.pkg.as_str()));
        }
        self.packages.iter().filter(|package| seen.contains(package.id.as_str())).collect()
    }
}

/// Asks cargo. Only packages for this platform are looked at: a build has fetched those, and no others.
pub(crate) fn read(root: &Path) -> Result<Graph> {
    let host = host(root)?;
    let command = format!("cargo metadata --locked --format-version 1 --filter-platform {host}");
    let text = Program::new(root, &command).read()?;
    let mut graph: Graph =
        serde_json::from_str(&text).context("cannot understand what `cargo metadata` says")?;
    for package in &mut graph.packages {
        if let Ok(path) = Path::new(&package.manifest_path).strip_prefix(root) {
            package.manifest_path = path.to_string_lossy().into_owned();
        }
    }
    Ok(graph)
}

/// The platform that we build on.
fn host(root: &Path) -> Result<String> {
    let about = Program::new(root, "rustc --version --verbose").read()?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc --version --verbose` names no host")
}

#[cfg(test)]
mod tests {
    use crate::sample;

    #[test]
    fn only_normal_dependencies_are_linked() {
        let graph = sample::graph(
            "toolgate 0.1.0 MIT: a, dev b, build c
             a 1.0.0 MIT: d
             b 1.0.0 MIT:
             c 1.0.0 MIT:
             d 1.0.0 MIT: a",
        );
        let names: Vec<&str> =
            graph.linked_into("toolgate").iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["toolgate", "a", "d"]);
    }
}

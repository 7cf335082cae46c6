//! With which features the packages are built, from `cargo tree`.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use crate::process::Program;

/// Packages with their features, as `name v1.0.0 one,two`.
#[derive(Debug, Default)]
pub(crate) struct Builds {
    /// What `cargo xtask` builds.
    pub(crate) chores: BTreeSet<String>,
    /// What `cargo test --workspace` builds.
    pub(crate) tests: BTreeSet<String>,
}

/// Asks cargo.
pub(crate) fn read(root: &Path) -> Result<Builds> {
    Ok(Builds {
        chores: packages(root, "--package xtask --edges normal,build")?,
        tests: packages(root, "--workspace --edges normal,build,dev")?,
    })
}

fn packages(root: &Path, what: &str) -> Result<BTreeSet<String>> {
    // A format with spaces would be several words; `@` stands in no name.
    let command = format!("cargo tree --locked --prefix none --format {{p}}@{{f}} {what}");
    let lines = Program::new(root, &command).read()?;
    let lines = lines.lines().filter(|line| !line.is_empty());
    Ok(lines.map(|line| line.trim_end_matches(" (*)").replace('@', " ").trim_end().to_owned()).collect())
}

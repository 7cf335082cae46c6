//! `docs/reference/cli.md`: every command, as its help describes it.

use std::path::Path;

use anyhow::Result;

use crate::process::Program;

/// The binary says itself which commands it has.
pub(super) fn write(root: &Path) -> Result<String> {
    Program::new(root, "cargo run --quiet --package toolgate -- reference").read()
}

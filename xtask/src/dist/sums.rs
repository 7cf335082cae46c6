//! Checksums, as `sha256sum --check` reads them.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

/// A line for each file.
pub(super) fn of(files: &[PathBuf]) -> Result<String> {
    let mut lines = String::new();
    for file in files {
        let bytes = fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        let name = file.file_name().context("a file has a name")?.to_string_lossy();
        writeln!(lines, "{}  {name}", hex(&Sha256::digest(&bytes)))?;
    }
    Ok(lines)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_written_as_sha256sum_writes_it() {
        let sum = hex(&Sha256::digest(b""));
        assert_eq!(sum, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}

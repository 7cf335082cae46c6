//! `cargo xtask dist`: a release for this platform, made and checked. Nothing is published.

mod archive;
mod check;
mod mcpb;
mod npm;
mod platform;
mod release;
mod sums;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use platform::Platform;
use release::Release;

/// A file of a package.
struct Entry {
    /// Its path in the package.
    path: String,
    bytes: Vec<u8>,
    /// Whether it can be run.
    executable: bool,
}

impl Entry {
    fn text(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), executable: false }
    }

    fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), executable: true }
    }
}

/// Makes the release and checks it.
pub(crate) fn run(root: &Path) -> Result<()> {
    let folder = root.join("target/dist");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove the last release")?;
    }
    fs::create_dir_all(&folder).context("cannot make `target/dist`")?;
    let platform = Platform::here(root)?;
    let release = Release::build(root, &folder)?;
    let stem = format!("toolgate-{}-{}", release.version, platform.triple);

    let archive = folder.join(format!("{stem}.tar.gz"));
    write(&archive, &archive::tar_gz(&stem, &release.files(root)?)?)?;
    let bundle = folder.join(format!("{stem}.mcpb"));
    write(&bundle, &mcpb::zip(&mcpb::files(root, &release)?)?)?;
    let packages = npm::make(root, &folder, &release, platform)?;

    let files: Vec<PathBuf> = [archive.clone(), bundle.clone()].into_iter().chain(packages.clone()).collect();
    write(&folder.join("SHA256SUMS"), sums::of(&files)?.as_bytes())?;
    check::all(&folder, &release.version, &check::Made { archive, bundle, packages })?;
    println!("dist: made and checked {} files in `target/dist`:", files.len() + 1);
    print!("{}", fs::read_to_string(folder.join("SHA256SUMS"))?);
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}

fn read(root: &Path, path: &str) -> Result<Vec<u8>> {
    fs::read(root.join(path)).with_context(|| format!("cannot read `{path}`"))
}

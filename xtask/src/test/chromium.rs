//! The Chromium that the tests of the admin page run in: found, or installed.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::process::Program;

const INSTALL: &str = "apt-get install --yes --no-install-recommends chromium-headless-shell";
const HINT: &str = "install `chromium-headless-shell`, Chromium or Chrome";
const PROGRAMS: &[&str] = &["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/// Makes sure that there is one.
pub(super) fn install(root: &Path) -> Result<()> {
    if is_there(root) {
        return Ok(());
    }
    let program = |line: &str| Program::new(root, line).env("DEBIAN_FRONTEND", "noninteractive");
    if !program("apt-get --version").works() {
        bail!("Chromium is missing, and there is no `apt-get` to install it\nhint: {HINT}");
    }
    let installed = program("apt-get update").run().and_then(|()| program(INSTALL).run());
    installed
        .with_context(|| format!("Chromium is missing, and could not be installed\nhint: as root, {HINT}"))?;
    if !is_there(root) {
        bail!("Chromium was installed, but cannot be found\nhint: {HINT}");
    }
    Ok(())
}

/// Whether the tests would find one.
fn is_there(root: &Path) -> bool {
    PROGRAMS.iter().any(|program| Program::new(root, &format!("{program} --version")).works())
}

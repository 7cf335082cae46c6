//! The Chromium that the tests of the browser and of the admin page run in: found, or installed.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::process::Program;

const INSTALL: &str = "apt-get install --yes --no-install-recommends chromium-headless-shell";
const HINT: &str = "install `chromium-headless-shell`, Chromium or Chrome";

/// Makes sure that there is one.
pub(super) fn install(root: &Path) -> Result<()> {
    if is_there() {
        return Ok(());
    }
    let program = |line: &str| Program::new(root, line).env("DEBIAN_FRONTEND", "noninteractive");
    if !program("apt-get --version").works() {
        bail!("Chromium is missing, and there is no `apt-get` to install it\nhint: {HINT}");
    }
    let installed = program("apt-get update").run().and_then(|()| program(INSTALL).run());
    installed
        .with_context(|| format!("Chromium is missing, and could not be installed\nhint: as root, {HINT}"))?;
    if !is_there() {
        bail!("Chromium was installed, but cannot be found\nhint: {HINT}");
    }
    Ok(())
}

/// Whether the tools would find one.
fn is_there() -> bool {
    let environment = toolgate_config::process_environment();
    let value = |name: &str| environment.get(name).map(Into::into);
    toolgate_browser::installed(&toolgate_browser::BrowserConfig::default(), value)
        .is_some_and(|path| path.is_file())
}

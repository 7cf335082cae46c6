//! The PostgreSQL that the tests of the store run on: found, or installed.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::Program;

const INSTALL: &str = "apt-get install --yes --no-install-recommends postgresql";
const HINT: &str = "install the server of PostgreSQL 12 or later, so that `initdb` is on the search path";

/// Makes sure that there is one.
pub(super) fn install(root: &Path) -> Result<()> {
    if is_there(root) {
        return Ok(());
    }
    let program = |line: &str| Program::new(root, line).env("DEBIAN_FRONTEND", "noninteractive");
    if !program("apt-get --version").works() {
        bail!("PostgreSQL is missing, and there is no `apt-get` to install it\nhint: {HINT}");
    }
    let installed = program("apt-get update").run().and_then(|()| program(INSTALL).run());
    installed.with_context(|| {
        format!("PostgreSQL is missing, and could not be installed\nhint: as root, {HINT}")
    })?;
    if !is_there(root) {
        bail!("PostgreSQL was installed, but there is no `initdb`\nhint: {HINT}");
    }
    Ok(())
}

fn is_there(root: &Path) -> bool {
    let folders = std::fs::read_dir("/usr/lib/postgresql");
    let versions = folders.into_iter().flatten().flatten().map(|version| version.path());
    let debian = versions.map(|version| version.join("bin").join("initdb"));
    std::iter::once(PathBuf::from("initdb")).chain(debian).any(|initdb| works(root, &initdb))
}

fn works(root: &Path, initdb: &Path) -> bool {
    Program::new(root, &format!("{} --version", initdb.display())).works()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_program_does_not_count() {
        assert!(works(Path::new("."), Path::new("/bin/true")));
        assert!(!works(Path::new("."), Path::new("/nowhere/initdb")));
    }
}

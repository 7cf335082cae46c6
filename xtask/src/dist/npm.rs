//! The npm packages: one with a launcher, and one a platform with the program, of which npm installs the right one.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Map, Value};

use super::platform::{PLATFORMS, Platform};
use super::release::Release;
use super::{Entry, read, write};
use crate::process::Program;

/// Lays the packages out in `npm/` and packs them; the packed files.
pub(super) fn make(
    root: &Path,
    folder: &Path,
    release: &Release,
    platform: Platform,
) -> Result<Vec<PathBuf>> {
    let license = || read(root, "LICENSE");
    let launcher = [
        Entry::text("package.json", launcher(&read(root, "dist/npm/package.json")?, &release.version)?),
        Entry::program("bin/toolgate.js", read(root, "dist/npm/bin/toolgate.js")?),
        Entry::text("README.md", read(root, "README.md")?),
        Entry::text("LICENSE", license()?),
    ];
    let program = [
        Entry::text("package.json", of(&read(root, "dist/npm/platform.json")?, &release.version, platform)?),
        Entry::program("bin/toolgate", release.binary.clone()),
        Entry::text("LICENSE", license()?),
    ];
    let folders = [folder.join("npm/toolgate"), folder.join("npm").join(platform.package())];
    for (folder, files) in folders.iter().zip([launcher.as_slice(), program.as_slice()]) {
        lay_out(folder, files)?;
    }
    folders.iter().map(|package| pack(package, folder)).collect()
}

/// The launcher's manifest: a program for every platform, none of which has to be there.
fn launcher(template: &[u8], version: &str) -> Result<Vec<u8>> {
    let mut manifest: Value = serde_json::from_slice(template)?;
    let programs: Map<String, Value> =
        PLATFORMS.iter().map(|platform| (platform.package(), version.into())).collect();
    manifest["version"] = version.into();
    manifest["optionalDependencies"] = programs.into();
    Ok(serde_json::to_vec_pretty(&manifest)?)
}

/// The manifest of a platform's package.
fn of(template: &[u8], version: &str, platform: Platform) -> Result<Vec<u8>> {
    let mut manifest: Value = serde_json::from_slice(template)?;
    manifest["name"] = platform.package().into();
    manifest["version"] = version.into();
    manifest["os"] = vec![platform.os].into();
    manifest["cpu"] = vec![platform.cpu].into();
    Ok(serde_json::to_vec_pretty(&manifest)?)
}

fn lay_out(folder: &Path, files: &[Entry]) -> Result<()> {
    for file in files {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(folder)).context("cannot make a folder of a package")?;
        write(&path, &file.bytes)?;
        fs::set_permissions(&path, Permissions::from_mode(if file.executable { 0o755 } else { 0o644 }))?;
    }
    Ok(())
}

fn pack(package: &Path, to: &Path) -> Result<PathBuf> {
    let packed = Program::new(package, "npm pack --silent --pack-destination").arg(to).read();
    let packed = packed.context("npm could not pack a package\nhint: a release needs Node.js with npm")?;
    Ok(to.join(packed.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_asks_for_every_platform_at_its_own_version() {
        let made = launcher(br#"{"name": "toolgate", "version": "0.0.0"}"#, "1.2.3").unwrap();
        let made: Value = serde_json::from_slice(&made).unwrap();
        assert_eq!(made["version"], "1.2.3");
        for platform in PLATFORMS {
            assert_eq!(made["optionalDependencies"][platform.package()], "1.2.3");
        }
    }

    #[test]
    fn a_program_is_for_one_platform() {
        let made = of(b"{}", "1.2.3", PLATFORMS[0]).unwrap();
        let made: Value = serde_json::from_slice(&made).unwrap();
        assert_eq!(made["name"], "@toolgate/linux-x64");
        assert_eq!((&made["os"][0], &made["cpu"][0]), (&"linux".into(), &"x64".into()));
    }
}

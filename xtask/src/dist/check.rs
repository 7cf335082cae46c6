//! Whether what was made works: each package is unpacked or installed, and its program says its version and answers a
//! client.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{archive, mcpb, write};
use crate::process::Program;

/// What a client asks that wants one tool called.
const ASKED: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workspace_list","arguments":{}}}"#;

/// What was made.
pub(super) struct Made {
    pub(super) archive: PathBuf,
    pub(super) bundle: PathBuf,
    pub(super) packages: Vec<PathBuf>,
}

/// Checks all that was made, in a folder of its own that goes when all is well.
pub(super) fn all(folder: &Path, version: &str, made: &Made) -> Result<()> {
    let place = folder.join("check");
    let scene = Scene { place: &place, version };
    fs::create_dir_all(place.join("workspace"))?;
    fs::write(place.join("workspace/found.txt"), "")?;
    write(&place.join("asked"), format!("{ASKED}\n").as_bytes())?;
    scene.archive(&made.archive).context("the archive does not work")?;
    scene.bundle(&made.bundle).context("the bundle does not work")?;
    scene.packages(&made.packages).context("the npm packages do not work")?;
    scene.sums(folder)?;
    Ok(fs::remove_dir_all(&place)?)
}

struct Scene<'a> {
    place: &'a Path,
    version: &'a str,
}

impl Scene<'_> {
    fn archive(&self, archive: &Path) -> Result<()> {
        let to = self.place.join("archive");
        archive::unpack(&fs::read(archive)?, &to)?;
        let stem = fs::read_dir(&to)?.next().context("it is empty")??.path();
        for path in [
            "README.md",
            "LICENSE",
            "share/man/man1/toolgate-tools-call.1",
            "share/zsh/site-functions/_toolgate",
        ] {
            ensure!(stem.join(path).is_file(), "`{path}` is missing");
        }
        self.works(&stem.join("bin/toolgate"), &self.usual())
    }

    /// Starts it as a client would: by the manifest, with the variables filled in.
    fn bundle(&self, bundle: &Path) -> Result<()> {
        let to = self.place.join("bundle");
        mcpb::unpack(&fs::read(bundle)?, &to)?;
        let manifest: Value = serde_json::from_slice(&fs::read(to.join("manifest.json"))?)?;
        let server = &manifest["server"];
        let entry = server["entry_point"].as_str().context("the manifest names no entry point")?;
        ensure!(to.join(entry).is_file(), "`{entry}` is missing");
        let filled = |value: &Value| {
            let text = value.as_str().unwrap_or_default().replace("${__dirname}", &to.to_string_lossy());
            text.replace("${user_config.workspace}", &self.workspace())
        };
        let config = &server["mcp_config"];
        let arguments: Vec<String> = config["args"].as_array().into_iter().flatten().map(filled).collect();
        self.works(Path::new(&filled(&config["command"])), &arguments)
    }

    /// Installs both packages from their files. Offline: it must not need a registry.
    fn packages(&self, packages: &[PathBuf]) -> Result<()> {
        let to = self.place.join("npm");
        fs::create_dir_all(&to)?;
        fs::write(to.join("package.json"), r#"{"private": true}"#)?;
        let npm = Program::new(&to, "npm install --offline --no-audit --no-fund --loglevel=error");
        packages.iter().fold(npm, Program::arg).run()?;
        self.works(&to.join("node_modules/.bin/toolgate"), &self.usual())
    }

    fn sums(&self, folder: &Path) -> Result<()> {
        Program::new(folder, "sha256sum --check --quiet --strict SHA256SUMS").run()
    }

    fn workspace(&self) -> String {
        self.place.join("workspace").to_string_lossy().into_owned()
    }

    /// How most clients start a server.
    fn usual(&self) -> Vec<String> {
        vec!["serve".into(), "--workspace".into(), self.workspace()]
    }

    /// Whether a program says the version, and calls a tool for a client on its standard input.
    fn works(&self, program: &Path, arguments: &[String]) -> Result<()> {
        let start = || Program::new(self.place, "env").env("HOME", self.place.join("empty")).arg(program);
        let said = start().arg("--version").read()?;
        ensure!(said == format!("toolgate {}\n", self.version), "it says `{said}`");
        let serve = arguments.iter().fold(start(), Program::arg);
        let answered = serve.input(File::open(self.place.join("asked"))?).read()?;
        let answer: Value =
            serde_json::from_str(&answered).with_context(|| format!("it answers `{answered}`"))?;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        ensure!(text.contains("found.txt"), "it answers `{answered}`");
        Ok(())
    }
}

//! Programs that the compiler makes by a profile of their own calls: built with counters, put to work, built again.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process::Program;

/// Where they are made, below the repository.
const FOLDER: &str = "target/trained";

/// What loads servers with calls; see `bench/runner`.
pub(crate) const RUNNER: &str =
    "--release --locked --manifest-path bench/Cargo.toml --target-dir target/bench";

/// A program, and what it learns from.
pub(crate) struct Pupil {
    /// Its name.
    pub(crate) name: &'static str,
    /// What cargo is told to build.
    build: &'static str,
    /// Measurements that it is put through; each ends with the option that names the program.
    lessons: &'static [&'static str],
}

/// The product: calls over HTTP and standard input, through to servers, and by scripts.
pub(crate) const TOOLGATE: Pupil = Pupil {
    name: "toolgate",
    build: "--package toolgate",
    lessons: &[
        "front --quick --only toolgate --peers target --toolgate",
        "hub --quick --only toolgate --gateways target --toolgate",
        "script --quick --toolgate",
    ],
};

/// The server of the policy's benchmark.
pub(crate) const POLICY_ECHO: Pupil = Pupil {
    name: "policy-echo",
    build: "--manifest-path bench/Cargo.toml --package bench-servers --bin policy-echo",
    lessons: &["policy --quick --server"],
};

impl Pupil {
    /// Builds it twice and trains it between, and gives the program.
    pub(crate) fn build(&self, root: &Path) -> Result<PathBuf> {
        let merger = Merger::find(root)?;
        let folder = root.join(FOLDER);
        let counts = folder.join(format!("{}.counts", self.name));
        let profile = folder.join(format!("{}.profdata", self.name));
        forget(&counts)?;
        Program::new(root, &format!("cargo build {RUNNER}")).run()?;

        println!("trained: `{}`, with counters", self.name);
        let counting = self.compile(root, &merger.host, "generate", &counts)?;
        for (number, lesson) in self.lessons.iter().enumerate() {
            println!("trained: `{}`, lesson {} of {}", self.name, number + 1, self.lessons.len());
            let report = folder.join("lesson.md");
            let line = format!("cargo run --quiet {RUNNER} --package bench-runner -- {lesson}");
            Program::new(root, &line).arg(&counting).arg("--out").arg(&report).read()?;
        }
        merger.merge(root, &counts, &profile)?;
        forget(&counts)?;

        println!("trained: `{}`, by its profile", self.name);
        let built = self.compile(root, &merger.host, "use", &profile)?;
        let kept = folder.join(self.name);
        fs::copy(&built, &kept).with_context(|| format!("cannot keep `{}`", built.display()))?;
        Ok(kept)
    }

    /// Builds it, for a platform by name: then nothing that runs while it is built is counted or profiled.
    fn compile(&self, root: &Path, host: &str, profile: &str, path: &Path) -> Result<PathBuf> {
        let line =
            format!("cargo build --release --locked --target {host} --target-dir {FOLDER} {}", self.build);
        let flag = format!("-Cprofile-{profile}={}", path.display());
        Program::new(root, &line).env("CARGO_ENCODED_RUSTFLAGS", flag).run()?;
        Ok(root.join(FOLDER).join(host).join("release").join(self.name))
    }
}

/// What makes one profile of many counts: it comes with the compiler that made the counters.
struct Merger {
    path: PathBuf,
    host: String,
}

impl Merger {
    fn find(root: &Path) -> Result<Self> {
        let host = host(root)?;
        let sysroot = Program::new(root, "rustc --print sysroot").read()?;
        let path = Path::new(sysroot.trim()).join("lib/rustlib").join(&host).join("bin/llvm-profdata");
        if !path.exists() {
            Program::new(root, "rustup component add llvm-tools")
                .run()
                .context("the compiler's own `llvm-profdata` is missing, and rustup could not install it")?;
        }
        Ok(Self { path, host })
    }

    /// What never ran is left out, and so is compiled as ever: that no lesson needed it does not make it rare.
    fn merge(&self, root: &Path, counts: &Path, profile: &Path) -> Result<()> {
        let merge = Program::new(root, "env").arg(&self.path).arg("merge").arg("--sparse");
        merge.arg("--output").arg(profile).arg(counts).run()
    }
}

/// The platform that we build on.
pub(crate) fn host(root: &Path) -> Result<String> {
    let about = Program::new(root, "rustc --version --verbose").read()?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc --version --verbose` names no host")?.to_owned())
}

fn forget(counts: &Path) -> Result<()> {
    if counts.exists() {
        fs::remove_dir_all(counts).context("cannot remove the last counts")?;
    }
    Ok(())
}

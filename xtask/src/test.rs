//! `cargo xtask test`: everything that has to hold, in order, on a machine that has Rust, Node.js and Python.

mod chromium;
mod postgres;
mod report;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::process::Program;
use crate::tidy;
use report::{Outcome, Report};

/// Where the programs of others lie that the tests connect to.
const PEERS_DIR: &str = "TOOLGATE_PEERS_DIR";

/// Options of `cargo xtask test`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// At the desk: run only this step (may be given several times).
    #[arg(long, value_name = "STEP")]
    only: Vec<Step>,
}

/// What is done, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Install the parts of the toolchain and the real peers that the tests need.
    Setup,
    /// Is everything formatted?
    Fmt,
    /// Lints, with warnings as errors.
    Clippy,
    /// The binary, with its own features and no others.
    Build,
    /// All tests: unit, integration, real peers, documentation.
    Test,
    /// Directions, licences, duplicate majors, house rules; are the generated pages fresh, and do the examples run?
    Tidy,
    /// The documentation of all crates, with warnings as errors.
    Doc,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Build => "build",
            Self::Test => "test",
            Self::Tidy => "tidy",
            Self::Doc => "doc",
        }
    }

    fn shows(self) -> &'static str {
        match self {
            Self::Setup => "bash tests/peers/install.sh",
            Self::Fmt => "cargo fmt --all --check",
            Self::Clippy => "cargo clippy --workspace --all-targets -- -D warnings",
            Self::Build => "cargo build",
            Self::Test => "cargo test --workspace --no-fail-fast",
            Self::Tidy => "cargo xtask tidy",
            Self::Doc => "cargo doc --workspace --no-deps",
        }
    }

    fn run(self, root: &Path, peers: &Path) -> Result<()> {
        let program = || Program::new(root, self.shows());
        match self {
            Self::Setup => {
                components(root)?;
                postgres::install(root)?;
                chromium::install(root)?;
                program().env(PEERS_DIR, peers).run()
            }
            Self::Fmt | Self::Clippy | Self::Build => program().run(),
            Self::Test => program().env(PEERS_DIR, peers).run(),
            Self::Tidy => tidy::run(root),
            Self::Doc => program().env("RUSTDOCFLAGS", "-D warnings").run(),
        }
    }
}

/// Runs the steps; the first that fails is the last.
pub(crate) fn run(root: &Path, args: &Args) -> Result<()> {
    let peers = peers_dir(root)?;
    let chosen = |step: &&Step| args.only.is_empty() || args.only.contains(step);
    let steps: Vec<Step> = Step::value_variants().iter().filter(chosen).copied().collect();
    let mut report = Report::default();
    let mut failure = None;
    for step in steps {
        if failure.is_some() {
            report.add(step.name(), Outcome::NotRun);
            continue;
        }
        println!("\n==> {}: {}", step.name(), step.shows());
        let begun = Instant::now();
        let done = step.run(root, &peers);
        let took = begun.elapsed();
        report.add(step.name(), if done.is_ok() { Outcome::Passed(took) } else { Outcome::Failed(took) });
        failure = done.err().map(|error| (step, error));
    }
    print!("\n{report}");
    if let Some((step, error)) = failure {
        bail!("step `{0}` failed: {error:#}\nhint: `cargo xtask test --only {0}` runs it alone", step.name());
    }
    Ok(())
}

/// A minimal toolchain has neither `fmt` nor `clippy`; where rustup is, they are one command away.
fn components(root: &Path) -> Result<()> {
    let works = |line: &str| Program::new(root, line).works();
    if works("cargo fmt --version") && works("cargo clippy --version") {
        return Ok(());
    }
    Program::new(root, "rustup component add rustfmt clippy")
        .run()
        .context("`cargo fmt` and `cargo clippy` are missing, and rustup could not install them")
}

fn peers_dir(root: &Path) -> Result<PathBuf> {
    let environment = toolgate_config::process_environment();
    match environment.get(PEERS_DIR) {
        Some(dir) => std::path::absolute(dir).with_context(|| format!("cannot use `{PEERS_DIR}`")),
        None => Ok(root.join("target").join("peers")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_called_what_the_option_takes() {
        for step in Step::value_variants() {
            assert_eq!(Step::from_str(step.name(), false), Ok(*step));
        }
    }
}

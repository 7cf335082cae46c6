//! `cargo xtask bench`: measurements beside other servers. They never run in CI.

use std::path::Path;

use anyhow::Result;
use clap::Subcommand;

use crate::process::Program;

/// A measurement.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Measure what a call costs at the front: see `cargo xtask bench front --help`.
    ///
    /// Builds Toolgate and the servers beside it in release mode, installs the pinned SDKs under `target/bench`, measures
    /// all in one run, and writes `docs/benchmarks/front.md` with the raw data beside it.
    #[command(disable_help_flag = true)]
    Front {
        /// Options of the measurement.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
}

/// Builds what is measured, and measures it.
pub(crate) fn run(root: &Path, bench: &Bench) -> Result<()> {
    let Bench::Front { options } = bench;
    let options = options.join(" ");
    let runner = "--release --locked --manifest-path bench/Cargo.toml --target-dir target/bench";
    if !options.contains("--help") {
        Program::new(root, "cargo build --release --locked --package toolgate --target-dir target").run()?;
        Program::new(root, &format!("cargo build {runner}")).run()?;
        Program::new(root, "bash bench/peers/install.sh target/bench/peers").run()?;
    }
    Program::new(root, &format!("cargo run --quiet {runner} --package bench-runner -- {options}")).run()
}

//! `cargo xtask bench`: measurements beside other servers. They never run in CI.

use std::path::Path;

use anyhow::Result;
use clap::Subcommand;

use crate::process::Program;
use crate::trained::{POLICY_ECHO, RUNNER, TOOLGATE};

/// Asks for a program as cargo builds it, and not as it is released.
const PLAIN: &str = "--plain";

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
    /// Measure what the policy adds to a call: see `cargo xtask bench policy --help`.
    ///
    /// Builds a server of Toolgate's crates as releases are built, by a profile of its calls, measures it with the policy
    /// and without in one run, and writes `docs/benchmarks/policy.md` with the raw data beside it.
    #[command(disable_help_flag = true)]
    Policy {
        /// Options of the measurement.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
    /// Measure what the hop through a gateway costs: see `cargo xtask bench hub --help`.
    ///
    /// Builds Toolgate as it is released, by a profile of its calls, a server and a bare forwarder, installs the pinned
    /// gateways of the registries under `target/bench`, measures all in one run, and writes `docs/benchmarks/hub.md` with
    /// the raw data beside it.
    #[command(disable_help_flag = true)]
    Hub {
        /// Options of the measurement.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
    /// Measure what searching a vault costs: see `cargo xtask bench vault --help`.
    ///
    /// Makes 20,000 notes, measures the pack's search beside a plain scan in one run, and writes `docs/benchmarks/vault.md`
    /// with the raw data beside it.
    #[command(disable_help_flag = true)]
    Vault {
        /// Options of the measurement.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
    /// Measure what Toolgate adds to a prompt of OpenCode: see `cargo xtask bench opencode --help`.
    ///
    /// Builds Toolgate in release mode, installs the pinned OpenCode under `target/bench`, sends prompts through Toolgate and
    /// to OpenCode itself in one run, and writes `docs/benchmarks/opencode.md` with the raw data beside it.
    #[command(disable_help_flag = true)]
    Opencode {
        /// Options of the measurement.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
    /// Measure what a script costs: see `cargo xtask bench script --help`.
    ///
    /// Builds Toolgate in release mode, measures a trivial script and one that calls tools beside a client that does, and
    /// writes `docs/benchmarks/script.md` with the raw data beside it.
    #[command(disable_help_flag = true)]
    Script {
        /// Options of the measurement.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
    /// Measure what a page in a browser costs: see `cargo xtask bench browser --help`.
    ///
    /// Builds Toolgate in release mode, installs the pinned `@playwright/mcp` under `target/bench`, measures both with the
    /// same Chromium in one run, and writes `docs/benchmarks/browser.md` with the raw data beside it.
    #[command(disable_help_flag = true)]
    Browser {
        /// Options of the measurement.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
}

/// Builds what is measured, and measures it.
pub(crate) fn run(root: &Path, bench: &Bench) -> Result<()> {
    let (what, options) = match bench {
        Bench::Front { options } => ("front", options.join(" ")),
        Bench::Policy { options } => ("policy", options.join(" ")),
        Bench::Hub { options } => ("hub", options.join(" ")),
        Bench::Vault { options } => ("vault", options.join(" ")),
        Bench::Opencode { options } => ("opencode", options.join(" ")),
        Bench::Script { options } => ("script", options.join(" ")),
        Bench::Browser { options } => ("browser", options.join(" ")),
    };
    if !options.contains("--help") {
        Program::new(root, &format!("cargo build {RUNNER}")).run()?;
        let beside = match bench {
            Bench::Front { .. } => Some("bench/peers/install.sh target/bench/peers"),
            Bench::Hub { .. } => Some("bench/gateways/install.sh target/bench/gateways"),
            Bench::Opencode { .. } => Some("tests/peers/install.sh tests/peers target/bench/opencode"),
            Bench::Browser { .. } => Some("tests/peers/install.sh bench/browser target/bench/browser"),
            Bench::Policy { .. } | Bench::Vault { .. } | Bench::Script { .. } => None,
        };
        // Who names a program has one.
        let trained = |named: &str| !options.contains(PLAIN) && !options.contains(named);
        match bench {
            Bench::Policy { .. } if trained("--server") => drop(POLICY_ECHO.build(root)?),
            Bench::Hub { .. } if trained("--toolgate") => drop(TOOLGATE.build(root)?),
            Bench::Policy { .. } | Bench::Vault { .. } => {}
            Bench::Front { .. }
            | Bench::Hub { .. }
            | Bench::Opencode { .. }
            | Bench::Script { .. }
            | Bench::Browser { .. } => {
                Program::new(root, "cargo build --release --locked --package toolgate --target-dir target")
                    .run()?;
            }
        }
        if let Some(install) = beside {
            Program::new(root, &format!("bash {install}")).run()?;
        }
    }
    Program::new(root, &format!("cargo run --quiet {RUNNER} --package bench-runner -- {what} {options}"))
        .run()
}

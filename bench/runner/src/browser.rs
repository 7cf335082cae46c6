//! What a browser costs: the same page in the same Chromium, by Toolgate and by the server that most people use.

mod client;
mod measure;
mod page;
mod report;

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::machine::Machine;
use crate::plan::command;

/// Where a Chromium is looked for.
const CHROMIUMS: [&str; 5] = [
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/bin/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/bin/chromium",
    "/usr/bin/google-chrome",
];

/// Measure what a page in a browser costs, beside `@playwright/mcp` in the same run.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Measure briefly: to see that it works, not to quote.
    #[arg(long)]
    quick: bool,
    /// How often both are measured; medians are reported.
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Where the report goes; the raw data goes beside it, as JSON.
    #[arg(long, value_name = "FILE", default_value = "docs/benchmarks/browser.md")]
    out: PathBuf,
    /// The Toolgate to measure.
    #[arg(long, value_name = "FILE", default_value = "target/release/toolgate")]
    toolgate: PathBuf,
    /// The folder where the other server is installed.
    #[arg(long, value_name = "DIR", default_value = "target/bench/browser")]
    peers: PathBuf,
    /// The Chromium that both start; without it one that is installed.
    #[arg(long, value_name = "FILE")]
    chromium: Option<PathBuf>,
}

/// What is measured, and how often.
struct Plan {
    quick: bool,
    rounds: usize,
    /// How often a page is looked at and clicked in a round.
    times: usize,
    out: PathBuf,
    toolgate: PathBuf,
    peers: PathBuf,
    chromium: PathBuf,
    command: String,
}

/// Measures, and writes the report.
pub(crate) fn run(options: &Options) -> Result<()> {
    let full = |path: &PathBuf| {
        let hint = "hint: run `cargo xtask bench browser`, which builds and installs it";
        path.canonicalize().with_context(|| format!("`{}` is not there\n{hint}", path.display()))
    };
    let installed = || CHROMIUMS.iter().map(PathBuf::from).find(|path| path.is_file());
    let plan = Plan {
        quick: options.quick,
        rounds: options.rounds.unwrap_or(if options.quick { 1 } else { 5 }),
        times: if options.quick { 3 } else { 10 },
        out: options.out.clone(),
        toolgate: full(&options.toolgate)?,
        peers: full(&options.peers)?,
        chromium: options
            .chromium
            .clone()
            .or_else(installed)
            .context("there is no Chromium\nhint: install `chromium-headless-shell`")?,
        command: command(),
    };
    ensure!(plan.rounds > 0, "`--rounds` begins at 1");
    let machine = Machine::look()?;
    let measured = measure::rounds(&plan)?;
    println!("{}", report::write(&plan, &machine, &measured)?);
    eprintln!("wrote {}", plan.out.display());
    Ok(())
}

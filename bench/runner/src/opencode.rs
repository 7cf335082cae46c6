//! What Toolgate adds to a prompt: the same prompt through its tool and at OpenCode's own API, in turns.

mod measure;
mod model;
mod report;
mod web;

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::machine::Machine;
use crate::plan::command;

/// Measure what Toolgate adds to a prompt, beside OpenCode's own API, with a model that answers at once.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Measure briefly: to see that it works, not to quote.
    #[arg(long)]
    quick: bool,
    /// How many prompts go each way.
    #[arg(long, value_name = "N")]
    prompts: Option<usize>,
    /// Where the report goes; the raw data goes beside it, as JSON.
    #[arg(long, value_name = "FILE", default_value = "docs/benchmarks/opencode.md")]
    out: PathBuf,
    /// The Toolgate to measure.
    #[arg(long, value_name = "FILE", default_value = "target/release/toolgate")]
    toolgate: PathBuf,
    /// The OpenCode behind it.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "target/bench/opencode/node_modules/opencode-linux-x64/bin/opencode"
    )]
    opencode: PathBuf,
}

/// What is measured, and how long.
pub(crate) struct Plan {
    pub(crate) quick: bool,
    pub(crate) prompts: usize,
    pub(crate) out: PathBuf,
    pub(crate) toolgate: PathBuf,
    pub(crate) opencode: PathBuf,
    pub(crate) command: String,
}

/// Measures, and writes the report.
pub(crate) fn run(options: &Options) -> Result<()> {
    let full = |path: &PathBuf| {
        let hint = "hint: run `cargo xtask bench opencode`, which builds and installs it";
        path.canonicalize().with_context(|| format!("`{}` is not there\n{hint}", path.display()))
    };
    let plan = Plan {
        quick: options.quick,
        prompts: options.prompts.unwrap_or(if options.quick { 10 } else { 200 }),
        out: options.out.clone(),
        toolgate: full(&options.toolgate)?,
        opencode: full(&options.opencode)?,
        command: command(),
    };
    ensure!(plan.prompts > 0, "`--prompts` begins at 1");
    let machine = Machine::look()?;
    let measured = measure::turns(&plan)?;
    println!("{}", report::write(&plan, &machine, &measured)?);
    eprintln!("wrote {}", plan.out.display());
    Ok(())
}

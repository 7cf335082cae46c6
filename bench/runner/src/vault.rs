//! What searching a vault costs: the pack's index beside a plain scan of the same notes, in turns.

mod measure;
mod report;

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::machine::Machine;
use crate::plan::command;

/// Measure what searching a vault costs: building the index, a warm search, and memory.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Measure briefly: to see that it works, not to quote.
    #[arg(long)]
    quick: bool,
    /// How many notes are made.
    #[arg(long, value_name = "N")]
    notes: Option<u64>,
    /// How often everything is measured, each time in a new process; medians are reported.
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Where the report goes; the raw data goes beside it, as JSON.
    #[arg(long, value_name = "FILE", default_value = "docs/benchmarks/vault.md")]
    out: PathBuf,
    /// The program that makes notes and searches them.
    #[arg(long, value_name = "FILE", default_value = "target/bench/release/vault-bench")]
    program: PathBuf,
}

/// What is measured, and how often.
pub(crate) struct Plan {
    pub(crate) quick: bool,
    pub(crate) notes: u64,
    pub(crate) rounds: usize,
    /// How often a question is asked in a round.
    pub(crate) repeats: usize,
    pub(crate) out: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) command: String,
}

/// Measures, and writes the report.
pub(crate) fn run(options: &Options) -> Result<()> {
    let (notes, rounds, repeats) = if options.quick { (1_000, 2, 5) } else { (20_000, 5, 50) };
    let program = options.program.canonicalize().with_context(|| {
        format!(
            "`{}` is not there\nhint: run `cargo xtask bench vault`, which builds it",
            options.program.display()
        )
    })?;
    let plan = Plan {
        quick: options.quick,
        notes: options.notes.unwrap_or(notes),
        rounds: options.rounds.unwrap_or(rounds),
        repeats,
        out: options.out.clone(),
        program,
        command: command(),
    };
    ensure!(plan.rounds > 0 && plan.notes > 10, "`--rounds` begins at 1, and `--notes` at 11");
    let machine = Machine::look()?;
    let measured = measure::rounds(&plan)?;
    println!("{}", report::write(&plan, &machine, &measured)?);
    eprintln!("wrote {}", plan.out.display());
    Ok(())
}

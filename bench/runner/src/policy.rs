//! What the policy costs: the same hub with it and without it, in turns, and a bare search for the same patterns.

mod measure;
mod report;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::machine::Machine;
use crate::plan::{Load, command};

/// Calls that are measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Series {
    /// Their name in the report.
    pub(crate) name: &'static str,
    /// The bytes of the reply.
    pub(crate) bytes: usize,
    /// How often each client calls, where not as soon as it has its answer.
    pub(crate) every: Option<Duration>,
    /// Whether clients wait for answers without sleeping.
    pub(crate) awake: bool,
}

pub(crate) const SMALL: Series = Series { name: "1 kB", bytes: 1_000, every: None, awake: false };
pub(crate) const LARGE: Series = Series { name: "1 MB", bytes: 1_000_000, ..SMALL };
/// Whoever answers a client that sleeps wakes it, and pays for that. How often clients sleep depends on how fast the
/// server is, and not on what its policy does.
pub(crate) const AWAKE: Series = Series { name: "1 kB, clients awake", awake: true, ..SMALL };
/// As many calls a second at one hub as at the other, and time to rest.
pub(crate) const STEADY: Series =
    Series { name: "1 kB, steady", every: Some(Duration::from_millis(4)), ..SMALL };

/// Measure what the policy adds to a call: rules, limits, redaction, audit.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Measure briefly: to see that it works, not to quote.
    #[arg(long)]
    quick: bool,
    /// How often everything is measured; medians are reported.
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Where the report goes; the raw data goes beside it, as JSON.
    #[arg(long, value_name = "FILE", default_value = "docs/benchmarks/policy.md")]
    out: PathBuf,
    /// The server to measure; else one that is built like a release, by a profile of its own calls.
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
    /// Measure what cargo builds without a profile.
    #[arg(long, conflicts_with = "server")]
    plain: bool,
}

/// What is measured, and how long.
pub(crate) struct Plan {
    pub(crate) quick: bool,
    pub(crate) rounds: usize,
    pub(crate) load: Load,
    pub(crate) out: PathBuf,
    pub(crate) server: PathBuf,
    pub(crate) trained: bool,
    pub(crate) command: String,
}

/// Measures, and writes the report.
pub(crate) fn run(options: &Options) -> Result<()> {
    let (rounds, requests, seconds) = if options.quick { (2, 5_000, 1) } else { (7, 40_000, 5) };
    let made = if options.plain { "target/bench/release/policy-echo" } else { "target/trained/policy-echo" };
    let server = options.server.as_deref().unwrap_or(Path::new(made));
    let server = server.canonicalize().with_context(|| {
        format!("`{}` is not there\nhint: run `cargo xtask bench policy`, which builds it", server.display())
    })?;
    let plan = Plan {
        quick: options.quick,
        rounds: options.rounds.unwrap_or(rounds),
        load: Load::full(requests, Duration::from_secs(seconds)),
        out: options.out.clone(),
        server,
        trained: !options.plain && options.server.is_none(),
        command: command(),
    };
    ensure!(plan.rounds > 0, "`--rounds` begins at 1");
    let machine = Machine::look()?;
    let measured = measure::rounds(&plan)?;
    println!("{}", report::write(&plan, &machine, &measured)?);
    eprintln!("wrote {}", plan.out.display());
    Ok(())
}

//! What the hop through a gateway costs: Toolgate with its whole policy, a bare forwarder, and the gateways of the
//! registries, each in front of the same server.

mod gateway;
mod measure;
mod report;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use tempfile::TempDir;

use crate::machine::Machine;
use crate::plan::{Load, command};
use gateway::{GATEWAYS, Gateway, Template};

/// How many clients call at once.
pub(crate) const CLIENTS: [usize; 3] = [1, 16, 64];

/// How many tools the server has, and how many in the comparison.
pub(crate) const TOOLS: usize = 10;
pub(crate) const MANY_TOOLS: usize = 1_000;

/// Measure what the hop through a gateway costs, beside a bare forwarder and other gateways.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Measure briefly: to see that it works, not to quote.
    #[arg(long)]
    quick: bool,
    /// Measure these gateways only, by their names in the raw data.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<String>,
    /// How often everything is measured; medians are reported.
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Where the report goes; the raw data goes beside it, as JSON.
    #[arg(long, value_name = "FILE", default_value = "docs/benchmarks/hub.md")]
    out: PathBuf,
    /// The Toolgate to measure; else one as `cargo xtask dist` builds it, by a profile of its own calls.
    #[arg(long, value_name = "FILE")]
    toolgate: Option<PathBuf>,
    /// Measure what cargo builds without a profile.
    #[arg(long, conflicts_with = "toolgate")]
    plain: bool,
    /// The folder of the server behind the gateways, and of the bare forwarder.
    #[arg(long, value_name = "DIR", default_value = "target/bench/release")]
    servers: PathBuf,
    /// The folder where the other gateways are installed.
    #[arg(long, value_name = "DIR", default_value = "target/bench/gateways")]
    gateways: PathBuf,
}

/// What is measured, and how long.
pub(crate) struct Plan {
    pub(crate) quick: bool,
    pub(crate) trained: bool,
    pub(crate) gateways: Vec<&'static Gateway>,
    pub(crate) rounds: usize,
    pub(crate) load: Load,
    pub(crate) out: PathBuf,
    pub(crate) command: String,
    pub(crate) toolgate: PathBuf,
    pub(crate) servers: PathBuf,
    pub(crate) peers: PathBuf,
    /// The home of every gateway.
    pub(crate) home: TempDir,
    /// What Toolgate's data folder holds at the start.
    pub(crate) template: Template,
}

/// Measures, and writes the report.
pub(crate) fn run(options: &Options) -> Result<()> {
    let plan = plan(options)?;
    let machine = Machine::look()?;
    let measured = measure::rounds(&plan)?;
    println!("{}", report::write(&plan, &machine, &measured)?);
    eprintln!("wrote {}", plan.out.display());
    Ok(())
}

fn plan(options: &Options) -> Result<Plan> {
    let (rounds, requests, seconds) = if options.quick { (2, 3_000, 1) } else { (5, 20_000, 4) };
    let wanted =
        |gateway: &&Gateway| options.only.is_empty() || options.only.iter().any(|name| name == gateway.name);
    let made = if options.plain { "target/release/toolgate" } else { "target/trained/toolgate" };
    let toolgate = full(options.toolgate.as_deref().unwrap_or(Path::new(made)))?;
    let plan = Plan {
        quick: options.quick,
        trained: !options.plain && options.toolgate.is_none(),
        gateways: GATEWAYS.iter().filter(wanted).collect(),
        rounds: options.rounds.unwrap_or(rounds),
        load: Load::full(requests, Duration::from_secs(seconds)),
        out: options.out.clone(),
        command: command(),
        servers: full(&options.servers)?,
        peers: full(&options.gateways)?,
        home: tempfile::tempdir()?,
        template: Template::new(&toolgate)?,
        toolgate,
    };
    ensure!(!plan.gateways.is_empty() && plan.rounds > 0, "nothing is left to measure");
    Ok(plan)
}

fn full(path: &Path) -> Result<PathBuf> {
    path.canonicalize().with_context(|| {
        format!("`{}` is not there\nhint: run `cargo xtask bench hub`, which builds it", path.display())
    })
}

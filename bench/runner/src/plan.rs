//! What to measure and how long: the options, and what follows from them.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::case::{CASES, Case, Family};
use crate::request::{self, Era};
use crate::server::{Places, Server};

/// How many connections, or calls on standard input, are under way at once.
pub(crate) const IN_FLIGHT: usize = 16;

/// Measure what a call costs Toolgate, beside a bare echo and the SDKs.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Measure briefly: to see that it works, not to quote.
    #[arg(long)]
    quick: bool,
    /// Measure these only.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Family>,
    /// Measure these rows only, by their names in the raw data; neither starts nor idle sessions.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    case: Vec<String>,
    /// How often every server is measured; medians are reported.
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// How many calls a measurement takes, if there is time.
    #[arg(long, value_name = "N")]
    requests: Option<u64>,
    /// Where the report goes; the raw data goes beside it, as JSON.
    #[arg(long, value_name = "FILE", default_value = "docs/benchmarks/front.md")]
    out: PathBuf,
    /// The Toolgate to measure.
    #[arg(long, value_name = "FILE", default_value = "target/release/toolgate")]
    toolgate: PathBuf,
    /// The folder of the bare echo and the Rust SDK's server.
    #[arg(long, value_name = "DIR", default_value = "target/bench/release")]
    servers: PathBuf,
    /// The folder where the other SDKs are installed.
    #[arg(long, value_name = "DIR", default_value = "target/bench/peers")]
    peers: PathBuf,
}

/// What is measured, and how long.
pub(crate) struct Plan {
    pub(crate) cases: Vec<&'static Case>,
    pub(crate) rounds: usize,
    pub(crate) load: Load,
    pub(crate) starts: usize,
    pub(crate) sessions: usize,
    pub(crate) places: Places,
    pub(crate) out: PathBuf,
    pub(crate) command: String,
    pub(crate) quick: bool,
    calls_only: bool,
}

/// How long a load lasts: until either is used up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) requests: u64,
    pub(crate) time: Duration,
    /// How often each client calls, where not as soon as it has its answer.
    pub(crate) every: Option<Duration>,
    /// Whether the thread of the clients never sleeps, so that no server has to wake it.
    pub(crate) awake: bool,
}

impl Load {
    /// One of clients that call again as soon as they have their answer.
    pub(crate) fn full(requests: u64, time: Duration) -> Self {
        Self { requests, time, every: None, awake: false }
    }

    /// What a server gets before the measurement. Half the time is for those that compile as they run.
    pub(crate) fn warm_up(self) -> Self {
        Self { requests: self.requests.div_ceil(10), time: self.time / 2, ..self }
    }

    /// One of so many parts of it.
    pub(crate) fn part(self, of: usize) -> Self {
        let of = u32::try_from(of).unwrap_or(u32::MAX);
        Self { requests: self.requests.div_ceil(of.into()), time: self.time / of, ..self }
    }
}

impl Plan {
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let quick = options.quick;
        let (rounds, requests, seconds) = if quick { (2, 5_000, 1) } else { (5, 40_000, 5) };
        let wanted = |case: &&Case| {
            (options.only.is_empty() || options.only.contains(&case.family))
                && (options.case.is_empty() || options.case.iter().any(|name| name == case.name))
        };
        let plan = Self {
            cases: CASES.iter().filter(wanted).collect(),
            rounds: options.rounds.unwrap_or(rounds),
            load: Load::full(options.requests.unwrap_or(requests), Duration::from_secs(seconds)),
            starts: if quick { 10 } else { 30 },
            sessions: 10_000,
            places: places(options)?,
            out: options.out.clone(),
            command: command(),
            quick,
            calls_only: !options.case.is_empty(),
        };
        ensure!(
            !plan.cases.is_empty(),
            "nothing is left to measure\nhint: names are in the raw data of a run"
        );
        ensure!(plan.rounds > 0 && plan.load.requests > 0, "`--rounds` and `--requests` begin at 1");
        Ok(plan)
    }

    /// Whether a family is measured in other ways than by calls.
    pub(crate) fn has(&self, family: Family) -> bool {
        !self.calls_only && self.cases.iter().any(|case| case.family == family)
    }
}

/// The command that is quoted in the report.
pub(crate) fn command() -> String {
    let words = ["cargo xtask bench".to_owned()].into_iter().chain(std::env::args().skip(1));
    words.collect::<Vec<_>>().join(" ")
}

fn places(options: &Options) -> Result<Places> {
    let full = |path: &PathBuf| {
        path.canonicalize().with_context(|| {
            format!("`{}` is not there\nhint: run `cargo xtask bench front`, which builds it", path.display())
        })
    };
    let mut places = Places {
        toolgate: full(&options.toolgate)?,
        servers: full(&options.servers)?,
        peers: full(&options.peers)?,
        home: tempfile::tempdir()?,
        echoes: Default::default(),
    };
    // The floor answers what Toolgate answers, byte for byte.
    let server = Server::http(&places, crate::case::TOOLGATE_HTTP)?;
    let address = server.address()?;
    for era in [Era::Legacy, Era::Modern] {
        let answer = crate::http::once(address, &request::call(address, request::PATH, era, None))?;
        request::check(&answer)?;
        *places.echoes.of(era) = String::from_utf8(answer)?;
    }
    Ok(places)
}

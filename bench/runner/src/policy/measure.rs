//! The rounds: both hubs and the bare search, one after another.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::{AWAKE, LARGE, Plan, SMALL, STEADY, Series};
use crate::case::Way;
use crate::http::Clients;
use crate::plan::Load;
use crate::request::Era;
use crate::sample::{Timed, percentile};
use crate::server::Server;

/// How many turns each hub has in a round.
pub(crate) const TURNS: usize = 40;
/// How long a server has to be idle to count as done. The audit copies its records about once a second.
const QUIET: Duration = Duration::from_secs(2);
/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(100);
/// How much processor time a server may use between two looks and still count as idle.
const NEXT_TO_NOTHING: Duration = Duration::from_micros(500);
/// How long a server may take to become idle.
const PATIENCE: Duration = Duration::from_secs(60);

/// Which of the two hubs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Side {
    Bare,
    Full,
}

/// What was measured of one hub and one reply in one round.
#[derive(Debug, Serialize)]
pub(crate) struct Sample {
    pub(crate) round: usize,
    pub(crate) side: Side,
    pub(crate) series: &'static str,
    pub(crate) requests: usize,
    pub(crate) per_second: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// Processor time of the server for a call, with what it had left to do after the last answer.
    pub(crate) cpu_us: f64,
    /// The part of it that was used after the last answer.
    pub(crate) after_us: f64,
    pub(crate) loaded_bytes: u64,
}

/// What a bare search cost in one round, and the filter beside it.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Scan {
    pub(crate) patterns: usize,
    pub(crate) pattern_bytes: usize,
    pub(crate) reply_bytes: usize,
    pub(crate) scan_us: f64,
    pub(crate) filter_us: f64,
    pub(crate) memory_bytes: usize,
}

/// What each part of the policy cost in one round, without a front.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Split {
    /// A call without any of them.
    pub(crate) bare_us: f64,
    /// What each adds to it by itself.
    pub(crate) rules_us: f64,
    pub(crate) limits_us: f64,
    pub(crate) redaction_us: f64,
    pub(crate) record_us: f64,
    /// What all of them add together.
    pub(crate) all_us: f64,
    /// What copying a record into the store takes on other threads.
    pub(crate) copying_us: f64,
}

/// Everything that was measured.
#[derive(Serialize)]
pub(crate) struct Measured {
    pub(crate) calls: Vec<Sample>,
    /// One a round, of the largest reply.
    pub(crate) scans: Vec<Scan>,
    /// One a round, of the smallest reply.
    pub(crate) splits: Vec<Split>,
}

/// Measures every round.
pub(crate) fn rounds(plan: &Plan) -> Result<Measured> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut measured = Measured { calls: Vec::new(), scans: Vec::new(), splits: Vec::new() };
    for round in 0..plan.rounds {
        for series in [SMALL, AWAKE, STEADY, LARGE] {
            for sample in calls(plan, &runtime, round, series).context(series.name)? {
                eprintln!(
                    "round {}/{} {} {:?}: {:8.0} /s  cpu {:8.1} us, {:.1} of it after the last answer",
                    round + 1,
                    plan.rounds,
                    sample.series,
                    sample.side,
                    sample.per_second,
                    sample.cpu_us,
                    sample.after_us,
                );
                measured.calls.push(sample);
            }
        }
        measured.splits.push(split(plan)?);
        let scan = scan(plan)?;
        eprintln!(
            "round {}/{} scan {:.1} us, filter {:.1} us",
            round + 1,
            plan.rounds,
            scan.scan_us,
            scan.filter_us
        );
        measured.scans.push(scan);
    }
    Ok(measured)
}

/// Calls both hubs in short turns: whatever else the machine does meanwhile, and however fast it is just now, is the
/// same for both.
fn calls(plan: &Plan, runtime: &Runtime, round: usize, series: Series) -> Result<[Sample; 2]> {
    let load = Load { every: series.every, awake: series.awake, ..plan.load };
    let mut bare = Running::start(plan, runtime, Side::Bare, series.bytes)?;
    let mut full = Running::start(plan, runtime, Side::Full, series.bytes)?;
    for turn in 0..TURNS {
        let mut both = [&mut bare, &mut full];
        both.rotate_left(turn % 2);
        for running in both {
            running.turn(runtime, load.part(TURNS))?;
        }
    }
    Ok([bare.end(round, series.name)?, full.end(round, series.name)?])
}

/// A hub under measurement.
struct Running {
    side: Side,
    server: Server,
    clients: Option<Clients>,
    timed: Timed,
    /// The processor time before the first call, and behind the last answer.
    before: Duration,
    answered: Duration,
    /// Its folder, for as long as it runs.
    _data: TempDir,
}

impl Running {
    fn start(plan: &Plan, runtime: &Runtime, side: Side, bytes: usize) -> Result<Self> {
        let data = tempfile::tempdir()?;
        let mut command = Command::new(&plan.server);
        command.env_clear().current_dir(data.path());
        match side {
            Side::Bare => command.arg("bare").arg(bytes.to_string()),
            Side::Full => command.arg("full").arg(bytes.to_string()).arg(data.path()),
        };
        let server = Server::listening(command)?;
        let clients = runtime.block_on(Clients::connect(server.address()?, Way::Http(Era::Legacy)))?;
        let (clients, _) = clients.load(runtime, plan.load.warm_up())?;
        let before = idle(&server)?;
        let timed = Timed { latencies: Vec::new(), elapsed: Duration::ZERO };
        Ok(Self { side, server, clients: Some(clients), timed, before, answered: before, _data: data })
    }

    fn turn(&mut self, runtime: &Runtime, load: Load) -> Result<()> {
        let clients = self.clients.take().context("no clients")?;
        let (clients, timed) = clients.load(runtime, load).with_context(|| format!("{:?}", self.side))?;
        self.timed.latencies.extend(timed.latencies);
        self.timed.elapsed += timed.elapsed;
        self.clients = Some(clients);
        self.answered = self.server.cpu()?;
        Ok(())
    }

    fn end(mut self, round: usize, series: &'static str) -> Result<Sample> {
        let done = idle(&self.server)?;
        self.timed.latencies.sort_unstable();
        let requests = self.timed.latencies.len();
        let each = |cpu: Duration| cpu.as_secs_f64() * 1e6 / requests as f64;
        Ok(Sample {
            round,
            side: self.side,
            series,
            requests,
            per_second: requests as f64 / self.timed.elapsed.as_secs_f64(),
            p50_us: percentile(&self.timed.latencies, 50),
            p99_us: percentile(&self.timed.latencies, 99),
            cpu_us: each(done - self.before),
            after_us: each(done - self.answered),
            loaded_bytes: self.server.memory()?,
        })
    }
}

/// Waits until a server has nothing left to do, and gives the processor time that it used up to then.
fn idle(server: &Server) -> Result<Duration> {
    let (mut quiet, mut waited) = (Duration::ZERO, Duration::ZERO);
    let mut used = server.cpu()?;
    while quiet < QUIET {
        ensure!(waited < PATIENCE, "the server does not become idle");
        std::thread::sleep(LOOK);
        let now = server.cpu()?;
        quiet = if now - used < NEXT_TO_NOTHING { quiet + LOOK } else { Duration::ZERO };
        (used, waited) = (now, waited + LOOK);
    }
    Ok(used)
}

fn scan(plan: &Plan) -> Result<Scan> {
    by_itself(plan, "scan", LARGE.bytes)
}

fn split(plan: &Plan) -> Result<Split> {
    by_itself(plan, "split", SMALL.bytes)
}

/// Lets the server measure something without clients, and reads what it says.
fn by_itself<T: for<'a> Deserialize<'a>>(plan: &Plan, what: &str, bytes: usize) -> Result<T> {
    let output = Command::new(&plan.server).arg(what).arg(bytes.to_string()).output()?;
    ensure!(output.status.success(), "`{what}` failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

//! The rounds: every gateway in front of the same server, one after another.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use tokio::runtime::Runtime;

use super::gateway::{Behind, Gateway, Started, Whose, server, toolgate};
use super::{CLIENTS, MANY_TOOLS, Plan, TOOLS};
use crate::case::Way;
use crate::http::{self, Clients};
use crate::sample::{Timed, percentile};
use crate::server::Server;
use crate::stdio::Client;

/// The program behind the gateways, whose work is not theirs.
const SERVER: &str = "hub-echo";

/// How long a gateway may take until it knows the server behind it.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked at meanwhile, and how long it has to be idle after the last answer to count as done: the audit
/// copies its records about once a second.
const LOOK: Duration = Duration::from_millis(100);
const QUIET: Duration = Duration::from_secs(2);
/// How much processor time a gateway may use between two looks and still count as idle.
const NEXT_TO_NOTHING: Duration = Duration::from_micros(500);

/// How long nobody has called when idle memory is measured. What was needed before is given back within that time.
const IDLE: Duration = Duration::from_secs(12);

/// How many servers stand behind Toolgate when its idle memory is measured.
pub(crate) const SERVERS: usize = 10;

/// What was measured of one gateway in one round.
#[derive(Debug, Serialize)]
pub(crate) struct Sample {
    pub(crate) round: usize,
    pub(crate) gateway: &'static str,
    pub(crate) behind: Behind,
    pub(crate) clients: usize,
    pub(crate) tools: usize,
    pub(crate) requests: usize,
    pub(crate) per_second: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// Processor time of the gateway for a call; none where there is no gateway.
    pub(crate) cpu_us: f64,
    pub(crate) loaded_bytes: u64,
}

/// Everything that was measured.
#[derive(Serialize)]
pub(crate) struct Measured {
    pub(crate) calls: Vec<Sample>,
    /// Where another gateway did not answer, or not rightly.
    pub(crate) failures: Vec<String>,
    /// Toolgate with several servers behind it over HTTP, when nobody calls.
    pub(crate) idle_bytes: Vec<u64>,
}

/// One measurement.
struct Cell {
    gateway: &'static Gateway,
    behind: Behind,
    clients: usize,
    tools: usize,
}

/// Measures every round; each begins at another place of the list.
pub(crate) fn rounds(plan: &Plan) -> Result<Measured> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut measured = Measured { calls: Vec::new(), failures: Vec::new(), idle_bytes: Vec::new() };
    for round in 0..plan.rounds {
        let mut cells = cells(plan);
        let places = cells.len();
        cells.rotate_left(round * places / plan.rounds);
        for cell in cells {
            let Cell { gateway, behind, clients, tools } = cell;
            let sample = measure(plan, &runtime, &cell, round)
                .with_context(|| format!("`{}`, {behind:?}, {clients} clients", gateway.name));
            let sample = match sample {
                Err(error) if gateway.whose == Whose::Peer => {
                    // What another gateway cannot carry is told, and does not end the run.
                    eprintln!("round {}/{} {error:#}", round + 1, plan.rounds);
                    measured.failures.push(format!("{error:#}"));
                    continue;
                }
                sample => sample?,
            };
            eprintln!(
                "round {}/{} {:15} {behind:5?} {clients:2} clients {tools:4} tools {:8.0} /s  p50 {:7.0} us  cpu {:7.1} us",
                round + 1,
                plan.rounds,
                gateway.name,
                sample.per_second,
                sample.p50_us,
                sample.cpu_us,
            );
            measured.calls.push(sample);
        }
        if plan.gateways.iter().any(|gateway| gateway.whose == Whose::Ours) {
            measured.idle_bytes.push(idle_bytes(plan)?);
        }
    }
    Ok(measured)
}

/// What is compared stands together.
fn cells(plan: &Plan) -> Vec<Cell> {
    let mut cells = Vec::new();
    for behind in [Behind::Http, Behind::Stdio] {
        for clients in CLIENTS {
            for gateway in &plan.gateways {
                if behind == Behind::Http && !gateway.over_http {
                    continue;
                }
                cells.push(Cell { gateway, behind, clients, tools: TOOLS });
                if gateway.whose == Whose::Ours && clients == CLIENTS[1] {
                    cells.push(Cell { gateway, behind, clients, tools: MANY_TOOLS });
                }
            }
        }
    }
    cells
}

fn measure(plan: &Plan, runtime: &Runtime, cell: &Cell, round: usize) -> Result<Sample> {
    let Cell { gateway, behind, clients, tools } = *cell;
    let is_bare = gateway.whose == Whose::Nobody;
    let (mut timed, cpu, loaded_bytes) = if is_bare && behind == Behind::Stdio {
        (directly(plan, clients)?, Duration::ZERO, 0)
    } else {
        through(plan, runtime, cell)?
    };
    timed.latencies.sort_unstable();
    let requests = timed.latencies.len();
    let cpu_us = if is_bare { f64::NAN } else { cpu.as_secs_f64() * 1e6 / requests as f64 };
    Ok(Sample {
        round,
        gateway: gateway.name,
        behind,
        clients,
        tools,
        requests,
        per_second: requests as f64 / timed.elapsed.as_secs_f64(),
        p50_us: percentile(&timed.latencies, 50),
        p99_us: percentile(&timed.latencies, 99),
        cpu_us,
        loaded_bytes,
    })
}

fn through(plan: &Plan, runtime: &Runtime, cell: &Cell) -> Result<(Timed, Duration, u64)> {
    let started = cell.gateway.start(plan, cell.behind, cell.tools)?;
    let address = started.gateway.address()?;
    let (began, way) = (std::time::Instant::now(), Way::Session(cell.gateway.path));
    // It listens before it knows what the server behind it has.
    while let Err(error) = runtime.block_on(http::open(address, way)) {
        ensure!(began.elapsed() < PATIENCE, "it never answers: {error:#}");
        sleep(LOOK);
    }
    let clients = runtime.block_on(Clients::several(cell.clients, address, way))?;
    let (clients, _) = clients.load(runtime, plan.load.warm_up())?;
    let before = done(&started, cell)?;
    let (_clients, timed) = clients.load(runtime, plan.load)?;
    let after = done(&started, cell)?;
    let bytes = started.gateway.memory()?;
    Ok((timed, after - before, bytes))
}

/// The processor time that a gateway has used. Ours still has records to copy after the last answer, which counts.
fn done(started: &Started, cell: &Cell) -> Result<Duration> {
    let mut used = started.gateway.cpu_without(SERVER)?;
    if cell.gateway.whose != Whose::Ours {
        return Ok(used);
    }
    let (mut quiet, mut waited) = (Duration::ZERO, Duration::ZERO);
    while quiet < QUIET {
        ensure!(waited < PATIENCE, "it does not become idle");
        sleep(LOOK);
        let now = started.gateway.cpu_without(SERVER)?;
        quiet = if now - used < NEXT_TO_NOTHING { quiet + LOOK } else { Duration::ZERO };
        (used, waited) = (now, waited + LOOK);
    }
    Ok(used)
}

/// Calls on the server's own standard input.
fn directly(plan: &Plan, in_flight: usize) -> Result<Timed> {
    let (program, arguments) = server(plan, Behind::Stdio, TOOLS);
    let mut command = Command::new(program);
    let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let input = child.stdin.take().context("no standard input")?;
    let output = std::io::BufReader::new(child.stdout.take().context("no standard output")?);
    let mut client = Client::new(input, output);
    client.shake_hands()?;
    client.load(in_flight, plan.load.warm_up())?;
    let timed = client.load(in_flight, plan.load)?;
    drop(client);
    child.wait()?;
    Ok(timed)
}

/// What Toolgate holds when it knows several servers over HTTP, and nobody calls.
fn idle_bytes(plan: &Plan) -> Result<u64> {
    let (program, arguments) = server(plan, Behind::Http, TOOLS);
    let mut servers = Vec::new();
    for _ in 0..SERVERS {
        let mut command = Command::new(&program);
        servers.push(Server::listening(command.args(&arguments))?);
    }
    let mut tables = Vec::new();
    for (number, server) in servers.iter().enumerate() {
        tables.push((format!("s{number}"), vec![format!("http://{}/mcp", server.address()?)]));
    }
    let (gateway, _data) = toolgate(plan, &tables)?;
    let list = crate::request::list(gateway.address()?);
    let began = std::time::Instant::now();
    let count = |answer: &[u8]| memchr::memmem::find_iter(answer, br#""inputSchema""#).count();
    while count(&http::once(gateway.address()?, &list)?) < SERVERS * TOOLS {
        ensure!(began.elapsed() < PATIENCE, "it never lists all tools");
        sleep(LOOK);
    }
    sleep(IDLE);
    gateway.memory()
}

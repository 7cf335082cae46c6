//! The rounds: every gateway in front of the same server, one after another.

use std::io::BufReader;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use tokio::runtime::Runtime;

use super::gateway::{Behind, Gateway, Started, Whose, server, toolgate};
use super::{CLIENTS, MANY_TOOLS, Plan, TOOLS};
use crate::case::Way;
use crate::http::{self, Clients};
use crate::plan::Load;
use crate::process::Spent;
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

/// How many turns each gateway has in a round.
pub(crate) const TURNS: usize = 20;

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
    /// How much of it in kernel mode.
    pub(crate) kernel_us: f64,
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
#[derive(Clone, Copy)]
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
        for behind in [Behind::Http, Behind::Stdio] {
            for clients in CLIENTS {
                together(plan, &runtime, round, cells(plan, behind, clients), &mut measured)?;
            }
        }
        if plan.gateways.iter().any(|gateway| gateway.whose == Whose::Ours) {
            measured.idle_bytes.push(idle_bytes(plan)?);
        }
    }
    Ok(measured)
}

/// What is compared: all gateways in front of the same server, with as many clients.
fn cells(plan: &Plan, behind: Behind, clients: usize) -> Vec<Cell> {
    let mut cells = Vec::new();
    for gateway in &plan.gateways {
        if behind == Behind::Http && !gateway.over_http {
            continue;
        }
        cells.push(Cell { gateway, behind, clients, tools: TOOLS });
        if gateway.whose == Whose::Ours && clients == CLIENTS[1] {
            cells.push(Cell { gateway, behind, clients, tools: MANY_TOOLS });
        }
    }
    cells
}

/// Measures gateways in short turns: whatever else the machine does meanwhile, and however fast it is just now, is the
/// same for all. What another gateway cannot carry is told, and does not end the run.
fn together(
    plan: &Plan,
    runtime: &Runtime,
    round: usize,
    cells: Vec<Cell>,
    measured: &mut Measured,
) -> Result<()> {
    let mut failures = Vec::new();
    let mut kept = |cell: Cell, error: anyhow::Error| {
        let Cell { gateway, behind, clients, .. } = cell;
        let error = error.context(format!("`{}`, {behind:?}, {clients} clients", gateway.name));
        if gateway.whose != Whose::Peer {
            return Err(error);
        }
        eprintln!("round {}/{} {error:#}", round + 1, plan.rounds);
        failures.push(format!("{error:#}"));
        Ok(())
    };
    let mut running = Vec::new();
    for cell in cells {
        match Running::start(plan, runtime, cell) {
            Ok(started) => running.push(started),
            Err(error) => kept(cell, error)?,
        }
    }
    for turn in 0..TURNS {
        let places = running.len().max(1);
        running.rotate_left((turn + round) % places);
        let mut still = Vec::new();
        for mut one in running {
            match one.turn(runtime, plan.load.part(TURNS)) {
                Ok(()) => still.push(one),
                Err(error) => kept(one.cell, error)?,
            }
        }
        running = still;
    }
    for one in running {
        let sample = one.end(round)?;
        eprintln!(
            "round {}/{} {:15} {:5?} {:2} clients {:4} tools {:8.0} /s  p50 {:7.0} us  cpu {:7.1} us",
            round + 1,
            plan.rounds,
            sample.gateway,
            sample.behind,
            sample.clients,
            sample.tools,
            sample.per_second,
            sample.p50_us,
            sample.cpu_us,
        );
        measured.calls.push(sample);
    }
    measured.failures.extend(failures);
    Ok(())
}

/// A gateway under measurement.
struct Running {
    cell: Cell,
    under: Under,
    timed: Timed,
}

/// What is called.
enum Under {
    Gateway {
        started: Started,
        clients: Option<Clients>,
        before: Spent,
    },
    /// The server's own standard input.
    Program {
        child: Child,
        client: Client,
    },
}

impl Running {
    fn start(plan: &Plan, runtime: &Runtime, cell: Cell) -> Result<Self> {
        let timed = Timed { latencies: Vec::new(), elapsed: Duration::ZERO };
        let under = if cell.gateway.whose == Whose::Nobody && cell.behind == Behind::Stdio {
            directly(plan, cell.clients)?
        } else {
            through(plan, runtime, &cell)?
        };
        Ok(Self { cell, under, timed })
    }

    fn turn(&mut self, runtime: &Runtime, load: Load) -> Result<()> {
        let timed = match &mut self.under {
            Under::Gateway { clients, .. } => {
                let (back, timed) = clients.take().context("no clients")?.load(runtime, load)?;
                *clients = Some(back);
                timed
            }
            Under::Program { client, .. } => client.load(self.cell.clients, load)?,
        };
        self.timed.latencies.extend(timed.latencies);
        self.timed.elapsed += timed.elapsed;
        Ok(())
    }

    fn end(self, round: usize) -> Result<Sample> {
        let Self { cell, under, mut timed } = self;
        timed.latencies.sort_unstable();
        let requests = timed.latencies.len();
        let (spent, loaded_bytes) = match under {
            Under::Gateway { started, before, .. } => {
                (Some(done(&started, &cell)?.since(&before)), started.gateway.memory()?)
            }
            Under::Program { mut child, client } => {
                drop(client);
                child.wait()?;
                (None, 0)
            }
        };
        let spent = spent.filter(|_| cell.gateway.whose != Whose::Nobody);
        let each = |time: Duration| time.as_secs_f64() * 1e6 / requests as f64;
        Ok(Sample {
            round,
            gateway: cell.gateway.name,
            behind: cell.behind,
            clients: cell.clients,
            tools: cell.tools,
            requests,
            per_second: requests as f64 / timed.elapsed.as_secs_f64(),
            p50_us: percentile(&timed.latencies, 50),
            p99_us: percentile(&timed.latencies, 99),
            cpu_us: spent.map_or(f64::NAN, |(all, _)| each(all)),
            kernel_us: spent.map_or(f64::NAN, |(_, kernel)| each(kernel)),
            loaded_bytes,
        })
    }
}

fn through(plan: &Plan, runtime: &Runtime, cell: &Cell) -> Result<Under> {
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
    Ok(Under::Gateway { started, clients: Some(clients), before })
}

/// The processor time that a gateway has used. Ours still has records to copy after the last answer, which counts.
fn done(started: &Started, cell: &Cell) -> Result<Spent> {
    let mut used = started.gateway.spent_without(SERVER)?;
    if cell.gateway.whose != Whose::Ours {
        return Ok(used);
    }
    let (mut quiet, mut waited) = (Duration::ZERO, Duration::ZERO);
    while quiet < QUIET {
        ensure!(waited < PATIENCE, "it does not become idle");
        sleep(LOOK);
        let now = started.gateway.spent_without(SERVER)?;
        quiet = if now.all - used.all < NEXT_TO_NOTHING { quiet + LOOK } else { Duration::ZERO };
        (used, waited) = (now, waited + LOOK);
    }
    Ok(used)
}

/// The server's own standard input.
fn directly(plan: &Plan, in_flight: usize) -> Result<Under> {
    let (program, arguments) = server(plan, Behind::Stdio, TOOLS);
    let mut command = Command::new(program);
    let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let input = child.stdin.take().context("no standard input")?;
    let output = BufReader::new(child.stdout.take().context("no standard output")?);
    let mut client = Client::new(input, output);
    client.shake_hands()?;
    client.load(in_flight, plan.load.warm_up())?;
    Ok(Under::Program { child, client })
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

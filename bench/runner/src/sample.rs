//! The measurement of one case in one round, and the rounds.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::Serialize;
use tokio::runtime::Runtime;

use crate::case::{Case, Family, Way};
use crate::http::{self, Clients};
use crate::plan::{IN_FLIGHT, Plan};
use crate::request::{self, Era};
use crate::server::Server;
use crate::stdio::{Client, SETTLE};

/// What a load took.
pub(crate) struct Timed {
    pub(crate) latencies: Vec<Duration>,
    pub(crate) elapsed: Duration,
}

/// What was measured of one case in one round.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sample {
    pub(crate) case: &'static str,
    pub(crate) round: usize,
    pub(crate) requests: usize,
    pub(crate) seconds: f64,
    pub(crate) per_second: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// Processor time of the server for a call.
    pub(crate) cpu_us: f64,
    /// Memory after the start and one call.
    pub(crate) idle_bytes: u64,
    /// Memory after the load.
    pub(crate) loaded_bytes: u64,
}

/// A server's processor time and memory around a load.
struct Cost {
    cpu: Duration,
    idle_bytes: u64,
    loaded_bytes: u64,
}

/// Measures every case in every round; each round begins at another place of the list.
pub(crate) fn rounds(plan: &Plan, runtime: &Runtime) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for round in 0..plan.rounds {
        let mut cases = plan.cases.clone();
        cases.rotate_left(round * plan.cases.len() / plan.rounds);
        for case in cases {
            let sample = measure(plan, runtime, case, round).with_context(|| format!("`{}`", case.name))?;
            eprintln!(
                "round {}/{} {:22} {:8.0} /s  p50 {:8.0} us  cpu {:7.1} us  {:5.1} MB",
                round + 1,
                plan.rounds,
                case.name,
                sample.per_second,
                sample.p50_us,
                sample.cpu_us,
                sample.loaded_bytes as f64 / 1e6,
            );
            samples.push(sample);
        }
    }
    Ok(samples)
}

fn measure(plan: &Plan, runtime: &Runtime, case: &Case, round: usize) -> Result<Sample> {
    let (mut timed, cost) = match case.way {
        Way::Http(_) | Way::Session(_) => over_http(plan, runtime, case)?,
        Way::Sequential => over_stdio(plan, case, 1)?,
        Way::Pipelined => over_stdio(plan, case, IN_FLIGHT)?,
    };
    timed.latencies.sort_unstable();
    let (requests, seconds) = (timed.latencies.len(), timed.elapsed.as_secs_f64());
    Ok(Sample {
        case: case.name,
        round,
        requests,
        seconds,
        per_second: requests as f64 / seconds,
        p50_us: percentile(&timed.latencies, 50),
        p99_us: percentile(&timed.latencies, 99),
        cpu_us: cost.cpu.as_secs_f64() * 1e6 / requests as f64,
        idle_bytes: cost.idle_bytes,
        loaded_bytes: cost.loaded_bytes,
    })
}

fn over_http(plan: &Plan, runtime: &Runtime, case: &Case) -> Result<(Timed, Cost)> {
    let server = match (case.family, case.way) {
        (Family::Axum, Way::Http(era)) => Server::echo(&plan.places, era)?,
        _ => Server::http(&plan.places, case.launch)?,
    };
    let address = server.address()?;
    drop(runtime.block_on(http::open(address, case.way))?);
    std::thread::sleep(SETTLE);
    let idle_bytes = server.memory()?;
    let clients = runtime.block_on(Clients::connect(address, case.way))?;
    let (clients, _) = clients.load(runtime, plan.load.warm_up())?;
    let before = server.cpu()?;
    let (_, timed) = clients.load(runtime, plan.load)?;
    let cpu = server.cpu()? - before;
    Ok((timed, Cost { cpu, idle_bytes, loaded_bytes: server.memory()? }))
}

fn over_stdio(plan: &Plan, case: &Case, in_flight: usize) -> Result<(Timed, Cost)> {
    let (server, input, output) = Server::stdio(&plan.places, case.launch)?;
    let mut client = Client::new(input, output);
    client.shake_hands()?;
    client.send(&format!("{}\n", request::call_message(Era::Legacy, 1)))?;
    client.echo()?;
    std::thread::sleep(SETTLE);
    let idle_bytes = server.memory()?;
    client.load(in_flight, plan.load.warm_up())?;
    let before = server.cpu()?;
    let timed = client.load(in_flight, plan.load)?;
    let cpu = server.cpu()? - before;
    Ok((timed, Cost { cpu, idle_bytes, loaded_bytes: server.memory()? }))
}

pub(crate) fn percentile(sorted: &[Duration], percent: usize) -> f64 {
    let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(place).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e6)
}

/// The middle of some numbers; no number where there are none.
pub(crate) fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_an_even_number_lies_between() {
        assert_eq!(median([3.0, 1.0, 2.0]).to_bits(), 2.0_f64.to_bits());
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]).to_bits(), 2.5_f64.to_bits());
        assert!(median([]).is_nan());
    }

    #[test]
    fn a_percentile_is_one_of_the_latencies() {
        let sorted: Vec<_> = (1..=200).map(Duration::from_micros).collect();
        assert_eq!((percentile(&sorted, 50).round(), percentile(&sorted, 99).round()), (100.0, 198.0));
    }
}

//! How long a server takes from its start to its first answer on standard output.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::case::{Launch, PYTHON_STDIO, RMCP_STDIO, TOOLGATE_STDIO, TS_V1_STDIO};
use crate::plan::Plan;
use crate::request::{self, Era};
use crate::server::Server;
use crate::stdio::Client;

/// What a server is started for.
struct Opening {
    name: &'static str,
    label: &'static str,
    launch: Launch,
    handshake: bool,
}

const OPENINGS: &[Opening] = &[
    opening("toolgate", "Toolgate, a call alone", TOOLGATE_STDIO, false),
    opening("toolgate-handshake", "Toolgate, handshake and a call", TOOLGATE_STDIO, true),
    opening("rmcp", "Rust SDK, handshake and a call", RMCP_STDIO, true),
    opening("ts-v1", "TypeScript SDK v1, handshake and a call", TS_V1_STDIO, true),
    opening("python", "Python SDK, handshake and a call", PYTHON_STDIO, true),
];

/// What was measured of one way to begin.
#[derive(Debug, Serialize)]
pub(crate) struct Start {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    /// Each start, in milliseconds.
    pub(crate) ms: Vec<f64>,
}

/// Starts each server many times, in turn.
pub(crate) fn measure(plan: &Plan) -> Result<Vec<Start>> {
    let openings: Vec<_> = OPENINGS.iter().filter(|opening| plan.has(opening.launch.family)).collect();
    let mut starts: Vec<_> = openings
        .iter()
        .map(|opening| Start { name: opening.name, label: opening.label, ms: Vec::new() })
        .collect();
    // What a first start sets up is there at the second, which is the one that counts.
    for opening in &openings {
        first_answer(plan, opening).with_context(|| format!("start of `{}`", opening.name))?;
    }
    for _ in 0..plan.starts {
        for (opening, start) in openings.iter().zip(&mut starts) {
            start.ms.push(first_answer(plan, opening)?.as_secs_f64() * 1e3);
        }
    }
    Ok(starts)
}

fn first_answer(plan: &Plan, opening: &Opening) -> Result<Duration> {
    let began = Instant::now();
    let (_server, input, output) = Server::stdio(&plan.places, opening.launch)?;
    let mut client = Client::new(input, output);
    if opening.handshake {
        client.shake_hands()?;
    }
    client.send(&format!("{}\n", request::call_message(Era::Legacy, 1)))?;
    client.echo()?;
    Ok(began.elapsed())
}

const fn opening(name: &'static str, label: &'static str, launch: Launch, handshake: bool) -> Opening {
    Opening { name, label, launch, handshake }
}

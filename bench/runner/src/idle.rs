//! What an idle legacy session costs in memory: many are begun and left alone, without a stream.

use anyhow::{Context as _, Result};
use serde::Serialize;
use tokio::runtime::Runtime;

use crate::case::{Launch, RMCP_SESSION, TOOLGATE_HTTP, TS_V1_SESSION};
use crate::http::{Connection, begin_session};
use crate::plan::Plan;
use crate::request::PATH;
use crate::server::Server;
use crate::stdio::SETTLE;

/// Sessions that are begun before memory is first read, so that buffers are not counted as sessions.
const FIRST: usize = 500;

/// What sessions of one server cost.
#[derive(Debug, Serialize)]
pub(crate) struct Idle {
    pub(crate) label: &'static str,
    pub(crate) sessions: usize,
    pub(crate) before_bytes: u64,
    pub(crate) after_bytes: u64,
}

impl Idle {
    /// Memory for a session, in bytes.
    pub(crate) fn each(&self) -> f64 {
        (self.after_bytes as f64 - self.before_bytes as f64) / self.sessions as f64
    }
}

/// Begins the sessions and leaves them.
pub(crate) fn measure(plan: &Plan, runtime: &Runtime) -> Result<Vec<Idle>> {
    let servers = [
        ("Toolgate", TOOLGATE_HTTP, plan.sessions),
        // These need far more for each, and more time: a tenth shows it as well.
        ("Rust SDK", RMCP_SESSION, plan.sessions / 10),
        ("TypeScript SDK v1", TS_V1_SESSION, plan.sessions / 10),
    ];
    let wanted = servers.into_iter().filter(|(_, launch, _)| plan.has(launch.family));
    wanted
        .map(|(label, launch, sessions)| {
            runtime
                .block_on(hold(plan, label, launch, sessions))
                .with_context(|| format!("sessions of {label}"))
        })
        .collect()
}

async fn hold(plan: &Plan, label: &'static str, launch: Launch, sessions: usize) -> Result<Idle> {
    let server = Server::http(&plan.places, launch)?;
    let mut connection = Connection::open(server.address()?).await?;
    for _ in 0..FIRST {
        begin_session(&mut connection, PATH).await?;
    }
    tokio::time::sleep(SETTLE).await;
    let before_bytes = server.memory()?;
    for _ in 0..sessions {
        begin_session(&mut connection, PATH).await?;
    }
    tokio::time::sleep(SETTLE).await;
    let after_bytes = server.memory()?;
    let idle = Idle { label, sessions, before_bytes, after_bytes };
    eprintln!("{sessions} idle sessions of {label}: {:.0} bytes each", idle.each());
    Ok(idle)
}

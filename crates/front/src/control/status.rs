//! What a running hub tells people about itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolgate_core::{ConnectionInfo, Hub, RunInfo, iso8601};

use super::Terms;

/// How many connections, and how many runs, are told one by one; the rest is only counted.
const MOST_TOLD: usize = 200;

/// What a running hub tells about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// How it serves its own clients.
    pub transport: String,
    /// Where it listens, if it does.
    pub address: Option<String>,
    /// Since when it runs.
    pub started_at: String,
    /// For how many seconds.
    pub uptime_seconds: u64,
    /// What has to be the same in another process for this one to serve that one's client. A hub of an earlier version
    /// does not tell.
    #[serde(default)]
    pub terms: Terms,
    /// Its sources, in order.
    pub sources: Vec<String>,
    /// What is wrong now, by part. A hub of an earlier version does not tell.
    #[serde(default)]
    pub troubles: BTreeMap<String, String>,
    /// How many clients are connected.
    pub connected: usize,
    /// The latest of them, oldest first.
    pub connections: Vec<ConnectionStatus>,
    /// How many calls run.
    pub run_count: usize,
    /// The oldest of them.
    pub runs: Vec<RunStatus>,
    /// Other processes on the same data folder that serve by themselves.
    pub others: Vec<OtherStatus>,
}

/// A client that is connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionStatus {
    /// Its number.
    pub id: u64,
    /// How it is connected: `stdio`, `attached`, `http` or `sse`.
    pub transport: String,
    /// What it calls itself.
    pub client: Option<String>,
    /// Its version.
    pub client_version: Option<String>,
    /// Who it is.
    pub principal: String,
    /// Its process, where it is known.
    pub pid: Option<u32>,
    /// Since when it is connected.
    pub since: String,
    /// For how many seconds.
    pub seconds: u64,
}

/// A call that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStatus {
    /// The kind of what it is for: `tool`, `resource` …
    pub target: String,
    /// The name of what it is for.
    pub name: String,
    /// Who called.
    pub principal: String,
    /// How the client is connected.
    pub transport: String,
    /// The number of its connection, if it has one.
    pub connection: Option<u64>,
    /// For how many milliseconds it has been running.
    pub elapsed_ms: u64,
}

/// A process that serves by itself, and would take the owner's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OtherStatus {
    /// Its number.
    pub pid: Option<u32>,
    /// Its version.
    pub version: String,
    /// How it serves its clients.
    pub transport: String,
    /// Where it listens, if it does.
    pub address: Option<String>,
}

/// The latest connections.
pub(super) fn connections(all: &[ConnectionInfo], now_ms: u64) -> Vec<ConnectionStatus> {
    let latest = &all[all.len().saturating_sub(MOST_TOLD)..];
    let told = |info: &ConnectionInfo| ConnectionStatus {
        id: info.id.number(),
        transport: info.transport.as_str().into(),
        client: info.client.as_ref().map(|client| client.name.clone()),
        client_version: info.client.as_ref().map(|client| client.version.clone()),
        principal: info.principal.id.to_string(),
        pid: info.process,
        since: iso8601(info.since_ms),
        seconds: now_ms.saturating_sub(info.since_ms) / 1000,
    };
    latest.iter().map(told).collect()
}

/// The oldest runs.
pub(super) fn runs(all: &[RunInfo], hub: &Hub) -> Vec<RunStatus> {
    let told = |info: &RunInfo| RunStatus {
        target: info.target.kind().into(),
        // Only a tool's name has a grammar; anything else may be what a caller made up. It is filtered before it is
        // cut, for a part of a secret is not known for one.
        name: hub
            .filtered_text(info.target.name())
            .chars()
            .filter(|char| !char.is_control())
            .take(128)
            .collect(),
        principal: info.principal.id.to_string(),
        transport: info.transport.as_str().into(),
        connection: info.connection.map(|id| id.number()),
        elapsed_ms: u64::try_from(info.elapsed.as_millis()).unwrap_or(u64::MAX),
    };
    all.iter().take(MOST_TOLD).map(told).collect()
}

//! What is so right now: who is connected, what runs, what is wrong, and the numbers of the last hour.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use toolgate_core::{ApprovalState, ConnectionInfo, RunInfo};

use super::VIEWER;
use crate::admin::Inner;
use crate::desk::ScriptsGlance;
use crate::problem::Problem;
use crate::route::{Ask, GET, Items, Nothing, Route};
use crate::sampler::{Sample, Sampler};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new((GET, "/status"), VIEWER, "What is so right now.", status),
        Route::new((GET, "/connections"), VIEWER, "Clients that are connected, oldest first.", connections),
        Route::new((GET, "/runs"), VIEWER, "Calls under way, oldest first.", runs),
        Route::new((GET, "/metrics"), VIEWER, "The numbers of the last hour, oldest first.", metrics),
    ]
}

/// What is so right now. Times are in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct Status {
    /// The version.
    version: String,
    /// Since when it runs.
    started_ms: u64,
    /// Where it listens.
    address: Option<String>,
    /// The kind of store: `sqlite` or `postgres`.
    store: String,
    /// Where tools come from.
    sources: Vec<String>,
    /// How the upstreams stand, by name.
    upstreams: BTreeMap<String, String>,
    /// What is wrong, by part.
    troubles: BTreeMap<String, String>,
    /// How many clients are connected.
    connections: usize,
    /// How many calls are under way.
    runs: usize,
    /// How many calls wait for a person.
    approvals: usize,
    /// How many scripts wait for a person; missing where scripts are switched off.
    #[serde(skip_serializing_if = "Option::is_none")]
    scripts: Option<usize>,
}

/// What is so right now, and what else tells that something has changed.
pub(super) struct Look {
    pub(super) status: Status,
    /// The calls that wait for a person, by id.
    pub(super) waiting: BTreeSet<String>,
    /// The scripts at a glance.
    pub(super) scripts: Option<ScriptsGlance>,
}

impl Look {
    pub(super) async fn now(admin: &Inner) -> Result<Self, Problem> {
        let all = match admin.hub.approvals() {
            Some(approvals) => approvals.list().await?,
            None => Vec::new(),
        };
        let pending = all.into_iter().filter(|one| one.state == ApprovalState::Pending);
        let waiting: BTreeSet<String> = pending.map(|one| one.id).collect();
        // A folder that cannot be read is told to who looks into it.
        let scripts = admin.desk.glance_at_scripts().await.unwrap_or_else(|error| {
            tracing::debug!(%error, "the scripts cannot be looked at");
            Some(ScriptsGlance::default())
        });
        let status = Status::of(admin, waiting.len(), scripts.map(|glance| glance.waiting));
        Ok(Self { status, waiting, scripts })
    }
}

impl Status {
    fn of(admin: &Inner, approvals: usize, scripts: Option<usize>) -> Self {
        let (hub, about) = (&admin.hub, admin.desk.about());
        let upstreams = hub.upstream_states().into_iter();
        Self {
            version: about.version,
            started_ms: about.started_ms,
            address: about.address,
            store: about.store,
            sources: hub.sources().iter().map(ToString::to_string).collect(),
            upstreams: upstreams.map(|(name, state)| (name.to_string(), state.as_str().to_owned())).collect(),
            troubles: hub.troubles().into_iter().map(|(part, what)| (part.to_owned(), what)).collect(),
            connections: hub.connections().len(),
            runs: hub.running().len(),
            approvals,
            scripts,
        }
    }
}

/// A client that is connected.
#[derive(Debug, Serialize, JsonSchema)]
struct Connection {
    /// Its number; later ones have higher numbers.
    id: u64,
    /// `stdio`, `attached`, `http` or `sse`.
    transport: String,
    /// Who it is.
    principal: String,
    /// What it calls itself, once it has said so.
    client: Option<String>,
    /// Its version, as it writes it.
    client_version: Option<String>,
    /// Its process, where it is one of this machine that we know.
    process: Option<u32>,
    /// Since when, in milliseconds since 1970.
    since_ms: u64,
}

impl From<ConnectionInfo> for Connection {
    fn from(info: ConnectionInfo) -> Self {
        let (client, client_version) = info.client.map(|client| (client.name, client.version)).unzip();
        Self {
            id: info.id.number(),
            transport: info.transport.as_str().to_owned(),
            principal: info.principal.id.to_string(),
            client,
            client_version: client_version.filter(|version| !version.is_empty()),
            process: info.process,
            since_ms: info.since_ms,
        }
    }
}

/// A call under way.
#[derive(Debug, Serialize, JsonSchema)]
struct Running {
    /// What it is for, as `kind:name`.
    target: String,
    /// Who called.
    principal: String,
    /// How its client is connected.
    transport: String,
    /// The connection it came in by; none where the client keeps none.
    connection: Option<u64>,
    /// For how long it has been running, in milliseconds.
    elapsed_ms: u64,
}

impl From<RunInfo> for Running {
    fn from(info: RunInfo) -> Self {
        Self {
            target: format!("{}:{}", info.target.kind(), info.target.name()),
            principal: info.principal.id.to_string(),
            transport: info.transport.as_str().to_owned(),
            connection: info.connection.map(|id| id.number()),
            elapsed_ms: u64::try_from(info.elapsed.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// The numbers of the last hour.
#[derive(Debug, Serialize, JsonSchema)]
struct Metrics {
    /// How many seconds a step has.
    step_seconds: u64,
    /// Calls that ended since the start.
    calls: u64,
    /// Those of them that failed.
    failed: u64,
    /// Requests that a limit refused since the start.
    limited: u64,
    /// Each step, oldest first.
    items: Vec<Sample>,
}

async fn status(ask: Ask, _: Nothing) -> Result<Status, Problem> {
    Ok(Look::now(&ask.admin).await?.status)
}

async fn connections(ask: Ask, _: Nothing) -> Result<Items<Connection>, Problem> {
    Ok(Items { items: ask.admin.hub.connections().into_iter().map(Connection::from).collect() })
}

async fn runs(ask: Ask, _: Nothing) -> Result<Items<Running>, Problem> {
    Ok(Items { items: ask.admin.hub.running().into_iter().map(Running::from).collect() })
}

async fn metrics(ask: Ask, _: Nothing) -> Result<Metrics, Problem> {
    let totals = ask.admin.hub.metrics().totals();
    Ok(Metrics {
        step_seconds: Sampler::step_seconds(),
        calls: totals.calls,
        failed: totals.failed,
        limited: totals.limited,
        items: ask.admin.sampler.all(),
    })
}

//! Calls over HTTP/1.1 on connections that stay open, from one thread.

mod connection;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

pub(crate) use self::connection::Connection;
use crate::case::Way;
use crate::plan::{IN_FLIGHT, Load};
use crate::request::{self, Era, PATH};
use crate::sample::Timed;

/// How long a load may go on after its time, before it counts as stuck.
const GRACE: Duration = Duration::from_secs(30);

/// One call on a connection of its own: the body of the answer.
pub(crate) fn once(address: SocketAddr, request: &[u8]) -> Result<Vec<u8>> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let mut connection = Connection::open(address).await?;
        let answer = connection.exchange(request).await?;
        ensure!(answer.status == 200, "status {}: {}", answer.status, String::from_utf8_lossy(answer.body));
        Ok(answer.body.to_vec())
    })
}

/// Open connections, each with the request that it repeats.
pub(crate) struct Clients(Vec<(Connection, Arc<[u8]>)>);

impl Clients {
    /// Connects, and begins sessions if the way needs them.
    pub(crate) async fn connect(address: SocketAddr, way: Way) -> Result<Self> {
        Self::several(IN_FLIGHT, address, way).await
    }

    /// As many connections as are wanted.
    pub(crate) async fn several(count: usize, address: SocketAddr, way: Way) -> Result<Self> {
        let mut clients = Vec::new();
        for _ in 0..count {
            clients.push(open(address, way).await?);
        }
        Ok(Self(clients))
    }

    /// Calls on all connections at once until the load is used up.
    pub(crate) fn load(self, runtime: &Runtime, load: Load) -> Result<(Self, Timed)> {
        runtime.block_on(async {
            let left = Arc::new(AtomicU64::new(load.requests));
            let began = Instant::now();
            let mut tasks = JoinSet::new();
            // The thread goes round and round as long as there is something that could go on.
            let mut company = JoinSet::new();
            if load.awake {
                company.spawn(async {
                    loop {
                        tokio::task::yield_now().await;
                    }
                });
            }
            let count = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
            for (place, (connection, request)) in (0..).zip(self.0) {
                // Not all at the same moment.
                let pace = load.every.map(|every| Pace { due: began + every * place / count, every });
                tasks.spawn(call_until(connection, request, left.clone(), began + load.time, pace));
            }
            let (mut clients, mut latencies) = (Vec::new(), Vec::new());
            let ended = tokio::time::timeout(load.time + GRACE, async {
                while let Some(done) = tasks.join_next().await {
                    let (client, some) = done??;
                    clients.push(client);
                    latencies.extend(some);
                }
                anyhow::Ok(())
            });
            ended.await.context("the server stopped answering")??;
            Ok((Self(clients), Timed { latencies, elapsed: began.elapsed() }))
        })
    }
}

/// A connection and the request for it, after one call that shows whether the server is right.
pub(crate) async fn open(address: SocketAddr, way: Way) -> Result<(Connection, Arc<[u8]>)> {
    let mut connection = Connection::open(address).await?;
    let request = match way {
        Way::Http(era) => request::call(address, PATH, era, None),
        Way::Session(path) => {
            let id = begin_session(&mut connection, path).await?;
            request::call(address, path, Era::Legacy, Some(&id))
        }
        Way::Sequential | Way::Pipelined => anyhow::bail!("this is no way over HTTP"),
    };
    request::check(connection.exchange(&request).await?.body)?;
    Ok((connection, request.into()))
}

async fn call_until(
    mut connection: Connection,
    request: Arc<[u8]>,
    left: Arc<AtomicU64>,
    end: Instant,
    mut pace: Option<Pace>,
) -> Result<((Connection, Arc<[u8]>), Vec<Duration>)> {
    let mut latencies = Vec::new();
    let mut sent = now_or_then(&mut pace).await;
    while sent < end && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
    {
        let answer = connection.exchange(&request).await?;
        ensure!(answer.status == 200, "status {}: {}", answer.status, String::from_utf8_lossy(answer.body));
        request::check(answer.body)?;
        latencies.push(sent.elapsed());
        sent = now_or_then(&mut pace).await;
    }
    Ok(((connection, request), latencies))
}

/// When a client calls that does so from time to time.
struct Pace {
    due: Instant,
    every: Duration,
}

/// The time, as soon as it is that of the next call.
async fn now_or_then(pace: &mut Option<Pace>) -> Instant {
    let Some(pace) = pace else { return Instant::now() };
    tokio::time::sleep_until(pace.due.into()).await;
    let now = Instant::now();
    // Who is late does not hurry afterwards.
    pace.due = now.max(pace.due + pace.every);
    now
}

/// Begins a legacy session, as a client does, and gives its id.
pub(crate) async fn begin_session(connection: &mut Connection, path: &str) -> Result<String> {
    let address = connection.address();
    let answer = connection.exchange(&request::initialize(address, path)).await?;
    ensure!(answer.status == 200, "status {}: {}", answer.status, String::from_utf8_lossy(answer.body));
    let id = answer.header("mcp-session-id").context("no session was begun")?.to_owned();
    let answer = connection.exchange(&request::initialized(address, path, &id)).await?;
    ensure!(answer.status == 202, "status {}: {}", answer.status, String::from_utf8_lossy(answer.body));
    Ok(id)
}

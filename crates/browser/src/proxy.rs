//! The proxy that every request of a browser goes through: it decides by host, and connects to what it judged.
//!
//! One listener per browser. It sees the names of hosts, and of plain HTTP what is asked; nothing that is encrypted is
//! opened.

mod head;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncWriteExt as _, BufReader, copy, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolgate_core::{Error, Kind, Result};
use toolgate_host::Tasks;
use toolgate_host::outbound::{Pinned, Unreached};

use crate::ring::Ring;
use head::{Head, Wanted};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(15);

/// How long a client may take to say what it wants.
const ASK: Duration = Duration::from_secs(30);

/// How long to wait after a connection could not be taken.
const AGAIN: Duration = Duration::from_millis(50);

/// How many connections there may be at once.
const CONNECTIONS: usize = 256;

/// Ports of our own, which no page may reach.
pub(crate) type OwnPorts = Arc<Mutex<HashSet<u16>>>;

/// Which hosts a browser may reach.
pub(crate) struct Hosts {
    /// By configuration.
    pub(crate) all: Arc<Pinned>,
    /// What its caller wants it to be kept to, besides.
    pub(crate) narrow: Option<Pinned>,
    pub(crate) own: OwnPorts,
}

/// The proxy of one browser. It ends when this is dropped.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    inner: Arc<Inner>,
    _stops: DropGuard,
}

struct Inner {
    hosts: Hosts,
    refused: Mutex<Ring<String>>,
    places: Semaphore,
}

impl Proxy {
    /// Listens on this machine, on a port of its own.
    pub(crate) async fn start(hosts: Hosts, tasks: &Tasks, stop: CancellationToken) -> Result<Self> {
        let failed = |error| Error::new(Kind::Internal, "no proxy can be made for a browser").because(error);
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        lock(&hosts.own).insert(port);
        let (refused, places) = (Mutex::new(Ring::new(200)), Semaphore::new(CONNECTIONS));
        let inner = Arc::new(Inner { hosts, refused, places });
        let (serving, of) = (inner.clone(), tasks.child());
        let ending = stop.clone();
        tasks.spawn(stop.clone().run_until_cancelled_owned(async move {
            loop {
                let stream = match listener.accept().await {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        // It may be that too many files are open now, which passes.
                        tracing::warn!(%error, "a connection of a browser cannot be taken");
                        tokio::time::sleep(AGAIN).await;
                        continue;
                    }
                };
                let (inner, ending) = (serving.clone(), ending.clone());
                of.spawn(ending.run_until_cancelled_owned(async move { inner.serve(stream).await }));
            }
        }));
        Ok(Self { port, inner, _stops: stop.drop_guard() })
    }

    /// Whether a host may be reached, as far as it can be told without looking it up.
    pub(crate) fn permits(&self, host: &str) -> Result<(), Unreached> {
        self.inner.permits(host)
    }

    /// How many requests were refused so far.
    pub(crate) fn refused(&self) -> u64 {
        lock(&self.inner.refused).count()
    }

    /// The hosts that were refused since then.
    pub(crate) fn refused_since(&self, count: u64) -> Vec<String> {
        let refused = lock(&self.inner.refused);
        refused.iter().filter(|(number, _)| *number > count).map(|(_, host)| host.clone()).collect()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        lock(&self.inner.hosts.own).remove(&self.port);
    }
}

impl Inner {
    fn permits(&self, host: &str) -> Result<(), Unreached> {
        if let Some(narrow) = &self.hosts.narrow {
            narrow.permits(host)?;
        }
        self.hosts.all.permits(host)
    }

    async fn serve(&self, stream: TcpStream) {
        // A browser that asks for more than this waits for its answers first.
        let Ok(_place) = self.places.acquire().await else { return };
        let mut client = BufReader::new(stream);
        let Ok(Ok(Some(head))) = tokio::time::timeout(ASK, Head::read(&mut client)).await else { return };
        let done = match head.wanted() {
            Some(Wanted::Tunnel { host, port }) => match self.connect(&host, port).await {
                Ok(server) => tunnel(client, server).await,
                Err(status) => refuse(client, status).await,
            },
            Some(Wanted::Plain { host, port, line }) => match self.connect(&host, port).await {
                Ok(server) => pass(client, server, head.forwarded(&line)).await,
                Err(status) => refuse(client, status).await,
            },
            None => refuse(client, "400 Bad Request").await,
        };
        if let Err(error) = done {
            tracing::trace!(%error, "a connection of a browser broke off");
        }
    }

    /// Connects to a host, if that may be. What was judged is what is connected to.
    async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, &'static str> {
        let addresses = match self.permits(host) {
            Ok(()) => self.hosts.all.addresses(host).await,
            Err(why) => Err(why),
        };
        let addresses = match addresses {
            Ok(addresses) => addresses,
            Err(Unreached::Unknown { .. }) => return Err("502 Bad Gateway"),
            Err(Unreached::Denied { .. } | Unreached::TooNear { .. }) => return Err(self.note(host)),
        };
        for ip in addresses.iter() {
            let near = ip.to_canonical();
            if (near.is_loopback() || near.is_unspecified()) && lock(&self.hosts.own).contains(&port) {
                return Err(self.note(host));
            }
            let connecting = TcpStream::connect(SocketAddr::new(*ip, port));
            if let Ok(Ok(stream)) = tokio::time::timeout(CONNECT, connecting).await {
                return Ok(stream);
            }
        }
        self.hosts.all.forget(host);
        Err("502 Bad Gateway")
    }

    fn note(&self, host: &str) -> &'static str {
        tracing::debug!(host, "a browser may not reach a host");
        lock(&self.refused).push(crate::text::brief(host, 200));
        "403 Forbidden"
    }
}

async fn tunnel(mut client: BufReader<TcpStream>, mut server: TcpStream) -> std::io::Result<()> {
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
    copy_bidirectional(&mut client, &mut server).await.map(drop)
}

/// Passes one request on, and its answer back. The connection then ends, so that the next request is judged anew.
async fn pass(client: BufReader<TcpStream>, mut server: TcpStream, head: Vec<u8>) -> std::io::Result<()> {
    server.write_all(&head).await?;
    let (mut asks, mut hears) = tokio::io::split(client);
    let (answers, mut takes) = tokio::io::split(server);
    let mut answers = BufReader::new(answers);
    let back = async {
        loop {
            let Some(head) = Head::read(&mut answers).await? else { return Ok(()) };
            let is_interim = head.is_interim();
            hears.write_all(&head.answered()).await?;
            if !is_interim {
                break;
            }
        }
        copy(&mut answers, &mut hears).await?;
        hears.shutdown().await
    };
    tokio::select! {
        done = back => done,
        // A browser that hangs up does not want the answer any more.
        done = async { copy(&mut asks, &mut takes).await } => done.map(drop),
    }
}

async fn refuse(mut client: BufReader<TcpStream>, status: &str) -> std::io::Result<()> {
    let body = format!("toolgate: {}\n", status.split_once(' ').map_or("", |(_, words)| words));
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    client.write_all(answer.as_bytes()).await?;
    client.shutdown().await
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

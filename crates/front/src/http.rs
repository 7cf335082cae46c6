//! Streamable HTTP at `/mcp`, the old HTTP+SSE at `/sse`, and what the server says of itself beside them.

mod body;
mod challenge;
mod config;
mod guard;
mod info;
mod log;
mod old_sse;
mod post;
mod route;
mod session;
mod site;
mod stream;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use toolgate_core::{Authenticator, Hub};

pub use config::{BindError, HttpConfig};
use guard::Guard;
use session::Sessions;
pub use site::{Site, SiteAnswer, SiteBody, SiteRequest};

/// How long a client may take to send the head of a request, and to stay silent between two.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// How long a client that is turned away may take to ask.
const TURNED_AWAY_TIME: Duration = Duration::from_secs(2);

/// How long requests under way get when the server stops.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// The largest head of a request.
const HEAD_BYTES: usize = 64 * 1024;

/// The listener and all it needs to answer.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// Changes who may speak to a server, while it runs.
pub struct Access {
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl Access {
    /// From the next request on, hosts, origins and who needs a token are those of `config`. Where that would leave the
    /// server open to other machines, nothing changes.
    pub fn set(&self, config: &HttpConfig) -> Result<(), BindError> {
        let old = self.shared.guard.load_full();
        let new = Guard::new(config, self.address, old.who().clone())?;
        new.take_over(&old);
        self.shared.guard.store(Arc::new(new));
        self.shared.sessions.turn_out();
        Ok(())
    }
}

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) hub: Hub,
    pub(crate) config: HttpConfig,
    /// Who may speak to it, which can be changed while it runs.
    pub(crate) guard: ArcSwap<Guard>,
    pub(crate) sessions: Sessions,
    pub(crate) old: old_sse::Connections,
    /// Pages and an API of another part.
    pub(crate) site: Option<Arc<dyn Site>>,
    /// Cancelled when the server stops: streams come to their end.
    pub(crate) stopping: CancellationToken,
}

impl Server {
    /// Takes the address; nothing is answered before [`Server::serve`]. Who brings a token is whoever `who` says.
    pub async fn bind(hub: Hub, config: HttpConfig, who: Arc<dyn Authenticator>) -> Result<Self, BindError> {
        Self::bind_with(hub, config, who, |_| None).await
    }

    /// The same, with a site beside the protocol, which is told the address.
    pub async fn bind_with(
        hub: Hub,
        config: HttpConfig,
        who: Arc<dyn Authenticator>,
        site: impl FnOnce(SocketAddr) -> Option<Arc<dyn Site>>,
    ) -> Result<Self, BindError> {
        let wanted = config.address()?;
        let guard = Guard::new(&config, wanted, who)?;
        let listener = TcpListener::bind(wanted).await.map_err(|source| BindError::taken(wanted, source))?;
        let address = listener.local_addr().map_err(|source| BindError::taken(wanted, source))?;
        let stopping = hub.tasks().stopping();
        let sessions = Sessions::new(&hub, &config);
        let guard = ArcSwap::from_pointee(guard);
        let (old, site) = (old_sse::Connections::default(), site(address));
        let shared = Shared { hub, config, guard, sessions, old, site, stopping };
        let shared = Arc::new(shared);
        shared.clone().hub.tasks().spawn(turning_out(&shared));
        Ok(Self { listener, address, shared })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The way to change who may speak to it, while it runs.
    pub fn access(&self) -> Access {
        Access { shared: self.shared.clone(), address: self.address }
    }

    /// Answers until `stop` is cancelled; then requests under way get their time.
    pub async fn serve(self, stop: CancellationToken) {
        let graceful = Arc::new(GracefulShutdown::new());
        let free = Arc::new(Semaphore::new(self.shared.config.max_connections));
        loop {
            let (stream, peer) = tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        // Out of file descriptors, most likely: some will be free again soon.
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                },
                () = stop.cancelled() => break,
            };
            let permit = free.clone().try_acquire_owned().ok();
            self.connection((stream, peer), permit, &graceful);
        }
        drop(self.listener);
        self.shared.stopping.cancel();
        let Some(graceful) = Arc::into_inner(graceful) else { return };
        if tokio::time::timeout(DRAIN_TIME, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests did not end in time and were cut off");
        }
    }

    fn connection(
        &self,
        (stream, peer): (TcpStream, SocketAddr),
        permit: Option<OwnedSemaphorePermit>,
        graceful: &GracefulShutdown,
    ) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps gathering small packets");
        }
        let (shared, admitted) = (self.shared.clone(), permit.is_some());
        let service = service_fn(move |request| {
            let shared = shared.clone();
            async move { Ok::<_, std::convert::Infallible>(route::route(&shared, request, peer, admitted).await) }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(if admitted { HEAD_TIME } else { TURNED_AWAY_TIME })
            .max_buf_size(HEAD_BYTES)
            .keep_alive(admitted)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        self.shared.hub.tasks().spawn(async move {
            let _permit = permit;
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
}

/// Turns out those whose pass has ended, as soon as it has.
fn turning_out(shared: &Arc<Shared>) -> impl Future<Output = ()> + Send + use<> {
    let (mut ended, stopping) = (shared.guard.load().who().ended(), shared.stopping.clone());
    let shared = Arc::downgrade(shared);
    async move {
        loop {
            tokio::select! {
                changed = ended.changed() => if changed.is_err() { return },
                () = stopping.cancelled() => return,
            }
            let Some(shared) = shared.upgrade() else { return };
            shared.guard.load().turn_out();
            shared.sessions.turn_out();
        }
    }
}

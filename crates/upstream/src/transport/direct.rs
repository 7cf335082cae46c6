//! Requests over plain HTTP, on connections that are driven by whoever waits for an answer.
//!
//! A client for all cases has a task for each connection: a request goes over to that task, and its answer comes back.
//! Here the caller writes and reads by itself. What needs a proxy, TLS or a redirect goes the other way.

mod kept;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Request, Uri, header};
use http_body_util::Full;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};
use url::{Host, Url};

use super::answer::root;
use super::client::{CONNECT, USER_AGENT};
use crate::fault::Fault;
use kept::{Asked, Kept};

pub(crate) use kept::Response;

/// How long a connection is kept that nobody uses, and how many are.
const IDLE: Duration = Duration::from_secs(30);
const MOST: usize = 64;

/// When a server that says nothing is asked for a sign of life: what is listened to may be silent for good, also where
/// the server has gone without a word.
const SIGN_OF_LIFE: TcpKeepalive = TcpKeepalive::new()
    .with_time(Duration::from_secs(30))
    .with_interval(Duration::from_secs(10))
    .with_retries(3);

/// The way to one address.
pub(crate) struct Direct {
    host: String,
    port: u16,
    /// What the first line of a request says.
    target: Uri,
    /// Whom a request is for.
    host_header: HeaderValue,
    /// Connections that nobody uses, the last used at the end.
    idle: Mutex<Vec<Kept>>,
    filled: Notify,
}

impl Direct {
    /// The way to an address, if there is a direct one.
    pub(crate) fn to(url: &Url) -> Option<Arc<Self>> {
        // Who writes a name and a password into an address means a header, which is not made here.
        let is_plain = url.scheme() == "http" && url.username().is_empty() && url.password().is_none();
        let host = match url.host().filter(|_| is_plain)? {
            Host::Domain(name) => name.to_owned(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        };
        let port = url.port_or_known_default()?;
        let authority = match url.port() {
            Some(port) => format!("{}:{port}", url.host_str()?),
            None => url.host_str()?.to_owned(),
        };
        let host_header = HeaderValue::from_str(&authority).ok()?;
        let target: PathAndQuery = url[url::Position::BeforePath..url::Position::AfterQuery].parse().ok()?;
        let (idle, filled) = (Mutex::default(), Notify::new());
        Some(Arc::new(Self { host, port, target: target.into(), host_header, idle, filled }))
    }

    /// Posts a frame, and waits for the head of the answer.
    pub(crate) async fn post(
        self: &Arc<Self>,
        mut headers: HeaderMap,
        frame: Bytes,
    ) -> Result<Response, Fault> {
        headers.entry(header::HOST).or_insert_with(|| self.host_header.clone());
        headers.entry(header::USER_AGENT).or_insert(HeaderValue::from_static(USER_AGENT));
        let mut request = Request::post(self.target.clone()).body(Full::new(frame)).map_err(unsent)?;
        *request.headers_mut() = headers;
        while let Some(kept) = self.take() {
            match kept.ask(request, self).await {
                Asked::Answered(response) => return Ok(response),
                // The server had closed it.
                Asked::Unsent(back, _) => request = *back,
                Asked::Broken(error) => return Err(Fault::Gone(root(&error))),
            }
        }
        let fresh = Box::pin(self.connect()).await?;
        match fresh.ask(request, self).await {
            Asked::Answered(response) => Ok(response),
            Asked::Unsent(_, error) => Err(unsent(error)),
            Asked::Broken(error) => Err(Fault::Gone(root(&error))),
        }
    }

    async fn connect(&self) -> Result<Kept, Fault> {
        Kept::shake_hands(self.dial().await?).await.map_err(unsent)
    }

    async fn dial(&self) -> Result<TcpStream, Fault> {
        let connecting = timeout(CONNECT, TcpStream::connect((&*self.host, self.port))).await;
        let stream = connecting.map_err(|_| Fault::NotSent("connecting took too long".into()))?;
        let stream = stream.map_err(unsent)?;
        stream.set_nodelay(true).map_err(unsent)?;
        SockRef::from(&stream).set_tcp_keepalive(&SIGN_OF_LIFE).map_err(unsent)?;
        Ok(stream)
    }

    /// A connection that is still good, the last used first.
    fn take(&self) -> Option<Kept> {
        loop {
            let mut kept = self.lock().pop()?;
            if kept.since.elapsed() < IDLE && kept.is_open() {
                return Some(kept);
            }
        }
    }

    /// Keeps a connection for whoever comes next.
    fn keep(&self, mut kept: Kept) {
        if !kept.is_open() {
            return;
        }
        kept.since = Instant::now();
        let mut idle = self.lock();
        if idle.len() < MOST {
            idle.push(kept);
        }
        if idle.len() == 1 {
            drop(idle);
            self.filled.notify_one();
        }
    }

    /// Closes connections that nobody has used for long. It never ends.
    pub(crate) async fn tidy(&self) -> std::convert::Infallible {
        loop {
            while !self.lock().is_empty() {
                sleep(IDLE).await;
                self.lock().retain(|kept| kept.since.elapsed() < IDLE);
            }
            self.filled.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unsent(error: impl std::error::Error) -> Fault {
    Fault::NotSent(root(&error))
}

#[cfg(test)]
mod tests;

//! Requests to other servers: within limits of time and size, and never to where a redirect leads.
//!
//! Addresses are those that a person configured; those that a server names pass the guard of [`Outbound::guarded`],
//! and those that a caller names are for [`Fetcher`].

mod decode;
mod fetcher;
mod guard;
mod lookup;
mod nearness;
mod pinned;
mod reach;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Method, Proxy, Response, StatusCode};
use tokio::sync::OnceCell;
use url::{Host, Url};

use crate::authorities::read_authorities;
use guard::Guard;

pub use fetcher::{Beside, FetchError, FetchLimits, FetchRequest, Fetcher, Opened};
pub use lookup::{LookingUp, Lookup, MachineLookup};
pub use pinned::{Pinned, Unreached};
pub use reach::{BadHostRule, HostRule, Reach};

/// How long a request may take as a whole.
const TIME: Duration = Duration::from_secs(10);

/// The largest answer that is read.
const MOST_BYTES: usize = 1024 * 1024;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// The address may not be used.
    #[error("`{url}` is no address with `https`; `http` is only for this machine")]
    Address {
        /// The address.
        url: String,
    },
    /// The server that named the address may not send us there.
    #[error("`{url}` is nearer to this machine than the server that names it")]
    TooNear {
        /// The address.
        url: String,
    },
    /// There was no answer, or not the whole of it.
    #[error("`{url}` could not be reached")]
    Unreachable {
        /// The address.
        url: String,
        /// What happened.
        source: reqwest::Error,
    },
    /// What it takes to ask is not there.
    #[error("no other server can be asked: {why}")]
    Unready {
        /// What is wrong.
        why: String,
    },
    /// The answer was no success.
    #[error("`{url}` answered {status}")]
    Status {
        /// The address.
        url: String,
        /// How it answered.
        status: u16,
    },
    /// The answer is too large.
    #[error("`{url}` answered more than {MOST_BYTES} bytes")]
    TooLarge {
        /// The address.
        url: String,
    },
}

/// Sends requests to other servers. What it needs for that is made with the first of them.
#[derive(Debug, Default)]
pub struct Outbound {
    client: OnceCell<Client>,
    guard: Option<Guard>,
    route: Route,
}

/// How other servers are reached; by default directly, and trusting whom the machine trusts.
#[derive(Debug, Clone, Default)]
pub struct Route {
    /// The proxies to use, in order.
    pub proxies: Vec<Proxy>,
    /// Where these are: a person configured them, so no guard keeps us from them.
    pub proxy_hosts: Vec<String>,
    /// A file with certificates of authorities that are trusted beside the machine's own.
    pub ca_file: Option<PathBuf>,
}

/// A request to another server.
#[derive(Debug)]
pub struct Request {
    /// How.
    pub method: Method,
    /// Where.
    pub url: String,
    /// With which headers.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// With which body.
    pub body: Bytes,
}

/// What another server answered, whether it is a success or not.
#[derive(Debug)]
pub struct Answer {
    /// How.
    pub status: u16,
    /// With which headers.
    pub headers: HeaderMap,
    /// With which body.
    pub body: Bytes,
}

impl Outbound {
    /// For addresses that a server names which is at `home`: nothing may be nearer to this machine than that is.
    pub fn guarded(home: &Url) -> Self {
        Self { guard: Some(Guard::of(home)), ..Self::default() }
    }

    /// The same, on this route.
    #[must_use]
    pub fn by(mut self, route: Route) -> Self {
        self.guard = self.guard.map(|guard| guard.but_for(&route.proxy_hosts));
        self.route = route;
        self
    }

    /// Whether an address may be asked, as far as it can be told without asking.
    ///
    /// # Errors
    /// It may not.
    pub fn permits(&self, url: &str) -> Result<Url, OutboundError> {
        let address = allowed(url)?;
        match &self.guard {
            Some(guard) if !guard.permits(&address) => Err(OutboundError::TooNear { url: url.to_owned() }),
            _ => Ok(address),
        }
    }

    /// Sends a request. A redirect is an answer like others.
    ///
    /// # Errors
    /// The address may not be used, or there was no whole answer in time.
    pub async fn send(&self, request: Request) -> Result<Answer, OutboundError> {
        let Request { method, url, headers, body } = request;
        let address = self.permits(&url)?;
        let lost = |source| OutboundError::Unreachable { url: url.clone(), source };
        let request = self.client().await?.request(method, address).body(body);
        let request = request.headers(headers.into_iter().collect());
        let answer = request.send().await.map_err(lost)?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Ok(Answer { status, headers, body: read(answer, &url).await? })
    }

    /// The body of what is at an address.
    ///
    /// # Errors
    /// The address may not be used, or there was no whole, successful answer in time.
    pub async fn get(&self, url: &str) -> Result<Bytes, OutboundError> {
        let address = self.permits(url)?;
        let lost = |source| OutboundError::Unreachable { url: url.to_owned(), source };
        let request = self.client().await?.get(address).header("accept", "application/json");
        let answer = request.send().await.map_err(lost)?;
        if answer.status() != StatusCode::OK {
            return Err(OutboundError::Status { url: url.to_owned(), status: answer.status().as_u16() });
        }
        read(answer, url).await
    }

    async fn client(&self) -> Result<&Client, OutboundError> {
        self.client.get_or_try_init(|| self.make()).await
    }

    async fn make(&self) -> Result<Client, OutboundError> {
        let unready = |why: String| OutboundError::Unready { why };
        let builder = self.builder();
        let Some(path) = self.route.ca_file.clone() else {
            return builder.build().map_err(|error| unready(error.to_string()));
        };
        let read = tokio::task::spawn_blocking(move || read_authorities(&path)).await;
        let read = read.map_err(|error| unready(error.to_string()))?;
        let trusted = read.map_err(|error| unready(error.to_string()))?;
        builder.tls_certs_merge(trusted).build().map_err(|error| unready(error.to_string()))
    }

    fn builder(&self) -> ClientBuilder {
        let mut builder = Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .timeout(TIME)
            .connect_timeout(TIME)
            .user_agent(concat!("toolgate/", env!("CARGO_PKG_VERSION")));
        for proxy in &self.route.proxies {
            builder = builder.proxy(proxy.clone());
        }
        match &self.guard {
            Some(guard) => builder.dns_resolver(Arc::new(guard.clone())),
            None => builder,
        }
    }
}

/// The whole body of an answer, if it is not too large.
async fn read(mut answer: Response, url: &str) -> Result<Bytes, OutboundError> {
    let mut body = Vec::new();
    let lost = |source| OutboundError::Unreachable { url: url.to_owned(), source };
    while let Some(piece) = answer.chunk().await.map_err(lost)? {
        if body.len() + piece.len() > MOST_BYTES {
            return Err(OutboundError::TooLarge { url: url.to_owned() });
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.into())
}

/// Reads an address: `https`, or `http` to this machine.
fn allowed(url: &str) -> Result<Url, OutboundError> {
    let refused = || OutboundError::Address { url: url.to_owned() };
    let address = Url::parse(url).map_err(|_| refused())?;
    let is_here = match address.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => return Err(refused()),
    };
    match address.scheme() {
        "https" => Ok(address),
        "http" if is_here => Ok(address),
        _ => Err(refused()),
    }
}

/// Whether an address may be asked: `https`, or `http` to this machine.
pub fn is_allowed(url: &str) -> bool {
    allowed(url).is_ok()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn plain_http_stays_on_this_machine() {
        #[track_caller]
        fn check(url: &str, expect: bool) {
            assert_eq!(is_allowed(url), expect, "{url}");
        }
        check("https://login.example.com/keys", true);
        check("http://127.0.0.1:8080/keys", true);
        check("http://localhost/keys", true);
        check("http://[::1]:1/keys", true);
        check("http://login.example.com/keys", false);
        check("http://localhost.example.com/keys", false);
        check("http://127.0.0.1.nip.io/keys", false);
        check("http://10.0.0.1/keys", false);
        check("file:///etc/passwd", false);
        check("data:application/json,{}", false);
        check("keys", false);
    }

    /// A server on this machine that answers every request with the same bytes.
    async fn answering(answer: Vec<u8>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        crate::Tasks::new().spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = [0; 4096];
                let read = stream.read(&mut head).await.unwrap();
                assert!(head[..read].starts_with(b"GET /keys HTTP/1.1"));
                // A client that has read enough hangs up.
                drop(stream.write_all(&answer).await);
            }
        });
        url
    }

    #[tokio::test]
    async fn only_a_small_whole_success_is_an_answer() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".to_vec();
        let url = answering(whole).await;
        assert_eq!(Outbound::default().get(&url).await.unwrap(), "{}");

        let elsewhere = format!("HTTP/1.1 302 Found\r\nLocation: {url}\r\nContent-Length: 0\r\n\r\n");
        let redirects = answering(elsewhere.into_bytes()).await;
        let error = Outbound::default().get(&redirects).await.unwrap_err();
        assert!(matches!(error, OutboundError::Status { status: 302, .. }), "{error}");

        let mut large = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
        large.resize(2 * MOST_BYTES, b' ');
        let error = Outbound::default().get(&answering(large).await).await.unwrap_err();
        assert!(matches!(error, OutboundError::TooLarge { .. }), "{error}");

        let cut = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}".to_vec()).await;
        let error = Outbound::default().get(&cut).await.unwrap_err();
        assert!(matches!(error, OutboundError::Unreachable { .. }), "{error}");
    }
}

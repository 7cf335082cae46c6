//! Fetches what a caller names: only where it may reach, hop by hop, and within limits of time and size.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, HOST, HeaderMap,
    HeaderValue, LOCATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Response};
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::decode::{CODINGS, Undecoded, decode};
use super::is_allowed;
use super::lookup::{Lookup, MachineLookup};
use super::reach::{Barred, Reach, Resolver};

/// How much of an address is told.
const TOLD: usize = 200;

/// How far a fetch may go.
#[derive(Debug, Clone, Copy)]
pub struct FetchLimits {
    /// How long it may take as a whole.
    pub time: Duration,
    /// How many bytes a body may have, as it comes and as it is read.
    pub bytes: usize,
    /// How many redirects are followed.
    pub redirects: usize,
}

/// Why nothing was fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The address is none.
    #[error("`{url}` is no address with `http` or `https`")]
    Address {
        /// The address.
        url: String,
    },
    /// The address holds a name or a password.
    #[error("`{url}` holds a user name or a password")]
    Credentials {
        /// The address, without them.
        url: String,
    },
    /// A person denied the host.
    #[error("the host of `{url}` is denied")]
    Denied {
        /// The address.
        url: String,
    },
    /// The host is on this machine or in a network of its own.
    #[error("`{url}` is at no public address")]
    TooNear {
        /// The address.
        url: String,
    },
    /// A redirect would send a secret without encryption.
    #[error("`{url}` is an address without `https`")]
    InTheClear {
        /// The address.
        url: String,
    },
    /// One redirect led to the next.
    #[error("`{url}` is redirected more than {most} times")]
    Redirects {
        /// Where it began.
        url: String,
        /// How many redirects are followed.
        most: usize,
    },
    /// It took too long.
    #[error("`{url}` did not answer in whole within {} s", time.as_secs_f32())]
    Late {
        /// The address.
        url: String,
        /// How long it may take.
        time: Duration,
    },
    /// There was no answer, or not the whole of it.
    #[error("`{url}` could not be reached, or broke off")]
    Unreachable {
        /// The address.
        url: String,
        /// What happened.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The body is too large.
    #[error("`{url}` has more than {most} bytes")]
    TooLarge {
        /// The address.
        url: String,
        /// How many it may have.
        most: usize,
    },
    /// The body is coded in a way that is not understood.
    #[error("`{url}` comes in the coding `{coding}`")]
    Coding {
        /// The address.
        url: String,
        /// How it is coded.
        coding: String,
    },
}

/// A request that a caller words itself.
#[derive(Debug)]
pub struct FetchRequest {
    /// How.
    pub method: Method,
    /// Where.
    pub url: String,
    /// With which headers. Those that say where a message begins and ends, and for whom it is, are not the caller's.
    pub headers: HeaderMap,
    /// With which body.
    pub body: Bytes,
}

/// A request on its way, with what holds for every hop.
struct Journey<'a> {
    /// Its headers go only where its address leads, not where a redirect leads elsewhere.
    request: FetchRequest,
    /// Headers for every hop.
    headers: HeaderMap,
    /// What must agree, beside our reach.
    may: &'a (dyn Fn(&Url) -> bool + Sync),
    /// Whether a redirect may not lead out of `https`.
    secret: bool,
}

/// Fetches what a caller names. It sends no cookies, no credentials but those it is given, and uses no proxy: whoever
/// resolves the name decides where it leads, so it has to be us.
#[derive(Debug)]
pub struct Fetcher {
    reach: Arc<Reach>,
    lookup: Arc<dyn Lookup>,
    limits: FetchLimits,
    client: OnceCell<Client>,
}

/// What goes with a request beside its address.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// Headers for every hop, such as what is known of the body already.
    pub headers: HeaderMap,
    /// What lets us in; only where the address itself leads, not where a redirect leads elsewhere.
    pub credentials: Option<HeaderValue>,
    /// Whether the address is a secret: then it may not go in the clear, on any hop.
    pub secret: bool,
}

/// An answer whose body is not read yet.
#[derive(Debug)]
pub struct Opened {
    /// Where it came from, behind all redirects.
    pub url: Url,
    /// How.
    pub status: u16,
    /// With which headers.
    pub headers: HeaderMap,
    body: Response,
    until: Instant,
    limits: FetchLimits,
}

impl Fetcher {
    /// Fetches from where it may reach.
    pub fn new(reach: Reach, limits: FetchLimits) -> Self {
        Self { reach: Arc::new(reach), lookup: Arc::new(MachineLookup), limits, client: OnceCell::new() }
    }

    /// The same, with names looked up elsewhere than the machine does.
    #[must_use]
    pub fn with_lookup(self, lookup: Arc<dyn Lookup>) -> Self {
        Self { lookup, ..self }
    }

    /// Asks for what is at an address, and follows redirects. The body is still to be read.
    ///
    /// # Errors
    /// An address on the way may not be asked, or there was no answer in time.
    pub async fn open(&self, url: &str, accept: &'static str) -> Result<Opened, FetchError> {
        self.open_with(url, accept, &Beside::default()).await
    }

    /// The same, with more than an address: for what a person configured, not for what a caller names.
    ///
    /// # Errors
    /// An address on the way may not be asked, or there was no answer in time.
    pub async fn open_with(
        &self,
        url: &str,
        accept: &'static str,
        beside: &Beside,
    ) -> Result<Opened, FetchError> {
        let credentials = beside.credentials.clone().map(|value| (AUTHORIZATION, value));
        let request = FetchRequest {
            method: Method::GET,
            url: url.to_owned(),
            headers: credentials.into_iter().collect(),
            body: Bytes::new(),
        };
        let mut headers = beside.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        self.go(Journey { request, headers, may: &|_| true, secret: beside.secret }).await
    }

    /// Sends a request as it is worded, where `may` agrees too, hop by hop. Only `GET` follows redirects, and takes its
    /// headers along only within one origin. The body is still to be read.
    ///
    /// # Errors
    /// An address on the way may not be asked, or there was no answer in time.
    pub async fn send(
        &self,
        mut request: FetchRequest,
        may: impl Fn(&Url) -> bool + Sync,
    ) -> Result<Opened, FetchError> {
        for ours in [HOST, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING, TE, TRAILER, UPGRADE] {
            request.headers.remove(ours);
        }
        let accept = request.headers.get(ACCEPT).map(|value| (ACCEPT, value.clone()));
        let headers = accept.into_iter().collect();
        self.go(Journey { request, headers, may: &may, secret: false }).await
    }

    async fn go(&self, journey: Journey<'_>) -> Result<Opened, FetchError> {
        let until = Instant::now() + self.limits.time;
        let url = told(&journey.request.url);
        let late = |_| FetchError::Late { url, time: self.limits.time };
        timeout_at(until, self.follow(journey, until)).await.map_err(late)?
    }

    async fn follow(&self, journey: Journey<'_>, until: Instant) -> Result<Opened, FetchError> {
        let Journey { request: FetchRequest { method, url, headers: own, body }, .. } = &journey;
        let permitted = |at: Option<Url>, written: &str| {
            let at = self.permitted(at, written)?;
            if (journey.may)(&at) { Ok(at) } else { Err(FetchError::Denied { url: told(at.as_str()) }) }
        };
        let first = permitted(Url::parse(url).ok(), url)?;
        let mut at = first.clone();
        for _ in 0..=self.limits.redirects {
            let mut headers = journey.headers.clone();
            if at.origin() == first.origin() {
                headers.extend(own.clone());
            }
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(CODINGS));
            let request = self.client().await?.request(method.clone(), at.clone());
            let sent = request.headers(headers).body(body.clone()).send().await;
            let answer = sent.map_err(|error| lost(&at, error))?;
            let Some(next) = location(&answer).filter(|_| *method == Method::GET) else {
                let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
                return Ok(Opened { url: at, status, headers, body: answer, until, limits: self.limits });
            };
            at = permitted(at.join(&next).ok(), &next)?;
            if journey.secret && !is_allowed(at.as_str()) {
                return Err(FetchError::InTheClear { url: told(&next) });
            }
        }
        Err(FetchError::Redirects { url: told(url), most: self.limits.redirects })
    }

    /// An address, if it may be asked as far as it can be told without resolving its name.
    fn permitted(&self, url: Option<Url>, written: &str) -> Result<Url, FetchError> {
        let Some(mut url) = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        else {
            return Err(FetchError::Address { url: told(written) });
        };
        if !url.username().is_empty() || url.password().is_some() {
            let bare = url.set_username("").and(url.set_password(None));
            let url = bare.map_or_else(|()| "the address".to_owned(), |()| told(url.as_str()));
            return Err(FetchError::Credentials { url });
        }
        match self.reach.permits(&url) {
            Ok(()) => Ok(url),
            Err(barred) => Err(refused(barred, &url)),
        }
    }

    async fn client(&self) -> Result<&Client, FetchError> {
        let resolver = Resolver { reach: self.reach.clone(), lookup: self.lookup.clone() };
        let make = async || {
            Client::builder()
                .redirect(Policy::none())
                .no_proxy()
                .user_agent(concat!("toolgate/", env!("CARGO_PKG_VERSION")))
                .dns_resolver(Arc::new(resolver))
                .build()
        };
        let unready = |error| FetchError::Unreachable { url: "any address".into(), source: Box::new(error) };
        self.client.get_or_try_init(make).await.map_err(unready)
    }
}

impl Opened {
    /// The body, with its coding undone.
    ///
    /// # Errors
    /// It is too large, or did not come in whole and in time.
    pub async fn read(self) -> Result<Vec<u8>, FetchError> {
        let Self { url, headers, body, until, limits, .. } = self;
        let late = |_| FetchError::Late { url: told(url.as_str()), time: limits.time };
        let body = timeout_at(until, whole(body, &url, limits.bytes)).await.map_err(late)??;
        let coding =
            headers.get(CONTENT_ENCODING).map_or("", |coding| coding.to_str().unwrap_or("?")).to_owned();
        let undone = {
            let coding = coding.clone();
            tokio::task::spawn_blocking(move || decode(&coding, body, limits.bytes)).await
        };
        let url = || told(url.as_str());
        let broken = |source| FetchError::Unreachable { url: url(), source };
        undone.map_err(|error| broken(Box::new(error)))?.map_err(|why| match why {
            Undecoded::TooLarge => FetchError::TooLarge { url: url(), most: limits.bytes },
            Undecoded::Unknown => FetchError::Coding { url: url(), coding: told(&coding) },
            Undecoded::Broken(error) => broken(Box::new(error)),
        })
    }
}

/// The body as it comes, if it is not too large.
async fn whole(mut answer: Response, url: &Url, most: usize) -> Result<Vec<u8>, FetchError> {
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(|error| lost(url, error))? {
        if body.len() + piece.len() > most {
            return Err(FetchError::TooLarge { url: told(url.as_str()), most });
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// Where an answer redirects to.
fn location(answer: &Response) -> Option<String> {
    let redirects = matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let to = answer.headers().get(LOCATION).filter(|_| redirects)?;
    Some(String::from_utf8_lossy(to.as_bytes()).into_owned())
}

/// Why a request was not answered: because the resolver stopped it, or for all other reasons.
fn lost(url: &Url, error: reqwest::Error) -> FetchError {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if let Some(barred) = inner.downcast_ref::<Barred>() {
            return refused(*barred, url);
        }
        cause = inner.source();
    }
    FetchError::Unreachable { url: told(url.as_str()), source: Box::new(error) }
}

fn refused(barred: Barred, url: &Url) -> FetchError {
    let url = told(url.as_str());
    match barred {
        Barred::Denied => FetchError::Denied { url },
        Barred::TooNear => FetchError::TooNear { url },
    }
}

/// An address as it is told: not longer than anyone reads.
fn told(url: &str) -> String {
    match url.char_indices().nth(TOLD) {
        Some((end, _)) => format!("{}…", &url[..end]),
        None => url.to_owned(),
    }
}

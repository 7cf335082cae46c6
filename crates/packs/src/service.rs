//! An HTTP service that a person configured: requests to it, and what comes back.
//!
//! A token may stand in an address (Telegram's does), so no error of here names one, not even to the log.

mod patience;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;
use std::time::Duration;
use toolgate_core::{Error, Kind};
use toolgate_host::outbound::{Request, is_allowed};
use toolgate_host::{Outbound, OutboundError, Secret};
use url::Url;

use crate::Unready;

pub(crate) use patience::{Patience, limited};

/// How much of a service's own words is passed on.
const MOST_WORDS: usize = 300;

/// An HTTP service that a person configured.
#[derive(Debug)]
pub(crate) struct Service {
    /// What people call it.
    name: &'static str,
    base: Url,
    token: Secret,
    headers: Vec<(HeaderName, HeaderValue)>,
    outbound: Outbound,
}

/// What a service answered, whether it is a success or not.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// The body, if it is JSON and says so.
    pub(crate) body: Option<Value>,
}

/// There is no answer.
#[derive(Debug)]
pub(crate) struct Lost {
    /// Whether the request may have arrived all the same.
    pub(crate) arrived: bool,
    pub(crate) error: Error,
}

impl Service {
    /// A service at an address; `table` is where that and the token are configured.
    pub(crate) fn new(name: &'static str, table: &str, base: &str, token: Secret) -> Result<Self, Unready> {
        let key = format!("{table}.base_url");
        if !is_allowed(base) {
            let hint = "give an address with `https`; `http` is only for this machine";
            return Err(Unready::wrong(key, "is no address that a token may be sent to", hint));
        }
        let plain = |url: &Url| {
            url.query().is_none()
                && url.fragment().is_none()
                && url.username().is_empty()
                && url.password().is_none()
        };
        let Some(base) = Url::parse(base).ok().filter(plain) else {
            let hint = "give only scheme, host and path, such as `https://host.example/api`";
            return Err(Unready::wrong(key, "has more than a host and a path", hint));
        };
        let visible = |c: char| c.is_ascii_graphic();
        if token.expose().is_empty() || !token.expose().chars().all(visible) {
            let hint = "store it again, without spaces or line ends around it";
            return Err(Unready::wrong(format!("{table}.token"), "is no token", hint));
        }
        Ok(Self { name, base, token, headers: Vec::new(), outbound: Outbound::default() })
    }

    /// Sends the token with every request, in the header made for it.
    pub(crate) fn authorized(self, scheme: &str) -> Self {
        let value = format!("{scheme} {}", self.token.expose());
        match HeaderValue::from_str(&value) {
            Ok(mut value) => {
                value.set_sensitive(true);
                self.with(AUTHORIZATION, value)
            }
            // A token is visible ASCII, so this is never so; the service would refuse the request.
            Err(_) => self,
        }
    }

    /// Sends a header with every request.
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// What people call it.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The token, for a service that wants it in the address.
    pub(crate) fn token(&self) -> &str {
        self.token.expose()
    }

    /// Where something is, below the base; each segment stays one, whatever is in it.
    pub(crate) fn at<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// Asks for what is at an address.
    pub(crate) async fn get(&self, url: Url) -> Result<Reply, Lost> {
        self.send(Method::GET, url, None).await
    }

    /// Posts JSON to an address.
    pub(crate) async fn post(&self, url: Url, body: &Value) -> Result<Reply, Lost> {
        self.send(Method::POST, url, Some(body)).await
    }

    async fn send(&self, method: Method, url: Url, body: Option<&Value>) -> Result<Reply, Lost> {
        let mut headers = self.headers.clone();
        if body.is_some() {
            headers.push((CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8")));
        }
        let body = body.map_or_else(Bytes::new, |body| body.to_string().into());
        let request = Request { method, url: url.into(), headers, body };
        let answer = self.outbound.send(request).await.map_err(|error| self.lost(error))?;
        let body = is_json(&answer.headers).then(|| serde_json::from_slice(&answer.body).ok()).flatten();
        Ok(Reply { status: answer.status, headers: answer.headers, body })
    }

    fn lost(&self, error: OutboundError) -> Lost {
        let name = self.name;
        match error {
            OutboundError::Unreachable { source, .. } if source.is_connect() => {
                let error = Error::new(Kind::ConnectionFailed, format!("{name} could not be reached"));
                Lost { arrived: false, error: error.because(source.without_url()) }
            }
            OutboundError::Unreachable { source, .. } => {
                let what =
                    if source.is_timeout() { "did not answer in time" } else { "broke off its answer" };
                let kind = if source.is_timeout() { Kind::Timeout } else { Kind::ConnectionFailed };
                let error = Error::new(kind, format!("{name} {what}"));
                Lost { arrived: true, error: error.because(source.without_url()) }
            }
            OutboundError::TooLarge { .. } => Lost {
                arrived: true,
                error: Error::new(Kind::Upstream, format!("{name} answered too much at once")),
            },
            OutboundError::Unready { why } => {
                let error = Error::new(Kind::Internal, "no other server can be asked").because(why);
                Lost { arrived: false, error }
            }
            OutboundError::Address { .. } | OutboundError::TooNear { .. } | OutboundError::Status { .. } => {
                Lost { arrived: false, error: Error::new(Kind::Internal, format!("{name} cannot be asked")) }
            }
        }
    }

    /// A service's own words, as far as they may be passed on: no token, no line ends, not too long.
    pub(crate) fn words(&self, text: &str) -> String {
        let text = text.replace(self.token.expose(), "[token]");
        let plain = text.chars().map(|c| if c.is_control() || c == '`' { ' ' } else { c });
        plain.take(MOST_WORDS).collect::<String>().trim().to_owned()
    }

    /// An answer in a form that is not the service's.
    pub(crate) fn strange(&self, status: u16) -> Error {
        let error = format!("{} answered {status} with something else than it should", self.name);
        Error::new(Kind::Upstream, error)
            .hint("check its `base_url` in the configuration, and what stands in between")
    }
}

impl Reply {
    /// The text at a place of the body.
    pub(crate) fn text(&self, place: &str) -> Option<&str> {
        self.body.as_ref()?.pointer(place)?.as_str()
    }

    /// How long to wait, by the header.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        retry_after(&self.headers)
    }

    /// How long to wait, by a number in the body.
    pub(crate) fn retry_in_body(&self, place: &str) -> Option<Duration> {
        seconds(self.body.as_ref()?.pointer(place)?.as_f64()?)
    }

    /// A header, if it is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// How long a server asks to wait. A date is not understood: it would have to be compared with a clock of others.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    seconds(headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?)
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.ends_with("+json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(base: &str, token: &str) -> Result<Service, Unready> {
        Service::new("Peer", "peer", base, Secret::new(token.into()))
    }

    #[track_caller]
    fn check_refused(base: &str, token: &str, key: &str) {
        let error = service(base, token).unwrap_err();
        let Unready::Wrong { key: told, .. } = &error else { panic!("{error}") };
        assert_eq!(told, key, "{base}");
        assert!(token.is_empty() || !error.to_string().contains(token), "{error}");
    }

    #[test]
    fn a_token_goes_only_where_it_is_safe() {
        check_refused("http://peer.example/api", "sesame-1", "peer.base_url");
        check_refused("ftp://127.0.0.1/", "sesame-1", "peer.base_url");
        check_refused("https://peer.example/?x=1", "sesame-1", "peer.base_url");
        check_refused("https://user@peer.example/", "sesame-1", "peer.base_url");
        check_refused("https://peer.example/", "", "peer.token");
        check_refused("https://peer.example/", "sesame\n1", "peer.token");
        check_refused("https://peer.example/", "sesame 1", "peer.token");
    }

    #[test]
    fn a_segment_stays_one_segment() {
        #[track_caller]
        fn check(base: &str, segments: &[&str], expect: &str) {
            let service = service(base, "sesame-1").unwrap();
            assert_eq!(service.at(segments.iter().copied()).as_str(), expect);
        }
        check("https://p.example", &["a", "b"], "https://p.example/a/b");
        check("https://p.example/api/v3/", &["a"], "https://p.example/api/v3/a");
        check("https://p.example/api/v3", &["a/../b?c#d"], "https://p.example/api/v3/a%2F..%2Fb%3Fc%23d");
        check("https://p.example", &["bot1:ab-c_D"], "https://p.example/bot1:ab-c_D");
    }

    #[test]
    fn words_of_a_service_are_short_plain_and_without_the_token() {
        let service = service("https://p.example", "sesame-1").unwrap();
        assert_eq!(service.words("no\r\nsuch `sesame-1` here "), "no  such  [token]  here");
        assert_eq!(service.words(&"ä".repeat(1000)).chars().count(), MOST_WORDS);
    }
}

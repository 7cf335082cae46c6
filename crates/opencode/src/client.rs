//! Requests to an OpenCode server: addressed, signed, within limits, and answered by a value or an error.

mod failure;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Response};
use serde_json::Value;
use toolgate_core::{Error, Kind, Result};
use toolgate_host::Secret;
use url::Url;

use crate::server::LogRing;

/// The largest answer that is read.
const MOST_BYTES: usize = 32 << 20;

/// What stands where a password of ours stood.
const HIDDEN: &[u8] = b"[REDACTED:OPENCODE_SERVER_PASSWORD]";

/// An OpenCode server, as far as it can be asked.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: Url,
    password: Option<Arc<Secret>>,
    authorization: Option<HeaderValue>,
    log: Option<Arc<LogRing>>,
    time: Duration,
    lost: Arc<AtomicBool>,
}

/// A request to OpenCode.
pub(crate) struct Request<'a> {
    client: &'a Client,
    method: Method,
    url: Url,
    body: Option<Value>,
    time: Duration,
}

impl Client {
    /// A server at an address, with the name and password it wants.
    pub(crate) fn new(http: reqwest::Client, base: Url, time: Duration) -> Self {
        Self { http, base, password: None, authorization: None, log: None, time, lost: Arc::default() }
    }

    /// The same, signed.
    pub(crate) fn signed(mut self, username: &str, password: Secret) -> Self {
        let pair = STANDARD.encode(format!("{username}:{}", password.expose()));
        self.authorization = HeaderValue::from_str(&format!("Basic {pair}")).ok().map(|mut value| {
            value.set_sensitive(true);
            value
        });
        self.password = Some(Arc::new(password));
        self
    }

    /// The same, with the log in which the reasons of its errors stand.
    pub(crate) fn logged(mut self, log: Arc<LogRing>) -> Self {
        self.log = Some(log);
        self
    }

    /// Whether it could not be reached when it was last asked.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Notes whether it could be reached.
    fn reached(&self, answer: reqwest::Result<Response>) -> Result<Response> {
        let answer = answer.map_err(|error| self.lost(error))?;
        self.lost.store(false, Ordering::Release);
        Ok(answer)
    }

    fn lost(&self, error: reqwest::Error) -> Error {
        self.lost.store(true, Ordering::Release);
        failure::lost(&self.base, error)
    }

    /// Where it is.
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    pub(crate) fn get(&self, path: &[&str]) -> Request<'_> {
        self.request(Method::GET, path)
    }

    pub(crate) fn post(&self, path: &[&str]) -> Request<'_> {
        self.request(Method::POST, path)
    }

    pub(crate) fn request(&self, method: Method, path: &[&str]) -> Request<'_> {
        let mut url = self.base.clone();
        // Segments are escaped one by one, so that no id leads to another route.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        Request { client: self, method, url, body: None, time: self.time }
    }

    /// Opens the stream of events of all projects.
    pub(crate) async fn open_events(&self) -> Result<Response> {
        let request = self.get(&["global", "event"]);
        let sent = self.http.get(request.url.clone()).headers(self.headers("text/event-stream")).send();
        let answer = tokio::time::timeout(self.time, sent).await;
        let answer = answer.map_err(|_| failure::late(&self.base, self.time))?;
        let answer = self.reached(answer)?;
        if is(&answer, "text/event-stream") {
            return Ok(answer);
        }
        let (status, kind) = (answer.status().as_u16(), kind(&answer));
        let body = self.read(answer).await?;
        Err(self.failure(&request.url, status, &kind, &body).await)
    }

    /// Hides the password that a server of ours got from what it says.
    pub(crate) fn hide(&self, text: Bytes) -> Bytes {
        let Some(password) = self.password.as_ref().filter(|secret| secret.expose().len() >= 8) else {
            return text;
        };
        let needle = password.expose().as_bytes();
        if !text.windows(needle.len()).any(|window| window == needle) {
            return text;
        }
        let text = String::from_utf8_lossy(&text);
        text.replace(password.expose(), &String::from_utf8_lossy(HIDDEN)).into_bytes().into()
    }

    fn headers(&self, accept: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        headers
    }

    async fn read(&self, mut answer: Response) -> Result<Bytes> {
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|error| self.lost(error))? {
            if body.len() + piece.len() > MOST_BYTES {
                return Err(Error::new(
                    Kind::Upstream,
                    format!("OpenCode answered more than {MOST_BYTES} bytes"),
                )
                .hint("ask for less at once"));
            }
            body.extend_from_slice(&piece);
        }
        Ok(self.hide(body.into()))
    }

    async fn failure(&self, url: &Url, status: u16, kind: &str, body: &[u8]) -> Error {
        let refusal = failure::Refusal { path: url.path(), status, kind, body };
        if let Some((log, reference)) = self.log.as_deref().zip(refusal.reference()) {
            log.wait_for(&reference).await;
        }
        failure::failure(&refusal, self.log.as_deref())
    }
}

impl Request<'_> {
    /// In the project at this path.
    pub(crate) fn within(self, directory: &std::path::Path) -> Self {
        let directory = directory.to_string_lossy().into_owned();
        self.query("directory", &directory)
    }

    pub(crate) fn query(mut self, name: &str, value: &str) -> Self {
        self.url.query_pairs_mut().append_pair(name, value);
        self
    }

    pub(crate) fn json(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    /// With a time limit of its own.
    pub(crate) fn limited(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Sends it, and reads the answer as JSON; an answer without a body is `null`.
    pub(crate) async fn send(self) -> Result<Value> {
        let (client, url) = (self.client, self.url.clone());
        let (kind, body) = self.exchange().await?;
        if body.is_empty() {
            return Ok(Value::Null);
        }
        // Routes that it does not have, it answers with the page of its web interface.
        if kind != "application/json" {
            return Err(client.failure(&url, 200, &kind, &body).await);
        }
        serde_json::from_slice(&body).map_err(|error| {
            Error::new(Kind::Upstream, format!("OpenCode's answer to `{}` is not JSON", url.path()))
                .hint("check that the address is that of an OpenCode server")
                .because(error)
        })
    }

    async fn exchange(self) -> Result<(String, Bytes)> {
        let client = self.client;
        let mut request = client.http.request(self.method, self.url.clone()).headers(client.headers("*/*"));
        if let Some(body) = &self.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let whole = async {
            let answer = client.reached(request.send().await)?;
            let (status, kind) = (answer.status(), kind(&answer));
            let body = client.read(answer).await?;
            if status.is_success() {
                return Ok((kind, body));
            }
            Err(client.failure(&self.url, status.as_u16(), &kind, &body).await)
        };
        let answer = tokio::time::timeout(self.time, whole).await;
        answer.unwrap_or_else(|_| Err(failure::late(&client.base, self.time)))
    }
}

fn kind(answer: &Response) -> String {
    let value = answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is(answer: &Response, wanted: &str) -> bool {
    answer.status().is_success() && kind(answer) == wanted
}

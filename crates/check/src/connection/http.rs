//! Streamable HTTP: a request each, answered by one message or by a stream of them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use reqwest::{RequestBuilder, Response};
use serde_json::Value;
use tokio::sync::Semaphore;
use toolgate_host::Tasks;
use toolgate_host::authorities::read_authorities;
use toolgate_wire::sse::{Decoder, Event};
use toolgate_wire::{Raw, Version, headers, meta};
use url::Url;

use super::queue::Ear;
use super::{Heard, MESSAGE_LIMIT};
use crate::subject::{Address, Proxy};

pub(crate) use reqwest::Client;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a server may take to be left.
const GOOD_BYE: Duration = Duration::from_secs(2);

/// The client for all connections to one address.
///
/// # Errors
/// It cannot be made.
pub(crate) async fn client(address: &Address, tasks: &Tasks) -> Result<Client, String> {
    let builder = Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT)
        .user_agent(concat!("toolgate/", env!("CARGO_PKG_VERSION")));
    let builder = match &address.proxy {
        // As for the servers of a hub: whoever names a proxy for the world does not mean this machine.
        Proxy::Environment if address.is_loopback() => builder.no_proxy(),
        Proxy::Environment => builder,
        Proxy::Off => builder.no_proxy(),
        Proxy::At(url) => builder.proxy(reqwest::Proxy::all(url).map_err(|error| reason(&error))?),
    };
    let builder = match address.ca_file.clone() {
        None => builder,
        Some(path) => {
            let read = tasks.blocking(move || read_authorities(&path)).await;
            let trusted = read.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
            builder.tls_certs_merge(trusted)
        }
    };
    builder.build().map_err(|error| reason(&error))
}

/// How many answers to a server's questions may be under way, and how long each may take to be accepted.
const ANSWERS: usize = 8;
const ACCEPTED: Duration = Duration::from_secs(30);

/// A server that is reached by Streamable HTTP.
pub(super) struct Http {
    client: Client,
    url: Url,
    headers: HeaderMap,
    heard: Ear,
    tasks: Tasks,
    posts: u64,
    answers: Arc<Semaphore>,
    pub(super) session: Option<String>,
    pub(super) version: Option<Version>,
}

impl Http {
    pub(super) fn new(address: &Address, client: &Client, heard: Ear, tasks: &Tasks) -> Self {
        Self {
            client: client.clone(),
            url: address.url.clone(),
            headers: header_map(&address.headers),
            heard,
            tasks: tasks.child(),
            posts: 0,
            answers: Arc::new(Semaphore::new(ANSWERS)),
            session: None,
            version: None,
        }
    }

    /// Sends a frame; what comes of it is handed over under the number that it gets.
    pub(super) fn post(&mut self, frame: Bytes, more: &[(&str, &str)]) -> u64 {
        self.posts += 1;
        let post = self.posts;
        let request = self.request(frame, more);
        let (heard, stopping) = (self.heard.clone(), self.tasks.stopping());
        let following = async move {
            let broken = follow(request, post, &heard).await.err();
            // Nobody may listen any more.
            drop(heard.send(Heard::Over { post, broken }).await);
        };
        self.tasks.spawn(async move { stopping.run_until_cancelled(following).await });
        post
    }

    /// Sends the answer to a question of the server, as soon as it has accepted some that came before. What else comes
    /// of it is not read: a server that asks a thousand times may answer each with as much as it likes.
    pub(super) async fn answer(&self, frame: Bytes) {
        // It is never closed.
        let place = self.answers.clone().acquire_owned().await;
        let (request, stopping) = (self.request(frame, &[]).timeout(ACCEPTED), self.tasks.stopping());
        self.tasks.spawn(async move {
            drop(stopping.run_until_cancelled(request.send()).await);
            drop(place);
        });
    }

    fn request(&self, frame: Bytes, more: &[(&str, &str)]) -> RequestBuilder {
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        self.stamp(&mut headers);
        for (name, value) in mirrored(&frame) {
            set(&mut headers, &name, &value);
        }
        for (name, value) in more {
            set(&mut headers, name, value);
        }
        self.client.post(self.url.clone()).headers(headers).body(frame)
    }

    fn stamp(&self, headers: &mut HeaderMap) {
        if let Some(version) = self.version.filter(|version| version.has_version_header()) {
            set(headers, headers::PROTOCOL_VERSION, version.as_str());
        }
        if let Some(session) = &self.session {
            set(headers, headers::SESSION_ID, session);
        }
    }

    /// Listens to what a legacy server says by itself, if it has a stream for it.
    pub(super) fn listen(&self) {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        self.stamp(&mut headers);
        let request = self.client.get(self.url.clone()).headers(headers);
        let (heard, stopping) = (self.heard.clone(), self.tasks.stopping());
        let listening = async move {
            let Ok(response) = request.send().await else { return };
            if response.status().is_success() && kind(&response) == "text/event-stream" {
                // It ends when it ends; whoever needs an answer waits for its own.
                drop(events(response, &heard).await);
            }
        };
        self.tasks.spawn(async move { stopping.run_until_cancelled(listening).await });
    }

    /// Ends the session, if there is one.
    pub(super) fn good_bye(&mut self) {
        let mut headers = self.headers.clone();
        self.stamp(&mut headers);
        if self.session.take().is_some() {
            let request = self.client.delete(self.url.clone()).headers(headers).timeout(GOOD_BYE);
            // A server that does not want to be told is left all the same.
            self.tasks.spawn(async move { drop(request.send().await) });
        }
    }

    /// Lets go of what is under way, but for the good-bye.
    pub(super) async fn stop(self) {
        self.tasks.shutdown(GOOD_BYE).await;
    }
}

/// Headers as they are written; what cannot be one is left out.
pub(super) fn header_map(given: &[(String, String)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    given.iter().for_each(|(name, value)| set(&mut headers, name, value));
    headers
}

fn set(headers: &mut HeaderMap, name: &str, value: &str) {
    let name = if name == "origin" { Ok(ORIGIN) } else { name.parse::<HeaderName>() };
    if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}

/// The headers that repeat what a modern request says.
fn mirrored(frame: &Bytes) -> Vec<(String, String)> {
    let message: Value = serde_json::from_slice(frame).unwrap_or_default();
    let version = message["params"][meta::META][meta::PROTOCOL_VERSION].as_str();
    let (Some(version), Some(method)) = (version, message["method"].as_str()) else { return Vec::new() };
    let params = Raw::of(&message["params"]);
    let mirror = headers::mirror(method, Some(&params), &[]);
    let mirror = mirror.into_iter().map(|(name, value)| (name.into_owned(), value));
    mirror.chain([(headers::PROTOCOL_VERSION.to_owned(), version.to_owned())]).collect()
}

async fn follow(request: RequestBuilder, post: u64, heard: &Ear) -> Result<(), String> {
    let response = request.send().await.map_err(|error| reason(&error))?;
    let (status, kind) = (response.status(), kind(&response));
    let session = response.headers().get(headers::SESSION_ID).and_then(|value| value.to_str().ok());
    let session = session.filter(|_| status.is_success()).map(ToOwned::to_owned);
    let head = Heard::Head { post, status: status.as_u16(), kind: kind.clone(), session };
    if heard.send(head).await.is_err() {
        return Ok(());
    }
    if kind == "text/event-stream" {
        return events(response, heard).await;
    }
    let text = body(response).await?;
    // A refusal may say why in any words; only what is said in messages is one.
    let counts = status.is_success() || Raw::parse(text.clone()).is_ok_and(|raw| raw.is_object());
    if counts && !text.trim_ascii().is_empty() {
        drop(heard.send(Heard::Text(text, Some(status.as_u16()))).await);
    }
    Ok(())
}

async fn body(mut response: Response) -> Result<Bytes, String> {
    let mut whole = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| reason(&error))? {
        if whole.len() + piece.len() > MESSAGE_LIMIT {
            return Err(format!("its answer has more than {MESSAGE_LIMIT} bytes"));
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
}

async fn events(mut response: Response, heard: &Ear) -> Result<(), String> {
    let mut decoder = Decoder::new(MESSAGE_LIMIT);
    while let Some(piece) = response.chunk().await.map_err(|error| reason(&error))? {
        decoder.push(&piece);
        for event in &mut decoder {
            let heard_of = match event {
                Ok(event) if event.data.is_empty() || !is_message(&event) => continue,
                Ok(event) => Heard::Text(event.data, None),
                Err(too_large) => Heard::TooLarge(too_large.limit),
            };
            if heard.send(heard_of).await.is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

pub(super) fn is_message(event: &Event) -> bool {
    event.event.as_deref().is_none_or(|kind| kind == "message")
}

pub(super) fn kind(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// What went wrong, in the words of the innermost cause, without the address.
pub(super) fn reason(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let what = if error.is_connect() { "it cannot be connected to" } else { "the connection broke" };
    if std::ptr::eq(cause, std::ptr::from_ref::<dyn std::error::Error>(error)) {
        return what.into();
    }
    format!("{what}: {cause}")
}

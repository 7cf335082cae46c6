//! Streamable HTTP: a request each, answered by one message or by a stream of them.

mod stream;

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, StatusCode};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use toolgate_core::{Error, Kind, error_object};
use toolgate_host::Tasks;
use toolgate_wire::headers::HeaderParam;
use toolgate_wire::{Era, Frame, Message, Raw, Request, RequestMeta, Version, headers, method};
use url::Url;

use super::answer::Answer;
use super::direct::Direct;
use super::signed::{self, Way};
use super::{MESSAGE_LIMIT, Sending, Sent, Transport};
use crate::desk::{Desk, Out, Reports};
use crate::fault::Fault;
use crate::link::{Declared, Wire};
use crate::oauth::{Bearer, joined};

pub(super) use stream::is_message;

/// How many frames may wait to be sent.
const QUEUE: usize = 256;

/// How long a server may take to take a notification.
const NOTIFYING: Duration = Duration::from_secs(30);

/// How much of an error page is read.
const ERROR_LIMIT: usize = 64 * 1024;

/// A server that is reached by Streamable HTTP.
pub(crate) struct Http(Arc<Inner>);

struct Inner {
    client: Client,
    direct: Option<Arc<Direct>>,
    bearer: Option<Bearer>,
    url: Url,
    /// What goes with every request.
    headers: HeaderMap,
    /// What goes with every frame.
    framed: HeaderMap,
    desk: Arc<Desk>,
    version: Mutex<Option<Version>>,
    session: Mutex<Option<HeaderValue>>,
    /// The status by which the handshake was refused; 0 if it was not. Its body alone does not tell.
    refused: AtomicU16,
    stop: CancellationToken,
    tasks: Tasks,
}

/// Makes ready to talk to a server; nothing is sent yet.
pub(crate) fn connect(way: Way<'_>, declared: Declared, reports: &Reports, tasks: Tasks) -> Wire {
    let (queue, outgoing) = mpsc::channel(QUEUE);
    let desk = Desk::new(queue, declared, reports);
    let mut framed = way.plan.headers.clone();
    framed.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    framed.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    let inner = Arc::new(Inner {
        client: way.client,
        direct: way.is_direct.then(|| Direct::to(&way.plan.url)).flatten(),
        bearer: way.bearer,
        url: way.plan.url.clone(),
        headers: way.plan.headers.clone(),
        framed,
        desk: desk.clone(),
        version: Mutex::default(),
        session: Mutex::default(),
        refused: AtomicU16::new(0),
        stop: CancellationToken::new(),
        tasks: tasks.clone(),
    });
    tasks.spawn(post_all(inner.clone(), outgoing));
    Wire::new(desk, Transport::Http(Http(inner)), tasks)
}

/// Sends what nobody waits for, and says good-bye at the end.
async fn post_all(inner: Arc<Inner>, mut outgoing: mpsc::Receiver<Out>) {
    while let Some(Some(out)) = inner.stop.run_until_cancelled(inner.next(&mut outgoing)).await {
        if let Some(Err(fault)) = inner.stop.run_until_cancelled(inner.notify(out.leave())).await {
            inner.desk.journal.note("does not take what it is sent", &fault.words());
        }
    }
    let session = lock(&inner.session).take();
    if let Some(session) = session {
        let mut sent = inner.own_headers(inner.headers.clone());
        sent.insert(headers::SESSION_ID, session);
        let request = || {
            let request = inner.client.delete(inner.url.clone()).headers(sent.clone());
            Ok(request.timeout(Duration::from_secs(2)))
        };
        // A server that does not want to be told is forgotten all the same.
        drop(inner.dispatch(request).await);
    }
}

impl Http {
    pub(super) async fn send(&self, sending: Sending<'_>) -> Result<Sent, Fault> {
        let inner = &self.0;
        sending.left.store(true, Ordering::Release);
        let response = inner.ask(&sending).await.inspect_err(|fault| {
            if matches!(fault, Fault::NotSent(_) | Fault::NoToken(_)) {
                sending.left.store(false, Ordering::Release);
            }
        })?;
        if sending.method == method::INITIALIZE {
            inner.begun(&response);
        }
        inner.answered(response, sending.id).await
    }

    pub(super) async fn notify(&self, frame: Bytes) -> Result<(), Fault> {
        self.0.notify(frame).await
    }

    pub(super) fn stop(&self) {
        self.0.stop.cancel();
    }

    pub(super) fn speaks(&self, version: Version) {
        *lock(&self.0.version) = Some(version);
    }

    /// Whether the server refused the handshake as one does that knows nothing of it: its transport may be the old one.
    /// One that wants to know who we are, or does not let us in, says nothing of the kind.
    pub(crate) fn is_refused(&self) -> bool {
        let status = self.0.refused.load(Ordering::Relaxed);
        matches!(status, 400..=499) && !matches!(status, 401 | 403)
    }

    /// Opens the stream on which a legacy server speaks by itself, if it has one. What this returns ends when it is
    /// open, or will not be.
    pub(crate) fn listen(&self) -> oneshot::Receiver<()> {
        let inner = self.0.clone();
        let stop = inner.stop.clone();
        let (opened, open) = oneshot::channel();
        inner
            .tasks
            .clone()
            .spawn(async move { stop.run_until_cancelled(stream::listen(&inner, opened)).await });
        open
    }
}

impl Inner {
    /// Sends a request, and waits for the head of its answer.
    async fn ask(&self, sending: &Sending<'_>) -> Result<Answer, Fault> {
        let headers = || self.headers_of(sending.method, sending.params, sending.headers);
        let by_client = || Ok(self.post(headers()?, sending.frame.clone()));
        let Some(direct) = &self.direct else { return Box::pin(self.dispatch(by_client)).await };
        let request = || Ok(signed::Request::Direct(direct, headers()?, sending.frame.clone()));
        let answer = signed::send(self.bearer.as_ref(), request).await?;
        match answer.status() {
            // Where to is the client's business.
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => {
                Box::pin(self.dispatch(by_client)).await
            }
            _ => Ok(answer),
        }
    }

    /// Notes how the server answers the handshake.
    fn begun(&self, response: &Answer) {
        if response.status().is_success() {
            *lock(&self.session) = response.headers().get(headers::SESSION_ID).cloned();
        } else {
            self.refused.store(response.status().as_u16(), Ordering::Relaxed);
        }
    }

    fn post(&self, headers: HeaderMap, frame: Bytes) -> RequestBuilder {
        self.client.post(self.url.clone()).headers(headers).body(frame)
    }

    /// The headers that go with a request; `repeated`: arguments that are among them.
    fn headers_of(&self, method: &str, params: &Raw, repeated: &[HeaderParam]) -> Result<HeaderMap, Fault> {
        let version = RequestMeta::read(params).version;
        let Some(version) = version.as_ref().and_then(Raw::as_string) else {
            return Ok(self.own_headers(self.framed.clone()));
        };
        let mut sent = self.framed.clone();
        let mirror = headers::mirror(method, Some(params), repeated);
        let version = (headers::PROTOCOL_VERSION.into(), version.into_owned());
        for (name, value) in std::iter::once(version).chain(mirror) {
            let header = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&value));
            let (Ok(key), Ok(value)) = header else {
                // The caller's fault: the connection is as good as before.
                let error = Error::new(Kind::InvalidInput, format!("`{name}` cannot be sent as a header"));
                return Err(Fault::Refused(error_object(&error)));
            };
            sent.insert(key, value);
        }
        Ok(sent)
    }

    /// The headers that go with what nobody waits for. It may be a request all the same, and the modern era has all
    /// requests say in headers what they are.
    fn headers_of_frame(&self, frame: &Bytes) -> Result<HeaderMap, Fault> {
        let is_legacy = lock(&self.version).is_some_and(|version| version.era() == Era::Legacy);
        let parsed = (!is_legacy).then(|| toolgate_wire::parse(frame.clone()));
        match parsed {
            Some(Ok(Frame::One(Message::Request(Request { method, params: Some(params), .. })))) => {
                self.headers_of(&method, &params, &[])
            }
            _ => Ok(self.own_headers(self.framed.clone())),
        }
    }

    /// Adds what a connection of the legacy era is known by.
    fn own_headers(&self, mut sent: HeaderMap) -> HeaderMap {
        if let Some(version) = lock(&self.version).filter(|version| version.has_version_header()) {
            sent.insert(headers::PROTOCOL_VERSION, HeaderValue::from_static(version.as_str()));
        }
        if let Some(session) = lock(&self.session).clone() {
            sent.insert(headers::SESSION_ID, session);
        }
        sent
    }

    /// The next frame that nobody waits for; connections that nobody uses are closed meanwhile.
    async fn next(&self, outgoing: &mut mpsc::Receiver<Out>) -> Option<Out> {
        let Some(direct) = &self.direct else { return outgoing.recv().await };
        tokio::select! {
            out = outgoing.recv() => out,
            never = direct.tidy() => match never {},
        }
    }

    fn has_session(&self) -> bool {
        lock(&self.session).is_some()
    }

    async fn dispatch(&self, make: impl Fn() -> Result<RequestBuilder, Fault>) -> Result<Answer, Fault> {
        signed::send(self.bearer.as_ref(), make).await
    }

    async fn notify(&self, frame: Bytes) -> Result<(), Fault> {
        // Others wait behind it.
        let request = || {
            let sent = self.headers_of_frame(&frame)?;
            Ok(self.post(sent, frame.clone()).timeout(NOTIFYING))
        };
        let response = self.dispatch(request).await?;
        if response.status().is_success() {
            return Ok(());
        }
        Err(self.refusal(response, None).await.err().unwrap_or(Fault::SessionGone))
    }

    /// Hands over what a server answers to a request.
    async fn answered(&self, mut response: Answer, id: u64) -> Result<Sent, Fault> {
        if !response.status().is_success() {
            return Box::pin(self.refusal(response, Some(id))).await;
        }
        if is(&response, "text/event-stream") {
            return Box::pin(stream::read(self, response, id)).await;
        }
        match body(&mut response, MESSAGE_LIMIT).await {
            Ok(body) if body.is_empty() => Err(Fault::Unusable("an empty answer".into())),
            Ok(body) => {
                self.desk.take(body, Some(id));
                Ok(Sent::Over)
            }
            Err(fault) => {
                self.desk.journal.note("sent a message that is too large", &fault.words());
                Err(fault)
            }
        }
    }

    /// What an answer means that is no success.
    async fn refusal(&self, mut response: Answer, id: Option<u64>) -> Result<Sent, Fault> {
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED {
            return Err(Fault::Unauthorized(joined(response.headers())));
        }
        if status == StatusCode::NOT_FOUND && self.has_session() {
            return Err(Fault::SessionGone);
        }
        let text = body(&mut response, ERROR_LIMIT).await.unwrap_or_default();
        let error =
            Raw::parse(text.clone()).ok().filter(|raw| raw.get("error").is_some_and(|e| e.is_object()));
        // Some servers say that they forgot a session with 400.
        let nameless = error.as_ref().is_some_and(|raw| raw.get("id").is_none_or(|id| id.is_null()));
        if status == StatusCode::BAD_REQUEST && self.has_session() && nameless && mentions_session(&text) {
            return Err(Fault::SessionGone);
        }
        match (error, id) {
            (Some(_), Some(id)) => {
                self.desk.take(text, Some(id));
                Ok(Sent::Over)
            }
            _ => Err(Fault::Status(status.as_u16())),
        }
    }
}

fn mentions_session(text: &[u8]) -> bool {
    String::from_utf8_lossy(text).to_ascii_lowercase().contains("session")
}

fn is(response: &Answer, kind: &str) -> bool {
    let value =
        response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().is_some_and(|first| first.trim().eq_ignore_ascii_case(kind))
}

/// A whole body, if it is not too large.
async fn body(response: &mut Answer, limit: usize) -> Result<Bytes, Fault> {
    let too_large = || Fault::Unusable(format!("a message of more than {limit} bytes is too large"));
    let announced = response.content_length().unwrap_or_default();
    if announced > limit as u64 {
        return Err(too_large());
    }
    let mut whole = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(Fault::Gone)? {
        if whole.is_empty() && piece.len() as u64 == announced {
            return Ok(piece);
        }
        if whole.len() + piece.len() > limit {
            return Err(too_large());
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

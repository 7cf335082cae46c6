//! Streamable HTTP: a request each, answered by one message or by a stream of them.

mod stream;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use toolgate_host::Tasks;
use toolgate_wire::{Raw, RequestMeta, Version, headers, method};
use url::Url;

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
    bearer: Option<Bearer>,
    url: Url,
    headers: HeaderMap,
    desk: Arc<Desk>,
    version: Mutex<Option<Version>>,
    session: Mutex<Option<HeaderValue>>,
    stop: CancellationToken,
    tasks: Tasks,
}

/// Makes ready to talk to a server; nothing is sent yet.
pub(crate) fn connect(way: Way<'_>, declared: Declared, reports: &Reports, tasks: Tasks) -> Wire {
    let (queue, outgoing) = mpsc::channel(QUEUE);
    let desk = Desk::new(queue, declared, reports);
    let inner = Arc::new(Inner {
        client: way.client,
        bearer: way.bearer,
        url: way.plan.url.clone(),
        headers: way.plan.headers.clone(),
        desk: desk.clone(),
        version: Mutex::default(),
        session: Mutex::default(),
        stop: CancellationToken::new(),
        tasks: tasks.clone(),
    });
    tasks.spawn(post_all(inner.clone(), outgoing));
    Wire::new(desk, Transport::Http(Http(inner)), tasks)
}

/// Sends what nobody waits for, and says good-bye at the end.
async fn post_all(inner: Arc<Inner>, mut outgoing: mpsc::Receiver<Out>) {
    while let Some(Some(out)) = inner.stop.run_until_cancelled(outgoing.recv()).await {
        if let Some(Err(fault)) = inner.stop.run_until_cancelled(inner.notify(out.frame)).await {
            inner.desk.journal.note("does not take what it is sent", &fault.words());
        }
    }
    let session = lock(&inner.session).take();
    if let Some(session) = session {
        let request = || {
            let request = inner.client.delete(inner.url.clone()).headers(inner.headers.clone());
            let request = inner.stamped(request).header(headers::SESSION_ID, &session);
            request.timeout(Duration::from_secs(2))
        };
        // A server that does not want to be told is forgotten all the same.
        drop(inner.dispatch(request).await);
    }
}

impl Http {
    pub(super) async fn send(&self, sending: Sending<'_>) -> Result<Sent, Fault> {
        let inner = &self.0;
        let request =
            || inner.post(sending.frame.clone(), Some((sending.method, sending.params, sending.headers)));
        sending.left.store(true, Ordering::Release);
        let response = inner.dispatch(request).await.inspect_err(|fault| {
            if matches!(fault, Fault::NotSent(_)) {
                sending.left.store(false, Ordering::Release);
            }
        })?;
        if sending.method == method::INITIALIZE && response.status().is_success() {
            *lock(&inner.session) = response.headers().get(headers::SESSION_ID).cloned();
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
    /// A request with a frame, and the headers that go with it.
    fn post(&self, frame: Bytes, mirrored: Option<(&str, &Raw, &[headers::HeaderParam])>) -> RequestBuilder {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone());
        let request = request
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(frame);
        let Some((method, params, tool)) = mirrored else { return self.in_session(self.stamped(request)) };
        let version = RequestMeta::read(params).version;
        let Some(version) = version.as_ref().and_then(Raw::as_string) else {
            return self.in_session(self.stamped(request));
        };
        let request = request.header(headers::PROTOCOL_VERSION, &*version);
        let mirror = headers::mirror(method, Some(params), tool);
        mirror.into_iter().fold(request, |request, (name, value)| request.header(&*name, value))
    }

    fn stamped(&self, request: RequestBuilder) -> RequestBuilder {
        match *lock(&self.version) {
            Some(version) if version.has_version_header() => {
                request.header(headers::PROTOCOL_VERSION, version.as_str())
            }
            _ => request,
        }
    }

    fn in_session(&self, request: RequestBuilder) -> RequestBuilder {
        match lock(&self.session).clone() {
            Some(session) => request.header(headers::SESSION_ID, session),
            None => request,
        }
    }

    fn has_session(&self) -> bool {
        lock(&self.session).is_some()
    }

    async fn dispatch(&self, make: impl Fn() -> RequestBuilder) -> Result<Response, Fault> {
        signed::send(self.bearer.as_ref(), make).await
    }

    async fn notify(&self, frame: Bytes) -> Result<(), Fault> {
        // Others wait behind it.
        let response = self.dispatch(|| self.post(frame.clone(), None).timeout(NOTIFYING)).await?;
        if response.status().is_success() {
            return Ok(());
        }
        Err(self.refusal(response, None).await.err().unwrap_or(Fault::SessionGone))
    }

    /// Hands over what a server answers to a request.
    async fn answered(&self, mut response: Response, id: u64) -> Result<Sent, Fault> {
        if !response.status().is_success() {
            return self.refusal(response, Some(id)).await;
        }
        if is(&response, "text/event-stream") {
            return stream::read(self, response, id).await;
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
    async fn refusal(&self, mut response: Response, id: Option<u64>) -> Result<Sent, Fault> {
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

fn is(response: &Response, kind: &str) -> bool {
    let value =
        response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().is_some_and(|first| first.trim().eq_ignore_ascii_case(kind))
}

/// A whole body, if it is not too large.
async fn body(response: &mut Response, limit: usize) -> Result<Bytes, Fault> {
    let too_large = || Fault::Unusable(format!("a message of more than {limit} bytes is too large"));
    let announced = response.content_length().unwrap_or_default();
    if announced > limit as u64 {
        return Err(too_large());
    }
    let mut whole = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| Fault::Gone(reason(error)))? {
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

/// What went wrong, without the address: it may hold a secret.
pub(super) fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

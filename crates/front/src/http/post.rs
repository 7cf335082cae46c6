//! `POST /mcp`: messages of either era, answered as JSON or as a stream of events.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use http::header::{ACCEPT, CONTENT_TYPE, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use toolgate_core::{Pass, Transport};
use toolgate_wire::{Frame, Message, Notification, Refusal, Request, Version, code, headers, method, write};

use super::body::{Checked, Reply, empty, json, text};
use super::route::Address;
use super::session::Session;
use super::{Shared, stream};
use crate::answer::Answer;
use crate::connection::MOST_IN_BATCH;
use crate::era::legacy::Delivery;
use crate::era::modern::Entrance;
use crate::era::{Begun, Incoming, legacy, modern};
use crate::exchange::{Exchange, Step};
use crate::peer::Peer;

/// How long an answer may take before it becomes a stream, which shows the client that it is on its way.
const JSON_WAIT: Duration = Duration::from_millis(200);

// Names that are known need not be read again with every request.
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// In which forms the client takes an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accepts {
    pub(crate) json: bool,
    pub(crate) events: bool,
}

/// Answers a POST to the protocol's endpoint.
pub(crate) async fn post(
    shared: &Arc<Shared>,
    headers: &HeaderMap,
    address: Address,
    pass: &Pass,
    body: Bytes,
) -> Reply {
    let accepts = match check(headers) {
        Ok(accepts) => accepts,
        Err(refused) => return *refused,
    };
    let frame = match toolgate_wire::parse(body) {
        Ok(frame) => frame,
        Err(refusal) => return refused(&refusal),
    };
    let at = At { shared, headers, address, pass, accepts };
    match frame {
        Frame::One(Message::Request(request)) => {
            let incoming = at.incoming(request);
            at.request(incoming).await
        }
        Frame::One(Message::Notification(notification)) => at.notified(&notification),
        Frame::One(Message::Response(response)) => at.on_session(|peer| peer.answered(response)),
        Frame::Batch(batch) => Box::pin(at.batch(batch)).await,
    }
}

/// Checks what the headers say of the body and of the answer.
fn check(headers: &HeaderMap) -> Checked<Accepts> {
    // Pages send JSON as such, or their browser asks us first; other clients may be careless.
    let content_type = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    if headers.contains_key(ORIGIN) && !content_type.to_ascii_lowercase().starts_with(b"application/json") {
        let why = "send the message with `Content-Type: application/json`\n";
        return Err(Box::new(text(StatusCode::UNSUPPORTED_MEDIA_TYPE, why)));
    }
    let Some(accept) = headers.get(ACCEPT) else { return Ok(Accepts { json: true, events: false }) };
    if accept == "application/json, text/event-stream" {
        return Ok(Accepts { json: true, events: true });
    }
    let accept = accept.to_str().unwrap_or_default().to_ascii_lowercase();
    let any = |kinds: &[&str]| kinds.iter().any(|kind| accept.contains(kind));
    let accepts = Accepts {
        json: any(&["application/json", "*/*", "application/*"]),
        events: any(&["text/event-stream", "text/*"]),
    };
    if accepts.json || accepts.events {
        return Ok(accepts);
    }
    let why = "answers come as `application/json` or `text/event-stream`; accept at least one of them\n";
    Err(Box::new(text(StatusCode::NOT_ACCEPTABLE, why)))
}

struct At<'a> {
    shared: &'a Arc<Shared>,
    headers: &'a HeaderMap,
    address: Address,
    pass: &'a Pass,
    accepts: Accepts,
}

impl At<'_> {
    /// A request, with what the headers say about its trace.
    fn incoming(&self, request: Request) -> Box<Incoming> {
        let incoming = Incoming::new(request);
        if !self.headers.contains_key(&TRACEPARENT) {
            return incoming;
        }
        incoming.traced_by(|name| {
            let mut values = self.headers.get_all(name).iter();
            // One that occurs twice could say two things, so it says nothing.
            values.next().filter(|_| values.next().is_none())?.to_str().ok()
        })
    }

    fn version_header(&self) -> Option<&[u8]> {
        self.headers.get(&VERSION).map(HeaderValue::as_bytes)
    }

    /// A request is modern by what it says of itself, or by a header that names a modern version.
    async fn request(self, incoming: Box<Incoming>) -> Reply {
        if self.version_header() == Some(Version::LATEST.as_str().as_bytes()) || incoming.is_modern() {
            return self.modern(incoming).await;
        }
        self.legacy(incoming).await
    }

    async fn modern(self, incoming: Box<Incoming>) -> Reply {
        let get = |name: &str| {
            let mut values = match name {
                headers::PROTOCOL_VERSION => self.headers.get_all(&VERSION),
                headers::METHOD => self.headers.get_all(&METHOD),
                headers::NAME => self.headers.get_all(&NAME),
                name => self.headers.get_all(name),
            }
            .iter();
            // One that occurs twice could say two things, so it says nothing.
            values.next().filter(|_| values.next().is_none()).map(HeaderValue::as_bytes)
        };
        let at = Entrance {
            principal: &self.pass.principal,
            pass: Some(self.pass),
            profile: self.address.profile.as_ref(),
            transport: Transport::Http,
            connection: None,
            streams: self.accepts.events,
        };
        match modern::begin(&self.shared.hub, at, incoming, Some(&get)).await {
            Begun::Answer(answer) => self.whole(answer),
            Begun::Running(exchange) => self.running(exchange, None).await,
            Begun::Listening(listening) => stream::listening(self.shared, listening, self.pass.clone()),
        }
    }

    async fn legacy(self, incoming: Box<Incoming>) -> Reply {
        let request = &incoming.request;
        if let Some(version) = self.version_header()
            && !Version::ALL.iter().any(|known| known.as_str().as_bytes() == version)
        {
            let message = format!("header `{}` names an unknown version", headers::PROTOCOL_VERSION);
            return self.whole(Answer::error(Some(&request.id), code::INVALID_REQUEST, &message, None, 400));
        }
        let greets = request.method == method::INITIALIZE;
        let session = match &self.address.session {
            Some(id) if !greets => match self.shared.sessions.find(id, &self.pass.principal) {
                Some(session) => Some(session),
                None => return no_session(Some(request)),
            },
            _ => None,
        };
        let lasting = session.is_some() || (greets && self.shared.config.sessions);
        let peer = session.as_ref().map_or_else(|| Arc::new(self.new_peer()), |session| session.peer.clone());
        let delivery = Delivery { streams: self.accepts.events && lasting, lasting, pass: Some(self.pass) };
        match legacy::begin(&self.shared.hub, &peer, incoming, delivery).await {
            Begun::Answer(answer) => {
                let begins = greets && lasting && peer.version().is_some();
                let mut reply = self.whole(answer);
                if begins {
                    peer.enter(&self.shared.hub, None);
                }
                if begins
                    && let Err(refused) = self.shared.sessions.begin(peer, self.pass.clone(), &mut reply)
                {
                    return *refused;
                }
                reply
            }
            Begun::Running(exchange) => self.running(exchange, session).await,
            Begun::Listening(_) => empty(StatusCode::NOT_FOUND),
        }
    }

    fn new_peer(&self) -> Peer {
        Peer::new(self.pass.principal.clone(), self.address.profile.clone(), Transport::Http)
    }

    /// Answers a call: as JSON when it ends soon and says nothing before, else as a stream.
    async fn running(self, mut exchange: Box<Exchange>, session: Option<Arc<Session>>) -> Reply {
        if !self.accepts.events {
            return self.whole_of(&mut exchange).await;
        }
        let first = if self.accepts.json {
            self.shared.hub.alarms().within(JSON_WAIT, exchange.next()).await
        } else {
            None
        };
        match first {
            Some(Step::Done(answer)) => self.whole(answer),
            Some(Step::Cancelled) => empty(StatusCode::ACCEPTED),
            first => match session {
                Some(session) => stream::logged(self.shared, &session, exchange, first, self.pass.clone()),
                None => stream::direct(self.shared, exchange, first, self.pass.clone()),
            },
        }
    }

    async fn whole_of(&self, exchange: &mut Exchange) -> Reply {
        loop {
            match exchange.next().await {
                Step::Done(answer) => return self.whole(answer),
                Step::Cancelled => return empty(StatusCode::ACCEPTED),
                Step::Frame(_) | Step::CloseStream => {}
            }
        }
    }

    fn whole(&self, answer: Answer) -> Reply {
        let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if self.accepts.json || status != StatusCode::OK {
            return json(status, answer.frame);
        }
        stream::single(answer.frame)
    }

    fn notified(self, notification: &Notification) -> Reply {
        if self.version_header() == Some(Version::LATEST.as_str().as_bytes()) {
            return empty(StatusCode::ACCEPTED);
        }
        let shared = self.shared;
        self.on_session(|peer| peer.notified(&shared.hub, notification))
    }

    /// Does something with the session, where there is one, and says that the message was taken.
    fn on_session(self, act: impl FnOnce(&Peer)) -> Reply {
        if let Some(id) = &self.address.session {
            match self.shared.sessions.find(id, &self.pass.principal) {
                Some(session) => act(&session.peer),
                None => return no_session(None),
            }
        }
        empty(StatusCode::ACCEPTED)
    }

    /// Batches belong to 2025-03-26; a request that does not say its version may mean that one.
    async fn batch(self, batch: Vec<Result<Message, Refusal>>) -> Reply {
        let refuse = |message: &str| {
            json(StatusCode::BAD_REQUEST, write::error(None, code::INVALID_REQUEST, message, None))
        };
        let session = match &self.address.session {
            Some(id) => match self.shared.sessions.find(id, &self.pass.principal) {
                Some(session) => Some(session),
                None => return no_session(None),
            },
            None => None,
        };
        let peer = session.map_or_else(|| Arc::new(self.new_peer()), |session| session.peer.clone());
        let told = self.version_header().and_then(|version| std::str::from_utf8(version).ok()?.parse().ok());
        if !peer.version().or(told).unwrap_or(Version::ASSUMED).has_batches() {
            return refuse("batches are not part of the protocol version agreed on");
        }
        if batch.len() > MOST_IN_BATCH {
            return refuse(&format!("a batch may hold at most {MOST_IN_BATCH} messages"));
        }
        let (mut answers, mut running) = (Vec::new(), Vec::new());
        for message in batch {
            match message {
                Ok(Message::Request(request)) if request.method == method::INITIALIZE => {
                    let message = "`initialize` may not be part of a batch";
                    answers.push(write::error(Some(&request.id), code::INVALID_REQUEST, message, None));
                }
                Ok(Message::Request(request)) => running.push(self.in_batch(&peer, request)),
                Ok(Message::Notification(notification)) => {
                    peer.notified(&self.shared.hub, &notification);
                }
                Ok(Message::Response(response)) => peer.answered(response),
                Err(refusal) => {
                    answers.push(write::error(refusal.id.as_ref(), refusal.code, &refusal.message, None));
                }
            }
        }
        answers.extend(join_all(running).await.into_iter().flatten());
        write::batch(&answers)
            .map_or_else(|| empty(StatusCode::ACCEPTED), |frame| json(StatusCode::OK, frame))
    }

    async fn in_batch(&self, peer: &Arc<Peer>, request: Request) -> Option<Bytes> {
        // What belongs to a session can be cancelled by it.
        let lasting = self.address.session.is_some();
        let delivery = Delivery { streams: false, lasting, pass: Some(self.pass) };
        match legacy::begin(&self.shared.hub, peer, self.incoming(request), delivery).await {
            Begun::Answer(answer) => Some(answer.frame),
            Begun::Listening(_) => None,
            Begun::Running(mut exchange) => loop {
                match exchange.next().await {
                    Step::Done(answer) => return Some(answer.frame),
                    Step::Cancelled => return None,
                    Step::Frame(_) | Step::CloseStream => {}
                }
            },
        }
    }
}

fn refused(refusal: &Refusal) -> Reply {
    json(StatusCode::BAD_REQUEST, write::error(refusal.id.as_ref(), refusal.code, &refusal.message, None))
}

/// Clients begin a new session when they are told 404.
pub(super) fn no_session(request: Option<&Request>) -> Reply {
    let message = "no such session; it has ended, so begin a new one with `initialize`";
    let id = request.map(|request| &request.id);
    json(StatusCode::NOT_FOUND, write::error(id, code::INVALID_REQUEST, message, None))
}

//! One lasting two-way connection: messages come in, frames go out, in any order.
//!
//! Standard input and output are one, and so is a client of the old HTTP+SSE transport.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolgate_core::{Hub, Pass, Principal, Transport};
use toolgate_host::Tasks;
use toolgate_wire::{
    Era, Frame, Message, Notification, Refusal, Request, RequestMeta, Version, code, method, write,
};

use crate::changes;
use crate::era::legacy::Delivery;
use crate::era::modern::Entrance;
use crate::era::{Begun, Incoming, legacy, modern};
use crate::exchange::{Exchange, Step};
use crate::listen::Listening;
use crate::peer::{self, Peer};

/// How many messages one batch may hold.
pub(crate) const MOST_IN_BATCH: usize = 100;

/// Who is at the other end of a connection.
pub(crate) struct Who {
    pub(crate) principal: Arc<Principal>,
    /// What let it in, where that can be taken back.
    pub(crate) pass: Option<Pass>,
    pub(crate) transport: Transport,
    /// The named view that it sees.
    pub(crate) profile: Option<Arc<str>>,
    /// The client's process, where we know it.
    pub(crate) process: Option<u32>,
    /// From where on questions are numbered.
    pub(crate) first_question: u64,
    /// What it is told when we are the ones who end.
    pub(crate) farewell: Option<Bytes>,
}

impl Who {
    pub(crate) fn new(principal: Arc<Principal>, transport: Transport) -> Self {
        Self {
            principal,
            pass: None,
            transport,
            profile: None,
            process: None,
            first_question: 0,
            farewell: None,
        }
    }
}

/// One lasting two-way connection.
pub(crate) struct Connection {
    hub: Hub,
    peer: Arc<Peer>,
    pass: Option<Pass>,
    transport: Transport,
    tasks: Tasks,
    output: mpsc::Sender<Bytes>,
    most_requests: usize,
    under_way: AtomicUsize,
    announcing: AtomicBool,
}

impl Connection {
    /// A connection whose frames go to `output`; what it starts belongs to `tasks`.
    pub(crate) fn new(
        hub: Hub,
        who: Who,
        tasks: Tasks,
        output: mpsc::Sender<Bytes>,
        most_requests: usize,
    ) -> Arc<Self> {
        let Who { principal, pass, transport, profile, process, first_question, farewell: _ } = who;
        let peer = Arc::new(Peer::new(principal, profile, transport));
        peer.enter(&hub, process);
        peer.ask_from(first_question);
        let (under_way, announcing) = (AtomicUsize::new(0), AtomicBool::new(false));
        Arc::new(Self { hub, peer, pass, transport, tasks, output, most_requests, under_way, announcing })
    }

    pub(crate) async fn send(&self, frame: Bytes) {
        // When nobody reads any more there is nothing left to say.
        drop(self.output.send(frame).await);
    }

    /// Completes when nobody reads any more.
    pub(crate) async fn closed(&self) {
        self.output.closed().await;
    }

    /// Takes in what came on one line, or in one body.
    pub(crate) async fn take(self: &Arc<Self>, text: Bytes) {
        match toolgate_wire::parse(text) {
            Ok(Frame::One(Message::Request(request))) => {
                let this = self.clone();
                self.begin(async move { this.answer_on_output(request).await });
            }
            Ok(Frame::One(Message::Notification(notification))) => self.notified(&notification),
            Ok(Frame::One(Message::Response(response))) => self.peer.answered(response),
            Ok(Frame::Batch(batch)) => self.batch(batch).await,
            Err(refusal) => self.send(refused(&refusal)).await,
        }
    }

    /// What need not wait is done right here, in order; the rest goes on as a task.
    fn begin(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) {
        let mut work: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(work);
        if work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            self.tasks.spawn(work);
        }
    }

    async fn answer_on_output(self: Arc<Self>, request: Request) {
        let Answered { frame, counted: _until_sent } = self.answer(request, true).await;
        if let Some(frame) = frame {
            self.send(frame).await;
        }
    }

    /// Answers a request; what comes before the answer goes out at once where it may.
    async fn answer(&self, request: Request, streams: bool) -> Answered<'_> {
        let counted = Counted::new(&self.under_way, self.most_requests);
        if counted.is_none() {
            return Answered { frame: Some(too_many(&request, self.most_requests)), counted };
        }
        // Two under one id could not be told apart: not by the client, and not when it cancels one.
        if self.peer.is_running(&request.id) {
            let frame = write::error(Some(&request.id), code::INVALID_PARAMS, peer::IN_USE, None);
            return Answered { frame: Some(frame), counted };
        }
        let incoming = Incoming::new(request);
        let begun = if incoming.is_modern() {
            self.introduce(&incoming.about);
            let at = Entrance {
                principal: &self.peer.principal,
                pass: self.pass.as_ref(),
                profile: None,
                transport: self.transport,
                connection: self.peer.connection(),
                streams,
            };
            modern::begin(&self.hub, at, incoming, None).await
        } else {
            let delivery = Delivery { streams, lasting: true, pass: self.pass.as_ref() };
            legacy::begin(&self.hub, &self.peer, incoming, delivery).await
        };
        match begun {
            Begun::Answer(answer) => Answered { frame: Some(answer.frame), counted },
            Begun::Running(exchange) => Answered { frame: self.exchange(exchange, streams).await, counted },
            Begun::Listening(listening) => {
                // It has no end that the end of input should wait for.
                drop(counted);
                Answered { frame: self.listen(listening).await, counted: None }
            }
        }
    }

    /// A modern client says with every request what it is called; once is enough to remember it.
    fn introduce(&self, about: &RequestMeta) {
        let info = about.client_info.as_ref().filter(|_| !self.peer.is_named());
        if let Some(name) = info.and_then(|info| self.hub.client_name(info)) {
            self.peer.introduce(name);
        }
    }

    async fn exchange(&self, mut exchange: Box<Exchange>, streams: bool) -> Option<Bytes> {
        if let (Era::Modern, Some(run)) = (exchange.era, &exchange.run) {
            exchange.registered = Some(self.peer.began(&exchange.id, run.canceller()));
        }
        loop {
            match exchange.next().await {
                Step::Frame(frame) if streams => self.send(frame).await,
                Step::Frame(_) | Step::CloseStream => {}
                Step::Done(answer) => return Some(answer.frame),
                Step::Cancelled => return None,
            }
        }
    }

    async fn listen(&self, mut listening: Box<Listening>) -> Option<Bytes> {
        let cancelled = CancellationToken::new();
        let _registered = self.peer.began(listening.id(), cancelled.clone());
        let stopping = self.tasks.stopping();
        loop {
            let frame = tokio::select! {
                // Whoever does not listen any more wants to hear nothing, not even of the end.
                biased;
                () = cancelled.cancelled() => return None,
                () = stopping.cancelled() => None,
                frame = listening.next() => frame,
            };
            match frame {
                Some(frame) => self.send(frame).await,
                None => return Some(listening.farewell()),
            }
        }
    }

    fn notified(self: &Arc<Self>, notification: &Notification) {
        match &*notification.method {
            // Only a client on this machine has a say in its folders.
            method::ROOTS_LIST_CHANGED
                if matches!(self.transport, Transport::Stdio | Transport::Attached) =>
            {
                self.hub.roots_changed();
            }
            method::INITIALIZED if !self.announcing.swap(true, Ordering::AcqRel) => {
                let this = Arc::downgrade(self);
                let mut changes = self.hub.changes(&self.peer.principal);
                let stopping = self.tasks.stopping();
                self.tasks.spawn(stopping.run_until_cancelled_owned(async move {
                    while let Some(change) = changes.next().await {
                        let Some(this) = this.upgrade() else { return };
                        for frame in changes::legacy(&change, &this.peer) {
                            this.send(frame).await;
                        }
                    }
                }));
            }
            _ => self.peer.notified(&self.hub, notification),
        }
    }

    /// Batches belong to 2025-03-26; a client that never said its version may mean that one.
    async fn batch(self: &Arc<Self>, batch: Vec<Result<Message, Refusal>>) {
        if !self.peer.version().unwrap_or(Version::ASSUMED).has_batches() {
            let message = "batches are not part of the protocol version agreed on";
            return self.send(write::error(None, code::INVALID_REQUEST, message, None)).await;
        }
        if batch.len() > MOST_IN_BATCH {
            let message = format!("a batch may hold at most {MOST_IN_BATCH} messages");
            return self.send(write::error(None, code::INVALID_REQUEST, &message, None)).await;
        }
        let this = self.clone();
        self.begin(async move {
            let (mut answers, mut running) = (Vec::new(), Vec::new());
            for message in batch {
                match message {
                    Ok(Message::Request(request)) => running.push(this.answer(request, false)),
                    Ok(Message::Notification(notification)) => this.notified(&notification),
                    Ok(Message::Response(response)) => this.peer.answered(response),
                    Err(refusal) => answers.push(refused(&refusal)),
                }
            }
            let mut answered = join_all(running).await;
            answers.extend(answered.iter_mut().filter_map(|answered| answered.frame.take()));
            if let Some(frame) = write::batch(&answers) {
                this.send(frame).await;
            }
        });
    }

    /// Lets what is under way come to its end, for a while; then it is cancelled.
    pub(crate) async fn drain(&self, grace: Duration) {
        let ended = async {
            while self.under_way.load(Ordering::Acquire) > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        if tokio::time::timeout(grace, ended).await.is_err() {
            self.peer.cancel_all();
        }
    }
}

fn refused(refusal: &Refusal) -> Bytes {
    write::error(refusal.id.as_ref(), refusal.code, &refusal.message, None)
}

fn too_many(request: &Request, most: usize) -> Bytes {
    let message = format!("{most} requests are under way on this connection; wait for some of them");
    write::error(Some(&request.id), code::RATE_LIMITED, &message, None)
}

/// The answer to a request, if it has one. It counts as under way until it is sent: what waits for room on the
/// way out must not be lost when the input ends.
struct Answered<'a> {
    frame: Option<Bytes>,
    counted: Option<Counted<'a>>,
}

/// One of the requests under way, for as long as it lives.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize, most: usize) -> Option<Self> {
        let this = (count.fetch_add(1, Ordering::AcqRel) < most).then_some(Self(count));
        if this.is_none() {
            count.fetch_sub(1, Ordering::AcqRel);
        }
        this
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

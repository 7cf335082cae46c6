//! Answers as streams of events: directly to the client, or by way of a session's log.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use toolgate_core::Pass;
use toolgate_wire::sse::{Event, KEEP_ALIVE, encode};

use super::Shared;
use super::body::{Reply, events};
use super::log::EventLog;
use super::session::Session;
use crate::exchange::{Exchange, Step};
use crate::listen::Listening;

/// How many events may wait for a slow client before the call has to.
const WAITING: usize = 16;

/// How often an idle stream shows that it is alive.
pub(super) const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// One frame as a whole stream.
pub(crate) fn single(frame: Bytes) -> Reply {
    let (pieces, body) = mpsc::channel(1);
    // There is room for one.
    drop(pieces.try_send(event(frame)));
    events(body)
}

/// The events of a call, to this client only; when it goes away, or its pass does, the call is cancelled.
pub(crate) fn direct(shared: &Shared, mut exchange: Box<Exchange>, first: Option<Step>, pass: Pass) -> Reply {
    let (pieces, body) = mpsc::channel(WAITING);
    exchange.hand_over();
    shared.hub.tasks().spawn(async move {
        let mut step = first;
        loop {
            let sent = match step.take() {
                Some(Step::Frame(frame)) => pieces.send(event(frame)).await,
                Some(Step::Done(answer)) => {
                    // Nobody is there to miss it.
                    drop(pieces.send(event(answer.frame)).await);
                    return;
                }
                Some(Step::Cancelled) => return,
                Some(Step::CloseStream) | None => Ok(()),
            };
            if sent.is_err() {
                return;
            }
            step = tokio::select! {
                step = exchange.next() => Some(step),
                () = pieces.closed() => return,
                () = pass.revoked() => return,
                () = tokio::time::sleep(KEEP_ALIVE_EVERY) => {
                    if pieces.send(Bytes::from_static(KEEP_ALIVE)).await.is_err() {
                        return;
                    }
                    None
                }
            };
        }
    });
    events(body)
}

/// The events of a call into the session's log: the call goes on when the client goes away, and the client can
/// come back for what it missed.
pub(crate) fn logged(
    shared: &Arc<Shared>,
    session: &Arc<Session>,
    mut exchange: Box<Exchange>,
    first: Option<Step>,
    pass: Pass,
) -> Reply {
    let log = session.open_log();
    exchange.hand_over();
    let reply = read(shared, log.clone(), 0, async move { pass.revoked().await });
    shared.hub.tasks().spawn(async move {
        let mut step = first;
        loop {
            match step.take() {
                Some(Step::Frame(frame)) => log.push(frame).await,
                Some(Step::CloseStream) => log.hang_up(),
                Some(Step::Done(answer)) => {
                    log.push(answer.frame).await;
                    return log.end();
                }
                Some(Step::Cancelled) => return log.end(),
                None => {}
            }
            step = Some(exchange.next().await);
        }
    });
    reply
}

/// What a log holds from an event on, and what follows, for as long as the pass holds that it was opened with.
pub(crate) fn standing(shared: &Shared, log: Arc<EventLog>, from: u64, pass: &Pass) -> Reply {
    let pass = pass.clone();
    read(shared, log, from, async move { pass.over().await })
}

/// What a log holds from an event on, and what follows. When the server stops, the session's own stream ends at
/// once, and that of a call when the call does.
fn read(
    shared: &Shared,
    log: Arc<EventLog>,
    from: u64,
    over: impl Future<Output = ()> + Send + 'static,
) -> Reply {
    let (pieces, body) = mpsc::channel(WAITING);
    let mut reader = log.reader(from);
    shared.hub.tasks().spawn(async move {
        let mut over = std::pin::pin!(over);
        loop {
            let piece = tokio::select! {
                piece = reader.next() => match piece {
                    Some(piece) => piece,
                    None => return,
                },
                () = pieces.closed() => return,
                () = &mut over => return,
                () = tokio::time::sleep(KEEP_ALIVE_EVERY) => Bytes::from_static(KEEP_ALIVE),
            };
            if pieces.send(piece).await.is_err() {
                return;
            }
        }
    });
    events(body)
}

/// What changes, for a modern client that listens.
pub(crate) fn listening(shared: &Shared, mut listening: Box<Listening>, pass: Pass) -> Reply {
    let (pieces, body) = mpsc::channel(WAITING);
    let stopping = shared.stopping.clone();
    shared.hub.tasks().spawn(async move {
        loop {
            let piece = tokio::select! {
                frame = listening.next() => frame.map(event),
                () = pieces.closed() => return,
                () = stopping.cancelled() => None,
                () = pass.over() => None,
                () = tokio::time::sleep(KEEP_ALIVE_EVERY) => Some(Bytes::from_static(KEEP_ALIVE)),
            };
            let last = piece.is_none();
            let piece = piece.unwrap_or_else(|| event(listening.farewell()));
            if pieces.send(piece).await.is_err() || last {
                return;
            }
        }
    });
    events(body)
}

/// A frame as an event without an id.
pub(super) fn event(frame: Bytes) -> Bytes {
    let mut piece = Vec::with_capacity(frame.len() + 16);
    // A frame with line breaks would become several lines of data, which not every client joins again.
    encode(&Event::of(toolgate_wire::write::one_line(frame)), &mut piece);
    piece.into()
}

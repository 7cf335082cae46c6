//! The transport of 2024-11-05: a stream of events at `/sse`, and messages posted beside it.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use tokio::sync::mpsc;
use toolgate_core::{Pass, Principal, Transport};
use toolgate_wire::sse::{Event, KEEP_ALIVE, encode};

use super::body::{Reply, empty, events, text};
use super::session::random_id;
use super::stream::{KEEP_ALIVE_EVERY, event};
use super::{DRAIN_TIME, Shared};
use crate::connection::{Connection, Who};

/// How many frames may wait for a slow client.
const WAITING: usize = 64;

/// How many requests one client may have under way.
const MOST_REQUESTS: usize = 256;

/// The clients that are connected, by id, and who they are.
#[derive(Default)]
pub(crate) struct Connections {
    all: Mutex<Table>,
}

type Table = HashMap<String, (Arc<Principal>, Arc<Connection>)>;

impl Connections {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `GET /sse`: opens the stream; its first event says where to post messages.
pub(crate) fn open(shared: &Arc<Shared>, pass: Pass) -> Reply {
    let id = match random_id() {
        Ok(id) => id,
        Err(refused) => return *refused,
    };
    let (frames, mut waiting) = mpsc::channel::<Bytes>(WAITING);
    let (pieces, body) = mpsc::channel::<Bytes>(WAITING);
    let tasks = shared.hub.tasks().child();
    let who = Who { pass: Some(pass.clone()), ..Who::new(pass.principal.clone(), Transport::Sse) };
    let connection = Connection::new(shared.hub.clone(), who, tasks.clone(), frames, MOST_REQUESTS);
    shared.old.lock().insert(id.clone(), (pass.principal.clone(), connection.clone()));
    let mut hello = Vec::new();
    let place = Bytes::from(format!("/messages?sessionId={id}"));
    encode(&Event { id: None, event: Some("endpoint".into()), data: place, retry: None }, &mut hello);
    // There is room for it.
    drop(pieces.try_send(hello.into()));
    let shared = shared.clone();
    shared.clone().hub.tasks().spawn(async move {
        let mut ending = pin!(async {
            shared.stopping.cancelled().await;
            connection.drain(DRAIN_TIME / 2).await;
        });
        loop {
            let piece = tokio::select! {
                biased;
                frame = waiting.recv() => match frame {
                    Some(frame) => event(frame),
                    None => break,
                },
                () = pieces.closed() => break,
                // All that was answered is sent by now: it comes first.
                () = &mut ending => break,
                () = pass.over() => break,
                () = tokio::time::sleep(KEEP_ALIVE_EVERY) => Bytes::from_static(KEEP_ALIVE),
            };
            if pieces.send(piece).await.is_err() {
                break;
            }
        }
        shared.old.lock().remove(&id);
        connection.drain(Duration::ZERO).await;
        tasks.shutdown(Duration::from_millis(100)).await;
    });
    events(body)
}

/// `POST /messages?sessionId=…`: takes a message; its answer comes on the stream.
pub(crate) async fn message(shared: &Shared, query: &str, principal: &Principal, body: Bytes) -> Reply {
    let id = query.split('&').find_map(|pair| pair.strip_prefix("sessionId="));
    let found = id.and_then(|id| shared.old.lock().get(id).cloned());
    let Some((_, connection)) = found.filter(|(owner, _)| **owner == *principal) else {
        return text(StatusCode::NOT_FOUND, "no such connection; open one with `GET /sse`\n");
    };
    connection.take(body).await;
    empty(StatusCode::ACCEPTED)
}

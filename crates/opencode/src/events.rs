//! What happens in OpenCode, told as it happens; after a gap listeners are told that there was one.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use toolgate_core::Result;
use toolgate_host::Tasks;
use toolgate_wire::sse::Decoder;

use crate::client::Client;

/// How many events may wait for a slow listener; one that misses some looks at the whole again.
const WAITING: usize = 1024;

/// The largest event that is read.
const MOST_BYTES: usize = 16 << 20;

/// The server says something every ten seconds; silence means that the way is broken.
const SILENCE: Duration = Duration::from_secs(35);

/// How long to wait before listening again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    /// OpenCode said so.
    Said {
        /// Its type, such as `session.idle`.
        kind: String,
        /// Its properties.
        properties: Value,
    },
    /// Some events may have been missed.
    Gap,
}

/// The events of one server.
pub(crate) struct Events {
    sender: broadcast::Sender<Arc<Event>>,
    open: watch::Receiver<bool>,
}

/// Someone who listens to the events of one server.
pub(crate) struct Listener(broadcast::Receiver<Arc<Event>>);

impl Events {
    /// Listens until `over`.
    pub(crate) fn listen(client: Client, tasks: &Tasks, over: CancellationToken) -> Self {
        let (sender, _) = broadcast::channel(WAITING);
        let (opened, open) = watch::channel(false);
        let (told, stop) = (sender.clone(), tasks.stopping());
        tasks.spawn(async move {
            tokio::select! {
                () = over.cancelled() => {}
                () = stop.cancelled() => {}
                () = follow(&client, &told, &opened) => {}
            }
        });
        Self { sender, open }
    }

    /// Joins the listeners, once the stream is open or after a while without one.
    pub(crate) async fn subscribe(&self, patience: Duration) -> Listener {
        let listener = Listener(self.sender.subscribe());
        let mut open = self.open.clone();
        // Without the stream a turn still goes on: it looks from time to time.
        drop(tokio::time::timeout(patience, open.wait_for(|open| *open)).await);
        listener
    }
}

impl Listener {
    /// The next event; none once there will be no more.
    pub(crate) async fn next(&mut self) -> Option<Arc<Event>> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Arc::new(Event::Gap)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// Reads the stream, again and again.
async fn follow(client: &Client, told: &broadcast::Sender<Arc<Event>>, open: &watch::Sender<bool>) {
    let mut pause = PAUSES.0;
    loop {
        match read(client, told, open).await {
            Ok(()) => pause = PAUSES.0,
            Err(error) => {
                tracing::debug!(%error, "the events of OpenCode are interrupted");
                pause = pause.saturating_mul(2).min(PAUSES.1);
            }
        }
        open.send_replace(false);
        tokio::time::sleep(pause).await;
    }
}

/// Reads the stream until it ends.
async fn read(
    client: &Client,
    told: &broadcast::Sender<Arc<Event>>,
    open: &watch::Sender<bool>,
) -> Result<()> {
    let mut stream = client.open_events().await?;
    let mut decoder = Decoder::new(MOST_BYTES);
    open.send_replace(true);
    // Whoever listened before the stream broke has missed what was said meanwhile.
    drop(told.send(Arc::new(Event::Gap)));
    while let Ok(Ok(Some(piece))) = tokio::time::timeout(SILENCE, stream.chunk()).await {
        for event in completed(&mut decoder, &piece, |data| client.hide(data)) {
            drop(told.send(Arc::new(event)));
        }
    }
    Ok(())
}

/// The events that a piece of the stream completes.
fn completed(decoder: &mut Decoder, piece: &[u8], hide: impl Fn(Bytes) -> Bytes) -> Vec<Event> {
    decoder.push(piece);
    let read = |data| parse(&hide(data));
    // What cannot be read may have been important.
    decoder
        .by_ref()
        .map(|event| event.ok().and_then(|event| read(event.data)).unwrap_or(Event::Gap))
        .collect()
}

/// Reads an event: on this stream it is wrapped together with its project.
fn parse(data: &[u8]) -> Option<Event> {
    let mut value: Value = serde_json::from_slice(data).ok()?;
    let event = if value["payload"].is_object() { value["payload"].take() } else { value };
    let kind = event["type"].as_str()?.to_owned();
    Some(Event::Said { kind, properties: event["properties"].clone() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const STREAM: &str = concat!(
        ": hello\n\n",
        "data: {\"payload\":{\"type\":\"a\",\"properties\":{\"x\":\"\u{e4}\"}}}\n\n",
        "data: not json\r\n\r\n",
        "data: {\"payload\":{\"type\":7}}\n\n",
        "event: odd\nid: 1\ndata: {\"type\":\"b\"}\n\n",
    );

    fn read(pieces: &[&[u8]]) -> Vec<Event> {
        let mut decoder = Decoder::new(MOST_BYTES);
        pieces.iter().flat_map(|piece| completed(&mut decoder, piece, |data| data)).collect()
    }

    #[test]
    fn a_stream_that_is_cut_anywhere_tells_what_came_whole_and_goes_on() {
        let said = |kind: &str, properties| Event::Said { kind: kind.into(), properties };
        let all = [said("a", json!({"x": "\u{e4}"})), Event::Gap, Event::Gap, said("b", Value::Null)];
        for place in 0..=STREAM.len() {
            let (before, behind) = STREAM.as_bytes().split_at(place);
            let first = read(&[before]);
            assert_eq!(first, all[..first.len()], "cut at {place}");
            assert_eq!(read(&[before, behind]), all, "in two pieces at {place}");
        }
    }
}

//! HTTP with server-sent events, as the first revision had it: one stream for all answers, a request each for the rest.

use std::time::Duration;

use bytes::Bytes;
use reqwest::Response;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use tokio::sync::oneshot;
use toolgate_host::Tasks;
use toolgate_wire::sse::Decoder;
use url::Url;

use super::http::{Client, header_map, is_message, kind, reason};
use super::queue::Ear;
use super::{Heard, Lost, MESSAGE_LIMIT};
use crate::subject::Address;

/// How long a message may take to be accepted.
const ACCEPTED: Duration = Duration::from_secs(30);

/// A server that is reached by HTTP with server-sent events.
pub(super) struct OldSse {
    client: Client,
    endpoint: Url,
    headers: HeaderMap,
    /// Dropping it ends the stream.
    keep: oneshot::Sender<()>,
}

/// Opens the stream, and waits until the server has said where messages go.
pub(super) async fn connect(
    address: &Address,
    client: &Client,
    heard: Ear,
    tasks: &Tasks,
) -> Result<OldSse, Lost> {
    let headers = header_map(&address.headers);
    let request = client.get(address.url.clone()).headers(headers.clone());
    let response = request.header(ACCEPT, "text/event-stream").send().await;
    let response = response.map_err(|error| Lost::Gone(reason(&error)))?;
    if !response.status().is_success() || kind(&response) != "text/event-stream" {
        return Err(Lost::Status(response.status().as_u16()));
    }
    let (told, endpoint) = oneshot::channel();
    let (keep, dropped) = oneshot::channel();
    tasks.spawn(async move {
        tokio::select! {
            () = read(response, &heard, told) => {}
            _ = dropped => {}
        }
        // Nobody may listen any more.
        drop(heard.send(Heard::Closed("its stream ended".into())).await);
    });
    let said = endpoint.await.map_err(|_| Lost::Gone("a stream that names no endpoint".into()))?;
    let endpoint = address.url.join(&said).ok().filter(|url| url.origin() == address.url.origin());
    let endpoint = endpoint.ok_or_else(|| Lost::Gone("an endpoint at another server".into()))?;
    Ok(OldSse { client: client.clone(), endpoint, headers, keep })
}

async fn read(mut response: Response, heard: &Ear, told: oneshot::Sender<String>) {
    let mut decoder = Decoder::new(MESSAGE_LIMIT);
    let mut told = Some(told);
    while let Ok(Some(piece)) = response.chunk().await {
        decoder.push(&piece);
        for event in &mut decoder {
            let heard_of = match event {
                Ok(event) if event.event.as_deref() == Some("endpoint") => {
                    let text = String::from_utf8_lossy(&event.data).into_owned();
                    drop(told.take().map(|told| told.send(text)));
                    continue;
                }
                Ok(event) if event.data.is_empty() || !is_message(&event) => continue,
                Ok(event) => Heard::Text(event.data, None),
                Err(too_large) => Heard::TooLarge(too_large.limit),
            };
            if heard.send(heard_of).await.is_err() {
                return;
            }
        }
    }
}

impl OldSse {
    pub(super) async fn post(&self, frame: Bytes) -> Result<(), Lost> {
        let request = self.client.post(self.endpoint.clone()).headers(self.headers.clone());
        let request = request.header(CONTENT_TYPE, "application/json").timeout(ACCEPTED);
        let response = request.body(frame).send().await.map_err(|error| Lost::Gone(reason(&error)))?;
        if response.status().is_success() { Ok(()) } else { Err(Lost::Status(response.status().as_u16())) }
    }

    pub(super) fn stop(self) {
        drop(self.keep);
    }
}

//! HTTP with server-sent events, as the first revision had it: one stream for all answers, a request each for the rest.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, StatusCode};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use toolgate_host::Tasks;
use toolgate_wire::sse::Decoder;
use url::Url;

use super::answer::Answer;
use super::http::is_message;
use super::signed::{self, Way};
use super::{MESSAGE_LIMIT, Sending, Sent, Transport};
use crate::desk::{Desk, Out, Reports};
use crate::fault::Fault;
use crate::link::{Declared, Wire};
use crate::oauth::{Bearer, joined};

const QUEUE: usize = 256;

/// A server that is reached by HTTP with server-sent events.
pub(crate) struct OldSse(Arc<Inner>);

struct Inner {
    client: Client,
    /// Where messages are sent to, as the server said.
    endpoint: Url,
    bearer: Option<Bearer>,
    headers: HeaderMap,
    stop: CancellationToken,
}

/// Opens the stream, and waits until the server has said where messages go.
pub(crate) async fn connect(
    way: Way<'_>,
    declared: Declared,
    reports: &Reports,
    tasks: Tasks,
) -> Result<Wire, Fault> {
    let Way { plan, client, bearer, .. } = way;
    let request = || {
        let request = client.get(plan.url.clone()).headers(plan.headers.clone());
        Ok(request.header(ACCEPT, "text/event-stream"))
    };
    let response = signed::send(bearer.as_ref(), request).await.map_err(|fault| {
        // Nothing was asked for yet.
        if let Fault::Gone(why) = fault { Fault::NotSent(why) } else { fault }
    })?;
    match response.status() {
        StatusCode::UNAUTHORIZED => return Err(Fault::Unauthorized(joined(response.headers()))),
        status if !status.is_success() => return Err(Fault::Status(status.as_u16())),
        _ => {}
    }
    let (queue, outgoing) = mpsc::channel(QUEUE);
    let desk = Desk::new(queue, declared, reports);
    let stop = CancellationToken::new();
    // Who gives up waiting for the endpoint ends the stream too.
    let given_up = stop.clone().drop_guard();
    let (told, endpoint) = oneshot::channel();
    let (reader, stopped) = (desk.clone(), stop.clone());
    tasks.spawn(async move {
        stopped.run_until_cancelled(read(response, &reader, told)).await;
        reader.close("its stream ended");
    });
    let said = endpoint.await.map_err(|_| Fault::Unusable("a stream without an endpoint".into()));
    let joined = said.and_then(|text| {
        let url = plan.url.join(&text).ok().filter(|url| url.origin() == plan.url.origin());
        url.ok_or_else(|| Fault::Unusable("an endpoint at another server".into()))
    });
    let endpoint = joined?;
    given_up.disarm();
    let inner = Arc::new(Inner { client, endpoint, bearer, headers: plan.headers.clone(), stop });
    tasks.spawn(post_all(inner.clone(), outgoing, desk.clone()));
    Ok(Wire::new(desk, Transport::Sse(OldSse(inner)), tasks))
}

async fn post_all(inner: Arc<Inner>, mut outgoing: mpsc::Receiver<Out>, desk: Arc<Desk>) {
    while let Some(Some(out)) = inner.stop.run_until_cancelled(outgoing.recv()).await {
        if let Some(Err(fault)) = inner.stop.run_until_cancelled(inner.post(out.leave())).await {
            desk.journal.note("does not take what it is sent", &fault.words());
        }
    }
}

async fn read(mut response: Answer, desk: &Desk, told: oneshot::Sender<String>) {
    let mut decoder = Decoder::new(MESSAGE_LIMIT);
    let (mut told, mut over) = (Some(told), false);
    while let Ok(Some(piece)) = response.chunk().await {
        decoder.push(&piece);
        for event in &mut decoder {
            match event {
                Ok(event) if event.event.as_deref() == Some("endpoint") => {
                    let text = String::from_utf8_lossy(&event.data).into_owned();
                    // Only the first one counts, and who waited for it may have given up.
                    drop(told.take().map(|told| told.send(text)));
                }
                Ok(event) if event.data.is_empty() || !is_message(&event) => {}
                Ok(event) => desk.take(event.data, None),
                // What was too large was told already.
                Err(_) if std::mem::take(&mut over) => {}
                Err(_) => desk.too_large(None),
            }
        }
        if decoder.is_over() && !over {
            // Its end may never come.
            over = true;
            desk.too_large(None);
        }
    }
}

impl OldSse {
    pub(super) async fn send(&self, sending: Sending<'_>) -> Result<Sent, Fault> {
        sending.left.store(true, Ordering::Release);
        let sent = self.0.post(sending.frame).await;
        if matches!(sent, Err(Fault::NotSent(_) | Fault::NoToken(_))) {
            sending.left.store(false, Ordering::Release);
        }
        sent.map(|()| Sent::UnderWay)
    }

    pub(super) async fn notify(&self, frame: Bytes) -> Result<(), Fault> {
        self.0.post(frame).await
    }

    pub(super) fn stop(&self) {
        self.0.stop.cancel();
    }
}

impl Inner {
    async fn post(&self, frame: Bytes) -> Result<(), Fault> {
        let request = || {
            let request = self.client.post(self.endpoint.clone()).headers(self.headers.clone());
            let request = request.header(CONTENT_TYPE, "application/json").body(frame.clone());
            Ok(request.timeout(Duration::from_secs(30)))
        };
        let response = signed::send(self.bearer.as_ref(), request).await?;
        match response.status() {
            status if status.is_success() => Ok(()),
            StatusCode::UNAUTHORIZED => Err(Fault::Unauthorized(joined(response.headers()))),
            StatusCode::NOT_FOUND => Err(Fault::SessionGone),
            status => Err(Fault::Status(status.as_u16())),
        }
    }
}

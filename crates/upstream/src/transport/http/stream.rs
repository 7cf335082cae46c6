//! Streams of messages: the answer to a request, and what a legacy server says by itself.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{ACCEPT, HeaderValue};
use tokio::sync::oneshot;
use toolgate_wire::headers;
use toolgate_wire::sse::{Decoder, Event};

use super::{Inner, is};
use crate::fault::Fault;
use crate::transport::answer::Answer;
use crate::transport::{MESSAGE_LIMIT, Sent};

/// How many times a stream is resumed that brings nothing.
const RESUMES: usize = 5;

/// How long to wait before a stream is opened again: what the server says, within these.
const SOONEST: Duration = Duration::from_millis(10);
const USUAL: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(30);

/// How long the rest of a stream is read behind its answer, so that its connection can be used again.
const REST: Duration = Duration::from_secs(1);

/// Reads the stream that answers a request. A legacy stream that ends early is resumed where it broke off.
pub(super) async fn read(inner: &Inner, first: Answer, id: u64) -> Result<Sent, Fault> {
    let (mut response, mut fruitless) = (first, 0);
    let mut last_id = String::new();
    loop {
        let mut decoder = Decoder::new(MESSAGE_LIMIT);
        let mut events = 0;
        let broken = loop {
            match response.chunk().await {
                Ok(Some(piece)) => decoder.push(&piece),
                Ok(None) => break None,
                Err(why) => break Some(why),
            }
            events += hand_over(inner, &mut decoder, Some(id));
            if decoder.is_over() {
                // Its end may never come.
                inner.desk.too_large(Some(id));
            }
            if !inner.desk.waits(id) {
                inner.tasks.spawn(async move { drop(tokio::time::timeout(REST, rest(response)).await) });
                return Ok(Sent::Over);
            }
        };
        if !decoder.last_id().is_empty() {
            decoder.last_id().clone_into(&mut last_id);
        }
        fruitless = if events > 0 { 0 } else { fruitless + 1 };
        if last_id.is_empty() || fruitless > RESUMES {
            return Err(Fault::Gone(
                broken.unwrap_or_else(|| "it ended its answer before the result".into()),
            ));
        }
        tokio::time::sleep(pause(&decoder)).await;
        // The server has the request: a session that is gone by now, or a server that is, does not undo that.
        let resumed = open(inner, Some(&last_id)).await.map_err(Fault::begun)?;
        response = resumed.ok_or_else(|| Fault::Gone("it does not let a stream be resumed".into()))?;
    }
}

async fn rest(mut response: Answer) {
    while let Ok(Some(_)) = response.chunk().await {}
}

/// Hands complete events over; says how many there were.
fn hand_over(inner: &Inner, decoder: &mut Decoder, on: Option<u64>) -> usize {
    let mut count = 0;
    for event in decoder {
        count += 1;
        match event {
            // Events without data only set the place to resume from.
            Ok(event) if event.data.is_empty() || !is_message(&event) => {}
            Ok(event) => inner.desk.take(event.data, on),
            Err(_) => inner.desk.too_large(on),
        }
    }
    count
}

/// Whether an event holds a message; servers send others to keep a stream alive.
pub(crate) fn is_message(event: &Event) -> bool {
    event.event.as_deref().is_none_or(|kind| kind == "message")
}

fn pause(decoder: &Decoder) -> Duration {
    decoder.retry().map_or(USUAL, Duration::from_millis).clamp(SOONEST, LATEST)
}

/// Opens a stream by GET; none where the server has no such thing.
async fn open(inner: &Inner, last_id: Option<&str>) -> Result<Option<Answer>, Fault> {
    let mut sent = inner.own_headers(inner.headers.clone());
    sent.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    if let Some(last_id) = last_id {
        let last_id = HeaderValue::from_str(last_id);
        sent.insert(
            headers::LAST_EVENT_ID,
            last_id.map_err(|_| Fault::NotSent("it named an event badly".into()))?,
        );
    }
    let request = || Ok(inner.client.get(inner.url.clone()).headers(sent.clone()));
    let response = inner.dispatch(request).await?;
    match response.status() {
        status if status.is_success() && is(&response, "text/event-stream") => Ok(Some(response)),
        StatusCode::NOT_FOUND if inner.has_session() => Err(Fault::SessionGone),
        StatusCode::UNAUTHORIZED => Err(Fault::Unauthorized(None)),
        _ => Ok(None),
    }
}

/// Listens to what a legacy server says by itself, for as long as it lets us; `opened` learns of the first answer.
pub(super) async fn listen(inner: &Inner, opened: oneshot::Sender<()>) {
    let (mut last_id, mut wait, mut opened) = (None::<String>, USUAL, Some(opened));
    loop {
        let answer = open(inner, last_id.as_deref()).await;
        // Dropping it says that the server has answered.
        drop(opened.take());
        match answer {
            Ok(None) => return,
            Err(Fault::SessionGone) => return inner.desk.retire("it ended its session"),
            Err(_) => wait = (wait * 2).min(LATEST),
            Ok(Some(mut response)) => {
                let mut decoder = Decoder::new(MESSAGE_LIMIT);
                while let Ok(Some(piece)) = response.chunk().await {
                    decoder.push(&piece);
                    hand_over(inner, &mut decoder, None);
                    if decoder.is_over() {
                        inner.desk.too_large(None);
                        break;
                    }
                }
                wait = pause(&decoder);
                last_id = Some(decoder.last_id().to_owned()).filter(|id| !id.is_empty()).or(last_id);
            }
        }
        tokio::time::sleep(wait).await;
    }
}

//! Streams of messages: the answer to a request, and what a legacy server says by itself.

mod again;

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{ACCEPT, HeaderValue};
use tokio::sync::oneshot;
use tokio::time::Instant;
use toolgate_wire::headers;
use toolgate_wire::sse::{Decoder, Event};

use super::{Inner, is};
use crate::fault::Fault;
use crate::transport::answer::Answer;
use crate::transport::{MESSAGE_LIMIT, Sent};
use again::{Again, Brought};

/// How many times a stream is resumed that brings nothing, and how many times it is tried to.
const RESUMES: usize = 5;

/// How many times a server may refuse to be listened to before it is taken for one that has no stream of its own.
const REFUSALS: usize = 5;

/// How long the rest of a stream is read behind its answer, so that its connection can be used again.
const REST: Duration = Duration::from_secs(1);

/// Reads the stream that answers a request. A legacy stream that ends early is resumed where it broke off.
pub(super) async fn read(inner: &Inner, first: Answer, id: u64) -> Result<Sent, Fault> {
    let (mut response, mut fruitless) = (first, 0);
    let (mut last_id, mut again) = (None, Again::default());
    loop {
        let mut decoder = Decoder::new(MESSAGE_LIMIT);
        let (begun, mut brought) = (Instant::now(), Brought::default());
        let broken = loop {
            match response.chunk().await {
                Ok(Some(piece)) => decoder.push(&piece),
                Ok(None) => break None,
                Err(why) => break Some(why),
            }
            hand_over(inner, &mut decoder, Some(id), &mut brought);
            if decoder.is_over() {
                // Its end may never come.
                inner.desk.too_large(Some(id));
            }
            if !inner.desk.waits(id) {
                inner.tasks.spawn(async move { drop(tokio::time::timeout(REST, rest(response)).await) });
                return Ok(Sent::Over);
            }
        };
        last_id = place(&decoder).or(last_id);
        fruitless = if brought.events > 0 { 0 } else { fruitless + 1 };
        let Some(last_id) = last_id.as_ref().filter(|_| fruitless <= RESUMES) else {
            return Err(Fault::Gone(
                broken.unwrap_or_else(|| "it ended its answer before the result".into()),
            ));
        };
        tokio::time::sleep(again.ended(&decoder, &brought, begun)).await;
        response = resume(inner, last_id, &mut again).await?;
    }
}

/// Opens a stream again where it broke off. What is in front of the server may be away for a moment while the server
/// is still at it.
async fn resume(inner: &Inner, last_id: &HeaderValue, again: &mut Again) -> Result<Answer, Fault> {
    for _ in 1..RESUMES {
        match open(inner, Some(last_id)).await {
            Err(fault) if may_pass(&fault) => tokio::time::sleep(again.failed()).await,
            opened => return resumed(opened),
        }
    }
    resumed(open(inner, Some(last_id)).await)
}

/// The server has the request: a session that is gone by now, or a server that is, does not undo that.
fn resumed(opened: Result<Option<Answer>, Fault>) -> Result<Answer, Fault> {
    match opened {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(Fault::Gone("it does not let a stream be resumed".into())),
        Err(fault @ Fault::Status(_)) => Err(Fault::Gone(fault.words())),
        Err(fault) => Err(fault.begun()),
    }
}

async fn rest(mut response: Answer) {
    while let Ok(Some(_)) = response.chunk().await {}
}

/// Hands complete events over, and counts them.
fn hand_over(inner: &Inner, decoder: &mut Decoder, on: Option<u64>, brought: &mut Brought) {
    for event in decoder {
        brought.events += 1;
        match event {
            // Events without data only set the place to resume from.
            Ok(event) if event.data.is_empty() || !is_message(&event) => {}
            Ok(event) => {
                brought.messages += 1;
                inner.desk.take(event.data, on);
            }
            Err(_) => inner.desk.too_large(on),
        }
    }
}

/// Whether an event holds a message; servers send others to keep a stream alive.
pub(crate) fn is_message(event: &Event) -> bool {
    event.event.as_deref().is_none_or(|kind| kind == "message")
}

/// Where a stream can be resumed, if it says so in a way that can be said back.
fn place(decoder: &Decoder) -> Option<HeaderValue> {
    let id = decoder.last_id();
    HeaderValue::from_bytes(id.as_bytes()).ok().filter(|_| !id.is_empty())
}

/// Opens a stream by GET; none where the server has no such thing.
async fn open(inner: &Inner, last_id: Option<&HeaderValue>) -> Result<Option<Answer>, Fault> {
    let mut sent = inner.own_headers(inner.headers.clone());
    sent.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    if let Some(last_id) = last_id {
        sent.insert(headers::LAST_EVENT_ID, last_id.clone());
    }
    let request = || Ok(inner.client.get(inner.url.clone()).headers(sent.clone()));
    let response = inner.dispatch(request).await?;
    match response.status() {
        status if status.is_success() => Ok(Some(response).filter(|answer| is(answer, "text/event-stream"))),
        StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => Ok(None),
        StatusCode::NOT_FOUND if !inner.has_session() => Ok(None),
        _ => Err(inner.refusal(response, None).await.err().unwrap_or(Fault::SessionGone)),
    }
}

/// Whether a stream that cannot be opened may be opened soon: whoever is in front of a server says such things while
/// the server is started anew.
fn may_pass(fault: &Fault) -> bool {
    match fault {
        Fault::NotSent(_) | Fault::NoToken(_) | Fault::Gone(_) => true,
        Fault::Status(403 | 408 | 425 | 429 | 500..) => true,
        Fault::Status(_) | Fault::SessionGone | Fault::Late(_) | Fault::Refused(_) | Fault::Unusable(_) => {
            false
        }
        Fault::Unauthorized(_) | Fault::Scope(_) => false,
    }
}

/// Whether it is said of the request, and not of the moment: a server that has no such stream may say so in many ways,
/// also as if it did not know the session.
fn is_refusal(fault: &Fault) -> bool {
    match fault {
        Fault::Status(408 | 425 | 429) => false,
        Fault::SessionGone | Fault::Status(400..=499) => true,
        Fault::Status(_) | Fault::NotSent(_) | Fault::NoToken(_) | Fault::Gone(_) | Fault::Late(_) => false,
        Fault::Refused(_) | Fault::Unusable(_) | Fault::Unauthorized(_) | Fault::Scope(_) => false,
    }
}

/// Listens to what a legacy server says by itself, for as long as it lets us; `opened` learns of the first answer.
pub(super) async fn listen(inner: &Inner, opened: oneshot::Sender<()>) {
    let (mut last_id, mut again, mut opened) = (None, Again::default(), Some(opened));
    let (mut was_open, mut refusals) = (false, 0);
    loop {
        let answer = open(inner, last_id.as_ref()).await;
        // Dropping it says that the server has answered.
        drop(opened.take());
        let wait = match answer {
            Ok(None) => return,
            Err(fault) if !was_open && is_refusal(&fault) => {
                refusals += 1;
                if refusals == REFUSALS {
                    return;
                }
                again.failed()
            }
            Err(Fault::SessionGone) => return inner.desk.retire("it ended its session"),
            Err(fault) => {
                if matches!(fault, Fault::Status(_)) {
                    inner.desk.journal.note("does not let us listen to it", &fault.words());
                    // It may be the place that it does not know any more.
                    last_id = last_id.filter(|_| may_pass(&fault));
                }
                again.failed()
            }
            Ok(Some(response)) => {
                was_open = true;
                let mut decoder = Decoder::new(MESSAGE_LIMIT);
                let (begun, brought) = (Instant::now(), hear(inner, response, &mut decoder).await);
                last_id = place(&decoder).or(last_id);
                let wait = again.ended(&decoder, &brought, begun);
                if again.is_in_vain() {
                    inner.desk.journal.note("ends its stream again and again", "it is opened less often");
                }
                wait
            }
        };
        tokio::time::sleep(wait).await;
    }
}

/// Hears a server out that speaks by itself.
async fn hear(inner: &Inner, mut response: Answer, decoder: &mut Decoder) -> Brought {
    let mut brought = Brought::default();
    while let Ok(Some(piece)) = response.chunk().await {
        decoder.push(&piece);
        hand_over(inner, decoder, None, &mut brought);
        if decoder.is_over() {
            inner.desk.too_large(None);
            break;
        }
    }
    brought
}

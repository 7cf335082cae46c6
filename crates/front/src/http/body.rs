//! The body of an answer: nothing, one piece, or a stream of events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use http::{HeaderValue, Response, StatusCode};
use http_body::{Frame, SizeHint};
use tokio::sync::mpsc;

/// An answer.
pub(crate) type Reply = Response<Body>;

/// What a check finds, or the answer that refuses the request.
pub(crate) type Checked<T> = Result<T, Box<Reply>>;

/// The body of an answer.
pub(crate) enum Body {
    /// One piece, or nothing once it is sent.
    Whole(Option<Bytes>),
    /// Pieces as they come; dropping it tells the sender.
    Stream(mpsc::Receiver<Bytes>),
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(piece) => Poll::Ready(piece.take().map(|piece| Ok(Frame::data(piece)))),
            Self::Stream(pieces) => {
                pieces.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(piece) => SizeHint::with_exact(piece.as_ref().map_or(0, Bytes::len) as u64),
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

/// An answer without a body.
pub(crate) fn empty(status: StatusCode) -> Reply {
    with(status, Body::Whole(None))
}

/// An answer in JSON.
pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    typed(status, Body::Whole(Some(body.into())), HeaderValue::from_static("application/json"))
}

/// An answer in plain text.
pub(crate) fn text(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    typed(status, Body::Whole(Some(body.into())), HeaderValue::from_static("text/plain; charset=utf-8"))
}

/// A stream of events.
pub(crate) fn events(pieces: mpsc::Receiver<Bytes>) -> Reply {
    let mut reply =
        typed(StatusCode::OK, Body::Stream(pieces), HeaderValue::from_static("text/event-stream"));
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies must not hold events back.
    reply.headers_mut().insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    reply
}

fn typed(status: StatusCode, body: Body, content_type: HeaderValue) -> Reply {
    let mut reply = with(status, body);
    reply.headers_mut().insert(CONTENT_TYPE, content_type);
    reply
}

fn with(status: StatusCode, body: Body) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    reply
}

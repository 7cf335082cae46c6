//! One connection, and the answer that is read from it.

use std::future::{Future as _, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::Request;
use http::response::Parts;
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::Direct;

type Sending = Request<Full<Bytes>>;

/// A connection that does something only while somebody waits for it.
pub(super) struct Kept {
    sender: SendRequest<Full<Bytes>>,
    connection: Pin<Box<Connection<TokioIo<TcpStream>, Full<Bytes>>>>,
    /// When it was last used.
    pub(super) since: Instant,
}

/// What came of a request.
pub(super) enum Asked {
    Answered(Response),
    /// Nothing of it was sent, so that it can go another way.
    Unsent(Box<Sending>, hyper::Error),
    Broken(hyper::Error),
}

/// An answer whose body is read from the connection as it is wanted. The connection is kept when all is read.
pub(crate) struct Response {
    pub(crate) head: Parts,
    body: Incoming,
    is_read: bool,
    /// None when it has ended.
    kept: Option<Kept>,
    to: Arc<Direct>,
}

impl Kept {
    pub(super) async fn shake_hands(stream: TcpStream) -> hyper::Result<Self> {
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        Ok(Self { sender, connection: Box::pin(connection), since: Instant::now() })
    }

    /// Whether another request can be sent on it.
    pub(super) fn is_open(&mut self) -> bool {
        let mut nobody = Context::from_waker(Waker::noop());
        self.connection.as_mut().poll(&mut nobody).is_pending() && self.sender.is_ready()
    }

    /// Sends a request, and waits for the head of its answer.
    pub(super) async fn ask(mut self, request: Sending, to: &Arc<Direct>) -> Asked {
        let mut answer = pin!(self.sender.try_send_request(request));
        let mut ended = false;
        let answer = poll_fn(|context| {
            if !ended {
                ended = self.connection.as_mut().poll(context).is_ready();
            }
            // Only what the connection does can bring it about, so that there is nobody to wake.
            answer.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        });
        match answer.await {
            Ok(answer) => {
                let (head, body) = answer.into_parts();
                let kept = Some(self).filter(|_| !ended);
                Asked::Answered(Response { head, body, is_read: false, kept, to: to.clone() })
            }
            Err(mut failed) => match failed.take_message() {
                Some(request) => Asked::Unsent(Box::new(request), failed.into_error()),
                None => Asked::Broken(failed.into_error()),
            },
        }
    }
}

impl Response {
    pub(crate) fn content_length(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// The next piece of the body; none at its end.
    pub(crate) async fn chunk(&mut self) -> hyper::Result<Option<Bytes>> {
        poll_fn(|context| self.poll_chunk(context)).await
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<hyper::Result<Option<Bytes>>> {
        loop {
            if let Poll::Ready(piece) = self.arrived() {
                return Poll::Ready(piece);
            }
            let Some(kept) = &mut self.kept else {
                // What it had sent before its end has come; `arrived` says when there is no more.
                return self.arrived();
            };
            if kept.connection.as_mut().poll(context).is_ready() {
                self.kept = None;
                continue;
            }
            return self.arrived();
        }
    }

    /// What of the body has been read from the connection, but not been asked for.
    fn arrived(&mut self) -> Poll<hyper::Result<Option<Bytes>>> {
        // Only what the connection does can bring more, so that there is nobody to wake.
        let mut nobody = Context::from_waker(Waker::noop());
        loop {
            match Pin::new(&mut self.body).poll_frame(&mut nobody) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => {
                    self.is_read = true;
                    return Poll::Ready(Ok(None));
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error)),
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers say nothing to us.
                    if let Ok(piece) = frame.into_data() {
                        return Poll::Ready(Ok(Some(piece)));
                    }
                }
            }
        }
    }
}

impl Drop for Response {
    fn drop(&mut self) {
        if (self.is_read || self.body.is_end_stream())
            && let Some(kept) = self.kept.take()
        {
            self.to.keep(kept);
        }
    }
}

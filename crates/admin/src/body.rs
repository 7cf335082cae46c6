//! Requests as they come in, and answers as they go out.

use std::net::SocketAddr;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use tokio::sync::mpsc;

/// A request, whole.
#[derive(Debug)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Its path, as it was written.
    pub path: String,
    /// What stands behind the question mark.
    pub query: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// Who is at the other end of the connection.
    pub peer: SocketAddr,
}

/// The body of an answer.
#[derive(Debug)]
pub enum Body {
    /// One piece; it may be empty.
    Whole(Bytes),
    /// Pieces as they come; dropping it tells the sender.
    Stream(mpsc::Receiver<Bytes>),
}

/// An answer.
pub type Answer = Response<Body>;

/// An answer without a body.
pub(crate) fn empty(status: StatusCode) -> Answer {
    with(status, Body::Whole(Bytes::new()))
}

/// An answer of a type of content.
pub(crate) fn typed(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = with(status, Body::Whole(body.into()));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

/// An answer that comes in pieces.
pub(crate) fn stream(content_type: &'static str, pieces: mpsc::Receiver<Bytes>) -> Answer {
    let mut answer = with(StatusCode::OK, Body::Stream(pieces));
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies must not hold events back.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    answer
}

fn with(status: StatusCode, body: Body) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer
}

//! Pages and an API of another part, answered on the same listener.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, Uri};
use hyper::body::Incoming;
use tokio::sync::mpsc;

use super::Shared;
use super::body::{Body, Reply};
use super::route;

/// A request to a site, whole.
#[derive(Debug)]
pub struct SiteRequest {
    /// Its method.
    pub method: Method,
    /// Its address.
    pub uri: Uri,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// Who is at the other end of the connection.
    pub peer: SocketAddr,
}

/// The body of a site's answer.
#[derive(Debug)]
pub enum SiteBody {
    /// One piece; it may be empty.
    Whole(Bytes),
    /// Pieces as they come; dropping it tells the sender.
    Stream(mpsc::Receiver<Bytes>),
}

/// What a site answers with, later.
pub type SiteAnswer<'a> = Pin<Box<dyn Future<Output = Response<SiteBody>> + Send + 'a>>;

/// Pages and an API of another part. It decides itself who may use them: of the checks of the protocol's endpoints none
/// is made, and no page of another origin is let in.
pub trait Site: Send + Sync {
    /// Whether a path is for it.
    fn has(&self, path: &str) -> bool;

    /// Answers a request.
    fn answer(&self, request: SiteRequest) -> SiteAnswer<'_>;
}

/// Answers a request to a site.
pub(super) async fn answer(
    shared: &Shared,
    site: &dyn Site,
    request: Request<Incoming>,
    peer: SocketAddr,
) -> Reply {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let (headers, body) = match route::body(shared, request).await {
        Ok(read) => read,
        Err(refused) => return *refused,
    };
    let answer = site.answer(SiteRequest { method, uri, headers, body, peer }).await;
    answer.map(|body| match body {
        SiteBody::Whole(piece) => Body::Whole(Some(piece).filter(|piece| !piece.is_empty())),
        SiteBody::Stream(pieces) => Body::Stream(until_stopping(shared, pieces)),
    })
}

/// The same pieces, until the server stops: nobody waits for a stream without an end.
fn until_stopping(shared: &Shared, mut pieces: mpsc::Receiver<Bytes>) -> mpsc::Receiver<Bytes> {
    let (sender, receiver) = mpsc::channel(1);
    let stopping = shared.stopping.clone();
    shared.hub.tasks().spawn(async move {
        loop {
            let piece = tokio::select! {
                piece = pieces.recv() => piece,
                () = stopping.cancelled() => return,
                () = sender.closed() => return,
            };
            let Some(piece) = piece else { return };
            if sender.send(piece).await.is_err() {
                return;
            }
        }
    });
    receiver
}

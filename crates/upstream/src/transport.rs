//! How bytes get to a server and back.

mod answer;
mod client;
mod direct;
pub(crate) mod http;
pub(crate) mod old_sse;
pub(crate) mod signed;
pub(crate) mod stdio;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use toolgate_wire::headers::HeaderParam;
use toolgate_wire::{Raw, Version};

use crate::fault::Fault;

pub use client::WebClient;

/// The largest message that is read from a server.
pub(crate) const MESSAGE_LIMIT: usize = 16 * 1024 * 1024;

/// A request on its way out.
pub(crate) struct Sending<'a> {
    pub(crate) frame: Bytes,
    pub(crate) id: u64,
    pub(crate) method: &'a str,
    pub(crate) params: &'a Raw,
    pub(crate) headers: &'a [HeaderParam],
    /// Set as soon as the server may have seen it.
    pub(crate) left: Arc<AtomicBool>,
}

/// What has become of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// It is sent; the answer comes by itself.
    UnderWay,
    /// All that will ever come of it has come.
    Over,
}

/// How bytes get to a server and back. What comes back goes to the desk.
pub(crate) enum Transport {
    /// A program's standard streams.
    Stdio(stdio::Stdio),
    /// Streamable HTTP.
    Http(http::Http),
    /// HTTP with server-sent events.
    Sse(old_sse::OldSse),
}

impl Transport {
    /// Sends a request.
    pub(crate) async fn send(&self, sending: Sending<'_>) -> Result<Sent, Fault> {
        // Boxed, because a call to a program needs only a fraction of the room.
        match self {
            Self::Stdio(stdio) => stdio.send(sending).await,
            Self::Http(http) => Box::pin(http.send(sending)).await,
            Self::Sse(sse) => Box::pin(sse.send(sending)).await,
        }
    }

    /// Sends a frame that has no answer.
    pub(crate) async fn notify(&self, frame: Bytes) -> Result<(), Fault> {
        match self {
            Self::Stdio(stdio) => stdio.notify(frame).await,
            Self::Http(http) => http.notify(frame).await,
            Self::Sse(sse) => sse.notify(frame).await,
        }
    }

    /// Lets go of the server; what is left to do, its tasks do.
    pub(crate) fn stop(&self) {
        match self {
            Self::Stdio(stdio) => stdio.stop(),
            Self::Http(http) => http.stop(),
            Self::Sse(sse) => sse.stop(),
        }
    }

    /// Says which revision the server speaks.
    pub(crate) fn speaks(&self, version: Version) {
        match self {
            Self::Http(http) => http.speaks(version),
            Self::Stdio(_) | Self::Sse(_) => {}
        }
    }

    /// Its name.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(_) => "http",
            Self::Sse(_) => "sse",
        }
    }

    /// The process id of its program.
    pub(crate) fn process(&self) -> Option<u32> {
        match self {
            Self::Stdio(stdio) => stdio.process(),
            Self::Http(_) | Self::Sse(_) => None,
        }
    }
}

//! An answer to a request over HTTP, whichever way it came.

use std::error::Error;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use super::direct;

/// An answer: its head is here, its body is still to come.
pub(crate) enum Answer {
    /// By a client that follows redirects and knows proxies and TLS.
    Client(reqwest::Response),
    /// On a connection of our own.
    Direct(direct::Response),
}

impl Answer {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Client(response) => response.status(),
            Self::Direct(response) => response.head.status,
        }
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        match self {
            Self::Client(response) => response.headers(),
            Self::Direct(response) => &response.head.headers,
        }
    }

    /// How long the body is, where the server has said so.
    pub(crate) fn content_length(&self) -> Option<u64> {
        match self {
            Self::Client(response) => response.content_length(),
            Self::Direct(response) => response.content_length(),
        }
    }

    /// The next piece of the body, none at its end; or what went wrong, in words.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, String> {
        match self {
            Self::Client(response) => response.chunk().await.map_err(reason),
            Self::Direct(response) => response.chunk().await.map_err(|error| root(&error)),
        }
    }
}

/// What went wrong, without the address: it may hold a secret.
pub(super) fn reason(error: reqwest::Error) -> String {
    root(&error.without_url())
}

/// The cause of all.
pub(super) fn root(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

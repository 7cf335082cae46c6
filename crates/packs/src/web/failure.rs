//! What a failed fetch means to the caller.

use std::time::Duration;

use toolgate_core::{Error, Kind};
use toolgate_host::outbound::FetchError;

use crate::service::limited;

/// The error of a fetch as the error of a call.
pub(super) fn failure(error: FetchError) -> Error {
    let (kind, hint) = match &error {
        FetchError::Address { .. } => {
            (Kind::InvalidInput, "give a whole address, such as `https://example.com/page`")
        }
        FetchError::InTheClear { .. } => (Kind::Denied, "use an address with `https`"),
        FetchError::Credentials { .. } => (Kind::InvalidInput, "leave them out: this tool signs in nowhere"),
        FetchError::Denied { .. } => (
            Kind::Denied,
            "use another source, or ask a person to change `web.deny_hosts` in the configuration",
        ),
        FetchError::TooNear { .. } => (
            Kind::Denied,
            "use a public address, or ask a person to list the host in `web.allow_hosts` in the configuration",
        ),
        FetchError::Redirects { .. } => {
            (Kind::ConnectionFailed, "the page may ask for a cookie or a sign-in; use another source")
        }
        FetchError::Late { .. } => {
            (Kind::Timeout, "try again later, or raise `web.timeout_ms` in the configuration")
        }
        FetchError::Unreachable { .. } => (Kind::ConnectionFailed, "check the address, or try again later"),
        FetchError::TooLarge { .. } => {
            (Kind::InvalidInput, "fetch a smaller page, or raise `web.max_bytes` in the configuration")
        }
        FetchError::Coding { .. } => (Kind::ConnectionFailed, "use another source for the same"),
    };
    Error::new(kind, error.to_string()).hint(hint).because(error)
}

/// The error of an answer that is no success, from a server that may have said when to come back.
pub(super) fn refused(url: &str, status: u16, later: Option<Duration>) -> Error {
    if let (429 | 503, Some(later)) = (status, later) {
        return limited(format!("`{url}` answered {status}"), Some(later));
    }
    let (kind, hint) = match status {
        401 | 407 => (Kind::Unauthorized, "the page needs a sign-in, and this tool signs in nowhere"),
        403 | 451 => {
            (Kind::Unauthorized, "the server does not show this page to programs; use another source")
        }
        404 | 410 => (Kind::NotFound, "check the address, or look for a link to it on another page"),
        429 => (Kind::RateLimited, "wait before you ask this server again"),
        500.. => (Kind::ConnectionFailed, "the server has a problem of its own; try again later"),
        _ => (Kind::ConnectionFailed, "check the address"),
    };
    Error::new(kind, format!("`{url}` answered {status}")).hint(hint)
}

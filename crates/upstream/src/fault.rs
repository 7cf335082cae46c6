//! Why a request to a server has no result.

use std::time::Duration;

use toolgate_core::{Error, Kind};
use toolgate_wire::Raw;

/// Why a request to a server has no result.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// It never left, so nothing happened.
    NotSent(String),
    /// It never left either: the token that lets its holder in could not be had.
    NoToken(String),
    /// The server has forgotten our session, and did not look at the request.
    SessionGone,
    /// The connection ended; the server may have done it.
    Gone(String),
    /// The server answered with this status of HTTP, and nothing else.
    Status(u16),
    /// No answer came in time.
    Late(Silence),
    /// The server answered an error object.
    Refused(Raw),
    /// The server answered something that cannot be used.
    Unusable(String),
    /// The server wants to know who we are.
    Unauthorized(Option<String>),
    /// The server knows who we are, and wants more to be allowed: this.
    Scope(String),
}

/// How long no answer came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Silence {
    pub(crate) limit: Duration,
    /// Whether the server said something for other calls meanwhile.
    pub(crate) serves_others: bool,
}

impl Silence {
    /// Of a server that was at nothing else.
    pub(crate) fn of(limit: Duration) -> Self {
        Self { limit, serves_others: false }
    }
}

impl Fault {
    /// Whether the request may be sent again; `harmless`: twice is the same as once.
    pub(crate) fn may_repeat(&self, harmless: bool) -> bool {
        match self {
            Self::NotSent(_) | Self::NoToken(_) | Self::SessionGone => true,
            Self::Gone(_) | Self::Status(500..) => harmless,
            Self::Status(_) => false,
            Self::Late(_) | Self::Refused(_) | Self::Unusable(_) => false,
            Self::Unauthorized(_) | Self::Scope(_) => false,
        }
    }

    /// The same once the server has the request: whatever is wrong since then, it may be at work, and nothing may be
    /// sent anew as if it were not.
    pub(crate) fn begun(self) -> Self {
        match self {
            Self::NotSent(why) | Self::NoToken(why) => Self::Gone(why),
            Self::SessionGone => Self::Gone("it ended its session".into()),
            fault @ (Self::Gone(_)
            | Self::Status(_)
            | Self::Late(_)
            | Self::Refused(_)
            | Self::Unusable(_)
            | Self::Unauthorized(_)
            | Self::Scope(_)) => fault,
        }
    }

    /// Whether it says that the server is not well.
    pub(crate) fn is_illness(&self) -> bool {
        match self {
            Self::NotSent(_) | Self::NoToken(_) | Self::Gone(_) | Self::Late(_) | Self::Status(500..) => true,
            Self::Status(_)
            | Self::SessionGone
            | Self::Refused(_)
            | Self::Unusable(_)
            | Self::Unauthorized(_)
            | Self::Scope(_) => false,
        }
    }

    /// What the caller is told.
    pub(crate) fn into_error(self, server: &str) -> Error {
        let see = format!("run `toolgate mcp status {server}` to see what it said");
        match self {
            Self::NotSent(why) | Self::NoToken(why) => {
                Error::new(Kind::ConnectionFailed, format!("`{server}` could not be reached: {why}"))
                    .hint(see)
            }
            Self::SessionGone => {
                Error::new(Kind::ConnectionFailed, format!("`{server}` ended its session")).hint(see)
            }
            Self::Gone(why) => Error::new(
                Kind::ConnectionFailed,
                format!("`{server}` went away before it answered: {why}; it may have done what was asked"),
            )
            .hint("look whether it was done before you try again"),
            Self::Status(status) => {
                Error::new(Kind::Upstream, format!("`{server}` answered with HTTP status {status}")).hint(see)
            }
            Self::Late(Silence { limit, .. }) => Error::new(
                Kind::Timeout,
                format!("`{server}` did not answer within {} ms", limit.as_millis()),
            )
            .hint(format!("raise `mcp.{server}.timeout` if it needs longer")),
            Self::Refused(error) => Error::forwarded(error),
            Self::Unusable(why) => {
                Error::new(Kind::Upstream, format!("`{server}` answered what cannot be used: {why}"))
                    .hint(see)
            }
            Self::Unauthorized(_) => {
                Error::new(Kind::Unauthorized, format!("`{server}` wants to know who we are"))
                    .hint(format!("run `toolgate mcp auth {server}`"))
            }
            Self::Scope(scope) => {
                Error::new(Kind::Unauthorized, format!("`{server}` wants more to be allowed: `{scope}`"))
                    .hint(format!("run `toolgate mcp auth {server}`, and agree to it"))
            }
        }
    }

    /// What it is, in a few words, for the status.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::NotSent(why) | Self::NoToken(why) | Self::Gone(why) | Self::Unusable(why) => why.clone(),
            Self::SessionGone => "it ended its session".into(),
            Self::Status(status) => format!("it answered with HTTP status {status}"),
            Self::Late(Silence { limit, .. }) => format!("no answer within {} ms", limit.as_millis()),
            Self::Refused(error) => {
                let message = error.get("message");
                let text = message.as_ref().and_then(Raw::as_string);
                format!("it answered an error: {}", short(text.as_deref().unwrap_or("without a message")))
            }
            Self::Unauthorized(_) => "it wants to know who we are".into(),
            Self::Scope(scope) => format!("it wants more to be allowed: `{scope}`"),
        }
    }
}

/// What a server wrote, shortened and without control characters.
pub(crate) fn short(text: &str) -> String {
    text.chars()
        .take(300)
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect()
}

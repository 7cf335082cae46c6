//! Why nobody is signed in to a server.

use toolgate_host::OutboundError;

/// What kind of trouble it is: one for each different thing to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OauthReason {
    /// A person has to sign in.
    NeedsAuth,
    /// The server knows no client like us, and lets none register itself.
    NeedsClientRegistration,
    /// What the server says of its authorization is not to be trusted.
    Untrusted,
    /// The person, or the authorization server, said no.
    Denied,
    /// It does not work now, but may later.
    Unavailable,
    /// What came back is not the answer to what was asked.
    WrongAnswer,
    /// The authorization server does not know the client that is configured, or not by that secret.
    WrongClient,
}

/// Why nobody is signed in to a server. It holds no token and no code.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct OauthError {
    reason: OauthReason,
    message: String,
    hint: String,
}

impl OauthError {
    pub(crate) fn new(reason: OauthReason, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { reason, message: message.into(), hint: hint.into() }
    }

    pub(super) fn untrusted(message: impl Into<String>) -> Self {
        let hint = "ask who runs the server; do not sign in to it before that is mended";
        Self::new(OauthReason::Untrusted, message, hint)
    }

    pub(super) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(OauthReason::Unavailable, message, "try again in a while")
    }

    pub(super) fn wrong_answer(message: impl Into<String>) -> Self {
        Self::new(OauthReason::WrongAnswer, message, "begin the sign-in anew")
    }

    /// What kind of trouble it is.
    pub fn reason(&self) -> OauthReason {
        self.reason
    }

    /// What to do about it.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl From<OutboundError> for OauthError {
    fn from(error: OutboundError) -> Self {
        match error {
            OutboundError::Address { .. } | OutboundError::TooNear { .. } => {
                Self::untrusted(error.to_string())
            }
            OutboundError::TooLarge { .. } => Self::untrusted(error.to_string()),
            OutboundError::Unreachable { .. }
            | OutboundError::Status { .. }
            | OutboundError::Unready { .. } => Self::unavailable(words(&error)),
        }
    }
}

/// An error with its last cause, which says the most.
fn words(error: &OutboundError) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let (outer, inner) = (error.to_string(), cause.to_string());
    if outer == inner { outer } else { format!("{outer}: {inner}") }
}

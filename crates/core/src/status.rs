//! How a source stands, for people.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceState {
    /// It answers, or did when it was last asked: one that starts on demand need not run.
    #[default]
    Connected,
    /// It is being started or asked.
    Connecting,
    /// It is switched off.
    Disabled,
    /// It cannot be used.
    Failed,
    /// A person has to sign in.
    NeedsAuth,
    /// It knows no client like us, and lets none register itself.
    NeedsClientRegistration,
}

impl SourceState {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Connected,
        Self::Connecting,
        Self::Disabled,
        Self::Failed,
        Self::NeedsAuth,
        Self::NeedsClientRegistration,
    ];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Connecting => "connecting",
            Self::Disabled => "disabled",
            Self::Failed => "failed",
            Self::NeedsAuth => "needs_auth",
            Self::NeedsClientRegistration => "needs_client_registration",
        }
    }
}

/// Something that a server did wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// What it did.
    pub what: Cow<'static, str>,
    /// How many times.
    pub times: u64,
    /// The latest of them.
    pub detail: String,
}

/// An upstream at one moment. Its texts may hold what the server wrote, so they pass the filters before anyone sees
/// them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceStatus {
    /// Its name.
    pub name: String,
    /// How it stands.
    pub state: SourceState,
    /// Why it cannot be used, if so.
    pub error: Option<String>,
    /// What to do about it, where someone knows.
    pub hint: Option<String>,
    /// How it asked who we are, where it did: a `WWW-Authenticate` header.
    pub challenge: Option<String>,
    /// `stdio`, `http` or `sse`.
    pub transport: String,
    /// The protocol revision it speaks, once known.
    pub version: Option<String>,
    /// `legacy` or `modern`, once known.
    pub era: Option<String>,
    /// How many connections there are to it now.
    pub connections: usize,
    /// The process ids of its programs that run now.
    pub processes: Vec<u32>,
    /// How many calls it is answering now.
    pub in_flight: usize,
    /// How many times a connection to it was lost.
    pub lost: u64,
    /// How many tools it has.
    pub tools: usize,
    /// How many resources and templates it has.
    pub resources: usize,
    /// How many prompts it has.
    pub prompts: usize,
    /// What it did wrong.
    pub notes: Vec<Note>,
    /// The end of what its program wrote to standard error.
    pub stderr: Vec<String>,
}

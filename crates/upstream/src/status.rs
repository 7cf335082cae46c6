//! What people are told about a server.

use serde::Serialize;
use toolgate_wire::{Era, Version};

/// How a server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It answers, or did when it was last asked: one that starts on demand need not run.
    Connected,
    /// It is switched off.
    Disabled,
    /// It cannot be used.
    Failed,
    /// A person has to sign in.
    NeedsAuth,
    /// It knows no client like us, and lets none register itself.
    NeedsClientRegistration,
    /// It is being started or asked.
    Connecting,
}

/// Something that a server did wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// What it did.
    pub what: &'static str,
    /// How many times.
    pub times: u64,
    /// The latest of them.
    pub detail: String,
}

/// A server at one moment. Its texts may hold what the server wrote, so they pass the filters before anyone sees them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Its name.
    pub name: String,
    /// How it stands.
    pub state: State,
    /// Why it cannot be used, if so.
    pub error: Option<String>,
    /// How it asked who we are, where it did: a `WWW-Authenticate` header.
    pub challenge: Option<String>,
    /// `stdio`, `http` or `sse`.
    pub transport: &'static str,
    /// The protocol revision it speaks, once known.
    pub version: Option<&'static str>,
    /// `legacy` or `modern`, once known.
    pub era: Option<&'static str>,
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

pub(crate) fn era_word(version: Version) -> &'static str {
    match version.era() {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}

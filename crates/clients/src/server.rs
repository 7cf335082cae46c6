//! What an entry of a client's file says: how the client reaches a server.

use std::collections::BTreeMap;

use serde_json::Value;

/// One entry of a client's file.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The name that the client knows the server by.
    pub name: String,
    /// How the client reaches it; none where the entry says nothing that we can read.
    pub server: Option<Server>,
    /// Whether the client uses it.
    pub enabled: bool,
    /// All that is written there, as JSON; also what [`Server`] has no place for.
    pub written: Value,
}

/// How a client reaches a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Server {
    /// The client starts it, and talks to it over standard input and output.
    Local(Local),
    /// It runs elsewhere.
    Remote(Remote),
}

/// A program that a client starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Local {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables of its environment, besides those it inherits.
    pub env: BTreeMap<String, String>,
}

/// A server that a client connects to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Its address.
    pub url: String,
    /// Headers to send with every request.
    pub headers: BTreeMap<String, String>,
    /// The transport.
    pub transport: Transport,
}

impl Remote {
    /// A server that speaks Streamable HTTP at this address.
    #[must_use]
    pub fn http(url: impl Into<String>) -> Self {
        Self { url: url.into(), headers: BTreeMap::new(), transport: Transport::Http }
    }
}

/// How a client talks to a server that runs elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Streamable HTTP; also where the file does not say, for all clients then try it first.
    Http,
    /// HTTP+SSE, the deprecated one.
    Sse,
}

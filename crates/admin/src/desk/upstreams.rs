//! Other MCP servers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Note, SourceState};

/// Another MCP server.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Upstream {
    /// Its name.
    pub name: String,
    /// How it stands; missing where it is in the settings, and not in force yet.
    pub state: Option<SourceState>,
    /// Whether it is on.
    pub enabled: bool,
    /// How it is reached: a command line or an address, without secrets.
    pub reach: String,
    /// Why it cannot be used, if so.
    pub error: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
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
    /// The end of what its program wrote to standard error; only where one upstream is asked for.
    pub stderr: Vec<String>,
    /// Whether its table stands in the file that we may change.
    pub removable: bool,
}

/// An upstream to be added: a program, or an address.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUpstream {
    /// Its name: it begins the names of its tools.
    #[schemars(length(min = 1, max = 32), regex(pattern = "^[A-Za-z0-9_-]+$"))]
    pub name: String,
    /// The program to start.
    #[serde(default)]
    pub command: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its variables; `{secret:NAME}` stands for a secret.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The folder it starts in.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The address of a server, instead of a program.
    #[serde(default)]
    pub url: Option<String>,
    /// Headers to send; `{secret:NAME}` stands for a secret.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Whether to sign in by OAuth.
    #[serde(default)]
    pub oauth: bool,
    /// How many milliseconds an answer may take.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub timeout: Option<u64>,
}

/// Signing in that was begun.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SignIn {
    /// The address to open in a browser. A browser on the same machine ends it by itself; of another one the address
    /// that it ended at is sent to `sign-in/finish`.
    pub url: String,
    /// Until when, in milliseconds since 1970.
    pub expires_ms: u64,
}

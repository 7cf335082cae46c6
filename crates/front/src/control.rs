//! The control socket: how processes of one user share a hub, and how commands reach it.
//!
//! Of all processes on a data folder one owns its socket, by a lock that dies with it. The others stand by to take
//! its place, or attach their client to its hub. What goes over the socket is JSON-RPC, one message a line; the first
//! says what the connection is for.

mod bridge;
mod client;
mod own;
mod server;
mod status;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolgate_host::socket::make_private;
use toolgate_host::{PrivateSocket, ProcessLock};

pub use bridge::{Link, bridge};
pub use client::{Joined, join, reload, restart, status, upstreams};
pub use own::{keep, serve_here};
pub use status::{ConnectionStatus, OtherStatus, RunStatus, Status};

/// The socket's name in the data folder.
const SOCKET: &str = "control.sock";

/// The name of the file that its owner has locked.
const LOCK: &str = "control.lock";

/// The version of what is spoken over the socket, before MCP begins.
const PROTOCOL: u32 = 1;

/// The longest line, before MCP begins.
const LONGEST_LINE: u64 = 64 * 1024;

/// How long either side waits for what the other should say at once.
const PATIENCE: Duration = Duration::from_secs(5);

/// The methods.
mod method {
    pub(super) const ATTACH: &str = "toolgate/attach";
    pub(super) const STAND_BY: &str = "toolgate/stand_by";
    pub(super) const STATUS: &str = "toolgate/status";
    pub(super) const RELOAD: &str = "toolgate/reload";
    pub(super) const UPSTREAMS: &str = "toolgate/upstreams";
    pub(super) const RESTART: &str = "toolgate/restart";
    /// A hub that stops says so to who is attached: what it is sent from now on it does not read.
    pub(in crate::control) const STOPPING: &str = "toolgate/stopping";
}

/// What has to be the same in two processes for one to serve the other's client, by name.
pub type Terms = BTreeMap<String, String>;

/// Tells the terms as they are now: settings are read again.
pub type TermsNow = Arc<dyn Fn() -> Terms + Send + Sync>;

/// A client that looks for a hub.
#[derive(Debug, Clone)]
pub struct Guest {
    /// What the hub has to have in common with the client's own process.
    pub terms: Terms,
    /// The named view that the client sees.
    pub profile: Option<String>,
}

/// Reads the settings anew; says what came of it, or why nothing did.
pub type Reload = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// What a process says of itself.
#[derive(Clone)]
pub struct About {
    /// Its version.
    pub version: &'static str,
    /// How it serves its own clients: `stdio` or `http`.
    pub transport: &'static str,
    /// Where it listens, if it does.
    pub address: Option<SocketAddr>,
    /// Since when it runs, in milliseconds since 1970.
    pub started_ms: u64,
    /// What has to be the same in another process for this one to serve that one's client, as it is now.
    pub terms: TermsNow,
    /// How its settings are read anew, if they can be.
    pub reload: Option<Reload>,
}

/// Why the control socket cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The socket or its lock cannot be used.
    #[error("cannot use the control socket in `{}`: {cause}", folder.display())]
    Unusable {
        /// The data folder.
        folder: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// Someone is there, but does not answer as agreed.
    #[error("the process that owns `{}` does not answer", folder.display())]
    Silent {
        /// The data folder.
        folder: PathBuf,
    },
    /// It answers that it will not.
    #[error("{0}")]
    Refused(String),
}

impl ControlError {
    fn unusable(folder: &Path) -> impl Fn(io::Error) -> Self {
        move |cause| Self::Unusable { folder: folder.to_owned(), cause }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unusable { .. } => "the data folder has to be yours, and closed to others",
            Self::Silent { .. } => "try again; if it stays so, end that process and start it anew",
            Self::Refused(_) => "look at the log of the process that runs",
        }
    }

    fn silent(folder: &Path) -> Self {
        Self::Silent { folder: folder.to_owned() }
    }
}

/// The control socket of a data folder, which this process owns until this is dropped.
pub struct Owned {
    // The name goes before the lock does: whoever has the lock may take the name.
    socket: PrivateSocket,
    _lock: ProcessLock,
}

impl Owned {
    /// Makes this process the owner, unless another one is.
    ///
    /// # Errors
    /// The folder is not private, or knows neither locks nor sockets.
    pub fn claim(folder: &Path) -> Result<Option<Self>, ControlError> {
        let unusable = ControlError::unusable(folder);
        make_private(folder).map_err(&unusable)?;
        let Some(lock) = ProcessLock::try_acquire(&folder.join(LOCK)).map_err(&unusable)? else {
            return Ok(None);
        };
        let socket = PrivateSocket::bind(folder, SOCKET).map_err(&unusable)?;
        Ok(Some(Self { socket, _lock: lock }))
    }
}

/// How a process asks to attach its client.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attach {
    protocol: u32,
    terms: Terms,
    /// The named view that the client sees.
    #[serde(default)]
    profile: Option<String>,
    /// From where on the hub numbers its questions to the client.
    first_question: u64,
}

/// Which upstream a command is for; all, where none is named and all can be meant.
#[derive(Debug, Serialize, Deserialize)]
struct Which {
    name: Option<String>,
}

/// How a process says that it would take the owner's place.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StandBy {
    version: String,
    transport: String,
    address: Option<SocketAddr>,
}

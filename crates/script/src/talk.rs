//! What parent and child say to each other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolgate_wire::Raw;

/// What the parent says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToChild {
    /// Run this.
    Run(Order),
    /// What you asked for.
    Answer(Result<Raw, String>),
}

/// What is to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    /// What it is called in errors.
    pub(crate) name: String,
    /// The text of the script.
    pub(crate) source: String,
    /// The function to call; without one, the rule of results.
    pub(crate) function: Option<String>,
    /// What it is called with: a list by position, or an object by name.
    pub(crate) args: Option<Raw>,
    /// How far it may go.
    pub(crate) limits: RunLimits,
}

/// How far a run may go inside the child.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct RunLimits {
    /// How many statements.
    pub(crate) steps: u64,
    /// How many bytes of result, and of what it prints.
    pub(crate) output: usize,
}

/// What the child says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromChild {
    /// It is confined, and waits for work.
    Ready,
    /// It needs something from outside.
    Ask(Ask),
    /// It is done.
    Done(Done),
    /// The script failed, by its own fault.
    Failed(Failed),
}

/// What a script needs from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// The text of another script.
    Load {
        /// Its name.
        name: String,
    },
    /// A request to another server.
    Http(HttpAsk),
    /// The value of a secret.
    Secret {
        /// Its name.
        name: String,
    },
    /// The names of the secrets it may have.
    Secrets,
    /// A call of a tool.
    Tool {
        /// Its name.
        name: String,
        /// Its arguments, an object.
        arguments: Raw,
    },
    /// The tools it may call.
    Tools,
}

impl Ask {
    /// How many bytes of names it has: all but bodies and arguments, which are bounded by themselves.
    pub(crate) fn names(&self) -> usize {
        match self {
            Self::Load { name } | Self::Secret { name } | Self::Tool { name, .. } => name.len(),
            Self::Http(ask) => {
                let headers = ask.headers.iter().map(|(name, value)| name.len() + value.len());
                ask.url.len() + headers.sum::<usize>()
            }
            Self::Secrets | Self::Tools => 0,
        }
    }
}

/// A request to another server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HttpAsk {
    /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub(crate) method: String,
    /// Where.
    pub(crate) url: String,
    /// With which headers.
    pub(crate) headers: BTreeMap<String, String>,
    /// With which body.
    pub(crate) body: String,
}

/// A script that came to its end.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    /// What it answers with.
    pub(crate) result: Raw,
    /// What it printed.
    pub(crate) printed: Printed,
    /// How many milliseconds of processor time the child has used in its life.
    pub(crate) cpu_ms: u64,
}

/// A script that failed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Failed {
    /// What happened, with the traceback.
    pub(crate) message: String,
    /// What it printed before.
    pub(crate) printed: Printed,
}

/// What a script printed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Printed {
    /// The text, a line each.
    pub(crate) text: String,
    /// Whether there was more.
    pub(crate) cut: bool,
}

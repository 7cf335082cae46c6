//! How a call ends.

use toolgate_wire::Raw;

use crate::Error;

/// How a call ends.
#[derive(Debug)]
pub enum Outcome {
    /// With a result object.
    Complete(Raw),
    /// With an error.
    Failed(Error),
    /// With questions that the caller answers in a retry.
    InputRequired {
        /// The questions by key, an object.
        requests: Raw,
        /// What the retry has to bring back.
        state: Option<String>,
    },
    /// With a task that goes on by itself; the raw object describes it.
    Task(Raw),
}

impl Outcome {
    /// The word metrics and records use.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Complete(_) => "complete",
            Self::Failed(error) => error.kind().category(),
            Self::InputRequired { .. } => "inputRequired",
            Self::Task(_) => "task",
        }
    }
}

impl From<crate::Result<Outcome>> for Outcome {
    fn from(result: crate::Result<Outcome>) -> Self {
        result.unwrap_or_else(Outcome::Failed)
    }
}

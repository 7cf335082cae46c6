//! Why the audit could not be read.

use std::io;
use std::path::PathBuf;

use toolgate_core::StoreError;

/// Why the audit could not be read or copied.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The store did not answer.
    #[error("the store did not answer: {0}")]
    Store(#[from] StoreError),
    /// A spool file could not be read or removed.
    #[error("cannot use `{}`: {cause}", path.display())]
    Spool {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// What was found could not be passed on.
    #[error("cannot write what was found: {0}")]
    Output(io::Error),
}

impl AuditError {
    /// Makes an error of what happened to a path.
    pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Spool { path, cause }
    }

    /// What to do next.
    pub fn next_step(&self) -> Option<&str> {
        match self {
            Self::Store(error) => error.next_step(),
            Self::Spool { .. } => Some("check who owns the folder `audit` in the data folder"),
            Self::Output(_) => None,
        }
    }
}

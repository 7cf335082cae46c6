//! A rule: what must hold of a server, how much it matters, and how to mend a server of which it does not hold.

use std::fmt;

use serde::Serialize;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Worth knowing.
    Note,
    /// Some clients or models will stumble over it.
    Warning,
    /// Against the protocol, or dangerous.
    Error,
}

impl Level {
    /// The level as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What must hold of a server.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub id: &'static str,
    /// How much it matters.
    pub level: Level,
    /// What must hold, as one sentence.
    pub says: &'static str,
    /// What to do where it does not hold.
    pub mend: &'static str,
}

/// Rules about one thing.
#[derive(Debug)]
pub struct Group {
    /// What they are about.
    pub name: &'static str,
    /// The rules, in the order of the report.
    pub rules: &'static [&'static Rule],
}

/// An error.
pub(crate) const fn error(id: &'static str, says: &'static str, mend: &'static str) -> Rule {
    Rule { id, level: Level::Error, says, mend }
}

/// A warning.
pub(crate) const fn warning(id: &'static str, says: &'static str, mend: &'static str) -> Rule {
    Rule { id, level: Level::Warning, says, mend }
}

/// A note.
pub(crate) const fn note(id: &'static str, says: &'static str, mend: &'static str) -> Rule {
    Rule { id, level: Level::Note, says, mend }
}

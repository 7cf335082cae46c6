//! Where a value was written.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Where a value was written; a later variant lies over an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Nowhere: the default of the component that reads it.
    Default,
    /// In OpenCode's own file.
    OpenCode(Place),
    /// In a file of ours.
    File(Place),
    /// In an environment variable of this name.
    Variable(String),
    /// On the command line, by this flag.
    Flag(String),
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub path: Arc<Path>,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::OpenCode(place) | Self::File(place) => place.fmt(f),
            Self::Variable(name) => write!(f, "variable `{name}`"),
            Self::Flag(name) => write!(f, "flag `{name}`"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

//! What is wrong with a client's file, in words for the person who owns it.

use std::fmt;
use std::path::{Path, PathBuf};

/// A place in a text; both numbers count from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Why a client's file was not read or not changed. The file is as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    path: PathBuf,
    place: Option<Place>,
    message: String,
    hint: Option<String>,
}

impl Problem {
    pub(crate) fn new(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), place: None, message: message.into(), hint: None }
    }

    pub(crate) fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where in the file, if it is about a place in it.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.place
    }

    /// What is wrong: a lowercase fragment.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to try.
    #[must_use]
    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(Place { line, column }) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

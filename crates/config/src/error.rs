//! What is wrong with a configuration, in words for the person who wrote it.

use std::fmt;

use crate::origin::Origin;

/// One thing that is wrong, where it was written, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    origin: Option<Origin>,
    message: String,
    excerpt: Option<String>,
    hint: Option<String>,
}

impl Problem {
    pub(crate) fn new(origin: impl Into<Option<Origin>>, message: impl Into<String>) -> Self {
        Self { origin: origin.into(), message: message.into(), excerpt: None, hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<Option<String>>) -> Self {
        self.hint = hint.into();
        self
    }

    pub(crate) fn excerpt(mut self, excerpt: String) -> Self {
        self.excerpt = Some(excerpt);
        self
    }

    /// The same, of something that is not ours to refuse.
    pub(crate) fn passed_over(mut self) -> Self {
        self.message.push_str(" (passed over)");
        self.hint = None;
        self
    }

    /// Where it was written, if it was written anywhere.
    #[must_use]
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// What is wrong: a lowercase fragment.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to try.
    #[must_use]
    pub fn suggestion(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(f, "{origin}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(excerpt) = &self.excerpt {
            write!(f, "\n{excerpt}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

/// All that is wrong with a configuration; at least one problem, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    problems: Vec<Problem>,
}

impl ConfigError {
    /// `Err` with all problems, or `Ok` if there are none.
    pub(crate) fn unless_empty(mut problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() {
            return Ok(());
        }
        problems.sort_by(|one, other| one.origin.cmp(&other.origin));
        Err(Self { problems })
    }

    /// Each thing that is wrong.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl From<Problem> for ConfigError {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

//! What a call is for.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::{Error, Kind, ListKind};

/// What a call is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// Call a tool.
    Tool(ToolName),
    /// Read a resource.
    Resource(Arc<str>),
    /// Get a prompt.
    Prompt(Arc<str>),
    /// Complete an argument.
    Completion(CompletionRef),
    /// Watch a resource.
    Subscribe(Arc<str>),
    /// Stop watching a resource.
    Unsubscribe(Arc<str>),
    /// Look at, wait for, answer or cancel a task.
    Task(TaskOp, Arc<str>),
    /// Any other method that a source may know.
    Method(Arc<str>),
}

impl Target {
    /// The kind of target, as metrics and records name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tool",
            Self::Resource(_) => "resource",
            Self::Prompt(_) => "prompt",
            Self::Completion(_) => "completion",
            Self::Subscribe(_) | Self::Unsubscribe(_) => "subscription",
            Self::Task(..) => "task",
            Self::Method(_) => "method",
        }
    }

    /// The lists it may be found on.
    pub(crate) fn lists(&self) -> &'static [ListKind] {
        match self {
            Self::Tool(_) => &[ListKind::Tools],
            Self::Prompt(_) | Self::Completion(CompletionRef::Prompt(_)) => &[ListKind::Prompts],
            Self::Resource(_)
            | Self::Subscribe(_)
            | Self::Unsubscribe(_)
            | Self::Completion(CompletionRef::Resource(_)) => &[ListKind::Resources, ListKind::Templates],
            // It may name anything.
            Self::Method(_) => &ListKind::ALL,
            Self::Task(..) => &[],
        }
    }

    /// The name, URI, id or method it carries.
    pub fn name(&self) -> &str {
        match self {
            Self::Tool(name) => name.as_str(),
            Self::Resource(name)
            | Self::Prompt(name)
            | Self::Subscribe(name)
            | Self::Unsubscribe(name)
            | Self::Task(_, name)
            | Self::Method(name) => name,
            Self::Completion(CompletionRef::Prompt(name) | CompletionRef::Resource(name)) => name,
        }
    }
}

/// What a completion completes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CompletionRef {
    /// An argument of a prompt.
    Prompt(Arc<str>),
    /// A variable of a resource template.
    Resource(Arc<str>),
}

/// What to do with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskOp {
    /// Look at it.
    Get,
    /// Wait for its result (2025-11-25).
    Result,
    /// Answer its questions.
    Update,
    /// Cancel it.
    Cancel,
}

/// The name of a tool: 1 to 128 characters of `A-Za-z0-9_./-`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName(Arc<str>);

impl ToolName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ToolName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_./-".contains(&byte);
        if (1..=128).contains(&text.len()) && text.bytes().all(fits) {
            return Ok(Self(text.into()));
        }
        // It may be anything a caller sent, so it is shown shortened and escaped.
        let shown: String = text.chars().take(64).flat_map(char::escape_default).collect();
        Err(Error::new(Kind::UnknownTarget, format!("unknown tool `{shown}`"))
            .hint("a tool's name has 1 to 128 characters of A-Z a-z 0-9 _ . / -"))
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_names_hold_to_their_grammar() {
        #[track_caller]
        fn check(name: &str, fits: bool) {
            assert_eq!(name.parse::<ToolName>().is_ok(), fits, "{name:?}");
        }
        check("a", true);
        check("A-z_0.9/b", true);
        check(&"x".repeat(128), true);
        check(&"x".repeat(129), false);
        check("", false);
        check("a b", false);
        check("é", false);
        check("a\n", false);
    }

    #[test]
    fn a_bad_name_is_shown_short_and_escaped() {
        let error = format!("\u{1b}[2J{}", "x".repeat(500)).parse::<ToolName>().unwrap_err();
        assert_eq!(error.kind(), Kind::UnknownTarget);
        assert!(error.message().len() < 100 && !error.message().contains('\u{1b}'), "{error}");
    }
}

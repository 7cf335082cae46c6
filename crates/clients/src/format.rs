//! The two languages that clients write their files in, behind one face.

use serde_json::Value;

use crate::{json, toml};

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON, with comments and trailing commas where the client allows them.
    Json,
    /// TOML.
    Toml,
}

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) offset: usize,
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Fault {
    pub(crate) fn new(offset: usize, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { offset, message: message.into(), hint: hint.into() }
    }
}

impl Format {
    /// The entries in the container, in order; none if there is no container.
    pub(crate) fn entries(self, text: &str, path: &[&str]) -> Result<Vec<(String, Value)>, Fault> {
        match self {
            Self::Json => json::entries(text, path),
            Self::Toml => toml::entries(text, top(path)),
        }
    }

    /// Whether there is a container.
    pub(crate) fn has(self, text: &str, path: &[&str]) -> bool {
        match self {
            Self::Json => json::has(text, path),
            Self::Toml => toml::has(text, top(path)),
        }
    }

    /// The text with this entry in the container, in place of one of the same name.
    pub(crate) fn set(self, text: &str, path: &[&str], name: &str, entry: &Value) -> Result<String, Fault> {
        let after = match self {
            Self::Json => json::set(text, path, name, entry),
            Self::Toml => toml::set(text, top(path), name, entry),
        }?;
        self.verify(text, &after, path, name)
    }

    /// The text without the entry; `prune` takes a container along that is then empty.
    pub(crate) fn remove(self, text: &str, path: &[&str], name: &str, prune: bool) -> Result<String, Fault> {
        let after = match self {
            Self::Json => json::remove(text, path, name, prune),
            Self::Toml => toml::remove(text, top(path), name),
        }?;
        self.verify(text, &after, path, name)
    }

    /// A change that meant anything else than the entry must never reach a person's file, not even by a mistake of ours.
    fn verify(self, before: &str, after: &str, path: &[&str], name: &str) -> Result<String, Fault> {
        let same = match self {
            Self::Json => json::same_but(before, after, path, name),
            Self::Toml => toml::same_but(before, after, top(path), name),
        };
        if same {
            return Ok(after.to_owned());
        }
        let hint =
            "make the change by hand; that it cannot be made here is a mistake of ours, please report it";
        Err(Fault::new(0, format!("`{name}` cannot be changed without changing something else"), hint))
    }
}

/// The one key that a container of TOML is found by: no client nests it.
fn top<'a>(path: &[&'a str]) -> &'a str {
    path.first().copied().unwrap_or_default()
}

//! What is wrong with a policy, in words for the person who wrote it.

use std::fmt;

/// One thing that is wrong: the key it stands at, what, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The dotted key, such as `policy.rules[2].when`.
    pub key: String,
    /// What is wrong with it: a fragment that follows the key.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// All that is wrong with a policy; at least one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    faults: Vec<Fault>,
}

impl PolicyError {
    /// Each thing that is wrong, in the order of the tables.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, fault) in self.faults.iter().enumerate() {
            let line = if place > 0 { "\n" } else { "" };
            write!(f, "{line}`{}` {}\nhint: {}", fault.key, fault.message, fault.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for PolicyError {}

/// Collects what is wrong, so that all of it can be told at once.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn add(
        &mut self,
        key: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.0.push(Fault { key: key.into(), message: message.into(), hint: hint.into() });
    }

    /// The value, if nothing was wrong.
    pub(crate) fn or<T>(self, value: T) -> Result<T, PolicyError> {
        if self.0.is_empty() { Ok(value) } else { Err(PolicyError { faults: self.0 }) }
    }
}

/// A key of a table, quoted where TOML needs it.
pub(crate) fn quoted(key: &str) -> String {
    let bare =
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if bare { key.to_owned() } else { format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\"")) }
}

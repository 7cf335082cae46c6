//! Why a pack cannot be made from what is configured.

/// Why a pack cannot be made. This is for the person who configures it, not for callers.
#[derive(Debug, thiserror::Error)]
pub enum Unready {
    /// Something is still missing; what to do about it.
    #[error("{0}")]
    Needs(String),
    /// What is written cannot be meant.
    #[error("`{key}` {message}\nhint: {hint}")]
    Wrong {
        /// The key, from the top of the file.
        key: String,
        /// What is wrong with its value, without the value where that is secret.
        message: String,
        /// What to write instead.
        hint: &'static str,
    },
}

impl Unready {
    pub(crate) fn wrong(key: impl Into<String>, message: impl Into<String>, hint: &'static str) -> Self {
        Self::Wrong { key: key.into(), message: message.into(), hint }
    }
}

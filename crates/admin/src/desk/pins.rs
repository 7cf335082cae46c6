//! Tools of other servers, as they were first seen or last accepted.

use schemars::JsonSchema;
use serde::Serialize;

/// A tool of another server, compared with what it was.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Pin")]
pub struct Pin {
    /// Whose it is.
    pub source: String,
    /// Its name.
    pub tool: String,
    /// `trusted`, `allowed`, `warned` or `held`.
    pub standing: String,
    /// The gravest of the findings: `low`, `medium` or `high`.
    pub severity: Option<String>,
    /// What is not as it was.
    pub findings: Vec<PinFinding>,
    /// When it was first seen, in milliseconds since 1970.
    pub first_seen_ms: u64,
    /// When the definition it is compared with was accepted.
    pub accepted_ms: Option<u64>,
    /// Who accepted it; nobody did what was there at first sight.
    pub accepted_by: Option<String>,
    /// The digest of the definition it has now; accepting names it.
    pub digest: Option<String>,
    /// Whether there is something to accept.
    pub acceptable: bool,
}

/// Something that is not as it was, or not as it should be.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PinFinding {
    /// What it is about: `description`, `schema`, `annotations`, `new tool` and so on.
    pub part: String,
    /// `low`, `medium` or `high`.
    pub severity: String,
    /// What it is: words, or a diff of lines that begin with `-`, `+` or a space.
    pub says: String,
}

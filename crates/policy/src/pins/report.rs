//! What is told of a pinned tool.

use std::fmt;

use serde::Serialize;

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Hardly matters.
    Low,
    /// Look at it.
    Medium,
    /// Look at it closely.
    High,
}

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// What it says it does.
    Description,
    /// Its arguments, or what it answers.
    Schema,
    /// What it says of itself: read-only, destructive and so on.
    Annotations,
    /// Its title, or anything else.
    Other,
    /// It was not there before.
    NewTool,
    /// Another source has, or had, its name.
    ReusedName,
    /// Its source has its name more than once.
    DuplicateName,
    /// Its words are suspicious.
    Suspicious,
}

impl Part {
    /// The words for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Description => "description",
            Self::Schema => "schema",
            Self::Annotations => "annotations",
            Self::Other => "other",
            Self::NewTool => "new tool",
            Self::ReusedName => "reused name",
            Self::DuplicateName => "duplicate name",
            Self::Suspicious => "suspicious",
        }
    }
}

/// Something that is not as it was, or not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub part: Part,
    /// How grave it is.
    pub severity: Severity,
    /// What it is: words, or a diff.
    pub says: String,
}

/// How a tool stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It is as it was accepted.
    Trusted,
    /// It is not, and is used all the same.
    Allowed,
    /// It is not, is used, and is reported.
    Warned,
    /// It is neither listed nor called.
    Held,
}

impl Standing {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Allowed => "allowed",
            Self::Warned => "warned",
            Self::Held => "held",
        }
    }
}

/// What is told of a pinned tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PinReport {
    /// Whose it is.
    pub source: String,
    /// Its name.
    pub tool: String,
    /// How it stands.
    pub standing: Standing,
    /// The gravest of the findings.
    pub severity: Option<Severity>,
    /// What is not as it was.
    pub findings: Vec<Finding>,
    /// When it was first seen, in milliseconds since 1970.
    pub first_seen_ms: u64,
    /// When the definition it is compared with was accepted.
    pub accepted_ms: Option<u64>,
    /// Who accepted it; nobody did what was there at first sight.
    pub accepted_by: Option<String>,
    /// The digest of the definition it has now.
    pub digest: Option<String>,
    /// The command that accepts it, where there is something to accept.
    pub accept: Option<String>,
}

impl fmt::Display for PinReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}: {}", self.source, self.tool, self.standing.as_str())?;
        for finding in &self.findings {
            let severity = match finding.severity {
                Severity::Low => "low",
                Severity::Medium => "medium",
                Severity::High => "high",
            };
            writeln!(f, "\n{} ({severity})", finding.part.as_str())?;
            for line in finding.says.lines() {
                writeln!(f, "  {line}")?;
            }
        }
        if let Some(accept) = &self.accept {
            writeln!(f, "\nto accept it: {accept}")?;
        }
        Ok(())
    }
}

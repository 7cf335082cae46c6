//! The section `log`: what is written to stderr, and how.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is written to stderr, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// The least important messages that are written.
    pub level: LogLevel,
    /// How a line looks.
    pub format: LogFormat,
    /// Whether a line begins with the time.
    pub timestamps: bool,
}

/// How important a message is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Everything, for looking into a fault.
    Debug,
    /// What happens.
    #[default]
    Info,
    /// What is odd but handled.
    Warn,
    /// What failed.
    Error,
    /// Nothing at all.
    None,
}

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for programs.
    Json,
}

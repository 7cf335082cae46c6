//! Scripts that are approved by their bytes.

use schemars::JsonSchema;
use serde::Serialize;

/// A script, and how it stands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Script")]
pub struct ScriptInfo {
    /// Its name; one that begins with `exec:` is code that somebody wanted to run, and no file.
    pub name: String,
    /// `pending`, `approved`, `rejected` or `modified`.
    pub state: String,
    /// The hash of its bytes; deciding on it names it.
    pub hash: String,
    /// What it does, in its own words.
    pub description: String,
    /// Who wrote it.
    pub author: String,
    /// Which version it is.
    pub version: String,
    /// The secrets that approving it lets it read.
    pub secrets: Vec<String>,
    /// The tools that approving it lets it call.
    pub tools: Vec<String>,
    /// The hosts that approving it lets it ask.
    pub hosts: Vec<String>,
    /// What is wrong with it, or why it was rejected.
    pub remark: String,
}

/// A script that someone looks at.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "ScriptDetail")]
pub struct LookedAtScript {
    /// How it stands.
    pub info: ScriptInfo,
    /// Its text.
    pub source: String,
    /// Whether the text is shown as it is; a secret in it is not.
    pub whole: bool,
    /// The text that was approved last, where it is another one.
    pub approved: Option<String>,
    /// What changed since: lines that begin with `-`, `+`, `@`, `\` or a space.
    pub diff: Option<String>,
    /// Who decided on it last.
    pub decided_by: Option<String>,
    /// When, in milliseconds since 1970.
    pub decided_ms: Option<u64>,
}

/// All scripts at a glance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScriptsGlance {
    /// How many wait for someone to look at them.
    pub waiting: usize,
    /// Another number whenever one of them is not what it was, or does not stand as it did.
    pub mark: u64,
}

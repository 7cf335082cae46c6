//! What the policy makes of calls.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use toolgate_core::Hints;

/// A call as it might be made.
#[derive(Debug, Clone)]
pub struct PolicyQuestion {
    /// Who calls.
    pub principal: String,
    /// What for: `name` of a tool, or `kind:name`.
    pub target: String,
    /// With which arguments.
    pub arguments: Map<String, Value>,
    /// The named view it comes in by.
    pub profile: Option<String>,
    /// What the tool says of itself, where it is one.
    pub hints: Option<Hints>,
    /// Where it goes.
    pub source: Option<String>,
}

/// What the policy says of a call, and why.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(rename = "Explanation")]
pub struct Explained {
    /// Who calls.
    pub principal: String,
    /// All roles of the principal.
    pub roles: Vec<String>,
    /// What for.
    pub target: String,
    /// The view it is looked up in.
    pub profile: Option<String>,
    /// `allow`, `ask` or `deny`.
    pub gives: String,
    /// The rule that decides; `default`, `may_use` and `profile NAME` stand for no rule.
    pub rule: String,
    /// The reason that the rule gives.
    pub reason: Option<String>,
    /// Whether it is listed: whether some arguments could pass.
    pub listed: bool,
    /// Every rule that was tried, in order.
    pub tried: Vec<PolicyStep>,
}

/// A rule that was tried.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PolicyStep {
    /// Its name.
    pub rule: String,
    /// What it would decide.
    pub then: String,
    /// Whether it matches.
    pub matches: bool,
    /// Why, in words.
    pub why: String,
}

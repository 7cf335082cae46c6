//! `[policy]`: the rules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a rule says of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It may run.
    #[default]
    Allow,
    /// A person has to agree first.
    Ask,
    /// It may not run.
    Deny,
}

impl Effect {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// The rules that decide on calls.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyConfig {
    /// What holds where no rule matches.
    pub default: Effect,
    /// A rule. Of all rules the first that matches decides; one matches if all that it says holds.
    pub rules: Vec<RuleConfig>,
}

/// A rule; it matches if all that is written holds.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleConfig {
    /// Its name in records, answers and explanations. Without it: a word made from what the rule says.
    #[schemars(example = "no-deletes")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it decides.
    #[schemars(example = Effect::Deny)]
    pub then: Effect,
    /// Who it is about: names, or `role:NAME`; `*` stands for anything. Without it: everyone.
    #[schemars(example = ["alice", "role:ops"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principals: Option<Vec<String>>,
    /// What it is about: names of tools, or `resource:`, `prompt:`, `completion:`, `subscription:`, `task:`, `method:`
    /// or `*:` and a name; `*` stands for anything. Without it: everything.
    #[schemars(example = ["workspace_*", "resource:file:///etc/*"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<String>>,
    /// The source it is about; `*` stands for anything. Without it: every source.
    #[schemars(example = &"workspace")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Only tools that say of themselves that they change nothing, or only those that do not.
    #[schemars(example = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Only tools that may undo or overwrite, or only those that do not.
    #[schemars(example = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Only tools for which twice is the same as once, or only others.
    #[schemars(example = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// Only tools that reach beyond this machine, or only others.
    #[schemars(example = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// A condition in CEL over `args`, `principal`, `roles`, `target`, `kind`, `source` and `client`.
    #[schemars(example = "args.path.startsWith('/secret')")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Why, for the caller and for the person asked.
    #[schemars(example = "secrets stay where they are")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

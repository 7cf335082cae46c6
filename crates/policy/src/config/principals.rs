//! `[principals.NAME]` and `[roles.NAME]`: who is who, and the most that each may use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known of a principal.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PrincipalConfig {
    /// The roles it has, besides those that its token brings along.
    #[schemars(example = ["ops"])]
    pub roles: Vec<String>,
    /// All that it may ever use, together with what its roles may; patterns as in the `targets` of rules. Where neither
    /// it nor a role of it has such a list, there is no bound.
    #[schemars(example = ["workspace_*"])]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_use: Option<Vec<String>>,
    /// The profile it sees the catalog by, where it comes in by no other.
    #[schemars(example = &"lean")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// How many requests a second it may make; as in `[limits]` if not set.
    #[schemars(example = 50.0)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// How many requests it may make at once; as in `[limits]` if not set.
    #[schemars(example = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
}

/// What is known of a role.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoleConfig {
    /// All that who has it may use; patterns as in the `targets` of rules.
    #[schemars(example = ["workspace_read", "workspace_list"])]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_use: Option<Vec<String>>,
}

//! `[profiles.NAME]`: named views of the catalog.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A named view of the catalog. It only narrows: what the rules deny stays denied.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProfileConfig {
    /// What it is for.
    #[schemars(example = "what a reviewer needs")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it shows; patterns as in the `targets` of rules. Without it: everything.
    #[schemars(example = ["workspace_*", "resource:*"])]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shows: Option<Vec<String>>,
    /// What of that it hides all the same.
    #[schemars(example = ["workspace_write"])]
    pub hides: Vec<String>,
    /// Whether clients search for its tools with `tools_search`, `tools_describe` and `tools_call` instead of getting
    /// all their definitions; as in `[catalog]` if not set.
    #[schemars(example = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<bool>,
}

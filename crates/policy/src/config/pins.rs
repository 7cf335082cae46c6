//! `[pins]`: what happens when another server's tools are not what they were.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to a tool that is not as it was trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PinAction {
    /// It is neither listed nor called until someone accepts it.
    Hold,
    /// It is used, and reported.
    Warn,
    /// It is used.
    Allow,
}

/// What happens when the tools of another server are not what they were.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PinsConfig {
    /// A tool whose definition differs from the one that was accepted.
    pub changed: PinAction,
    /// A tool that was not there when its server was first seen.
    pub added: PinAction,
    /// A tool with a name that another source has, or had.
    pub shadowing: PinAction,
    /// A tool whose words are suspicious: invisible or broken characters, or instructions to the model.
    pub suspicious: PinAction,
    /// What holds for one source instead.
    pub sources: BTreeMap<String, SourcePins>,
}

impl Default for PinsConfig {
    fn default() -> Self {
        Self {
            changed: PinAction::Hold,
            added: PinAction::Warn,
            shadowing: PinAction::Hold,
            suspicious: PinAction::Warn,
            sources: BTreeMap::new(),
        }
    }
}

/// What holds for one source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SourcePins {
    /// A tool whose definition differs from the one that was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<PinAction>,
    /// A tool that was not there when the server was first seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<PinAction>,
    /// A tool with a name that another source has, or had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadowing: Option<PinAction>,
    /// A tool whose words are suspicious.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspicious: Option<PinAction>,
}

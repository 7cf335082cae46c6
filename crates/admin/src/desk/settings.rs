//! Settings in force.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// All settings in force.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(rename = "Settings")]
pub struct SettingsInForce {
    /// The file that is read, if there is one.
    pub file: Option<String>,
    /// Every value, by key.
    pub items: Vec<Setting>,
    /// The keys whose new values wait for a restart.
    pub restart: Vec<String>,
    /// Why something newer could not be read.
    pub error: Option<String>,
    /// What is not wrong, but not right either.
    pub warnings: Vec<String>,
}

/// A value in force.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Setting {
    /// Its key, with dots.
    pub key: String,
    /// Its value; null where it is not set, or hidden.
    pub value: Value,
    /// Whether it is set, and a secret.
    pub hidden: bool,
    /// Where it comes from.
    pub origin: SettingOrigin,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum SettingOrigin {
    /// Nobody set it.
    Default,
    /// A file.
    File {
        /// Its path.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// A variable of the environment.
    Variable {
        /// Its name.
        name: String,
    },
    /// A flag of the command line.
    Flag {
        /// Its name.
        name: String,
    },
}

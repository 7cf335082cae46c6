//! What can be set for OpenCode.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can be set for OpenCode.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OpencodeConfig {
    /// The address of the OpenCode server. Without it: one that answers at `http://localhost:4096`, else one of our
    /// own.
    #[schemars(example = "http://localhost:4096")]
    pub server_url: Option<String>,
    /// The name to sign in with, where the server wants a password.
    pub username: String,
    /// The password of the server; `{secret:NAME}` refers to a stored one.
    #[schemars(example = "{secret:OPENCODE}")]
    pub password: Option<String>,
    /// How many milliseconds OpenCode may be silent before a call gives up. While a tool of its runs, or it waits to ask
    /// a model again, it is not silent.
    #[schemars(range(min = 1))]
    pub timeout: u64,
    /// The model of new sessions for which neither the caller nor the agent names one, as `provider/model`. Without it:
    /// OpenCode's own choice.
    #[schemars(example = "anthropic/claude-sonnet-4-5")]
    pub default_model: Option<String>,
    /// The project of calls that name none. Without it: the one that the working folder is in.
    #[schemars(example = "/path/to/a/project")]
    pub default_project: Option<PathBuf>,
    /// The `opencode.json` that changes for all projects go to, and that a server of our own reads beside those that it
    /// finds. Without it: OpenCode's own for all projects.
    #[schemars(example = "/path/to/opencode.json")]
    pub config_path: Option<PathBuf>,
    /// Whether a server is started when a tool needs one and none answers.
    pub auto_start: bool,
    /// The program to start. Without it: `opencode` on the search path.
    #[schemars(example = "/path/to/opencode")]
    pub program: Option<PathBuf>,
    /// Variables that a server of our own sees beside `PATH`, `HOME`, `LANG`, `TMPDIR`, and those whose names begin with
    /// `OPENCODE_` or `XDG_`: for instance the keys of model providers.
    #[schemars(example = ["ANTHROPIC_API_KEY"])]
    pub variables: Vec<String>,
    /// What OpenCode may do where it asks and nobody can be asked.
    pub permissions: PermissionsConfig,
}

/// What OpenCode may do where it asks and nobody can be asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PermissionsConfig {
    /// Permissions that are given where the client cannot ask a person, such as `bash`; `*` stands for any text.
    #[schemars(example = ["edit", "webfetch"])]
    pub allow: Vec<String>,
}

impl Default for OpencodeConfig {
    fn default() -> Self {
        Self {
            server_url: None,
            username: "opencode".into(),
            password: None,
            timeout: 120_000,
            default_model: None,
            default_project: None,
            config_path: None,
            auto_start: true,
            program: None,
            variables: Vec::new(),
            permissions: PermissionsConfig::default(),
        }
    }
}

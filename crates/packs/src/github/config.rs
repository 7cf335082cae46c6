//! What can be set for GitHub.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can be set for GitHub. Written as text it shows its token.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GithubConfig {
    /// A token that may read, and where wanted write, issues and pull requests.
    #[schemars(example = "{secret:GITHUB_TOKEN}")]
    pub token: Option<String>,
    /// Where its API is; for GitHub Enterprise Server `https://HOST/api/v3`.
    pub base_url: String,
    /// The only repositories that may be used: `owner/name`, or `owner/*`. All that the token may, if it is empty.
    #[schemars(example = ["octo-org/octo-repo"])]
    pub repos: Vec<String>,
}

impl Default for GithubConfig {
    fn default() -> Self {
        Self { token: None, base_url: "https://api.github.com".into(), repos: Vec::new() }
    }
}

//! How clients come to know the tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::Search;

/// How clients come to know the tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CatalogConfig {
    /// Whether clients get `tools_search`, `tools_describe` and `tools_call` instead of the definitions of all tools. A
    /// profile may say otherwise.
    pub(crate) search: bool,
    /// The same, but only where there are more tools than this.
    #[schemars(example = 100)]
    pub(crate) search_above: Option<usize>,
}

impl CatalogConfig {
    pub(crate) fn search(&self) -> Search {
        match (self.search, self.search_above) {
            (true, _) => Search::Always,
            (false, Some(most)) => Search::Above(most),
            (false, None) => Search::Never,
        }
    }
}

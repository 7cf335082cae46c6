//! Lists that GitHub gives out page by page.

use schemars::JsonSchema;
use serde::Deserialize;

/// How many items a page has where nobody says.
pub(super) const PER_PAGE: u32 = 30;

/// Which items of a list are open, closed, or either.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    #[default]
    Open,
    Closed,
    All,
}

impl State {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::All => "all",
        }
    }
}

pub(super) const fn first() -> u32 {
    1
}

pub(super) const fn per_page() -> u32 {
    PER_PAGE
}

/// The query of one page.
pub(super) fn query(page: u32, per_page: u32) -> Vec<(&'static str, String)> {
    vec![("page", page.to_string()), ("per_page", per_page.to_string())]
}

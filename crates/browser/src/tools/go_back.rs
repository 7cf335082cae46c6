//! `go_back`: go back to the page before.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Result, RunHandle, Tool, ToolSpec};

use super::going::{Direction, history};
use crate::pack::Browser;
use crate::reply::{Acted, Told};

pub(super) struct GoBack;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// In ms (30000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

impl Tool<Browser> for GoBack {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec =
        ToolSpec { name: "go_back", title: "Back", description: "Go back a page.", hints: Hints::CREATE };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let limit = Browser::limit(input.timeout, pack.config.timeout)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let before = page.before();
        history(&page, Direction::Back, limit).await?;
        Ok(page.acted(pack.config.text, before, "went back".into()).await)
    }
}

//! `navigate_history`: go back or forward, or load the page again.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Result, RunHandle, Tool, ToolSpec};

use super::going::{Direction, history};
use crate::pack::Browser;
use crate::reply::{Acted, Told};

pub(super) struct NavigateHistory;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Where to go.
    direction: Direction,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// In ms (30000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

impl Tool<Browser> for NavigateHistory {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "navigate_history",
        title: "History",
        description: "Go back, forward, or reload.",
        hints: Hints::CREATE,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let limit = Browser::limit(input.timeout, pack.config.timeout)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let before = page.before();
        history(&page, input.direction, limit).await?;
        let did = match input.direction {
            Direction::Back => "went back",
            Direction::Forward => "went forward",
            Direction::Reload => "loaded the page again",
        };
        Ok(page.acted(pack.config.text, before, did.into()).await)
    }
}

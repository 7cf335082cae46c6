//! `navigate_to_url`: load a page, and wait until it is there.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Result, RunHandle, Tool, ToolSpec};

use super::going::{WaitUntil, go};
use crate::pack::Browser;
use crate::reply::{Acted, Told};

pub(super) struct NavigateToUrl;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Address of the page, with `http` or `https`.
    url: String,
    /// How far it has to be; `load` by default.
    #[serde(default)]
    #[schemars(with = "WaitUntil")]
    wait_until: Option<WaitUntil>,
    /// Which browser, if you have several.
    #[serde(default)]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// Milliseconds to wait at most (30000).
    #[serde(default)]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

impl Tool<Browser> for NavigateToUrl {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "navigate_to_url",
        title: "Go to a page",
        description: "Load a page, and wait until it is there.",
        hints: Hints::CREATE,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let limit = Browser::limit(input.timeout, pack.config.timeout)?;
        let page = pack.page(run, input.browser_id.as_deref()).await?;
        let before = page.before();
        go(&page, &input.url, input.wait_until.unwrap_or_default(), limit).await?;
        let did = format!("went to {}", crate::text::brief(&input.url, 200));
        Ok(page.acted(pack.config.text, before, did).await)
    }
}

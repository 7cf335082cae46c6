//! `navigate_to_url`: load a page, and wait until it is there.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Hints, Result, RunHandle, Tool, ToolSpec};

use super::going::{WaitUntil, Went, go};
use crate::pack::Browser;
use crate::reply::{Acted, Told};

pub(super) struct NavigateToUrl;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Http or https.
    url: String,
    /// Default load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "WaitUntil")]
    wait_until: Option<WaitUntil>,
    /// Browser id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser_id: Option<String>,
    /// In ms (30000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    timeout: Option<u64>,
}

impl Tool<Browser> for NavigateToUrl {
    type Input = Input;
    type Output = Told<Acted>;
    const SPEC: ToolSpec = ToolSpec {
        name: "navigate_to_url",
        title: "Go",
        description: "Load a page and wait for it.",
        hints: Hints::CREATE,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Told<Acted>> {
        let limit = Browser::limit(input.timeout, pack.config.timeout)?;
        let page = pack.any_page(run, input.browser_id.as_deref()).await?;
        let before = page.before();
        let went = go(&page, &input.url, input.wait_until.unwrap_or_default(), limit).await?;
        let address = crate::text::brief(&input.url, 200);
        if went == Went::Downloading {
            let did = format!("took {address} as a download");
            return Ok(page.acted(pack.config.text, before, did).await);
        }
        let status = page.tab.state().network.document_status();
        let status = status.filter(|status| *status >= 400).map(|status| format!(", which answers {status}"));
        let did = format!("went to {address}{}", status.unwrap_or_default());
        Ok(page.acted(pack.config.text, before, did).await)
    }
}
